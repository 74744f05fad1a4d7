/* Time is a count of 64 bits, in one of two units.
 *
 * The simulator (`des`, `fabric`, `sma` and what runs in virtual time) counts picoseconds since the
 * start of the run, in multiples of TIME_NS and so on: they last for 213 days. The manager
 * (`subnet`, `sm`, `sa`, `vswitch` and the daemon) counts nanoseconds, in multiples of NS_PER_US
 * and so on: they last for 584 years, so a daemon's clock never ends.
 *
 * Absent and infinite deadlines are TIME_NEVER in either unit. */
#ifndef WEFT_BASE_TIME_H
#define WEFT_BASE_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define TIME_PS    UINT64_C(1)
#define TIME_NS    UINT64_C(1000)
#define TIME_US    UINT64_C(1000000)
#define TIME_MS    UINT64_C(1000000000)
#define TIME_S     UINT64_C(1000000000000)
#define TIME_NEVER UINT64_MAX

#define NS_PER_US UINT64_C(1000)
#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* The longest time, in picoseconds, that a person may ask for: the sum of two does not overflow. */
#define TIME_LONGEST (UINT64_C(100) * 24 * 3600 * TIME_S)

/* "250ns", "1.5ms", "2s": at most eight digits before the point and six behind it, and no more than
 * TIME_LONGEST (100 days). False if the text is anything else. */
bool time_parse(const char *text, uint64_t *ps);
/* The same in nanoseconds, rounded up: a time that is not 0 never becomes 0. */
bool time_parse_ns(const char *text, uint64_t *ns);

/* The same way round: "145.23us", "1.5ms", "60.100234s", "never". In the largest unit that leaves a
 * whole part, cut after six digits behind the point of seconds and three of the rest. Returns
 * buffer. */
enum { TIME_TEXT_BYTES = 32 };
const char *time_text(uint64_t ps, char buffer[TIME_TEXT_BYTES]);

static inline double time_seconds(double ps)
{
    return ps / 1e12;
}

/* Between the simulator's clock and the manager's. The current time is rounded down, so that the
 * manager never believes in a moment that has not come; a time to wait for is rounded up, so that
 * it is not over early. A number of nanoseconds that picoseconds cannot count is TIME_NEVER. */
static inline uint64_t time_ns_floor(uint64_t ps)
{
    return ps == TIME_NEVER ? TIME_NEVER : ps / TIME_NS;
}

static inline uint64_t time_ns_ceil(uint64_t ps)
{
    return ps == TIME_NEVER ? TIME_NEVER : ps / TIME_NS + (ps % TIME_NS != 0);
}

static inline uint64_t time_ns_to_ps(uint64_t ns)
{
    return ns > TIME_NEVER / TIME_NS ? TIME_NEVER : ns * TIME_NS;
}

#endif
