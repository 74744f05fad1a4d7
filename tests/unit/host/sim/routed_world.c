#include "routed_world.h"

#include "topology/generators/generate.h"

#include <stdio.h>
#include <string.h>

void routed_open(struct routed *routed, unsigned subnets, enum join_shape shape, unsigned routers,
                 const struct prefix_rules *rules)
{
    routed_open_with(routed, subnets, shape, routers, rules, NULL);
}

void routed_open_with(struct routed *routed, unsigned subnets, enum join_shape shape,
                      unsigned routers, const struct prefix_rules *rules, const char *router_buffer)
{
    const char *const words[] = {"4", "ports=6", "hosts=4"};
    struct topology parts[SUBNETS_MOST];
    struct fabric_options options;
    struct sim_administration_options administration;
    struct err err = {0};
    assert_in_range(subnets, 2, SUBNETS_MOST);
    *routed = (struct routed){.subnets = subnets};
    assert_int_equal(fabric_options_preset(&options, "today", &err), 0);
    if (router_buffer)
        assert_int_equal(fabric_options_set(&options, "router_buffer", router_buffer, &err), 0);
    for (unsigned i = 0; i < subnets; i++) {
        topology_init(&parts[i]);
        assert_int_equal(topology_generate(&parts[i], "irregular", words, 3, i + 1, &err), 0);
    }
    topology_init(&routed->world.topology);
    if (topology_join(&routed->world.topology, parts, subnets, shape, routers, &err) < 0)
        fail_msg("%s", err.message);
    for (unsigned i = 0; i < subnets; i++)
        topology_release(&parts[i]);
    routed->world.fabric = fabric_new(&routed->world.topology, &options, 1);
    routed->world.sim = sim_new(routed->world.fabric);
    sim_administration_options_init(&administration);
    sim_add_administrations(routed->world.sim, &administration);
    for (unsigned i = 0; i < subnets; i++) {
        routed->configs[i] = default_config();
        routed->configs[i].subnet_prefix = PREFIX(i);
        routed->configs[i].prefix_rules = rules;
        routed->configs[i].sweep_ns = NS_PER_S;
        routed->managers[i] =
            settle(&routed->world, routed_host(routed, i, 0), &routed->configs[i]);
    }
    routed->clients = sim_clients_new(routed->world.sim, routed->world.fabric);
    run_for(&routed->world, 2 * TIME_S);
}

void routed_close(struct routed *routed)
{
    sim_clients_free(routed->clients);
    world_close(&routed->world);
}

uint32_t routed_host(const struct routed *routed, unsigned subnet, unsigned number)
{
    char name[16];
    snprintf(name, sizeof name, "%c.H%u", 'a' + (int)subnet, number);
    return host(&routed->world, name);
}

uint64_t routed_field(const struct routed *routed, uint32_t port, enum wire_field field)
{
    return wire_get(fabric_port_info(routed->world.fabric, port), field);
}

const uint8_t *routed_path(struct routed *routed, uint32_t from, uint32_t to)
{
    uint32_t question = sim_clients_path(routed->clients, from, to, 0);
    assert_true(sim_clients_run(routed->clients, sim_now(routed->world.sim) + 10 * TIME_S));
    const struct sim_query *query = sim_clients_query(routed->clients, question);
    assert_int_equal(query->state, SIM_ANSWERED);
    return query->status ? NULL : query->answer + SA_DATA_OFFSET;
}
