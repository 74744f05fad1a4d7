/* The performance agent (16.1): PortCounters, PortCountersExtended, PortRcvErrorDetails and
 * PortXmitDiscardDetails over the same totals. Other optional attributes are not supported.
 *
 * The data path counts in 64-bit totals. A client that clears a counter only moves the base of that
 * set of counters, so that the sets can be cleared independently. Most ports are never cleared, and
 * have no bases. The fields of the extended set
 * wrap, those of the others saturate at their largest value. */
#include "base/mem.h"
#include "sma/internal.h"

#include <assert.h>
#include <string.h>

enum { ALL_PORTS = 0xFF, NO_FIELD = NO_COUNTER_FIELD };

/* The other fields of a set. */
static const struct {
    uint16_t port_select, select, select2;
} sets[COUNTER_SETS] = {
    [SET_BASIC] = {PORT_COUNTERS_PORT_SELECT, PORT_COUNTERS_COUNTER_SELECT,
                   PORT_COUNTERS_COUNTER_SELECT2},
    [SET_EXTENDED] = {PORT_COUNTERS_EXT_PORT_SELECT, PORT_COUNTERS_EXT_COUNTER_SELECT,
                      PORT_COUNTERS_EXT_COUNTER_SELECT2},
    [SET_ERROR_DETAILS] = {PORT_RCV_ERROR_DETAILS_PORT_SELECT,
                           PORT_RCV_ERROR_DETAILS_COUNTER_SELECT, NO_FIELD},
    [SET_DISCARD_DETAILS] = {PORT_XMIT_DISCARD_DETAILS_PORT_SELECT,
                             PORT_XMIT_DISCARD_DETAILS_COUNTER_SELECT, NO_FIELD}};

/* No counter is in two of the others. */
static unsigned base_of(unsigned set)
{
    return set == SET_EXTENDED;
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
        if (!at->bases)
            at->bases = mem_zalloc(2, sizeof *at->bases);
        for (unsigned i = 0; i < COUNTER_COUNT; i++)
            if (port_counter_infos[i].in[set].field != NO_FIELD &&
                selected >> port_counter_infos[i].in[set].select_bit & 1)
                at->bases[base_of(set)][i] =
                    at->total[i] - wire_get(data, port_counter_infos[i].in[set].field);
    }
}

static void show_counters(struct sma *sma, unsigned set, unsigned first, unsigned last,
                          uint8_t *data)
{
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        uint16_t field = port_counter_infos[i].in[set].field;
        uint64_t sum = 0;
        if (field == NO_FIELD)
            continue;
        for (unsigned port = first; port <= last; port++) {
            struct sma_counters *at = &sma->ports[port].counters;
            sum += at->total[i] - (at->bases ? at->bases[base_of(set)][i] : 0);
        }
        wire_set(data, field,
                 set != SET_EXTENDED && sum > largest_field_value(field)
                     ? largest_field_value(field)
                     : sum);
    }
}

/* PortSelect 0 at an adapter means the port that received the MAD: tools that have only a LID send
 * 0. */
static uint16_t access_counters(struct sma *sma, unsigned port, unsigned set, bool write,
                                uint8_t *data)
{
    unsigned select = (unsigned)wire_get(data, sets[set].port_select);
    assert(port <= sma->port_count && set < COUNTER_SETS);
    unsigned one = select == 0 && sma->kind != KIND_SWITCH ? port : select;
    unsigned first = select == ALL_PORTS ? 1 : one;
    unsigned last = select == ALL_PORTS ? sma->port_count : one;
    if (last > sma->port_count)
        return STATUS_BAD_VALUE;
    if (write)
        clear_counters(sma, set, first, last, data);
    uint64_t selected = wire_get(data, sets[set].select);
    uint64_t selected2 = second_selection(set, data);
    memset(data, 0, GMP_DATA_BYTES);
    wire_set(data, sets[set].port_select, select);
    wire_set(data, sets[set].select, selected);
    if (sets[set].select2 != NO_FIELD)
        wire_set(data, sets[set].select2, selected2);
    show_counters(sma, set, first, last, data);
    return STATUS_OK;
}

uint16_t sma_access_performance(struct sma *sma, uint64_t now, unsigned port, uint8_t *mad)
{
    bool write = wire_get(mad, MAD_METHOD) == METHOD_SET;
    uint8_t *data = mad + GMP_DATA_OFFSET;
    switch (wire_get(mad, MAD_ATTRIBUTE_ID)) {
    case ATTRIBUTE_PORT_COUNTERS: return access_counters(sma, port, SET_BASIC, write, data);
    case ATTRIBUTE_PORT_COUNTERS_EXT: return access_counters(sma, port, SET_EXTENDED, write, data);
    case ATTRIBUTE_PORT_RCV_ERROR_DETAILS:
        return access_counters(sma, port, SET_ERROR_DETAILS, write, data);
    case ATTRIBUTE_PORT_XMIT_DISCARD_DETAILS:
        return access_counters(sma, port, SET_DISCARD_DETAILS, write, data);
    case ATTRIBUTE_PORT_SAMPLES_CONTROL:
    case ATTRIBUTE_PORT_SAMPLES_RESULT: return sma_access_samples(sma, now, port, mad);
    default: return STATUS_BAD_ATTRIBUTE;
    }
}
