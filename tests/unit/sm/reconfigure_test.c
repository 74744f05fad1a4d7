/* Reconfiguration: from a change to correct tables, with further changes and faults meanwhile. */
#include "tables.h"

#include <string.h>

/* ---- bring-up and idle ---- */

static void a_blank_subnet_comes_up_with_the_tables_of_sm_paths(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_assert_up(toy);
    assert_int_equal(toy->jobs, 1);
    assert_int_equal(sm_paths(toy->sm).network->switches.count, 4);
    assert_int_equal(sm_paths(toy->sm).network->terminals.count, 4);
}

static void there_are_no_paths_before_the_last_block_is_acknowledged(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, ring);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, "S3", LFT, METHOD_SET, 1});
    toy_start_manager(toy, "H1", &config);
    toy_run(toy, TOY_TIMEOUT);
    assert_true(toy_delivers(toy)); /* but not all blocks are acknowledged */
    assert_null(sm_paths(toy->sm).network);
    toy_settle(toy);
    assert_non_null(sm_paths(toy->sm).network);
}

static void a_settled_manager_sends_nothing_before_the_next_sweep(void **state)
{
    struct toy *toy = toy_up(state, ring);
    assert_true(sm_deadline(toy->sm) > toy->now + TOY_SWEEP / 2);
    toy_run(toy, sm_deadline(toy->sm) - toy->now - 1);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_SWITCH_INFO, METHOD_GET), 4);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 5); /* four switches and its own port */
    assert_int_equal(toy->jobs, 1);
}

static void without_sweeps_a_settled_manager_has_no_deadline(void **state)
{
    struct toy *toy = toy_up_with(state, ring, toy_config_sweeping(TOY_NEVER));
    assert_int_equal(sm_deadline(toy->sm), TOY_NEVER);
}

static void no_link_is_active_before_the_tables_of_its_switches_are_acknowledged(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, ring);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, "S3", LFT, METHOD_SET, 1});
    toy_start_manager(toy, "H1", &config);
    toy_run(toy, TOY_TIMEOUT);
    for (unsigned port = 1; port <= TOY_PORTS; port++)
        assert_true(state_of_port(&toy_node(toy, "S3")->ports[port]) <= PORT_STATE_ARMED);
    assert_int_equal(state_of_port(&toy_node(toy, "H3")->ports[1]), PORT_STATE_ARMED);
    assert_int_equal(state_of_port(&toy_node(toy, "H1")->ports[1]), PORT_STATE_ACTIVE);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void assert_no_end_is_active_alone(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned number = 1; number <= toy->nodes[i]->port_count; number++) {
            const struct toy_port *port = &toy->nodes[i]->ports[number];
            if (port->peer && state_of_port(port) == PORT_STATE_ACTIVE)
                assert_true(state_of_port(&port->peer->ports[port->peer_port]) >= PORT_STATE_ARMED);
        }
}

static void no_port_becomes_active_before_the_other_end_is_armed(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, ring);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET, 1});
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "S2", ATTRIBUTE_PORT_INFO, METHOD_SET, 3});
    toy_start_manager(toy, "H1", &config);
    toy_settle_watched(toy, assert_no_end_is_active_alone);
    toy_assert_up(toy);
}

/* ---- links and switches ---- */

static void a_lost_link_is_repaired_after_its_trap(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t began = toy->now, paths = sm_paths(toy->sm).generation;
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_true(toy->now - began < TOY_MS + TOY_DRAIN);
    assert_true(table_writes(toy) > 0);
    assert_int_equal(toy->jobs, 2);
    assert_true(sm_paths(toy->sm).generation != paths);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_NOTICE, METHOD_TRAP_REPRESS), 1);
    assert_int_equal(toy_count(toy, "S4", ATTRIBUTE_PORT_INFO, METHOD_GET), 0); /* not affected */
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET), 0);
    toy_assert_up(toy);
}

static void a_link_that_returns_is_used_again(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2");
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_false(toy_has_node(toy, "S2"));
    assert_false(toy_has_node(toy, "H2"));
    toy_link(toy, "S1", "S2");
    toy_settle(toy);
    assert_int_equal(toy_present(toy), 4);
    toy_assert_up(toy);
}

static void a_lost_switch_is_routed_around(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_switch_off(toy, "S2");
    toy_settle(toy);
    assert_false(toy_has_node(toy, "S2"));
    assert_false(toy_has_node(toy, "H2"));
    assert_true(toy_has_tables(toy));
    toy_switch_off(toy, "H2"); /* so that it is not probed any more */
    assert_true(toy_delivers(toy));
    assert_true(toy_is_active(toy));
}

