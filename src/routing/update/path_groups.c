/* Lists the groups of paths, and lays their dependencies into a graph. */
#include "routing/update/path_groups.h"

#include "routing/update/planner.h"

#include <assert.h>

void path_groups_init(struct path_groups *groups, const struct network *network, bool reversible)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *groups = (struct path_groups){.network = network, .reversible = reversible};
    groups->first_lid = mem_zalloc(switches + 2u, sizeof *groups->first_lid);
    groups->lids = mem_alloc((network->top_lid + 1u) * sizeof *groups->lids);
    groups->paths = mem_alloc(2 * (network->top_lid + 1u) * sizeof *groups->paths);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE)
            groups->first_lid[network_switch_of(network, network->owner[lid]) + 2]++;
    for (uint32_t at = 2; at < switches + 2; at++)
        groups->first_lid[at] += groups->first_lid[at - 1];
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        if (network->owner[lid] != NETWORK_NONE)
            groups->lids[groups->first_lid[network_switch_of(network, network->owner[lid]) + 1]++] =
                (uint16_t)lid;
}

void path_groups_release(struct path_groups *groups)
{
    mem_free(groups->first_lid);
    mem_free(groups->lids);
    mem_free(groups->paths);
}

static bool has_lids(const struct path_groups *groups, uint32_t at)
{
    return groups->first_lid[at + 1] > groups->first_lid[at];
}

bool path_groups_next(const struct path_groups *groups, struct path_group *group)
{
    const struct network *network = groups->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t end = groups->reversible ? switches : network->top_lid + 1u;
    for (; group->from < switches; group->from++, group->to = groups->reversible ? group->from : 0)
        while (++group->to < end)
            if (groups->reversible ? has_lids(groups, group->from) && has_lids(groups, group->to)
                                   : network->owner[group->to] != NETWORK_NONE)
                return true;
    return false;
}

void path_groups_read(struct path_groups *groups, struct path_group group)
{
    assert(group.from < groups->network->switches.count);
    groups->count = 0;
    if (!groups->reversible) {
        groups->paths[groups->count++] = (struct group_path){group.from, group.to};
        return;
    }
    for (uint32_t i = groups->first_lid[group.to]; i < groups->first_lid[group.to + 1]; i++)
        groups->paths[groups->count++] = (struct group_path){group.from, groups->lids[i]};
    for (uint32_t i = groups->first_lid[group.from]; i < groups->first_lid[group.from + 1]; i++)
        groups->paths[groups->count++] = (struct group_path){group.to, groups->lids[i]};
}

bool path_groups_lay(const struct path_groups *groups, struct cdg *cdg, unsigned layer,
                     const struct routes *tables, bool check)
{
    assert(groups->count > 0);
    for (size_t i = 0; i < groups->count; i++)
        if (!cdg_lay_path(cdg, layer, tables, groups->paths[i].from, groups->paths[i].lid, check))
            return false;
    return true;
}

uint16_t path_groups_vls(const struct path_groups *groups, const struct routes *routes)
{
    uint16_t vls = 0;
    for (size_t i = 0; i < groups->count; i++)
        vls |= (uint16_t)(1u << update_level(routes, groups->paths[i].from, groups->paths[i].lid));
    return vls;
}

void path_groups_set(const struct path_groups *groups, const struct routes *routes, uint8_t *levels,
                     unsigned vl)
{
    for (size_t i = 0; i < groups->count; i++)
        if (groups->paths[i].lid < routes->stride)
            levels[(size_t)groups->paths[i].from * routes->stride + groups->paths[i].lid] =
                (uint8_t)vl;
}

void update_lay_all(struct cdg *cdg, const struct routes *levels, const struct routes *tables,
                    uint64_t pairs[UPDATE_PLAN_VLS])
{
    const struct network *network = cdg->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        for (uint32_t from = 0; from < network->switches.count; from++) {
            unsigned vl = update_level(levels, from, lid);
            if (network->owner[lid] == NETWORK_NONE || vl >= cdg->count)
                continue;
            pairs[vl]++;
            cdg_lay_path(cdg, vl, tables, from, lid, false);
        }
}
