/* Hypervisors, virtual functions and virtual machines on simulated fabrics: bring-up with both LID
 * schemes, the life cycle of machines, its SMPs, and failures during it. */
#include "sim_world.h"
#include "vswitch_world.h"

#include "base/rng.h"
#include "routing/check/verify.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void functions_have_lids_and_routes_from_the_start(void **state)
{
    struct world *world = world_for(state, "today", "kary 2 3 vfs=4");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned functions = 0;
    for (uint32_t port = 0; port < subnet->ports.count; port++) {
        if (!subnet_is_vf_port(subnet, port))
            continue;
        functions++;
        assert_int_not_equal(subnet->ports.items[port].peer, SUBNET_NONE);
        assert_int_not_equal(subnet->ports.items[subnet->ports.items[port].peer].lid, 0);
    }
    assert_int_equal(functions, 4 * world_hosts(world));
    struct sm_paths paths = sm_paths(sim_manager(world->sim, manager));
    assert_int_equal(paths.network->terminals.count, 5 * world_hosts(world));
    check_world(world, manager);
}

static void a_vswitch_shares_the_lid_of_its_physical_function(void **state)
{
    struct world *world = world_for(state, "today", "kary 2 3 vfs=2");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    unsigned seen = 0;
    for (uint32_t node = 0; node < subnet->nodes.count; node++) {
        if (!subnet->nodes.items[node].vswitch)
            continue;
        uint32_t pf = subnet_pf_of(subnet, node);
        assert_int_equal(subnet->ports.items[subnet->nodes.items[node].first_port].lid,
                         subnet->ports.items[pf].lid);
        assert_int_equal(subnet->by_lid[subnet->ports.items[pf].lid], pf);
        assert_null(subnet->nodes.items[node].tables);
        seen++;
    }
    assert_int_equal(seen, world_hosts(world));
}

static void functions_without_machines_have_no_lid_when_lids_are_dynamic(void **state)
{
    struct world *world = world_for(state, "today", "kary 2 3 vfs=4");
    struct sm_config config = default_config();
    config.dynamic_lids = true;
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct sm_paths paths = sm_paths(sim_manager(world->sim, manager));
    assert_int_equal(paths.network->terminals.count, world_hosts(world));
    check_world(world, manager);
}

/* The attributes that a manager sets, in the order of SMPs. */
struct order {
    unsigned functions, tables, early; /* early: tables before the last function */
};

static void note_set(void *context, uint64_t now, unsigned manager,
                     const struct sm_message *message)
{
    struct order *order = context;
    (void)now, (void)manager;
    if (wire_get(message->mad, MAD_METHOD) != METHOD_SET)
        return;
    uint64_t attribute = wire_get(message->mad, MAD_ATTRIBUTE_ID);
    order->tables += attribute == ATTRIBUTE_LINEAR_FORWARDING_TABLE;
    order->functions += attribute == ATTRIBUTE_VIRTUAL_FUNCTION;
    if (attribute == ATTRIBUTE_VIRTUAL_FUNCTION)
        order->early = order->tables;
}

/* Steps a and b of section V-C of CLUSTER 2015: one SMP to each hypervisor, then those to switches.
 */
static void hypervisors_are_written_before_switches(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        struct order start = {0}, move = {0}, stop = {0};
        world_open(&world, "today", "kary 4 2 vfs=3");
        struct sm_config config = default_config();
        config.dynamic_lids = dynamic;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        sim_set_listener(world.sim, &(struct sim_listener){.context = &start, .sent = note_set});
        must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
        sim_set_listener(world.sim, &(struct sim_listener){.context = &move, .sent = note_set});
        must(&world, manager, VSWITCH_MIGRATE, "alpha", "H15", VSWITCH_BALANCED);
        sim_set_listener(world.sim, &(struct sim_listener){.context = &stop, .sent = note_set});
        must(&world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
        sim_set_listener(world.sim, &(struct sim_listener){0});
        assert_int_equal(start.functions, 1);
        assert_int_equal(move.functions, 2);
        assert_int_equal(stop.functions, 1);
        assert_int_equal(start.early + move.early + stop.early, 0);
        assert_true(move.tables >= 1);
        assert_int_equal(start.tables, dynamic ? world_switches(&world) : 0);
        assert_int_equal(stop.tables, 0);
        world_close(&world);
    }
}

