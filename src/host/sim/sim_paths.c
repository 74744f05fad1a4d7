/* Translates ports of the fabric to terminals of a manager's network, once for each generation of
 * its paths. */
#include "host/sim/sim_paths.h"

#include "base/map.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

struct manager_paths {
    uint64_t generation;
    bool known;           /* translated */
    atomic_bool noted;    /* `seen` has its ports */
    uint32_t *end_points; /* points of the network by port of the fabric, or NETWORK_NONE */
    uint64_t *groups;     /* QoS port groups by terminal; NULL: the policy has none */
    VEC(uint32_t) vms;    /* terminals by virtual machine */
};

enum { TRIED_LIDS = 4 }; /* of a port, for the primary path beside an alternate one */

struct vm_address {
    uint64_t guid;
    struct data_path last; /* dlid 0: none yet */
};

struct group_address {
    const struct groups *groups;
    uint8_t mgid[16];
};

struct sim_paths {
    struct sim *sim;
    struct fabric *fabric;
    uint32_t port_count;
    atomic_bool *seen;               /* by port of the fabric: was in the network of a manager */
    VEC(struct manager_paths) views; /* by manager */
    VEC(struct vm_address) vms;
    VEC(struct group_address) groups;
    struct map vms_by_guid;
    struct map far_pairs; /* source << 32 | destination in another subnet: index of `far_paths` */
    VEC(struct data_path) far_paths; /* the last one of each */
};

static bool prepare(void *context);

static struct data_path find_path(void *context, uint32_t source, uint32_t destination)
{
    return sim_paths_find(context, source, destination);
}

static struct data_path find_router(void *context, uint32_t source, uint64_t prefix, uint64_t flow);

struct sim_paths *sim_paths_new(struct sim *sim, struct fabric *fabric)
{
    struct sim_paths *paths = mem_zalloc(1, sizeof *paths);
    paths->sim = sim;
    paths->fabric = fabric;
    paths->port_count = (uint32_t)fabric_topology(fabric)->ports.count;
    paths->seen = mem_zalloc(paths->port_count + 1, sizeof *paths->seen);
    fabric_set_paths(fabric, &(struct data_paths){paths, find_path, prepare, find_router});
    return paths;
}

void sim_paths_free(struct sim_paths *paths)
{
    if (!paths)
        return;
    for (size_t i = 0; i < paths->views.count; i++) {
        mem_free(paths->views.items[i].end_points);
        mem_free(paths->views.items[i].groups);
        vec_release(&paths->views.items[i].vms);
    }
    vec_release(&paths->views);
    vec_release(&paths->vms);
    vec_release(&paths->groups);
    map_release(&paths->far_pairs);
    vec_release(&paths->far_paths);
    map_release(&paths->vms_by_guid);
    mem_free(paths->seen);
    mem_free(paths);
}

/* Finds the QoS groups of all terminals, as the administration does. */
static void find_groups(struct manager_paths *view, const struct sm_paths *from,
                        const struct subnet *subnet)
{
    const struct network *network = from->network;
    mem_free(view->groups);
    view->groups = NULL;
    if (!from->qos || !from->qos->on || !from->qos->members.count)
        return;
    view->groups = mem_alloc((network->terminals.count + 1) * sizeof *view->groups);
    for (uint32_t i = 0; i < network->terminals.count; i++)
        view->groups[i] = qos_groups_at(from->qos, subnet, network->terminals.items[i].guid,
                                        network->terminals.items[i].lid);
}

