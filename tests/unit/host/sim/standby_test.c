/* Standbys: a standby with a copy of the subnet takes over without changing correct state. */
#include "sim_world.h"

#include "base/mem.h"
#include "base/rng.h"

#include <string.h>

struct pair {
    struct world world;
    unsigned master, standby;
    uint64_t sets_of_standby; /* Sets that it sent while it was standby */
};

static void count_sets(void *context, uint64_t now, unsigned manager,
                       const struct sm_message *message)
{
    struct pair *pair = context;
    (void)now;
    bool stands_by =
        manager == pair->standby && sm_state(sim_manager(pair->world.sim, manager)) != SM_MASTER;
    pair->sets_of_standby += stands_by && wire_get(message->mad, MAD_METHOD) == METHOD_SET;
}

static struct sm_config pair_config(void)
{
    struct sm_config config = default_config();
    config.timeout_ns = 20 * NS_PER_MS;
    config.sweep_ns = 1 * NS_PER_S;
    config.drain_ns = 10 * NS_PER_MS;
    config.priority = 1;
    return config;
}

static void run_until_copied(struct pair *pair)
{
    uint64_t limit = sim_now(pair->world.sim) + 60 * TIME_S;
    while (!sm_has_copy(sim_manager(pair->world.sim, pair->standby)))
        assert_true(sim_step(pair->world.sim, limit));
}

static struct pair *open_pair_of(void **state, const struct sm_config *first,
                                 const struct sm_config *second)
{
    struct pair *pair = mem_zalloc(1, sizeof *pair);
    pair->standby = 1;
    world_open(&pair->world, "today", "irregular switches=12 ports=6 hosts=10");
    sim_set_listener(pair->world.sim, &(struct sim_listener){.context = pair, .sent = count_sets});
    pair->master = settle(&pair->world, host(&pair->world, "H0"), first);
    pair->standby = sim_add_manager(pair->world.sim, host(&pair->world, "H7"), second);
    *state = pair;
    return pair;
}

static struct pair *open_pair(void **state, const struct sm_config *config)
{
    struct sm_config better = *config;
    better.priority = 5;
    return open_pair_of(state, &better, config);
}

static struct pair *open_copied_pair(void **state)
{
    struct sm_config config = pair_config();
    struct pair *pair = open_pair(state, &config);
    run_until_copied(pair);
    return pair;
}

static int close_pair(void **state)
{
    struct pair *pair = *state;
    world_close(&pair->world);
    mem_free(pair);
    return 0;
}
#define PAIR_TEST(test) cmocka_unit_test_teardown(test, close_pair)

static void kill_master(struct pair *pair)
{
    sim_kill_manager(pair->world.sim, pair->master);
}

static void run_until_taken_over(struct pair *pair, uint64_t limit_ps)
{
    assert_true(
        sim_run_until_settled(pair->world.sim, pair->standby, sim_now(pair->world.sim) + limit_ps));
}

static uint32_t a_link_between_switches(const struct world *world)
{
    for (unsigned number = 1;; number++) {
        uint32_t port =
            topology_port_index(&world->topology, topology_find(&world->topology, "S3"), number);
        uint32_t peer = world->topology.ports.items[port].peer;
        if (peer != TOPOLOGY_NONE &&
            world->topology.nodes.items[world->topology.ports.items[peer].node].kind == NODE_SWITCH)
            return port;
    }
}

static void a_standby_with_a_copy_takes_over_without_reading_or_writing_tables(void **state)
{
    struct pair *pair = open_copied_pair(state);
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    kill_master(pair);
    run_until_taken_over(pair, 1 * TIME_S);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    assert_int_equal(after.tables - before.tables, 0);
    assert_int_equal(after.port_info_set - before.port_info_set, 12 + 10);
    assert_int_equal(after.switch_info - before.switch_info, 12); /* queries for changes */
    assert_int_equal(after.node_info - before.node_info, 0);
    /* Its own port, and those on the path to the previous master. */
    assert_true(after.port_info_get - before.port_info_get <= 1 + 6);
    struct sm_paths paths = sm_paths(sim_manager(pair->world.sim, pair->standby));
    assert_int_equal(paths.network->terminals.count, 10);
}

