/* Reconfiguration: from a change to tables that are right again, whatever happens meanwhile. */
#include "toy.h"

#include <string.h>

enum { LFT = ATTRIBUTE_LINEAR_FORWARDING_TABLE };

static const char ring[] = "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4";
static const char long_ring[] = "S1-S2 S2-S3 S3-S4 S4-S5 S5-S6 S6-S1 S1-H1 S2-H2 S4-H4 S6-H6";

static struct toy *up_with(void **state, const char *links, struct sm_config config)
{
    struct toy *toy = toy_open(state, links);
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    toy_mark(toy);
    return toy;
}

static unsigned table_writes(const struct toy *toy)
{
    return toy_count(toy, NULL, LFT, METHOD_SET);
}

/* ---- bring-up and rest ---- */

static void a_blank_subnet_comes_up_with_the_tables_that_paths_name(void **state)
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
    toy_meddle(toy, (struct toy_rule){TOY_LOSE_ANSWER, "S3", LFT, METHOD_SET, 1});
    toy_seat(toy, "H1", &config);
    toy_run(toy, TOY_TIMEOUT);
    assert_true(toy_delivers(toy)); /* but nobody has said so */
    assert_null(sm_paths(toy->sm).network);
    toy_settle(toy);
    assert_non_null(sm_paths(toy->sm).network);
}

static void a_settled_manager_does_nothing_before_its_next_sweep(void **state)
{
    struct toy *toy = toy_up(state, ring);
    assert_true(sm_deadline(toy->sm) > toy->now + TOY_SWEEP / 2);
    toy_run(toy, sm_deadline(toy->sm) - toy->now - 1);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
    toy_run(toy, TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_SWITCH_INFO, METHOD_GET), 4);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 5); /* and its own port */
    assert_int_equal(toy->jobs, 1);
}

static void without_sweeps_a_settled_manager_has_no_deadline(void **state)
{
    struct toy *toy = up_with(state, ring, toy_config_sweeping(TOY_NEVER));
    assert_int_equal(sm_deadline(toy->sm), TOY_NEVER);
}

static unsigned state_of_port(const struct toy_port *port)
{
    return (unsigned)wire_get(port->info, PORT_INFO_PORT_STATE);
}

static void no_link_is_active_before_the_tables_of_its_switches_are_acknowledged(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, ring);
    toy_meddle(toy, (struct toy_rule){TOY_LOSE_ANSWER, "S3", LFT, METHOD_SET, 1});
    toy_seat(toy, "H1", &config);
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
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET, 1});
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "S2", ATTRIBUTE_PORT_INFO, METHOD_SET, 3});
    toy_seat(toy, "H1", &config);
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
    assert_int_equal(toy_count(toy, "S4", ATTRIBUTE_PORT_INFO, METHOD_GET), 0); /* not concerned */
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET), 0);
    toy_assert_up(toy);
}

static void a_link_that_returns_is_used_again(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2");
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_false(toy_knows(toy, "S2"));
    assert_false(toy_knows(toy, "H2"));
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
    assert_false(toy_knows(toy, "S2"));
    assert_false(toy_knows(toy, "H2"));
    assert_true(toy_has_tables(toy));
    toy_switch_off(toy, "H2"); /* so that it is not asked for any more */
    assert_true(toy_delivers(toy));
    assert_true(toy_is_active(toy));
}

static void a_switch_that_returns_blank_is_written_again_with_its_lid(void **state)
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

/* Faster than anybody can look: it was down and is up again, and blank. */
static void a_switch_that_was_reset_meanwhile_is_written_again(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_switch_off(toy, "S3");
    toy_switch_on(toy, "S3");
    toy_settle(toy);
    toy_assert_up(toy);
}

/* Its neighbours would tell, but one of them cannot. */
static void of_a_switch_that_died_one_trap_is_enough(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy->traps = false;
    toy_switch_off(toy, "S2");
    toy_trap(toy, "S1", 128);
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_false(toy_knows(toy, "S2"));
    assert_true(sm_is_settled(toy->sm));
    assert_int_equal(toy_count(toy, "S3", ATTRIBUTE_PORT_INFO, METHOD_GET), 1);
}

