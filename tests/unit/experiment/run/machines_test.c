/* Virtual machines in scenarios: statements, figures, and checks that can fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/run/run.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int run_text(const char *text, struct run_record *record, struct err *err)
{
    struct run_options options = {0};
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "x.weft", text, strlen(text), err);
    if (status == 0) {
        status = run_scenario(&scenario, &options, record, err);
        scenario_release(&scenario);
    }
    return status;
}

static struct run_record run_ok(const char *text)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    if (run_text(text, &record, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return record;
}

static void assert_refused(const char *text, const char *expected)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    assert_int_equal(run_text(text, &record, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (!strstr(message, expected))
        fail_msg("'%s' is refused with: %s", text, message);
    run_record_release(&record);
}

/* 12 hypervisors, H0 to H11, 3 at each leaf. */
#define TREE  "topology fattree m=3,4 w=1,2 vfs=3 speed=SDR\n"
#define THERE TREE "sm H0\nrun until settled\n"

static double figure(const struct run_record *record, const char *name)
{
    const struct figure *found = results_find(&record->results, name);
    return found ? found->value : NAN;
}

static double last_of(const struct run_record *record, const char *name)
{
    for (size_t i = 0; i < record->results.series.count; i++) {
        const struct series *series = &record->results.series.items[i];
        if (strcmp(series->name, name) == 0 && series->points.count)
            return series->points.items[series->points.count - 1].value;
    }
    return NAN;
}

static void assert_all_hold(const struct run_record *record)
{
    for (size_t i = 0; i < record->checks.count; i++)
        if (!record->checks.items[i].holds)
            fail_msg("%s: %s", record->checks.items[i].line, record->checks.items[i].finding);
    assert_true(record->checks.count > 0);
}

static void vm_statements_are_parsed(void **state)
{
    struct scenario scenario;
    struct err err = {0};
    const char *text = "vm start a at H1\nvm start b\nafter 1ms vm migrate a to auto minimal\n"
                       "vm churn boots 60 moves 0.5 per minute keep 9 until 3s\nvm stop a\n";
    (void)state;
    assert_int_equal(scenario_read_text(&scenario, "x.weft", text, strlen(text), &err), 0);
    assert_int_equal(scenario.statements.count, 5);
    const struct statement *s = scenario.statements.items;
    assert_int_equal(s[0].action.kind, ACTION_START_MACHINE);
    assert_string_equal(s[0].action.node_word.text, "H1");
    assert_null(s[1].action.node_word.text);
    assert_int_equal(s[2].action.kind, ACTION_MOVE_MACHINE);
    assert_true(s[2].action.machine.minimal);
    assert_int_equal(s[2].timing.when, ACTION_AFTER);
    assert_int_equal(s[3].action.kind, ACTION_CHURN);
    assert_int_equal(s[3].action.machine.keep, 9);
    assert_true(s[3].action.machine.absolute && s[3].action.machine.until == 3 * TIME_S);
    assert_int_equal(s[4].action.kind, ACTION_STOP_MACHINE);
    scenario_release(&scenario);
}

static void impossible_vm_statements_are_refused_before_the_run(void **state)
{
    (void)state;
    assert_refused(THERE "vm begin a\n", "'begin' is not a word after 'vm'");
    assert_refused(THERE "vm start\n", "a machine's name");
    assert_refused(THERE "vm migrate a to H1\n", "no 'vm start' starts 'a'");
    assert_refused(THERE "vm start a at H1-vswitch\n", "is not a hypervisor");
    assert_refused(THERE "vm start a at H99\n", "is not a node of this fabric");
    assert_refused(THERE "vm start a\nvm migrate a to H1 quickly\n", "is not a mode of a move");
    assert_refused(THERE "vm churn boots 5 per minute\n", "no end: ");
    assert_refused(THERE "vm churn moves 5 per minute for 1s\n", "a churn needs 'boots N'");
    assert_refused(THERE "set vm model other\n", "is not a model of machines");
    assert_refused(THERE "set vm colour red\n", "is not a setting of machines");
    assert_refused(THERE "set vm model shared-port\nvm start a\n", "need a named hypervisor");
    assert_refused(THERE "vm start a\ntraffic uniform load 0.1 from a to H1\n", "use 'rate'");
    assert_refused(THERE "preset paper\nvm start a\n", "use 'set sm mode ordered'");
    assert_refused("topology clos 3 1 4\nsm S0\nvm start a at H1\n", "is not a hypervisor");
}