static void a_switch_that_returns_after_a_reset_is_written_again_with_its_lid(void **state)
{
    struct toy *toy = toy_up(state, ring);
    unsigned lid = toy_lid(toy, "S2", 0);
    toy_switch_off(toy, "S2");
    toy_settle(toy);
    toy_switch_on(toy, "S2");
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "S2", 0), lid);
    toy_assert_up(toy);
}

/* The switch fails and returns, reset, before it is read. */
static void a_switch_that_was_reset_is_written_again(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_switch_off(toy, "S3");
    toy_switch_on(toy, "S3");
    toy_settle(toy);
    toy_assert_up(toy);
}

/* Only one of its neighbors can send a trap. */
static void one_trap_suffices_to_find_a_failed_switch(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy->traps = false;
    toy_switch_off(toy, "S2");
    toy_trap(toy, "S1", 128);
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_false(toy_has_node(toy, "S2"));
    assert_true(sm_is_settled(toy->sm));
    assert_int_equal(toy_count(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET), 1);
}

/* A reset without a change of a link state. */
static void clear_table(struct toy_node *node)
{
    memset(node->lft, PORT_NONE, sizeof node->lft);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP, 0);
}

static void a_switch_that_lost_its_table_is_written_again_after_a_sweep(void **state)
{
    struct toy *toy = toy_up(state, ring);
    clear_table(toy_node(toy, "S3"));
    toy_run(toy, TOY_SWEEP / 2);
    assert_false(toy_delivers(toy));
    toy_run(toy, TOY_SWEEP);
    assert_int_equal(toy_count(toy, "S3", LFT, METHOD_SET), 1);
    assert_int_equal(table_writes(toy), 1);
    toy_assert_up(toy);
}

static void a_switch_that_was_reset_is_written_again_after_a_new_link(void **state)
{
    struct toy *toy = toy_up(state, ring);
    memset(toy_node(toy, "S3")->lft, PORT_NONE, TOY_LFT);
    wire_set(toy_node(toy, "S3")->ports[0].info, PORT_INFO_LID, 0);
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_trap_from_an_unknown_lid_is_ignored(void **state)
{
    struct toy *toy = toy_up(state, ring);
    wire_set(toy_node(toy, "S3")->ports[0].info, PORT_INFO_LID, 500);
    toy_trap(toy, "S3", 128);
    toy_run(toy, TOY_MS);
    assert_true(toy_logged(toy, "trap 128 from unknown LID 500"));
    assert_int_equal(toy_count(toy, NULL, 0, METHOD_TRAP_REPRESS), 1);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 1);
}

static void a_new_switch_is_written_before_tables_lead_to_it(void **state)
{
    struct toy *toy = toy_up(state, "S1-H1 S2-H2");
    toy_link(toy, "S1", "S2");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_sweep_finds_a_change_without_a_trap(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy->traps = false;
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_SWEEP / 2);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
    assert_false(toy_delivers(toy));
    toy_run(toy, TOY_SWEEP);
    toy_assert_up(toy);
}

/* Another node has cleared PortStateChange. */
static void a_full_sweep_finds_a_change_that_no_switch_reports(void **state)
{
    struct sm_config config = toy_config();
    config.full_every = 3;
    struct toy *toy = toy_up_with(state, ring, config);
    toy->traps = false;
    toy_cut(toy, "S3", "S4"); /* not on the path of any SMP */
    for (unsigned i = 0; i < toy->node_count; i++)
        wire_set(toy->nodes[i]->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    toy_run(toy, 2 * TOY_SWEEP + TOY_SWEEP / 2);
    assert_false(toy_delivers(toy));
    toy_run(toy, TOY_SWEEP);
    toy_assert_up(toy);
}

static void with_scope_full_a_change_explores_everything(void **state)
{
    struct sm_config config = toy_config();
    config.scope_full = true;
    struct toy *toy = toy_up_with(state, ring, config);
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_true(toy_count(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET) > 0);
    toy_assert_up(toy);
}

static void traps_of_a_trap_storm_are_ignored(void **state)
{
    struct toy *toy = toy_up(state, ring);
    for (unsigned i = 0; i < 200; i++)
        toy_trap(toy, "S3", 128);
    toy_settle(toy);
    assert_true(toy_logged(toy, "too many traps from S3"));
    assert_in_range(toy_count(toy, "S3", ATTRIBUTE_SWITCH_INFO, METHOD_SET), 1, 60);
    toy_assert_up(toy);
}

static void an_invalid_top_of_a_forwarding_table_is_ignored(void **state)
{
    const struct sm_config config = toy_config();
    struct toy *toy = toy_up(state, ring);
    struct toy_node *node = toy_node(toy, "S3");
    toy_kill(toy, 0);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP, UINT16_MAX);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP, UINT16_MAX);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_in_range(wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP), 8, 16);
    assert_true(toy_delivers(toy));
}

