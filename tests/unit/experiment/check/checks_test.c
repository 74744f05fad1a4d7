/* Each check detects its violation: one thing at a time is changed in a fabric in order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/check/checks.h"
#include "topology/generators/generate.h"

#include <string.h>

struct world {
    struct topology topology;
    struct fabric *fabric;
    struct sim *sim;
    struct manager_instance instances[2];
    size_t instance_count;
    bool silent[128]; /* by node */
    struct check_failure failure;
};

static uint32_t node_of(const struct world *world, const char *name)
{
    uint32_t node = topology_find(&world->topology, name);
    assert_int_not_equal(node, TOPOLOGY_NONE);
    return node;
}

static uint32_t port_of(const struct world *world, const char *name, unsigned number)
{
    return topology_port_index(&world->topology, node_of(world, name), number);
}

static void make(struct world *world, const char *kind, const char *const *words, size_t count)
{
    struct fabric_options options;
    struct err err = {0};
    memset(world, 0, sizeof *world);
    topology_init(&world->topology);
    assert_int_equal(topology_generate(&world->topology, kind, words, count, 1, &err), 0);
    fabric_options_preset(&options, "today", &err);
    assert_true(world->topology.nodes.count <= sizeof world->silent / sizeof *world->silent);
    world->fabric = fabric_new(&world->topology, &options, 1);
    world->sim = sim_new(world->fabric);
}

static void add_manager(struct world *world, const char *name, unsigned port,
                        const struct engine *engine)
{
    struct sm_config config;
    sm_config_init(&config);
    config.engine = engine;
    config.lmc = engine->renames ? 2 : 0;
    config.engine_options.allow_cycles = true;
    uint32_t index = port_of(world, name, port);
    world->instances[world->instance_count++] =
        (struct manager_instance){index, sim_add_manager(world->sim, index, &config)};
}

static int set_up(void **state)
{
    struct world *world = mem_zalloc(1, sizeof *world);
    make(world, "figure1", NULL, 0);
    add_manager(world, "S1", 0, &engine_fera);
    sim_run(world->sim, TIME_S);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    sim_free(world->sim);
    fabric_free(world->fabric);
    topology_release(&world->topology);
    mem_free(world);
    return 0;
}

static bool holds(struct world *world, enum check_kind kind)
{
    struct check_view view = {world->fabric,         world->sim,    world->instances,
                              world->instance_count, world->silent, false};
    return check_holds(&view, kind, &world->failure);
}

/* Only this check fails, with this text. */
static void assert_only(struct world *world, enum check_kind kind, const char *text)
{
    for (enum check_kind other = 0; other < CHECK_KINDS; other++)
        if (holds(world, other) == (other == kind))
            fail_msg("check %d %s: %s", (int)other, other == kind ? "holds" : "fails",
                     world->failure.text);
    holds(world, kind);
    if (!strstr(world->failure.text, text))
        fail_msg("it says: %s", world->failure.text);
}

/* PortInfo of an agent, which the test overwrites. */
static uint8_t *info(struct world *world, const char *name, unsigned number)
{
    return (uint8_t *)(uintptr_t)fabric_port_info(world->fabric, port_of(world, name, number));
}

static uint8_t *table(struct world *world, const char *name)
{
    unsigned top;
    return (uint8_t *)(uintptr_t)fabric_linear_table(world->fabric, node_of(world, name), &top);
}

static unsigned lid_of(struct world *world, const char *name, unsigned port)
{
    return (unsigned)wire_get(info(world, name, port), PORT_INFO_LID);
}

static void a_fabric_that_was_brought_up_is_in_order(void **state)
{
    struct world *world = *state;
    struct check_view view = {world->fabric,         world->sim, world->instances,
                              world->instance_count, NULL,       false};
    assert_true(check_in_order(&view, &world->failure));
}

static void a_fabric_without_a_manager_is_not_in_order(void **state)
{
    struct world *world = *state;
    sim_kill_manager(world->sim, world->instances[0].manager);
    for (enum check_kind kind = 0; kind < CHECK_KINDS; kind++)
        assert_false(holds(world, kind));
    assert_string_equal(world->failure.text, "no manager is running");
}