static void translate(struct sim_paths *paths, struct manager_paths *view,
                      const struct sm_paths *from, const struct subnet *subnet)
{
    struct map by_guid = {0};
    assert(from->network && from->routes);
    view->vms.count = 0;
    for (size_t i = 0; i < paths->vms.count; i++)
        vec_push(&view->vms, NETWORK_NONE);
    if (!view->end_points)
        view->end_points = mem_alloc(paths->port_count * sizeof *view->end_points);
    for (uint32_t i = 0; i < paths->port_count; i++) {
        view->end_points[i] = NETWORK_NONE;
        if (fabric_port_guid(paths->fabric, i, 0))
            map_add(&by_guid, fabric_port_guid(paths->fabric, i, 0), i);
    }
    for (uint32_t i = 0; i < from->network->terminals.count; i++) {
        uint32_t port = map_get(&by_guid, from->network->terminals.items[i].guid);
        uint32_t vm = map_get(&paths->vms_by_guid, from->network->terminals.items[i].guid);
        if (vm != MAP_NONE)
            view->vms.items[vm] = i;
        if (port != MAP_NONE)
            view->end_points[port] = i;
    }
    for (uint32_t i = 0; i < from->network->switches.count; i++) {
        uint32_t port = map_get(&by_guid, from->network->switches.items[i].guid);
        if (port != MAP_NONE)
            view->end_points[port] = i | NETWORK_SWITCH;
    }
    map_release(&by_guid);
    find_groups(view, from, subnet);
    view->generation = from->generation;
    view->known = true;
    view->noted = false;
}

static struct sm_path_end end_of(const struct manager_paths *view, const struct network *network,
                                 uint32_t point)
{
    if (point & NETWORK_SWITCH)
        return (struct sm_path_end){point, network->switches.items[point & ~NETWORK_SWITCH].guid,
                                    0};
    return (struct sm_path_end){point, network->terminals.items[point].guid,
                                view->groups ? view->groups[point] : 0};
}

/* Several threads may do the same at once. */
static void note_ports(struct sim_paths *paths, struct manager_paths *view)
{
    for (uint32_t i = 0; i < paths->port_count; i++)
        if (view->end_points[i] != NETWORK_NONE)
            atomic_store_explicit(&paths->seen[i], true, memory_order_relaxed);
    atomic_store_explicit(&view->noted, true, memory_order_release);
}

static struct data_path find_group(const struct sim_paths *paths, uint32_t number)
{
    const struct group_address *address = &paths->groups.items[number];
    const struct group *group = groups_find(address->groups, address->mgid);
    if (!group || !group->members.count)
        return (struct data_path){0};
    return (struct data_path){.dlid = group->mlid, .sl = group->sl};
}

/* The translation of what a manager has in force; NULL: it has no paths. */
static struct manager_paths *view_at(struct sim_paths *paths, unsigned number,
                                     struct sm_paths *from)
{
    const struct sm *sm = sim_manager(paths->sim, number);
    while (paths->views.count <= number)
        vec_push(&paths->views, (struct manager_paths){0});
    struct manager_paths *view = &paths->views.items[number];
    if (!sm)
        return NULL;
    *from = sm_paths(sm);
    if (!from->network)
        return NULL;
    if (!view->known || view->generation != from->generation || view->vms.count < paths->vms.count)
        translate(paths, view, from, sm_subnet(sm));
    return view;
}

static uint64_t prefix_at(const struct sim_paths *paths, uint32_t port)
{
    return wire_get(fabric_port_info(paths->fabric, port), PORT_INFO_GID_PREFIX);
}

/* Whether packets may go from one subnet to another: there is a router, or adapters have several
 * prefixes. */
static bool has_subnets(const struct sim_paths *paths)
{
    const struct topology *topology = fabric_topology(paths->fabric);
    uint64_t prefix = 0; /* none has it */
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        if (node->kind == NODE_ROUTER)
            return true;
        for (uint32_t port = 1; node->kind == NODE_ADAPTER && port <= node->port_count; port++) {
            uint64_t own = prefix_at(paths, node->first_port + port);
            if (prefix && own != prefix)
                return true;
            prefix = own;
        }
    }
    return false;
}

/* Afterwards look_up() changes nothing but `seen` and `noted`, while there are no VMs. Paths
 * between ports of different subnets are kept (find_far()). */
static bool prepare(void *context)
{
    struct sim_paths *paths = context;
    struct sm_paths from;
    if (has_subnets(paths))
        return false;
    for (unsigned i = 0; i < sim_manager_count(paths->sim); i++)
        view_at(paths, i, &from);
    return true;
}