/* With its own link the manager loses the path to its other port, for which blocks are planned. */
static void a_manager_whose_own_link_was_down_configures_its_second_port(void **state)
{
    const struct toy_rule lost = {TOY_LOSE, "H1", ATTRIBUTE_VL_ARBITRATION_TABLE, 0, 1000};
    struct sm_config config = toy_config();
    config.engine = engine_find("dfsssp");
    struct toy *toy = toy_open(state, "S1-S2 S2-S3 S3-S1 S1-H1 S2-H1 S3-H3");
    toy_add_rule(toy, lost);
    toy_start_manager(toy, "H1", &config);
    toy_run_until_sent(toy, "H1", ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_cut(toy, "S1", "H1");
    toy_run(toy, TOY_SWEEP / 2);
    assert_int_equal(toy_present(toy), 5);
    assert_true(sm_own_link_is_down(toy->sm));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
    assert_true(may_send(toy, "H1", 2));
}

/* ---- refusals ---- */

/* The switch has executed the first Set, although the manager sees only a refusal. */
static void a_refusal_after_a_lost_answer_leaves_the_block_unknown(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S1 S1-H1 S2-H2 S3-H3");
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, "S1", LFT, METHOD_SET, 1});
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "S1", LFT, METHOD_SET, 1});
    toy->traps = true;
    toy_cut(toy, "S1", "S2");
    toy_run(toy, 10 * TOY_S);
    toy_link(toy, "S1", "S2"); /* the old block is wanted again */
    toy_run(toy, 10 * TOY_S);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void the_summary_of_a_change_names_what_is_missing(void **state)
{
    struct toy *toy = toy_open(state, "S1-S2 S1-H1 S2-H2 S2-H3");
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    struct text first = {0};
    toy_node(toy, "H3")->mute = true;
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "subnet up, except for 1 problem (S2 port 3"));
    assert_int_equal(sm_exceptions(toy->sm, toy->now, &first), 1);
    assert_non_null(strstr(first.data, "does not answer SMPs"));
    text_release(&first);
    toy_node(toy, "H3")->mute = false;
    toy_run(toy, 30 * TOY_S);
    toy_settle(toy);
    assert_int_equal(sm_exceptions(toy->sm, toy->now, NULL), 0);
    assert_true(toy_logged(toy, "subnet up: 2 switches, 3 adapters"));
}

static void a_refused_block_is_logged_once_and_retried_by_sweeps(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "S3", LFT, METHOD_SET, 1000});
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "refuses table block 0"));
    assert_int_equal(toy_count(toy, "S3", LFT, METHOD_SET), 1);
    assert_false(toy_delivers(toy));
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_false(toy_logged(toy, "refuses table block 0"));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_trap(toy, "S3", 128);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void a_port_that_refuses_its_settings_delays_no_other_port(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET, 1000});
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "refuses its settings"));
    assert_int_equal(toy_count(toy, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET), 3);
    assert_true(toy_has_tables(toy));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void refused_settings_of_a_switch_are_logged_once_and_retried_by_sweeps(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "S3", ATTRIBUTE_SWITCH_INFO, METHOD_SET, 1000});
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "refuses its settings (status 0x1c): its top LID stays 0"));
    assert_in_range(toy_count(toy, "S3", ATTRIBUTE_SWITCH_INFO, METHOD_SET), 1, 3);
    toy_mark(toy);
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    assert_true(wire_get(toy_node(toy, "S3")->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) >= 8);
    toy_assert_up(toy);
}

static void a_switch_that_does_not_answer_a_set_is_removed(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "S4", LFT, METHOD_SET, 1000});
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_true(toy_logged(toy, "\"S4\" is out of reach"));
    assert_false(toy_has_node(toy, "S4"));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void without_new_routes_the_old_ones_stay(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t job = sm_paths(toy->sm).job;
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    assert_true(
        toy_logged(toy, "route computation failed, keeping previous tables: the toy refuses"));
    assert_true(toy_logged(toy, "the subnet is not up"));
    assert_int_equal(table_writes(toy), 0);
    assert_int_equal(sm_paths(toy->sm).job, job);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    toy_assert_up(toy);
}

/* ---- on request ---- */

static void sm_reroute_computes_all_tables(void **state)
{
    struct toy *toy = toy_up(state, ring);
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    assert_int_equal(toy->jobs, 2);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0); /* they are the same */
    toy_assert_up(toy);
}

static void a_hybrid_engine_computes_twice(void **state)
{
    struct sm_config config = toy_config();
    config.engine = engine_find("pira+fera");
    struct toy *toy = toy_up_with(state, ring, config);
    assert_int_equal(toy->jobs, 2);
    toy_assert_up(toy);
}

