/* Mastership (14.4.1) among several managers, and with nodes that only answer SMInfo. */
#include "managers.h"

#include <string.h>

/* One manager, and a node H2 that answers SMInfo. */
static struct toy *with_other_manager(void **state, unsigned priority, unsigned other_priority,
                                      enum sm_state claimed)
{
    struct toy *toy = toy_open(state, star);
    toy_claim_manager(toy, "H2", other_priority, claimed);
    start_with_priority(toy, "H1", priority);
    toy_run(toy, 5 * TOY_S);
    return toy;
}

/* ---- election ---- */

static void the_only_manager_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 0);
    assert_int_equal(state_of(toy, 0), SM_DISCOVERING);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_assert_up(toy);
}

static void the_manager_with_the_higher_priority_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 1);
    start_with_priority(toy, "H2", 2);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
}

static void with_equal_priorities_the_lower_guid_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H2", 3);
    start_with_priority(toy, "H1", 3);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
}

static void a_manager_that_finds_a_master_becomes_standby(void **state)
{
    with_other_manager(state, 15, 0, SM_MASTER);
    assert_int_equal(state_of(*state, 0), SM_STANDBY);
}

static void an_inactive_manager_does_not_prevent_mastership(void **state)
{
    struct toy *toy = with_other_manager(state, 0, 15, SM_NOT_ACTIVE);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_run(toy, 30 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
}

static void a_manager_that_does_not_answer_blocks_nothing(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_SM_INFO, 0, 100000});
    toy_claim_manager(toy, "H2", 15, SM_MASTER);
    start_with_priority(toy, "H1", 0);
    toy_settle(toy);
    toy_assert_up(toy);
    toy_mark(toy);
    toy_run(toy, 100 * TOY_S);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, 0), 10, 14); /* of 110 queries */
    toy_cut(toy, "S2", "H3");
    toy_settle(toy);
    toy_assert_up(toy);
}

static void a_get_of_sm_info_is_answered(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 7);
    toy_settle(toy);
    uint8_t info[64] = {0}, again[64] = {0};
    assert_int_equal(toy_send_info(toy, "H2", 0, METHOD_GET, 0, info), STATUS_OK);
    assert_int_equal(wire_get(info, SM_INFO_GUID), toy_node(toy, "H1")->guid + 1);
    assert_int_equal(wire_get(info, SM_INFO_PRIORITY), 7);
    assert_int_equal(wire_get(info, SM_INFO_STATE), SM_MASTER);
    assert_int_equal(wire_get(info, SM_INFO_ACT_COUNT), sm_act_count(toy->sm));
    toy_send_info(toy, "H2", 0, METHOD_GET, 0, again);
    assert_true(wire_get(again, SM_INFO_ACT_COUNT) != wire_get(info, SM_INFO_ACT_COUNT));
}

/* ---- the state machine ---- */

/* A manager in this state, and H2, which answers as master unless the manager is master. */
static struct toy *in_state(void **state, enum sm_state wanted)
{
    struct toy *toy = toy_open(state, star);
    uint8_t info[64] = {0};
    if (wanted == SM_NOT_ACTIVE || wanted == SM_STANDBY)
        toy_claim_manager(toy, "H2", 0, SM_MASTER);
    start_with_priority(toy, "H1", 0);
    if (wanted != SM_DISCOVERING)
        toy_run(toy, TOY_S / 2);
    fill_master(toy, "H2", 0, info);
    if (wanted == SM_NOT_ACTIVE)
        toy_send_info(toy, "H2", 0, METHOD_SET, DISABLE, info);
    assert_int_equal(state_of(toy, 0), wanted);
    return toy;
}

