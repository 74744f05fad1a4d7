/* Applies the rules for steady and saturated runs in their order and words the verdict. Only rising
 * latency counts as a trend. */
#include "experiment/measure/steady.h"

#include <inttypes.h>
#include <stdio.h>

enum { FEWEST = 1000, GROWTH_SHARE = 50 }; /* one fiftieth: 2 % */

enum steady_verdict steady_judge(const struct steady_window *window)
{
    if (window->delivered < FEWEST)
        return STEADY_UNKNOWN;
    if (window->always)
        return STEADY_SATURATED;
    if (window->waiting_after > window->waiting_before &&
        window->waiting_after - window->waiting_before > window->made / GROWTH_SHARE)
        return STEADY_SATURATED;
    return batches_have_trend(window->latency, false) ? STEADY_RISING : STEADY_YES;
}

bool steady_is_known(const struct batches *batches, double mean, double share)
{
    return batches_half_width(batches) <= share * mean; /* false for NaN */
}

const char *steady_text(enum steady_verdict verdict, const struct steady_window *window,
                        char buffer[STEADY_TEXT_BYTES])
{
    switch (verdict) {
    case STEADY_UNKNOWN:
        snprintf(buffer, STEADY_TEXT_BYTES,
                 "unknown: %" PRIu64 " packets were delivered, %d are needed", window->delivered,
                 FEWEST);
        break;
    case STEADY_YES: snprintf(buffer, STEADY_TEXT_BYTES, "steady"); break;
    case STEADY_RISING:
        snprintf(buffer, STEADY_TEXT_BYTES, "not steady: latency rises during the window");
        break;
    case STEADY_SATURATED:
        if (window->always)
            snprintf(buffer, STEADY_TEXT_BYTES, "saturated: sources always have one more packet");
        else
            snprintf(buffer, STEADY_TEXT_BYTES,
                     "saturated: of %" PRIu64 " packets made %" PRIu64 " were delivered, %" PRIu64
                     " wait at their senders",
                     window->made, window->delivered, window->waiting_after);
        break;
    }
    return buffer;
}
