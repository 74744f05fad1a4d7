/* Who is master (14.4.1): managers that meet each other, and managers that meet somebody who only
 * claims to be one. */
#include "toy.h"

#include <string.h>

enum { HANDOVER = 1, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER }; /* modifiers of Set(SMInfo) */

static const char star[] = "S1-S2 S1-H1 S2-H2 S2-H3";

static struct sm_config with_priority(unsigned priority)
{
    struct sm_config config = toy_config_sweeping(10 * TOY_S);
    config.priority = (uint8_t)priority;
    config.full_every = 1;
    return config;
}

static unsigned seat(struct toy *toy, const char *node, unsigned priority)
{
    struct sm_config config = with_priority(priority);
    return toy_seat(toy, node, &config);
}

static enum sm_state state_of(const struct toy *toy, unsigned manager)
{
    return sm_state(toy->managers[manager].sm);
}

/* The first one has come up before the second starts, which stands by. */
static struct toy *master_and_standby(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H1", 5);
    toy_settle(toy);
    seat(toy, "H2", 5);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    return toy;
}

/* One manager, and at H2 somebody who claims to be another. */
static struct toy *meeting(void **state, unsigned priority, unsigned theirs, enum sm_state claimed)
{
    struct toy *toy = toy_open(state, star);
    toy_claim(toy, "H2", theirs, claimed);
    seat(toy, "H1", priority);
    toy_run(toy, 5 * TOY_S);
    return toy;
}

/* ---- who it is ---- */

static void a_manager_alone_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H1", 0);
    assert_int_equal(state_of(toy, 0), SM_DISCOVERING);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_assert_up(toy);
}

static void the_higher_priority_is_master_whoever_starts_first(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H1", 1);
    seat(toy, "H2", 2);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
}

static void of_equal_priorities_the_lower_guid_is_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H2", 3);
    seat(toy, "H1", 3);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
}

static void who_starts_where_a_master_is_stands_by(void **state)
{
    meeting(state, 15, 0, SM_MASTER);
    assert_int_equal(state_of(*state, 0), SM_STANDBY);
}

static void a_manager_that_is_not_active_counts_for_nothing(void **state)
{
    struct toy *toy = meeting(state, 0, 15, SM_NOT_ACTIVE);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_run(toy, 30 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
}

static void a_rival_that_never_answers_blocks_nothing(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_SM_INFO, 0, 100000});
    toy_claim(toy, "H2", 15, SM_MASTER);
    seat(toy, "H1", 0);
    toy_settle(toy);
    toy_assert_up(toy);
    toy_mark(toy);
    toy_run(toy, 100 * TOY_S);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, 0), 2, 4); /* of ten sweeps */
    toy_cut(toy, "S2", "H3");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void who_asks_is_told_who_we_are(void **state)
{
    struct toy *toy = toy_open(state, star);
    struct sm_config config = with_priority(7);
    config.sm_key = 0x1234;
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    uint8_t info[64] = {0}, again[64] = {0};
    assert_int_equal(toy_tell(toy, "H2", 0, METHOD_GET, 0, info), STATUS_OK);
    assert_int_equal(wire_get(info, SM_INFO_GUID), toy_node(toy, "H1")->guid + 1);
    assert_int_equal(wire_get(info, SM_INFO_SM_KEY), 0x1234);
    assert_int_equal(wire_get(info, SM_INFO_PRIORITY), 7);
    assert_int_equal(wire_get(info, SM_INFO_STATE), SM_MASTER);
    assert_int_equal(wire_get(info, SM_INFO_ACT_COUNT), sm_act_count(toy->sm));
    toy_tell(toy, "H2", 0, METHOD_GET, 0, again);
    assert_true(wire_get(again, SM_INFO_ACT_COUNT) != wire_get(info, SM_INFO_ACT_COUNT));
}

/* ---- the state machine ---- */

/* A manager in this state, and H2 where a master is said to be unless it is one itself. */
static struct toy *in_state(void **state, enum sm_state wanted)
{
    struct toy *toy = toy_open(state, star);
    uint8_t info[64] = {0};
    if (wanted == SM_NOT_ACTIVE || wanted == SM_STANDBY)
        toy_claim(toy, "H2", 0, SM_MASTER);
    seat(toy, "H1", 0);
    if (wanted != SM_DISCOVERING)
        toy_run(toy, TOY_S / 2);
    if (wanted == SM_NOT_ACTIVE)
        toy_tell(toy, "H2", 0, METHOD_SET, DISABLE, info);
    assert_int_equal(state_of(toy, 0), wanted);
    return toy;
}

