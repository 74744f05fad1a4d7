/* The manager on simulated fabrics in virtual time. */
#include "base/rng.h"
#include "sim_world.h"

#include <stdlib.h>
#include <string.h>

static struct sm_config paper_config(void)
{
    struct sm_config config;
    sm_config_init(&config);
    config.engine = engine_find("fera");
    config.policy = &sm_policy_paper;
    config.alone = true;
    config.mode = SM_STATIC;
    config.window = 65535;
    config.sweep_ns = TIME_NEVER;
    return config;
}

static void figure_1_takes_81_requests_to_discover_in_paper_mode(void **state)
{
    struct world *world = world_for(state, "paper", "figure1");
    struct sm_config config = paper_config();
    unsigned manager = settle(world, management_port(world, "S1"), &config);
    struct sm_counts counts = counts_of(world, manager);
    const unsigned switches = 8, ports = 4;
    assert_int_equal(counts.node_info, 19);
    assert_int_equal(counts.port_info_get, 47);
    assert_int_equal(counts.port_info_set - 2 * switches * ports, 15);
    assert_int_equal(counts.switch_info + counts.other, 0);
}

static void assert_lids_are_those_of_the_names(const struct world *world)
{
    for (uint32_t node = 0; node < world->topology.nodes.count; node++) {
        const struct topology_node *n = &world->topology.nodes.items[node];
        uint32_t end = n->first_port + (n->kind != NODE_SWITCH);
        unsigned lid = (unsigned)wire_get(fabric_port_info(world->fabric, end), PORT_INFO_LID);
        assert_int_equal(lid, strtoul(n->description + 1, NULL, 10)); /* "S10" is LID 10 */
    }
}

static void figure_1_gets_its_printed_lids_in_paper_mode(void **state)
{
    struct world *world = world_for(state, "paper", "figure1");
    struct sm_config config = paper_config();
    settle(world, management_port(world, "S1"), &config);
    assert_lids_are_those_of_the_names(world);
}

/* As hardware that was switched on: without the LIDs of the file. */
static void reset_lids(struct world *world)
{
    for (size_t i = 0; i < world->topology.ports.count; i++)
        world->topology.ports.items[i].lid = 0;
    sim_free(world->sim);
    fabric_free(world->fabric);
    struct fabric_options options;
    assert_int_equal(fabric_options_preset(&options, "paper", &(struct err){0}), 0);
    world->fabric = fabric_new(&world->topology, &options, 1);
    world->sim = sim_new(world->fabric);
}

static void the_thesis_network_gets_its_printed_lids_depth_first(void **state)
{
    struct world *world = world_for(state, "paper", "thesis");
    struct sm_config config = paper_config();
    config.order = SM_ORDER_DEPTH;
    config.sweep_ns = 100 * NS_PER_MS;
    reset_lids(world);
    fabric_set_link(world->fabric, host(world, "H12"), false, NULL);
    settle(world, host(world, "H1"), &config);
    fabric_set_link(world->fabric, host(world, "H12"), true, NULL);
    run_for(world, 1 * TIME_S);
    assert_lids_are_those_of_the_names(world);
}

/* 21 switches and 400 adapter ports with 128 LIDs each: there are LIDs for 383 ports. */
static void the_port_of_the_manager_has_a_lid_when_lids_are_exhausted(void **state)
{
    struct world *world = world_for(state, "today", "fattree m=20,20 w=1,1");
    struct sm_config config = default_config();
    config.lmc = 7;
    settle(world, host(world, "H399"), &config);
    unsigned without = 0;
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        without += !wire_get(fabric_port_info(world->fabric, end_port(world, node)), PORT_INFO_LID);
    assert_int_not_equal(
        wire_get(fabric_port_info(world->fabric, host(world, "H399")), PORT_INFO_LID), 0);
    assert_int_equal(without, 400 - 383);
}