/* Section V-C1 of CLUSTER 2015: an update of two entries in one block is one SMP to the switch. */
static void all_at_once_a_swap_inside_a_block_is_one_smp_to_each_switch(void **state)
{
    (void)state;
    for (unsigned naive = 0; naive < 2; naive++) {
        struct world world;
        world_open(&world, "today", "kary 3 2 vfs=3"); /* 6 switches, 9 hypervisors: 42 LIDs */
        struct sm_config config = default_config();
        config.mode = naive ? SM_NAIVE : SM_ORDERED;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
        struct sm_counts before = counts_of(&world, manager);
        struct vswitch_result moved =
            must(&world, manager, VSWITCH_MIGRATE, "alpha", "H8", VSWITCH_BALANCED);
        assert_int_equal(counts_of(&world, manager).tables - before.tables, moved.table_smps);
        /* In waves, both leaf switches are written twice. */
        assert_int_equal(moved.table_smps, moved.switches + (naive ? 0 : 2));
        assert_int_equal(moved.drains, naive ? 0 : 1);
        check_world(&world, manager);
        world_close(&world);
    }
}

static int compare_bytes(const void *a, const void *b)
{
    return *(const uint8_t *)a - *(const uint8_t *)b;
}

/* The entries of a switch for all LIDs, sorted. */
static unsigned sorted_entries(const struct world *world, uint32_t node, uint8_t *entries)
{
    unsigned top;
    const uint8_t *table = fabric_linear_table(world->fabric, node, &top);
    assert_true(table && top < 1024);
    memcpy(entries, table, top + 1);
    qsort(entries, top + 1, 1, compare_bytes);
    return top + 1;
}