static void each_control_does_what_the_specification_says_in_each_state(void **state)
{
    enum { REFUSED = -1 };
    static const int next[4][DISCOVER + 1] = {
        /* HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER */
        [SM_NOT_ACTIVE] = {REFUSED, REFUSED, REFUSED, REFUSED, SM_STANDBY, REFUSED},
        [SM_DISCOVERING] = {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED},
        [SM_STANDBY] = {REFUSED, SM_MASTER, REFUSED, SM_NOT_ACTIVE, REFUSED, SM_DISCOVERING},
        [SM_MASTER] = {REFUSED, SM_MASTER, REFUSED, REFUSED, REFUSED, REFUSED},
    };
    for (unsigned from = SM_NOT_ACTIVE; from <= SM_MASTER; from++)
        for (unsigned control = 0; control <= DISCOVER + 1; control++) {
            struct toy *toy = in_state(state, (enum sm_state)from);
            int expected = control > DISCOVER ? REFUSED : next[from][control];
            uint8_t info[64] = {0};
            unsigned status = toy_tell(toy, "H2", 0, METHOD_SET, control, info);
            assert_int_equal(status, expected == REFUSED ? STATUS_BAD_VALUE : STATUS_OK);
            assert_int_equal(state_of(toy, 0), expected == REFUSED ? (int)from : expected);
            if (from != SM_MASTER || control <= DISCOVER)
                toy_close(state);
        }
}

static void who_is_handed_over_to_acknowledges_and_takes_over(void **state)
{
    struct toy *toy = in_state(state, SM_STANDBY);
    uint8_t info[64];
    memcpy(info, toy_node(toy, "H2")->manager, sizeof info);
    toy_tell(toy, "H2", 0, METHOD_SET, HANDOVER, info);
    toy_claim(toy, "H2", 0, SM_STANDBY);
    toy_settle(toy);
    assert_int_equal(toy_node(toy, "H2")->last_control, ACKNOWLEDGE);
    toy_assert_up(toy);
}

