/* The values of a port's counters (wire/counters.h) as the performance manager reads them: in
 * bytes, packets, ticks or events. Data counters of the agents count units of four bytes.
 * PortXmitWait counts ticks, whose length depends on the device. */
#ifndef WEFT_PERF_PORT_COUNTERS_H
#define WEFT_PERF_PORT_COUNTERS_H

#include "wire/counters.h"

#include <stdbool.h>
#include <stdint.h>

/* The values of a port after its last reading.
 *
 * A value is the counter's own. It only falls if somebody cleared the counter or the node
 * restarted: `resets` counts these. A counter of 32 bits that wraps continues above 2^32. */
struct port_counters {
    uint64_t value[COUNTER_COUNT];
    uint64_t before[COUNTER_COUNT]; /* at the reading before; 0 after a reset */
    uint64_t known;                 /* by bit: counters that the agent has */
    uint64_t stuck;       /* by bit: at the largest value of a field that counts no further */
    uint64_t read_at;     /* time of the last reading, of the clock that the owner passes */
    uint64_t interval_ns; /* since the reading before; 0: this was the first one */
    uint32_t resets;
};

static inline bool port_counter_is_known(const struct port_counters *counters,
                                         enum port_counter counter)
{
    return counters->known >> counter & 1;
}

/* What was counted in the last interval; 0 after the first reading. */
static inline uint64_t port_counter_delta(const struct port_counters *counters,
                                          enum port_counter counter)
{
    return counters->interval_ns ? counters->value[counter] - counters->before[counter] : 0;
}

/* The same by second. */
double port_counter_rate(const struct port_counters *counters, enum port_counter counter);

/* Begins a reading: the present values become those before. `afresh`: the interval since the last
 * reading is too long for rates. */
void port_counters_begin(struct port_counters *counters, uint64_t now, bool afresh);
/* Takes the values of a response: `set` is its attribute, `data` the attribute's first byte,
 * `valid` the counters that the agent has in it, by bit. */
void port_counters_take(struct port_counters *counters, enum counter_set set, const uint8_t *data,
                        uint64_t valid);

#endif