/* Section V-C1: a swap keeps the balance of the initial routing. */
static void a_swap_keeps_the_load_of_every_port(void **state)
{
    (void)state;
    struct world world;
    uint8_t before[32][1024], after[1024];
    world_open(&world, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    uint32_t switches = 0;
    for (uint32_t node = 0; node < world.topology.nodes.count; node++)
        if (world.topology.nodes.items[node].kind == NODE_SWITCH &&
            !topology_is_vswitch(&world.topology, node))
            sorted_entries(&world, node, before[switches++]);
    struct vswitch_result moved =
        must(&world, manager, VSWITCH_MIGRATE, "alpha", "H14", VSWITCH_BALANCED);
    assert_true(moved.switches > 1);
    switches = 0;
    for (uint32_t node = 0; node < world.topology.nodes.count; node++) {
        if (world.topology.nodes.items[node].kind != NODE_SWITCH ||
            topology_is_vswitch(&world.topology, node))
            continue;
        unsigned count = sorted_entries(&world, node, after);
        assert_memory_equal(before[switches++], after, count);
    }
    world_close(&world);
}

/* Section V-B: all switches send to a machine as to its hypervisor. */
static void a_copied_lid_has_the_entries_of_its_hypervisor(void **state)
{
    (void)state;
    struct world world;
    world_open(&world, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    config.dynamic_lids = true;
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    struct vswitch_result at[] = {
        must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED),
        must(&world, manager, VSWITCH_MIGRATE, "alpha", "H14", VSWITCH_BALANCED)};
    unsigned pf =
        (unsigned)wire_get(fabric_port_info(world.fabric, host(&world, "H14")), PORT_INFO_LID);
    assert_int_equal(at[0].table_smps, world_switches(&world));
    assert_int_equal(at[1].table_smps, at[1].switches);
    for (uint32_t node = 0; node < world.topology.nodes.count; node++)
        if (world.topology.nodes.items[node].kind == NODE_SWITCH &&
            !topology_is_vswitch(&world.topology, node))
            assert_int_equal(fabric_route(world.fabric, node, at[1].lid),
                             fabric_route(world.fabric, node, pf));
    world_close(&world);
}

static void run_life_cycle(bool dynamic, enum vswitch_mode mode)
{
    struct world world;
    world_open(&world, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    config.dynamic_lids = dynamic;
    unsigned manager = settle(&world, host(&world, "H0"), &config);
    unsigned switches = world_switches(&world);
    struct vswitch_result made = must(&world, manager, VSWITCH_CREATE, "alpha", "H1", mode);
    assert_true(made.lid != 0);
    assert_int_equal(made.function_smps, 1);
    assert_true(made.table_smps <= (dynamic ? switches : 0));
    check_world(&world, manager);
    assert_true(is_at(&world, manager, "alpha", "H1", made.lid));
    struct sm_counts before = counts_of(&world, manager);
    struct vswitch_result moved = must(&world, manager, VSWITCH_MIGRATE, "alpha", "H15", mode);
    struct sm_counts after = counts_of(&world, manager);
    assert_int_equal(moved.lid, made.lid);
    assert_int_equal(moved.function_smps, 2);
    assert_int_equal(after.functions - before.functions, 2);
    assert_int_equal(after.tables - before.tables, moved.table_smps);
    assert_true(moved.table_smps >= 1 && moved.table_smps <= (dynamic ? 1 : 2) * switches);
    assert_false(moved.rerouted);
    check_world(&world, manager);
    assert_true(is_at(&world, manager, "alpha", "H15", made.lid));
    must(&world, manager, VSWITCH_DESTROY, "alpha", NULL, mode);
    check_world(&world, manager);
    assert_false(is_at(&world, manager, "alpha", "H15", made.lid));
    world_close(&world);
}

static void a_machine_is_created_moved_and_destroyed_with_prepopulated_lids(void **state)
{
    (void)state;
    run_life_cycle(false, VSWITCH_BALANCED);
    run_life_cycle(false, VSWITCH_MINIMAL);
}

static void a_machine_is_created_moved_and_destroyed_with_dynamic_lids(void **state)
{
    (void)state;
    run_life_cycle(true, VSWITCH_BALANCED);
    run_life_cycle(true, VSWITCH_MINIMAL);
}

static void a_minimal_move_inside_a_leaf_writes_one_switch(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        world_open(&world, "today", "kary 4 2 vfs=3");
        struct sm_config config = default_config();
        config.dynamic_lids = dynamic;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        must(&world, manager, VSWITCH_CREATE, "alpha", "H4", VSWITCH_MINIMAL);
        struct vswitch_result moved =
            must(&world, manager, VSWITCH_MIGRATE, "alpha", "H5", VSWITCH_MINIMAL);
        assert_int_equal(moved.switches, 1);
        assert_true(moved.table_smps == 1 || (!dynamic && moved.table_smps == 2));
        check_world(&world, manager);
        world_close(&world);
    }
}

/* More waves than a plan can have: the LID is set to drop for a while instead. */
static void a_machine_moves_from_end_to_end_of_a_long_line(void **state)
{
    struct world *world = world_for(state, "today", "mesh dims=45 vfs=2");
    struct sm_config config = default_config();
    config.dynamic_lids = true;
    unsigned manager = settle(world, host(world, "H0"), &config);
    struct vswitch_result made =
        must(world, manager, VSWITCH_CREATE, "alpha", "H0", VSWITCH_BALANCED);
    must(world, manager, VSWITCH_MIGRATE, "alpha", "H44", VSWITCH_BALANCED);
    assert_true(is_at(world, manager, "alpha", "H44", made.lid));
    must(world, manager, VSWITCH_MIGRATE, "alpha", "H0", VSWITCH_BALANCED);
    assert_true(is_at(world, manager, "alpha", "H0", made.lid));
    check_world(world, manager);
}

static void a_repeated_request_is_executed_once(void **state)
{
    struct world *world = world_for(state, "today", "kary 2 3 vfs=2");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    struct sm_counts before = counts_of(world, manager);
    must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    must(world, manager, VSWITCH_MIGRATE, "alpha", "H1", VSWITCH_BALANCED);
    struct sm_counts after = counts_of(world, manager);
    assert_int_equal(after.functions, before.functions);
    must(world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
    must(world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
    struct vswitch_result result =
        ask(world, manager, VSWITCH_MIGRATE, "alpha", "H1", VSWITCH_BALANCED);
    assert_int_equal(result.state, VSWITCH_FAILED);
    result = ask(world, manager, VSWITCH_CREATE, "alpha", "nowhere", VSWITCH_BALANCED);
    assert_int_equal(result.state, VSWITCH_FAILED);
}

static void moves_at_the_same_time_share_blocks(void **state)
{
    struct err err;
    uint64_t tickets[6];
    struct world *world = world_for(state, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    config.dynamic_lids = true;
    unsigned manager = settle(world, host(world, "H0"), &config);
    char names[6][16], places[6][16];
    for (unsigned i = 0; i < 6; i++) {
        snprintf(names[i], sizeof names[i], "vm%u", i);
        snprintf(places[i], sizeof places[i], "H%u", 8 + i);
        must(world, manager, VSWITCH_CREATE, names[i], "auto", VSWITCH_BALANCED);
    }
    struct sm_counts before = counts_of(world, manager);
    for (unsigned i = 0; i < 6; i++) {
        struct vswitch_request request = {
            .verb = VSWITCH_MIGRATE, .guid = vswitch_guid(names[i]), .hypervisor = places[i]};
        tickets[i] = sim_vm_submit(world->sim, manager, &request, &err);
    }
    unsigned alone = 0;
    for (unsigned i = 0; i < 6; i++) {
        const struct vswitch_result *result =
            sim_vm_wait(world->sim, manager, tickets[i], sim_now(world->sim) + 10 * TIME_S);
        assert_int_equal(result->state, VSWITCH_DONE);
        alone += result->table_smps;
    }
    struct sm_counts after = counts_of(world, manager);
    assert_true(after.tables - before.tables < alone);
    check_world(world, manager);
}

/* A move is a phase of the manager, with waves and drains; it does not unsettle the subnet. */
static void a_move_is_a_phase_of_the_manager(void **state)
{
    struct err err;
    struct world *world = world_for(state, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config), moving = 0, draining = 0;
    must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    const struct sm *sm = sim_manager(world->sim, manager);
    struct vswitch_request request = {
        .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("alpha"), .hypervisor = "H11"};
    uint64_t ticket = sim_vm_submit(world->sim, manager, &request, &err);
    const struct vswitch_result *result;
    while ((result = vswitch_result(sim_machines(world->sim, manager), ticket))->state ==
               VSWITCH_PENDING &&
           sim_step(world->sim, sim_now(world->sim) + TIME_S)) {
        struct sm_progress progress = sm_progress(sm);
        if (progress.phase != SM_PHASE_MOVE)
            continue;
        moving++;
        draining += progress.draining;
        assert_true(progress.waves > 1 && progress.wave <= progress.waves);
        assert_true(sm_is_quiet(sm));
    }
    assert_int_equal(result->state, VSWITCH_DONE);
    assert_true(moving > 1 && draining > 0 && result->drains > 0);
    assert_int_equal(sm_progress(sm).phase, SM_PHASE_IDLE);
    check_world(world, manager);
}

static void a_reroute_keeps_machines_and_their_lids(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        world_open(&world, "today", "kary 4 2 vfs=3");
        struct sm_config config = default_config();
        config.dynamic_lids = dynamic;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        unsigned lid = must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED).lid;
        must(&world, manager, VSWITCH_MIGRATE, "alpha", "H11", VSWITCH_MINIMAL);
        sm_reroute(sim_manager(world.sim, manager), sim_now_ns(world.sim));
        assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + 10 * TIME_S));
        assert_true(is_at(&world, manager, "alpha", "H11", lid));
        check_world(&world, manager);
        world_close(&world);
    }
}