/* None of its links notices. */
static void forget_table(struct toy_node *node)
{
    memset(node->lft, PORT_NONE, sizeof node->lft);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP, 0);
}

static void a_switch_that_forgot_its_table_is_written_again_by_a_sweep(void **state)
{
    struct toy *toy = toy_up(state, ring);
    forget_table(toy_node(toy, "S3"));
    toy_run(toy, TOY_SWEEP / 2);
    assert_false(toy_delivers(toy));
    toy_run(toy, TOY_SWEEP);
    assert_int_equal(toy_count(toy, "S3", LFT, METHOD_SET), 1);
    assert_int_equal(table_writes(toy), 1);
    toy_assert_up(toy);
}

static void a_switch_that_forgot_everything_is_written_again_when_a_new_link_shows_it(void **state)
{
    struct toy *toy = toy_up(state, ring);
    memset(toy_node(toy, "S3")->lft, PORT_NONE, TOY_LFT);
    wire_set(toy_node(toy, "S3")->ports[0].info, PORT_INFO_LID, 0);
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_trap_from_nobody_changes_nothing(void **state)
{
    struct toy *toy = toy_up(state, ring);
    wire_set(toy_node(toy, "S3")->ports[0].info, PORT_INFO_LID, 500);
    toy_trap(toy, "S3", 128);
    toy_run(toy, TOY_MS);
    assert_true(toy_heard(toy, "trap 128 from unknown LID 500"));
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

static void a_sweep_notices_what_no_trap_told(void **state)
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

/* Somebody else has taken back that ports changed. */
static void a_full_sweep_notices_what_no_switch_reports(void **state)
{
    struct sm_config config = toy_config();
    config.full_every = 3;
    struct toy *toy = up_with(state, ring, config);
    toy->traps = false;
    toy_cut(toy, "S3", "S4"); /* not on the way of any SMP */
    for (unsigned i = 0; i < toy->node_count; i++)
        wire_set(toy->nodes[i]->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    toy_run(toy, 2 * TOY_SWEEP + TOY_SWEEP / 2);
    assert_false(toy_delivers(toy));
    toy_run(toy, TOY_SWEEP);
    toy_assert_up(toy);
}

static void after_a_change_everything_is_explored_if_that_is_asked_for(void **state)
{
    struct sm_config config = toy_config();
    config.scope_full = true;
    struct toy *toy = up_with(state, ring, config);
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
    assert_true(toy_heard(toy, "trap storm"));
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
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    assert_in_range(wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP), 8, 16);
    assert_true(toy_delivers(toy));
}

/* Whether an adapter may send on VL 0. */
static bool may_send(struct toy *toy, const char *node, unsigned port)
{
    const uint8_t *table = toy_node(toy, node)->ports[port].arbitration;
    for (unsigned i = 0; i < 8; i++)
        if (wire_get_at(table, VL_ARBITRATION_TABLE_VL, i) == 0 &&
            wire_get_at(table, VL_ARBITRATION_TABLE_WEIGHT, i))
            return true;
    return false;
}

/* Its own cable is gone, and with it the way to its other port, of which something is wanted. */
static void a_manager_cut_off_from_its_own_second_port_comes_to_rest(void **state)
{
    const struct toy_rule lost = {TOY_LOSE, "H1", ATTRIBUTE_VL_ARBITRATION_TABLE, 0, 1000};
    struct sm_config config = toy_config();
    config.engine = engine_find("dfsssp");
    struct toy *toy = toy_open(state, "S1-S2 S2-S3 S3-S1 S1-H1 S2-H1 S3-H3");
    toy_meddle(toy, lost);
    toy_seat(toy, "H1", &config);
    toy_run_until_sent(toy, "H1", ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_cut(toy, "S1", "H1");
    toy_run(toy, TOY_SWEEP / 2);
    assert_int_equal(toy_present(toy), 1);
    assert_true(sm_is_settled(toy->sm));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_link(toy, "S1", "H1");
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
    assert_true(may_send(toy, "H1", 2));
}

/* ---- one change after the other ---- */

static void tables_for_a_subnet_that_is_no_more_are_not_written(void **state)
{
    for (unsigned naive = 0; naive < 2; naive++) {
        struct sm_config config = toy_config();
        config.mode = naive ? SM_NAIVE : SM_ORDERED;
        struct toy *toy = up_with(state, long_ring, config);
        toy->hold_jobs = true;
        toy_cut(toy, "S1", "S2");
        toy_run(toy, TOY_MS);
        assert_non_null(toy->job);
        toy_link(toy, "S1", "S2"); /* while routes without it are computed */
        toy_run(toy, TOY_MS);
        toy_mark(toy);
        toy_compute(toy);
        toy_run(toy, TOY_MS);
        assert_int_equal(table_writes(toy), 0);
        assert_non_null(toy->job); /* the next one */
        toy->hold_jobs = false;
        toy_compute(toy);
        toy_settle(toy);
        toy_assert_up(toy);
        if (!naive)
            toy_close(state);
    }
}

static void routes_that_come_when_another_is_master_are_dropped(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy->hold_jobs = true;
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_MS);
    toy_claim(toy, "H4", 15, SM_MASTER);
    toy_trap(toy, "H4", 144);
    toy_run(toy, TOY_MS);
    assert_int_equal(sm_state(toy->sm), SM_STANDBY);
    toy_mark(toy);
    toy_compute(toy);
    toy_run(toy, TOY_MS);
    assert_int_equal(table_writes(toy), 0);
    assert_null(sm_paths(toy->sm).network);
}

static void routes_of_an_earlier_mastership_are_dropped(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint8_t info[64] = {0};
    toy->hold_jobs = true;
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_MS);
    assert_non_null(toy->job);
    toy_claim(toy, "H4", 15, SM_MASTER);
    toy_trap(toy, "H4", 144);
    toy_run(toy, TOY_MS);
    toy_link(toy, "S1", "S2");
    toy_claim(toy, "H4", 0, SM_STANDBY);
    toy_tell(toy, "H4", 0, METHOD_SET, 1, info); /* it hands over, back */
    assert_int_equal(sm_state(toy->sm), SM_MASTER);
    toy_mark(toy);
    while (toy->jobs < 3) /* the toy computes the old one when the new one comes */
        toy_run(toy, TOY_LATENCY);
    toy_run(toy, TOY_MS);
    assert_int_equal(table_writes(toy), 0);
    assert_null(sm_paths(toy->sm).network);
    toy_compute(toy);
    toy->hold_jobs = false;
    toy_settle(toy);
    toy_assert_up(toy);
}

static void no_routes_are_asked_for_while_blocks_are_under_way(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S4 S4-S1 S1-S3 S1-H1 S2-H2 S3-H3 S4-H4");
    toy_meddle(toy, (struct toy_rule){TOY_LOSE_ANSWER, NULL, LFT, METHOD_SET, 1});
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    toy_cut(toy, "S1", "S3");
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_int_equal(toy->jobs, 2);
    toy_settle(toy);
    assert_int_equal(toy->jobs, 3);
    toy_assert_up(toy);
}

static void tables_that_were_broken_off_never_become_paths(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t job = sm_paths(toy->sm).job;
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_run(toy, TOY_SWEEP / 2);
    assert_true(toy_heard(toy, "no routes, the old ones stay"));
    assert_int_equal(sm_paths(toy->sm).job, job);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_change_while_tables_are_written_leads_to_right_ones(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S4 S4-S1 S1-S3 S1-H1 S2-H2 S3-H3 S4-H4");
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    toy_cut(toy, "S1", "S3");
    toy_settle(toy);
    toy_assert_up(toy);
    toy_link(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, ATTRIBUTE_PORT_INFO, METHOD_SET);
    toy_cut(toy, "S1", "S4");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void while_new_tables_go_out_sources_keep_the_old_paths(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t job = sm_paths(toy->sm).job, generation = sm_paths(toy->sm).generation;
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    assert_int_equal(sm_paths(toy->sm).job, job);
    assert_int_equal(sm_paths(toy->sm).generation, generation);
    toy_settle(toy);
    assert_int_equal(sm_paths(toy->sm).job, job + 1);
}

/* ---- refusals ---- */

static void a_refused_block_is_said_once_and_tried_again_by_sweeps(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "S3", LFT, METHOD_SET, 1000});
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_heard(toy, "refuses table block 0"));
    assert_int_equal(toy_count(toy, "S3", LFT, METHOD_SET), 1);
    assert_false(toy_delivers(toy));
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_false(toy_heard(toy, "refuses table block 0"));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_trap(toy, "S3", 128);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void a_port_that_refuses_its_settings_holds_nobody_up(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET, 1000});
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_heard(toy, "refuses its settings"));
    assert_int_equal(toy_count(toy, "H3", ATTRIBUTE_PORT_INFO, METHOD_SET), 3);
    assert_true(toy_has_tables(toy));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void refused_settings_of_a_switch_are_said_once_and_tried_again_by_sweeps(void **state)
{
    struct toy *toy = toy_open(state, ring);
    struct sm_config config = toy_config();
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "S3", ATTRIBUTE_SWITCH_INFO, METHOD_SET, 1000});
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_heard(toy, "refuses its settings (status 0x1c): its top LID stays 0"));
    assert_in_range(toy_count(toy, "S3", ATTRIBUTE_SWITCH_INFO, METHOD_SET), 1, 3);
    toy_mark(toy);
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    assert_true(wire_get(toy_node(toy, "S3")->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) >= 8);
    toy_assert_up(toy);
}

