/* Floods of traps and SMInfo: what is beyond the budget of a port is ignored, and real changes are
 * found all the same. */
#include "toy.h"

#include "wire/mad.h"

#include <string.h>

static const char ring[] = "S1-S2 S2-S3 S3-S4 S4-S1 S1-H1 S2-H2 S3-H3 S4-H4";

/* A trap from port `from`, in the name of port `claimed`. */
static struct sm_message make_trap(struct toy *toy, const char *from, const char *claimed,
                                   unsigned number)
{
    struct sm_message message = {.lid = (uint16_t)toy_lid(toy, from, from[0] == 'H')};
    uint8_t *mad = message.mad, *notice = mad + SMP_DATA_OFFSET;
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_LID);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_TRAP);
    wire_set(mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_NOTICE);
    wire_set(notice, NOTICE_IS_GENERIC, 1);
    wire_set(notice, NOTICE_TRAP_NUMBER, number);
    wire_set(notice, NOTICE_ISSUER_LID, toy_lid(toy, claimed, claimed[0] == 'H'));
    return message;
}

static void storm(struct toy *toy, const struct sm_message *trap, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        sm_receive(toy->sm, toy->now, trap);
}

static unsigned lines_logged(const struct toy *toy)
{
    unsigned lines = 0;
    for (size_t i = 0; i < toy->events.length; i++)
        lines += toy->events.data[i] == '\n';
    return lines;
}

static void a_trap_in_the_name_of_another_port_is_ignored(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message trap = make_trap(toy, "H2", "S3", 128);
    assert_false(sm_receive(toy->sm, toy->now, &trap));
    toy_run(toy, TOY_S);
    assert_int_equal(toy_count(toy, NULL, 0, METHOD_SET), 0);
    assert_int_equal(lines_logged(toy), 0);
}

static void a_storm_of_forged_traps_is_two_lines_in_the_log(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message trap = make_trap(toy, "H2", "S3", 128);
    storm(toy, &trap, 100000);
    toy_run(toy, 11 * TOY_S);
    assert_int_equal(toy_count(toy, NULL, ATTRIBUTE_SWITCH_INFO, METHOD_GET), 4);
    assert_int_equal(toy_count(toy, NULL, 0, 0), 4);
    assert_true(toy_logged(toy, "too many traps in the name of another port from H2"));
    assert_true(toy_logged(toy, "99,989 more were ignored"));
    assert_true(lines_logged(toy) <= 2);
}

/* Even if the packet has the LID of the switch, too. */
static void a_storm_does_not_delay_the_detection_of_a_lost_link(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message trap = make_trap(toy, "S3", "S3", 128);
    storm(toy, &trap, 100000);
    toy_settle(toy);
    storm(toy, &trap, 1000);
    toy->traps = false; /* the real trap is lost among them */
    toy_cut(toy, "S3", "S4");
    for (unsigned ms = 0; ms < 60; ms++) {
        storm(toy, &trap, 100);
        toy_run(toy, TOY_MS);
    }
    toy_settle(toy);
    toy_assert_up(toy);
    assert_true(toy_logged(toy, "link down: "));
}

static void a_storm_costs_few_smps(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message trap = make_trap(toy, "S3", "S3", 128);
    storm(toy, &trap, 51);
    toy_settle(toy);
    toy_mark(toy);
    for (unsigned ms = 0; ms < 1000; ms++) {
        storm(toy, &trap, 100);
        toy_run(toy, TOY_MS);
    }
    assert_in_range(toy_count(toy, NULL, 0, 0), 4, 84); /* four switches each 50 ms */
}

static void a_storm_of_one_host_does_not_affect_the_traps_of_others(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message forged = make_trap(toy, "H2", "S3", 128);
    struct sm_message own = make_trap(toy, "H2", "H2", 144);
    storm(toy, &forged, 1000);
    storm(toy, &own, 1000);
    toy_settle(toy);
    toy_mark(toy);
    toy_cut(toy, "S3", "S4");
    toy_settle(toy);
    assert_true(toy_logged(toy, "trap 128 from switch S3"));
    toy_assert_up(toy);
}

static void a_babbling_port_is_disabled_if_so_configured(void **state)
{
    struct sm_config config = toy_config();
    config.isolate_babbling = true;
    config.isolate_ns = 600 * TOY_S;
    struct toy *toy = toy_open(state, ring);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    struct sm_message trap = make_trap(toy, "H2", "S3", 128);
    toy_mark(toy);
    storm(toy, &trap, 11);
    toy_take_outputs(toy);
    assert_true(toy_logged(toy, "isolated: S2 port 3 <-> H2 port 1 sends too many traps"));
    assert_int_equal(toy_count(toy, "S2", ATTRIBUTE_PORT_INFO, METHOD_SET), 1);
}