static void a_hybrid_engine_without_final_tables_keeps_the_provisional_ones(void **state)
{
    struct sm_config config = toy_config();
    config.engine = engine_find("pira+fera");
    struct toy *toy = toy_open(state, ring);
    toy->hold_jobs = true;
    toy_start_manager(toy, "H1", &config);
    while (!toy->job)
        toy_run(toy, TOY_LATENCY);
    toy->hold_jobs = false;
    toy_compute(toy);
    toy->refuse_jobs = true;
    toy_settle(toy);
    assert_int_equal(toy->jobs, 2);
    assert_true(toy_logged(toy, "the subnet is not up"));
    assert_true(toy_delivers(toy));
}

static void new_settings_are_written_to_every_port(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_config config = toy_config();
    config.subnet_timeout = 11;
    sm_configure(toy->sm, toy->now, &config);
    toy_settle(toy);
    toy_run(toy, TOY_MS);
    assert_int_equal(wire_get(toy_node(toy, "H3")->ports[1].info, PORT_INFO_SUBNET_TIME_OUT), 11);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 8); /* end ports */
    assert_int_equal(toy->jobs, 1);
}

/* ---- balance ---- */

static void a_sweep_rebalances_links_after_repairs(void **state)
{
    struct sm_config config = toy_config();
    config.rebalance = 120;
    struct toy *toy = toy_up_with(state, "S1-S2 S1-S2 S1-H1 S1-H3 S2-H2 S2-H4", config);
    toy_cut(toy, "S1", "S2"); /* one link carries all traffic */
    toy_settle(toy);
    assert_int_equal(toy->jobs, 2);
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_true(toy_logged(toy, "links are used unevenly after repairs"));
    assert_true(toy_logged(toy, "the tables stay as they are: new tables are not more even"));
    assert_int_equal(toy->jobs, 3); /* once */
    assert_int_equal(table_writes(toy), 0);
    toy_assert_up(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_blank_subnet_comes_up_with_the_tables_of_sm_paths),
        TOY_TEST(there_are_no_paths_before_the_last_block_is_acknowledged),
        TOY_TEST(a_settled_manager_sends_nothing_before_the_next_sweep),
        TOY_TEST(without_sweeps_a_settled_manager_has_no_deadline),
        TOY_TEST(no_link_is_active_before_the_tables_of_its_switches_are_acknowledged),
        TOY_TEST(no_port_becomes_active_before_the_other_end_is_armed),
        TOY_TEST(a_lost_link_is_repaired_after_its_trap),
        TOY_TEST(a_link_that_returns_is_used_again),
        TOY_TEST(a_lost_switch_is_routed_around),
        TOY_TEST(a_switch_that_returns_after_a_reset_is_written_again_with_its_lid),
        TOY_TEST(a_switch_that_was_reset_is_written_again),
        TOY_TEST(one_trap_suffices_to_find_a_failed_switch),
        TOY_TEST(a_switch_that_lost_its_table_is_written_again_after_a_sweep),
        TOY_TEST(a_switch_that_was_reset_is_written_again_after_a_new_link),
        TOY_TEST(a_trap_from_an_unknown_lid_is_ignored),
        TOY_TEST(a_new_switch_is_written_before_tables_lead_to_it),
        TOY_TEST(a_sweep_finds_a_change_without_a_trap),
        TOY_TEST(a_full_sweep_finds_a_change_that_no_switch_reports),
        TOY_TEST(with_scope_full_a_change_explores_everything),
        TOY_TEST(traps_of_a_trap_storm_are_ignored),
        TOY_TEST(an_invalid_top_of_a_forwarding_table_is_ignored),
        TOY_TEST(a_manager_whose_own_link_was_down_configures_its_second_port),
        TOY_TEST(a_refusal_after_a_lost_answer_leaves_the_block_unknown),
        TOY_TEST(the_summary_of_a_change_names_what_is_missing),
        TOY_TEST(a_refused_block_is_logged_once_and_retried_by_sweeps),
        TOY_TEST(a_port_that_refuses_its_settings_delays_no_other_port),
        TOY_TEST(refused_settings_of_a_switch_are_logged_once_and_retried_by_sweeps),
        TOY_TEST(a_switch_that_does_not_answer_a_set_is_removed),
        TOY_TEST(without_new_routes_the_old_ones_stay),
        TOY_TEST(sm_reroute_computes_all_tables),
        TOY_TEST(a_hybrid_engine_computes_twice),
        TOY_TEST(a_hybrid_engine_without_final_tables_keeps_the_provisional_ones),
        TOY_TEST(new_settings_are_written_to_every_port),
        TOY_TEST(a_sweep_rebalances_links_after_repairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