static void a_node_keeps_the_lids_of_the_file_until_it_restarts(void **state)
{
    struct world *world = world_for(state, "today", "thesis");
    struct sm_config config = default_config();
    uint32_t h12 = host(world, "H12"), node = world->topology.ports.items[h12].node;
    assert_lids_are_those_of_the_names(world);
    assert_int_equal(fabric_set_node(world->fabric, node, false, NULL), 0);
    assert_int_equal(fabric_set_node(world->fabric, node, true, NULL), 0);
    assert_int_equal(wire_get(fabric_port_info(world->fabric, h12), PORT_INFO_LID), 0);
    settle(world, host(world, "H10"), &config);
    run_for(world, 1 * TIME_S);                /* its link trains */
    assert_lids_are_those_of_the_names(world); /* 12 is the lowest that is free */
}

static void a_paper_distribution_takes_24_smps_a_switch(void **state)
{
    struct world *world = world_for(state, "paper", "figure1");
    struct sm_config config = paper_config();
    unsigned manager = settle(world, management_port(world, "S1"), &config);
    struct sm_counts counts = counts_of(world, manager);
    assert_int_equal(counts.tables, 8 * 16);
    assert_int_equal(counts.sent - 81, 8 * (4 + 16 + 4));
    assert_true(all_active(world));
}

static void every_end_port_gets_the_gid_prefix(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct sm_config config = default_config();
    config.subnet_prefix = UINT64_C(0xFEC0000000000001);
    settle(world, management_port(world, "S1"), &config);
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        assert_int_equal(
            wire_get(fabric_port_info(world->fabric, end_port(world, node)), PORT_INFO_GID_PREFIX),
            config.subnet_prefix);
}

static void a_fabric_comes_up_with_every_engine_and_mode(void **state)
{
    static const char *const engines[] = {"fera", "pira", "updn", "dr", "pira+fera", "pira+dr"};
    (void)state;
    for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++)
        for (unsigned mode = SM_ORDERED; mode <= SM_NAIVE; mode++) {
            struct world world;
            struct sm_config config = default_config();
            config.engine = engine_find(engines[i]);
            config.mode = (enum sm_mode)mode;
            /* static mode sets port states that only the papers' agents accept */
            world_open(&world, mode == SM_STATIC ? "paper" : "today",
                       "irregular switches=12 hosts=10");
            settle(&world, host(&world, "H0"), &config);
            assert_true(all_active(&world));
            world_close(&world);
        }
}

static void every_order_of_discovery_finds_all_nodes(void **state)
{
    (void)state;
    for (unsigned order = SM_ORDER_PROPAGATION; order <= SM_ORDER_DEPTH; order++) {
        struct world world;
        struct sm_config config = default_config();
        config.order = (enum sm_order)order;
        world_open(&world, "today", "irregular switches=12 hosts=10");
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        assert_int_equal(sm_subnet(sim_manager(world.sim, manager))->nodes.count, 12 + 10);
        assert_true(all_active(&world));
        world_close(&world);
    }
}

static void a_flapping_port_is_ignored_and_later_used_again(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct sm_config config = default_config();
    config.sweep_ns = 1 * NS_PER_S;
    unsigned manager = settle(world, host(world, "H4"), &config);
    struct sm_counts before = counts_of(world, manager);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(fabric_flap_port(world->fabric, host(world, "H15"), NULL), 0);
        run_for(world, 250 * TIME_MS);
    }
    struct sm_counts after = counts_of(world, manager);
    assert_true(after.port_info_set - before.port_info_set < 40 * 2); /* not for every flap */
    run_for(world, 100 * TIME_S);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    assert_true(all_active(world));
}