static void figures_match_the_cost_of_a_move(void **state)
{
    (void)state;
    struct run_record record =
        run_ok(THERE "vm start a at H1\nrun until settled\ncheck machines\n"
                     "vm migrate a to H10\nrun until settled\n"
                     "check smps Set(VirtualFunction) == 2\ncheck machines\n");
    assert_all_hold(&record);
    assert_true(figure(&record, "vm.a.moves") == 1);
    assert_true(figure(&record, "vm.a.smps.hypervisors") == 2);
    assert_true(figure(&record, "vm.a.smps.tables") >= 1);
    assert_true(figure(&record, "vm.a.smps.tables") <= 12);
    assert_true(figure(&record, "vm.a.switches") <= 6);
    assert_true(figure(&record, "vm.running") == 1);
    assert_true(figure(&record, "vm.start.done") == 1);
    assert_true(isnan(figure(&record, "vm.a.lost"))); /* there is no traffic */
    run_record_release(&record);
}

/* With the papers' processing times, in a mode that closes no ports. */
static void machines_move_with_the_times_of_the_papers(void **state)
{
    (void)state;
    struct run_record record =
        run_ok(THERE "preset paper\nset sm mode ordered\nvm start a at H1\nrun until settled\n"
                     "check machines\nvm migrate a to H10\nrun until settled\n"
                     "check smps Set(VirtualFunction) == 2\ncheck machines\ncheck in-order\n");
    assert_all_hold(&record);
    run_record_release(&record);
}

static void packets_follow_a_machine(void **state)
{
    (void)state;
    struct run_record record = run_ok(
        TREE "sm H0\ntraffic uniform rate 100e3 size 256 from H[56] to a start 5ms\n"
             "traffic uniform rate 100e3 size 256 from a to H7 start 5ms\nrun until settled\n"
             "vm start a at H1\nrun 6ms\nvm migrate a to H10\nrun until settled\nrun for 1ms\n"
             "check machines\ncheck no-loss-of others\ncheck conserved\n");
    assert_all_hold(&record);
    assert_true(figure(&record, "vm.a.delivered") > 500);
    assert_true(figure(&record, "vm.a.downtime") > 0);
    assert_true(figure(&record, "vm.a.downtime") < 1e-3);
    run_record_release(&record);
}

static void losses_of_machines_that_did_not_move_are_counted(void **state)
{
    (void)state;
    struct run_record record =
        run_ok(TREE "sm H0\ntraffic uniform rate 1e6 size 256 from H[56] to H[78] start 5ms\n"
                    "run until settled\nvm start a at H1\nrun 6ms\nfail node H7\nrun for 1ms\n"
                    "check no-loss-of others\n");
    assert_int_equal(run_record_failures(&record), 1);
    run_record_release(&record);
}

static void a_machine_of_a_dead_hypervisor_fails_the_check(void **state)
{
    (void)state;
    struct run_record record = run_ok(THERE "vm start a at H1\nrun until settled\n"
                                            "fail node H1-vswitch\nrun until settled\n"
                                            "check machines\n");
    assert_int_equal(run_record_failures(&record), 1);
    assert_non_null(strstr(record.checks.items[0].finding, "has no function"));
    run_record_release(&record);
}