static struct data_path data_path_of(const struct sm_paths *from, const struct sm_path *path)
{
    struct data_path found = {.dlid = path->dlid, .sl = path->sl};
    if (from->layout.levels) /* added to an SL that traffic chooses itself */
        found.sl_offset = (uint8_t)(path->vl * from->layout.stride);
    return found;
}

/* ---- other subnets ---- */

/* By a router of the subnet of a manager that has the source in its network. */
static struct data_path path_to_router(const struct manager_paths *view, const struct sm *sm,
                                       const struct sm_paths *from, uint32_t here, uint64_t prefix,
                                       uint64_t flow)
{
    const struct subnet *subnet = sm_subnet(sm);
    uint32_t port = prefix_routes_choose(subnet, prefix, flow);
    uint32_t point = port == SUBNET_NONE
                         ? NETWORK_NONE
                         : network_owner(from->network, subnet->ports.items[port].lid);
    if (point == NETWORK_NONE || point & NETWORK_SWITCH)
        return (struct data_path){0};
    struct sm_path_end ends[] = {end_of(view, from->network, here),
                                 end_of(view, from->network, point)};
    struct sm_path path = sm_paths_resolve(from, &ends[0], &ends[1]);
    struct data_path found = data_path_of(from, &path);
    found.hop_limit = ROUTER_HOP_LIMIT;
    return found;
}

static struct data_path find_router(void *context, uint32_t source, uint64_t prefix, uint64_t flow)
{
    struct sim_paths *paths = context;
    struct sm_paths from;
    for (unsigned i = 0; i < sim_manager_count(paths->sim); i++) {
        const struct manager_paths *view = view_at(paths, i, &from);
        if (view && view->end_points[source] != NETWORK_NONE)
            return path_to_router(view, sim_manager(paths->sim, i), &from, view->end_points[source],
                                  prefix, flow);
    }
    return (struct data_path){0};
}

/* The path to a port of another subnet. Without a master, sources continue with the last one. */
static struct data_path find_far(struct sim_paths *paths, uint32_t source, uint32_t destination,
                                 bool known, bool shown)
{
    uint64_t flow = router_flow(fabric_port_guid(paths->fabric, source, 0),
                                fabric_port_guid(paths->fabric, destination, 0));
    uint64_t pair = (uint64_t)source << 32 | destination;
    struct data_path found = {0};
    if (known)
        found = find_router(paths, source, prefix_at(paths, destination), flow);
    uint32_t at = map_get(&paths->far_pairs, pair);
    if (!known)
        return at == MAP_NONE ? found : paths->far_paths.items[at];
    if (shown)
        return found;
    if (at == MAP_NONE) {
        map_set(&paths->far_pairs, pair, (uint32_t)paths->far_paths.count);
        vec_push(&paths->far_paths, found);
    } else {
        paths->far_paths.items[at] = found;
    }
    return found;
}

/* `shown`: nobody sends a packet; what later packets use does not change. */
static struct data_path look_up(struct sim_paths *paths, uint32_t source, uint32_t destination,
                                bool shown)
{
    bool source_known = false; /* a manager has the source in its network, or none had it ever */
    bool in_network = false;   /* a manager has it */
    assert(source < paths->port_count);
    if (destination >= DATA_GROUP)
        return find_group(paths, destination - DATA_GROUP);
    for (unsigned i = 0; i < sim_manager_count(paths->sim); i++) {
        struct sm_paths from;
        struct manager_paths *view = view_at(paths, i, &from);
        if (!view)
            continue;
        if (!shown && !atomic_load_explicit(&view->noted, memory_order_acquire))
            note_ports(paths, view);
        uint32_t here = view->end_points[source];
        uint32_t there = destination >= DATA_VM ? view->vms.items[destination - DATA_VM]
                                                : view->end_points[destination];
        source_known |= here != NETWORK_NONE ||
                        !atomic_load_explicit(&paths->seen[source], memory_order_relaxed);
        in_network |= here != NETWORK_NONE;
        if (here == NETWORK_NONE || there == NETWORK_NONE)
            continue;
        struct sm_path_end ends[] = {end_of(view, from.network, here),
                                     end_of(view, from.network, there)};
        struct sm_path path = sm_paths_resolve(&from, &ends[0], &ends[1]);
        struct data_path found = data_path_of(&from, &path);
        if (destination >= DATA_VM && !shown)
            paths->vms.items[destination - DATA_VM].last = found;
        return found;
    }
    if (destination >= DATA_VM)
        return paths->vms.items[destination - DATA_VM].last;
    if (prefix_at(paths, source) != prefix_at(paths, destination))
        return find_far(paths, source, destination, in_network, shown);
    if (source_known)
        return (struct data_path){0};
    /* A source that was disconnected continues with the present LIDs. */
    const uint8_t *info = fabric_port_info(paths->fabric, destination);
    return (struct data_path){.dlid = (uint16_t)wire_get(info, PORT_INFO_LID)};
}

