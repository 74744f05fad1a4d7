/* Statements of scenarios, and errors with line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reading.h"

#include "base/rng.h"
#include "base/time.h"
#include "wire/mad.h"

#include <errno.h>
#include <string.h>

static void statements_keep_the_order_of_the_file(void **state)
{
    struct scenario scenario =
        read_scenario("# a remark\n\ntopology clos 3 1 4\nsm S0\nrun 5s\ncheck active\n");
    (void)state;
    assert_int_equal(scenario.statements.count, 4);
    assert_int_equal(scenario.statements.items[0].kind, STATEMENT_TOPOLOGY);
    assert_int_equal(scenario.statements.items[0].word_count, 4);
    assert_int_equal(scenario.statements.items[1].kind, STATEMENT_MANAGER);
    assert_int_equal(scenario.statements.items[2].kind, STATEMENT_RUN);
    assert_int_equal(scenario.statements.items[3].kind, STATEMENT_CHECK);
    assert_int_equal(scenario.statements.items[3].word.line, 6);
    scenario_release(&scenario);
}

static void a_file_may_be_empty_and_need_not_end_with_a_newline(void **state)
{
    struct scenario scenario = read_scenario("");
    (void)state;
    assert_int_equal(scenario.statements.count, 0);
    scenario_release(&scenario);
    scenario = read_scenario("run 1s");
    assert_int_equal(scenario.statements.count, 1);
    assert_string_equal(scenario.statements.items[0].line, "run 1s");
    scenario_release(&scenario);
}

static void actions_without_a_time_apply_now(void **state)
{
    struct scenario scenario =
        read_scenario("at 60.1s fail switch S15\nafter 5ms restore link S1 2\nflap S1 3\n");
    const struct statement *s = scenario.statements.items;
    (void)state;
    assert_int_equal(s[0].timing.when, ACTION_AT);
    assert_int_equal(s[0].timing.time.ps, 60 * TIME_S + 100 * TIME_MS);
    assert_int_equal(s[0].action.kind, ACTION_FAIL_SWITCH);
    assert_int_equal(s[1].timing.when, ACTION_AFTER);
    assert_int_equal(s[1].action.kind, ACTION_RESTORE_LINK);
    assert_string_equal(s[1].action.port_word.text, "2");
    assert_int_equal(s[2].timing.when, ACTION_NOW);
    assert_int_equal(s[2].action.kind, ACTION_FLAP);
    scenario_release(&scenario);
}

static void drops_apply_to_all_to_a_link_or_to_an_attribute(void **state)
{
    struct scenario scenario = read_scenario("drop 5%\ndrop 25% S1 2\ndrop 50% attribute PortInfo\n"
                                             "drop 1% S1 2 attribute 0x19\n");
    const struct statement *s = scenario.statements.items;
    (void)state;
    assert_null(s[0].action.node_word.text);
    assert_int_equal(s[0].action.attribute, 0);
    assert_string_equal(s[1].action.node_word.text, "S1");
    assert_int_equal(s[1].action.value, RNG_CERTAIN / 4);
    assert_null(s[2].action.node_word.text);
    assert_int_equal(s[2].action.attribute, ATTRIBUTE_PORT_INFO);
    assert_string_equal(s[3].action.port_word.text, "2");
    assert_int_equal(s[3].action.attribute, ATTRIBUTE_LINEAR_FORWARDING_TABLE);
    scenario_release(&scenario);
}

static void runs_go_to_a_time_for_a_time_or_until_settled(void **state)
{
    struct scenario scenario =
        read_scenario("run 5s\nrun for 2s\nrun until settled\nrun until settled limit 3s\n");
    const struct statement *s = scenario.statements.items;
    (void)state;
    assert_int_equal(s[0].run.kind, RUN_TO);
    assert_int_equal(s[1].run.kind, RUN_FOR);
    assert_int_equal(s[1].run.time.ps, 2 * TIME_S);
    assert_int_equal(s[2].run.kind, RUN_UNTIL_SETTLED);
    assert_int_equal(s[2].run.time.ps, 60 * TIME_S);
    assert_int_equal(s[3].run.time.ps, 3 * TIME_S);
    scenario_release(&scenario);
}

static void smps_are_counted_by_method_and_attribute(void **state)
{
    struct scenario scenario =
        read_scenario("check smps all <= 5\ncheck smps Set(PortInfo) == 0\n"
                      "check smps Get >= 2\ncheck smps linearforwardingtable == 1\n");
    const struct statement *s = scenario.statements.items;
    (void)state;
    assert_int_equal(s[0].check.method, 0);
    assert_int_equal(s[0].check.attribute, 0);
    assert_int_equal(s[1].check.method, METHOD_SET);
    assert_int_equal(s[1].check.attribute, ATTRIBUTE_PORT_INFO);
    assert_int_equal(s[2].check.method, METHOD_GET);
    assert_int_equal(s[2].check.comparison, COMPARE_AT_LEAST);
    assert_int_equal(s[3].check.attribute, ATTRIBUTE_LINEAR_FORWARDING_TABLE);
    scenario_release(&scenario);
}

static void comparisons_compare(void **state)
{
    struct check_statement check = {.value = 5, .comparison = COMPARE_AT_MOST};
    (void)state;
    assert_true(check_statement_compare(&check, 5));
    assert_false(check_statement_compare(&check, 6));
    check.comparison = COMPARE_EQUAL;
    assert_true(check_statement_compare(&check, 5));
    assert_false(check_statement_compare(&check, 4));
    check.comparison = COMPARE_AT_LEAST;
    assert_true(check_statement_compare(&check, 5));
    assert_false(check_statement_compare(&check, 4));
}

static void wrong_statements_are_refused_with_line_and_column(void **state)
{
    (void)state;
    assert_refused("run 5s\nchekc active",
                   "x.weft:2:1: 'chekc' is not a statement; did you mean 'check'?");
    assert_refused("check", "x.weft:1:6: the line ends here: expected discovered");
    assert_refused("check actve", "x.weft:1:7: 'actve' is not a check; did you mean 'active'?");
    assert_refused("check smps Portinfos == 1",
                   "x.weft:1:12: 'Portinfos' is not an attribute of SMPs; did "
                   "you mean 'PortInfo'?");
    assert_refused("check smps Set( == 1", "x.weft:1:12: 'Set(': expected a form such as");
    assert_refused("check smps all < 1",
                   "x.weft:1:16: '<' is not a comparison: expected <=, ==, >= or =");
    assert_refused("check master", "x.weft:1:13: the line ends here: expected a node");
    assert_refused("check time-to-settle <= 5", "x.weft:1:25: '5' is not a time");
    assert_refused("run", "x.weft:1:4: the line ends here: expected a time");
    assert_refused("run until sunset", "x.weft:1:11: 'sunset': expected settled");
    assert_refused("run until settled 5s", "x.weft:1:19: '5s': expected limit");
    assert_refused("run 5s now", "x.weft:1:8: unexpected 'now' at the end of the line");
    assert_refused("at 5s", "x.weft:1:6: the line ends here: expected fail");
    assert_refused("at soon fail link S1 2", "x.weft:1:4: 'soon' is not a time");
    assert_refused("at 5s fial link S1 2",
                   "x.weft:1:7: 'fial' is not an action; did you mean 'fail'?");
    assert_refused("fail lnik S1 2",
                   "x.weft:1:6: 'lnik' is not a word after 'fail': expected link, switch or "
                   "node; did you mean 'link'?");
    assert_refused("fail link S1", "x.weft:1:13: the line ends here: expected a port's number");
    assert_refused("drop 200%", "x.weft:1:6: '200%' is not a percentage");
    assert_refused("drop 2% S1 2 attributes X", "x.weft:1:14: 'attributes': expected attribute");
    assert_refused("kill S1", "x.weft:1:6: 'S1': expected sm");
    assert_refused("seed many", "x.weft:1:6: 'many': expected a seed from 0 to");
    assert_refused("preset old", "x.weft:1:8: 'old' is not a preset: expected today or paper");
    assert_refused("topology", "x.weft:1:9: the line ends here: expected a file");
    assert_refused("sm S1 engine", "x.weft:1:13: the line ends here: expected a value");
    assert_refused("set mtu", "x.weft:1:8: the line ends here: expected a value");
    assert_refused("set switch S1* mtu 256", "x.weft:1:12: 'S1*': expected '*'");
}

static void errors_name_unreadable_files(void **state)
{
    struct scenario scenario;
    struct err err = {0};
    (void)state;
    assert_int_equal(scenario_read(&scenario, "/nonexistent/x.weft", &err), -ENOENT);
    assert_string_equal(err.file, "/nonexistent/x.weft");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_keep_the_order_of_the_file),
        cmocka_unit_test(a_file_may_be_empty_and_need_not_end_with_a_newline),
        cmocka_unit_test(actions_without_a_time_apply_now),
        cmocka_unit_test(drops_apply_to_all_to_a_link_or_to_an_attribute),
        cmocka_unit_test(runs_go_to_a_time_for_a_time_or_until_settled),
        cmocka_unit_test(smps_are_counted_by_method_and_attribute),
        cmocka_unit_test(comparisons_compare),
        cmocka_unit_test(wrong_statements_are_refused_with_line_and_column),
        cmocka_unit_test(errors_name_unreadable_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