static void each_control_has_the_specified_effect_in_each_state(void **state)
{
    enum { REFUSED = -1 };
    static const int next[4][DISCOVER + 1] = {
        /* HANDOVER, ACKNOWLEDGE, DISABLE, STANDBY, DISCOVER */
        [SM_NOT_ACTIVE] = {REFUSED, REFUSED, REFUSED, REFUSED, SM_STANDBY, REFUSED},
        [SM_DISCOVERING] = {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED},
        [SM_STANDBY] = {REFUSED, SM_MASTER, SM_STANDBY, SM_NOT_ACTIVE, REFUSED, SM_DISCOVERING},
        [SM_MASTER] = {REFUSED, SM_MASTER, REFUSED, REFUSED, REFUSED, REFUSED},
    };
    for (unsigned from = SM_NOT_ACTIVE; from <= SM_MASTER; from++)
        for (unsigned control = 0; control <= DISCOVER + 1; control++) {
            struct toy *toy = in_state(state, (enum sm_state)from);
            int expected = control > DISCOVER ? REFUSED : next[from][control];
            uint8_t info[64];
            fill_master(toy, "H2", 0, info);
            unsigned status = toy_send_info(toy, "H2", 0, METHOD_SET, control, info);
            assert_int_equal(status, expected == REFUSED ? STATUS_BAD_VALUE : STATUS_OK);
            assert_int_equal(state_of(toy, 0), expected == REFUSED ? (int)from : expected);
            if (from != SM_MASTER || control <= DISCOVER)
                toy_close(state);
        }
}

static void a_standby_acknowledges_a_handover_and_takes_over(void **state)
{
    struct toy *toy = in_state(state, SM_STANDBY);
    uint8_t info[64];
    memcpy(info, toy_node(toy, "H2")->manager, sizeof info);
    toy_send_info(toy, "H2", 0, METHOD_SET, HANDOVER, info);
    toy_claim_manager(toy, "H2", 0, SM_STANDBY);
    toy_settle(toy);
    assert_int_equal(toy_node(toy, "H2")->last_control, ACKNOWLEDGE);
    toy_assert_up(toy);
}

static void a_standby_refuses_a_handover_while_it_synchronizes(void **state)
{
    struct toy *toy = in_state(state, SM_STANDBY);
    uint8_t info[64];
    fill_master(toy, "H2", 0, info);
    toy_run(toy, 3 * TOY_S); /* the master finds this standby late */
    sm_set_syncing(toy->sm, true);
    assert_int_equal(toy_send_info(toy, "H2", 0, METHOD_SET, HANDOVER, info), STATUS_BAD_VALUE);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    sm_set_syncing(toy->sm, false);
    fill_master(toy, "H2", 0, info);
    assert_int_equal(toy_send_info(toy, "H2", 0, METHOD_SET, HANDOVER, info), STATUS_OK);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

static void an_inactive_manager_sends_nothing(void **state)
{
    struct toy *toy = in_state(state, SM_NOT_ACTIVE);
    toy_mark(toy);
    toy_cut(toy, "S1", "S2");
    toy_run(toy, 100 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
    assert_int_equal(sm_deadline(toy->sm), TOY_NEVER);
}

/* ---- a master and its successor ---- */

static void a_master_hands_over_to_a_standby_of_higher_rank(void **state)
{
    struct toy *toy = with_other_manager(state, 1, 0, SM_STANDBY);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_claim_manager(toy, "H2", 2, SM_STANDBY);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void a_lost_handover_is_repeated(void **state)
{
    struct toy *toy = with_other_manager(state, 1, 0, SM_STANDBY);
    toy_claim_manager(toy, "H2", 2, SM_STANDBY);
    toy_add_rule(toy, (struct toy_rule){TOY_REFUSE, "H2", ATTRIBUTE_SM_INFO, METHOD_SET, 2});
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void a_standby_of_higher_priority_that_joins_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    start_with_priority(toy, "H1", 1);
    toy_settle(toy);
    start_with_priority(toy, "H2", 9);
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 1), SM_STANDBY);
    toy_trap(toy, "H2", 144); /* IsSM was set */
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    toy_settle(toy);
    assert_true(toy_delivers(toy));
}

static void a_handover_is_not_sent_twice(void **state)
{
    struct toy *toy = with_other_manager(state, 1, 0, SM_STANDBY);
    toy_claim_manager(toy, "H2", 2, SM_MASTER);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H2", ATTRIBUTE_SM_INFO, METHOD_SET, 1});
    toy_run(toy, TOY_S); /* a poll of the other master */
    toy_mark(toy);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, METHOD_SET), 0, 1);
}

/* ---- nobody waits for ever ---- */

