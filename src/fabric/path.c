/* Follows the tables from link to link. A caller limits the hops, since tables may have loops. */
#include "fabric/path.h"

enum fabric_step fabric_path_enter(struct fabric_path *path, uint32_t node)
{
    const struct topology *topology = fabric_topology(path->fabric);
    const struct topology_node *at = &topology->nodes.items[node];
    if (at->kind != NODE_SWITCH)
        return PATH_AT_END;
    unsigned out = fabric_route(path->fabric, node, path->dlid);
    if (out == 0 || out > at->port_count ||
        topology->ports.items[at->first_port + out].peer == TOPOLOGY_NONE)
        return PATH_HAS_NO_ROUTE;
    path->out = at->first_port + out;
    return PATH_GOES_ON;
}

enum fabric_step fabric_path_step(struct fabric_path *path,
                                  bool (*passes)(const struct fabric *fabric, uint32_t port))
{
    const struct topology *topology = fabric_topology(path->fabric);
    uint32_t peer = topology->ports.items[path->out].peer;
    bool whole = peer != TOPOLOGY_NONE &&
                 (!passes || (passes(path->fabric, path->out) && passes(path->fabric, peer)));
    path->in = whole ? peer : TOPOLOGY_NONE;
    if (!whole)
        return PATH_IS_CUT;
    path->hops++;
    return fabric_path_enter(path, topology->ports.items[peer].node);
}