static void without_a_copy_it_reads_everything(void **state)
{
    struct sm_config config = pair_config();
    config.copy_rate = 0;
    struct pair *pair = open_pair(state, &config);
    run_for(&pair->world, 3 * TIME_S);
    assert_false(sm_has_copy(sim_manager(pair->world.sim, pair->standby)));
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    kill_master(pair);
    run_until_taken_over(pair, 1 * TIME_S);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    assert_int_equal(after.tables_read - before.tables_read, 12);
    assert_int_equal(after.tables - before.tables, 12);
}

static void a_standby_changes_nothing(void **state)
{
    struct sm_config config = pair_config();
    struct pair *pair = open_pair(state, &config);
    uint32_t link = a_link_between_switches(&pair->world);
    for (unsigned i = 0; i < 6; i++) {
        run_for(&pair->world, 1 * TIME_S);
        assert_int_equal(fabric_set_link(pair->world.fabric, link, i % 2, NULL), 0);
    }
    run_until_copied(pair);
    assert_int_equal(pair->sets_of_standby, 0);
}

static void the_copy_keeps_to_its_pace(void **state)
{
    struct sm_config config = pair_config();
    config.copy_rate = 100;
    struct pair *pair = open_pair(state, &config);
    while (sm_state(sim_manager(pair->world.sim, pair->standby)) != SM_STANDBY)
        assert_true(sim_step(pair->world.sim, 10 * TIME_S));
    uint64_t begin = sim_now(pair->world.sim);
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    run_until_copied(pair);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    uint64_t took = sim_now(pair->world.sim) - begin;
    assert_true(after.sent - before.sent <= 1.1 * 100 * (double)took / (double)TIME_S + 16);
}

static void the_copy_follows_what_the_master_does(void **state)
{
    struct pair *pair = open_copied_pair(state);
    assert_int_equal(
        fabric_set_link(pair->world.fabric, a_link_between_switches(&pair->world), false, NULL), 0);
    run_for(&pair->world, 1 * TIME_S);
    run_until_copied(pair);
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    kill_master(pair);
    run_until_taken_over(pair, 1 * TIME_S);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    assert_int_equal(after.tables - before.tables, 0);
    assert_true(all_delivered(&pair->world));
    assert_true(has_true_state(&pair->world, pair->standby));
}

static void a_change_just_before_the_masters_end_is_found(void **state)
{
    struct pair *pair = open_copied_pair(state);
    kill_master(pair);
    assert_int_equal(
        fabric_set_link(pair->world.fabric, a_link_between_switches(&pair->world), false, NULL), 0);
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    run_until_taken_over(pair, 1 * TIME_S);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    assert_int_equal(after.tables_read - before.tables_read, 0);
    assert_true(after.tables > before.tables);
    assert_true(all_delivered(&pair->world));
    assert_true(has_true_state(&pair->world, pair->standby));
}

/* A change of tables only: the master uses another engine. */
static void change_tables(struct pair *pair)
{
    struct sm_config other = pair_config();
    other.priority = 5;
    other.engine = engine_find("fera");
    sm_configure(sim_manager(pair->world.sim, pair->master), sim_now_ns(pair->world.sim), &other);
}

/* Kills the master at every step of a change: tables may be old, new or mixed. */
static void kill_during_change(unsigned steps, bool link)
{
    void *state;
    struct pair *pair = open_copied_pair(&state);
    if (link)
        fabric_set_link(pair->world.fabric, a_link_between_switches(&pair->world), false, NULL);
    else
        change_tables(pair);
    for (unsigned i = 0; i < steps; i++)
        sim_step(pair->world.sim, sim_now(pair->world.sim) + 1 * TIME_S);
    kill_master(pair);
    run_until_taken_over(pair, 2 * TIME_S);
    assert_true(all_delivered(&pair->world));
    assert_true(all_active(&pair->world));
    assert_true(has_true_state(&pair->world, pair->standby));
    close_pair(&state);
}