static void a_manager_whose_own_agent_was_mute_becomes_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_node(toy, "H1")->mute = true;
    start_with_priority(toy, "H1", 5);
    toy_run(toy, 30 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_DISCOVERING);
    assert_true(sm_deadline(toy->sm) != TOY_NEVER);
    toy_node(toy, "H1")->mute = false;
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    toy_settle(toy);
    toy_assert_up(toy);
}

/* It answered NodeInfo, but not PortInfo. */
static void a_manager_that_cannot_read_its_port_does_not_become_master(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_PORT_INFO, METHOD_GET, 20});
    start_with_priority(toy, "H1", 5);
    toy_run(toy, 3 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_DISCOVERING);
    toy_run(toy, 30 * TOY_S);
    toy_assert_up(toy);
}

static void a_request_to_look_again_wakes_a_discovering_manager(void **state)
{
    struct toy *toy = toy_open(state, star);
    toy_node(toy, "H1")->mute = true;
    start_with_priority(toy, "H1", 5);
    toy_run(toy, TOY_S / 10);
    toy_node(toy, "H1")->mute = false;
    sm_rediscover(toy->sm, toy->now);
    toy_run(toy, TOY_MS);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

/* Of three managers the second is master, and the first does not answer as master although its rank
 * is the highest: the third one finds the second. */
static void a_manager_stands_by_for_the_master_not_for_a_standby_of_higher_rank(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H2 S1-H3");
    toy_claim_manager(toy, "H1", 9, SM_STANDBY);
    toy_claim_manager(toy, "H2", 5, SM_MASTER);
    start_with_priority(toy, "H3", 1);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    toy_mark(toy);
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_false(toy_logged(toy, "discovering"));
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_SM_INFO, METHOD_GET), 50, 70);
}

static void a_manager_awaits_another_one_for_a_limited_time(void **state)
{
    static const enum sm_state claimed[] = {SM_DISCOVERING, SM_STANDBY};
    for (unsigned i = 0; i < 2; i++) {
        struct toy *toy = with_other_manager(state, 1, 2, claimed[i]);
        assert_int_equal(state_of(toy, 0), SM_STANDBY);
        toy_run(toy, 40 * TOY_S);
        if (claimed[i] == SM_DISCOVERING)
            toy_assert_up(toy);
        else /* it is handed over to */
            assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
        if (i == 0)
            toy_close(state);
    }
}

static void a_disabled_manager_repeats_no_request(void **state)
{
    struct toy *toy = in_state(state, SM_STANDBY);
    uint8_t info[64];
    fill_master(toy, "H2", 0, info);
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, NULL, 0, 0, 100000});
    toy_run(toy, TOY_S); /* a poll is outstanding */
    toy_send_info(toy, "H2", 0, METHOD_SET, DISABLE, info);
    assert_int_equal(state_of(toy, 0), SM_NOT_ACTIVE);
    toy_mark(toy);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 0);
}

/* ---- two masters ---- */