/* Random forwarding tables are checked with an SMP by LID from the manager to every node. */
static void switches_with_random_tables_are_routed_with_few_entries(void **state)
{
    static const char *const engines[] = {"pira", "fera"};
    uint64_t blocks[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct world world;
        struct fabric_options options;
        struct sm_config config = default_config();
        config.engine = engine_find(engines[i]);
        assert_int_equal(fabric_options_preset(&options, "today", NULL), 0);
        assert_int_equal(fabric_options_set(&options, "linear_entries", "0", NULL), 0);
        assert_int_equal(fabric_options_set(&options, "random_entries", "64", NULL), 0);
        world_open_with(&world, &options, "irregular switches=12 hosts=10");
        uint32_t own = host(&world, "H0");
        unsigned manager = settle(&world, own, &config);
        assert_true(all_active(&world));
        for (uint32_t node = 0; node < world.topology.nodes.count; node++) {
            const struct topology_node *n = &world.topology.nodes.items[node];
            uint32_t end = n->first_port + (n->kind != NODE_SWITCH);
            assert_true(answers_by_lid(&world, own, end));
        }
        blocks[i] = counts_of(&world, manager).other;
        world_close(&world);
    }
    assert_true(blocks[0] <= blocks[1]);
}

static void a_second_sweep_writes_nothing(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=12 hosts=10");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct sm_counts before = counts_of(world, manager);
    sm_reroute(sim_manager(world->sim, manager), sim_now_ns(world->sim));
    assert_true(sim_run_until_settled(world->sim, manager, sim_now(world->sim) + 10 * TIME_S));
    struct sm_counts after = counts_of(world, manager);
    assert_int_equal(after.tables, before.tables);
    assert_int_equal(after.port_info_set, before.port_info_set);
}

/* All switches set PortStateChange at their start, which is acknowledged during bring-up. */
static void the_first_sweep_finds_no_change(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=12 ports=8 hosts=10");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct sm_counts before = counts_of(world, manager);
    unsigned ports = 10, without_link = 0;
    for (uint32_t node = 0; node < world->topology.nodes.count; node++)
        for (unsigned number = 0; world->topology.nodes.items[node].kind == NODE_SWITCH &&
                                  number <= world->topology.nodes.items[node].port_count;
             number++, ports++)
            without_link +=
                number && !fabric_link_is_up(world->fabric,
                                             topology_port_index(&world->topology, node, number));
    assert_int_equal(before.port_info_get, ports + without_link); /* which are read again */
    run_for(world, 15 * TIME_S);
    struct sm_counts after = counts_of(world, manager);
    assert_int_equal(after.switch_info - before.switch_info, 12);
    assert_int_equal(after.port_info_get - before.port_info_get, 1); /* its own */
    assert_int_equal(after.sent - before.sent, 12 + 1);
}

/* A link that comes up after its port was read, before PortStateChange is cleared, is found. */
static void a_link_that_comes_up_during_bring_up_is_found(void **state)
{
    (void)state;
    for (unsigned steps = 1; steps < 900; steps += 9) {
        struct world world;
        struct fabric_options options;
        struct sm_config config = default_config();
        config.sweep_ns = 1 * NS_PER_S;
        config.full_every = 0;
        fabric_options_preset(&options, "today", NULL);
        assert_int_equal(fabric_options_set(&options, "traps", "no", NULL), 0);
        assert_int_equal(fabric_options_set(&options, "training", "1us", NULL), 0);
        world_open_with(&world, &options, "irregular switches=12 ports=8 hosts=10");
        uint32_t link = host(&world, "S3");
        fabric_set_link(world.fabric, link, false, NULL);
        unsigned manager = sim_add_manager(world.sim, host(&world, "H0"), &config);
        for (unsigned i = 0; i < steps; i++)
            sim_step(world.sim, 1 * TIME_MS);
        fabric_set_link(world.fabric, link, true, NULL);
        sim_run(world.sim, 3 * TIME_S);
        assert_true(has_true_state(&world, manager));
        world_close(&world);
    }
}

