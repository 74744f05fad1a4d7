/* Problems of ports: errors that their counters show, isolation, less than the ends can do. */
#include "toy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char line[] = "S1-S2 S1-H1 S1-H2 S2-H3";

static void a_port_with_link_errors_is_listed(void **state)
{
    struct toy *toy = toy_up(state, line);
    toy_trap(toy, "H3", 129);
    toy_settle(toy);
    assert_true(toy_logged(toy, "trap 129 from adapter H3"));
    assert_true(toy_logged(toy, "Local link integrity threshold reached at S2 port 2 <-> H3 port "
                                "1"));
    assert_non_null(strstr(toy_problem(toy, PROBLEM_BAD_CABLE), "H3 port 1"));
    toy_run(toy, 601 * TOY_S);
    assert_int_equal(toy_count_problems(toy), 0);
}

/* H3 sends a Set to S1 over S2, by a directed route and with a wrong M_Key. */

static uint32_t port_of(struct toy *toy, const char *name, unsigned number)
{
    const struct subnet *subnet = sm_subnet(toy->sm);
    uint32_t node = map_get(&subnet->by_guid, toy_node(toy, name)->guid);
    return subnet->nodes.items[node].first_port + number;
}

/* The counters of this port rise fast. */
static void report_errors(struct toy *toy, const char *name, unsigned number)
{
    const struct sm_link_errors errors = {.port = port_of(toy, name, number),
                                          .what = "symbol errors",
                                          .count = 70,
                                          .period_ns = 30 * NS_PER_S,
                                          .limit = 60};
    sm_note_error_rate(toy->sm, toy->now, &errors);
}

static unsigned physical_state(struct toy *toy, const char *name, unsigned port)
{
    return (unsigned)wire_get(toy_node(toy, name)->ports[port].info, PORT_INFO_PORT_PHYSICAL_STATE);
}

static void a_port_whose_counters_rise_fast_is_listed(void **state)
{
    struct toy *toy = toy_up(state, line);
    report_errors(toy, "H3", 1);
    toy_settle(toy);
    assert_true(toy_logged(toy, "bad cable: S2 port 2 <-> H3 port 1: H3 port 1 counted 70 symbol "
                                "errors in 30 s"));
    assert_non_null(strstr(toy_problem(toy, PROBLEM_BAD_CABLE),
                           "70 symbol errors in 30 s (limit: 60 a minute)"));
    toy_run(toy, 601 * TOY_S);
    assert_int_equal(toy_count_problems(toy), 0);
}

static struct sm_config isolating_config(void)
{
    struct sm_config config = toy_config();
    config.isolate = SM_ISOLATE_ALL;
    config.isolate_ns = 5 * TOY_SWEEP;
    config.full_every = 1;
    return config;
}

static void a_port_whose_counters_rise_fast_is_isolated_and_tried_again(void **state)
{
    struct sm_config config = isolating_config();
    struct toy *toy = toy_open(state, line);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    uint8_t before[64];
    memcpy(before, toy_node(toy, "S2")->ports[2].info, sizeof before);
    report_errors(toy, "H3", 1);
    toy_settle(toy);
    assert_int_equal(physical_state(toy, "S2", 2), PHYSICAL_DISABLED);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(physical_state(toy, "S2", 2), PHYSICAL_LINK_UP);
    const uint8_t *after = toy_node(toy, "S2")->ports[2].info;
    assert_int_equal(wire_get(after, PORT_INFO_HOQ_LIFE), wire_get(before, PORT_INFO_HOQ_LIFE));
    assert_int_equal(wire_get(after, PORT_INFO_VL_STALL_COUNT),
                     wire_get(before, PORT_INFO_VL_STALL_COUNT));
}