static void a_switch_that_does_not_answer_to_its_table_is_taken_for_gone(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "S4", LFT, METHOD_SET, 1000});
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    assert_true(toy_heard(toy, "\"S4\" is gone"));
    assert_false(toy_knows(toy, "S4"));
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 2 * TOY_SWEEP);
    toy_assert_up(toy);
}

static void when_there_are_no_routes_the_old_ones_stay(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t job = sm_paths(toy->sm).job;
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    assert_true(toy_heard(toy, "no routes, the old ones stay: the toy refuses"));
    assert_true(toy_heard(toy, "the subnet is not up"));
    assert_int_equal(table_writes(toy), 0);
    assert_int_equal(sm_paths(toy->sm).job, job);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    toy_assert_up(toy);
}

/* ---- by request ---- */

static void who_asks_for_other_routes_gets_them_computed_anew(void **state)
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
    struct toy *toy = up_with(state, ring, config);
    assert_int_equal(toy->jobs, 2);
    toy_assert_up(toy);
}

static void a_hybrid_engine_whose_final_tables_are_refused_keeps_the_quick_ones(void **state)
{
    struct sm_config config = toy_config();
    config.engine = engine_find("pira+fera");
    struct toy *toy = toy_open(state, ring);
    toy->hold_jobs = true;
    toy_seat(toy, "H1", &config);
    while (!toy->job)
        toy_run(toy, TOY_LATENCY);
    toy->hold_jobs = false;
    toy_compute(toy);
    toy->refuse_jobs = true;
    toy_settle(toy);
    assert_int_equal(toy->jobs, 2);
    assert_true(toy_heard(toy, "the subnet is not up"));
    assert_true(toy_delivers(toy));
}

