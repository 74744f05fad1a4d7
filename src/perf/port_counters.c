#include "perf/port_counters.h"

#include "base/time.h"

#include <assert.h>
#include <string.h>

#define NONE NO_COUNTER_FIELD
#define IN_BOTH(symbol)                                                                            \
    {                                                                                              \
        PORT_COUNTERS_##symbol, PORT_COUNTERS_EXT_##symbol, NONE                                   \
    }
#define IN_EXTENDED(symbol)                                                                        \
    {                                                                                              \
        NONE, PORT_COUNTERS_EXT_##symbol, NONE                                                     \
    }
#define IN_DETAILS(symbol)                                                                         \
    {                                                                                              \
        NONE, NONE, PORT_RCV_ERROR_DETAILS_##symbol                                                \
    }

const struct port_counter_info port_counter_infos[PORT_COUNTER_COUNT] = {
    [PORT_TRANSMIT_DATA] = {"PortXmitData", "transmit_data_bytes", "bytes sent", 4,
                            IN_BOTH(TRANSMIT_DATA)},
    [PORT_RECEIVE_DATA] = {"PortRcvData", "receive_data_bytes", "bytes received", 4,
                           IN_BOTH(RECEIVE_DATA)},
    [PORT_TRANSMIT_PACKETS] = {"PortXmitPkts", "transmit_packets", "packets sent", 1,
                               IN_BOTH(TRANSMIT_PACKETS)},
    [PORT_RECEIVE_PACKETS] = {"PortRcvPkts", "receive_packets", "packets received", 1,
                              IN_BOTH(RECEIVE_PACKETS)},
    [PORT_UNICAST_TRANSMIT_PACKETS] = {"PortUnicastXmitPkts", "unicast_transmit_packets",
                                       "unicast packets sent", 1,
                                       IN_EXTENDED(TRANSMIT_UNICAST_PACKETS)},
    [PORT_UNICAST_RECEIVE_PACKETS] = {"PortUnicastRcvPkts", "unicast_receive_packets",
                                      "unicast packets received", 1,
                                      IN_EXTENDED(RECEIVE_UNICAST_PACKETS)},
    [PORT_MULTICAST_TRANSMIT_PACKETS] = {"PortMulticastXmitPkts", "multicast_transmit_packets",
                                         "multicast packets sent", 1,
                                         IN_EXTENDED(TRANSMIT_MULTICAST_PACKETS)},
    [PORT_MULTICAST_RECEIVE_PACKETS] = {"PortMulticastRcvPkts", "multicast_receive_packets",
                                        "multicast packets received", 1,
                                        IN_EXTENDED(RECEIVE_MULTICAST_PACKETS)},
    [PORT_SYMBOL_ERROR] = {"SymbolErrorCounter", "symbol_error", "symbol errors", 1,
                           IN_BOTH(SYMBOL_ERRORS)},
    [PORT_LINK_ERROR_RECOVERY] = {"LinkErrorRecoveryCounter", "link_error_recovery",
                                  "link error recoveries", 1, IN_BOTH(LINK_ERROR_RECOVERIES)},
    [PORT_LINK_DOWNED] = {"LinkDownedCounter", "link_downed", "losses of the link", 1,
                          IN_BOTH(LINK_DOWNED)},
    [PORT_RECEIVE_ERRORS] = {"PortRcvErrors", "receive_errors", "packets received with an error", 1,
                             IN_BOTH(RECEIVE_ERRORS)},
    [PORT_RECEIVE_REMOTE_PHYSICAL_ERRORS] = {"PortRcvRemotePhysicalErrors",
                                             "receive_remote_physical_errors",
                                             "packets that an earlier hop marked as bad", 1,
                                             IN_BOTH(RECEIVE_REMOTE_PHYSICAL_ERRORS)},
    [PORT_RECEIVE_SWITCH_RELAY_ERRORS] = {"PortRcvSwitchRelayErrors", "receive_switch_relay_errors",
                                          "packets that the switch could not forward", 1,
                                          IN_BOTH(RECEIVE_SWITCH_RELAY_ERRORS)},
    [PORT_TRANSMIT_DISCARDS] = {"PortXmitDiscards", "transmit_discards", "packets discarded", 1,
                                IN_BOTH(TRANSMIT_DISCARDS)},
    [PORT_TRANSMIT_CONSTRAINT_ERRORS] = {"PortXmitConstraintErrors", "transmit_constraint_errors",
                                         "packets not sent because of a partition or raw filter", 1,
                                         IN_BOTH(TRANSMIT_CONSTRAINT_ERRORS)},
    [PORT_RECEIVE_CONSTRAINT_ERRORS] = {"PortRcvConstraintErrors", "receive_constraint_errors",
                                        "packets refused because of a partition or raw filter", 1,
                                        IN_BOTH(RECEIVE_CONSTRAINT_ERRORS)},
    [PORT_LOCAL_LINK_INTEGRITY_ERRORS] = {"LocalLinkIntegrityErrors", "local_link_integrity_errors",
                                          "local link integrity errors", 1,
                                          IN_BOTH(LOCAL_LINK_INTEGRITY_ERRORS)},
    [PORT_EXCESSIVE_BUFFER_OVERRUN_ERRORS] = {"ExcessiveBufferOverrunErrors",
                                              "excessive_buffer_overrun_errors",
                                              "excessive buffer overruns", 1,
                                              IN_BOTH(EXCESSIVE_BUFFER_OVERRUN_ERRORS)},
    [PORT_VL15_DROPPED] = {"VL15Dropped", "vl15_dropped", "SMPs dropped", 1, IN_BOTH(VL15_DROPPED)},
    [PORT_TRANSMIT_WAIT] = {"PortXmitWait", "transmit_wait",
                            "ticks with packets to send and no credits", 1, IN_BOTH(TRANSMIT_WAIT)},
    [PORT_QP1_DROPPED] = {"QP1Dropped", "qp1_dropped", "general management packets dropped", 1,
                          IN_BOTH(QP1_DROPPED)},
    [PORT_LOCAL_PHYSICAL_ERRORS] = {"PortLocalPhysicalErrors", "local_physical_errors",
                                    "packets with a physical error of this link", 1,
                                    IN_DETAILS(LOCAL_PHYSICAL_ERRORS)},
    [PORT_MALFORMED_PACKET_ERRORS] = {"PortMalformedPacketErrors", "malformed_packet_errors",
                                      "malformed packets received", 1,
                                      IN_DETAILS(MALFORMED_PACKET_ERRORS)},
    [PORT_BUFFER_OVERRUN_ERRORS] = {"PortBufferOverrunErrors", "buffer_overrun_errors",
                                    "packets lost because a buffer was full", 1,
                                    IN_DETAILS(BUFFER_OVERRUN_ERRORS)},
    /* "dli" is the spelling that dashboards use. */
    [PORT_DLID_MAPPING_ERRORS] = {"PortDLIDMappingErrors", "dli_mapping_errors",
                                  "packets to a LID without a table entry", 1,
                                  IN_DETAILS(DLID_MAPPING_ERRORS)},
    [PORT_VL_MAPPING_ERRORS] = {"PortVLMappingErrors", "vl_mapping_errors",
                                "packets whose SL has no VL", 1, IN_DETAILS(VL_MAPPING_ERRORS)},
    [PORT_LOOPING_ERRORS] = {"PortLoopingErrors", "looping_errors",
                             "packets whose output port was their input port", 1,
                             IN_DETAILS(LOOPING_ERRORS)},
};

