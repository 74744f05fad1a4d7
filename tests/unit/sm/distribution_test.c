/* How tables are written: in which order, with which drains, and with changes meanwhile. */
#include "tables.h"

#include <string.h>

/* ---- changes during a reconfiguration ---- */

static void obsolete_tables_are_not_written(void **state)
{
    for (unsigned naive = 0; naive < 2; naive++) {
        struct sm_config config = toy_config();
        config.mode = naive ? SM_NAIVE : SM_ORDERED;
        struct toy *toy = toy_up_with(state, long_ring, config);
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

static void routes_computed_for_a_former_master_are_dropped(void **state)
{
    struct toy *toy = toy_up(state, ring);
    toy->hold_jobs = true;
    toy_cut(toy, "S1", "S2");
    toy_run(toy, TOY_MS);
    toy_claim_manager(toy, "H4", 15, SM_MASTER);
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
    toy_claim_manager(toy, "H4", 15, SM_MASTER);
    toy_trap(toy, "H4", 144);
    toy_run(toy, TOY_MS);
    toy_link(toy, "S1", "S2");
    toy_claim_manager(toy, "H4", 0, SM_STANDBY);
    wire_set(info, SM_INFO_GUID, toy_node(toy, "H4")->guid + 1);
    wire_set(info, SM_INFO_STATE, SM_MASTER);
    toy_send_info(toy, "H4", 0, METHOD_SET, 1, info); /* the other manager hands over */
    assert_int_equal(sm_state(toy->sm), SM_MASTER);
    toy_mark(toy);
    while (toy->jobs < 3) /* the toy runs the old job when it gets the new one */
        toy_run(toy, TOY_LATENCY);
    toy_run(toy, TOY_MS);
    assert_int_equal(table_writes(toy), 0);
    assert_null(sm_paths(toy->sm).network);
    toy_compute(toy);
    toy->hold_jobs = false;
    toy_settle(toy);
    toy_assert_up(toy);
}

static void no_routes_are_computed_while_blocks_are_outstanding(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-S3 S3-S4 S4-S1 S1-S3 S1-H1 S2-H2 S3-H3 S4-H4");
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE_ANSWER, NULL, LFT, METHOD_SET, 1});
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    toy_cut(toy, "S1", "S3");
    toy_run(toy, TOY_TIMEOUT / 2);
    assert_int_equal(toy->jobs, 2);
    toy_settle(toy);
    assert_int_equal(toy->jobs, 3);
    toy_assert_up(toy);
}

static void tables_of_an_aborted_distribution_are_never_in_force(void **state)
{
    struct toy *toy = toy_up(state, ring);
    uint64_t job = sm_paths(toy->sm).job;
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, NULL, LFT, METHOD_SET, 1});
    toy_cut(toy, "S1", "S2");
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_run(toy, TOY_SWEEP / 2);
    assert_true(toy_logged(toy, "route computation failed, keeping previous tables"));
    assert_int_equal(sm_paths(toy->sm).job, job);
    toy->refuse_jobs = false;
    sm_reroute(toy->sm, toy->now);
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_change_during_a_distribution_leads_to_correct_tables(void **state)
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

static void old_paths_stay_in_force_during_a_distribution(void **state)
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

/* ---- modes ---- */