static void a_new_master_writes_its_lid_and_no_table(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=12 hosts=10");
    struct sm_config config = default_config();
    config.priority = 5;
    unsigned first = settle(world, host(world, "H0"), &config);
    config.priority = 3;
    unsigned second = sim_add_manager(world->sim, host(world, "H7"), &config);
    run_for(world, 2 * TIME_S);
    assert_int_equal(sm_state(sim_manager(world->sim, second)), SM_STANDBY);
    struct sm_counts before = counts_of(world, second);
    uint64_t death = sim_now(world->sim);
    sim_kill_manager(world->sim, first);
    while (sm_state(sim_manager(world->sim, second)) != SM_MASTER ||
           !sm_is_settled(sim_manager(world->sim, second))) {
        assert_true(sim_now(world->sim) < death + 1 * TIME_S); /* serves within a second */
        run_for(world, 10 * TIME_MS);
    }
    struct sm_counts after = counts_of(world, second);
    /* Every SMP for a table is a Get. */
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, second));
    assert_int_equal(after.tables - before.tables, after.tables_read - before.tables_read);
    assert_int_equal(after.port_info_set - before.port_info_set, 12 + 10);
    assert_int_equal(subnet->nodes.count, 12 + 10);
}

static void a_higher_priority_takes_over_and_lids_stay(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=12 hosts=10");
    struct sm_config config = default_config();
    unsigned first = settle(world, host(world, "H0"), &config);
    unsigned lid =
        (unsigned)wire_get(fabric_port_info(world->fabric, host(world, "H5")), PORT_INFO_LID);
    config.priority = 9;
    unsigned second = sim_add_manager(world->sim, host(world, "H7"), &config);
    run_for(world, 30 * TIME_S);
    assert_int_equal(sm_state(sim_manager(world->sim, first)), SM_STANDBY);
    assert_int_equal(sm_state(sim_manager(world->sim, second)), SM_MASTER);
    assert_true(sm_is_settled(sim_manager(world->sim, second)));
    assert_int_equal(wire_get(fabric_port_info(world->fabric, host(world, "H5")), PORT_INFO_LID),
                     lid);
}

static void a_cut_link_writes_only_blocks_that_differ(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=24 ports=6 hosts=22");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct sm_counts before = counts_of(world, manager);
    uint8_t tables[24][64];
    unsigned top;
    for (uint32_t i = 0, s = 0; i < world->topology.nodes.count; i++)
        if (world->topology.nodes.items[i].kind == NODE_SWITCH)
            memcpy(tables[s++], fabric_linear_table(world->fabric, i, &top), 64);
    assert_int_equal(fabric_set_link(world->fabric, host(world, "S3"), false, NULL), 0);
    run_for(world, 5 * TIME_S);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    struct sm_counts after = counts_of(world, manager);
    unsigned differ = 0;
    for (uint32_t i = 0, s = 0; i < world->topology.nodes.count; i++)
        if (world->topology.nodes.items[i].kind == NODE_SWITCH)
            differ += memcmp(tables[s++], fabric_linear_table(world->fabric, i, &top), 64) != 0;
    assert_true(differ > 0);
    /* A block may be written once for each wave of an ordered update. */
    assert_true(after.tables - before.tables <= 3 * differ);
}

static void another_managers_key_is_replaced_when_its_lease_runs_out(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct sm_config config = default_config();
    config.sweep_ns = 1 * NS_PER_S;
    config.timeout_ns = 20 * NS_PER_MS;
    config.m_key = 5;
    config.m_key_protect = 1;
    config.m_key_lease_s = 2;
    unsigned first = settle(world, host(world, "H4"), &config);
    sim_kill_manager(world->sim, first);
    config.m_key = 9;
    unsigned second = sim_add_manager(world->sim, host(world, "H15"), &config);
    run_for(world, 60 * TIME_S);
    assert_true(sim_run_until_settled(world->sim, second, sim_now(world->sim) + 5 * TIME_S));
    for (uint32_t node = 0; node < world->topology.nodes.count; node++) {
        const struct topology_node *n = &world->topology.nodes.items[node];
        uint32_t end = n->first_port + (n->kind != NODE_SWITCH);
        assert_int_equal(wire_get(fabric_port_info(world->fabric, end), PORT_INFO_M_KEY), 9);
    }
}