static void other_settings_are_told_to_every_port(void **state)
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

/* ---- modes ---- */

/* A ring whose root moves to the other side: half of its routes change direction. */
static struct toy *root_moves(void **state, const char *links, const char *root,
                              struct sm_config config)
{
    static uint64_t roots[2];
    struct toy *toy = toy_open(state, links);
    for (unsigned i = 0; i < toy->node_count; i++)
        toy->nodes[i]->lenient = config.mode == SM_STATIC;
    roots[0] = toy_node(toy, "S1")->guid;
    roots[1] = toy_node(toy, root)->guid;
    config.engine_options.root = ROOT_LIST;
    config.engine_options.root_guids = &roots[0];
    config.engine_options.root_count = 1;
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    toy_mark(toy);
    config.engine_options.root_guids = &roots[1];
    sm_configure(toy->sm, toy->now, &config);
    toy_take_outputs(toy);
    return toy;
}

static uint64_t sent_at(const struct toy *toy, unsigned attribute, bool last)
{
    uint64_t at = 0;
    for (size_t i = toy->mark; i < toy->sent.count; i++)
        if (toy->sent.items[i].attribute == attribute && (last || !at))
            at = toy->sent.items[i].at;
    return at;
}

static void assert_no_loop(struct toy *toy)
{
    assert_false(toy_loops(toy));
}

