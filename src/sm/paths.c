/* Resolves a path by the routes and the QoS policy in force: the one rule for pages, requests of
 * the performance manager and simulated packets. The subnet administration applies the criteria of
 * a query to the same choice of levels (qos_resolve()). */
#include "sm/internal.h"

static struct sm_path resolve(const struct sm_paths *paths, const struct sm_path_end *from,
                              const struct sm_path_end *to, struct path path)
{
    const struct qos_request request = {
        .source_groups = from->groups,
        .destination_groups = to->groups,
        .target_guid = to->guid,
        .has_p_key = true,
        .p_key = 0xFFFF,
    };
    struct sm_path found = {.dlid = path.dlid, .vl = path.sl};
    qos_resolve(paths->qos, &paths->layout, &request, path.sl, &found.sl);
    return found;
}

struct sm_path sm_paths_resolve(const struct sm_paths *paths, const struct sm_path_end *from,
                                const struct sm_path_end *to)
{
    return resolve(paths, from, to,
                   path_lookup(paths->routes, paths->network, from->point, to->point));
}

struct sm_path sm_paths_resolve_lid(const struct sm_paths *paths, const struct sm_path_end *from,
                                    const struct sm_path_end *to, uint16_t dlid)
{
    uint32_t at = network_switch_of(paths->network, from->point);
    return resolve(paths, from, to, (struct path){dlid, routes_level(paths->routes, at, dlid)});
}

static struct sm_path_end end_at(const struct sm *sm, const struct sm_paths *paths, uint32_t index)
{
    const struct subnet *subnet = sm_subnet(sm);
    const struct subnet_port *port = &subnet->ports.items[index];
    return (struct sm_path_end){
        .point =
            paths->network && port->lid ? network_owner(paths->network, port->lid) : NETWORK_NONE,
        .guid = port->guid,
        .groups = qos_groups_at(paths->qos, subnet, port->guid, port->lid),
    };
}

struct sm_path sm_path_between(const struct sm *sm, uint32_t from, uint32_t to)
{
    struct sm_paths paths = sm_paths(sm);
    struct sm_path_end here = end_at(sm, &paths, from), there = end_at(sm, &paths, to);
    if (here.point == NETWORK_NONE || there.point == NETWORK_NONE)
        return (struct sm_path){0};
    return sm_paths_resolve(&paths, &here, &there);
}
