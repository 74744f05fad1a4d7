/* The performance agent (16.1): PortCounters, PortCountersExtended and PortRcvErrorDetails over the
 * same totals.
 *
 * The data path counts in 64-bit totals. A client that clears a counter only moves the base of that
 * set of counters, so that the sets can be cleared independently. The fields of the extended set
 * wrap, those of the others saturate at their largest value. */
#include "sma/internal.h"

#include <assert.h>
#include <string.h>

enum { ALL_PORTS = 0xFF };
/* ClassPortInfo.CapabilityMask: PortSelect for all ports, extended counters, PortXmitWait,
 * QP1Dropped. */
enum {
    CAPABILITY_ALL_PORTS = 1 << 8,
    CAPABILITY_EXTENDED = 1 << 9,
    CAPABILITY_XMIT_WAIT = 1 << 12,
    CAPABILITY_QP1_DROPPED = 1 << 15,
};
/* CapabilityMask2: the extended set has error counters. */
enum { CAPABILITY2_EXTENDED_ERRORS = 1 << 1 };

/* Each counter has a field in one or two sets, and a bit of CounterSelect that guards it; bits
 * from 16 on are in CounterSelect2. */
enum { BASIC, EXTENDED, DETAILS, SETS, NO_FIELD = UINT16_MAX };
#define IN_BOTH(field, bit, bit_extended)                                                          \
    {                                                                                              \
        {PORT_COUNTERS_##field, bit}, {PORT_COUNTERS_EXT_##field, bit_extended},                   \
        {                                                                                          \
            NO_FIELD, 0                                                                            \
        }                                                                                          \
    }
#define IN_EXTENDED(field, bit)                                                                    \
    {                                                                                              \
        {NO_FIELD, 0}, {PORT_COUNTERS_EXT_##field, bit},                                           \
        {                                                                                          \
            NO_FIELD, 0                                                                            \
        }                                                                                          \
    }
#define IN_DETAILS(field, bit)                                                                     \
    {                                                                                              \
        {NO_FIELD, 0}, {NO_FIELD, 0},                                                              \
        {                                                                                          \
            PORT_RCV_ERROR_DETAILS_##field, bit                                                    \
        }                                                                                          \
    }
static const struct counter {
    const char *name;
    struct {
        uint16_t field;
        uint8_t select_bit;
    } in[SETS]; /* by set */
} counters[COUNTER_COUNT] = {
    [COUNTER_SYMBOL_ERRORS] = {"SymbolErrorCounter", IN_BOTH(SYMBOL_ERRORS, 0, 16)},
    [COUNTER_LINK_RECOVERIES] = {"LinkErrorRecoveryCounter", IN_BOTH(LINK_ERROR_RECOVERIES, 1, 17)},
    [COUNTER_LINK_DOWNED] = {"LinkDownedCounter", IN_BOTH(LINK_DOWNED, 2, 18)},
    [COUNTER_RCV_ERRORS] = {"PortRcvErrors", IN_BOTH(RECEIVE_ERRORS, 3, 19)},
    [COUNTER_RCV_REMOTE_PHYSICAL] = {"PortRcvRemotePhysicalErrors",
                                     IN_BOTH(RECEIVE_REMOTE_PHYSICAL_ERRORS, 4, 20)},
    [COUNTER_RCV_SWITCH_RELAY] = {"PortRcvSwitchRelayErrors",
                                  IN_BOTH(RECEIVE_SWITCH_RELAY_ERRORS, 5, 21)},
    [COUNTER_XMIT_DISCARDS] = {"PortXmitDiscards", IN_BOTH(TRANSMIT_DISCARDS, 6, 22)},
    [COUNTER_XMIT_CONSTRAINT] = {"PortXmitConstraintErrors",
                                 IN_BOTH(TRANSMIT_CONSTRAINT_ERRORS, 7, 23)},
    [COUNTER_RCV_CONSTRAINT] = {"PortRcvConstraintErrors",
                                IN_BOTH(RECEIVE_CONSTRAINT_ERRORS, 8, 24)},
    [COUNTER_LOCAL_INTEGRITY] = {"LocalLinkIntegrityErrors",
                                 IN_BOTH(LOCAL_LINK_INTEGRITY_ERRORS, 9, 25)},
    [COUNTER_OVERRUNS] = {"ExcessiveBufferOverrunErrors",
                          IN_BOTH(EXCESSIVE_BUFFER_OVERRUN_ERRORS, 10, 26)},
    [COUNTER_VL15_DROPPED] = {"VL15Dropped", IN_BOTH(VL15_DROPPED, 11, 27)},
    [COUNTER_QP1_DROPPED] = {"QP1Dropped", IN_BOTH(QP1_DROPPED, 17, 29)},
    [COUNTER_XMIT_DATA] = {"PortXmitData", IN_BOTH(TRANSMIT_DATA, 12, 0)},
    [COUNTER_RCV_DATA] = {"PortRcvData", IN_BOTH(RECEIVE_DATA, 13, 1)},
    [COUNTER_XMIT_PACKETS] = {"PortXmitPkts", IN_BOTH(TRANSMIT_PACKETS, 14, 2)},
    [COUNTER_RCV_PACKETS] = {"PortRcvPkts", IN_BOTH(RECEIVE_PACKETS, 15, 3)},
    [COUNTER_XMIT_WAIT] = {"PortXmitWait", IN_BOTH(TRANSMIT_WAIT, 16, 28)},
    [COUNTER_UNICAST_XMIT] = {"PortUnicastXmitPkts", IN_EXTENDED(TRANSMIT_UNICAST_PACKETS, 4)},
    [COUNTER_UNICAST_RCV] = {"PortUnicastRcvPkts", IN_EXTENDED(RECEIVE_UNICAST_PACKETS, 5)},
    [COUNTER_MULTICAST_XMIT] = {"PortMulticastXmitPkts",
                                IN_EXTENDED(TRANSMIT_MULTICAST_PACKETS, 6)},
    [COUNTER_MULTICAST_RCV] = {"PortMulticastRcvPkts", IN_EXTENDED(RECEIVE_MULTICAST_PACKETS, 7)},
    [COUNTER_LOCAL_PHYSICAL] = {"PortLocalPhysicalErrors", IN_DETAILS(LOCAL_PHYSICAL_ERRORS, 0)},
    [COUNTER_MALFORMED] = {"PortMalformedPacketErrors", IN_DETAILS(MALFORMED_PACKET_ERRORS, 1)},
    [COUNTER_BUFFER_OVERRUN] = {"PortBufferOverrunErrors", IN_DETAILS(BUFFER_OVERRUN_ERRORS, 2)},
    [COUNTER_DLID_MAPPING] = {"PortDLIDMappingErrors", IN_DETAILS(DLID_MAPPING_ERRORS, 3)},
    [COUNTER_VL_MAPPING] = {"PortVLMappingErrors", IN_DETAILS(VL_MAPPING_ERRORS, 4)},
    [COUNTER_LOOPING] = {"PortLoopingErrors", IN_DETAILS(LOOPING_ERRORS, 5)},
};

const char *sma_counter_name(enum sma_counter counter)
{
    return counters[counter].name;
}

/* The other fields of a set. */
static const struct {
    uint16_t port_select, select, select2;
} sets[SETS] = {[BASIC] = {PORT_COUNTERS_PORT_SELECT, PORT_COUNTERS_COUNTER_SELECT,
                           PORT_COUNTERS_COUNTER_SELECT2},
                [EXTENDED] = {PORT_COUNTERS_EXT_PORT_SELECT, PORT_COUNTERS_EXT_COUNTER_SELECT,
                              PORT_COUNTERS_EXT_COUNTER_SELECT2},
                [DETAILS] = {PORT_RCV_ERROR_DETAILS_PORT_SELECT,
                             PORT_RCV_ERROR_DETAILS_COUNTER_SELECT, NO_FIELD}};

static uint64_t *base_of(unsigned set, struct sma_counters *port)
{
    return set == EXTENDED ? port->base64 : port->base32; /* no counter is in BASIC and DETAILS */
}

static uint64_t largest_field_value(enum wire_field field)
{
    return wire_fields[field].width == 64 ? UINT64_MAX
                                          : (UINT64_C(1) << wire_fields[field].width) - 1;
}

static uint64_t second_selection(unsigned set, const uint8_t *data)
{
    return sets[set].select2 == NO_FIELD ? 0 : wire_get(data, sets[set].select2);
}

static void clear_counters(struct sma *sma, unsigned set, unsigned first, unsigned last,
                           const uint8_t *data)
{
    uint64_t selected = wire_get(data, sets[set].select) | second_selection(set, data) << 16;
    assert(last <= sma->port_count);
    for (unsigned port = first; port <= last; port++) {
        struct sma_counters *at = &sma->ports[port].counters;
        for (unsigned i = 0; i < COUNTER_COUNT; i++)
            if (counters[i].in[set].field != NO_FIELD &&
                selected >> counters[i].in[set].select_bit & 1)
                base_of(set, at)[i] = at->total[i] - wire_get(data, counters[i].in[set].field);
    }
}

static void show_counters(struct sma *sma, unsigned set, unsigned first, unsigned last,
                          uint8_t *data)
{
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        enum wire_field field = counters[i].in[set].field;
        uint64_t sum = 0;
        if (counters[i].in[set].field == NO_FIELD)
            continue;
        for (unsigned port = first; port <= last; port++) {
            struct sma_counters *at = &sma->ports[port].counters;
            sum += at->total[i] - base_of(set, at)[i];
        }
        wire_set(data, field,
                 set != EXTENDED && sum > largest_field_value(field) ? largest_field_value(field)
                                                                     : sum);
    }
}

/* PortSelect 0 at an adapter means the port that received the MAD: tools that have only a LID send
 * 0. */
static uint16_t access_counters(struct sma *sma, unsigned port, unsigned set, bool write,
                                uint8_t *data)
{
    unsigned select = (unsigned)wire_get(data, sets[set].port_select);
    assert(port <= sma->port_count && set < SETS);
    unsigned one = select == 0 && sma->kind != KIND_SWITCH ? port : select;
    unsigned first = select == ALL_PORTS ? 1 : one;
    unsigned last = select == ALL_PORTS ? sma->port_count : one;
    if (last > sma->port_count)
        return STATUS_BAD_VALUE;
    if (write)
        clear_counters(sma, set, first, last, data);
    uint64_t selected = wire_get(data, sets[set].select);
    uint64_t selected2 = second_selection(set, data);
    memset(data, 0, MAD_BYTES - GMP_DATA_OFFSET);
    wire_set(data, sets[set].port_select, select);
    wire_set(data, sets[set].select, selected);
    if (sets[set].select2 != NO_FIELD)
        wire_set(data, sets[set].select2, selected2);
    show_counters(sma, set, first, last, data);
    return STATUS_OK;
}

static uint16_t get_class_port_info(const struct sma *sma, uint8_t *data)
{
    memset(data, 0, MAD_BYTES - GMP_DATA_OFFSET);
    wire_set(data, CLASS_PORT_INFO_BASE_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CLASS_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK,
             CAPABILITY_ALL_PORTS | CAPABILITY_EXTENDED | CAPABILITY_XMIT_WAIT |
                 CAPABILITY_QP1_DROPPED);
    wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK2, CAPABILITY2_EXTENDED_ERRORS);
    wire_set(data, CLASS_PORT_INFO_RESP_TIME_VALUE, sma->options.response_time);
    return STATUS_OK;
}