/* A ring whose root moves to the other side: half of its routes change direction. */
static struct toy *up_with_moved_root(void **state, const char *links, const char *root,
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
    toy_start_manager(toy, "H1", &config);
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

static void assert_delivery(struct toy *toy)
{
    assert_true(toy_delivers(toy));
}

/* A lost link breaks routes, which an update cannot change. */
static void ordered_distribution_never_breaks_a_route_or_creates_a_loop(void **state)
{
    struct toy *toy = up_with_moved_root(state, ring, "S3", toy_config());
    toy_settle_watched(toy, assert_delivery);
    assert_true(table_writes(toy) > 0);
    toy_cut(toy, "S1", "S2");
    toy_settle_watched(toy, assert_no_loop);
    toy_link(toy, "S1", "S2");
    toy_settle_watched(toy, assert_delivery);
    toy_assert_up(toy);
}

static void naive_distribution_writes_all_tables_at_once(void **state)
{
    struct sm_config config = toy_config();
    config.mode = SM_NAIVE;
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", config);
    toy_settle(toy);
    assert_true(table_writes(toy) > 1);
    assert_int_equal(sent_at(toy, LFT, false), sent_at(toy, LFT, true));
    toy_assert_up(toy);
}

static void a_wave_waits_for_the_drain_before_it(void **state)
{
    struct toy *toy = up_with_moved_root(state, ring, "S3", toy_config());
    uint8_t info[64] = {0};
    toy_run(toy, TOY_DRAIN / 2);
    toy_send_info(toy, "H2", 0, METHOD_GET, 0, info); /* other SMPs do not shorten the drain */
    toy_settle(toy);
    assert_int_equal(table_writes(toy), 2);
    assert_true(sent_at(toy, LFT, true) >= sent_at(toy, LFT, false) + TOY_DRAIN);
    assert_false(toy_logged(toy, "sources wait"));
    toy_assert_up(toy);
    struct sm_totals before, after;
    sm_totals(toy->sm, &before);
    assert_int_equal(before.drains, 1);
    toy_cut(toy, "S1", "S2");
    toy_settle(toy);
    sm_totals(toy->sm, &after); /* the counts are of all changes */
    assert_true(after.drains >= before.drains && after.drained_ns >= before.drained_ns);
}

static void sources_are_quiesced_while_tables_without_a_safe_order_are_written(void **state)
{
    static const char *const adapters[] = {"H1", "H2", "H4", "H6"};
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    assert_true(toy_logged(toy, "sources wait"));
    uint64_t stopped_at = toy->now;
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H4", ATTRIBUTE_VL_ARBITRATION_TABLE, 0, 1});
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    assert_true(toy->now >=
                stopped_at + TOY_TIMEOUT + TOY_DRAIN); /* after the last source is quiesced */
    for (unsigned i = 0; i < 4; i++)
        assert_false(may_send(toy, adapters[i], 1));
    assert_true(toy_outstanding(toy, 0) > 1); /* all at once */
    toy_settle(toy);
    for (unsigned i = 0; i < 4; i++)
        assert_true(may_send(toy, adapters[i], 1));
    toy_assert_up(toy);
}

static void sources_are_released_after_a_change_while_they_are_quiesced(void **state)
{
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    assert_false(may_send(toy, "H2", 1));
    toy_cut(toy, "S2", "S3");
    toy_settle(toy);
    assert_true(may_send(toy, "H2", 1));
    toy_assert_up(toy);
}

static void sources_are_released_if_no_routes_can_be_computed(void **state)
{
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", toy_config());
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    toy->refuse_jobs = true;
    toy_link(toy, "S1", "S3");
    toy_settle(toy);
    assert_true(toy_logged(toy, "route computation failed, keeping previous tables"));
    assert_true(may_send(toy, "H2", 1));
}

static void a_new_master_releases_quiesced_sources(void **state)
{
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", toy_config());
    struct sm_config config = toy_config();
    toy_run_until_sent(toy, NULL, ATTRIBUTE_VL_ARBITRATION_TABLE, METHOD_SET);
    toy_run(toy, TOY_DRAIN / 2);
    assert_false(may_send(toy, "H4", 1));
    toy_kill(toy, 0);
    toy_node(toy, "H1")->claims_manager = true; /* it answers as an inactive manager */
    toy_start_manager(toy, "H2", &config);
    toy_settle(toy);
    assert_true(may_send(toy, "H4", 1));
    assert_true(toy_delivers(toy));
}

/* At the first takeover the copy showed no quiesced source. */
static void a_standby_releases_quiesced_sources_after_a_second_takeover(void **state)
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
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_start_manager(toy, "H2", &standby);
    toy_trap(toy, "H2", 144);
    toy_run(toy, 5 * TOY_S);
    assert_true(sm_has_copy(toy->managers[1].sm));
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_SM_INFO, METHOD_GET, 3});
    toy_run(toy, 10 * TOY_S);
    assert_true(toy_logged(toy, "the master does not answer"));
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

static void entries_drop_packets_first_if_hold_is_off(void **state)
{
    struct sm_config config = toy_config();
    config.quiesce = false;
    struct toy *toy = up_with_moved_root(state, long_ring, "S4", config);
    toy_settle_watched(toy, assert_no_loop);
    assert_true(toy_logged(toy, "their traffic is lost for a while (hold is off)"));
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

static void static_distribution_stops_every_link_before_it_writes_tables(void **state)
{
    struct sm_config config = toy_config();
    config.mode = SM_STATIC;
    struct toy *toy = up_with_moved_root(state, ring, "S3", config);
    assert_true(any_link_is_active(toy));
    toy_run_until_sent(toy, NULL, LFT, METHOD_SET);
    assert_false(any_link_is_active(toy));
    toy_settle(toy);
    toy_assert_up(toy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(obsolete_tables_are_not_written),
        TOY_TEST(routes_computed_for_a_former_master_are_dropped),
        TOY_TEST(routes_of_an_earlier_mastership_are_dropped),
        TOY_TEST(no_routes_are_computed_while_blocks_are_outstanding),
        TOY_TEST(tables_of_an_aborted_distribution_are_never_in_force),
        TOY_TEST(a_change_during_a_distribution_leads_to_correct_tables),
        TOY_TEST(old_paths_stay_in_force_during_a_distribution),
        TOY_TEST(ordered_distribution_never_breaks_a_route_or_creates_a_loop),
        TOY_TEST(naive_distribution_writes_all_tables_at_once),
        TOY_TEST(a_wave_waits_for_the_drain_before_it),
        TOY_TEST(sources_are_quiesced_while_tables_without_a_safe_order_are_written),
        TOY_TEST(sources_are_released_after_a_change_while_they_are_quiesced),
        TOY_TEST(sources_are_released_if_no_routes_can_be_computed),
        TOY_TEST(a_new_master_releases_quiesced_sources),
        TOY_TEST(a_standby_releases_quiesced_sources_after_a_second_takeover),
        TOY_TEST(entries_drop_packets_first_if_hold_is_off),
        TOY_TEST(static_distribution_stops_every_link_before_it_writes_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
