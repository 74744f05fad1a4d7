/* A standby watches its master and takes over, and finds and corrects what it copied wrongly. */
#include "managers.h"

#include <string.h>

static void a_standby_polls_its_master_and_writes_nothing(void **state)
{
    struct toy *toy = master_and_standby(state);
    struct sm_master master;
    toy_mark(toy);
    toy_run(toy, 9 * TOY_S);
    assert_in_range(toy_count(toy, "H1", ATTRIBUTE_SM_INFO, METHOD_GET), 8, 10);
    for (size_t i = 0; i < toy->sent.count; i++)
        assert_false(toy->sent.items[i].manager == 1 && toy->sent.items[i].method == METHOD_SET);
    assert_true(sm_has_copy(toy->managers[1].sm));
    assert_true(sm_master(toy->managers[1].sm, &master));
    assert_int_equal(master.lid, toy_lid(toy, "H1", 1));
    assert_true(master.weft);
}

static void a_standby_takes_over_after_the_configured_number_of_polls(void **state)
{
    struct toy *toy = master_and_standby(state); /* two retries */
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_SM_INFO, METHOD_GET, 2});
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    assert_false(toy_logged(toy, "does not answer"));
    toy_kill(toy, 0);
    toy_mark(toy);
    uint64_t died = toy->now;
    toy_run_until_sent(toy, NULL, 0, METHOD_SET);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(toy->now - died < 4 * TOY_POLL);
    toy_settle(toy);
    assert_int_equal(toy_lid(toy, "H2", 1),
                     wire_get(toy_node(toy, "H3")->ports[1].info, PORT_INFO_MASTER_SM_LID));
    assert_true(toy_delivers(toy));
}

static void a_standby_with_a_copy_takes_over_without_writing_tables(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_kill(toy, 0);
    toy_mark(toy);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_LINEAR_FORWARDING_TABLE, 0), 0);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_NODE_INFO, 0), 0);
    assert_true(toy_delivers(toy));
}

static void a_check_that_ends_after_the_takeover_is_used(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 5);
    toy_settle(toy);
    toy->hold_jobs = true;
    start_with_priority(toy, "H2", 5);
    toy_run(toy, 5 * TOY_S);
    assert_non_null(toy->job);
    toy_kill(toy, 0);
    while (state_of(toy, 1) == SM_STANDBY)
        toy_run(toy, TOY_LATENCY);
    toy_compute(toy);
    toy->hold_jobs = false;
    toy_settle(toy);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_int_equal(toy->jobs, 2); /* the job of the master and the check */
    assert_true(toy_delivers(toy));
}

/* A master that fails during a change leaves tables that differ from the copy. */
static void the_audit_finds_and_corrects_a_wrong_copy(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_kill(toy, 0);
    toy_node(toy, "S2")->lft[toy_lid(toy, "H3", 1)] = PORT_NONE;
    toy_settle(toy);
    assert_false(toy_delivers(toy));
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_logged(toy, "has another table than the last master's copy"));
    assert_true(toy_delivers(toy));
}

/* The master failed after it had quiesced a source, before the standby read its token. */
static void the_audit_finds_sources_that_were_left_quiesced(void **state)
{
    struct toy *toy = master_and_standby(state);
    uint8_t *table = toy_node(toy, "H3")->ports[1].arbitration;
    toy_kill(toy, 0);
    memset(table, 0, 64);
    wire_set_at(table, VL_ARBITRATION_TABLE_VL, 0, 14);
    toy_settle(toy);
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_logged(toy, "sources were left waiting"));
    assert_true(wire_get_at(table, VL_ARBITRATION_TABLE_WEIGHT, 0) != 0);
}

