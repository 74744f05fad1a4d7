/* The counters of a port, as performance agents return them (16.1.3.5, 16.1.4), in one table.
 *
 * A counter can be in several attributes: PortCounters has narrow fields that stop at their largest
 * value; PortCountersExtended has fields of 64 bits; PortRcvErrorDetails and PortXmitDiscardDetails
 * are optional. Values are kept in bytes, packets, ticks or events: data counters of the agents
 * count units of four bytes. PortXmitWait counts ticks, whose length depends on the device. */
#ifndef WEFT_PERF_PORT_COUNTERS_H
#define WEFT_PERF_PORT_COUNTERS_H

#include "wire/codec.h"

#include <stdbool.h>
#include <stdint.h>

enum port_counter {
    PORT_TRANSMIT_DATA,
    PORT_RECEIVE_DATA,
    PORT_TRANSMIT_PACKETS,
    PORT_RECEIVE_PACKETS,
    PORT_UNICAST_TRANSMIT_PACKETS,
    PORT_UNICAST_RECEIVE_PACKETS,
    PORT_MULTICAST_TRANSMIT_PACKETS,
    PORT_MULTICAST_RECEIVE_PACKETS,
    PORT_SYMBOL_ERROR,
    PORT_LINK_ERROR_RECOVERY,
    PORT_LINK_DOWNED,
    PORT_RECEIVE_ERRORS,
    PORT_RECEIVE_REMOTE_PHYSICAL_ERRORS,
    PORT_RECEIVE_SWITCH_RELAY_ERRORS,
    PORT_TRANSMIT_DISCARDS,
    PORT_TRANSMIT_CONSTRAINT_ERRORS,
    PORT_RECEIVE_CONSTRAINT_ERRORS,
    PORT_LOCAL_LINK_INTEGRITY_ERRORS,
    PORT_EXCESSIVE_BUFFER_OVERRUN_ERRORS,
    PORT_VL15_DROPPED,
    PORT_TRANSMIT_WAIT,
    PORT_QP1_DROPPED,
    PORT_LOCAL_PHYSICAL_ERRORS, /* from here on of PortRcvErrorDetails */
    PORT_MALFORMED_PACKET_ERRORS,
    PORT_BUFFER_OVERRUN_ERRORS,
    PORT_DLID_MAPPING_ERRORS,
    PORT_VL_MAPPING_ERRORS,
    PORT_LOOPING_ERRORS,
    PORT_COUNTER_COUNT,
};

/* Attributes that have counters. */
enum counter_set { SET_BASIC, SET_EXTENDED, SET_ERROR_DETAILS, COUNTER_SETS };

enum { NO_COUNTER_FIELD = UINT16_MAX };

struct port_counter_info {
    const char *name;   /* as in the specification: "PortXmitData" */
    const char *metric; /* "transmit_data_bytes": infiniband_hca_port_…_total */
    const char *meaning;
    uint8_t unit;                 /* bytes in one unit of a data counter, else 1 */
    uint16_t field[COUNTER_SETS]; /* enum wire_field, or NO_COUNTER_FIELD */
};
extern const struct port_counter_info port_counter_infos[PORT_COUNTER_COUNT];

/* The values of a port after its last reading.
 *
 * A value is the counter's own. It only falls if somebody cleared the counter or the node
 * restarted: `resets` counts these. A counter of 32 bits that wraps continues above 2^32. */
struct port_counters {
    uint64_t value[PORT_COUNTER_COUNT];
    uint64_t before[PORT_COUNTER_COUNT]; /* at the reading before; 0 after a reset */
    uint64_t known;                      /* by bit: counters that the agent has */
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