static void failed_orders_are_recorded_and_counted(void **state)
{
    (void)state;
    struct run_record record = run_ok(THERE "vm start a at H1\nvm start b at H1\nvm start c at H1\n"
                                            "vm start d at H1\nrun until settled\n"
                                            "check vm.failed == 1\ncheck vm.running == 3\n"
                                            "check machines\n");
    assert_all_hold(&record);
    bool told = false;
    for (size_t i = 0; i < record.events.count; i++)
        told |= record.events.items[i].kind == RUN_RECORD_ALARM &&
                strstr(record.events.items[i].text, "could not be started") != NULL;
    assert_true(told);
    run_record_release(&record);
}

static void an_order_moves_to_the_next_master(void **state)
{
    (void)state;
    struct run_record record =
        run_ok(TREE "sm H0 priority 5\nsm H2 poll 10ms\nrun until settled\nvm start a at H1\n"
                    "run until settled\nvm migrate a to H10\nkill sm H0\nrun until settled\n"
                    "check master H2\ncheck machines\ncheck vm.a.moves == 1\n");
    assert_all_hold(&record);
    run_record_release(&record);
}

static void a_churn_is_the_same_for_the_same_seed(void **state)
{
    static const char text[] = THERE "seed 7\nvm churn boots 6e3 moves 6e3 per minute keep 10 for "
                                     "200ms minimal\nrun until settled\ncheck machines\n"
                                     "check vm.start.done == 19\ncheck vm.running == 10\n";
    (void)state;
    struct run_record one = run_ok(text), two = run_ok(text);
    assert_all_hold(&one);
    assert_true(one.hash == two.hash);
    assert_true(figure(&one, "vm.move.done") >= 5);
    assert_true(figure(&one, "vm.stop.done") == 9);
    run_record_release(&one);
    run_record_release(&two);
}

static void machines_have_series(void **state)
{
    (void)state;
    struct run_record record = run_ok(
        TREE "sm H0\ntraffic uniform rate 100e3 size 256 from H[56] to a start 5ms\n"
             "collect vm.running as all called running\ncollect vm.moves as all called moves\n"
             "collect vm.smps as samples 1ms called smps\ncollect vm.pause as max from 0s\n"
             "collect vm.time as all called times\ncollect vm.waiting as max from 0s every 1us\n"
             "collect vm.starts as total from 0s\ncollect vm.stops as total from 0s\n"
             "collect vm.failed as total from 0s\nrun until settled\n"
             "vm start a at H1\nvm start b at H2\nrun 6ms\nvm migrate a to H10\n"
             "run until settled\nvm stop b\nrun until settled\nrun for 2ms\ncheck machines\n");
    assert_all_hold(&record);
    assert_true(last_of(&record, "running") == 1);
    assert_true(last_of(&record, "moves") == 1);
    assert_true(last_of(&record, "smps") ==
                figure(&record, "vm.smps.hypervisors") + figure(&record, "vm.smps.tables"));
    assert_true(last_of(&record, "times") > 0);
    assert_true(figure(&record, "vm.pause.max") == figure(&record, "vm.downtime.most"));
    assert_true(figure(&record, "vm.waiting.max") == 2);
    assert_true(figure(&record, "vm.starts.total") == 2);
    assert_true(figure(&record, "vm.stops.total") == 1);
    assert_true(figure(&record, "vm.failed.total") == 0);
    run_record_release(&record);
    assert_refused(THERE "collect vm.running of H1 as max\n", "there is no 'vm.running' of a node");
}

static void every_peer_queries_again_at_a_shared_port(void **state)
{
    (void)state;
    struct run_record record = run_ok(
        TREE "set vm model shared-port\nsm H0\n"
             "traffic uniform rate 100e3 size 256 from H[567] to a start 5ms\nrun until settled\n"
             "vm start a at H1\nrun 6ms\nvm migrate a to H10\nrun until settled\nrun for 1ms\n"
             "check smps Set == 0\n");
    assert_all_hold(&record);
    assert_true(figure(&record, "vm.queries") == 3);
    assert_true(figure(&record, "vm.queries.time.most") > 0);
    assert_true(figure(&record, "vm.a.lost") >= 1);
    run_record_release(&record);
}