/* Another host can provoke them. */
static void a_port_that_reports_key_violations_is_not_disabled(void **state)
{
    struct sm_config config = toy_config();
    config.isolate_babbling = true;
    config.isolate_ns = 600 * TOY_S;
    struct toy *toy = toy_open(state, ring);
    toy_start_manager(toy, "H1", &config);
    toy_settle(toy);
    struct sm_message violation = make_trap(toy, "H2", "H2", 257);
    struct sm_message own = make_trap(toy, "H2", "H2", 144);
    storm(toy, &violation, 1000);
    assert_false(toy_logged(toy, "isolated"));
    assert_true(sm_receive(toy->sm, toy->now, &own)); /* its own traps have their own budget */
}

static void a_flood_of_requests_for_sm_info_is_limited_and_others_are_answered(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message get = make_trap(toy, "H2", "H2", 0);
    struct sm_output output;
    unsigned answers = 0;
    wire_set(get.mad, MAD_METHOD, METHOD_GET);
    wire_set(get.mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_SM_INFO);
    storm(toy, &get, 100000);
    while (sm_next_output(toy->sm, toy->now, &output))
        answers += output.kind == SM_SEND;
    assert_int_equal(answers, 2000);
    get.lid = (uint16_t)toy_lid(toy, "H3", 1);
    storm(toy, &get, 1);
    assert_true(sm_next_output(toy->sm, toy->now, &output));
    assert_int_equal(output.kind, SM_SEND);
    assert_int_equal(output.message.lid, get.lid);
}

/* A directed route: S1 is entered from S2 by its port 1, S2 from H2 by its port 2. */
static void the_origin_of_a_directed_request_is_found_by_its_return_path(void **state)
{
    struct toy *toy = toy_up(state, "S1-S2 S2-H2 S1-H1");
    struct sm_message get = {.lid = LID_PERMISSIVE};
    struct sm_output output;
    wire_set(get.mad, MAD_BASE_VERSION, 1);
    wire_set(get.mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(get.mad, MAD_CLASS_VERSION, 1);
    wire_set(get.mad, MAD_METHOD, METHOD_GET);
    wire_set(get.mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_SM_INFO);
    wire_set(get.mad, SMP_HOP_COUNT, 3);
    wire_set_at(get.mad, SMP_RETURN_PATH, 1, 2);
    wire_set_at(get.mad, SMP_RETURN_PATH, 2, 1);
    wire_set_at(get.mad, SMP_RETURN_PATH, 3, 1);
    storm(toy, &get, 5000);
    unsigned answers = 0;
    while (sm_next_output(toy->sm, toy->now, &output))
        answers += output.kind == SM_SEND;
    assert_int_equal(answers, 2000);
    storm(toy, &get, 1);
    toy_run(toy, 11 * TOY_S);
    assert_true(toy_logged(toy, "requests for SMInfo from H2: 3,000 more were ignored"));
}

/* The answer of a poll goes before everything that waits. */
static void an_answer_about_mastership_is_sent_first(void **state)
{
    struct toy *toy = toy_up(state, ring);
    struct sm_message trap = make_trap(toy, "S3", "S3", 128);
    struct sm_message get = make_trap(toy, "H2", "H2", 0);
    struct sm_output output;
    wire_set(get.mad, MAD_METHOD, METHOD_GET);
    wire_set(get.mad, MAD_ATTRIBUTE_ID, ATTRIBUTE_SM_INFO);
    storm(toy, &trap, 40);
    storm(toy, &get, 1);
    assert_true(sm_next_output(toy->sm, toy->now, &output));
    assert_int_equal(output.kind, SM_SEND);
    assert_int_equal(wire_get(output.message.mad, MAD_ATTRIBUTE_ID), ATTRIBUTE_SM_INFO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TOY_TEST(a_trap_in_the_name_of_another_port_is_ignored),
        TOY_TEST(a_storm_of_forged_traps_is_two_lines_in_the_log),
        TOY_TEST(a_storm_does_not_delay_the_detection_of_a_lost_link),
        TOY_TEST(a_storm_costs_few_smps),
        TOY_TEST(a_storm_of_one_host_does_not_affect_the_traps_of_others),
        TOY_TEST(a_babbling_port_is_disabled_if_so_configured),
        TOY_TEST(a_port_that_reports_key_violations_is_not_disabled),
        TOY_TEST(a_flood_of_requests_for_sm_info_is_limited_and_others_are_answered),
        TOY_TEST(the_origin_of_a_directed_request_is_found_by_its_return_path),
        TOY_TEST(an_answer_about_mastership_is_sent_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