static void an_inactive_port_is_detected(void **state)
{
    struct world *world = *state;
    wire_set(info(world, "S6", 3), PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
    assert_only(world, CHECK_ACTIVE, "'S6' port 3 is Armed");
}

static void a_duplicate_lid_is_detected(void **state)
{
    struct world *world = *state;
    wire_set(info(world, "H12", 1), PORT_INFO_LID, lid_of(world, "H7", 1));
    assert_false(holds(world, CHECK_LIDS_UNIQUE));
    assert_non_null(strstr(world->failure.text, "both have LID"));
    assert_false(holds(world, CHECK_REACHABLE));
}

static void overlapping_lid_ranges_are_detected(void **state)
{
    struct world *world = *state;
    wire_set(info(world, "H7", 1), PORT_INFO_LMC, 3);
    assert_false(holds(world, CHECK_LIDS_UNIQUE));
}

static void a_port_without_a_lid_is_detected(void **state)
{
    struct world *world = *state;
    wire_set(info(world, "H12", 1), PORT_INFO_LID, 0);
    assert_false(holds(world, CHECK_LIDS_UNIQUE));
    assert_non_null(strstr(world->failure.text, "'H12' has no LID"));
}

static void a_wrong_master_sm_lid_is_detected(void **state)
{
    struct world *world = *state;
    wire_set(info(world, "H12", 1), PORT_INFO_MASTER_SM_LID, 99);
    assert_only(world, CHECK_ONE_MASTER, "'H12' has MasterSMLID 99");
}

static void a_missing_entry_is_detected(void **state)
{
    struct world *world = *state;
    table(world, "S1")[lid_of(world, "H12", 1)] = 0xFF;
    assert_only(world, CHECK_REACHABLE, "not delivered");
}

static void a_loop_is_detected(void **state)
{
    struct world *world = *state;
    unsigned lid = lid_of(world, "H12", 1);
    table(world, "S1")[lid] = 1; /* to S2 … */
    table(world, "S2")[lid] = 1; /* … and back */
    assert_false(holds(world, CHECK_REACHABLE));
}

static void a_dependency_cycle_is_detected(void **state)
{
    static const char *const words[] = {"switches=5"};
    struct world *world = mem_zalloc(1, sizeof *world);
    tear_down(state);
    *state = world;
    make(world, "ring", words, 1);
    add_manager(world, "S0", 0, &engine_minhop);
    sim_run(world->sim, TIME_S);
    assert_only(world, CHECK_DEADLOCK_FREE, "VL 0");
}

/* A second fabric: engine dr, adapters with four LIDs each. */
static struct world *rename_destinations(void **state, const char *kind, const char *size)
{
    const char *const words[] = {size, "ports=8"};
    struct world *world = mem_zalloc(1, sizeof *world);
    tear_down(state);
    *state = world;
    make(world, kind, words, strcmp(kind, "irregular") == 0 ? 2 : 1);
    add_manager(world, "S0", 0, &engine_dr);
    sim_run(world->sim, TIME_S);
    struct check_view view = {world->fabric,         world->sim, world->instances,
                              world->instance_count, NULL,       false};
    if (!check_in_order(&view, &world->failure))
        fail_msg("it says: %s", world->failure.text);
    return world;
}

/* The LID of the first pair whose source does not use the base LID. */
static uint16_t find_renamed(struct world *world, uint32_t *source, uint32_t *destination)
{
    struct sm_paths paths = sm_paths(sim_manager(world->sim, world->instances[0].manager));
    assert_non_null(paths.network);
    for (uint32_t s = 0; s < paths.network->terminals.count; s++)
        for (uint32_t d = 0; d < paths.network->terminals.count; d++) {
            uint16_t dlid = path_lookup(paths.routes, paths.network, s, d).dlid;
            if (dlid == paths.network->terminals.items[d].lid)
                continue;
            *source = s;
            *destination = d;
            return dlid;
        }
    fail_msg("nothing is renamed");
    return 0;
}

static void a_missing_entry_of_a_renamed_path_is_detected(void **state)
{
    struct world *world = rename_destinations(state, "irregular", "switches=40");
    uint32_t source = 0, destination = 0;
    uint16_t dlid = find_renamed(world, &source, &destination);
    struct sm_paths paths = sm_paths(sim_manager(world->sim, world->instances[0].manager));
    uint32_t at = paths.network->terminals.items[source].at;
    uint8_t *entries = table(world, paths.network->switch_names.items[at]);
    entries[dlid] = 0xFF;
    assert_only(world, CHECK_REACHABLE, "not delivered");
    /* The other LIDs of the pair still work. */
    assert_int_not_equal(entries[paths.network->terminals.items[destination].lid], 0xFF);
}

static void a_missing_entry_that_no_pair_uses_is_ignored(void **state)
{
    struct world *world = rename_destinations(state, "ring", "switches=5");
    unsigned lid = lid_of(world, "H3", 1); /* which no pair of this ring renames */
    table(world, "S0")[lid + 3] = 0xFF;
    assert_true(holds(world, CHECK_REACHABLE));
    table(world, "S0")[lid] = 0xFF;
    assert_false(holds(world, CHECK_REACHABLE));
}

static void a_path_with_an_unassigned_lid_is_detected(void **state)
{
    struct world *world = rename_destinations(state, "irregular", "switches=40");
    uint32_t source = 0, destination = 0;
    find_renamed(world, &source, &destination);
    struct sm_paths paths = sm_paths(sim_manager(world->sim, world->instances[0].manager));
    wire_set(info(world, paths.network->terminal_names.items[destination], 1), PORT_INFO_LMC, 0);
    assert_only(world, CHECK_REACHABLE, "which has others");
}

/* The additional LIDs of adapters are routed clockwise: all pairs are delivered, but the
 * dependencies form a cycle. */
static void a_cycle_of_renamed_paths_is_detected(void **state)
{
    struct world *world = rename_destinations(state, "ring", "switches=5");
    for (unsigned i = 0; i < 5; i++) {
        char name[] = {'S', (char)('0' + i), 0}, next[] = {'S', (char)('0' + (i + 1) % 5), 0};
        uint8_t *entries = table(world, name), clockwise = 0;
        for (uint8_t port = 1; port <= 2; port++) {
            uint32_t peer = world->topology.ports.items[port_of(world, name, port)].peer;
            if (world->topology.ports.items[peer].node == node_of(world, next))
                clockwise = port;
        }
        assert_int_not_equal(clockwise, 0);
        for (unsigned h = 0; h < 5; h++) {
            char host[] = {'H', (char)('0' + h), 0};
            for (unsigned offset = 1; h != i && offset < 4; offset++)
                entries[lid_of(world, host, 1) + offset] = clockwise;
        }
    }
    assert_only(world, CHECK_DEADLOCK_FREE, "VL 0");
}

static void an_undiscovered_link_failure_is_detected(void **state)
{
    struct world *world = *state;
    fabric_set_link(world->fabric, port_of(world, "S2", 2), false, NULL);
    assert_false(holds(world, CHECK_DISCOVERED));
    assert_non_null(strstr(world->failure.text, "has a failed link at 'S2' port 2"));
}

static void an_undiscovered_node_is_detected(void **state)
{
    struct world *world = *state;
    fabric_set_node(world->fabric, node_of(world, "S6"), false, NULL);
    sim_run(world->sim, 30 * TIME_S);
    assert_true(holds(world, CHECK_DISCOVERED));
    fabric_set_node(world->fabric, node_of(world, "S6"), true, NULL);
    fabric_run(world->fabric, sim_now(world->sim) + TIME_S); /* links train, the manager sleeps */
    assert_false(holds(world, CHECK_DISCOVERED));
}

static void a_mute_node_belongs_to_no_part(void **state)
{
    struct world *world = *state;
    world->silent[node_of(world, "S6")] = true;
    assert_false(holds(world, CHECK_DISCOVERED));
    fabric_set_agent_delay(world->fabric, node_of(world, "S6"), TIME_NEVER, NULL);
    sim_run(world->sim, 30 * TIME_S);
    assert_true(holds(world, CHECK_DISCOVERED));
    world->silent[node_of(world, "S6")] = false;
    assert_false(holds(world, CHECK_DISCOVERED));
}

/* Cuts or restores the links between the switch of an adapter and other switches. */
static void set_part_of(struct world *world, const char *adapter, bool linked)
{
    const struct topology *topology = fabric_topology(world->fabric);
    uint32_t near = topology->ports.items[port_of(world, adapter, 1)].peer;
    uint32_t index = topology->ports.items[near].node;
    const struct topology_node *node = &topology->nodes.items[index];
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = topology->ports.items[node->first_port + number].peer;
        if (peer != TOPOLOGY_NONE &&
            topology->nodes.items[topology->ports.items[peer].node].kind == NODE_SWITCH)
            fabric_set_link(world->fabric, node->first_port + number, linked, NULL);
    }
}

