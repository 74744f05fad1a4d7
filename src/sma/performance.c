/* The performance agent (16.1): PortCounters and PortCountersExtended over the same totals.
 *
 * The data path counts into 64-bit totals. A client that clears a counter only moves the base from
 * which that set of counters is reckoned, so the two sets can be cleared independently. The 32-bit
 * set sticks at the largest value of each field, the extended one wraps. */
#include "sma/internal.h"

#include <string.h>

enum { ALL_PORTS = 0xFF };
/* ClassPortInfo.CapabilityMask: all ports at once, the extended counters in both shapes,
 * PortXmitWait. */
enum {
    CAPABILITY_ALL_PORTS = 1 << 8,
    CAPABILITY_EXTENDED = 1 << 9,
    CAPABILITY_XMIT_WAIT = 1 << 12
};
/* CapabilityMask2: error counters in the extended set, too. */
enum { CAPABILITY2_EXTENDED_ERRORS = 1 << 1 };

const char *const sma_counter_names[COUNTER_COUNT] = {
    [COUNTER_SYMBOL_ERRORS] = "SymbolErrorCounter",
    [COUNTER_LINK_RECOVERIES] = "LinkErrorRecoveryCounter",
    [COUNTER_LINK_DOWNED] = "LinkDownedCounter",
    [COUNTER_RCV_ERRORS] = "PortRcvErrors",
    [COUNTER_RCV_REMOTE_PHYSICAL] = "PortRcvRemotePhysicalErrors",
    [COUNTER_RCV_SWITCH_RELAY] = "PortRcvSwitchRelayErrors",
    [COUNTER_XMIT_DISCARDS] = "PortXmitDiscards",
    [COUNTER_XMIT_CONSTRAINT] = "PortXmitConstraintErrors",
    [COUNTER_RCV_CONSTRAINT] = "PortRcvConstraintErrors",
    [COUNTER_LOCAL_INTEGRITY] = "LocalLinkIntegrityErrors",
    [COUNTER_OVERRUNS] = "ExcessiveBufferOverrunErrors",
    [COUNTER_VL15_DROPPED] = "VL15Dropped",
    [COUNTER_XMIT_DATA] = "PortXmitData",
    [COUNTER_RCV_DATA] = "PortRcvData",
    [COUNTER_XMIT_PACKETS] = "PortXmitPkts",
    [COUNTER_RCV_PACKETS] = "PortRcvPkts",
    [COUNTER_XMIT_WAIT] = "PortXmitWait",
    [COUNTER_UNICAST_XMIT] = "PortUnicastXmitPkts",
    [COUNTER_UNICAST_RCV] = "PortUnicastRcvPkts",
    [COUNTER_MULTICAST_XMIT] = "PortMulticastXmitPkts",
    [COUNTER_MULTICAST_RCV] = "PortMulticastRcvPkts",
};

/* Which field shows which counter, and which bit of CounterSelect guards it. */
struct shown {
    uint8_t counter, select_bit; /* bits from 16 on are in CounterSelect2 */
    uint16_t field;
};

