/* How long user traffic was stopped: the times during which senders' ports were closed for data.
 *
 * A manager that stops ports to write tables, a link that trains, a node that lost its power: a
 * sender behind a closed port can only wait. Counted are the time that at least one sender, and
 * that all of them, were closed (together, and in one piece), and the mean over senders. */
#ifndef WEFT_EXPERIMENT_MEASURE_STOPPAGE_H
#define WEFT_EXPERIMENT_MEASURE_STOPPAGE_H

#include <stdbool.h>
#include <stdint.h>

struct stoppage_span {
    bool on;
    uint64_t since, total, longest;
};
struct stoppage {
    uint32_t senders, closed;
    bool counting;
    uint64_t at;      /* up to where the mean has been counted */
    double sender_ps; /* summed over senders */
    struct stoppage_span any, all;
};

/* Counting begins: so many senders, so many of them closed now. Again if there are more. */
void stoppage_begin(struct stoppage *stoppage, uint64_t now, uint32_t senders, uint32_t closed);
void stoppage_change(struct stoppage *stoppage, uint64_t now, bool opened);
/* As of now. */
struct stoppage_figures {
    double any, any_longest, all, all_longest, mean; /* s */
};
struct stoppage_figures stoppage_figures(const struct stoppage *stoppage, uint64_t now);

#endif
