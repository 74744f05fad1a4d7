/* Runs with traffic: what is measured, and that measuring changes nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/run/play.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const char *const *settings; /* of the command line, ended by NULL; NULL: none */

static int play(const char *text, const struct play_options *options, struct story *story,
                struct err *err)
{
    struct scenario scenario;
    int status = scenario_read_text(&scenario, "x.weft", text, strlen(text), err);
    if (status == 0) {
        for (size_t i = 0; settings && settings[i]; i++)
            assert_int_equal(scenario_override(&scenario, settings[i], err), 0);
        status = play_scenario(&scenario, options, story, err);
        scenario_release(&scenario);
    }
    return status;
}

static struct story play_with(const char *text, const struct play_options *options)
{
    struct story story = {0};
    struct err err = {0};
    char message[1024];
    if (play(text, options, &story, &err) != 0)
        fail_msg("%s", err_text(&err, message, sizeof message));
    return story;
}

static struct story play_well(const char *text)
{
    return play_with(text, &(struct play_options){0});
}

static void assert_refused(const char *text, const char *expected)
{
    struct story story = {0};
    struct err err = {0};
    char message[1024];
    assert_int_equal(play(text, &(struct play_options){0}, &story, &err), -EINVAL);
    err_text(&err, message, sizeof message);
    if (strncmp(message, expected, strlen(expected)) != 0)
        fail_msg("it is refused with: %s", message);
    story_release(&story);
}

static double figure(const struct story *story, const char *name)
{
    const struct figure *found = results_find(&story->results, name);
    if (!found)
        fail_msg("there is no figure %s", name);
    return found ? found->value : NAN;
}

static bool has_figure(const struct story *story, const char *name)
{
    return results_find(&story->results, name) != NULL;
}

static const struct series *series(const struct story *story, const char *name)
{
    for (size_t i = 0; i < story->results.series.count; i++)
        if (strcmp(story->results.series.items[i].name, name) == 0)
            return &story->results.series.items[i];
    fail_msg("there is no series %s", name);
    return NULL;
}

static void assert_near(double value, double expected, double share)
{
    if (!(fabs(value - expected) <= fabs(expected) * share))
        fail_msg("%.12g is not within %g of %.12g", value, share, expected);
}

static void assert_check(const struct story *story, size_t index, bool holds, const char *finding)
{
    const struct story_check *checks = story->checks.items;
    if (!checks || index >= story->checks.count) {
        fail_msg("there are only %zu checks", story->checks.count);
        return;
    }
    const struct story_check *check = &checks[index];
    if (check->holds != holds || !strstr(check->finding, finding))
        fail_msg("%s: %s (%s)", check->line, check->holds ? "holds" : "does not hold",
                 check->finding);
}

static void assert_verdict(const struct story *story, const char *text)
{
    const char *verdict = story->verdict ? story->verdict : "none";
    if (!strstr(verdict, text))
        fail_msg("the verdict is: %s", verdict);
}

#define NET "topology figure1\nsm S1 engine fera\nrun until settled\n"

/* ---- figures ---- */

static void packets_are_counted_and_accounted_for(void **state)
{
    struct story story = play_well(NET "traffic uniform rate 100e3 start 10ms stop 30ms\nrun 40ms\n"
                                       "check conserved\ncheck lost = 0\ncheck delivered >= 1000\n"
                                       "check latency <= 1ns\ncheck latency <= 5\n"
                                       "check lost <= 5us\ncheck latensy.mean <= 5us\n");
    (void)state;
    assert_near(figure(&story, "made"), 14000, 0.05);
    assert_true(figure(&story, "made") == figure(&story, "delivered"));
    assert_true(figure(&story, "travelling") == 0);
    assert_true(figure(&story, "waiting") == 0);
    assert_true(figure(&story, "lost.dead-link") == 0);
    assert_near(figure(&story, "window.from"), 0.01, 1e-9);
    assert_near(figure(&story, "window.to"), 0.04, 1e-9);
    assert_near(figure(&story, "offered"), figure(&story, "made") / 0.03, 1e-9);
    assert_near(figure(&story, "accepted.node"), figure(&story, "delivered") / 0.03 / 7, 1e-9);
    assert_near(figure(&story, "accepted.bits"), figure(&story, "accepted") * 282 * 8, 1e-9);
    assert_near(figure(&story, "accepted.payload"), figure(&story, "accepted") * 256 * 8, 1e-9);
    assert_check(&story, 0, true, "");
    assert_check(&story, 1, true, "0 packets");
    assert_check(&story, 2, true, "packets");
    assert_check(&story, 3, false, "µs");
    assert_check(&story, 4, true, "µs");
    assert_check(&story, 5, false, "'lost' is in packets, not in s");
    assert_check(&story, 6, false, "did you mean 'latency.mean'?");
    assert_check(&story, 7, true, ""); /* conserved, at the end */
    assert_int_equal(story.checks.count, 8);
    story_release(&story);
}

