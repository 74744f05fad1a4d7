/* Steady, saturated, or too little to tell: decided by a stated rule, never guessed.
 *
 * In the measuring window, in this order:
 *   1. Fewer than 1,000 delivered packets: nothing can be said.
 *   2. Sources that always have one more packet saturate whatever they send into.
 *   3. If the packets that wait at their senders became more, by over 2 % of those made, the fabric
 *      takes less than is offered: saturated.
 *   4. If latency still rises (statistics.h says what counts as a trend), the window came too
 * early: not steady, though perhaps not saturated either.
 *   5. Else steady.
 * Waiting packets and not those under way: a fabric can only hold so many, and filling it at the
 * beginning says nothing. */
#ifndef WEFT_EXPERIMENT_MEASURE_STEADY_H
#define WEFT_EXPERIMENT_MEASURE_STEADY_H

#include "experiment/measure/statistics.h"

enum steady_verdict { STEADY_UNKNOWN, STEADY_YES, STEADY_RISING, STEADY_SATURATED };

struct steady_window {
    uint64_t made, delivered;
    uint64_t waiting_before, waiting_after;
    bool always; /* some sources always have one more */
    const struct batches *latency;
};
enum steady_verdict steady_judge(const struct steady_window *window);
/* One line for people; returns buffer. */
enum { STEADY_TEXT_BYTES = 160 };
const char *steady_text(enum steady_verdict verdict, const struct steady_window *window,
                        char buffer[STEADY_TEXT_BYTES]);

#endif
