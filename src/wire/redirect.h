/* Redirection (13.5.2): an agent says that the services of its class are elsewhere.
 *
 * Its answer has the status "redirection required" and, whatever was asked, a ClassPortInfo that
 * says where to ask instead (13.4.8.1). Whoever follows keeps a trail, so that a circle or a long
 * chain ends with one clear message and not in an endless walk. An address is a LID here: an agent
 * that names only a GID needs a path to it, which subnet administration itself would have to tell,
 * and nobody outside the subnet administers it. */
#ifndef WEFT_WIRE_REDIRECT_H
#define WEFT_WIRE_REDIRECT_H

#include "base/err.h"
#include "wire/mad.h"

struct redirect {
    uint16_t lid, p_key;
    uint8_t sl;
    uint32_t qp, q_key;
};

enum { REDIRECT_STEPS = 4 }; /* that are followed for one question */
struct redirect_trail {
    struct redirect steps[REDIRECT_STEPS + 1]; /* the first is where it began */
    unsigned count;
};
/* The trail of a question that goes to this address first. */
void redirect_begin(struct redirect_trail *trail, const struct redirect *first);
/* Takes the step that an answer with STATUS_REDIRECT demands; `at` is where its attribute begins.
 * -EPROTO: it does not say where to; -ELOOP: it leads back, or too far. */
int redirect_follow(struct redirect_trail *trail, const uint8_t *answer, size_t bytes, size_t at,
                    struct err *err);
/* Where to ask now. */
static inline const struct redirect *redirect_target(const struct redirect_trail *trail)
{
    return &trail->steps[trail->count - 1];
}
/* Whether it is elsewhere than where it began. */
static inline bool redirect_is_elsewhere(const struct redirect_trail *trail)
{
    return trail->count > 1;
}

/* The same the other way round: into a ClassPortInfo. */
void redirect_write(const struct redirect *to, uint8_t *class_port_info);

#endif