static void the_rest_comes_up_when_lids_run_out(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=64 ports=12 hosts=400");
    struct sm_config config = default_config();
    config.lmc = 7; /* 400 adapters of 128 LIDs each do not fit */
    unsigned manager = sim_add_manager(world->sim, host(world, "H0"), &config);
    assert_true(sim_run_until_settled(world->sim, manager, 30 * TIME_S));
    unsigned without = 0;
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    for (size_t i = 0; i < subnet->ports.count; i++)
        without += subnet_is_end_port(subnet, (uint32_t)i) && !subnet->ports.items[i].lid;
    assert_true(without > 0);
}

static void remembered_lids_are_assigned_again(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct sm_config config = default_config();
    uint32_t port = host(world, "H15");
    struct sm *sm = sm_new(&config, fabric_port_guid(world->fabric, host(world, "H4"), 0));
    struct sm_lid_fact fact = {fabric_port_guid(world->fabric, port, 0), 777, 0};
    sm_restore_lid(sm, &fact);
    unsigned manager = sim_attach_manager(world->sim, host(world, "H4"), sm);
    assert_true(sim_run_until_settled(world->sim, manager, 10 * TIME_S));
    assert_int_equal(wire_get(fabric_port_info(world->fabric, port), PORT_INFO_LID), 777);
}

/* Sources use the new paths after the last block. */
static void sources_change_over_when_the_last_block_is_acknowledged(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=24 ports=6 hosts=22");
    struct sm_config config = default_config();
    unsigned manager = sim_add_manager(world->sim, host(world, "H0"), &config);
    const struct sm *sm = sim_manager(world->sim, manager);
    while (!sm_paths(sm).network) /* not before all tables are written */
        assert_true(sim_step(world->sim, 10 * TIME_S) && !all_active(world));
    assert_true(all_delivered(world));
    assert_true(sim_run_until_settled(world->sim, manager, 10 * TIME_S));
    struct sm_paths before = sm_paths(sm);
    struct sm_counts counts = counts_of(world, manager);
    assert_int_equal(before.network->terminals.count, 22);
    struct path path = path_lookup(before.routes, before.network, 0, 1);
    assert_int_equal(path.dlid, before.network->terminals.items[1].lid);
    fabric_set_link(world->fabric, host(world, "S3"), false, NULL);
    uint64_t written = 0;
    while (sm_paths(sm).generation == before.generation) {
        written = counts_of(world, manager).tables;
        assert_ptr_equal(sm_paths(sm).routes, before.routes);
        assert_true(sim_step(world->sim, sim_now(world->sim) + 10 * TIME_S));
    }
    assert_true(written > counts.tables);
    assert_true(all_delivered(world));
    assert_true(sim_run_until_settled(world->sim, manager, sim_now(world->sim) + 10 * TIME_S));
    assert_int_equal(counts_of(world, manager).tables, written);
    assert_int_equal(sm_paths(sm).network->terminals.count, 22);
}

static void only_a_master_has_paths(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct sm_config config = default_config();
    unsigned first = settle(world, host(world, "H4"), &config);
    uint64_t generation = sm_paths(sim_manager(world->sim, first)).generation;
    config.priority = 3;
    unsigned second = sim_add_manager(world->sim, host(world, "H15"), &config);
    assert_null(sm_paths(sim_manager(world->sim, second)).network);
    run_for(world, 30 * TIME_S);
    assert_null(sm_paths(sim_manager(world->sim, first)).network);
    assert_int_not_equal(sm_paths(sim_manager(world->sim, first)).generation, generation);
    assert_int_equal(sm_paths(sim_manager(world->sim, second)).network->switches.count, 8);
}

static void count_by_lid(void *context, uint64_t now, unsigned manager,
                         const struct sm_message *message)
{
    (void)now;
    (void)manager;
    *(unsigned *)context += message->lid != LID_PERMISSIVE && mad_is_directed(message->mad);
}