static void only_the_window_is_measured(void **state)
{
    struct story story = play_well(NET "traffic uniform rate 100e3 start 10ms\n"
                                       "traffic gather hot H4 load 1 start 31ms\n"
                                       "measure from 20ms to 30ms\nrun 33ms\n");
    (void)state;
    assert_near(figure(&story, "offered"), 700e3, 0.05);
    assert_near(figure(&story, "accepted"), 700e3, 0.05);
    assert_near(figure(&story, "offered.node"), 100e3, 0.05);
    assert_true(figure(&story, "latency.max") < 10e-6); /* before it gets crowded */
    assert_near(figure(&story, "window.to"), 0.03, 1e-9);
    assert_true(figure(&story, "steady") == 1);
    assert_true(figure(&story, "saturated") == 0);
    assert_string_equal(story.verdict, "steady");
    assert_true(figure(&story, "latency.min") <= figure(&story, "latency.p50"));
    assert_true(figure(&story, "latency.p50") <= figure(&story, "latency.p99"));
    assert_true(figure(&story, "latency.p99") <= figure(&story, "latency.max"));
    assert_true(figure(&story, "network-latency.mean") <= figure(&story, "latency.mean"));
    assert_true(figure(&story, "latency.ci") < figure(&story, "latency.mean") / 20);
    story_release(&story);
}

static void too_much_is_called_saturated(void **state)
{
    struct story story = play_well(NET "traffic uniform load 1.5 start 10ms\n"
                                       "measure from 12ms\nrun 15ms\n");
    (void)state;
    assert_true(figure(&story, "saturated") == 1);
    assert_true(figure(&story, "steady") == 0);
    assert_verdict(&story, "saturated: of ");
    assert_true(figure(&story, "accepted") < 0.9 * figure(&story, "offered"));
    story_release(&story);
    story = play_well(NET "traffic ring arrivals saturated start 10ms\nrun 15ms\n");
    assert_verdict(&story, "always have one more");
    assert_true(figure(&story, "saturated") == 1);
    story_release(&story);
    story = play_well(NET "traffic uniform rate 1000 start 10ms\nrun 15ms\n");
    assert_verdict(&story, "too little to tell");
    assert_false(has_figure(&story, "steady"));
    story_release(&story);
}

static void traffic_starts_and_stops_on_demand(void **state)
{
    struct story story = play_well(NET "traffic uniform rate 100e3 stopped\nrun 10ms\n"
                                       "start traffic 1\nrun 20ms\nstop traffic 1\nrun 30ms\n"
                                       "start traffic 1\nrun 40ms\n");
    (void)state;
    assert_near(figure(&story, "made"), 14000, 0.05);
    assert_near(figure(&story, "window.from"), 0.01, 1e-9);
    const struct series *accepted = series(&story, "accepted");
    assert_int_equal(accepted->points.items[0].time, 10 * TIME_MS);
    for (size_t i = 0; i < accepted->points.count; i++) {
        const struct point *point = &accepted->points.items[i];
        if (point->time >= 21 * TIME_MS && point->time < 29 * TIME_MS)
            assert_true(point->value == 0);
    }
    story_release(&story);
    assert_refused(NET "traffic uniform rate 5\nstart traffic 1\n",
                   "x.weft:5:1: traffic 1 is running already");
    assert_refused(NET "traffic uniform rate 5 stopped\nstop traffic 1\n",
                   "x.weft:5:1: traffic 1 is not running");
    assert_refused(NET "traffic uniform rate 5\nstop traffic 2\n",
                   "x.weft:5:14: there are 1 'traffic' statements");
}