static void the_only_link_to_a_switch_is_not_isolated(void **state)
{
    struct sm_config config = isolating_config();
    struct toy *toy = toy_open(state, line);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    for (unsigned i = 0; i < 3; i++) {
        toy_mark(toy);
        report_errors(toy, "S2", 1);
        toy_run(toy, TOY_S);
        assert_int_equal(toy_logged(toy, "not isolated: S1 port 1 <-> S2 port 1"), i == 0);
    }
    assert_int_equal(physical_state(toy, "S2", 1), PHYSICAL_LINK_UP);
    assert_non_null(strstr(toy_problem(toy, PROBLEM_BAD_CABLE), "S1 port 1 <-> S2 port 1"));
}

static void another_master_tries_an_isolated_port_again_but_not_one_disabled_by_hand(void **state)
{
    struct sm_config config = isolating_config();
    struct toy *toy = toy_open(state, "S1-S2 S1-H1 S1-H2 S2-H3 S2-H4");
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    for (unsigned port = 2; port <= 3; port++) {
        wire_set(toy_node(toy, "S2")->ports[port].info, PORT_INFO_HOQ_LIFE, 18);
        wire_set(toy_node(toy, "S2")->ports[port].info, PORT_INFO_VL_STALL_COUNT, 7);
    }
    toy_run(toy, 2 * TOY_SWEEP); /* it reads them */
    report_errors(toy, "S2", 2);
    assert_int_equal(sm_set_port(toy->sm, toy->now, "S2", 3, false, NULL), 0);
    toy_settle(toy);
    assert_int_equal(physical_state(toy, "S2", 2), PHYSICAL_DISABLED);
    assert_int_equal(physical_state(toy, "S2", 3), PHYSICAL_DISABLED);
    config.isolate = SM_ISOLATE_NONE;
    toy_kill(toy, 0);
    toy_start_manager(toy, "H1", &config);
    toy_run(toy, 3 * TOY_SWEEP);
    assert_true(toy_logged(toy, "S2 port 2 was isolated by an earlier master"));
    assert_int_equal(physical_state(toy, "S2", 2), PHYSICAL_DISABLED);
    toy_run(toy, 7 * TOY_SWEEP);
    assert_int_equal(physical_state(toy, "S2", 2), PHYSICAL_LINK_UP);
    assert_int_equal(physical_state(toy, "S2", 3), PHYSICAL_DISABLED);
    const uint8_t *info = toy_node(toy, "S2")->ports[2].info;
    assert_int_equal(wire_get(info, PORT_INFO_HOQ_LIFE), 18);
    assert_int_equal(wire_get(info, PORT_INFO_VL_STALL_COUNT), 7);
}

static void a_link_below_its_capability_is_listed(void **state)
{
    struct sm_config config = toy_config();
    struct toy *toy = toy_open(state, line);
    struct {
        const char *node;
        unsigned port;
    } const ends[] = {{"S2", 2}, {"H3", 1}};
    for (unsigned i = 0; i < 2; i++) {
        uint8_t *info = toy_node(toy, ends[i].node)->ports[ends[i].port].info;
        wire_set(info, PORT_INFO_LINK_WIDTH_SUPPORTED, 3);
        wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, 7);
        wire_set(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, 7);
        wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, 2);
        wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, 4);
        wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 2);
    }
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    assert_true(toy_logged(toy, "slow link: S2 port 2 <-> H3 port 1 runs at 4X EDR; both ends "
                                "support 4X HDR"));
    assert_non_null(
        strstr(toy_problem(toy, PROBLEM_SLOW_LINK), "4X EDR; both ends support 4X HDR"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_port_with_link_errors_is_listed),
        TOY_TEST(a_port_whose_counters_rise_fast_is_listed),
        TOY_TEST(a_port_whose_counters_rise_fast_is_isolated_and_tried_again),
        TOY_TEST(the_only_link_to_a_switch_is_not_isolated),
        TOY_TEST(another_master_tries_an_isolated_port_again_but_not_one_disabled_by_hand),
        TOY_TEST(a_link_below_its_capability_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