static void a_request_during_a_change_waits_for_it(void **state)
{
    struct err err;
    struct world *world = world_for(state, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    sm_reroute(sim_manager(world->sim, manager), sim_now_ns(world->sim));
    struct vswitch_request request = {
        .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("alpha"), .hypervisor = "H11"};
    uint64_t ticket = sim_vm_submit(world->sim, manager, &request, &err);
    assert_false(sm_is_quiet(sim_manager(world->sim, manager)));
    const struct vswitch_result *result =
        sim_vm_wait(world->sim, manager, ticket, sim_now(world->sim) + 10 * TIME_S);
    assert_int_equal(result->state, VSWITCH_DONE);
    assert_false(result->rerouted);
    assert_true(result->began_ns > result->submitted_ns);
    check_world(world, manager);
}

/* A fabric with one machine that moves from H1 to H5, and the duration of that move. */
struct journey {
    struct world world;
    struct sm_config config;
    unsigned manager, lid;
    uint64_t ticket;
};

static void begin_move(struct journey *journey, bool dynamic)
{
    struct err err;
    struct vswitch_request request = {
        .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("alpha"), .hypervisor = "H5"};
    world_open(&journey->world, "today", "kary 2 3 vfs=3");
    sm_config_init(&journey->config);
    journey->config.dynamic_lids = dynamic;
    journey->manager = settle(&journey->world, host(&journey->world, "H0"), &journey->config);
    journey->lid =
        must(&journey->world, journey->manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED)
            .lid;
    journey->ticket = sim_vm_submit(journey->world.sim, journey->manager, &request, &err);
    assert_true(journey->ticket != 0);
}

static uint64_t time_undisturbed(bool dynamic)
{
    struct journey journey;
    begin_move(&journey, dynamic);
    const struct vswitch_result *result =
        sim_vm_wait(journey.world.sim, journey.manager, journey.ticket,
                    sim_now(journey.world.sim) + 10 * TIME_S);
    assert_int_equal(result->state, VSWITCH_DONE);
    uint64_t took = time_ns_to_ps(result->ended_ns - result->submitted_ns);
    world_close(&journey.world);
    return took;
}

static void must_be_at_one_place(struct journey *journey, unsigned manager, unsigned run)
{
    bool old = is_at(&journey->world, manager, "alpha", "H1", journey->lid);
    bool new = is_at(&journey->world, manager, "alpha", "H5", journey->lid);
    if (old == new)
        fail_msg("run %u: the machine is %s", run, old ? "at both places" : "lost");
    const char *wrong = world_fault(&journey->world, manager);
    if (wrong)
        fail_msg("run %u: %s", run, wrong);
}

enum { MOMENTS = 12 };

/* The manager is killed at each step, and another one without state finds the machine at the old or
 * at the new place. */
static void a_manager_that_is_killed_during_a_move_leaves_one_machine(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 2 * MOMENTS; run++) {
        struct journey journey;
        uint64_t took = time_undisturbed(run & 1);
        begin_move(&journey, run & 1);
        run_for(&journey.world, run / 2 * took / (MOMENTS - 1));
        sim_kill_manager(journey.world.sim, journey.manager);
        run_for(&journey.world, TIME_MS);
        unsigned manager = settle(&journey.world, host(&journey.world, "H2"), &journey.config);
        must_be_at_one_place(&journey, manager, run);
        must(&journey.world, manager, VSWITCH_MIGRATE, "alpha", "H7", VSWITCH_BALANCED);
        check_world(&journey.world, manager);
        must(&journey.world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
        assert_int_equal(places_of(&journey.world, vswitch_guid("alpha")), 0);
        check_world(&journey.world, manager);
        world_close(&journey.world);
    }
}

static void a_standby_that_takes_over_during_a_move_finds_one_machine(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 2 * MOMENTS; run += 3) {
        struct journey journey;
        uint64_t took = time_undisturbed(run & 1);
        begin_move(&journey, run & 1);
        const struct vswitch_result *result =
            sim_vm_wait(journey.world.sim, journey.manager, journey.ticket,
                        sim_now(journey.world.sim) + 10 * TIME_S);
        assert_int_equal(result->state, VSWITCH_DONE);
        unsigned standby =
            sim_add_manager(journey.world.sim, host(&journey.world, "H2"), &journey.config);
        for (unsigned i = 0; i < 200 && !sm_has_copy(sim_manager(journey.world.sim, standby)); i++)
            run_for(&journey.world, 100 * TIME_MS);
        assert_true(sm_has_copy(sim_manager(journey.world.sim, standby)));
        struct err err;
        struct vswitch_request back = {
            .verb = VSWITCH_MIGRATE, .guid = vswitch_guid("alpha"), .hypervisor = "H1"};
        assert_true(sim_vm_submit(journey.world.sim, journey.manager, &back, &err) != 0);
        run_for(&journey.world, run / 2 * took / (MOMENTS - 1));
        sim_kill_manager(journey.world.sim, journey.manager);
        run_for(&journey.world, 5 * TIME_S);
        assert_true(sim_run_until_settled(journey.world.sim, standby,
                                          sim_now(journey.world.sim) + 30 * TIME_S));
        run_for(&journey.world, 30 * TIME_S); /* its audit */
        assert_true(sim_run_until_settled(journey.world.sim, standby,
                                          sim_now(journey.world.sim) + 30 * TIME_S));
        must_be_at_one_place(&journey, standby, run);
        world_close(&journey.world);
    }
}

