/* The last hour of a port, in minutes: what it counted in each minute.
 *
 * An hour takes HISTORY_MINUTES samples of 32 bytes for each port, however short the period of the
 * readings is. Sums are floating-point numbers of 24 bits: their error is below one part in a
 * million. A reading counts in the minute in which it ends. */
#ifndef WEFT_PERF_HISTORY_H
#define WEFT_PERF_HISTORY_H

#include "perf/port_counters.h"

enum { HISTORY_MINUTES = 60 };

struct history_sample {
    float transmit_bytes, receive_bytes, transmit_packets, receive_packets, wait_ticks;
    uint32_t errors, discards; /* errors: port_counters_link_errors() */
    uint32_t covered_ms;       /* the time in which this was counted */
};

struct history {
    uint64_t minute; /* of the newest sample, since the start of the clock */
    struct history_sample samples[HISTORY_MINUTES];
};

/* The last interval of the counters. */
struct history_sample history_sample_of(const struct port_counters *counters);
/* Adds it. */
void history_add(struct history *history, const struct port_counters *counters);
/* The minutes `ago`: 0 is the newest one at time `now`. */
struct history_sample history_minute(const struct history *history, uint64_t now, unsigned ago);
/* The sum of the hour before `now`. */
struct history_sample history_sum(const struct history *history, uint64_t now);

/* What the performance manager keeps of a port: its counters, its last hour, and the errors of the
 * present minute, which are compared with limits. */
struct port_reading {
    struct port_counters counters;
    struct history history;
    uint64_t since;                 /* the errors below were counted since then */
    uint32_t errors[COUNTER_COUNT]; /* of counters with a limit */
};

/* 30,000 ports take less than 100 MB. */
enum { PORT_READING_BYTES = 2688 };
_Static_assert(sizeof(struct port_reading) <= PORT_READING_BYTES, "the figure in weft-sm(1)");

/* All attributes of the port are read. Returns the counters that exceed their limit (events a
 * minute; 0: none), by bit; `elapsed` is the time since `since`. */
uint64_t reading_end(struct port_reading *reading, const uint32_t limits[COUNTER_COUNT],
                     uint64_t *elapsed, uint32_t errors[COUNTER_COUNT]);

#endif
