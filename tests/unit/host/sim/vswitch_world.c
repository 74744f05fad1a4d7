#include "vswitch_world.h"

#include "routing/check/verify.h"
#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <stdio.h>
#include <string.h>

static bool is_switch(const struct world *world, uint32_t node)
{
    return world->topology.nodes.items[node].kind == NODE_SWITCH &&
           !topology_is_vswitch(&world->topology, node);
}

unsigned world_hosts(const struct world *world)
{
    unsigned count = 0;
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        count += topology_is_vswitch(&world->topology, node);
    return count;
}

unsigned world_switches(const struct world *world)
{
    unsigned count = 0;
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        count += is_switch(world, node);
    return count;
}

/* ---- machines ---- */

struct vswitch_result ask(struct world *world, unsigned manager, enum vswitch_verb verb,
                          const char *name, const char *place, enum vswitch_mode mode)
{
    struct err err = {0};
    struct vswitch_request request = {
        .verb = verb,
        .guid = vswitch_guid(name),
        .name = name,
        .hypervisor = place && strcmp(place, "auto") != 0 ? place : NULL,
        .mode = mode,
    };
    uint64_t ticket = sim_vm_submit(world->sim, manager, &request, &err);
    if (!ticket)
        fail_msg("%s", err.message);
    const struct vswitch_result *result =
        sim_vm_wait(world->sim, manager, ticket, sim_now(world->sim) + 30 * TIME_S);
    assert_non_null(result);
    return *result;
}

struct vswitch_result must(struct world *world, unsigned manager, enum vswitch_verb verb,
                           const char *name, const char *place, enum vswitch_mode mode)
{
    struct vswitch_result result = ask(world, manager, verb, name, place, mode);
    if (result.state != VSWITCH_DONE)
        fail_msg("'%s': %s", name, result.state == VSWITCH_FAILED ? result.text : "not over yet");
    return result;
}

static unsigned lid_of(const struct world *world, uint32_t port)
{
    return (unsigned)wire_get(fabric_port_info(world->fabric, port), PORT_INFO_LID);
}

/* A virtual function that is up. */
static bool is_function(const struct world *world, uint32_t port)
{
    return topology_function(&world->topology, port) > 0 &&
           fabric_node_is_up(world->fabric, world->topology.ports.items[port].node) &&
           fabric_link_is_up(world->fabric, port) && lid_of(world, port);
}

unsigned places_of(const struct world *world, uint64_t guid)
{
    unsigned places = 0;
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        places += is_function(world, port) && fabric_port_guid(world->fabric, port, 0) == guid;
    return places;
}

bool is_at(struct world *world, unsigned manager, const char *name, const char *place, unsigned lid)
{
    struct vswitch_vm machine;
    const struct vswitch *machines = sim_machines(world->sim, manager);
    uint64_t guid = vswitch_guid(name);
    bool known = vswitch_find_vm(machines, guid, &machine) && machine.reachable &&
                 machine.lid == lid &&
                 strcmp(vswitch_hypervisor_name(machines, machine.vswitch), place) == 0;
    if (!known)
        return false;
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        if (is_function(world, port) && fabric_port_guid(world->fabric, port, 0) == guid) {
            const char *own =
                world->topology.nodes.items[world->topology.ports.items[port].node].description;
            return strncmp(own, place, strlen(place)) == 0 && own[strlen(place)] == '-' &&
                   lid_of(world, port) == lid && places_of(world, guid) == 1;
        }
    return false;
}

/* ---- what must hold ---- */

static char fault[256];

static bool has_lid(const struct world *world, uint32_t port)
{
    uint32_t node = world->topology.ports.items[port].node;
    unsigned number = port - world->topology.nodes.items[node].first_port;
    if (!fabric_node_is_up(world->fabric, node) || topology_is_vswitch(&world->topology, node))
        return false;
    if (world->topology.nodes.items[node].kind == NODE_SWITCH)
        return number == 0;
    return number && fabric_link_is_up(world->fabric, port);
}

static bool check_reach(const struct world *world, uint32_t port)
{
    unsigned lid = lid_of(world, port);
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        if (is_switch(world, node) && fabric_node_is_up(world->fabric, node) &&
            !leads_to(world, node, port, lid)) {
            snprintf(fault, sizeof fault, "%s does not lead to LID %u (%s)",
                     world->topology.nodes.items[node].name, lid,
                     world->topology.nodes.items[world->topology.ports.items[port].node].name);
            return false;
        }
    return true;
}