/* Routes that a new master keeps have the ranks with which they were computed. */
static void a_move_costs_no_more_after_a_takeover(void **state)
{
    struct world *world = world_for(state, "today", "kary 2 3 vfs=3");
    struct sm_config config = default_config();
    unsigned manager = settle(world, host(world, "H0"), &config);
    must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED);
    struct vswitch_result there =
        must(world, manager, VSWITCH_MIGRATE, "alpha", "H5", VSWITCH_BALANCED);
    unsigned standby = sim_add_manager(world->sim, host(world, "H2"), &config);
    for (unsigned i = 0; i < 200 && !sm_has_copy(sim_manager(world->sim, standby)); i++)
        run_for(world, 100 * TIME_MS);
    sim_kill_manager(world->sim, manager);
    run_for(world, 5 * TIME_S);
    assert_true(sim_run_until_settled(world->sim, standby, sim_now(world->sim) + 30 * TIME_S));
    struct vswitch_result back =
        must(world, standby, VSWITCH_MIGRATE, "alpha", "H1", VSWITCH_BALANCED);
    assert_false(back.rerouted);
    assert_int_equal(back.table_smps, there.table_smps);
    assert_int_equal(back.drains, there.drains);
    check_world(world, standby);
}

/* One of the two hypervisors fails during the move and comes back with its initial state, or its
 * agent is mute for a while. */
