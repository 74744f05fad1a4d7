/* What the performance manager keeps of a port: its counters, its last hour, and the errors of the
 * present minute, which are compared with limits. PORT_READING_BYTES of memory for each port. */
#ifndef WEFT_PERF_READING_H
#define WEFT_PERF_READING_H

#include "perf/history.h"

struct port_reading {
    struct port_counters counters;
    struct history history;
    uint64_t since;                 /* the errors below were counted since then */
    uint32_t errors[COUNTER_COUNT]; /* of counters with a limit */
};

/* 30,000 ports take less than 100 MB. */
enum { PORT_READING_BYTES = 2560 };
_Static_assert(sizeof(struct port_reading) <= PORT_READING_BYTES, "the figure in weft-sm(1)");

/* All attributes of the port are read. Returns the counters that exceed their limit (events a
 * minute; 0: none), by bit; `elapsed` is the time since `since`. */
uint64_t reading_end(struct port_reading *reading, const uint32_t limits[COUNTER_COUNT],
                     uint64_t *elapsed, uint32_t errors[COUNTER_COUNT]);

#endif