static void ordered_tables_never_lead_in_a_cycle_while_they_are_written(void **state)
{
    struct toy *toy = root_moves(state, ring, "S3", toy_config());
    toy_settle_watched(toy, assert_no_loop);
    assert_true(table_writes(toy) > 0);
    toy_cut(toy, "S1", "S2");
    toy_settle_watched(toy, assert_no_loop);
    toy_link(toy, "S1", "S2");
    toy_settle_watched(toy, assert_no_loop);
    toy_assert_up(toy);
}

static void naive_tables_go_out_at_once(void **state)
{
    struct sm_config config = toy_config();
    config.mode = SM_NAIVE;
    struct toy *toy = root_moves(state, long_ring, "S4", config);
    toy_settle(toy);
    assert_true(table_writes(toy) > 1);
    assert_int_equal(sent_at(toy, LFT, false), sent_at(toy, LFT, true));
    toy_assert_up(toy);
}

static void a_wave_waits_for_the_drain_before_it(void **state)
{
    struct toy *toy = root_moves(state, ring, "S3", toy_config());
    uint8_t info[64] = {0};
    toy_run(toy, TOY_DRAIN / 2);
    toy_tell(toy, "H2", 0, METHOD_GET, 0, info); /* whoever talks meanwhile does not shorten it */
    toy_settle(toy);
    assert_int_equal(table_writes(toy), 2);
    assert_true(sent_at(toy, LFT, true) >= sent_at(toy, LFT, false) + TOY_DRAIN);
    assert_false(toy_heard(toy, "sources wait"));
    toy_assert_up(toy);
}