static void a_change_is_completed_after_the_masters_end(void **state)
{
    (void)state;
    for (unsigned steps = 1; steps < 500; steps += 4) {
        kill_during_change(steps, true);
        kill_during_change(steps, false);
    }
}

/* The master's notice of a change is lost, and it is killed before the next poll. The copy is
 * outdated; the audit detects that. */
static void an_outdated_copy_is_detected(void **state)
{
    struct pair *pair = open_copied_pair(state);
    struct sm_counts before = counts_of(&pair->world, pair->master);
    fabric_set_loss(pair->world.fabric, TOPOLOGY_NONE, ATTRIBUTE_SM_INFO, RNG_CERTAIN, NULL);
    change_tables(pair);
    while (counts_of(&pair->world, pair->master).tables < before.tables + 8)
        assert_true(sim_step(pair->world.sim, sim_now(pair->world.sim) + 1 * TIME_S));
    kill_master(pair);
    fabric_set_loss(pair->world.fabric, TOPOLOGY_NONE, ATTRIBUTE_SM_INFO, 0, NULL);
    run_until_taken_over(pair, 1 * TIME_S);
    assert_false(has_true_state(&pair->world, pair->standby));
    run_for(&pair->world, 5 * TIME_S);
    assert_true(sm_is_settled(sim_manager(pair->world.sim, pair->standby)));
    assert_true(has_true_state(&pair->world, pair->standby));
    assert_true(all_delivered(&pair->world));
}

/* The master's link fails, and no node answers for it. */
static void a_disconnected_master_is_replaced_within_a_second(void **state)
{
    struct sm_config config; /* by the defaults */
    sm_config_init(&config);
    struct pair *pair = open_pair(state, &config);
    run_until_copied(pair);
    uint32_t node = topology_find(&pair->world.topology, "H0");
    assert_int_equal(fabric_set_node(pair->world.fabric, node, false, NULL), 0);
    kill_master(pair);
    run_until_taken_over(pair, 1 * TIME_S);
    assert_true(all_delivered(&pair->world));
    assert_true(has_true_state(&pair->world, pair->standby));
}

static void lost_polls_cause_no_second_master(void **state)
{
    struct pair *pair = open_copied_pair(state);
    for (unsigned i = 0; i < 20; i++) {
        assert_int_equal(fabric_set_loss(pair->world.fabric, TOPOLOGY_NONE, ATTRIBUTE_SM_INFO,
                                         RNG_CERTAIN / 40, NULL),
                         0);
        run_for(&pair->world, 1 * TIME_S);
        assert_int_not_equal(sm_state(sim_manager(pair->world.sim, pair->standby)), SM_MASTER);
    }
    assert_int_equal(fabric_set_loss(pair->world.fabric, TOPOLOGY_NONE, ATTRIBUTE_SM_INFO, 0, NULL),
                     0);
    run_until_copied(pair);
    assert_int_equal(pair->sets_of_standby, 0);
}

static void a_handover_rewrites_no_correct_state(void **state)
{
    struct pair *pair = open_copied_pair(state);
    struct sm_counts before = counts_of(&pair->world, pair->standby);
    assert_true(
        sm_hand_over(sim_manager(pair->world.sim, pair->master), sim_now_ns(pair->world.sim)));
    run_until_taken_over(pair, 1 * TIME_S);
    struct sm_counts after = counts_of(&pair->world, pair->standby);
    assert_int_equal(after.tables - before.tables, 0);
    assert_int_equal(after.port_info_set - before.port_info_set, 12 + 10);
    /* The previous master makes a copy as standby. */
    uint64_t limit = sim_now(pair->world.sim) + 10 * TIME_S;
    while (!sm_has_copy(sim_manager(pair->world.sim, pair->master)))
        assert_true(sim_step(pair->world.sim, limit));
}