struct data_path sim_paths_find(struct sim_paths *paths, uint32_t source, uint32_t destination)
{
    return look_up(paths, source, destination, false);
}

struct data_path sim_paths_show(struct sim_paths *paths, uint32_t source, uint32_t destination)
{
    return look_up(paths, source, destination, true);
}

/* ---- alternate paths ---- */

static struct route_pair route_pair_of(const struct manager_paths *view,
                                       const struct sim_path_pair *pair)
{
    struct route_pair routes;
    for (unsigned i = 0; i < 2; i++) {
        routes.ends[i] = view->end_points[pair->ports[i]];
        routes.lids[i] = pair->paths[!i].dlid;
    }
    return routes;
}

/* Tries the LIDs of two end points. */
static void try_lids(const struct sm_paths *from, const struct sim_path_ends *ends,
                     const struct route_pair *primary, const uint32_t points[2],
                     struct route_pair *best, struct route_overlap *least)
{
    const struct network *network = from->network;
    unsigned counts[2], bits[2];
    for (unsigned i = 0; i < 2; i++)
        counts[i] = 1u << network_lmc(network, points[i]);
    for (bits[1] = 0; bits[1] < counts[1]; bits[1]++)
        for (bits[0] = 0; bits[0] < counts[0]; bits[0]++) {
            struct route_pair pair;
            for (unsigned i = 0; i < 2; i++) {
                pair.ends[i] = points[i];
                pair.lids[i] = (uint16_t)(network_lid(network, points[i]) + bits[i]);
            }
            if ((ends->lids[0] && ends->lids[0] != pair.lids[0]) ||
                (ends->lids[1] && ends->lids[1] != pair.lids[1]) ||
                (pair.lids[0] == primary->lids[0] && pair.lids[1] == primary->lids[1]))
                continue;
            struct route_overlap overlap =
                route_pairs_overlap(network, from->routes, primary, &pair);
            if (overlap.delivers && route_overlap_less(&overlap, least)) {
                *best = pair;
                *least = overlap;
            }
        }
}

static struct sim_path_pair resolve_pair(const struct manager_paths *view,
                                         const struct sm_paths *from,
                                         const struct route_pair *routes, const uint32_t ports[2])
{
    struct sim_path_pair pair;
    for (unsigned i = 0; i < 2; i++) {
        struct sm_path_end here = end_of(view, from->network, routes->ends[i]);
        struct sm_path_end there = end_of(view, from->network, routes->ends[!i]);
        struct sm_path path = sm_paths_resolve_lid(from, &here, &there, routes->lids[!i]);
        pair.paths[i] = data_path_of(from, &path);
        pair.ports[i] = ports[i];
    }
    return pair;
}

