#include "routing/model/lanes.h"

#include <assert.h>

void lanes_init(struct lanes *lanes, const struct network *network)
{
    size_t switches = network->switches.count, sources = network->terminals.count + switches;
    *lanes = (struct lanes){.network = network, .count = 1};
    lanes->sl_rows = arena_alloc(&lanes->memory, sources * sizeof *lanes->sl_rows);
    lanes->vl_tables = arena_alloc(&lanes->memory, switches * sizeof *lanes->vl_tables);
}

void lanes_release(struct lanes *lanes)
{
    arena_release(&lanes->memory);
    *lanes = (struct lanes){0};
}

size_t lanes_source_index(const struct lanes *lanes, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH
               ? lanes->network->terminals.count + (end_point & ~NETWORK_SWITCH)
               : end_point;
}

uint8_t lanes_sl(const struct lanes *lanes, uint32_t end_point, uint16_t dlid)
{
    const uint8_t *row = lanes->sl_rows[lanes_source_index(lanes, end_point)];
    return row && dlid <= lanes->network->top_lid ? row[dlid] : 0;
}

uint8_t lanes_vl(const struct lanes *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl)
{
    assert(at < lanes->network->switches.count && sl < LANES_SLS);
    const uint8_t *table = lanes->vl_tables[at];
    size_t ports = lanes->network->switches.items[at].port_count + 1u;
    if (in >= ports || out >= ports)
        return VL_DISCARD;
    return table ? table[(in * ports + out) * LANES_SLS + sl] : sl;
}