static void the_master_of_lower_rank_hands_over(void **state)
{
    struct toy *toy = with_other_manager(state, 1, 0, SM_STANDBY);
    toy_claim_manager(toy, "H2", 2, SM_MASTER);
    toy_run(toy, 10 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
}

static void the_master_of_higher_rank_stays_and_rediscovers(void **state)
{
    struct toy *toy = with_other_manager(state, 2, 1, SM_STANDBY);
    toy_claim_manager(toy, "H2", 1, SM_MASTER);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(toy_node(toy, "H2")->last_control, 0);
    toy_node(toy, "S2")->lft[toy_lid(toy, "H1", 1)] = PORT_NONE; /* written by the other master */
    toy_claim_manager(toy, "H2", 1, SM_STANDBY);
    toy_run(toy, 20 * TOY_S);
    assert_true(toy_logged(toy, "the other master left"));
    toy_assert_up(toy);
}

static struct sm_config rest_config(unsigned watch_ports)
{
    struct sm_config config = toy_config_sweeping(1000 * TOY_S);
    config.priority = 1;
    config.watch_ports = watch_ports;
    return config;
}

/* A master that is at rest and does not sweep soon; nothing tells it that H2 runs a manager. */
static struct toy *master_at_rest(void **state, unsigned watch_ports)
{
    struct toy *toy = toy_open(state, star);
    struct sm_config config = rest_config(watch_ports);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    return toy;
}

static void a_master_finds_another_one_by_its_polls(void **state)
{
    struct toy *toy = master_at_rest(state, 0);
    /* The other one does not meet it at the start. */
    toy_add_rule(toy, (struct toy_rule){TOY_LOSE, "H1", ATTRIBUTE_SM_INFO, METHOD_GET, 1000});
    start_with_priority(toy, "H2", 2);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    memset(toy->rules, 0, sizeof toy->rules);
    toy_run(toy, 15 * TOY_S); /* the other one polls a manager that does not answer less often */
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
}

static void a_master_finds_another_one_when_it_reads_ports(void **state)
{
    struct toy *toy = master_at_rest(state, 4);
    toy_claim_manager(toy, "H2", 2, SM_MASTER);
    toy_run(toy, 5 * TOY_S);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
}

static void a_master_finds_another_one_when_it_writes_its_port(void **state)
{
    struct toy *toy = master_at_rest(state, 0);
    toy_claim_manager(toy, "H2", 2, SM_MASTER);
    toy_mark(toy);
    struct sm_config config = rest_config(0);
    config.subnet_timeout++;
    sm_configure(toy->sm, toy->now, &config);
    toy_run(toy, 5 * TOY_S);
    assert_true(toy_count(toy, "H2", ATTRIBUTE_PORT_INFO, METHOD_SET) > 0);
    assert_int_equal(toy_node(toy, "H2")->last_control, HANDOVER);
}

/* OpenSM looks for other masters only when it sweeps; trap 144 makes it sweep. */
static void a_master_of_lower_rank_gets_a_trap_until_it_hands_over(void **state)
{
    struct toy *toy = with_other_manager(state, 2, 1, SM_STANDBY);
    toy_mark(toy);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_NOTICE, METHOD_TRAP), 0);
    toy_claim_manager(toy, "H2", 1, SM_MASTER);
    toy_mark(toy);
    toy_run(toy, 20 * TOY_S);
    assert_in_range(toy_count(toy, "H2", ATTRIBUTE_NOTICE, METHOD_TRAP), 5, 20);
    toy_claim_manager(toy, "H2", 1, SM_STANDBY);
    toy_run(toy, 2 * TOY_S);
    toy_mark(toy);
    toy_run(toy, 20 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_NOTICE, METHOD_TRAP), 0);
}

static void merged_subnets_have_one_master(void **state)
{
    struct toy *toy = toy_open(state, "S1-H1 S1-H3 S2-H2 S2-H4");
    start_with_priority(toy, "H1", 1);
    start_with_priority(toy, "H2", 2);
    toy_settle(toy);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_int_equal(toy_lid(toy, "S1", 0),
                     toy_lid(toy, "S2", 0)); /* each subnet has its own LIDs */
    toy_link(toy, "S1", "S2");
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(sm_is_settled(toy->managers[1].sm));
    assert_true(toy_delivers(toy));
    assert_true(toy_is_active(toy));
}

/* ---- on request ---- */