static struct route_overlap find_alternate_by(const struct manager_paths *view,
                                              const struct sm_paths *from,
                                              const struct route_pair *primary,
                                              const struct sim_path_ends *ends,
                                              struct sim_path_pair *best)
{
    struct route_pair chosen = {0};
    struct route_overlap least = ROUTE_OVERLAP_NONE;
    for (unsigned i = 0; i < 4; i++) {
        uint32_t ports[] = {ends->ports[0][i & 1], ends->ports[1][i >> 1]}, points[2];
        struct route_overlap before = least;
        for (unsigned end = 0; end < 2; end++)
            points[end] = ports[end] == UINT32_MAX ? NETWORK_NONE : view->end_points[ports[end]];
        if (points[0] == NETWORK_NONE || points[1] == NETWORK_NONE || points[0] == points[1])
            continue;
        try_lids(from, ends, primary, points, &chosen, &least);
        if (route_overlap_less(&least, &before))
            *best = resolve_pair(view, from, &chosen, ports);
    }
    return least;
}

/* Other LIDs of the same ports as primary path, if an alternate path shares less with them. */
static struct route_overlap
improve_primary(const struct manager_paths *view, const struct sm_paths *from,
                const struct sim_path_ends *ends, struct route_overlap least,
                struct sim_path_pair *primary, struct sim_path_pair *best)
{
    struct route_pair first = route_pair_of(view, primary), other = first;
    const uint32_t ports[] = {primary->ports[0], primary->ports[1]};
    unsigned bits[2];
    for (bits[1] = 0; bits[1] < TRIED_LIDS; bits[1]++)
        for (bits[0] = 0; bits[0] < TRIED_LIDS; bits[0]++) {
            struct sim_path_pair second;
            bool exists = true;
            for (unsigned i = 0; i < 2; i++) {
                exists &= bits[i] >> network_lmc(from->network, first.ends[i]) == 0;
                other.lids[i] = (uint16_t)(network_lid(from->network, first.ends[i]) + bits[i]);
            }
            if (!exists || !least.cables)
                continue;
            struct route_overlap overlap = find_alternate_by(view, from, &other, ends, &second);
            if (overlap.cables > least.cables ||
                (overlap.cables == least.cables && overlap.switches >= least.switches))
                continue;
            least = overlap;
            *best = second;
            *primary = resolve_pair(view, from, &other, ports);
        }
    return least;
}

bool sim_paths_find_alternate(struct sim_paths *paths, struct sim_path_pair *primary,
                              bool may_change, const struct sim_path_ends *ends,
                              struct sim_path_pair *best, struct route_overlap *overlap)
{
    for (unsigned i = 0; i < sim_manager_count(paths->sim); i++) {
        struct sm_paths from;
        const struct manager_paths *view = view_at(paths, i, &from);
        if (view && view->end_points[primary->ports[0]] != NETWORK_NONE &&
            view->end_points[primary->ports[1]] != NETWORK_NONE) {
            struct route_pair first = route_pair_of(view, primary);
            *overlap = find_alternate_by(view, &from, &first, ends, best);
            if (may_change)
                *overlap = improve_primary(view, &from, ends, *overlap, primary, best);
            return overlap->delivers;
        }
    }
    return false;
}

void sim_paths_add_vm(struct sim_paths *paths, uint32_t vm, uint64_t guid)
{
    assert(vm >= DATA_VM && guid);
    while (paths->vms.count <= vm - DATA_VM)
        vec_push(&paths->vms, (struct vm_address){0});
    paths->vms.items[vm - DATA_VM].guid = guid;
    map_set(&paths->vms_by_guid, guid, vm - DATA_VM);
}

uint32_t sim_paths_add_group(struct sim_paths *paths, const struct groups *groups,
                             const uint8_t mgid[16])
{
    struct group_address address = {.groups = groups};
    memcpy(address.mgid, mgid, sizeof address.mgid);
    vec_push(&paths->groups, address);
    return DATA_GROUP + (uint32_t)paths->groups.count - 1;
}

void sim_paths_forget_vm(struct sim_paths *paths, uint32_t vm)
{
    assert(vm >= DATA_VM && vm - DATA_VM < paths->vms.count);
    paths->vms.items[vm - DATA_VM].last = (struct data_path){0};
}