static const struct shown basic[] = {
    {COUNTER_SYMBOL_ERRORS, 0, PORT_COUNTERS_SYMBOL_ERRORS},
    {COUNTER_LINK_RECOVERIES, 1, PORT_COUNTERS_LINK_ERROR_RECOVERIES},
    {COUNTER_LINK_DOWNED, 2, PORT_COUNTERS_LINK_DOWNED},
    {COUNTER_RCV_ERRORS, 3, PORT_COUNTERS_RECEIVE_ERRORS},
    {COUNTER_RCV_REMOTE_PHYSICAL, 4, PORT_COUNTERS_RECEIVE_REMOTE_PHYSICAL_ERRORS},
    {COUNTER_RCV_SWITCH_RELAY, 5, PORT_COUNTERS_RECEIVE_SWITCH_RELAY_ERRORS},
    {COUNTER_XMIT_DISCARDS, 6, PORT_COUNTERS_TRANSMIT_DISCARDS},
    {COUNTER_XMIT_CONSTRAINT, 7, PORT_COUNTERS_TRANSMIT_CONSTRAINT_ERRORS},
    {COUNTER_RCV_CONSTRAINT, 8, PORT_COUNTERS_RECEIVE_CONSTRAINT_ERRORS},
    {COUNTER_LOCAL_INTEGRITY, 9, PORT_COUNTERS_LOCAL_LINK_INTEGRITY_ERRORS},
    {COUNTER_OVERRUNS, 10, PORT_COUNTERS_EXCESSIVE_BUFFER_OVERRUN_ERRORS},
    {COUNTER_VL15_DROPPED, 11, PORT_COUNTERS_VL15_DROPPED},
    {COUNTER_XMIT_DATA, 12, PORT_COUNTERS_TRANSMIT_DATA},
    {COUNTER_RCV_DATA, 13, PORT_COUNTERS_RECEIVE_DATA},
    {COUNTER_XMIT_PACKETS, 14, PORT_COUNTERS_TRANSMIT_PACKETS},
    {COUNTER_RCV_PACKETS, 15, PORT_COUNTERS_RECEIVE_PACKETS},
    {COUNTER_XMIT_WAIT, 16, PORT_COUNTERS_TRANSMIT_WAIT},
};

static const struct shown extended[] = {
    {COUNTER_XMIT_DATA, 0, PORT_COUNTERS_EXT_TRANSMIT_DATA},
    {COUNTER_RCV_DATA, 1, PORT_COUNTERS_EXT_RECEIVE_DATA},
    {COUNTER_XMIT_PACKETS, 2, PORT_COUNTERS_EXT_TRANSMIT_PACKETS},
    {COUNTER_RCV_PACKETS, 3, PORT_COUNTERS_EXT_RECEIVE_PACKETS},
    {COUNTER_UNICAST_XMIT, 4, PORT_COUNTERS_EXT_TRANSMIT_UNICAST_PACKETS},
    {COUNTER_UNICAST_RCV, 5, PORT_COUNTERS_EXT_RECEIVE_UNICAST_PACKETS},
    {COUNTER_MULTICAST_XMIT, 6, PORT_COUNTERS_EXT_TRANSMIT_MULTICAST_PACKETS},
    {COUNTER_MULTICAST_RCV, 7, PORT_COUNTERS_EXT_RECEIVE_MULTICAST_PACKETS},
    {COUNTER_SYMBOL_ERRORS, 16, PORT_COUNTERS_EXT_SYMBOL_ERRORS},
    {COUNTER_LINK_RECOVERIES, 17, PORT_COUNTERS_EXT_LINK_ERROR_RECOVERIES},
    {COUNTER_LINK_DOWNED, 18, PORT_COUNTERS_EXT_LINK_DOWNED},
    {COUNTER_RCV_ERRORS, 19, PORT_COUNTERS_EXT_RECEIVE_ERRORS},
    {COUNTER_RCV_REMOTE_PHYSICAL, 20, PORT_COUNTERS_EXT_RECEIVE_REMOTE_PHYSICAL_ERRORS},
    {COUNTER_RCV_SWITCH_RELAY, 21, PORT_COUNTERS_EXT_RECEIVE_SWITCH_RELAY_ERRORS},
    {COUNTER_XMIT_DISCARDS, 22, PORT_COUNTERS_EXT_TRANSMIT_DISCARDS},
    {COUNTER_XMIT_CONSTRAINT, 23, PORT_COUNTERS_EXT_TRANSMIT_CONSTRAINT_ERRORS},
    {COUNTER_RCV_CONSTRAINT, 24, PORT_COUNTERS_EXT_RECEIVE_CONSTRAINT_ERRORS},
    {COUNTER_LOCAL_INTEGRITY, 25, PORT_COUNTERS_EXT_LOCAL_LINK_INTEGRITY_ERRORS},
    {COUNTER_OVERRUNS, 26, PORT_COUNTERS_EXT_EXCESSIVE_BUFFER_OVERRUN_ERRORS},
    {COUNTER_VL15_DROPPED, 27, PORT_COUNTERS_EXT_VL15_DROPPED},
    {COUNTER_XMIT_WAIT, 28, PORT_COUNTERS_EXT_TRANSMIT_WAIT},
};