static uint16_t access_performance(struct sma *sma, unsigned port, uint8_t *mad)
{
    uint64_t method = wire_get(mad, MAD_METHOD);
    uint8_t *data = mad + GMP_DATA_OFFSET;
    if (wire_get(mad, MAD_BASE_VERSION) != 1 || wire_get(mad, MAD_CLASS_VERSION) != 1)
        return STATUS_BAD_VERSION;
    if (method != METHOD_GET && method != METHOD_SET)
        return STATUS_BAD_METHOD;
    switch (wire_get(mad, MAD_ATTRIBUTE_ID)) {
    case ATTRIBUTE_CLASS_PORT_INFO:
        return method == METHOD_GET ? get_class_port_info(sma, data) : STATUS_BAD_ATTRIBUTE;
    case ATTRIBUTE_PORT_COUNTERS:
        return access_counters(sma, port, BASIC, method == METHOD_SET, data);
    case ATTRIBUTE_PORT_COUNTERS_EXT:
        return access_counters(sma, port, EXTENDED, method == METHOD_SET, data);
    case ATTRIBUTE_PORT_RCV_ERROR_DETAILS:
        return access_counters(sma, port, DETAILS, method == METHOD_SET, data);
    default: return STATUS_BAD_ATTRIBUTE;
    }
}

enum sma_verdict sma_answer_performance(struct sma *sma, unsigned port, uint8_t *mad)
{
    uint16_t status = access_performance(sma, port, mad);
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, status);
    return SMA_REPLY;
}
