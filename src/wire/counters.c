/* The table of the port counters, and the sum that pages call the errors of a link. */
#include "wire/counters.h"

#define NONE                                                                                       \
    {                                                                                              \
        NO_COUNTER_FIELD, 0                                                                        \
    }
#define IN_BOTH(symbol, bit, extended)                                                             \
    {PORT_COUNTERS_##symbol, bit}, {PORT_COUNTERS_EXT_##symbol, extended}, NONE, NONE
#define IN_EXTENDED(symbol, bit, extended) NONE, {PORT_COUNTERS_EXT_##symbol, extended}, NONE, NONE
#define IN_DETAILS(symbol, bit, extended)  NONE, NONE, {PORT_RCV_ERROR_DETAILS_##symbol, bit}, NONE
#define IN_DISCARDS(symbol, bit, extended)                                                         \
    NONE, NONE, NONE,                                                                              \
    {                                                                                              \
        PORT_XMIT_DISCARD_DETAILS_##symbol, bit                                                    \
    }

const struct port_counter_info port_counter_infos[COUNTER_COUNT] = {
#define COUNTER(symbol, kind, name, metric, meaning, unit, where, bit, extended)                   \
    {name, metric, meaning, COUNTER_KIND_##kind, unit, {IN_##where(symbol, bit, extended)}},
#include "wire/counters.def"
};

uint32_t port_counters_link_errors(const uint64_t *one, const uint64_t *other)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (port_counter_infos[i].kind == COUNTER_KIND_LINK_ERROR)
            sum += (one ? one[i] : 0) + (other ? other[i] : 0);
    return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}