static void a_manager_that_waits_for_its_link_is_in_no_part(void **state)
{
    struct world *world = *state;
    fabric_set_link(world->fabric, port_of(world, "H12", 1), false, NULL);
    sim_run(world->sim, sim_now(world->sim) + 20 * TIME_S);
    add_manager(world, "H12", 1, &engine_fera);
    sim_run(world->sim, sim_now(world->sim) + 20 * TIME_S);
    assert_true(sm_own_link_is_down(sim_manager(world->sim, world->instances[1].manager)));
    assert_true(holds(world, CHECK_SETTLED));
    world->instances[0] = world->instances[1];
    world->instance_count = 1;
    assert_false(holds(world, CHECK_SETTLED));
    assert_non_null(strstr(world->failure.text, "every manager waits for its own link"));
}

static void two_masters_are_detected(void **state)
{
    struct world *world = *state;
    set_part_of(world, "H12", false);
    sim_run(world->sim, sim_now(world->sim) + 20 * TIME_S);
    add_manager(world, "H12", 1, &engine_fera);
    sim_run(world->sim, sim_now(world->sim) + 20 * TIME_S);
    assert_true(holds(world, CHECK_ONE_MASTER)); /* each in its own part */
    set_part_of(world, "H12", true);
    fabric_run(world->fabric, sim_now(world->sim) + TIME_S);
    assert_false(holds(world, CHECK_ONE_MASTER));
    assert_non_null(strstr(world->failure.text, "two masters"));
}

