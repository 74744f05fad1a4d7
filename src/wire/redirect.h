/* Redirection (13.5.2): an agent refers requests of its class to another port.
 *
 * Its response has the status "redirection required" and, for every attribute, a ClassPortInfo with
 * the new address (13.4.8.1). The requester keeps a trail, so that a loop or a long chain ends with
 * an error. Only LIDs are followed: a GID alone would need a path record first. */
#ifndef WEFT_WIRE_REDIRECT_H
#define WEFT_WIRE_REDIRECT_H

#include "base/err.h"
#include "wire/mad.h"

#include <assert.h>

struct redirect {
    uint16_t lid, p_key;
    uint8_t sl;
    uint32_t qp, q_key;
};

struct redirect redirect_to(uint16_t lid, uint8_t sl); /* the general services of a port */

enum { REDIRECT_STEPS = 4 }; /* redirections followed for one request */
struct redirect_trail {
    struct redirect steps[REDIRECT_STEPS + 1]; /* the first is the original address */
    unsigned count;
};
/* Starts the trail of a request to this address. */
void redirect_begin(struct redirect_trail *trail, const struct redirect *first);
/* Follows a response with STATUS_REDIRECT; `at` is the offset of its attribute. -EPROTO: it has no
 * address; -ELOOP: a loop, or too many steps. */
int redirect_follow(struct redirect_trail *trail, const uint8_t *answer, size_t bytes, size_t at,
                    struct err *err);
/* The present address. */
static inline const struct redirect *redirect_target(const struct redirect_trail *trail)
{
    assert(trail->count > 0);
    return &trail->steps[trail->count - 1];
}

/* Writes the address into a ClassPortInfo. */
void redirect_write(const struct redirect *to, uint8_t *class_port_info);

#endif