static void a_hypervisor_that_fails_during_a_move_leaves_one_machine(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 8 * MOMENTS; run += 3) {
        struct journey journey;
        struct err err = {0};
        bool dynamic = run & 1, target = run & 2, mute = run & 4;
        uint64_t took = time_undisturbed(dynamic);
        begin_move(&journey, dynamic);
        struct sim *sim = journey.world.sim;
        sim_run(sim, sim_now(sim) + run / 8 * took / (MOMENTS - 1));
        uint32_t node =
            topology_find(&journey.world.topology, target ? "H5-vswitch" : "H1-vswitch");
        if (mute)
            assert_int_equal(fabric_set_agent_delay(journey.world.fabric, node, TIME_NEVER, &err),
                             0);
        else
            assert_int_equal(fabric_set_node(journey.world.fabric, node, false, &err), 0);
        sim_run(sim, sim_now(sim) + 20 * TIME_S);
        assert_int_equal(vswitch_pending(sim_machines(sim, journey.manager)), 0);
        if (mute)
            assert_int_equal(fabric_set_agent_delay(journey.world.fabric, node, 0, &err), 0);
        else
            assert_int_equal(fabric_set_node(journey.world.fabric, node, true, &err), 0);
        sim_run(sim, sim_now(sim) + 30 * TIME_S);
        assert_true(sim_run_until_settled(sim, journey.manager, sim_now(sim) + 60 * TIME_S));
        unsigned places = places_of(&journey.world, vswitch_guid("alpha"));
        bool may_be_gone = !mute; /* it was at the hypervisor that failed */
        if (places > 1 || (places == 0 && !may_be_gone))
            fail_msg("run %u: the machine is at %u places", run, places);
        const char *wrong = world_fault(&journey.world, journey.manager);
        if (wrong)
            fail_msg("run %u: %s", run, wrong);
        world_close(&journey.world);
    }
}