#define SHARED TREE "set vm model shared-port\nsm H0\nrun until settled\n"

/* 6 switches and 12 adapters: without functions, and with 36 of them. */
static void at_shared_ports_only_physical_ports_have_lids(void **state)
{
    static const struct {
        const char *text;
        double lids, functions;
    } models[] = {{SHARED "vm start a at H1\nrun until settled\ncheck machines\n", 18, 36},
                  {THERE "vm start a at H1\nrun until settled\ncheck machines\n", 54, 36}};
    (void)state;
    struct run_record plain =
        run_ok("topology fattree m=3,4 w=1,2\nsm H0\nrun until settled\ncheck active\n");
    for (unsigned i = 0; i < 2; i++) {
        struct run_record record = run_ok(models[i].text);
        assert_all_hold(&record);
        assert_true(figure(&record, "vm.lids") == models[i].lids);
        assert_true(figure(&record, "vm.functions") == models[i].functions);
        /* The manager discovers and writes what it does for plain hosts. */
        bool same = figure(&record, "change.1.smps") == figure(&plain, "change.1.smps");
        assert_true(same == (i == 0));
        run_record_release(&record);
    }
    run_record_release(&plain);
}

static void a_shared_port_has_as_many_machines_as_functions(void **state)
{
    (void)state;
    struct run_record record =
        run_ok(SHARED "vm start a at H1\nvm start b at H1\nvm start c at H1\nvm start d at H1\n"
                      "run until settled\ncheck vm.start.failed == 1\nvm stop a\nvm start e at H1\n"
                      "vm migrate b to H2\nvm migrate b to H1\nrun until settled\n"
                      "check vm.running == 3\ncheck vm.start.failed == 1\ncheck machines\n");
    assert_all_hold(&record);
    assert_true(figure(&record, "vm.b.lid") == figure(&record, "vm.c.lid"));
    assert_true(figure(&record, "vm.b.lid") == figure(&record, "vm.e.lid"));
    run_record_release(&record);
}

static void qp0_is_barred_to_functions_at_shared_ports(void **state)
{
    static const char tail[] = "vm start a at H1\nrun until settled\nvm smp a\nrun until settled\n"
                               "check vm.qp0.sent == 1\ncheck vm.qp0.answered == %d\n"
                               "check vm.qp0.discarded == %d\n";
    char text[1024];
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        int head = snprintf(text, sizeof text, "%s", shared ? SHARED : THERE);
        snprintf(text + head, sizeof text - (size_t)head, tail, !shared, shared);
        struct run_record record = run_ok(text);
        assert_all_hold(&record);
        run_record_release(&record);
    }
    assert_refused(TREE "set vm model shared-port\nsm H3-vf1\n", "no manager can run there");
    assert_refused(TREE "set vm model shared-port\nsm H0\nsm H3-vf1 stopped\n", "QP0 is barred");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vm_statements_are_parsed),
        cmocka_unit_test(impossible_vm_statements_are_refused_before_the_run),
        cmocka_unit_test(figures_match_the_cost_of_a_move),
        cmocka_unit_test(machines_move_with_the_times_of_the_papers),
        cmocka_unit_test(packets_follow_a_machine),
        cmocka_unit_test(losses_of_machines_that_did_not_move_are_counted),
        cmocka_unit_test(a_machine_of_a_dead_hypervisor_fails_the_check),
        cmocka_unit_test(failed_orders_are_recorded_and_counted),
        cmocka_unit_test(an_order_moves_to_the_next_master),
        cmocka_unit_test(a_churn_is_the_same_for_the_same_seed),
        cmocka_unit_test(machines_have_series),
        cmocka_unit_test(every_peer_queries_again_at_a_shared_port),
        cmocka_unit_test(at_shared_ports_only_physical_ports_have_lids),
        cmocka_unit_test(a_shared_port_has_as_many_machines_as_functions),
        cmocka_unit_test(qp0_is_barred_to_functions_at_shared_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
