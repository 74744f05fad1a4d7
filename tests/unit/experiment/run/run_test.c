/* Runs of scenarios: time, order, and the record. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/run/run.h"

#include <errno.h>
#include <string.h>

/* Settings of the command line, and a seed unless it is 0. */
struct line {
    const char *settings[4];
    uint64_t seed;
};

static int run_text(const char *text, const struct line *line, struct run_record *record,
                    struct err *err)
{
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "x.weft", text, strlen(text), err);
    if (status)
        return status;
    for (size_t i = 0; i < 4 && line->settings[i] && status == 0; i++)
        status = scenario_override(&scenario, line->settings[i], err);
    if (line->seed)
        scenario_override_seed(&scenario, line->seed);
    if (status == 0)
        status = run_scenario(&scenario, &(struct run_options){0}, record, err);
    scenario_release(&scenario);
    return status;
}

static struct run_record run_ok(const char *text)
{
    struct line options = {0};
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    if (run_text(text, &options, &record, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return record;
}

static void assert_refused(const char *text, const char *expected)
{
    struct line options = {0};
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    assert_int_equal(run_text(text, &options, &record, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (strncmp(message, expected, strlen(expected)) != 0)
        fail_msg("it is refused with: %s", message);
    run_record_release(&record);
}

static const struct run_record_event *find_event(const struct run_record *record,
                                                 enum run_record_kind kind, const char *text)
{
    for (size_t i = 0; i < record->events.count; i++)
        if (record->events.items[i].kind == kind && strstr(record->events.items[i].text, text))
            return &record->events.items[i];
    fail_msg("nobody says '%s'", text);
    return NULL;
}

/* 1: the check holds, 0: it does not, -1: there is none. */
static int outcome(const struct run_record *record, size_t index)
{
    if (!record->checks.items || index >= record->checks.count)
        return -1;
    return record->checks.items[index].holds;
}

static unsigned line_of(const struct run_record *record, size_t index)
{
    return record->checks.items && index < record->checks.count ? record->checks.items[index].number
                                                                : 0;
}

#define NET "topology figure1\nsm S1 sweep 1s\n"

static void actions_are_applied_at_their_time_in_order(void **state)
{
    struct run_record record =
        run_ok(NET "at 3s fail link S2 2\nat 2s flap S3 4\nat 3s reroute S1\n"
                   "run 4s\nafter 500ms fail switch S9\nrun 5s\n");
    (void)state;
    size_t seen = 0;
    static const struct {
        uint64_t time;
        const char *text;
    } expected[] = {{2 * TIME_S, "flap S3 4"},
                    {3 * TIME_S, "fail link S2 2"},
                    {3 * TIME_S, "reroute S1"},
                    {4 * TIME_S + 500 * TIME_MS, "fail switch S9"}};
    for (size_t i = 0; i < record.events.count; i++) {
        if (record.events.items[i].kind != RUN_RECORD_ACTION)
            continue;
        assert_true(seen < sizeof expected / sizeof expected[0]);
        assert_int_equal(record.events.items[i].time, expected[seen].time);
        assert_string_equal(record.events.items[i].text, expected[seen++].text);
    }
    assert_int_equal(seen, 4);
    assert_int_equal(record.end, 5 * TIME_S);
    run_record_release(&record);
}

static void a_run_until_settled_ends_when_the_fabric_is_up(void **state)
{
    struct run_record record = run_ok(NET "run until settled\ncheck in-order\n");
    (void)state;
    assert_int_equal(run_record_failures(&record), 0);
    assert_true(record.end < 100 * TIME_MS);
    assert_int_equal(record.changes.count, 1);
    assert_non_null(record.changes.items);
    assert_true(record.changes.items[0].finished);
    assert_int_equal(record.changes.items[0].begin, 0);
    assert_true(record.changes.items[0].routed > 0);
    assert_true(record.changes.items[0].blocks >= 8);
    run_record_release(&record);
}

/* The engine refuses the network: the manager is idle again at once, and the next request begins
 * another change. */
static void a_change_without_routes_ends_when_they_are_refused(void **state)
{
    struct run_record record =
        run_ok("topology figure1\nsm S1 engine dor\nrun 1s\nat 2s reroute S1\nrun 2s\n");
    (void)state;
    assert_int_equal(record.changes.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_false(record.changes.items[i].finished);
        assert_non_null(strstr(record.changes.items[i].refusal, "dor"));
        assert_true(record.changes.items[i].end < i * 2 * TIME_S + 100 * TIME_MS);
    }
    run_record_release(&record);
}

/* Nothing changes in the subnet of the master. */
static void a_manager_that_becomes_standby_ends_its_change(void **state)
{
    struct run_record record =
        run_ok("topology figure1\nsm S1 priority 5\nsm S2 priority 1 stopped\n"
               "run until settled\nstart sm S2\nrun 1s\n");
    (void)state;
    assert_int_equal(record.changes.count, 2);
    assert_true(record.changes.items[0].finished);
    assert_string_equal(record.changes.items[1].who, "S2");
    assert_false(record.changes.items[1].finished);
    assert_null(record.changes.items[1].refusal);
    assert_true(record.changes.items[1].end < record.end);
    run_record_release(&record);
}

static void an_undetected_fault_is_not_settled(void **state)
{
    struct run_record record =
        run_ok("topology figure1\nset traps no\nsm S1 sweep 10s\n"
               "run until settled\nrun 5s\nfail link S2 2\nrun until settled\n"
               "check in-order\ncheck time-to-settle >= 4s\n");
    (void)state;
    assert_int_equal(run_record_failures(&record), 0);
    assert_true(record.end > 10 * TIME_S); /* the sweep found it */
    run_record_release(&record);
}

static void a_run_that_does_not_settle_in_time_is_a_failed_check(void **state)
{
    struct run_record record = run_ok(NET "drop 100%\nrun until settled limit 3s\n");
    (void)state;
    assert_int_equal(record.checks.count, 1);
    assert_int_equal(run_record_failures(&record), 1);
    assert_int_equal(record.end, 3 * TIME_S);
    run_record_release(&record);
}

static void a_check_that_fails_does_not_end_the_run(void **state)
{
    struct run_record record = run_ok(NET "check settled\nrun until settled\ncheck settled\n");
    (void)state;
    assert_int_equal(record.checks.count, 2);
    assert_int_equal(outcome(&record, 0), 0);
    assert_int_equal(outcome(&record, 1), 1);
    assert_int_equal(line_of(&record, 1), 5);
    run_record_release(&record);
}

static void smps_are_those_of_the_last_run(void **state)
{
    struct run_record record = run_ok(NET "run until settled\ncheck smps NodeInfo >= 15\n"
                                          "run for 200ms\ncheck smps all == 0\n");
    (void)state;
    assert_int_equal(run_record_failures(&record), 0);
    run_record_release(&record);
}

static void events_are_those_of_the_last_run(void **state)
{
    struct run_record record =
        run_ok(NET "run until settled\ncheck event \"subnet up\"\n"
                   "run for 200ms\ncheck no-event \"subnet up\"\ncheck event \"subnet up\"\n");
    (void)state;
    assert_int_equal(outcome(&record, 0), 1);
    assert_int_equal(outcome(&record, 1), 1);
    assert_int_equal(outcome(&record, 2), 0);
    run_record_release(&record);
}

static void a_standby_replaces_a_killed_manager(void **state)
{
    struct run_record record =
        run_ok("topology figure1\nsm S1 priority 3\nsm H7 priority 1\n"
               "run until settled\nrun for 2s\ncheck master S1\ncheck master H7\n"
               "kill sm S1\nrun until settled limit 5s\ncheck master H7\n"
               "start sm S1\nrun for 15s\nrun until settled\ncheck master S1\n");
    (void)state;
    assert_int_equal(outcome(&record, 0), 1);
    assert_int_equal(outcome(&record, 1), 0);
    assert_int_equal(outcome(&record, 2), 1);
    assert_int_equal(outcome(&record, 3), 1);
    assert_int_equal(record.checks.count, 4);
    run_record_release(&record);
}

static void a_stopped_manager_waits_for_its_start(void **state)
{
    struct run_record record = run_ok("topology figure1\nsm S1 stopped\nrun 1s\ncheck settled\n"
                                      "start sm S1\nrun until settled\ncheck in-order\n");
    (void)state;
    assert_int_equal(outcome(&record, 0), 0);
    assert_int_equal(outcome(&record, 1), 1);
    run_record_release(&record);
}

static void a_failed_node_stops_its_manager(void **state)
{
    struct run_record record =
        run_ok("topology figure1\nsm H4\nsm H7\nrun until settled\n"
               "fail node H4\nrun until settled limit 10s\ncheck master H7\n");
    (void)state;
    find_event(&record, RUN_RECORD_ACTION, "the manager at H4 stops with it");
    assert_int_equal(run_record_failures(&record), 0);
    run_record_release(&record);
}

static void the_command_line_overrides_the_file(void **state)
{
    struct line options = {{"sm.engine=pira", "preset=today", "topology.switches=5", "mtu=1024"},
                           9};
    struct run_record record = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(run_text("topology ring switches=3\nseed 4\nset mtu 2048\nset sm engine fera\n"
                              "sm S0\nrun until settled\n",
                              &options, &record, &err),
                     0);
    assert_int_equal(record.seed, 9);
    assert_int_equal(record.switches, 5);
    find_event(&record, RUN_RECORD_EVENT, "pira");
    run_record_release(&record);
}

static void attributes_apply_to_patterns_of_nodes(void **state)
{
    struct run_record record = run_ok("topology figure1\nset S[23] traps no\nsm S1 sweep 10s\n"
                                      "run until settled\nrun 5s\nfail link S2 4\nrun for 2s\n"
                                      "check no-event \"trap 128\"\nfail link S5 3\nrun for 2s\n"
                                      "check event \"trap 128\"\n");
    (void)state;
    assert_int_equal(outcome(&record, 0), 1);
    assert_int_equal(outcome(&record, 1), 1);
    run_record_release(&record);
}

static void wrong_settings_of_the_command_line_are_refused(void **state)
{
    static const char *const wrong[] = {
        "sm.engin=pira", "sm.engine=no", "preset=old", "topology.x=1", "mtu", "mtu=7", "nothing=1"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct line options = {.settings = {wrong[i]}};
        struct run_record record = {0};
        struct err err = {0};
        if (run_text("topology ring\nsm S0\n", &options, &record, &err) != -EINVAL)
            fail_msg("%s is taken", wrong[i]);
        run_record_release(&record);
    }
}

static void names_and_values_are_checked_before_the_run(void **state)
{
    (void)state;
    assert_refused("run 1s\n", "x.weft: no 'topology' statement");
    assert_refused("topology ring\ntopology ring\n", "x.weft:2:1: a second topology");
    assert_refused("topology rign\n", "x.weft:1:10: no kind of fabric is called 'rign'");
    assert_refused("topology no.net\n", "x.weft:1:10: ");
    assert_refused("topology no.net 5\n", "x.weft:1:17: '5': a file takes no parameters");
    assert_refused("topology figure1\nsm S11\n",
                   "x.weft:2:4: 'S11' is not a node of this fabric; did you mean 'S1'?");
    assert_refused("topology figure1\nsm S1:2\n",
                   "x.weft:2:4: a manager runs at port 0 of a switch");
    assert_refused("topology figure1\nsm S1\nsm S1\n", "x.weft:3:4: there is a manager at 'S1'");
    assert_refused("topology figure1\nsm S1 windwo 3\n",
                   "x.weft:2:7: 'windwo' is not a setting of a manager; did you mean 'window'?");
    assert_refused("topology figure1\nsm S1 window none\n",
                   "x.weft:2:14: window: 'none': expected");
    assert_refused("topology figure1\nset sm window none\nsm S1\n", "x.weft:2:15: window: 'none'");
    assert_refused("topology figure1\nset mut 256\n",
                   "x.weft:2:5: 'mut' is not an attribute of a fabric; did you mean 'mtu'?");
    assert_refused("topology figure1\nset mtu 3\n", "x.weft:2:9: mtu: '3' does not fit");
    assert_refused("topology figure1\nsm S1\nrun 1s\nfail link S1 9\n",
                   "x.weft:4:14: '9' is not a port of 'S1', which has 1 to 4");
    assert_refused("topology figure1\nfail link S1 4\n",
                   "x.weft:2:14: nothing is connected to port 4");
    assert_refused("topology figure1\nfail switch H7\n", "x.weft:2:13: 'H7' is not a switch");
    assert_refused("topology figure1\nkill sm S2\n", "x.weft:2:9: there is no manager at 'S2'");
    assert_refused("topology figure1\ncheck master S0\n", "x.weft:2:14: 'S0' is not a node");
    assert_refused("topology figure1\nset X* mtu 256\nsm S1\n",
                   "x.weft:2:5: no node of the fabric matches 'X*'");
}

static void traffic_that_can_never_flow_is_refused(void **state)
{
    (void)state;
    assert_refused("topology figure1\ntraffic uniform rate 1e3\nrun 1s\n",
                   "x.weft:2:1: no packet can ever flow: there is no subnet manager");
    assert_refused("topology figure1\nsm S1 stopped\ntraffic uniform rate 1e3\nrun 1s\n",
                   "x.weft:3:1: no packet can ever flow: no 'start sm' starts a stopped manager");
    struct run_record record = {0};
    struct err err = {0};
    assert_int_equal(run_text("topology figure1\nsm S1 stopped\ntraffic uniform rate 1e3\n"
                              "at 1ms start sm S1\nrun 20ms\ncheck delivered >= 1\n",
                              &(struct line){0}, &record, &err),
                     0);
    assert_int_equal(run_record_failures(&record), 0);
    run_record_release(&record);
}

static void times_can_count_from_settled(void **state)
{
    struct run_record record = {0};
    struct err err = {0};
    uint64_t actions[2] = {0}, up = 0;
    size_t found = 0;
    (void)state;
    assert_int_equal(run_text(NET "traffic uniform rate 1e6 start settled+1ms stop settled+3ms\n"
                                  "measure from settled+2ms to settled+3ms\n"
                                  "collect made as total from settled+1ms to settled+2ms\n"
                                  "collect delivered as buckets 1ms from settled+3ms called late\n"
                                  "run until settled\n"
                                  "run settled+4ms\n"
                                  "at settled+5ms flap S1 1\n"
                                  "run until settled\n"
                                  "at settled fail switch S3\n"
                                  "run settled+1ms\n"
                                  "check lost = 0\n",
                              &(struct line){0}, &record, &err),
                     0);
    for (size_t i = 0; i < record.events.count; i++)
        if (record.events.items[i].kind == RUN_RECORD_ACTION && found < 2)
            actions[found++] = record.events.items[i].time;
        else if (!up && strstr(record.events.items[i].text, "subnet up"))
            up = record.events.items[i].time;
    uint64_t settled = actions[0] - 5 * TIME_MS;
    assert_true(settled >= up && settled < up + TIME_MS);
    assert_true(record.end == actions[1] + TIME_MS && actions[1] > actions[0]);
    assert_true(results_value(&record.results, "window.from") ==
                (double)(settled + 2 * TIME_MS) / 1e12);
    assert_true(results_value(&record.results, "window.to") ==
                (double)(settled + 3 * TIME_MS) / 1e12);
    /* All packets were made in the two milliseconds of the traffic, which end before the flap. */
    double made = results_value(&record.results, "made"), senders = record.adapters;
    assert_true(made > 1600 * senders && made < 2400 * senders);
    double first = results_value(&record.results, "made.total");
    assert_true(first > 0.4 * made && first < 0.6 * made);
    const struct series *late = results_find_series(&record.results, "late");
    assert_non_null(late);
    assert_true(late->points.items[0].time == settled + 4 * TIME_MS);
    assert_int_equal(run_record_failures(&record), 0);
    run_record_release(&record);
    assert_refused(NET "collect smps as total from settled\nrun 1s\n",
                   "x.weft:3:1: 'settled' is the end of a 'run until settled', and there is none");
    assert_refused(NET "collect smps as total from settled to 1us\nrun until settled\n",
                   "x.weft:3:1: the end is not after the beginning");
    assert_refused(NET "at settled+1ms flap S1 1\nrun until settled\n",
                   "x.weft:3:1: 'settled' is the end of a 'run until settled', and there is none "
                   "before this line");
    assert_refused(NET "traffic uniform rate 1 start settled\nrun 1s\n",
                   "x.weft:3:1: 'settled' is the end of a 'run until settled', and there is none");
    assert_refused(NET "run until settled\nrun settled5ms\n",
                   "x.weft:4:5: 'settled5ms': expected a time such as settled+5ms");
    assert_refused(NET "traffic uniform rate 1 start settled stop 1s\nrun until settled\n",
                   "x.weft:3:1: either both 'start' and 'stop' count from 'settled', or none");
    assert_refused(NET "measure from settled+1ms to 1us\nrun until settled\n",
                   "x.weft:3:1: the window ends before it begins");
}

static void static_mode_warns_once(void **state)
{
    struct run_record record = {0};
    struct err err = {0};
    size_t warnings = 0;
    (void)state;
    assert_int_equal(run_text("topology clos 3 1 4\nsm S0 mode static\nrun until settled\n"
                              "fail switch S3\nrun until settled\n",
                              &(struct line){0}, &record, &err),
                     0);
    for (size_t i = 0; i < record.events.count; i++)
        warnings += strstr(record.events.items[i].text, "refuses a port state") != NULL;
    assert_int_equal(warnings, 1);
    run_record_release(&record);
}

static void past_times_are_refused(void **state)
{
    (void)state;
    assert_refused(NET "run 2s\nat 1s flap S1 1\n", "x.weft:4:4: 1s has passed: the run is at 2s");
    assert_refused(NET "run 2s\nrun 1s\n", "x.weft:4:5: 1s has passed: the run is at 2s");
    assert_refused(NET "at 3s flap S1 1\nrun 2s\n",
                   "x.weft:3:1: no 'run' statement reaches this time");
    assert_refused("topology figure1\nrun 8000000s\nrun for 8000000s\n",
                   "x.weft:3:5: a run lasts 100 days");
    assert_refused(NET "run 1s\nkill sm S1\nkill sm S1\n",
                   "x.weft:5:1: the manager is not running");
}

static void the_same_seed_gives_the_same_trace(void **state)
{
    static const char text[] = NET "drop 3%\nrun until settled limit 20s\n";
    struct run_record first = run_ok(text), second = run_ok(text);
    struct line options = {.seed = 2};
    struct run_record other = {0};
    struct err err = {0};
    (void)state;
    assert_int_equal(run_text(text, &options, &other, &err), 0);
    assert_true(first.lost > 0);
    assert_true(first.hash == second.hash);
    assert_true(first.hash != other.hash);
    run_record_release(&first);
    run_record_release(&second);
    run_record_release(&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(actions_are_applied_at_their_time_in_order),
        cmocka_unit_test(a_run_until_settled_ends_when_the_fabric_is_up),
        cmocka_unit_test(a_change_without_routes_ends_when_they_are_refused),
        cmocka_unit_test(a_manager_that_becomes_standby_ends_its_change),
        cmocka_unit_test(an_undetected_fault_is_not_settled),
        cmocka_unit_test(a_run_that_does_not_settle_in_time_is_a_failed_check),
        cmocka_unit_test(a_check_that_fails_does_not_end_the_run),
        cmocka_unit_test(smps_are_those_of_the_last_run),
        cmocka_unit_test(events_are_those_of_the_last_run),
        cmocka_unit_test(a_standby_replaces_a_killed_manager),
        cmocka_unit_test(a_stopped_manager_waits_for_its_start),
        cmocka_unit_test(a_failed_node_stops_its_manager),
        cmocka_unit_test(the_command_line_overrides_the_file),
        cmocka_unit_test(attributes_apply_to_patterns_of_nodes),
        cmocka_unit_test(wrong_settings_of_the_command_line_are_refused),
        cmocka_unit_test(names_and_values_are_checked_before_the_run),
        cmocka_unit_test(traffic_that_can_never_flow_is_refused),
        cmocka_unit_test(times_can_count_from_settled),
        cmocka_unit_test(static_mode_warns_once),
        cmocka_unit_test(past_times_are_refused),
        cmocka_unit_test(the_same_seed_gives_the_same_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