static void sources_wait_while_tables_without_a_safe_order_are_written(void **state)
{
    static const char *const adapters[] = {"H1", "H2", "H4", "H6"};
    struct toy *toy = root_moves(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    assert_true(toy_heard(toy, "sources wait"));
    uint64_t told = toy->now;
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H4", ATTRIBUTE_VL_ARBITRATION_TABLE, 0, 1});
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    assert_true(toy->now >= told + TOY_TIMEOUT + TOY_DRAIN); /* since the last of them knows */
    for (unsigned i = 0; i < 4; i++)
        assert_false(may_send(toy, adapters[i], 1));
    assert_true(toy_outstanding(toy, 0) > 1); /* all at once */
    toy_settle(toy);
    for (unsigned i = 0; i < 4; i++)
        assert_true(may_send(toy, adapters[i], 1));
    toy_assert_up(toy);
}

static void a_change_while_sources_wait_sets_them_free_in_the_end(void **state)
{
    struct toy *toy = root_moves(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    assert_false(may_send(toy, "H2", 1));
    toy_cut(toy, "S2", "S3");
    toy_settle(toy);
    assert_true(may_send(toy, "H2", 1));
    toy_assert_up(toy);
}

static void sources_do_not_wait_for_routes_that_there_are_none_of(void **state)
{
    struct toy *toy = root_moves(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    assert_true(toy_heard(toy, "no routes, the old ones stay"));
    assert_true(may_send(toy, "H2", 1));
}

static void the_next_master_sets_sources_free_that_the_last_one_held(void **state)
{
    struct toy *toy = root_moves(state, long_ring, "S4", toy_config());
    struct sm_config config = toy_config();
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    assert_false(may_send(toy, "H4", 1));
    toy_kill(toy, 0);
    toy_node(toy, "H1")->claims_manager = true; /* and is not active */
    toy_seat(toy, "H2", &config);
    toy_settle(toy);
    assert_true(may_send(toy, "H4", 1));
    assert_true(toy_delivers(toy));
}

/* When it took its master for dead before, the copy told that nobody had been stopped. */
static void a_standby_that_was_wrong_once_sets_sources_free_when_its_master_dies(void **state)
{
    static uint64_t roots[2];
    struct sm_config config = toy_config(), standby = toy_config();
    struct toy *toy = toy_open(state, long_ring);
    roots[0] = toy_node(toy, "S1")->guid;
    roots[1] = toy_node(toy, "S4")->guid;
    config.engine_options.root = ROOT_LIST;
    config.engine_options.root_guids = &roots[0];
    config.engine_options.root_count = 1;
    config.priority = 5;
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    toy_seat(toy, "H2", &standby);
    toy_trap(toy, "H2", 144);
    toy_run(toy, 5 * TOY_S);
    assert_true(sm_has_copy(toy->managers[1].sm));
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_SM_INFO, METHOD_GET, 3});
    toy_run(toy, 10 * TOY_S);
    assert_true(toy_heard(toy, "the master does not answer"));
    assert_int_equal(sm_state(toy->managers[1].sm), SM_STANDBY);
    config.engine_options.root_guids = &roots[1];
    sm_configure(toy->sm, toy->now, &config);
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    assert_false(may_send(toy, "H4", 1));
    toy_kill(toy, 0);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(sm_state(toy->managers[1].sm), SM_MASTER);
    assert_true(may_send(toy, "H4", 1));
}

static void where_sources_cannot_wait_entries_are_dropped_first(void **state)
{
    struct sm_config config = toy_config();
    config.hold = false;
    struct toy *toy = root_moves(state, long_ring, "S4", config);
    toy_settle_watched(toy, assert_no_loop);
    assert_true(toy_heard(toy, "their traffic is lost for a while (hold is off)"));
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, 0), 0);
    toy_assert_up(toy);
}

static bool any_link_is_active(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned port = 1; port <= TOY_PORTS && toy->nodes[i]->is_switch; port++)
            if (state_of_port(&toy->nodes[i]->ports[port]) == PORT_STATE_ACTIVE)
                return true;
    return false;
}

static void static_mode_stops_every_link_before_it_writes_tables(void **state)
{
    struct sm_config config = toy_config();
    config.mode = SM_STATIC;
    struct toy *toy = root_moves(state, ring, "S3", config);
    assert_true(any_link_is_active(toy));
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    assert_false(any_link_is_active(toy));
    toy_settle(toy);
    toy_assert_up(toy);
}

/* ---- balance ---- */

