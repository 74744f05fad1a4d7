/* Whether a run was steady or saturated, by these rules for the measuring window, in this order:
 *   1. Fewer than 1,000 delivered packets: unknown.
 *   2. Sources with saturated arrivals: saturated.
 *   3. The packets that wait at senders increase by more than 2 % of the packets made: saturated.
 *   4. Latency has a trend (statistics.h): not steady; the window began too early.
 *   5. Else steady.
 * Rule 3 counts waiting packets, not packets in the fabric: filling the fabric at the beginning
 * does not mean saturation. */
#ifndef WEFT_EXPERIMENT_MEASURE_STEADY_H
#define WEFT_EXPERIMENT_MEASURE_STEADY_H

#include "experiment/measure/statistics.h"

enum steady_verdict { STEADY_UNKNOWN, STEADY_YES, STEADY_RISING, STEADY_SATURATED };

struct steady_window {
    uint64_t made, delivered;
    uint64_t waiting_before, waiting_after;
    bool always; /* some sources have saturated arrivals */
    const struct batches *latency;
};
/* Whether the mean of a stream is known to within this share of it, with 95 % confidence. */
bool steady_is_known(const struct batches *batches, double mean, double share);
enum steady_verdict steady_judge(const struct steady_window *window);
/* One line of text; returns buffer. */
enum { STEADY_TEXT_BYTES = 160 };
const char *steady_text(enum steady_verdict verdict, const struct steady_window *window,
                        char buffer[STEADY_TEXT_BYTES]);

#endif