static void lost_smps_only_delay_a_move(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 6; run++) {
        struct journey journey;
        struct err err = {0};
        struct world *world = &journey.world;
        begin_move(&journey, run & 1);
        assert_int_equal(fabric_set_loss(world->fabric, TOPOLOGY_NONE, 0, RNG_CERTAIN / 50, &err),
                         0);
        const struct vswitch_result *result = sim_vm_wait(
            world->sim, journey.manager, journey.ticket, sim_now(world->sim) + 60 * TIME_S);
        assert_int_not_equal(result->state, VSWITCH_PENDING);
        assert_int_equal(fabric_set_loss(world->fabric, TOPOLOGY_NONE, 0, 0, &err), 0);
        run_for(world, 30 * TIME_S);
        assert_true(
            sim_run_until_settled(world->sim, journey.manager, sim_now(world->sim) + 60 * TIME_S));
        must_be_at_one_place(&journey, journey.manager, run);
        world_close(world);
    }
}

static void a_machine_of_a_dead_hypervisor_starts_elsewhere_with_its_lid(void **state)
{
    (void)state;
    for (unsigned dynamic = 0; dynamic < 2; dynamic++) {
        struct world world;
        struct err err = {0};
        world_open(&world, "today", "kary 2 3 vfs=3");
        struct sm_config config = default_config();
        config.dynamic_lids = dynamic;
        unsigned manager = settle(&world, host(&world, "H0"), &config);
        unsigned lid = must(&world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED).lid;
        uint32_t node = topology_find(&world.topology, "H1-vswitch");
        fabric_set_node(world.fabric, node, false, &err);
        run_for(&world, 5 * TIME_S);
        assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + 30 * TIME_S));
        must(&world, manager, VSWITCH_CREATE, "alpha", "H6", VSWITCH_BALANCED);
        assert_true(is_at(&world, manager, "alpha", "H6", lid));
        check_world(&world, manager);
        fabric_set_node(world.fabric, node, true, &err);
        run_for(&world, 30 * TIME_S);
        assert_true(sim_run_until_settled(world.sim, manager, sim_now(world.sim) + 30 * TIME_S));
        assert_true(is_at(&world, manager, "alpha", "H6", lid));
        check_world(&world, manager);
        world_close(&world);
    }
}

