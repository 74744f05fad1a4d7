/* Time is a count of picoseconds since the start of the run: 64 bits last for 213 days.
 * Absent and infinite deadlines are TIME_NEVER. */
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
/* What a person may ask for: two of these still make a time. */
#define TIME_LONGEST (UINT64_C(100) * 24 * 3600 * TIME_S)

/* "250ns", "1.5ms", "2s": at most eight digits before the point and six behind it, and no more than
 * TIME_LONGEST (100 days). False if the text is anything else. */
bool time_parse(const char *text, uint64_t *ps);

/* The same way round: "145.23us", "1.5ms", "60.100234s", "never". In the largest unit that leaves a
 * whole part, cut after six digits behind the point of seconds and three of the rest. Returns
 * buffer. */
enum { TIME_TEXT_BYTES = 32 };
const char *time_text(uint64_t ps, char buffer[TIME_TEXT_BYTES]);

#endif
