/* Translates ports of the fabric to terminals of a manager's network, once for each generation of
 * its paths. */
#include "host/sim/sim_paths.h"

#include "base/map.h"

#include <assert.h>
#include <string.h>

struct view {
    uint64_t generation;
    bool known;
    uint32_t *end_points; /* terminals by port of the fabric, or NETWORK_NONE */
    uint64_t *groups;     /* QoS port groups by port of the fabric; NULL: the policy has none */
    VEC(uint32_t) vms;    /* terminals by virtual machine */
};

struct vm_address {
    uint64_t guid;
    struct data_path last; /* dlid 0: none yet */
};

struct sim_paths {
    struct sim *sim;
    struct fabric *fabric;
    uint32_t port_count;
    bool *seen;             /* by port of the fabric: was in the network of a manager */
    VEC(struct view) views; /* by manager */
    VEC(struct vm_address) vms;
    struct map vms_by_guid;
};

static struct data_path find_path(void *context, uint32_t source, uint32_t destination)
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
    fabric_set_paths(fabric, &(struct data_paths){paths, find_path});
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
    map_release(&paths->vms_by_guid);
    mem_free(paths->seen);
    mem_free(paths);
}

/* Finds the QoS groups of all ports, as the administration does. */
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

/* The DLID and SL of a PathRecord, and the offset that the VL of the path adds to an SL that
 * traffic chooses itself. */
static struct data_path resolve_qos(const struct sim_paths *paths, const struct view *view,
                                    const struct sm_paths *from, uint32_t source,
                                    uint32_t destination, struct path path)
{
    enum { DEFAULT_P_KEY = 0xFFFF };
    struct data_path found = {.dlid = path.dlid};
    bool is_vm = destination >= DATA_VM;
    uint64_t target = is_vm ? paths->vms.items[destination - DATA_VM].guid
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
    bool source_known = false; /* a manager has the source in its network */
    assert(source < paths->port_count);
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
            view->vms.count < paths->vms.count)
            translate(paths, view, &from);
        uint32_t here = view->end_points[source];
        uint32_t there = destination >= DATA_VM ? view->vms.items[destination - DATA_VM]
                                                : view->end_points[destination];
        source_known |= here != NETWORK_NONE || !paths->seen[source];
        if (here == NETWORK_NONE || there == NETWORK_NONE)
            continue;
        struct path path = path_lookup(from.routes, from.network, here, there);
        struct data_path found = resolve_qos(paths, view, &from, source, destination, path);
        if (destination >= DATA_VM)
            paths->vms.items[destination - DATA_VM].last = found;
        return found;
    }
    if (destination >= DATA_VM)
        return paths->vms.items[destination - DATA_VM].last;
    if (source_known)
        return (struct data_path){0};
    /* A source that was disconnected continues with the present LIDs. */
    const uint8_t *info = fabric_port_info(paths->fabric, destination);
    return (struct data_path){.dlid = (uint16_t)wire_get(info, PORT_INFO_LID)};
}

void sim_paths_add_vm(struct sim_paths *paths, uint32_t vm, uint64_t guid)
{
    assert(vm >= DATA_VM && guid);
    while (paths->vms.count <= vm - DATA_VM)
        vec_push(&paths->vms, (struct vm_address){0});
    paths->vms.items[vm - DATA_VM].guid = guid;
    map_set(&paths->vms_by_guid, guid, vm - DATA_VM);
}

void sim_paths_forget_vm(struct sim_paths *paths, uint32_t vm)
{
    assert(vm >= DATA_VM && vm - DATA_VM < paths->vms.count);
    paths->vms.items[vm - DATA_VM].last = (struct data_path){0};
}