double port_counter_rate(const struct port_counters *counters, enum port_counter counter)
{
    return counters->interval_ns ? (double)port_counter_delta(counters, counter) * NS_PER_S /
                                       (double)counters->interval_ns
                                 : 0;
}

void port_counters_begin(struct port_counters *counters, uint64_t now, bool afresh)
{
    counters->interval_ns = counters->read_at && !afresh ? now - counters->read_at : 0;
    counters->read_at = now;
    memcpy(counters->before, counters->value, sizeof counters->before);
}

static uint64_t largest_value(unsigned width)
{
    return width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
}

/* The part of a value that the field can hold. */
static uint64_t field_part(const struct port_counters *counters, unsigned counter, unsigned width)
{
    return counters->value[counter] / port_counter_infos[counter].unit & largest_value(width);
}

static unsigned count_falls(const struct port_counters *counters, enum counter_set set,
                            const uint8_t *data, uint64_t valid)
{
    unsigned falls = 0;
    for (unsigned i = 0; i < PORT_COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].field[set];
        if (field != NO_COUNTER_FIELD && (valid & counters->known) >> i & 1)
            falls += wire_get(data, field) < field_part(counters, i, wire_fields[field].width);
    }
    return falls;
}

/* The fields of PortCounters should stop at their largest value, but those of some devices wrap. A
 * program that clears counters clears several. So if one 32-bit counter falls alone, from the upper
 * half of its range, it has wrapped. */
void port_counters_take(struct port_counters *counters, enum counter_set set, const uint8_t *data,
                        uint64_t valid)
{
    unsigned falls = count_falls(counters, set, data, valid);
    bool reset = false;
    assert(set < COUNTER_SETS);
    for (unsigned i = 0; i < PORT_COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].field[set];
        if (field == NO_COUNTER_FIELD || !(valid >> i & 1))
            continue;
        unsigned width = wire_fields[field].width, unit = port_counter_infos[i].unit;
        uint64_t now = wire_get(data, field), last = field_part(counters, i, width);
        if (!port_counter_is_known(counters, i)) {
            counters->value[i] = counters->before[i] = now * unit;
        } else if (now >= last) {
            counters->value[i] += (now - last) * unit;
        } else if (width == 32 && falls == 1 && last >> 31) {
            counters->value[i] += ((UINT64_C(1) << 32) + now - last) * unit;
        } else {
            counters->value[i] = now * unit;
            counters->before[i] = 0;
            reset = true;
        }
        counters->known |= UINT64_C(1) << i;
        counters->stuck &= ~(UINT64_C(1) << i);
        counters->stuck |= (uint64_t)(width < 64 && now == largest_value(width)) << i;
    }
    counters->resets += reset;
}
