/* Applies random faults to a simulated fabric. */
#include "faults.h"

#include "topology/generators/generate.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

const char *const fault_names[] = {
    [FAULT_LINK_DOWN] = "a link fails",
    [FAULT_LINK_UP] = "a link is repaired",
    [FAULT_FLAP] = "a port flaps",
    [FAULT_SWITCH_DOWN] = "a switch dies",
    [FAULT_NODE_UP] = "a node is back",
    [FAULT_ALL_UP] = "all nodes are back",
    [FAULT_SILENT_AGENT] = "an agent falls silent",
    [FAULT_AGENT_BACK] = "an agent answers again",
    [FAULT_GUID_TWICE] = "a GUID exists twice",
    [FAULT_MANAGER_DIES] = "a manager dies",
    [FAULT_MANAGER_RESTARTS] = "a manager restarts",
};

void driver_open(struct driver *driver, const char *const *words, size_t count, uint64_t seed,
                 const struct sim_listener *listener)
{
    struct fabric_options options;
    struct err err = {0};
    topology_init(&driver->topology);
    if (topology_generate(&driver->topology, "irregular", words, count, seed, &err) != 0) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)seed, err.message);
        exit(2);
    }
    fabric_options_preset(&options, "today", &err);
    driver->fabric = fabric_new(&driver->topology, &options, seed);
    driver->sim = sim_new(driver->fabric);
    sim_set_listener(driver->sim, listener);
    sm_config_init(&driver->config);
}

void driver_close(struct driver *driver)
{
    sim_free(driver->sim);
    fabric_free(driver->fabric);
    topology_release(&driver->topology);
}

void driver_add_manager(struct driver *driver, uint32_t port, uint8_t priority)
{
    driver->config.priority = priority;
    driver->seats[driver->managers].port = port;
    driver->seats[driver->managers++].manager = sim_add_manager(driver->sim, port, &driver->config);
    driver->alive++;
}

void driver_run(struct driver *driver, uint64_t duration_ps)
{
    sim_run(driver->sim, sim_now(driver->sim) + duration_ps);
}

static bool is_switch(const struct driver *driver, uint32_t node)
{
    return driver->topology.nodes.items[node].kind == NODE_SWITCH;
}

static bool is_port_of_switch(const struct driver *driver, uint32_t port)
{
    return port != TOPOLOGY_NONE && is_switch(driver, driver->topology.ports.items[port].node);
}

static bool hosts_manager(const struct driver *driver, uint32_t node)
{
    for (unsigned i = 0; i < driver->managers; i++)
        if (driver->topology.ports.items[driver->seats[i].port].node == node)
            return true;
    return false;
}

/* Whether a manager stays connected if this switch goes down, or the manager of this number dies.
 */
static bool leaves_manager(const struct driver *driver, uint32_t without_switch, unsigned without)
{
    const struct topology *topology = &driver->topology;
    for (unsigned i = 0; i < driver->managers; i++) {
        uint32_t peer = topology->ports.items[driver->seats[i].port].peer;
        uint32_t edge = peer == TOPOLOGY_NONE ? TOPOLOGY_NONE : topology->ports.items[peer].node;
        if (driver->seats[i].manager != without &&
            sim_manager(driver->sim, driver->seats[i].manager) && edge != TOPOLOGY_NONE &&
            edge != without_switch && fabric_node_is_up(driver->fabric, edge))
            return true;
    }
    return false;
}

struct target driver_any_target(struct driver *driver)
{
    const struct topology *topology = &driver->topology;
    struct target target = {0};
    do
        target.port = (uint32_t)rng_below(&driver->rng, topology->ports.count);
    while (driver->between_switches &&
           !(is_port_of_switch(driver, target.port) &&
             is_port_of_switch(driver, topology->ports.items[target.port].peer)));
    do
        target.node = (uint32_t)rng_below(&driver->rng, topology->nodes.count);
    while (driver->between_switches && !is_switch(driver, target.node));
    return target;
}

static void kill_one(struct driver *driver)
{
    if (driver->alive < 2 || rng_below(&driver->rng, 4) != 0)
        return;
    unsigned victim = driver->seats[rng_below(&driver->rng, driver->managers)].manager;
    if (driver->between_switches && !leaves_manager(driver, TOPOLOGY_NONE, victim))
        return;
    driver->alive -= sim_manager(driver->sim, victim) != NULL;
    sim_kill_manager(driver->sim, victim);
}

static void restart_one(struct driver *driver)
{
    struct manager_instance *seat = &driver->seats[rng_below(&driver->rng, driver->managers)];
    driver->alive += sim_manager(driver->sim, seat->manager) == NULL;
    sim_kill_manager(driver->sim, seat->manager);
    seat->manager = sim_add_manager(driver->sim, seat->port, &driver->config);
}

void driver_strike(struct driver *driver, enum fault fault, struct target target)
{
    struct fabric *fabric = driver->fabric;
    const struct topology_node *nodes = driver->topology.nodes.items;
    switch (fault) {
    case FAULT_LINK_DOWN:
    case FAULT_LINK_UP: fabric_set_link(fabric, target.port, fault == FAULT_LINK_UP, NULL); break;
    case FAULT_FLAP: fabric_flap_port(fabric, target.port, NULL); break;
    case FAULT_SWITCH_DOWN:
        if (is_switch(driver, target.node) && !hosts_manager(driver, target.node) &&
            (!driver->between_switches || leaves_manager(driver, target.node, UINT_MAX)))
            fabric_set_node(fabric, target.node, false, NULL);
        break;
    case FAULT_NODE_UP: fabric_set_node(fabric, target.node, true, NULL); break;
    case FAULT_ALL_UP:
        for (uint32_t node = 0; node < driver->topology.nodes.count; node++)
            fabric_set_node(fabric, node, true, NULL);
        break;
    case FAULT_SILENT_AGENT: fabric_set_agent_delay(fabric, target.node, TIME_NEVER, NULL); break;
    case FAULT_AGENT_BACK: fabric_set_agent_delay(fabric, target.node, 0, NULL); break;
    case FAULT_GUID_TWICE:
        if (!hosts_manager(driver, target.node) &&
            is_switch(driver, target.node) == is_switch(driver, target.other))
            fabric_set_guid(fabric, target.node, nodes[target.other].guid, NULL);
        break;
    case FAULT_MANAGER_DIES: kill_one(driver); break;
    case FAULT_MANAGER_RESTARTS: restart_one(driver); break;
    }
}

void driver_heal_nodes(struct driver *driver)
{
    for (uint32_t node = 0; node < driver->topology.nodes.count; node++) {
        fabric_set_agent_delay(driver->fabric, node, 0, NULL);
        fabric_set_guid(driver->fabric, node, driver->topology.nodes.items[node].guid, NULL);
    }
}

void driver_lose_smps(struct driver *driver, uint64_t chance)
{
    fabric_set_loss(driver->fabric, TOPOLOGY_NONE, 0, chance, NULL);
}