static void when_repairs_made_links_uneven_the_next_sweep_looks_for_better_tables(void **state)
{
    struct sm_config config = toy_config();
    config.rebalance = 120;
    struct toy *toy = up_with(state, "S1-S2 S1-S2 S1-H1 S1-H3 S2-H2 S2-H4", config);
    toy_cut(toy, "S1", "S2"); /* what is left carries all */
    toy_settle(toy);
    assert_int_equal(toy->jobs, 2);
    toy_mark(toy);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_true(toy_heard(toy, "links are used unevenly after repairs"));
    assert_true(toy_heard(toy, "the tables stay as they are: no others are more even"));
    assert_int_equal(toy->jobs, 3); /* once */
    assert_int_equal(table_writes(toy), 0);
    toy_assert_up(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_blank_subnet_comes_up_with_the_tables_that_paths_name),
        TOY_TEST(there_are_no_paths_before_the_last_block_is_acknowledged),
        TOY_TEST(a_settled_manager_does_nothing_before_its_next_sweep),
        TOY_TEST(without_sweeps_a_settled_manager_has_no_deadline),
        TOY_TEST(no_link_is_active_before_the_tables_of_its_switches_are_acknowledged),
        TOY_TEST(no_port_becomes_active_before_the_other_end_is_armed),
        TOY_TEST(a_lost_link_is_repaired_after_its_trap),
        TOY_TEST(a_link_that_returns_is_used_again),
        TOY_TEST(a_lost_switch_is_routed_around),
        TOY_TEST(a_switch_that_returns_blank_is_written_again_with_its_lid),
        TOY_TEST(a_switch_that_was_reset_meanwhile_is_written_again),
        TOY_TEST(of_a_switch_that_died_one_trap_is_enough),
        TOY_TEST(a_switch_that_forgot_its_table_is_written_again_by_a_sweep),
        TOY_TEST(a_switch_that_forgot_everything_is_written_again_when_a_new_link_shows_it),
        TOY_TEST(a_trap_from_nobody_changes_nothing),
        TOY_TEST(a_new_switch_is_written_before_tables_lead_to_it),
        TOY_TEST(a_sweep_notices_what_no_trap_told),
        TOY_TEST(a_full_sweep_notices_what_no_switch_reports),
        TOY_TEST(after_a_change_everything_is_explored_if_that_is_asked_for),
        TOY_TEST(traps_of_a_trap_storm_are_ignored),
        TOY_TEST(an_invalid_top_of_a_forwarding_table_is_ignored),
        TOY_TEST(a_manager_cut_off_from_its_own_second_port_comes_to_rest),
        TOY_TEST(tables_for_a_subnet_that_is_no_more_are_not_written),
        TOY_TEST(routes_that_come_when_another_is_master_are_dropped),
        TOY_TEST(routes_of_an_earlier_mastership_are_dropped),
        TOY_TEST(no_routes_are_asked_for_while_blocks_are_under_way),
        TOY_TEST(tables_that_were_broken_off_never_become_paths),
        TOY_TEST(a_change_while_tables_are_written_leads_to_right_ones),
        TOY_TEST(while_new_tables_go_out_sources_keep_the_old_paths),
        TOY_TEST(a_refused_block_is_said_once_and_tried_again_by_sweeps),
        TOY_TEST(a_port_that_refuses_its_settings_holds_nobody_up),
        TOY_TEST(refused_settings_of_a_switch_are_said_once_and_tried_again_by_sweeps),
        TOY_TEST(a_switch_that_does_not_answer_to_its_table_is_taken_for_gone),
        TOY_TEST(when_there_are_no_routes_the_old_ones_stay),
        TOY_TEST(who_asks_for_other_routes_gets_them_computed_anew),
        TOY_TEST(a_hybrid_engine_computes_twice),
        TOY_TEST(a_hybrid_engine_whose_final_tables_are_refused_keeps_the_quick_ones),
        TOY_TEST(other_settings_are_told_to_every_port),
        TOY_TEST(ordered_tables_never_lead_in_a_cycle_while_they_are_written),
        TOY_TEST(naive_tables_go_out_at_once),
        TOY_TEST(a_wave_waits_for_the_drain_before_it),
        TOY_TEST(sources_wait_while_tables_without_a_safe_order_are_written),
        TOY_TEST(a_change_while_sources_wait_sets_them_free_in_the_end),
        TOY_TEST(sources_do_not_wait_for_routes_that_there_are_none_of),
        TOY_TEST(the_next_master_sets_sources_free_that_the_last_one_held),
        TOY_TEST(a_standby_that_was_wrong_once_sets_sources_free_when_its_master_dies),
        TOY_TEST(where_sources_cannot_wait_entries_are_dropped_first),
        TOY_TEST(static_mode_stops_every_link_before_it_writes_tables),
        TOY_TEST(when_repairs_made_links_uneven_the_next_sweep_looks_for_better_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
