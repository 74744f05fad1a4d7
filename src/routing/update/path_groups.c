#include "routing/update/path_groups.h"

void path_groups_init(struct path_groups *groups, const struct network *network, bool reversible)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *groups = (struct path_groups){.network = network, .reversible = reversible};
    groups->first_lid = mem_zalloc(switches + 2u, sizeof *groups->first_lid);
    groups->lids = mem_alloc((network->top_lid + 1u) * sizeof *groups->lids);
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
}

void path_groups_each(const struct path_groups *groups,
                      void (*visit)(void *context, struct path_group group), void *context)
{
    const struct network *network = groups->network;
    uint32_t switches = (uint32_t)network->switches.count;
    for (uint32_t from = 0; from < switches; from++) {
        if (groups->reversible) {
            bool has = groups->first_lid[from + 1] > groups->first_lid[from];
            for (uint32_t to = from + 1; to < switches && has; to++)
                if (groups->first_lid[to + 1] > groups->first_lid[to])
                    visit(context, (struct path_group){from, to});
            continue;
        }
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            if (network->owner[lid] != NETWORK_NONE)
                visit(context, (struct path_group){from, lid});
    }
}

static bool each_to(const struct path_groups *groups, uint32_t from, uint32_t to,
                    bool (*visit)(void *context, uint32_t from, uint32_t lid), void *context)
{
    for (uint32_t i = groups->first_lid[to]; i < groups->first_lid[to + 1]; i++)
        if (!visit(context, from, groups->lids[i]))
            return false;
    return true;
}

bool path_group_each(const struct path_groups *groups, struct path_group group,
                     bool (*visit)(void *context, uint32_t from, uint32_t lid), void *context)
{
    if (!groups->reversible)
        return visit(context, group.from, group.to);
    return each_to(groups, group.from, group.to, visit, context) &&
           each_to(groups, group.to, group.from, visit, context);
}

bool update_lay_path(struct cdg *cdg, unsigned layer, const struct routes *tables, uint32_t from,
                     uint32_t lid, bool check)
{
    const struct network *network = cdg->network;
    uint32_t at = from, in = NETWORK_NONE;
    if ((network->owner[lid] & NETWORK_SWITCH) && network_terminal_count(network, from) == 0)
        return true;
    for (size_t hops = 0; hops <= network->switches.count; hops++) {
        uint32_t out = cdg_leaving(cdg, at, routes_port(tables, at, lid));
        if (out == NETWORK_NONE)
            return true;
        if (in != NETWORK_NONE && !check)
            cdg_note(cdg, layer, in, out);
        else if (in != NETWORK_NONE && cdg_insert(cdg, layer, in, out) == CDG_REFUSED)
            return false;
        at = network->edges[out].to;
        in = out;
    }
    return false;
}

bool update_path_stays(const struct cdg *cdg, const struct routes *before,
                       const struct routes *after, uint32_t from, uint32_t lid)
{
    uint32_t at = from;
    for (size_t hops = 0; hops <= cdg->network->switches.count; hops++) {
        uint8_t port = routes_port(after, at, lid);
        if (port != routes_port(before, at, lid))
            return false;
        uint32_t out = cdg_leaving(cdg, at, port);
        if (out == NETWORK_NONE)
            return true;
        at = cdg->network->edges[out].to;
    }
    return false;
}