static void lids_of_dead_machines_can_be_released(void **state)
{
    struct err err = {0};
    struct vswitch_vm machine;
    struct world *world = world_for(state, "today", "kary 2 3 vfs=3");
    struct sm_config config = default_config();
    config.dynamic_lids = true;
    unsigned manager = settle(world, host(world, "H0"), &config);
    unsigned lid = must(world, manager, VSWITCH_CREATE, "alpha", "H1", VSWITCH_BALANCED).lid;
    fabric_set_node(world->fabric, topology_find(&world->topology, "H1-vswitch"), false, &err);
    run_for(world, 5 * TIME_S);
    const struct subnet *subnet = sm_subnet(sim_manager(world->sim, manager));
    assert_true(
        vswitch_find_vm(sim_machines(world->sim, manager), vswitch_guid("alpha"), &machine));
    assert_false(machine.reachable);
    assert_int_not_equal(subnet->by_lid[lid], SUBNET_NONE);
    must(world, manager, VSWITCH_DESTROY, "alpha", NULL, VSWITCH_BALANCED);
    assert_int_equal(subnet->by_lid[lid], SUBNET_NONE);
}

/* The new place is read before the old one: for a while the machine is at both in the copy. */
static void a_standby_that_copied_during_a_move_has_the_right_place(void **state)
{
    struct world *world = world_for(state, "today", "kary 4 2 vfs=3");
    struct sm_config config = default_config();
    unsigned master = settle(world, host(world, "H0"), &config);
    struct vswitch_result created =
        must(world, master, VSWITCH_CREATE, "vm", "H9", VSWITCH_BALANCED);
    unsigned standby = sim_add_manager(world->sim, host(world, "H4"), &config);
    run_for(world, 10 * TIME_S);
    must(world, master, VSWITCH_MIGRATE, "vm", "H2", VSWITCH_BALANCED);
    run_for(world, 10 * TIME_S);
    assert_true(sm_has_copy(sim_manager(world->sim, standby)));
    sim_kill_manager(world->sim, master);
    run_for(world, 5 * TIME_S);
    assert_true(sim_run_until_settled(world->sim, standby, sim_now(world->sim) + 30 * TIME_S));
    assert_true(is_at(world, standby, "vm", "H2", created.lid));
    check_world(world, standby);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WORLD_TEST(functions_have_lids_and_routes_from_the_start),
        WORLD_TEST(a_vswitch_shares_the_lid_of_its_physical_function),
        WORLD_TEST(functions_without_machines_have_no_lid_when_lids_are_dynamic),
        cmocka_unit_test(hypervisors_are_written_before_switches),
        cmocka_unit_test(all_at_once_a_swap_inside_a_block_is_one_smp_to_each_switch),
        cmocka_unit_test(a_swap_keeps_the_load_of_every_port),
        cmocka_unit_test(a_copied_lid_has_the_entries_of_its_hypervisor),
        cmocka_unit_test(a_machine_is_created_moved_and_destroyed_with_prepopulated_lids),
        cmocka_unit_test(a_machine_is_created_moved_and_destroyed_with_dynamic_lids),
        cmocka_unit_test(a_minimal_move_inside_a_leaf_writes_one_switch),
        WORLD_TEST(a_machine_moves_from_end_to_end_of_a_long_line),
        WORLD_TEST(a_repeated_request_is_executed_once),
        WORLD_TEST(moves_at_the_same_time_share_blocks),
        WORLD_TEST(a_move_is_a_phase_of_the_manager),
        cmocka_unit_test(a_reroute_keeps_machines_and_their_lids),
        WORLD_TEST(a_request_during_a_change_waits_for_it),
        cmocka_unit_test(a_manager_that_is_killed_during_a_move_leaves_one_machine),
        cmocka_unit_test(a_standby_that_takes_over_during_a_move_finds_one_machine),
        WORLD_TEST(a_move_costs_no_more_after_a_takeover),
        cmocka_unit_test(a_hypervisor_that_fails_during_a_move_leaves_one_machine),
        cmocka_unit_test(lost_smps_only_delay_a_move),
        cmocka_unit_test(a_machine_of_a_dead_hypervisor_starts_elsewhere_with_its_lid),
        WORLD_TEST(lids_of_dead_machines_can_be_released),
        WORLD_TEST(a_standby_that_copied_during_a_move_has_the_right_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