static void the_command_line_sets_traffic(void **state)
{
    const char *line[] = {"traffic.rate=200e3", "traffic.2.size=512", NULL};
    struct play_options options = {0};
    settings = line;
    struct story story = play_with(NET "traffic uniform load 0.9 start 10ms from H4\n"
                                       "traffic uniform rate 5 start 10ms from H7\nrun 20ms\n",
                                   &options);
    struct err err = {0};
    (void)state;
    assert_near(figure(&story, "made"), 4000, 0.1);
    double mean = figure(&story, "accepted.payload") / 8 / figure(&story, "accepted");
    assert_near(mean, 384, 0.1);
    story_release(&story);
    line[1] = "traffic.3.size=512";
    assert_int_equal(play(NET "traffic uniform rate 5\n", &options, &story, &err), -EINVAL);
    assert_string_equal(err.file, "--set traffic.3.size=512");
    assert_non_null(strstr(err.message, "there are 1 'traffic'"));
    story_release(&story);
    line[1] = "traffic.sice=512";
    assert_int_equal(play(NET "traffic uniform rate 5\n", &options, &story, &err), -EINVAL);
    assert_non_null(strstr(err.message, "did you mean 'size'?"));
    story_release(&story);
    settings = NULL;
}

/* ---- collecting ---- */

