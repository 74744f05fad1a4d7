/* See machines.h. */
#include "machines.h"

#include "topology/virtual.h"

#include <stdio.h>
#include <string.h>

unsigned below(struct run *run, unsigned bound)
{
    return (unsigned)rng_below(&run->rng, bound);
}

void complain(const struct run *run, const char *what)
{
    fail_msg("operation %llu (%s): %s", (unsigned long long)run->operation, run->kind, what);
}

void pass(struct run *run, uint64_t time)
{
    sim_run(run->world.sim, sim_now(run->world.sim) + time);
}

/* ---- places ---- */

uint32_t hypervisor(const struct run *run, unsigned number)
{
    const struct topology *topology = &run->world.topology;
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        if (topology_is_vswitch(topology, node) && number-- == 0)
            return node;
    return TOPOLOGY_NONE;
}

const char *place_name(const struct run *run, uint32_t node, char name[32])
{
    snprintf(name, 32, "%s", run->world.topology.nodes.items[node].description);
    *strchr(name, '-') = 0;
    return name;
}

bool is_in_use(const struct run *run, uint32_t port, uint64_t guid)
{
    return fabric_link_is_up(run->world.fabric, port) &&
           fabric_port_guid(run->world.fabric, port, 0) == guid;
}

uint32_t find_port(const struct run *run, uint64_t guid, uint32_t but)
{
    const struct topology *topology = &run->world.topology;
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (port != but && topology_function(topology, port) > 0 && is_in_use(run, port, guid))
            return port;
    return TOPOLOGY_NONE;
}

static uint32_t place_of(const struct run *run, uint64_t guid)
{
    const struct topology *topology = &run->world.topology;
    uint32_t port = find_port(run, guid, TOPOLOGY_NONE);
    return port == TOPOLOGY_NONE ? port
                                 : topology->ports.items[topology->ports.items[port].peer].node;
}

unsigned number_of(const struct run *run, const struct machine *machine)
{
    return (unsigned)(machine - run->machines);
}

/* ---- what must hold ---- */

void settle_down(struct run *run)
{
    struct sim *sim = run->world.sim;
    for (unsigned i = 0; i < 40; i++) {
        sim_run(sim, sim_now(sim) + TIME_S);
        if (sim_run_until_settled(sim, run->manager, sim_now(sim) + 60 * TIME_S) &&
            vswitch_pending(sim_machines(sim, run->manager)) == 0)
            return;
    }
    complain(run, "the manager does not come to rest");
}

static const char *describe(const struct run *run, const struct machine *machine, uint32_t place)
{
    static char text[160];
    struct vswitch_vm known = {0};
    const struct vswitch *vswitch = sim_machines(run->world.sim, run->manager);
    uint64_t guid = vswitch_guid(machine->name);
    bool is_known = vswitch_find_vm(vswitch, guid, &known);
    uint32_t port = find_port(run, guid, TOPOLOGY_NONE);
    char name[32];
    snprintf(text, sizeof text,
             "%s had LID %u, has %u and is at %s; the manager says: LID %u, at %s, %s",
             machine->name, machine->lid,
             (unsigned)wire_get(fabric_port_info(run->world.fabric, port), PORT_INFO_LID),
             place_name(run, place, name), known.lid,
             is_known ? vswitch_hypervisor_name(vswitch, known.vswitch) : "nowhere",
             known.reachable ? "reachable" : "not reachable");
    return text;
}

static bool is_as_the_manager_says(const struct run *run, const struct machine *machine)
{
    const struct topology *topology = &run->world.topology;
    const struct subnet *subnet = sm_subnet(sim_manager(run->world.sim, run->manager));
    struct vswitch_vm known;
    uint64_t guid = vswitch_guid(machine->name);
    uint32_t port = find_port(run, guid, TOPOLOGY_NONE);
    return vswitch_find_vm(sim_machines(run->world.sim, run->manager), guid, &known) &&
           known.reachable && known.lid == machine->lid &&
           subnet->nodes.items[known.vswitch].guid == topology->nodes.items[machine->place].guid &&
           wire_get(fabric_port_info(run->world.fabric, port), PORT_INFO_LID) == machine->lid;
}

static void check_machines(struct run *run)
{
    unsigned expected = 0, listed = 0;
    uint32_t cursor = 0;
    struct vswitch_vm found;
    for (unsigned i = 0; i < MACHINES; i++) {
        struct machine *machine = &run->machines[i];
        uint64_t guid = vswitch_guid(machine->name);
        uint32_t place = place_of(run, guid);
        unsigned places = places_of(&run->world, guid);
        if (!machine->lid && places)
            complain(run, "a machine that is gone is still somewhere");
        if (!machine->lid)
            continue;
        expected++;
        if (places != 1 || place == TOPOLOGY_NONE)
            complain(run, places ? "a machine is at two places" : "a machine is nowhere");
        if (machine->told != TOPOLOGY_NONE && machine->told != place)
            complain(run, "a machine is elsewhere than was acknowledged");
        machine->place = machine->told = place;
        if (place == run->renumbered)
            machine->lid = (unsigned)wire_get(
                fabric_port_info(run->world.fabric, find_port(run, guid, TOPOLOGY_NONE)),
                PORT_INFO_LID);
        if (!is_as_the_manager_says(run, machine))
            complain(run, describe(run, machine, place));
    }
    run->renumbered = TOPOLOGY_NONE;
    while (vswitch_next_vm(sim_machines(run->world.sim, run->manager), &cursor, &found))
        listed++;
    if (listed != expected)
        complain(run, "the manager lists others than those that are");
}

static void check_lids(struct run *run)
{
    const struct subnet *subnet = sm_subnet(sim_manager(run->world.sim, run->manager));
    const struct topology *topology = &run->world.topology;
    unsigned functions = 0, expected = 0;
    for (unsigned i = 0; i < MACHINES; i++)
        expected += run->machines[i].lid != 0;
    if (!run->config.dynamic_lids)
        expected = run->hypervisors * VFS;
    for (unsigned lid = 1; lid < LFT_ENTRIES; lid++) {
        uint32_t port = subnet->by_lid[lid];
        functions += port != SUBNET_NONE && subnet_vf_port_of(subnet, port) != SUBNET_NONE;
    }
    if (functions != expected)
        complain(run, "LIDs got lost, or are kept for nobody");
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology_function(topology, port) <= 0 && run->lids[port] &&
            wire_get(fabric_port_info(run->world.fabric, port), PORT_INFO_LID) != run->lids[port])
            complain(run, "somebody else has another LID than before");
}

void end_journeys(struct run *run)
{
    for (unsigned i = 0; i < MACHINES; i++)
        watch_arrives(run->watch, i,
                      find_port(run, vswitch_guid(run->machines[i].name), TOPOLOGY_NONE));
    pass(run, TIME_MS); /* what was sent to them before gets lost still */
}

static void check_traffic(struct run *run)
{
    const char *fault = watch_fault(run->watch);
    if (!fault) {
        watch_probe(run->watch);
        fault = watch_fault(run->watch);
    }
    if (fault && run->counts_only)
        print_message("  operation %llu (%s): %s\n", (unsigned long long)run->operation, run->kind,
                      fault);
    else if (fault)
        complain(run, fault);
    watch_forgive(run->watch);
}

void check(struct run *run)
{
    const char *fault = world_fault(&run->world, run->manager);
    if (fault)
        complain(run, fault);
    check_machines(run);
    check_lids(run);
    end_journeys(run);
    check_traffic(run);
}
