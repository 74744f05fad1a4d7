/* Stores SLs by source and DLID, and SL-to-VL tables by switch and pair of ports, only where set.
 */
#include "routing/model/vl_map.h"

#include <assert.h>
#include <string.h>

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

static uint8_t **row_of(const struct vl_map *lanes, uint32_t end_point)
{
    size_t index = end_point & NETWORK_SWITCH
                       ? lanes->network->terminals.count + (end_point & ~NETWORK_SWITCH)
                       : end_point;
    return &lanes->sl_rows[index];
}

static void use_vl(struct vl_map *lanes, unsigned vl)
{
    if (vl < VL_MAP_DISCARD && vl >= lanes->count)
        lanes->count = vl + 1;
}

void vl_map_set_sl(struct vl_map *lanes, uint32_t end_point, uint16_t dlid, uint8_t sl)
{
    uint8_t **row = row_of(lanes, end_point);
    size_t lids = lanes->network->top_lid + 1u;
    assert(dlid < lids && (sl < VL_MAP_SLS || sl == VL_MAP_NO_PATH));
    if (!*row)
        *row = memset(arena_alloc(&lanes->memory, lids), VL_MAP_UNSET, lids);
    (*row)[dlid] = sl;
    use_vl(lanes, sl);
}

void vl_map_set_vls(struct vl_map *lanes, uint32_t at, uint8_t in, uint8_t out,
                    const uint8_t vl_of_sl[VL_MAP_SLS])
{
    size_t ports = lanes->network->switches.items[at].port_count + 1u;
    assert(in < ports && out < ports);
    if (!lanes->vl_tables[at]) {
        uint8_t *table = lanes->vl_tables[at] =
            arena_alloc(&lanes->memory, ports * ports * VL_MAP_SLS);
        for (size_t i = 0; i < ports * ports * VL_MAP_SLS; i++)
            table[i] = i % VL_MAP_SLS;
    }
    memcpy(lanes->vl_tables[at] + (in * ports + out) * VL_MAP_SLS, vl_of_sl, VL_MAP_SLS);
    for (int sl = 0; sl < VL_MAP_SLS; sl++)
        use_vl(lanes, vl_of_sl[sl]);
}

static uint8_t entry_of(const struct vl_map *lanes, uint32_t end_point, uint32_t dlid)
{
    const uint8_t *row = *row_of(lanes, end_point);
    return row && dlid <= lanes->network->top_lid ? row[dlid] : VL_MAP_UNSET;
}

bool vl_map_is_set(const struct vl_map *lanes, uint32_t end_point, uint16_t dlid)
{
    return entry_of(lanes, end_point, dlid) != VL_MAP_UNSET;
}

uint8_t vl_map_sl(const struct vl_map *lanes, uint32_t end_point, uint16_t dlid)
{
    uint8_t entry = entry_of(lanes, end_point, dlid);
    return entry == VL_MAP_UNSET ? 0 : entry;
}

static void count_gaps(const struct vl_map *lanes, uint32_t source, bool adapters,
                       struct vl_map_gaps *gaps)
{
    const struct network *network = lanes->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid];
        bool to_switch = owner & NETWORK_SWITCH;
        if (owner == NETWORK_NONE || owner == source ||
            (to_switch && (adapters || source & NETWORK_SWITCH)))
            continue;
        uint8_t entry = entry_of(lanes, source, lid);
        gaps->paths++;
        if ((entry == VL_MAP_UNSET && !gaps->unset) ||
            (entry == VL_MAP_NO_PATH && !gaps->unset && !gaps->none)) {
            gaps->source = source;
            gaps->dlid = (uint16_t)lid;
        }
        gaps->unset += entry == VL_MAP_UNSET;
        gaps->none += entry == VL_MAP_NO_PATH;
    }
}

struct vl_map_gaps vl_map_find_gaps(const struct vl_map *lanes, bool adapters)
{
    const struct network *network = lanes->network;
    struct vl_map_gaps gaps = {0};
    for (uint32_t i = 0; i < network->terminals.count; i++)
        if (network->terminals.items[i].lid)
            count_gaps(lanes, i, adapters, &gaps);
    for (uint32_t i = 0; i < network->switches.count && !adapters; i++)
        if (network->switches.items[i].lid)
            count_gaps(lanes, NETWORK_SWITCH | i, false, &gaps);
    return gaps;
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
