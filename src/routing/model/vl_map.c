/* Stores SLs by source and DLID, and SL-to-VL tables by switch and pair of ports, only where set.
 */
#include "routing/model/vl_map.h"

#include <assert.h>
#include <string.h>

void vl_map_init(struct vl_map *map, const struct network *network)
{
    size_t switches = network->switches.count, sources = network->terminals.count + switches;
    *map = (struct vl_map){.network = network, .count = 1};
    map->sl_rows = arena_alloc(&map->memory, sources * sizeof *map->sl_rows);
    map->vl_tables = arena_alloc(&map->memory, switches * sizeof *map->vl_tables);
}

void vl_map_release(struct vl_map *map)
{
    arena_release(&map->memory);
    *map = (struct vl_map){0};
}

static uint8_t **row_of(const struct vl_map *map, uint32_t end_point)
{
    size_t index = end_point & NETWORK_SWITCH
                       ? map->network->terminals.count + (end_point & ~NETWORK_SWITCH)
                       : end_point;
    return &map->sl_rows[index];
}

static void use_vl(struct vl_map *map, unsigned vl)
{
    if (vl < VL_MAP_DISCARD && vl >= map->count)
        map->count = vl + 1;
}

void vl_map_set_sl(struct vl_map *map, uint32_t end_point, uint16_t dlid, uint8_t sl)
{
    uint8_t **row = row_of(map, end_point);
    size_t lids = map->network->top_lid + 1u;
    assert(dlid < lids && (sl < VL_MAP_SLS || sl == VL_MAP_NO_PATH));
    if (!*row)
        *row = memset(arena_alloc(&map->memory, lids), VL_MAP_UNSET, lids);
    (*row)[dlid] = sl;
    use_vl(map, sl);
}

void vl_map_set_vls(struct vl_map *map, uint32_t at, uint8_t in, uint8_t out,
                    const uint8_t vl_of_sl[VL_MAP_SLS])
{
    size_t ports = map->network->switches.items[at].port_count + 1u;
    assert(in < ports && out < ports);
    if (!map->vl_tables[at]) {
        uint8_t *table = map->vl_tables[at] = arena_alloc(&map->memory, ports * ports * VL_MAP_SLS);
        for (size_t i = 0; i < ports * ports * VL_MAP_SLS; i++)
            table[i] = i % VL_MAP_SLS;
    }
    memcpy(map->vl_tables[at] + (in * ports + out) * VL_MAP_SLS, vl_of_sl, VL_MAP_SLS);
    for (int sl = 0; sl < VL_MAP_SLS; sl++)
        use_vl(map, vl_of_sl[sl]);
}

static uint8_t entry_of(const struct vl_map *map, uint32_t end_point, uint32_t dlid)
{
    const uint8_t *row = *row_of(map, end_point);
    return row && dlid <= map->network->top_lid ? row[dlid] : VL_MAP_UNSET;
}

bool vl_map_is_set(const struct vl_map *map, uint32_t end_point, uint16_t dlid)
{
    return entry_of(map, end_point, dlid) != VL_MAP_UNSET;
}

uint8_t vl_map_sl(const struct vl_map *map, uint32_t end_point, uint16_t dlid)
{
    uint8_t entry = entry_of(map, end_point, dlid);
    return entry == VL_MAP_UNSET ? 0 : entry;
}

static void count_gaps(const struct vl_map *map, uint32_t source, bool adapters,
                       struct vl_map_gaps *gaps)
{
    const struct network *network = map->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid];
        bool to_switch = owner & NETWORK_SWITCH;
        if (owner == NETWORK_NONE || owner == source ||
            (to_switch && (adapters || source & NETWORK_SWITCH)))
            continue;
        uint8_t entry = entry_of(map, source, lid);
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

struct vl_map_gaps vl_map_find_gaps(const struct vl_map *map, bool adapters)
{
    const struct network *network = map->network;
    struct vl_map_gaps gaps = {0};
    for (uint32_t i = 0; i < network->terminals.count; i++)
        if (network->terminals.items[i].lid)
            count_gaps(map, i, adapters, &gaps);
    for (uint32_t i = 0; i < network->switches.count && !adapters; i++)
        if (network->switches.items[i].lid)
            count_gaps(map, NETWORK_SWITCH | i, false, &gaps);
    return gaps;
}

uint8_t vl_map_vl(const struct vl_map *map, uint32_t at, uint8_t in, uint8_t out, uint8_t sl)
{
    assert(at < map->network->switches.count && sl < VL_MAP_SLS);
    const uint8_t *table = map->vl_tables[at];
    size_t ports = map->network->switches.items[at].port_count + 1u;
    if (in >= ports || out >= ports)
        return VL_MAP_DISCARD;
    return table ? table[(in * ports + out) * VL_MAP_SLS + sl] : sl;
}