/* A restart of discovery is scheduled. */
static void a_master_that_yields_during_a_change_settles(void **state)
{
    struct toy *toy = toy_open(state, star);
    struct sm_config config = with_priority(5);
    config.scope_full = true;
    toy_claim_manager(toy, "H2", 0, SM_STANDBY);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_GET, 1});
    sm_rediscover(toy->sm, toy->now);
    toy_run(toy, TOY_MS);
    toy_trap(toy, "S1", 128);
    toy_run(toy, TOY_MS);
    assert_true(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, TOY_MS);
    toy_claim_manager(toy, "H2", 0, SM_MASTER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_true(sm_deadline(toy->sm) > toy->now);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

/* ---- stalls and deaths ---- */

/* A master at H1 and a standby at H2 with the default polls. */
static struct toy *with_default_polls(void **state)
{
    static const char *const hosts[] = {"H1", "H2"};
    struct toy *toy = toy_open(state, star);
    struct sm_config config = with_priority(5), defaults;
    sm_config_init(&defaults);
    config.poll_ns = defaults.poll_ns;
    config.poll_retries = defaults.poll_retries;
    config.timeout_ns = defaults.timeout_ns;
    for (unsigned i = 0; i < 2; i++) {
        toy_start_manager(toy, hosts[i], &config);
        toy_settle(toy);
        toy_run(toy, TOY_S);
    }
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    toy_mark(toy);
    return toy;
}

static uint64_t time_to_take_over(struct toy *toy)
{
    uint64_t died = toy->now;
    while (state_of(toy, 1) != SM_MASTER && toy->now < died + 20 * TOY_S)
        toy_run(toy, TOY_MS);
    return toy->now - died;
}

static void a_master_that_is_stopped_for_two_seconds_stays_master(void **state)
{
    struct toy *toy = with_default_polls(state);
    toy->managers[0].stopped = true;
    toy_run(toy, 2 * TOY_S);
    toy->managers[0].stopped = false;
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_false(toy_logged(toy, "discovering"));
}

static void a_master_whose_process_ended_is_replaced_at_once(void **state)
{
    struct toy *toy = with_default_polls(state);
    toy_kill(toy, 0);
    assert_in_range(time_to_take_over(toy), 0, 300 * TOY_MS);
    assert_true(toy_logged(toy, "IsSM of its port is clear"));
}

static void a_master_whose_host_is_dead_is_replaced_within_a_second(void **state)
{
    struct toy *toy = with_default_polls(state);
    toy_switch_off(toy, "H1");
    toy->managers[0].stopped = true;
    assert_in_range(time_to_take_over(toy), 0, TOY_S);
}

/* Switches that do not answer: discovery waits neither for one that is silent already nor, at a
 * takeover, for one that has just become silent. */
static void a_standby_takes_over_while_a_switch_is_mute(void **state)
{
    static const uint64_t silent_for[] = {0, TOY_S, 5 * TOY_S, 30 * TOY_S};
    for (size_t i = 0; i < sizeof silent_for / sizeof silent_for[0]; i++) {
        struct toy *toy =
            toy_open(state, "S1-S2 S2-S3 S3-S1 S1-S4 S2-S4 S3-S4 S1-H1 S2-H2 S3-H3 S1-H4");
        struct sm_config config = with_priority(5);
        config.poll_ns = 100 * TOY_MS;
        toy_start_manager(toy, "H1", &config);
        toy_settle(toy);
        toy_start_manager(toy, "H2", &config);
        toy_run(toy, 5 * TOY_S);
        toy_node(toy, "S4")->mute = true;
        toy_run(toy, silent_for[i]);
        toy_kill(toy, 0);
        assert_in_range(time_to_take_over(toy), 0, 700 * TOY_MS);
        toy_run(toy, TOY_MS);
        assert_non_null(sm_paths(toy->managers[1].sm).routes);
        toy_close(state);
    }
    master_and_standby(state);
}

static void a_master_that_hangs_is_replaced_in_the_end(void **state)
{
    struct toy *toy = with_default_polls(state);
    toy->managers[0].stopped = true;
    assert_in_range(time_to_take_over(toy), 2 * TOY_S, 4 * TOY_S);
    assert_true(toy_logged(toy, "it hangs, or this fabric does not clear IsSM"));
}

/* Two masters, since the first was stopped for long. */
static void a_split_ends_within_two_poll_intervals(void **state)
{
    struct toy *toy = with_default_polls(state);
    toy->managers[0].stopped = true;
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    toy->managers[0].stopped = false;
    toy_run(toy, 200 * TOY_MS);
    assert_int_equal(state_of(toy, 0), SM_MASTER); /* its GUID is lower */
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_NOTICE, METHOD_TRAP), 0);
    assert_true(toy_delivers(toy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_standby_polls_its_master_and_writes_nothing),
        TOY_TEST(a_standby_takes_over_after_the_configured_number_of_polls),
        TOY_TEST(a_standby_with_a_copy_takes_over_without_writing_tables),
        TOY_TEST(a_check_that_ends_after_the_takeover_is_used),
        TOY_TEST(the_audit_finds_and_corrects_a_wrong_copy),
        TOY_TEST(the_audit_finds_sources_that_were_left_quiesced),
        TOY_TEST(a_master_that_yields_during_a_change_settles),
        TOY_TEST(a_master_that_is_stopped_for_two_seconds_stays_master),
        TOY_TEST(a_master_whose_process_ended_is_replaced_at_once),
        TOY_TEST(a_master_whose_host_is_dead_is_replaced_within_a_second),
        TOY_TEST(a_standby_takes_over_while_a_switch_is_mute),
        TOY_TEST(a_master_that_hangs_is_replaced_in_the_end),
        TOY_TEST(a_split_ends_within_two_poll_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