static void a_busy_manager_is_detected(void **state)
{
    struct world *world = *state;
    sm_reroute(sim_manager(world->sim, world->instances[0].manager), sim_now_ns(world->sim));
    assert_only(world, CHECK_SETTLED, "still at work");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CLAIM(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        CLAIM(a_fabric_that_was_brought_up_is_in_order),
        CLAIM(a_fabric_without_a_manager_is_not_in_order),
        CLAIM(an_inactive_port_is_detected),
        CLAIM(a_duplicate_lid_is_detected),
        CLAIM(overlapping_lid_ranges_are_detected),
        CLAIM(a_port_without_a_lid_is_detected),
        CLAIM(a_wrong_master_sm_lid_is_detected),
        CLAIM(a_missing_entry_is_detected),
        CLAIM(a_loop_is_detected),
        CLAIM(a_dependency_cycle_is_detected),
        CLAIM(a_missing_entry_of_a_renamed_path_is_detected),
        CLAIM(a_missing_entry_that_no_pair_uses_is_ignored),
        CLAIM(a_path_with_an_unassigned_lid_is_detected),
        CLAIM(a_cycle_of_renamed_paths_is_detected),
        CLAIM(an_undiscovered_link_failure_is_detected),
        CLAIM(an_undiscovered_node_is_detected),
        CLAIM(a_mute_node_belongs_to_no_part),
        CLAIM(a_manager_that_waits_for_its_link_is_in_no_part),
        CLAIM(two_masters_are_detected),
        CLAIM(a_busy_manager_is_detected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
