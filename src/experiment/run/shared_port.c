/* The shared-port model: moves the GUID of a machine between virtual functions, and keeps for each
 * sender the LID that it believes the machine to have, until a path query to the subnet
 * administrator is answered. An order is complete at once. */
#include "experiment/run/shared_port.h"

#include "experiment/run/setup.h"
#include "host/sim/sim_clients.h"

#include <stdio.h>

enum { NO_QUERY = UINT32_MAX };

/* The path that one sender uses to one machine. */
struct peer {
    uint32_t source, vm;
    uint16_t lid;
    uint32_t query; /* or NO_QUERY */
};

struct shared_port {
    struct setup *setup;
    struct sim_clients *clients;
    VEC(struct peer) peers;
    struct map by_pair;
    struct shared_port_counts counts;
};

static uint16_t lid_of(const struct setup *setup, uint32_t port)
{
    return (uint16_t)wire_get(fabric_port_info(setup->fabric, port), PORT_INFO_LID);
}

/* The first packet of a sender uses the present LID, as if the path had been queried at connection
 * setup. */
static struct data_path find_path(void *context, uint32_t source, uint32_t destination)
{
    struct shared_port *shared = context;
    struct setup *setup = shared->setup;
    if (destination < DATA_VM)
        return sim_paths_find(setup->paths, source, destination);
    uint64_t pair = (uint64_t)source << 32 | destination;
    uint32_t at = map_get(&shared->by_pair, pair);
    if (at == MAP_NONE) {
        uint32_t port = fabric_vm(setup->fabric, destination)->port;
        if (port == TOPOLOGY_NONE)
            return (struct data_path){0};
        at = map_add(&shared->by_pair, pair, (uint32_t)shared->peers.count);
        vec_push(&shared->peers,
                 ((struct peer){source, destination, lid_of(setup, port), NO_QUERY}));
    }
    return (struct data_path){.dlid = shared->peers.items[at].lid};
}

struct shared_port *shared_port_new(struct setup *setup)
{
    struct shared_port *shared = mem_zalloc(1, sizeof *shared);
    struct sim_administration_options options;
    sim_administration_options_init(&options);
    sim_add_administrations(setup->sim, &options);
    shared->setup = setup;
    shared->clients = sim_clients_new(setup->sim, setup->fabric);
    fabric_set_paths(setup->fabric, &(struct data_paths){.context = shared, .find = find_path});
    return shared;
}

void shared_port_free(struct shared_port *shared)
{
    if (!shared)
        return;
    sim_clients_free(shared->clients);
    vec_release(&shared->peers);
    map_release(&shared->by_pair);
    mem_free(shared);
}

/* The virtual function of a machine on this hypervisor: its present one, or the first free one.
 * TOPOLOGY_NONE: none is free. */
static uint32_t find_function(const struct setup *setup, const struct machine *machine,
                              uint32_t physical)
{
    const struct topology *topology = &setup->topology;
    if (machine->function != TOPOLOGY_NONE &&
        topology->ports.items[machine->function].shares == physical)
        return machine->function;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        bool is_free = topology->ports.items[port].shares == physical && port != physical;
        for (size_t i = 0; is_free && i < setup->machines.items.count; i++)
            is_free = setup->machines.items.items[i].function != port;
        if (is_free)
            return port;
    }
    return TOPOLOGY_NONE;
}

void shared_port_order(struct setup *setup, const struct machine_order *order, uint32_t hypervisor)
{
    const struct topology *topology = &setup->topology;
    struct machine *machine = &setup->machines.items.items[order->machine];
    uint64_t now = sim_now_ns(setup->sim);
    uint32_t port = order->verb == VSWITCH_DESTROY
                        ? TOPOLOGY_NONE
                        : topology->nodes.items[hypervisor].first_port + 1;
    struct vswitch_result result = {.request.verb = order->verb,
                                    .state = VSWITCH_DONE,
                                    .submitted_ns = now,
                                    .began_ns = now,
                                    .ended_ns = now,
                                    .lid = port == TOPOLOGY_NONE ? 0 : lid_of(setup, port)};
    uint32_t function = port == TOPOLOGY_NONE ? TOPOLOGY_NONE : find_function(setup, machine, port);
    if (port != TOPOLOGY_NONE && function == TOPOLOGY_NONE) {
        result.state = VSWITCH_FAILED;
        snprintf(result.text, sizeof result.text, "no virtual function of '%.80s' is free",
                 node_label(topology, hypervisor));
        machines_done(setup, order, &result);
        return;
    }
    snprintf(result.text, sizeof result.text, "at a shared port, LID %u", result.lid);
    if (machine->function != TOPOLOGY_NONE)
        fabric_set_function_guid(setup->fabric, machine->function, 0);
    if (function != TOPOLOGY_NONE)
        fabric_set_function_guid(setup->fabric, function, machine->guid);
    machine->function = function;
    machines_done(setup, order, &result);
    if (machine->vm == TOPOLOGY_NONE)
        return;
    fabric_move_vm(setup->fabric, machine->vm, port);
    struct shared_port *shared = setup->machines.shared;
    for (size_t i = 0; order->verb == VSWITCH_MIGRATE && i < shared->peers.count; i++) {
        struct peer *peer = &shared->peers.items[i];
        if (peer->vm != machine->vm)
            continue;
        peer->query = sim_clients_path(shared->clients, peer->source, port, 0);
        shared->counts.queries++;
        shared->counts.open++;
    }
}

void shared_port_update(struct setup *setup)
{
    struct shared_port *shared = setup->machines.shared;
    for (size_t i = 0; shared && shared->counts.open && i < shared->peers.count; i++) {
        struct peer *peer = &shared->peers.items[i];
        if (peer->query == NO_QUERY)
            continue;
        const struct sim_query *query = sim_clients_query(shared->clients, peer->query);
        if (query->state == SIM_OPEN)
            continue;
        if (query->state == SIM_ANSWERED && query->bytes >= SA_DATA_OFFSET)
            peer->lid = (uint16_t)wire_get(query->answer + SA_DATA_OFFSET, PATH_RECORD_DLID);
        uint64_t took = query->answered - query->asked;
        if (query->state == SIM_ANSWERED && took > shared->counts.longest_ps)
            shared->counts.longest_ps = took;
        peer->query = NO_QUERY;
        shared->counts.open--;
    }
}

struct shared_port_counts shared_port_counts(const struct shared_port *shared)
{
    return shared ? shared->counts : (struct shared_port_counts){0};
}