static void lids_of_the_last_master_override_remembered_ones(void **state)
{
    struct sm_config config = pair_config();
    struct pair *pair = open_pair(state, &config);
    sim_kill_manager(pair->world.sim, pair->standby);
    uint32_t port = host(&pair->world, "H5");
    uint64_t lid = wire_get(fabric_port_info(pair->world.fabric, port), PORT_INFO_LID);
    uint32_t own = host(&pair->world, "H3");
    struct sm *sm = sm_new(&config, fabric_port_guid(pair->world.fabric, own, 0));
    struct sm_lid_fact fact = {fabric_port_guid(pair->world.fabric, port, 0), 777, 0};
    sm_restore_lid(sm, &fact);
    pair->standby = sim_attach_manager(pair->world.sim, own, sm);
    run_until_copied(pair);
    kill_master(pair);
    run_until_taken_over(pair, 1 * TIME_S);
    assert_int_equal(wire_get(fabric_port_info(pair->world.fabric, port), PORT_INFO_LID), lid);
}

/* Two adapters exchanged their LIDs while another manager was master. */
static void lids_of_another_master_are_kept(void **state)
{
    struct sm_config config = pair_config();
    struct pair *pair = open_pair(state, &config);
    sim_kill_manager(pair->world.sim, pair->standby);
    uint32_t a = host(&pair->world, "H5"), b = host(&pair->world, "H6");
    uint64_t lid_a = wire_get(fabric_port_info(pair->world.fabric, a), PORT_INFO_LID);
    uint64_t lid_b = wire_get(fabric_port_info(pair->world.fabric, b), PORT_INFO_LID);
    uint32_t first = lid_a < lid_b ? b : a, second = lid_a < lid_b ? a : b;
    fabric_set_node(pair->world.fabric, pair->world.topology.ports.items[a].node, false, NULL);
    fabric_set_node(pair->world.fabric, pair->world.topology.ports.items[b].node, false, NULL);
    run_for(&pair->world, 2 * TIME_S);
    pair->standby = sim_add_manager(pair->world.sim, host(&pair->world, "H3"), &config);
    run_until_copied(pair);
    assert_true(
        sm_hand_over(sim_manager(pair->world.sim, pair->master), sim_now_ns(pair->world.sim)));
    run_until_taken_over(pair, 1 * TIME_S);
    fabric_set_node(pair->world.fabric, pair->world.topology.ports.items[first].node, true, NULL);
    run_for(&pair->world, 2 * TIME_S);
    fabric_set_node(pair->world.fabric, pair->world.topology.ports.items[second].node, true, NULL);
    run_for(&pair->world, 5 * TIME_S);
    assert_int_equal(wire_get(fabric_port_info(pair->world.fabric, a), PORT_INFO_LID), lid_b);
    assert_int_equal(wire_get(fabric_port_info(pair->world.fabric, b), PORT_INFO_LID), lid_a);
    sim_kill_manager(pair->world.sim, pair->standby);
    assert_true(sim_run_until_settled(pair->world.sim, pair->master,
                                      sim_now(pair->world.sim) + 2 * TIME_S));
    assert_int_equal(wire_get(fabric_port_info(pair->world.fabric, a), PORT_INFO_LID), lid_b);
    assert_int_equal(wire_get(fabric_port_info(pair->world.fabric, b), PORT_INFO_LID), lid_a);
}

static uint64_t guid_of(const struct sm *sm)
{
    return sm_subnet(sm)->ports.items[sm_subnet(sm)->own_port].guid;
}

