/* Runs with traffic: figures and series, which do not change the simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/run/run.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const *settings; /* of the command line, ended by NULL; NULL: none */

static int run_text(const char *text, const struct run_options *options, struct run_record *record,
                    struct err *err)
{
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "x.weft", text, strlen(text), err);
    if (status == 0) {
        for (size_t i = 0; settings && settings[i]; i++)
            assert_int_equal(scenario_override(&scenario, settings[i], err), 0);
        status = run_scenario(&scenario, options, record, err);
        scenario_release(&scenario);
    }
    return status;
}

static struct run_record run_with(const char *text, const struct run_options *options)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    if (run_text(text, options, &record, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return record;
}

static struct run_record run_ok(const char *text)
{
    return run_with(text, &(struct run_options){0});
}

static void assert_refused(const char *text, const char *expected)
{
    struct run_record record = {0};
    struct err err = {0};
    char message[1024];
    assert_int_equal(run_text(text, &(struct run_options){0}, &record, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (strncmp(message, expected, strlen(expected)) != 0)
        fail_msg("it is refused with: %s", message);
    run_record_release(&record);
}

static double figure(const struct run_record *record, const char *name)
{
    const struct figure *found = results_find(&record->results, name);
    if (!found)
        fail_msg("there is no figure %s", name);
    return found ? found->value : NAN;
}

static bool has_figure(const struct run_record *record, const char *name)
{
    return results_find(&record->results, name) != NULL;
}

static const struct series *series(const struct run_record *record, const char *name)
{
    for (size_t i = 0; i < record->results.series.count; i++)
        if (strcmp(record->results.series.items[i].name, name) == 0)
            return &record->results.series.items[i];
    fail_msg("there is no series %s", name);
    return NULL;
}

static void assert_near(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= fabs(expected) * share))
        fail_msg("%.12g is not within %g of %.12g", value, share, expected);
}

static void assert_check(const struct run_record *record, size_t index, bool holds,
                         const char *finding)
{
    const struct run_record_check *checks = record->checks.items;
    if (!checks || index >= record->checks.count) {
        fail_msg("there are only %zu checks", record->checks.count);
        return;
    }
    const struct run_record_check *check = &checks[index];
    if (check->holds != holds || !strstr(check->finding, finding))
        fail_msg("%s: %s (%s)", check->line, check->holds ? "holds" : "does not hold",
                 check->finding);
}

static void assert_verdict(const struct run_record *record, const char *text)
{
    const char *verdict = record->verdict ? record->verdict : "none";
    if (!strstr(verdict, text))
        fail_msg("the verdict is: %s", verdict);
}

#define NET "topology figure1 speed=SDR\nsm S1 engine fera\nrun until settled\n"

/* ---- figures ---- */

static void packets_are_counted_and_conserved(void **state)
{
    struct run_record record =
        run_ok(NET "traffic uniform size 256 rate 100e3 start 10ms stop 30ms\nrun 40ms\n"
                   "check conserved\ncheck lost = 0\ncheck delivered >= 1000\n"
                   "check latency <= 1ns\ncheck latency <= 5\n"
                   "check lost <= 5us\ncheck latensy.mean <= 5us\n");
    (void)state;
    assert_near(figure(&record, "made"), 14000, 0.05);
    assert_true(figure(&record, "made") == figure(&record, "delivered"));
    assert_true(figure(&record, "travelling") == 0);
    assert_true(figure(&record, "waiting") == 0);
    assert_true(figure(&record, "lost.dead-link") == 0);
    assert_near(figure(&record, "window.from"), 0.01, 1e-9);
    assert_near(figure(&record, "window.to"), 0.04, 1e-9);
    assert_near(figure(&record, "offered"), figure(&record, "made") / 0.03, 1e-9);
    assert_near(figure(&record, "accepted.node"), figure(&record, "delivered") / 0.03 / 7, 1e-9);
    assert_near(figure(&record, "accepted.bits"), figure(&record, "accepted") * 282 * 8, 1e-9);
    assert_near(figure(&record, "accepted.payload"), figure(&record, "accepted") * 256 * 8, 1e-9);
    assert_check(&record, 0, true, "");
    assert_check(&record, 1, true, "0 packets");
    assert_check(&record, 2, true, "packets");
    assert_check(&record, 3, false, "µs");
    assert_check(&record, 4, true, "µs");
    assert_check(&record, 5, false, "'lost' is in packets, not in s");
    assert_check(&record, 6, false, "did you mean 'latency.mean'?");
    assert_check(&record, 7, true, ""); /* conserved, at the end */
    assert_int_equal(record.checks.count, 8);
    run_record_release(&record);
}

static void rates_are_those_of_the_window(void **state)
{
    struct run_record record = run_ok(NET "traffic uniform size 256 rate 100e3 start 10ms\n"
                                          "traffic gather size 256 hot H4 load 1 start 31ms\n"
                                          "measure from 20ms to 30ms\nrun 33ms\n");
    (void)state;
    assert_near(figure(&record, "offered"), 700e3, 0.05);
    assert_near(figure(&record, "accepted"), 700e3, 0.05);
    assert_near(figure(&record, "offered.node"), 100e3, 0.05);
    assert_true(figure(&record, "latency.max") < 10e-6); /* before queues build up */
    assert_near(figure(&record, "window.to"), 0.03, 1e-9);
    assert_true(figure(&record, "steady") == 1);
    assert_true(figure(&record, "saturated") == 0);
    assert_string_equal(record.verdict, "steady");
    assert_true(figure(&record, "latency.min") <= figure(&record, "latency.p50"));
    assert_true(figure(&record, "latency.p50") <= figure(&record, "latency.p99"));
    assert_true(figure(&record, "latency.p99") <= figure(&record, "latency.max"));
    assert_true(figure(&record, "network-latency.mean") <= figure(&record, "latency.mean"));
    assert_true(figure(&record, "latency.ci") < figure(&record, "latency.mean") / 20);
    run_record_release(&record);
}

static void overload_is_saturated(void **state)
{
    struct run_record record = run_ok(NET "traffic uniform size 256 load 1.5 start 10ms\n"
                                          "measure from 12ms\nrun 15ms\n");
    (void)state;
    assert_true(figure(&record, "saturated") == 1);
    assert_true(figure(&record, "steady") == 0);
    assert_verdict(&record, "saturated: of ");
    assert_true(figure(&record, "accepted") < 0.9 * figure(&record, "offered"));
    run_record_release(&record);
    record = run_ok(NET "traffic ring size 256 arrivals saturated start 10ms\nrun 15ms\n");
    assert_verdict(&record, "always have one more");
    assert_true(figure(&record, "saturated") == 1);
    run_record_release(&record);
    record = run_ok(NET "traffic uniform size 256 rate 1000 start 10ms\nrun 15ms\n");
    assert_verdict(&record, "unknown: ");
    assert_false(has_figure(&record, "steady"));
    run_record_release(&record);
}

static void actions_start_and_stop_traffic(void **state)
{
    struct run_record record = run_ok(NET "traffic uniform size 256 rate 100e3 stopped\nrun 10ms\n"
                                          "start traffic 1\nrun 20ms\nstop traffic 1\nrun 30ms\n"
                                          "start traffic 1\nrun 40ms\n");
    (void)state;
    assert_near(figure(&record, "made"), 14000, 0.05);
    assert_near(figure(&record, "window.from"), 0.01, 1e-9);
    const struct series *accepted = series(&record, "accepted");
    assert_int_equal(accepted->points.items[0].time, 10 * TIME_MS);
    for (size_t i = 0; i < accepted->points.count; i++) {
        const struct point *point = &accepted->points.items[i];
        if (point->time >= 21 * TIME_MS && point->time < 29 * TIME_MS)
            assert_true(point->value == 0);
    }
    run_record_release(&record);
    assert_refused(NET "traffic uniform size 256 rate 5\nstart traffic 1\n",
                   "x.weft:5:1: traffic 1 is running already");
    assert_refused(NET "traffic uniform size 256 rate 5 stopped\nstop traffic 1\n",
                   "x.weft:5:1: traffic 1 is not running");
    assert_refused(NET "traffic uniform size 256 rate 5\nstop traffic 2\n",
                   "x.weft:5:14: there are 1 'traffic' statements");
}

static void the_command_line_sets_traffic(void **state)
{
    const char *line[] = {"traffic.rate=200e3", "traffic.2.size=512", NULL};
    struct run_options options = {0};
    settings = line;
    struct run_record record =
        run_with(NET "traffic uniform size 256 load 0.9 start 10ms from H4\n"
                     "traffic uniform size 256 rate 5 start 10ms from H7\nrun 20ms\n",
                 &options);
    struct err err = {0};
    (void)state;
    assert_near(figure(&record, "made"), 4000, 0.1);
    double mean = figure(&record, "accepted.payload") / 8 / figure(&record, "accepted");
    assert_near(mean, 384, 0.1);
    run_record_release(&record);
    line[1] = "traffic.3.size=512";
    assert_int_equal(run_text(NET "traffic uniform size 256 rate 5\n", &options, &record, &err),
                     -EINVAL);
    assert_string_equal(err.file, "--set traffic.3.size=512");
    assert_non_null(strstr(err.message, "there are 1 'traffic'"));
    run_record_release(&record);
    line[1] = "traffic.sice=512";
    assert_int_equal(run_text(NET "traffic uniform size 256 rate 5\n", &options, &record, &err),
                     -EINVAL);
    assert_non_null(strstr(err.message, "did you mean 'size'?"));
    run_record_release(&record);
    settings = NULL;
}

/* ---- collecting ---- */

static void collect_statements_keep_each_form(void **state)
{
    struct run_record record = run_ok(
        NET "traffic uniform size 256 rate 100e3 start 10ms stop 20ms\nmeasure from 10ms to 20ms\n"
            "collect latency as all called each\ncollect latency as mean called m\n"
            "collect latency as max called top\ncollect latency as percentile 50 called half\n"
            "collect latency as interval called ci\ncollect delivered as total\n"
            "collect delivered as mean\ncollect delivered as buckets 1ms called rate\n"
            "collect delivered as samples 1ms called count\n"
            "collect sent of H4:1:0 as total\ncollect sent of H4 as total called sent4\n"
            "collect received of H4 as total\ncollect delivered of H4 as total\n"
            "collect utilisation of H4 as mean\ncollect input as max every 10us\n"
            "collect credits of H4:1:0 as min every 10us\ncollect open as all\n"
            "collect hops as mean called h\n"
            "collect hops as all from 12ms to 14ms called few\nrun 25ms\n");
    (void)state;
    assert_near(figure(&record, "m"), figure(&record, "latency.mean"), 1e-9);
    assert_near(figure(&record, "top"), figure(&record, "latency.max"), 1e-9);
    assert_near(figure(&record, "half"), figure(&record, "latency.p50"), 1e-9);
    assert_near(figure(&record, "ci"), figure(&record, "latency.ci"), 1e-9);
    assert_near(figure(&record, "h"), figure(&record, "hops.mean"), 1e-9);
    assert_near(figure(&record, "delivered.mean"), figure(&record, "accepted"), 1e-9);
    assert_near(figure(&record, "delivered.total"), figure(&record, "accepted") * 0.01, 1e-9);
    assert_int_equal(series(&record, "each")->points.count, (int)figure(&record, "delivered"));
    assert_near((double)series(&record, "few")->points.count, 1400, 0.1);
    assert_true(series(&record, "few")->points.items[0].time > 12 * TIME_MS);
    double sum = 0;
    for (size_t i = 0; i < series(&record, "rate")->points.count; i++)
        sum += series(&record, "rate")->points.items[i].value * 1e-3;
    assert_near(sum, figure(&record, "delivered"), 1e-9);
    const struct series *count = series(&record, "count");
    assert_true(count->points.items[count->points.count - 1].value == figure(&record, "delivered"));
    assert_string_equal(series(&record, "rate")->unit, "packets/s");
    assert_string_equal(count->unit, "packets");
    assert_true(figure(&record, "sent.H4:1:0.total") == figure(&record, "sent4"));
    assert_near(figure(&record, "received.H4.total"), figure(&record, "delivered.H4.total"), 0.01);
    /* 8 Gb/s: packets of 282 bytes take 282 ns each, plus some flow-control packets. */
    assert_near(figure(&record, "utilisation.H4.mean"), figure(&record, "sent4") * 282e-9 / 0.01,
                0.1);
    assert_true(figure(&record, "input.max") > 0);
    assert_true(figure(&record, "credits.H4:1:0.min") > 0);
    const struct series *open = series(&record, "open");
    assert_true(open->points.items[open->points.count - 1].value == 7);
    run_record_release(&record);
}

static void impossible_collections_are_refused(void **state)
{
    (void)state;
    assert_refused(NET "collect latency of S1:2:0 as mean\n",
                   "x.weft:4:20: there is no 'latency' of a VL");
    assert_refused(NET "collect made of H4 as mean\n", "x.weft:4:17: there is no 'made' of a node");
    assert_refused(NET "collect input of S77 as mean\n", "x.weft:4:18: 'S77' is not a node");
    assert_refused(NET "collect input of S1:9 as mean\n", "x.weft:4:18: '9' is not a port of 'S1'");
    assert_refused(NET "collect input of S1:0 as mean\n", "x.weft:4:18: port 0 carries no data");
    assert_refused(NET "collect input of S1:1:15 as mean\n", "x.weft:4:18: data VLs are 0 to 14");
    assert_refused(NET "collect lost as all\nevery 1ms sample lost\n",
                   "x.weft:5:18: line 4 collects 'lost' already");
}

#define TWO                                                                                        \
    "topology clos 2 3 2 speed=SDR\nsm H0 engine updn\nset data_vls 2\n"                           \
    "traffic uniform size 256 rate 50e3 start 10ms stop 20ms\n"                                    \
    "traffic gather size 1024 rate 20e3 sl 1 hot H5 start 10ms stop 20ms stopped\n"                \
    "at 10ms start traffic 2\nmeasure from 10ms to 21ms\n"

static double sum_of_parts(const struct run_record *record, const char *format, unsigned first,
                           unsigned count)
{
    char name[64];
    double sum = 0;
    for (unsigned i = first; i < first + count; i++) {
        snprintf(name, sizeof name, format, i);
        sum += figure(record, name);
    }
    return sum;
}

static void figures_are_divided_by_the_keys_of_packets(void **state)
{
    struct run_record record = run_ok(
        TWO "collect latency of traffic 2\ncollect latency by traffic as mean\n"
            "collect throughput by sl\ncollect throughput by traffic\ncollect delivered by vl\n"
            "collect delivered by sender\ncollect delivered by receiver as total\n"
            "collect delivered of H5 by sender as total called to5\n"
            "collect delivered of sender H1 of receiver H5 as total\n"
            "collect made by traffic\ncollect made by sender as total\ncollect lost by traffic\n"
            "collect delivered by traffic as samples 1ms called over\nrun until settled\n"
            "run 21ms\ncheck latency.traffic.2.p99 <= 1ms\n");
    double all = figure(&record, "delivered"), second = figure(&record, "latency.traffic.2.count");
    (void)state;
    assert_true(figure(&record, "waiting") == 0 && figure(&record, "travelling") == 0);
    /* A restarted or late traffic keeps the number of its statement. */
    assert_near(second, 5 * 20e3 * 0.01, 0.15);
    assert_true(figure(&record, "throughput.traffic.2.total") == second);
    assert_true(figure(&record, "throughput.traffic.1.total") + second == all);
    assert_near(figure(&record, "throughput.traffic.2.mean"), second / 0.011, 1e-9);
    assert_true(figure(&record, "throughput.sl.1.total") == second);
    assert_true(figure(&record, "made.traffic.2.total") == second);
    assert_true(figure(&record, "lost.traffic.2.total") == 0);
    /* Large packets take longer. */
    assert_true(figure(&record, "latency.traffic.2.mean") >
                1.2 * figure(&record, "latency.traffic.1.mean"));
    assert_true(figure(&record, "latency.traffic.2.max") == figure(&record, "latency.max"));
    assert_true(sum_of_parts(&record, "delivered.vl.%u.total", 0, 2) == all);
    assert_true(sum_of_parts(&record, "delivered.sender.H%u.total", 0, 6) == all);
    assert_true(sum_of_parts(&record, "delivered.receiver.H%u.total", 0, 6) == all);
    assert_true(sum_of_parts(&record, "made.sender.H%u.total", 0, 6) == all);
    assert_true(sum_of_parts(&record, "to5.H%u", 0, 5) ==
                figure(&record, "delivered.receiver.H5.total"));
    assert_true(figure(&record, "to5.H1") ==
                figure(&record, "delivered.sender.H1.receiver.H5.total"));
    assert_true(figure(&record, "to5.H5") == 0); /* it sends nothing to itself, and is listed */
    const struct series *over = series(&record, "over.2");
    assert_true(over->points.items[over->points.count - 1].value == second);
    assert_false(has_figure(&record, "throughput.sl.2.total")); /* no packet */
    assert_check(&record, 0, true, "µs");
    run_record_release(&record);
}

static void keys_that_do_not_exist_are_refused(void **state)
{
    (void)state;
    assert_refused(TWO "collect latency of traffic 3\n",
                   "x.weft:8:28: there are 2 'traffic' statements, numbered from 1");
    assert_refused(TWO "collect latency of sl 16\n", "x.weft:8:23: '16': expected a number from 0");
    assert_refused(TWO "collect latency of sender S0\n", "x.weft:8:27: 'S0' is a switch");
    assert_refused(TWO "collect latency of sender H9\n", "x.weft:8:27: 'H9' is not a node");
    assert_refused(TWO "collect latency of sl 1 by sl\n", "x.weft:8:28: the packets are of one sl");
    assert_refused(TWO "collect latency of sl 1 of sl 2\n", "x.weft:8:28: there is a second 'sl'");
    assert_refused(TWO "collect input by sl\n", "x.weft:8:18: 'input' is not known by sl");
    assert_refused(TWO "collect made by sl\n", "x.weft:8:17: 'made' is not known by sl");
    assert_refused(TWO "collect latency by lane\n", "x.weft:8:20: 'lane' is not a key of packets");
    assert_refused(TWO "collect latency by sl\ncollect latency by sl\n",
                   "x.weft:9:1: line 8 collects 'latency by sl' already");
}

static void smps_can_be_collected_without_traffic(void **state)
{
    struct run_record record = run_ok("topology figure1 speed=SDR\nsm S1\ncollect smps as total\n"
                                      "collect smps.set of S1 as total\ncollect smps as all\n"
                                      "run until settled\n");
    (void)state;
    assert_true(figure(&record, "smps.total") == figure(&record, "change.1.smps"));
    assert_true(figure(&record, "smps.set.S1.total") == figure(&record, "change.1.smps.set"));
    assert_int_equal(series(&record, "smps")->points.count, (int)figure(&record, "smps.total"));
    assert_false(has_figure(&record, "made"));
    run_record_release(&record);
}

static void no_progress(void *context, uint64_t now, uint64_t until)
{
    (void)now;
    (void)until;
    ++*(unsigned *)context;
}

static void collecting_does_not_change_the_trace(void **state)
{
    static const char text[] =
        NET "traffic uniform size 256 load 0.4 start 10ms\nat 12ms fail switch S9\n"
            "run 20ms\n";
    static const char watched[] =
        NET "traffic uniform size 256 load 0.4 start 10ms\nat 12ms fail switch S9\nrun 20ms\n"
            "every 7us sample input output credits utilisation travelling waiting\n"
            "collect latency as all\nmeasure from 11ms to 13ms\ncheck no-loss-of unaffected\n";
    unsigned heard = 0;
    struct run_options options = {.progress = no_progress, .context = &heard};
    struct run_record plain = run_ok(text), collected = run_with(watched, &options);
    (void)state;
    assert_true(heard > 100);
    assert_true(plain.hash == collected.hash);
    assert_true(figure(&plain, "delivered") == figure(&collected, "delivered"));
    run_record_release(&plain);
    run_record_release(&collected);
}

/* ---- changes ---- */

static void changes_have_figures_for_each_phase(void **state)
{
    struct run_record record =
        run_ok("topology figure1 speed=SDR\nset traps no\nsm S1 sweep 1s engine fera\n"
               "run until settled\nat 1.5s fail link S2 2\n"
               "run until settled limit 5s\n");
    (void)state;
    assert_false(has_figure(&record, "change.1.detect.time"));
    double detect = figure(&record, "change.2.detect.time");
    assert_true(detect > 0.4 && detect < 0.6);
    assert_near(figure(&record, "change.2.discover.time") +
                    figure(&record, "change.2.compute.time") +
                    figure(&record, "change.2.distribute.time"),
                figure(&record, "change.2.time"), 1e-6);
    assert_true(figure(&record, "change.1.smps") ==
                figure(&record, "change.1.discover.smps") +
                    figure(&record, "change.1.distribute.smps"));
    assert_true(figure(&record, "change.1.blocks") == 8);
    assert_true(figure(&record, "change.1.switches") == 8);
    assert_true(figure(&record, "change.1.smps.set.linearforwardingtable") == 8);
    const struct series *updated = series(&record, "change.1.updated");
    assert_int_equal(updated->points.count, 8);
    assert_near(updated->points.items[7].value, 1, 1e-12);
    assert_near(updated->points.items[0].value, 0.125, 1e-12);
    run_record_release(&record);
}

static void hybrids_have_the_time_of_their_first_routes(void **state)
{
    struct run_record plain =
        run_ok("topology figure1 speed=SDR\npreset paper\nsm S1 engine pira\nrun until settled\n");
    struct run_record hybrid = run_ok(
        "topology figure1 speed=SDR\npreset paper\nsm S1 engine pira+fera\nrun until settled\n");
    (void)state;
    assert_false(has_figure(&plain, "change.1.first.time"));
    assert_near(figure(&hybrid, "change.1.first.time"), figure(&plain, "change.1.time"), 1e-4);
    assert_true(figure(&hybrid, "change.1.time") > 2 * figure(&hybrid, "change.1.first.time"));
    run_record_release(&plain);
    run_record_release(&hybrid);
}

/* ICPP 2003 on figure1: 19 NodeInfo, 47 and 15 PortInfo to discover; 24 SMPs a switch to
 * distribute.
 */
static void smps_are_counted_for_each_phase(void **state)
{
    struct run_record record =
        run_ok("topology figure1 speed=SDR\npreset paper\nsm S1\nrun until settled\n");
    (void)state;
    assert_true(figure(&record, "change.1.discover.smps") == 19 + 47 + 15);
    assert_true(figure(&record, "change.1.distribute.smps") == 8 * (4 + 16 + 4));
    assert_true(figure(&record, "change.1.smps.get.nodeinfo") == 19);
    assert_true(figure(&record, "change.1.blocks") == 8 * 16);
    run_record_release(&record);
}

/* ---- the unaffected ---- */

#define DEATH                                                                                      \
    "topology irregular switches=16 hosts=14 ports=4 speed=SDR\nseed 9\n"                          \
    "sm H0 engine fera\nrun until settled\n"

static void an_ordered_update_loses_no_unaffected_packet(void **state)
{
    struct run_record record = run_ok(DEATH "traffic uniform size 256 rate 100e3 start 10ms\n"
                                            "at 20ms fail switch S15\nrun 60ms\n"
                                            "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&record, "lost") > 0);
    assert_true(figure(&record, "unaffected.lost") == 0);
    assert_check(&record, 0, true, "");
    run_record_release(&record);
}

static void pairs_that_use_a_failed_link_are_affected(void **state)
{
    struct run_record record = run_ok(NET "traffic uniform size 256 rate 100e3 start 10ms\n"
                                          "at 20ms fail link S2 2\nrun 30ms\n"
                                          "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&record, "lost.dead-link") > 0);
    assert_true(figure(&record, "unaffected.lost") == 0);
    assert_check(&record, 0, true, "");
    run_record_release(&record);
}

static void a_static_update_loses_unaffected_packets(void **state)
{
    struct run_record record =
        run_ok(DEATH "preset paper\ntraffic uniform size 256 rate 20e3 start 1s\n"
                     "at 1.1s fail switch S15\nrun 2s\n"
                     "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&record, "unaffected.lost") > 0);
    assert_check(&record, 0, false, "inactive port");
    run_record_release(&record);
}

static void without_traffic_every_state_is_checked(void **state)
{
    static const char tail[] = "check no-loss-of unaffected\nat 2s fail switch S15\n"
                               "run until settled limit 20s\ncheck no-loss-of unaffected\n";
    char text[512];
    (void)state;
    snprintf(text, sizeof text, "%s%s", DEATH, tail);
    struct run_record good = run_ok(text);
    assert_check(&good, 0, false, "nothing has failed yet");
    assert_check(&good, 1, true, "");
    snprintf(text, sizeof text, "%spreset paper\n%s", DEATH, tail);
    struct run_record bad = run_ok(text);
    assert_check(&bad, 1, false, "there is no path for a while");
    run_record_release(&good);
    run_record_release(&bad);
}

/* ---- deadlock ---- */

#define RING "topology ring switches=6 speed=SDR\nset data_vls 1\nset buffer 1024\n"

static void a_deadlock_in_a_ring_is_recorded(void **state)
{
    struct run_record record = run_ok(
        RING "sm S0 engine minhop allow_cycles yes\nrun until settled\n"
             "traffic uniform size 256 arrivals saturated start 10ms\non deadlock stop\nrun 1s\n"
             "check deadlock\ncheck no-deadlock\n");
    (void)state;
    assert_true(record.end < TIME_S);
    assert_true(figure(&record, "deadlocks") >= 1);
    static const char whole[] = "6 VLs wait in a cycle: S0:1:0 -> S1:1:0 -> S2:1:0 -> S3:1:0 -> "
                                "S4:1:0 -> S5:1:0";
    assert_check(&record, 0, true, whole);
    assert_check(&record, 1, false, whole);
    unsigned lines = 0; /* of a node that was read from a dump, the name is the GUID */
    for (size_t i = 0; i < record.events.count; i++)
        lines += strncmp(record.events.items[i].text, "S0 port 1 VL 0 -> S1 port 2", 27) == 0;
    assert_int_equal(lines, 1);
    run_record_release(&record);
    record =
        run_ok(RING "sm S0 engine fera\nrun until settled\n"
                    "traffic uniform size 256 arrivals saturated start 10ms\non deadlock stop\n"
                    "run 30ms\ncheck deadlock\ncheck no-deadlock\n");
    assert_check(&record, 0, false, "");
    assert_check(&record, 1, true, "");
    run_record_release(&record);
}

/* ---- ends and lengths ---- */

#define LOADED(load, stop)                                                                         \
    "topology kary k=2 n=2 width=1x speed=sdr\nsm H0\ntraffic uniform load " load                  \
    " size 256 start 10ms\nmeasure from 10.1ms\n" stop "run until settled\nrun 40ms\n"

static void a_run_ends_when_its_figures_are_known(void **state)
{
    const struct {
        const char *text;
        double share;
    } runs[] = {{LOADED("0.4", "on steady 4% stop\n"), 0.04},
                {LOADED("0.4", "on steady 2% stop\n"), 0.02}};
    struct run_record whole = run_ok(LOADED("0.4", "on steady 2% continue\n"));
    double before = 0;
    (void)state;
    assert_near(figure(&whole, "window.to"), 0.04, 1e-9);
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        struct run_record record = run_ok(runs[i].text);
        double mean = figure(&record, "latency.mean"), end = figure(&record, "window.to");
        assert_true(figure(&record, "latency.ci") <= runs[i].share * mean);
        assert_near(mean, figure(&whole, "latency.mean"), 2 * runs[i].share);
        assert_near(figure(&record, "accepted"), figure(&whole, "accepted"), 2 * runs[i].share);
        assert_near(figure(&record, "steady"), 1, 0);
        assert_true(end > before && end >= 0.0101 + 320e-6 && end < 0.035);
        before = end;
        run_record_release(&record);
    }
    run_record_release(&whole);
}

/* Not even if its throughput is known. */
static void a_saturated_run_does_not_end_as_steady(void **state)
{
    struct run_record record = run_ok(
        "topology figure1 speed=SDR\nsm S1 engine fera\nrun until settled\non steady 50% stop\n"
        "traffic uniform size 256 load 0.9 start 10ms\nrun 12ms\n");
    (void)state;
    assert_verdict(&record, "saturated");
    assert_near(figure(&record, "window.to"), 0.012, 1e-9);
    run_record_release(&record);
    assert_refused(NET "on steady 120% stop\n", "x.weft:4:");
    assert_refused(NET "on steady 2%\n", "x.weft:4:");
}

/* More samples than a series holds: it covers the whole run in larger steps. */
static void long_series_are_thinned(void **state)
{
    struct run_record record =
        run_ok("topology figure1 speed=SDR\nsm S1\n"
               "collect smps as samples 10ns\ncollect smps as buckets 10ns called rate\n"
               "run 25ms\n");
    double total = 0;
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const struct series *found = series(&record, i ? "rate" : "smps");
        const struct point *points = found->points.items;
        size_t count = found->points.count;
        double sum = 0;
        assert_true(count > 500000 && count < 1 << 20);
        for (size_t j = 1; j < count; j++) {
            assert_int_equal(points[j].time - points[j - 1].time, points[0].time);
            assert_true(i || points[j].value >= points[j - 1].value);
        }
        assert_near((double)points[count - 1].time, 25e9, 1e-4);
        for (size_t j = 0; j < count; j++)
            sum += points[j].value * (double)points[0].time / 1e12;
        if (i == 0)
            total = points[count - 1].value;
        else /* the rates add up to what was sent */
            assert_near(sum, total, 0.02);
    }
    assert_true(total > 100);
    run_record_release(&record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_counted_and_conserved),
        cmocka_unit_test(rates_are_those_of_the_window),
        cmocka_unit_test(overload_is_saturated),
        cmocka_unit_test(actions_start_and_stop_traffic),
        cmocka_unit_test(the_command_line_sets_traffic),
        cmocka_unit_test(collect_statements_keep_each_form),
        cmocka_unit_test(impossible_collections_are_refused),
        cmocka_unit_test(figures_are_divided_by_the_keys_of_packets),
        cmocka_unit_test(keys_that_do_not_exist_are_refused),
        cmocka_unit_test(smps_can_be_collected_without_traffic),
        cmocka_unit_test(collecting_does_not_change_the_trace),
        cmocka_unit_test(changes_have_figures_for_each_phase),
        cmocka_unit_test(hybrids_have_the_time_of_their_first_routes),
        cmocka_unit_test(smps_are_counted_for_each_phase),
        cmocka_unit_test(pairs_that_use_a_failed_link_are_affected),
        cmocka_unit_test(an_ordered_update_loses_no_unaffected_packet),
        cmocka_unit_test(a_static_update_loses_unaffected_packets),
        cmocka_unit_test(without_traffic_every_state_is_checked),
        cmocka_unit_test(a_deadlock_in_a_ring_is_recorded),
        cmocka_unit_test(a_run_ends_when_its_figures_are_known),
        cmocka_unit_test(a_saturated_run_does_not_end_as_steady),
        cmocka_unit_test(long_series_are_thinned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