/* One of the two sets, so that one pair of functions serves both. */
struct counter_set {
    const struct shown *shown;
    unsigned count;
    bool sticky;
    enum wire_field port_select, select, select2;
};
static const struct counter_set basic_set = {basic,
                                             sizeof basic / sizeof basic[0],
                                             true,
                                             PORT_COUNTERS_PORT_SELECT,
                                             PORT_COUNTERS_COUNTER_SELECT,
                                             PORT_COUNTERS_COUNTER_SELECT2};
static const struct counter_set extended_set = {extended,
                                                sizeof extended / sizeof extended[0],
                                                false,
                                                PORT_COUNTERS_EXT_PORT_SELECT,
                                                PORT_COUNTERS_EXT_COUNTER_SELECT,
                                                PORT_COUNTERS_EXT_COUNTER_SELECT2};

static uint64_t *base_of(const struct counter_set *set, struct sma_counters *counters)
{
    return set->sticky ? counters->base32 : counters->base64;
}

static uint64_t largest(enum wire_field field)
{
    return wire_fields[field].width == 64 ? UINT64_MAX
                                          : (UINT64_C(1) << wire_fields[field].width) - 1;
}

static void clear_counters(struct sma *sma, const struct counter_set *set, unsigned first,
                           unsigned last, const uint8_t *data)
{
    uint64_t selected = wire_get(data, set->select) | wire_get(data, set->select2) << 16;
    for (unsigned port = first; port <= last; port++) {
        struct sma_counters *counters = &sma->ports[port].counters;
        for (unsigned i = 0; i < set->count; i++)
            if (selected >> set->shown[i].select_bit & 1)
                base_of(set, counters)[set->shown[i].counter] =
                    counters->total[set->shown[i].counter] - wire_get(data, set->shown[i].field);
    }
}

static void show_counters(struct sma *sma, const struct counter_set *set, unsigned first,
                          unsigned last, uint8_t *data)
{
    for (unsigned i = 0; i < set->count; i++) {
        uint64_t sum = 0, most = largest(set->shown[i].field);
        for (unsigned port = first; port <= last; port++) {
            struct sma_counters *counters = &sma->ports[port].counters;
            unsigned counter = set->shown[i].counter;
            sum += counters->total[counter] - base_of(set, counters)[counter];
        }
        wire_set(data, set->shown[i].field, set->sticky && sum > most ? most : sum);
    }
}

/* Port 0 of an adapter is the one that was asked: tools that are given only a LID ask so. */
static uint16_t access_counters(struct sma *sma, unsigned port, const struct counter_set *set,
                                bool write, uint8_t *data)
{
    unsigned select = (unsigned)wire_get(data, set->port_select);
    unsigned one = select == 0 && sma->kind != KIND_SWITCH ? port : select;
    unsigned first = select == ALL_PORTS ? 1 : one;
    unsigned last = select == ALL_PORTS ? sma->port_count : one;
    if (last > sma->port_count)
        return STATUS_BAD_VALUE;
    if (write)
        clear_counters(sma, set, first, last, data);
    uint64_t selected = wire_get(data, set->select), selected2 = wire_get(data, set->select2);
    memset(data, 0, MAD_BYTES - GMP_DATA_OFFSET);
    wire_set(data, set->port_select, select);
    wire_set(data, set->select, selected);
    wire_set(data, set->select2, selected2);
    show_counters(sma, set, first, last, data);
    return STATUS_OK;
}

static uint16_t get_class_port_info(struct sma *sma, uint8_t *data)
{
    memset(data, 0, MAD_BYTES - GMP_DATA_OFFSET);
    wire_set(data, CLASS_PORT_INFO_BASE_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CLASS_VERSION, 1);
    wire_set(data, CLASS_PORT_INFO_CAPABILITY_MASK,
             CAPABILITY_ALL_PORTS | CAPABILITY_EXTENDED | CAPABILITY_XMIT_WAIT);
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
        return access_counters(sma, port, &basic_set, method == METHOD_SET, data);
    case ATTRIBUTE_PORT_COUNTERS_EXT:
        return access_counters(sma, port, &extended_set, method == METHOD_SET, data);
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