static void a_manager_that_yields_does_not_become_master_again(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_run(toy, 10 * TOY_S); /* the master has found the standby */
    assert_true(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    toy_run(toy, 60 * TOY_S); /* although its GUID is lower */
    assert_int_equal(state_of(toy, 0), SM_STANDBY);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    assert_true(toy_delivers(toy));
}

static void a_master_without_a_standby_does_not_yield(void **state)
{
    struct toy *toy = toy_up(state, star);
    assert_false(sm_hand_over(toy->sm, toy->now));
    toy_run(toy, 60 * TOY_S);
    assert_int_equal(state_of(toy, 0), SM_MASTER);
}

static void a_master_that_ends_hands_over(void **state)
{
    struct toy *toy = master_and_standby(state);
    toy_run(toy, 10 * TOY_S);
    sm_stop(toy->sm, toy->now);
    toy_run(toy, TOY_S);
    assert_int_equal(state_of(toy, 0), SM_NOT_ACTIVE);
    assert_int_equal(state_of(toy, 1), SM_MASTER);
    uint8_t info[64];
    fill_master(toy, "H2", 0, info);
    assert_int_equal(toy_send_info(toy, "H2", 0, METHOD_SET, STANDBY, info), STATUS_BAD_VALUE);
}

static void a_master_without_a_standby_ends_at_once(void **state)
{
    struct toy *toy = toy_up(state, star);
    sm_stop(toy->sm, toy->now);
    assert_int_equal(state_of(toy, 0), SM_NOT_ACTIVE);
}

static void a_master_knows_whether_all_clients_were_asked_to_register_again(void **state)
{
    for (unsigned mute = 0; mute < 2; mute++) {
        struct toy *toy = toy_up(state, "S1-S2 S1-H1 S2-H2 S2-H3");
        struct sm_config config = toy_config();
        enum { CLIENT_REREGISTRATION = 1 << 25 };
        uint8_t *info = toy_node(toy, "H3")->ports[1].info;
        wire_set(info, PORT_INFO_CAPABILITY_MASK,
                 wire_get(info, PORT_INFO_CAPABILITY_MASK) | CLIENT_REREGISTRATION);
        toy_kill(toy, 0);
        struct sm *sm = toy->managers[toy_start_manager(toy, "H2", &config)].sm;
        toy_settle(toy);
        assert_int_equal(wire_get(info, PORT_INFO_MASTER_SM_LID), toy_lid(toy, "H2", 1));
        assert_false(sm_has_asked_clients(sm, toy->now));
        toy_node(toy, "H3")->mute = mute;
        sm_reregister_clients(sm, toy->now);
        assert_false(sm_has_asked_clients(sm, toy->now));
        toy_run(toy, 10 * TOY_S);
        assert_int_equal(sm_has_asked_clients(sm, toy->now), !mute);
        toy_run(toy, 51 * TOY_S);
        assert_true(sm_has_asked_clients(sm, toy->now));
        if (!mute)
            toy_close(state);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(the_only_manager_becomes_master),
        TOY_TEST(the_manager_with_the_higher_priority_becomes_master),
        TOY_TEST(with_equal_priorities_the_lower_guid_becomes_master),
        TOY_TEST(a_manager_that_finds_a_master_becomes_standby),
        TOY_TEST(an_inactive_manager_does_not_prevent_mastership),
        TOY_TEST(a_manager_that_does_not_answer_blocks_nothing),
        TOY_TEST(a_get_of_sm_info_is_answered),
        TOY_TEST(each_control_has_the_specified_effect_in_each_state),
        TOY_TEST(a_standby_acknowledges_a_handover_and_takes_over),
        TOY_TEST(a_standby_refuses_a_handover_while_it_synchronizes),
        TOY_TEST(an_inactive_manager_sends_nothing),
        TOY_TEST(a_master_hands_over_to_a_standby_of_higher_rank),
        TOY_TEST(a_lost_handover_is_repeated),
        TOY_TEST(a_standby_of_higher_priority_that_joins_becomes_master),
        TOY_TEST(a_handover_is_not_sent_twice),
        TOY_TEST(a_manager_whose_own_agent_was_mute_becomes_master),
        TOY_TEST(a_manager_that_cannot_read_its_port_does_not_become_master),
        TOY_TEST(a_request_to_look_again_wakes_a_discovering_manager),
        TOY_TEST(a_manager_stands_by_for_the_master_not_for_a_standby_of_higher_rank),
        TOY_TEST(a_manager_awaits_another_one_for_a_limited_time),
        TOY_TEST(a_disabled_manager_repeats_no_request),
        TOY_TEST(the_master_of_lower_rank_hands_over),
        TOY_TEST(the_master_of_higher_rank_stays_and_rediscovers),
        TOY_TEST(a_master_finds_another_one_by_its_polls),
        TOY_TEST(a_master_finds_another_one_when_it_reads_ports),
        TOY_TEST(a_master_finds_another_one_when_it_writes_its_port),
        TOY_TEST(a_master_of_lower_rank_gets_a_trap_until_it_hands_over),
        TOY_TEST(merged_subnets_have_one_master),
        TOY_TEST(a_manager_that_yields_does_not_become_master_again),
        TOY_TEST(a_master_without_a_standby_does_not_yield),
        TOY_TEST(a_master_that_ends_hands_over),
        TOY_TEST(a_master_without_a_standby_ends_at_once),
        TOY_TEST(a_master_knows_whether_all_clients_were_asked_to_register_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