static void statistics_are_kept_as_asked(void **state)
{
    struct story story = play_well(
        NET "traffic uniform rate 100e3 start 10ms stop 20ms\nmeasure from 10ms to 20ms\n"
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
    assert_near(figure(&story, "m"), figure(&story, "latency.mean"), 1e-9);
    assert_near(figure(&story, "top"), figure(&story, "latency.max"), 1e-9);
    assert_near(figure(&story, "half"), figure(&story, "latency.p50"), 1e-9);
    assert_near(figure(&story, "ci"), figure(&story, "latency.ci"), 1e-9);
    assert_near(figure(&story, "h"), figure(&story, "hops.mean"), 1e-9);
    assert_near(figure(&story, "delivered.mean"), figure(&story, "accepted"), 1e-9);
    assert_near(figure(&story, "delivered.total"), figure(&story, "accepted") * 0.01, 1e-9);
    assert_int_equal(series(&story, "each")->points.count, (int)figure(&story, "delivered"));
    assert_near((double)series(&story, "few")->points.count, 1400, 0.1);
    assert_true(series(&story, "few")->points.items[0].time > 12 * TIME_MS);
    double sum = 0;
    for (size_t i = 0; i < series(&story, "rate")->points.count; i++)
        sum += series(&story, "rate")->points.items[i].value * 1e-3;
    assert_near(sum, figure(&story, "delivered"), 1e-9);
    const struct series *count = series(&story, "count");
    assert_true(count->points.items[count->points.count - 1].value == figure(&story, "delivered"));
    assert_string_equal(series(&story, "rate")->unit, "packets/s");
    assert_string_equal(count->unit, "packets");
    assert_true(figure(&story, "sent.H4:1:0.total") == figure(&story, "sent4"));
    assert_near(figure(&story, "received.H4.total"), figure(&story, "delivered.H4.total"), 0.01);
    /* 8 Gb/s: packets of 282 bytes take 282 ns each, and some credits go along. */
    assert_near(figure(&story, "utilisation.H4.mean"), figure(&story, "sent4") * 282e-9 / 0.01,
                0.1);
    assert_true(figure(&story, "input.max") > 0);
    assert_true(figure(&story, "credits.H4:1:0.min") > 0);
    const struct series *open = series(&story, "open");
    assert_true(open->points.items[open->points.count - 1].value == 7);
    story_release(&story);
}

static void what_cannot_be_collected_is_refused(void **state)
{
    (void)state;
    assert_refused(NET "collect latency of S1:2:0 as mean\n",
                   "x.weft:4:20: there is no 'latency' of a lane");
    assert_refused(NET "collect made of H4 as mean\n", "x.weft:4:17: there is no 'made' of a node");
    assert_refused(NET "collect input of S77 as mean\n", "x.weft:4:18: 'S77' is no node");
    assert_refused(NET "collect input of S1:9 as mean\n", "x.weft:4:18: '9' is no port of 'S1'");
    assert_refused(NET "collect input of S1:0 as mean\n", "x.weft:4:18: port 0 carries no data");
    assert_refused(NET "collect input of S1:1:15 as mean\n", "x.weft:4:18: data lanes are 0 to 14");
    assert_refused(NET "collect lost as all\nevery 1ms sample lost\n",
                   "x.weft:5:18: line 4 collects 'lost' already");
}

static void managers_can_be_watched_without_traffic(void **state)
{
    struct story story = play_well("topology figure1\nsm S1\ncollect smps as total\n"
                                   "collect smps.set of S1 as total\ncollect smps as all\n"
                                   "run until settled\n");
    (void)state;
    assert_true(figure(&story, "smps.total") == figure(&story, "change.1.smps"));
    assert_true(figure(&story, "smps.set.S1.total") == figure(&story, "change.1.smps.set"));
    assert_int_equal(series(&story, "smps")->points.count, (int)figure(&story, "smps.total"));
    assert_false(has_figure(&story, "made"));
    story_release(&story);
}

static void no_progress(void *context, uint64_t now, uint64_t until)
{
    (void)now;
    (void)until;
    ++*(unsigned *)context;
}

static void looking_changes_nothing(void **state)
{
    static const char text[] = NET "traffic uniform load 0.4 start 10ms\nat 12ms fail switch S9\n"
                                   "run 20ms\n";
    static const char watched[] =
        NET "traffic uniform load 0.4 start 10ms\nat 12ms fail switch S9\nrun 20ms\n"
            "every 7us sample input output credits utilisation travelling waiting\n"
            "collect latency as all\nmeasure from 11ms to 13ms\ncheck no-loss-of unaffected\n";
    unsigned heard = 0;
    struct play_options options = {.progress = no_progress, .context = &heard};
    struct story plain = play_well(text), looked = play_with(watched, &options);
    (void)state;
    assert_true(heard > 100);
    assert_true(plain.hash == looked.hash);
    assert_true(figure(&plain, "delivered") == figure(&looked, "delivered"));
    story_release(&plain);
    story_release(&looked);
}

/* ---- changes ---- */

static void changes_have_figures_by_phase(void **state)
{
    struct story story = play_well("topology figure1\nset traps no\nsm S1 sweep 1s engine fera\n"
                                   "run until settled\nat 1.5s fail link S2 2\n"
                                   "run until settled limit 5s\n");
    (void)state;
    assert_false(has_figure(&story, "change.1.detect.time"));
    double detect = figure(&story, "change.2.detect.time");
    assert_true(detect > 0.4 && detect < 0.6);
    assert_near(figure(&story, "change.2.discover.time") + figure(&story, "change.2.compute.time") +
                    figure(&story, "change.2.distribute.time"),
                figure(&story, "change.2.time"), 1e-6);
    assert_true(figure(&story, "change.1.smps") == figure(&story, "change.1.discover.smps") +
                                                       figure(&story, "change.1.distribute.smps"));
    assert_true(figure(&story, "change.1.blocks") == 8);
    assert_true(figure(&story, "change.1.switches") == 8);
    assert_true(figure(&story, "change.1.smps.set.linearforwardingtable") == 8);
    const struct series *updated = series(&story, "change.1.updated");
    assert_int_equal(updated->points.count, 8);
    assert_near(updated->points.items[7].value, 1, 1e-12);
    assert_near(updated->points.items[0].value, 0.125, 1e-12);
    story_release(&story);
}

/* Paper 000 on figure1: 19 NodeInfo, 47 and 15 PortInfo to discover; 24 SMPs a switch to
 * distribute.
 */
static void phases_have_their_own_smps(void **state)
{
    struct story story = play_well("topology figure1\npreset paper\nsm S1\nrun until settled\n");
    (void)state;
    assert_true(figure(&story, "change.1.discover.smps") == 19 + 47 + 15);
    assert_true(figure(&story, "change.1.distribute.smps") == 8 * (4 + 16 + 4));
    assert_true(figure(&story, "change.1.smps.get.nodeinfo") == 19);
    assert_true(figure(&story, "change.1.blocks") == 8 * 16);
    story_release(&story);
}

/* ---- the unaffected ---- */

#define DEATH                                                                                      \
    "topology irregular switches=16 hosts=14 ports=4\nseed 9\n"                                    \
    "sm H0 engine fera\nrun until settled\n"

static void an_orderly_cure_costs_others_nothing(void **state)
{
    struct story story = play_well(DEATH "traffic uniform rate 100e3 start 10ms\n"
                                         "at 20ms fail switch S15\nrun 60ms\n"
                                         "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&story, "lost") > 0);
    assert_true(figure(&story, "unaffected.lost") == 0);
    assert_check(&story, 0, true, "");
    story_release(&story);
}

static void who_depends_on_a_link_is_affected(void **state)
{
    struct story story = play_well(NET "traffic uniform rate 100e3 start 10ms\n"
                                       "at 20ms fail link S2 2\nrun 30ms\n"
                                       "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&story, "lost.dead-link") > 0);
    assert_true(figure(&story, "unaffected.lost") == 0);
    assert_check(&story, 0, true, "");
    story_release(&story);
}

static void a_cure_that_stops_everything_is_found_out(void **state)
{
    struct story story = play_well(DEATH "preset paper\ntraffic uniform rate 20e3 start 1s\n"
                                         "at 1.1s fail switch S15\nrun 2s\n"
                                         "check no-loss-of unaffected\n");
    (void)state;
    assert_true(figure(&story, "unaffected.lost") > 0);
    assert_check(&story, 0, false, "inactive port");
    story_release(&story);
}

static void without_traffic_every_state_is_looked_at(void **state)
{
    static const char tail[] = "check no-loss-of unaffected\nat 2s fail switch S15\n"
                               "run until settled limit 20s\ncheck no-loss-of unaffected\n";
    char text[512];
    (void)state;
    snprintf(text, sizeof text, "%s%s", DEATH, tail);
    struct story good = play_well(text);
    assert_check(&good, 0, false, "nothing has failed yet");
    assert_check(&good, 1, true, "");
    snprintf(text, sizeof text, "%spreset paper\n%s", DEATH, tail);
    struct story bad = play_well(text);
    assert_check(&bad, 1, false, "there is no way for a while");
    story_release(&good);
    story_release(&bad);
}

/* ---- deadlock ---- */

#define RING "topology ring switches=6\nset data_vls 1\nset buffer 1024\n"

static void a_ring_deadlocks_and_says_so(void **state)
{
    struct story story =
        play_well(RING "sm S0 engine minhop allow_cycles yes\nrun until settled\n"
                       "traffic uniform arrivals saturated start 10ms\non deadlock stop\nrun 1s\n"
                       "check deadlock\ncheck no-deadlock\n");
    (void)state;
    assert_true(story.end < TIME_S);
    assert_true(figure(&story, "deadlocks") >= 1);
    assert_check(&story, 0, true, "lane 0");
    assert_check(&story, 1, false, "lane 0");
    story_release(&story);
    story = play_well(RING "sm S0 engine fera\nrun until settled\n"
                           "traffic uniform arrivals saturated start 10ms\non deadlock stop\n"
                           "run 30ms\ncheck deadlock\ncheck no-deadlock\n");
    assert_check(&story, 0, false, "");
    assert_check(&story, 1, true, "");
    story_release(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packets_are_counted_and_accounted_for),
        cmocka_unit_test(only_the_window_is_measured),
        cmocka_unit_test(too_much_is_called_saturated),
        cmocka_unit_test(traffic_starts_and_stops_on_demand),
        cmocka_unit_test(the_command_line_sets_traffic),
        cmocka_unit_test(statistics_are_kept_as_asked),
        cmocka_unit_test(what_cannot_be_collected_is_refused),
        cmocka_unit_test(managers_can_be_watched_without_traffic),
        cmocka_unit_test(looking_changes_nothing),
        cmocka_unit_test(changes_have_figures_by_phase),
        cmocka_unit_test(phases_have_their_own_smps),
        cmocka_unit_test(who_depends_on_a_link_is_affected),
        cmocka_unit_test(an_orderly_cure_costs_others_nothing),
        cmocka_unit_test(a_cure_that_stops_everything_is_found_out),
        cmocka_unit_test(without_traffic_every_state_is_looked_at),
        cmocka_unit_test(a_ring_deadlocks_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
