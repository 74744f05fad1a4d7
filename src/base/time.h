/* Time is a count of 64 bits, in one of two units.
 *
 * The simulator (`des`, `fabric`, `sma` and what runs in virtual time) counts picoseconds since the
 * start of the run, in multiples of TIME_NS and so on; they overflow after 213 days. The manager
 * (`subnet`, `sm`, `sa`, `vswitch` and the daemon) counts nanoseconds, in multiples of NS_PER_US
 * and so on, which overflow after 584 years.
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

/* The longest time that input may contain, in picoseconds: the sum of two does not overflow. */
#define TIME_LONGEST (UINT64_C(100) * 24 * 3600 * TIME_S)

/* "250ns", "1.5ms", "2s": at most eight digits before the point and six behind it, and no more than
 * TIME_LONGEST (100 days). False if the text is anything else. */
bool time_parse(const char *text, uint64_t *ps);
/* time_parse() in nanoseconds, rounded up: a time that is not 0 does not become 0. */
bool time_parse_ns(const char *text, uint64_t *ns);

/* Prints a time: "145.23us", "1.5ms", "60.100234s", "never". Uses the largest unit with a whole
 * part; cuts seconds after six decimals, other units after three. Returns buffer. */
enum { TIME_TEXT_BYTES = 32 };
const char *time_text(uint64_t ps, char buffer[TIME_TEXT_BYTES]);

/* The monotonic clock of the machine, for what waits for it: hosts, sweeps and commands. */
uint64_t time_monotonic_ns(void);

static inline double time_seconds(double ps)
{
    return ps / 1e12;
}

static inline uint64_t time_first(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Conversion between the clocks of the simulator and the manager. The current time is rounded down,
 * so that the manager's clock is never ahead; deadlines are rounded up, so that they do not expire
 * early. Nanoseconds that overflow as picoseconds become TIME_NEVER. */
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
