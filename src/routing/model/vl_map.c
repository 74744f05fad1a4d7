#include "routing/model/vl_map.h"

#include <assert.h>

void vl_map_init(struct vl_map *lanes, const struct network *network)
{
    size_t switches = network->switches.count, sources = network->terminals.count + switches;
    *lanes = (struct vl_map){.network = network, .count = 1};
    lanes->sl_rows = arena_alloc(&lanes->memory, sources * sizeof *lanes->sl_rows);
    lanes->vl_tables = arena_alloc(&lanes->memory, switches * sizeof *lanes->vl_tables);
}

void vl_map_release(struct vl_map *lanes)
{
    arena_release(&lanes->memory);
    *lanes = (struct vl_map){0};
}

size_t vl_map_source_index(const struct vl_map *lanes, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH
               ? lanes->network->terminals.count + (end_point & ~NETWORK_SWITCH)
               : end_point;
}

uint8_t vl_map_sl(const struct vl_map *lanes, uint32_t end_point, uint16_t dlid)
{
    const uint8_t *row = lanes->sl_rows[vl_map_source_index(lanes, end_point)];
    return row && dlid <= lanes->network->top_lid ? row[dlid] : 0;
}

uint8_t vl_map_vl(const struct vl_map *lanes, uint32_t at, uint8_t in, uint8_t out, uint8_t sl)
{
    assert(at < lanes->network->switches.count && sl < VL_MAP_SLS);
    const uint8_t *table = lanes->vl_tables[at];
    size_t ports = lanes->network->switches.items[at].port_count + 1u;
    if (in >= ports || out >= ports)
        return VL_MAP_DISCARD;
    return table ? table[(in * ports + out) * VL_MAP_SLS + sl] : sl;
}