static void smps_use_lid_routing_where_tables_are_valid(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=24 ports=6 hosts=22");
    unsigned by_lid = 0;
    struct sm_config config = default_config();
    config.lid_route = true;
    config.sweep_ns = 1 * NS_PER_S;
    config.full_every = 1;
    sim_set_listener(world->sim, &(struct sim_listener){.context = &by_lid, .sent = count_by_lid});
    unsigned manager = settle(world, host(world, "H0"), &config);
    assert_int_equal(by_lid, 0);
    run_for(world, 1500 * TIME_MS);
    struct sm_counts counts = counts_of(world, manager);
    assert_true(by_lid > 100);
    assert_int_equal(counts.timeouts, 0);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    /* If the tables lead over a failed link, directed routes still reach all nodes. */
    fabric_set_link(world->fabric, host(world, "S3"), false, NULL);
    run_for(world, 10 * TIME_S);
    assert_true(has_true_state(world, manager));
    assert_true(all_delivered(world));
}

static unsigned switches_present(struct world *world, unsigned manager)
{
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned present = 0;
    for (size_t i = 0; i < subnet->nodes.count; i++)
        present += subnet->nodes.items[i].present && subnet->nodes.items[i].kind == SUBNET_SWITCH;
    return present;
}

static void a_mute_switch_is_removed_and_added_again(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=12 ports=6 hosts=10");
    struct sm_config config = default_config();
    config.sweep_ns = 1 * NS_PER_S;
    unsigned manager = settle(world, host(world, "H0"), &config);
    uint32_t mute = topology_find(&world->topology, "S9");
    assert_int_equal(fabric_set_agent_delay(world->fabric, mute, TIME_NEVER, NULL), 0);
    run_for(world, 20 * TIME_S);
    assert_true(switches_present(world, manager) < 12);
    assert_int_equal(fabric_set_agent_delay(world->fabric, mute, 0, NULL), 0);
    run_for(world, 20 * TIME_S);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    assert_true(all_active(world));
    assert_int_equal(switches_present(world, manager), 12);
}

/* It answers NodeInfo, but no queries for its tables. */
static void a_switch_with_missing_answers_does_not_block_bring_up(void **state)
{
    struct world *world = world_for(state, "today", "ring switches=6 hosts=1");
    struct sm_config config = default_config();
    config.sweep_ns = 1 * NS_PER_S;
    uint32_t odd = management_port(world, "S3");
    for (unsigned port = 1; port <= 2; port++)
        fabric_set_loss(world->fabric, odd + port, ATTRIBUTE_SWITCH_INFO, UINT64_C(1) << 32, NULL);
    unsigned manager = sim_add_manager(world->sim, host(world, "H0"), &config);
    assert_true(sim_run_until_settled(world->sim, manager, 15 * TIME_S));
    assert_int_equal(switches_present(world, manager), 5);
    for (unsigned port = 1; port <= 2; port++)
        fabric_set_loss(world->fabric, odd + port, ATTRIBUTE_SWITCH_INFO, 0, NULL);
    run_for(world, 30 * TIME_S);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    assert_int_equal(switches_present(world, manager), 6);
    assert_true(all_active(world));
}

static void of_several_engines_the_first_that_does_not_refuse_routes(void **state)
{
    struct world *world = world_for(state, "today", "torus dims=4x4");
    struct sm_config config = default_config();
    config.engine = engine_find("ftree");
    config.others = (struct engine_list){.count = 1, .items = {engine_find("updn")}};
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct sm_paths paths = sm_paths(sim_manager(world->sim, manager));
    assert_string_equal(paths.routes->engine, "updn");
    assert_non_null(strstr(paths.routes->note, "ftree refused: "));
    assert_true(all_delivered(world));
    config.others.items[0] = engine_find("nue"); /* another list starts a new computation */
    sm_configure(sim_manager(world->sim, manager), sim_now_ns(world->sim), &config);
    assert_true(sim_run_until_settled(world->sim, manager, sim_now(world->sim) + 30 * TIME_S));
    assert_string_equal(sm_paths(sim_manager(world->sim, manager)).routes->engine, "nue");
}