static bool check_addresses(const struct world *world)
{
    static uint32_t owner[LFT_ENTRIES];
    memset(owner, 0xFF, sizeof owner);
    for (uint32_t port = 0; port < world->topology.ports.count; port++) {
        unsigned lid = has_lid(world, port) ? lid_of(world, port) : 0;
        if (!lid)
            continue;
        if (owner[lid] != UINT32_MAX) {
            snprintf(fault, sizeof fault, "LID %u is at ports %u and %u", lid, owner[lid], port);
            return false;
        }
        owner[lid] = port;
        if (!check_reach(world, port))
            return false;
    }
    return true;
}

/* The manager's rows equal the state of the fabric. */
static bool check_rows(struct world *world, unsigned manager)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned there = 0, known = 0;
    for (uint32_t port = 0; port < world->topology.ports.count; port++) {
        if (!is_function(world, port))
            continue;
        there++;
        unsigned lid = lid_of(world, port);
        uint32_t row = subnet->by_lid[lid];
        if (row == SUBNET_NONE || subnet_vf_port_of(subnet, row) == SUBNET_NONE ||
            subnet->ports.items[row].guid != fabric_port_guid(world->fabric, port, 0) ||
            subnet->nodes.items[subnet->ports.items[row].node].guid !=
                world->topology.nodes.items[world->topology.ports.items[port].node].guid) {
            snprintf(fault, sizeof fault, "the manager does not know who has LID %u", lid);
            return false;
        }
    }
    for (uint32_t port = 0; port < subnet->ports.count; port++)
        known += subnet_vf_port_of(subnet, port) != SUBNET_NONE && subnet->ports.items[port].lid;
    if (there == known)
        return true;
    snprintf(fault, sizeof fault, "%u functions are up, the manager knows of %u", there, known);
    return false;
}

/* The routes in force equal the tables of the switches, for every LID in use. */
static bool check_tables(const struct world *world, const struct sm_paths *paths)
{
    for (uint32_t at = 0; at < paths->network->switches.count; at++) {
        uint64_t guid = paths->network->switches.items[at].guid;
        for (uint32_t node = 0; node < world->topology.nodes.count; node++) {
            unsigned top = 0;
            if (world->topology.nodes.items[node].guid != guid)
                continue;
            const uint8_t *table = fabric_linear_table(world->fabric, node, &top);
            for (unsigned lid = 1; lid <= paths->network->top_lid; lid++)
                if (paths->network->owner[lid] != NETWORK_NONE &&
                    (lid > top || table[lid] != routes_port(paths->routes, at, lid))) {
                    snprintf(fault, sizeof fault, "%s has another entry for LID %u than the routes",
                             world->topology.nodes.items[node].name, lid);
                    return false;
                }
        }
    }
    return true;
}

/* The terminals of the network are exactly the ports with a LID. */
static bool check_terminals(const struct world *world, const struct network *network)
{
    unsigned there = 0;
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        there +=
            has_lid(world, port) && lid_of(world, port) &&
            world->topology.nodes.items[world->topology.ports.items[port].node].kind != NODE_SWITCH;
    if (there == network->terminals.count)
        return true;
    snprintf(fault, sizeof fault, "%u adapters' ports have LIDs, and %zu are terminals", there,
             network->terminals.count);
    return false;
}

static bool check_routes(struct world *world, unsigned manager)
{
    struct sm_paths paths = sm_paths(sim_manager(world->sim, manager));
    struct verify_report report;
    if (!paths.network) {
        snprintf(fault, sizeof fault, "there are no paths");
        return false;
    }
    verify_routes(paths.network, paths.routes, &(struct verify_options){0}, &report);
    bool fine = verify_passes(&report);
    if (!fine)
        snprintf(fault, sizeof fault, "%s",
                 report.findings.count ? report.findings.items[0] : "the routes do not hold");
    verify_report_release(&report);
    return fine && check_tables(world, &paths) && check_terminals(world, paths.network);
}

const char *world_fault(struct world *world, unsigned manager)
{
    bool fine =
        check_addresses(world) && check_rows(world, manager) && check_routes(world, manager);
    return fine ? NULL : fault;
}

void check_world(struct world *world, unsigned manager)
{
    const char *wrong = world_fault(world, manager);
    if (wrong)
        fail_msg("%s", wrong);
}