/* The state after a request of the manager with this GUID. */
static unsigned state_after(struct sm *sm, uint64_t from, unsigned method, unsigned command)
{
    struct sm_message message = {.lid = LID_PERMISSIVE};
    struct sm_output output;
    wire_set(message.mad, MAD_BASE_VERSION, 1);
    wire_set(message.mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(message.mad, MAD_CLASS_VERSION, 1);
    wire_set(message.mad, MAD_METHOD, method);
    wire_set(message.mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_SM_INFO);
    wire_set(message.mad, MAD_ATTRIBUTE_MODIFIER, command);
    wire_set(message.mad + SMP_DATA_OFFSET, SM_INFO_GUID, from);
    wire_set(message.mad + SMP_DATA_OFFSET, SM_INFO_STATE, SM_MASTER);
    sm_receive(sm, 0, &message);
    while (sm_next_output(sm, 0, &output))
        if (output.kind == SM_SEND && wire_get(output.message.mad, MAD_METHOD) == METHOD_GET_RESP)
            return (unsigned)wire_get(output.message.mad + SMP_DATA_OFFSET, SM_INFO_STATE);
    return UINT32_MAX;
}

static void a_manager_that_was_disabled_answers_and_can_be_enabled(void **state)
{
    enum { DISABLE = 3, STANDBY = 4 };
    struct pair *pair = open_copied_pair(state);
    struct sm *sm = sim_manager(pair->world.sim, pair->standby);
    uint64_t master = guid_of(sim_manager(pair->world.sim, pair->master));
    assert_int_equal(state_after(sm, master + 1, METHOD_SET, DISABLE), SM_STANDBY);
    assert_int_equal(state_after(sm, master, METHOD_SET, DISABLE), SM_NOT_ACTIVE);
    assert_int_equal(state_after(sm, master, METHOD_GET, 0), SM_NOT_ACTIVE);
    kill_master(pair);
    run_for(&pair->world, 5 * TIME_S);
    assert_int_equal(sm_state(sm), SM_NOT_ACTIVE);
    assert_int_equal(state_after(sm, master, METHOD_SET, STANDBY), SM_STANDBY);
    run_until_taken_over(pair, 5 * TIME_S);
    assert_int_equal(sm_state(sm), SM_MASTER);
}

/* The node of a dead manager does not answer SMInfo queries. Defaults, with a shorter sweep. */
static void a_dead_master_that_does_not_answer_is_replaced_within_a_second(void **state)
{
    struct err err = {0};
    struct sm_config config = default_config();
    config.priority = 1;
    struct pair *pair = open_pair(state, &config);
    run_until_copied(pair);
    assert_int_equal(fabric_set_loss(pair->world.fabric, host(&pair->world, "H0"),
                                     ATTRIBUTE_SM_INFO, RNG_CERTAIN, &err),
                     0);
    kill_master(pair);
    run_until_taken_over(pair, TIME_S);
    assert_int_equal(sm_state(sim_manager(pair->world.sim, pair->standby)), SM_MASTER);
}

/* Managers with IsSM that do not answer are logged once. In a small subnet their time-outs are a
 * large part of all requests. */
static void managers_that_do_not_answer_block_no_other(void **state)
{
    struct world *world = world_for(state, "today", "irregular switches=3 ports=8 hosts=8");
    const char *const hung[] = {"H1", "H2", "H3", "H4", "H5", "H6"};
    struct sm_config config = default_config();
    config.sweep_ns = 1 * NS_PER_S;
    unsigned master = settle(world, host(world, "H0"), &config);
    for (unsigned i = 0; i < 6; i++) {
        unsigned other = sim_add_manager(world->sim, host(world, hung[i]), &config);
        while (!sm_has_copy(sim_manager(world->sim, other)))
            assert_true(sim_step(world->sim, 60 * TIME_S));
        assert_int_equal(fabric_set_loss(world->fabric, host(world, hung[i]), ATTRIBUTE_SM_INFO,
                                         RNG_CERTAIN, NULL),
                         0);
        sim_kill_manager(world->sim, other);
        fabric_set_manager(world->fabric, host(world, hung[i]), true);
    }
    run_for(world, 10 * TIME_S);
    for (unsigned i = 0; i < 40; i++) { /* apart from outstanding requests */
        run_for(world, 1730 * TIME_MS);
        assert_int_equal(fabric_set_link(world->fabric, host(world, "H7"), i % 2, NULL), 0);
        run_for(world, 50 * TIME_MS);
        assert_true(has_true_state(world, master));
        run_for(world, 250 * TIME_MS);
        assert_true(sm_is_settled(sim_manager(world->sim, master)));
    }
    assert_true(all_delivered(world));
}

static enum sm_state state_of(struct pair *pair, unsigned manager)
{
    return sm_state(sim_manager(pair->world.sim, manager));
}

/* The managers differ in their GUIDs only: a requested handover persists, between two managers as
 * among three. */
static void a_handover_between_equals_persists(void **state)
{
    struct sm_config config = pair_config();
    config.priority = 0;
    struct pair *pair = open_pair_of(state, &config, &config);
    run_until_copied(pair);
    unsigned third = sim_add_manager(pair->world.sim, host(&pair->world, "H5"), &config);
    run_for(&pair->world, 2 * TIME_S);
    assert_true(
        sm_hand_over(sim_manager(pair->world.sim, pair->master), sim_now_ns(pair->world.sim)));
    run_for(&pair->world, 10 * TIME_S);
    assert_int_equal(state_of(pair, pair->master), SM_STANDBY);
    assert_int_equal(
        (state_of(pair, pair->standby) == SM_MASTER) + (state_of(pair, third) == SM_MASTER), 1);
    /* It takes over again if it is the only manager. */
    sim_kill_manager(pair->world.sim, third);
    sim_kill_manager(pair->world.sim, pair->standby);
    run_for(&pair->world, 10 * TIME_S);
    assert_int_equal(state_of(pair, pair->master), SM_MASTER);
}

/* It still copies the registrations; the wait for that is limited. */
static void a_handover_waits_for_a_standby_that_copies_registrations(void **state)
{
    struct sm_config config = pair_config(), better = config;
    config.sweep_ns = 100 * NS_PER_MS;
    struct pair *pair = open_pair_of(state, &config, &config);
    better.priority = 9;
    unsigned newcomer = sim_add_manager(pair->world.sim, host(&pair->world, "H5"), &better);
    sm_set_syncing(sim_manager(pair->world.sim, newcomer), true);
    run_for(&pair->world, 1500 * TIME_MS);
    assert_int_equal(state_of(pair, newcomer), SM_STANDBY);
    assert_int_equal(state_of(pair, pair->master), SM_MASTER);
    run_for(&pair->world, 1500 * TIME_MS);
    assert_int_equal(state_of(pair, newcomer), SM_MASTER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        PAIR_TEST(a_dead_master_that_does_not_answer_is_replaced_within_a_second),
        PAIR_TEST(a_standby_with_a_copy_takes_over_without_reading_or_writing_tables),
        PAIR_TEST(without_a_copy_it_reads_everything),
        PAIR_TEST(a_standby_changes_nothing),
        PAIR_TEST(the_copy_keeps_to_its_pace),
        PAIR_TEST(the_copy_follows_what_the_master_does),
        PAIR_TEST(a_change_just_before_the_masters_end_is_found),
        cmocka_unit_test(a_change_is_completed_after_the_masters_end),
        PAIR_TEST(an_outdated_copy_is_detected),
        PAIR_TEST(a_disconnected_master_is_replaced_within_a_second),
        PAIR_TEST(lost_polls_cause_no_second_master),
        PAIR_TEST(a_handover_rewrites_no_correct_state),
        PAIR_TEST(lids_of_the_last_master_override_remembered_ones),
        PAIR_TEST(lids_of_another_master_are_kept),
        PAIR_TEST(a_manager_that_was_disabled_answers_and_can_be_enabled),
        WORLD_TEST(managers_that_do_not_answer_block_no_other),
        PAIR_TEST(a_handover_between_equals_persists),
        PAIR_TEST(a_handover_waits_for_a_standby_that_copies_registrations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