static void random_answers_do_not_block_the_manager(void **state)
{
    struct world *world = world_for(state, "today", "figure1");
    struct rng rng;
    struct sm_config config = default_config();
    config.timeout_ns = 20 * NS_PER_MS;
    rng_seed(&rng, 7, 0);
    unsigned manager = sim_add_manager(world->sim, host(world, "H4"), &config);
    for (unsigned i = 0; i < 20000; i++) {
        struct sm_message message = {.lid = (uint16_t)rng_next(&rng)};
        for (unsigned byte = 0; byte < MAD_BYTES; byte++)
            message.mad[byte] = (uint8_t)rng_next(&rng);
        wire_set(message.mad, MAD_CLASS, rng_below(&rng, 2) ? CLASS_SUBN_DIRECTED : CLASS_SUBN_LID);
        wire_set(message.mad, MAD_METHOD,
                 rng_below(&rng, 4) ? METHOD_GET_RESP : METHOD_TRAP + rng_below(&rng, 3));
        /* Often one that matches an outstanding request. */
        wire_set(message.mad, MAD_TID, rng_below(&rng, 8) << 20 | rng_below(&rng, 64));
        wire_set(message.mad, MAD_ATTRIBUTE_ID, 0x10 + rng_below(&rng, 17));
        wire_set(message.mad, MAD_ATTRIBUTE_MODIFIER, rng_below(&rng, 4));
        sm_receive(sim_manager(world->sim, manager), sim_now_ns(world->sim), &message);
        run_for(world, rng_below(&rng, 50 * TIME_US));
    }
    run_for(world, 200 * TIME_S);
    assert_int_equal(sm_state(sim_manager(world->sim, manager)), SM_MASTER);
    assert_true(sm_is_settled(sim_manager(world->sim, manager)));
    assert_true(all_active(world));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(figure_1_takes_81_requests_to_discover_in_paper_mode),
        WORLD_TEST(figure_1_gets_its_printed_lids_in_paper_mode),
        WORLD_TEST(the_thesis_network_gets_its_printed_lids_depth_first),
        WORLD_TEST(the_port_of_the_manager_has_a_lid_when_lids_are_exhausted),
        WORLD_TEST(a_node_keeps_the_lids_of_the_file_until_it_restarts),
        WORLD_TEST(a_paper_distribution_takes_24_smps_a_switch),
        WORLD_TEST(every_end_port_gets_the_gid_prefix),
        cmocka_unit_test(a_fabric_comes_up_with_every_engine_and_mode),
        cmocka_unit_test(every_order_of_discovery_finds_all_nodes),
        WORLD_TEST(a_flapping_port_is_ignored_and_later_used_again),
        cmocka_unit_test(switches_with_random_tables_are_routed_with_few_entries),
        WORLD_TEST(a_second_sweep_writes_nothing),
        WORLD_TEST(the_first_sweep_finds_no_change),
        cmocka_unit_test(a_link_that_comes_up_during_bring_up_is_found),
        WORLD_TEST(a_new_master_writes_its_lid_and_no_table),
        WORLD_TEST(a_higher_priority_takes_over_and_lids_stay),
        WORLD_TEST(a_cut_link_writes_only_blocks_that_differ),
        WORLD_TEST(another_managers_key_is_replaced_when_its_lease_runs_out),
        WORLD_TEST(the_rest_comes_up_when_lids_run_out),
        WORLD_TEST(remembered_lids_are_assigned_again),
        WORLD_TEST(sources_change_over_when_the_last_block_is_acknowledged),
        WORLD_TEST(only_a_master_has_paths),
        WORLD_TEST(smps_use_lid_routing_where_tables_are_valid),
        WORLD_TEST(a_mute_switch_is_removed_and_added_again),
        WORLD_TEST(a_switch_with_missing_answers_does_not_block_bring_up),
        WORLD_TEST(of_several_engines_the_first_that_does_not_refuse_routes),
        WORLD_TEST(random_answers_do_not_block_the_manager),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
