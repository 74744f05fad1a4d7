#include "sim_world.h"

#include "base/mem.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <string.h>

void world_open_with(struct world *world, const struct fabric_options *options, const char *fabric)
{
    struct err err = {0};
    char copy[128], *rest = copy;
    const char *words[8];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", fabric);
    for (char *word; (word = strsep(&rest, " ")) != NULL && count < 8;)
        words[count++] = word;
    if (!strstr(fabric, "speed=")) {
        assert_true(count < 8);
        words[count++] = "speed=SDR";
    }
    topology_init(&world->topology);
    assert_int_equal(topology_generate(&world->topology, words[0], words + 1, count - 1, 1, &err),
                     0);
    world->fabric = fabric_new(&world->topology, options, 1);
    world->sim = sim_new(world->fabric);
}

void world_open(struct world *world, const char *preset, const char *fabric)
{
    struct err err = {0};
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, preset, &err), 0);
    world_open_with(world, &options, fabric);
}

void world_close(struct world *world)
{
    sim_free(world->sim);
    fabric_free(world->fabric);
    topology_release(&world->topology);
}

struct world *world_for(void **state, const char *preset, const char *fabric)
{
    struct world *world = mem_zalloc(1, sizeof *world);
    world_open(world, preset, fabric);
    *state = world;
    return world;
}

int world_teardown(void **state)
{
    world_close(*state);
    mem_free(*state);
    return 0;
}

struct sm_config default_config(void)
{
    struct sm_config config;
    sm_config_init(&config);
    return config;
}

uint32_t host(const struct world *world, const char *name)
{
    uint32_t node = topology_find(&world->topology, name);
    assert_int_not_equal(node, TOPOLOGY_NONE);
    return topology_port_index(&world->topology, node, 1);
}

uint32_t management_port(const struct world *world, const char *name)
{
    return host(world, name) - 1;
}

unsigned settle(struct world *world, uint32_t port, const struct sm_config *config)
{
    unsigned manager = sim_add_manager(world->sim, port, config);
    assert_true(sim_run_until_settled(world->sim, manager, sim_now(world->sim) + 30 * TIME_S));
    return manager;
}

void run_for(struct world *world, uint64_t duration_ps)
{
    sim_run(world->sim, sim_now(world->sim) + duration_ps);
}

struct sm_counts counts_of(struct world *world, unsigned manager)
{
    struct sm_counts counts;
    sm_counts(sim_manager(world->sim, manager), &counts);
    return counts;
}

bool all_active(const struct world *world)
{
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        if (fabric_link_is_up(world->fabric, port) &&
            wire_get(fabric_port_info(world->fabric, port), PORT_INFO_PORT_STATE) !=
                PORT_STATE_ACTIVE)
            return false;
    return true;
}

bool answers_by_lid(struct world *world, uint32_t from, uint32_t to)
{
    uint8_t mad[MAD_BYTES] = {0};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_GET);
    wire_set(mad, MAD_TID, 0xABCDEF00ABCDEFu);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NODE_INFO);
    struct packet_header header = {
        .dlid = (uint16_t)wire_get(fabric_port_info(world->fabric, to), PORT_INFO_LID)};
    struct fabric_delivery delivery;
    fabric_send(world->fabric, from, &header, mad);
    for (uint64_t until = sim_now(world->sim) + 10 * TIME_MS; sim_now(world->sim) < until;) {
        fabric_run(world->fabric, until);
        while (fabric_next_delivery(world->fabric, &delivery))
            if (wire_get(delivery.mad, MAD_TID) == 0xABCDEF00ABCDEFu)
                return true;
    }
    return false;
}

uint32_t end_port(const struct world *world, uint32_t node)
{
    const struct topology_node *n = &world->topology.nodes.items[node];
    return n->first_port + (n->kind != NODE_SWITCH);
}

static unsigned lid_of(const struct world *world, uint32_t port)
{
    return (unsigned)wire_get(fabric_port_info(world->fabric, port), PORT_INFO_LID);
}

bool leads_to(const struct world *world, uint32_t node, uint32_t to, unsigned lid)
{
    for (unsigned hops = 0; hops < 64; hops++) {
        if (node == world->topology.ports.items[to].node)
            return true;
        unsigned top = 0;
        if (world->topology.nodes.items[node].kind != NODE_SWITCH)
            return false;
        const uint8_t *table = fabric_linear_table(world->fabric, node, &top);
        if (lid == 0 || lid > top || table[lid] == 0 ||
            table[lid] > world->topology.nodes.items[node].port_count)
            return false;
        uint32_t out = topology_port_index(&world->topology, node, table[lid]);
        if (!fabric_link_is_up(world->fabric, out))
            return false;
        node = world->topology.ports.items[world->topology.ports.items[out].peer].node;
    }
    return false;
}

bool all_delivered(const struct world *world)
{
    for (uint32_t from = 0; from < world->topology.nodes.count; from++)
        for (uint32_t to = 0; to < world->topology.nodes.count; to++)
            if (world->topology.nodes.items[from].kind == NODE_SWITCH &&
                fabric_node_is_up(world->fabric, to) && fabric_node_is_up(world->fabric, from) &&
                !leads_to(world, from, end_port(world, to), lid_of(world, end_port(world, to))))
                return false;
    return true;
}

static bool has_true_tables(const struct world *world, const struct subnet *subnet, uint32_t node)
{
    unsigned top = 0;
    uint64_t guid = world->topology.nodes.items[node].guid;
    const uint8_t *table = fabric_linear_table(world->fabric, node, &top);
    for (size_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_tables *tables = subnet->nodes.items[i].tables;
        if (subnet->nodes.items[i].guid == guid)
            return top < tables->length && memcmp(tables->actual + 1, table + 1, top) == 0;
    }
    return false;
}

bool has_true_state(struct world *world, unsigned manager)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned there = 0, known = 0;
    bool tables = true;
    for (uint32_t port = 0; port < world->topology.ports.count; port++)
        there += fabric_link_is_up(world->fabric, port);
    for (size_t port = 0; port < subnet->ports.count; port++)
        known += subnet->ports.items[port].peer != SUBNET_NONE;
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        if (world->topology.nodes.items[node].kind == NODE_SWITCH)
            tables = tables && has_true_tables(world, subnet, node);
    return tables && there == known;
}