static void who_still_learns_is_handed_over_to_later(void **state)
{
    struct toy *toy = in_state(state, SM_STANDBY);
    uint8_t info[64] = {0};
    sm_set_syncing(toy->sm, true);
    assert_int_equal(toy_tell(toy, "H2", 0, METHOD_SET, HANDOVER, info), STATUS_BAD_VALUE);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    sm_set_syncing(toy->sm, false);
    assert_int_equal(toy_tell(toy, "H2", 0, METHOD_SET, HANDOVER, info), STATUS_OK);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

static void a_manager_that_is_not_active_sends_nothing(void **state)
{
    struct toy *toy = in_state(state, SM_NOT_ACTIVE);
    toy_mark(toy);
    toy_cut(toy, "S1", "S2");
    toy_run(toy, 100 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
    assert_int_equal(sm_deadline(toy->sm), TOY_NEVER);
}

/* ---- a master and its successor ---- */

static void a_master_hands_over_to_a_standby_that_outranks_it(void **state)
{
    struct toy *toy = meeting(state, 1, 0, SM_STANDBY);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_claim(toy, "H2", 2, SM_STANDBY);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void a_handover_that_gets_lost_is_tried_again(void **state)
{
    struct toy *toy = meeting(state, 1, 0, SM_STANDBY);
    toy_claim(toy, "H2", 2, SM_STANDBY);
    toy_meddle(toy, (struct toy_rule){TOY_REFUSE, "H2", ATTRIBUTE_SM_INFO, METHOD_SET, 2});
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void a_standby_with_a_higher_priority_becomes_master_when_it_joins(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H1", 1);
    toy_settle(toy);
    seat(toy, "H2", 9);
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    toy_trap(toy, "H2", 144); /* a manager is here now */
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    toy_settle(toy);
    assert_true(toy_delivers(toy));
}

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

static void a_standby_takes_over_after_so_many_polls_in_vain(void **state)
{
    struct toy *toy = master_and_standby(state); /* two retries */
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_SM_INFO, METHOD_GET, 2});
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    assert_false(toy_heard(toy, "does not answer"));
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

static void tables_of_a_copy_that_are_being_checked_at_a_take_over_are_used(void **state)
{
    struct toy *toy = toy_open(state, star);
    seat(toy, "H1", 5);
    toy_settle(toy);
    toy->hold_jobs = true;
    seat(toy, "H2", 5);
    toy_run(toy, 5 * TOY_S);
    assert_non_null(toy->job);
    toy_kill(toy, 0);
    while (state_of(toy, 1) == SM_STANDBY)
        toy_run(toy, TOY_LATENCY);
    toy_compute(toy);
    toy->hold_jobs = false;
    toy_settle(toy);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_int_equal(toy->jobs, 2); /* the master's and the check */
    assert_true(toy_delivers(toy));
}

/* A master that died in the middle of a change leaves tables that are not what its copy says. */
static void a_copy_that_is_wrong_is_found_out_and_put_right(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_kill(toy, 0);
    toy_node(toy, "S2")->lft[toy_lid(toy, "H3", 1)] = PORT_NONE;
    toy_settle(toy);
    assert_false(toy_delivers(toy));
    toy_run(toy, 30 * TOY_S);
    assert_true(toy_heard(toy, "has another table than the last master's copy"));
    assert_true(toy_delivers(toy));
}

/* It was about to explore everything because of a change. */
static void who_gives_way_in_the_middle_of_a_change_comes_to_rest(void **state)
{
    struct toy *toy = toy_open(state, star);
    struct sm_config config = with_priority(5);
    config.scope_full = true;
    toy_claim(toy, "H2", 0, SM_STANDBY);
    toy_seat(toy, "H1", &config);
    toy_settle(toy);
    toy_meddle(toy, (struct toy_rule){TOY_LOSE, "H3", ATTRIBUTE_PORT_INFO, METHOD_GET, 1});
    sm_look_again(toy->sm, toy->now);
    toy_run(toy, TOY_MS);
    toy_trap(toy, "S1", 128);
    toy_run(toy, TOY_MS);
    assert_true(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, TOY_MS);
    toy_claim(toy, "H2", 0, SM_MASTER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_true(sm_deadline(toy->sm) > toy->now);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

/* ---- two masters ---- */

static void of_two_masters_the_one_that_is_outranked_hands_over(void **state)
{
    struct toy *toy = meeting(state, 1, 0, SM_STANDBY);
    toy_claim(toy, "H2", 2, SM_MASTER);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void of_two_masters_the_one_that_outranks_stays_and_looks_again(void **state)
{
    struct toy *toy = meeting(state, 2, 1, SM_STANDBY);
    toy_claim(toy, "H2", 1, SM_MASTER);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
    toy_node(toy, "S2")->lft[toy_lid(toy, "H1", 1)] = PORT_NONE; /* the other one wrote that */
    toy_claim(toy, "H2", 1, SM_STANDBY);
    toy_run(toy, 20 * TOY_S);
    assert_true(toy_heard(toy, "the other master is gone"));
    toy_assert_up(toy);
}

static void two_subnets_that_become_one_have_one_master(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H3 S2-H2 S2-H4");
    seat(toy, "H1", 1);
    seat(toy, "H2", 2);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_int_equal(toy_lid(toy, "S1", 0), toy_lid(toy, "S2", 0)); /* each by itself */
    toy_link(toy, "S1", "S2");
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(sm_is_settled(toy->managers[1].sm));
    assert_true(toy_delivers(toy));
    assert_true(toy_is_active(toy));
}

/* ---- by request ---- */

static void who_is_asked_to_hand_over_gives_way_for_good(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_run(toy, 10 * TOY_S); /* it has been found */
    assert_true(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    toy_run(toy, 60 * TOY_S); /* though its GUID is lower */
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(toy_delivers(toy));
}

static void without_a_standby_nothing_is_handed_over(void **state)
{
    struct toy *toy = toy_up(state, star);
    assert_false(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

static void who_ends_hands_over_first(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_run(toy, 10 * TOY_S);
    sm_stop(toy->sm, toy->now);
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_NOT_ACTIVE);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    uint8_t info[64] = {0};
    assert_int_equal(toy_tell(toy, "H2", 0, METHOD_SET, STANDBY, info), STATUS_BAD_VALUE);
}

static void who_ends_alone_ends_at_once(void **state)
{
    struct toy *toy = toy_up(state, star);
    sm_stop(toy->sm, toy->now);
    assert_int_equal(state_of(toy, 0), SM_NOT_ACTIVE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_manager_alone_becomes_master),
        TOY_TEST(the_higher_priority_is_master_whoever_starts_first),
        TOY_TEST(of_equal_priorities_the_lower_guid_is_master),
        TOY_TEST(who_starts_where_a_master_is_stands_by),
        TOY_TEST(a_manager_that_is_not_active_counts_for_nothing),
        TOY_TEST(a_rival_that_never_answers_blocks_nothing),
        TOY_TEST(who_asks_is_told_who_we_are),
        TOY_TEST(each_control_does_what_the_specification_says_in_each_state),
        TOY_TEST(who_is_handed_over_to_acknowledges_and_takes_over),
        TOY_TEST(who_still_learns_is_handed_over_to_later),
        TOY_TEST(a_manager_that_is_not_active_sends_nothing),
        TOY_TEST(a_master_hands_over_to_a_standby_that_outranks_it),
        TOY_TEST(a_handover_that_gets_lost_is_tried_again),
        TOY_TEST(a_standby_with_a_higher_priority_becomes_master_when_it_joins),
        TOY_TEST(a_standby_polls_its_master_and_writes_nothing),
        TOY_TEST(a_standby_takes_over_after_so_many_polls_in_vain),
        TOY_TEST(a_standby_with_a_copy_takes_over_without_writing_tables),
        TOY_TEST(tables_of_a_copy_that_are_being_checked_at_a_take_over_are_used),
        TOY_TEST(a_copy_that_is_wrong_is_found_out_and_put_right),
        TOY_TEST(who_gives_way_in_the_middle_of_a_change_comes_to_rest),
        TOY_TEST(of_two_masters_the_one_that_is_outranked_hands_over),
        TOY_TEST(of_two_masters_the_one_that_outranks_stays_and_looks_again),
        TOY_TEST(two_subnets_that_become_one_have_one_master),
        TOY_TEST(who_is_asked_to_hand_over_gives_way_for_good),
        TOY_TEST(without_a_standby_nothing_is_handed_over),
        TOY_TEST(who_ends_hands_over_first),
        TOY_TEST(who_ends_alone_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
