/* A manager's routes know end points by its own numbers; senders know ports of the fabric. The
 * translation is made once for each generation of a manager's paths. */
#include "host/sim/sim_paths.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

struct view {
    uint64_t generation;
    bool known;
    uint32_t *end_points; /* by port of the fabric, or NETWORK_NONE */
    uint64_t *groups;     /* of the policy, by port of the fabric; NULL: it names none */
    VEC(uint32_t) guests; /* end points, by guest */
};

struct guest_address {
    uint64_t guid;
    struct data_path last; /* dlid 0: never had any */
};

struct sim_paths {
    struct sim *sim;
    struct fabric *fabric;
    uint32_t port_count;
    bool *seen;             /* by port of the fabric: some manager had it among its paths once */
    VEC(struct view) views; /* by manager */
    VEC(struct guest_address) guests;
    struct map guests_by_guid;
};

static struct data_path find(void *context, uint32_t source, uint32_t destination)
{
    return sim_paths_find(context, source, destination);
}

struct sim_paths *sim_paths_new(struct sim *sim, struct fabric *fabric)
{
    struct sim_paths *paths = mem_zalloc(1, sizeof *paths);
    paths->sim = sim;
    paths->fabric = fabric;
    paths->port_count = (uint32_t)fabric_topology(fabric)->ports.count;
    paths->seen = mem_zalloc(paths->port_count + 1, sizeof *paths->seen);
    fabric_set_paths(fabric, &(struct data_paths){paths, find});
    return paths;
}

void sim_paths_free(struct sim_paths *paths)
{
    if (!paths)
        return;
    for (size_t i = 0; i < paths->views.count; i++) {
        mem_free(paths->views.items[i].end_points);
        mem_free(paths->views.items[i].groups);
        vec_release(&paths->views.items[i].guests);
    }
    vec_release(&paths->views);
    vec_release(&paths->guests);
    map_release(&paths->guests_by_guid);
    mem_free(paths->seen);
    mem_free(paths);
}

/* The same groups that the administration would find: hosts are who they say they are. */
static void find_groups(struct sim_paths *paths, struct view *view, const struct sm_paths *from)
{
    const struct topology *topology = fabric_topology(paths->fabric);
    mem_free(view->groups);
    view->groups = NULL;
    if (!from->qos || !from->qos->on || !from->qos->members.count)
        return;
    view->groups = mem_zalloc(paths->port_count + 1, sizeof *view->groups);
    for (uint32_t i = 0; i < paths->port_count; i++) {
        const struct topology_node *node = &topology->nodes.items[topology->ports.items[i].node];
        struct qos_endpoint party = {
            .port_guid = fabric_port_guid(paths->fabric, i, 0),
            .type = node->kind == NODE_SWITCH ? SUBNET_SWITCH : SUBNET_ADAPTER,
            .description = node->description ? node->description : node->name,
        };
        if (party.port_guid)
            view->groups[i] = qos_groups_of(from->qos, &party);
    }
}

static void translate(struct sim_paths *paths, struct view *view, const struct sm_paths *from)
{
    struct map by_guid = {0};
    view->guests.count = 0;
    for (size_t i = 0; i < paths->guests.count; i++)
        vec_push(&view->guests, NETWORK_NONE);
    if (!view->end_points)
        view->end_points = mem_alloc(paths->port_count * sizeof *view->end_points);
    for (uint32_t i = 0; i < paths->port_count; i++) {
        view->end_points[i] = NETWORK_NONE;
        if (fabric_port_guid(paths->fabric, i, 0))
            map_add(&by_guid, fabric_port_guid(paths->fabric, i, 0), i);
    }
    for (uint32_t i = 0; i < from->network->terminals.count; i++) {
        uint32_t port = map_get(&by_guid, from->network->terminals.items[i].guid);
        uint32_t guest = map_get(&paths->guests_by_guid, from->network->terminals.items[i].guid);
        if (guest != MAP_NONE)
            view->guests.items[guest] = i;
        if (port != MAP_NONE) {
            view->end_points[port] = i;
            paths->seen[port] = true;
        }
    }
    map_release(&by_guid);
    find_groups(paths, view, from);
    view->generation = from->generation;
    view->known = true;
}

/* What a path record would say; and, for traffic that asks for a level of its own, what the lane
 * adds to that. */
static struct data_path at_level(const struct sim_paths *paths, const struct view *view,
                                 const struct sm_paths *from, uint32_t source, uint32_t destination,
                                 struct path path)
{
    enum { DEFAULT_P_KEY = 0xFFFF };
    struct data_path found = {.dlid = path.dlid};
    bool is_vm = destination >= DATA_VM;
    uint64_t target = is_vm ? paths->guests.items[destination - DATA_VM].guid
                            : fabric_port_guid(paths->fabric, destination, 0);
    struct qos_request question = {
        .source_groups = view->groups ? view->groups[source] : 0,
        .destination_groups = view->groups && !is_vm ? view->groups[destination] : 0,
        .target_guid = from->qos->rules.count ? target : 0,
        .has_p_key = true,
        .p_key = DEFAULT_P_KEY,
    };
    qos_resolve(from->qos, &from->layout, &question, path.sl, &found.sl);
    if (from->layout.levels)
        found.sl_offset = (uint8_t)(path.sl * from->layout.stride);
    return found;
}

struct data_path sim_paths_find(struct sim_paths *paths, uint32_t source, uint32_t destination)
{
    bool anybody = false; /* some manager knows the source, but not both */
    while (paths->views.count < sim_manager_count(paths->sim))
        vec_push(&paths->views, (struct view){0});
    for (unsigned i = 0; i < paths->views.count; i++) {
        const struct sm *sm = sim_manager(paths->sim, i);
        struct view *view = &paths->views.items[i];
        if (!sm)
            continue;
        struct sm_paths from = sm_paths(sm);
        if (!from.network)
            continue;
        if (!view->known || view->generation != from.generation ||
            view->guests.count < paths->guests.count)
            translate(paths, view, &from);
        uint32_t here = view->end_points[source];
        uint32_t there = destination >= DATA_VM ? view->guests.items[destination - DATA_VM]
                                                : view->end_points[destination];
        anybody |= here != NETWORK_NONE || !paths->seen[source];
        if (here == NETWORK_NONE || there == NETWORK_NONE)
            continue;
        struct path path = path_lookup(from.routes, from.network, here, there);
        struct data_path found = at_level(paths, view, &from, source, destination, path);
        if (destination >= DATA_VM)
            paths->guests.items[destination - DATA_VM].last = found;
        return found;
    }
    if (destination >= DATA_VM)
        return paths->guests.items[destination - DATA_VM].last;
    if (anybody)
        return (struct data_path){0};
    /* Whoever was cut off goes on with the addresses it knows; a newcomer knows none yet. */
    const uint8_t *info = fabric_port_info(paths->fabric, destination);
    return (struct data_path){.dlid = (uint16_t)wire_get(info, PORT_INFO_LID)};
}

void sim_paths_add_guest(struct sim_paths *paths, uint32_t guest, uint64_t guid)
{
    assert(guest >= DATA_VM && guid);
    while (paths->guests.count <= guest - DATA_VM)
        vec_push(&paths->guests, (struct guest_address){0});
    paths->guests.items[guest - DATA_VM].guid = guid;
    map_set(&paths->guests_by_guid, guid, guest - DATA_VM);
}

void sim_paths_forget_guest(struct sim_paths *paths, uint32_t guest)
{
    paths->guests.items[guest - DATA_VM].last = (struct data_path){0};
}
