/* How long traffic was stopped: the times during which ports of senders were closed for data.
 *
 * A manager closes ports to write tables; links that train and nodes without power close theirs.
 * Counted are the time during which at least one sender, and all senders, were stopped (total and
 * longest), and the mean over senders. */
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
    uint64_t at;      /* end of the time that the mean includes */
    double sender_ps; /* stopped time, summed over senders */
    struct stoppage_span any, all;
};

/* Starts counting with the number of senders and of closed senders, or continues with new numbers.
 */
void stoppage_begin(struct stoppage *stoppage, uint64_t now, uint32_t senders, uint32_t closed);
void stoppage_change(struct stoppage *stoppage, uint64_t now, bool opened);
/* The figures at time `now`. */
struct stoppage_figures {
    double any, any_longest, all, all_longest, mean; /* s */
};
struct stoppage_figures stoppage_figures(const struct stoppage *stoppage, uint64_t now);

#endif
