/* Sweeps: statements, points, the plan, and runs in child processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"
#include "experiment/sweep/sweep_run.h"
#include "experiment/sweep/sweep_slurm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-sweep-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define SCENARIO                                                                                   \
    "# {engine} in a remark stays\n"                                                               \
    "topology ring {size}\n"                                                                       \
    "sm S1 engine {engine}\n"                                                                      \
    "run until settled\n"                                                                          \
    "check in-order\n"

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    write_file("ring.weft", SCENARIO);
    write_file("plain.weft", "topology ring 4\nsm S1\nrun until settled\ncheck in-order\n");
    return 0;
}

static int remove_folder(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command); /* NOLINT(cert-env33-c): a path of our own */
}

static int read_sweep(struct sweep *sweep, const char *text, struct err *err)
{
    return sweep_read(sweep, from_text(path_of("x.sweep"), text, err));
}

static struct sweep read_well(const char *text)
{
    struct sweep sweep;
    struct err err = {0};
    if (read_sweep(&sweep, text, &err) != 0)
        fail_msg("line %u: %s", err.line, err.message);
    return sweep;
}

/* expected: "FILE:LINE:COLUMN: message", without the directory. */
static void assert_refused(const char *text, const char *expected)
{
    struct sweep sweep;
    struct err err = {0};
    char message[1024];
    assert_true(read_sweep(&sweep, text, &err) < 0);
    err_text(&err, message, sizeof message);
    const char *name =
        strncmp(message, folder, strlen(folder)) == 0 ? message + strlen(folder) + 1 : message;
    if (strncmp(name, expected, strlen(expected)) != 0)
        fail_msg("refused with: %s", name);
}

#define GRID                                                                                       \
    "scenario ring.weft\n"                                                                         \
    "vary engine,sm.sweep in fera,1s pira,2s\n"                                                    \
    "vary size in 4 12\n"

/* ---- the language ---- */

static void statements_of_a_sweep_are_parsed(void **state)
{
    (void)state;
    struct sweep sweep =
        read_well(GRID "repeat 3\nseed 7\ntimeout 2.5s\nmemory 2GiB\n"
                       "store out/x.db # a remark\nkeep a.* b\nkeep c\nseries *\n");
    assert_int_equal(sweep.repeat, 3);
    assert_int_equal(sweep.seed, 7);
    assert_int_equal(sweep.timeout, 2500 * TIME_MS);
    assert_int_equal(sweep.memory, UINT64_C(2) << 30);
    assert_string_equal(sweep.scenario, path_of("ring.weft"));
    assert_string_equal(sweep.template, SCENARIO);
    assert_string_equal(sweep.store, path_of("out/x.db"));
    assert_int_equal(sweep.figures.count, 3);
    assert_string_equal(sweep.figures.items[2], "c");
    assert_int_equal(sweep.series.count, 1);
    sweep_release(&sweep);
    sweep = read_well("scenario plain.weft\n");
    assert_int_equal(sweep.repeat, 1);
    assert_int_equal(sweep.seed, 1);
    assert_int_equal(sweep_point_count(&sweep), 1);
    assert_string_equal(sweep.store, path_of("x.db"));
    sweep_release(&sweep);
}

static void errors_have_line_and_column(void **state)
{
    (void)state;
    assert_refused("", "x.sweep: no 'scenario' statement");
    assert_refused("scenario\n", "x.sweep:1:9: the line ends here: expected a file");
    assert_refused("scenario ring.weft ring.weft\n",
                   "x.sweep:1:20: unexpected 'ring.weft' at the end of the line");
    assert_refused("scenario none.weft\n", "x.sweep:1:1: ");
    assert_refused("scenario plain.weft\nscenario plain.weft\n",
                   "x.sweep:2:1: a second 'scenario'");
    assert_refused("vry a in 1\n",
                   "x.sweep:1:1: 'vry' is not a statement: expected scenario, vary");
    assert_refused("vary a of 1\n", "x.sweep:1:8: 'of': expected in");
    assert_refused("vary a in\n", "x.sweep:1:10: the line ends here: expected a value");
    assert_refused("vary a in 1 2 1\n", "x.sweep:1:15: '1' twice");
    assert_refused("vary a in 1\nvary a in 2\n", "x.sweep:2:6: 'a' is varied in line 1 already");
    assert_refused("vary a,a in 1,2\n", "x.sweep:1:6: 'a' twice");
    assert_refused("vary a,,b in 1,2\n", "x.sweep:1:6: 'a,,b': expected a name");
    assert_refused("vary a=b in 1\n", "x.sweep:1:6: 'a=b' is not a name");
    assert_refused("vary a,b in 1,2 3\n", "x.sweep:1:17: '3': expected 2 values");
    assert_refused("vary a,b in 1,2 1,2\n", "x.sweep:1:17: '1,2' twice");
    assert_refused("vary a in {b}\n", "x.sweep:1:11: '{b}': a value has no braces");
    assert_refused("repeat 0\n", "x.sweep:1:8: '0': expected a number of repetitions");
    assert_refused("repeat 1\nrepeat 2\n",
                   "x.sweep:2:1: a second 'repeat': the first is in line 1");
    assert_refused("seed -1\n", "x.sweep:1:6: '-1': expected a seed");
    assert_refused("timeout 5\n", "x.sweep:1:9: '5' is not a time");
    assert_refused("timeout 5us\n", "x.sweep:1:9: '5us': expected a millisecond or more");
    assert_refused("memory 5MB\n", "x.sweep:1:8: '5MB' is not a size");
    assert_refused("memory 0MiB\n", "x.sweep:1:8: '0MiB' is not a size");
    assert_refused("keep\n", "x.sweep:1:5: the line ends here: expected names of figures");
    assert_refused("series\n", "x.sweep:1:7: the line ends here: expected names of series");
}

static void unknown_placeholders_have_line_and_column(void **state)
{
    (void)state;
    assert_refused("scenario ring.weft\nvary engin in fera\nvary size in 4\n",
                   "ring.weft:3:14: {engine} is not varied by ");
    assert_refused("scenario ring.weft\nvary engine in fera\n",
                   "ring.weft:2:15: {size} is not varied by ");
}

/* 12 lines of 62 values each. */
static void too_many_points_are_refused(void **state)
{
    (void)state;
    struct text text = {0};
    for (int line = 0; line < 12; line++) {
        text_printf(&text, "vary a%d in", line);
        for (int i = 0; i < 61; i++)
            text_printf(&text, " %d", i);
        text_putc(&text, '\n');
    }
    assert_refused(text.data, "x.sweep:4:1: more than 1000000 points");
    text_release(&text);
}

/* ---- points ---- */

static void points_are_the_product_of_all_lines(void **state)
{
    (void)state;
    static const char *const expected[4][3] = {
        {"fera", "1s", "4"}, {"fera", "1s", "12"}, {"pira", "2s", "4"}, {"pira", "2s", "12"}};
    struct sweep sweep = read_well(GRID);
    struct result_parameter parameters[3];
    assert_int_equal(sweep_point_count(&sweep), 4);
    assert_int_equal(sweep.parameter_count, 3);
    for (size_t point = 0; point < 4; point++) {
        sweep_parameters(&sweep, point, parameters);
        for (unsigned i = 0; i < 3; i++)
            assert_string_equal(parameters[i].value, expected[point][i]);
    }
    assert_string_equal(parameters[0].name, "engine");
    assert_string_equal(parameters[1].name, "sm.sweep");
    assert_string_equal(parameters[2].name, "size");
    sweep_release(&sweep);
}

static void a_parameter_is_a_placeholder_or_a_setting(void **state)
{
    (void)state;
    struct sweep sweep = read_well(GRID);
    struct arena arena = {0};
    struct text text = {0};
    const char **settings;
    sweep_render(&sweep, 3, &text);
    assert_string_equal(text.data, "# {engine} in a remark stays\ntopology ring 12\n"
                                   "sm S1 engine pira\nrun until settled\ncheck in-order\n");
    assert_int_equal(sweep_settings(&sweep, 3, &settings, &arena), 1);
    assert_string_equal(settings[0], "sm.sweep=2s");
    text_release(&text);
    arena_release(&arena);
    sweep_release(&sweep);
}

static void other_braces_are_kept(void **state)
{
    (void)state;
    write_file("braces.weft", "a {} {x y} {\n\"# {v}\" {v}{v} # {w}\n{v");
    struct sweep sweep = read_well("scenario braces.weft\nvary v in 1\n");
    struct text text = {0};
    sweep_render(&sweep, 0, &text);
    assert_string_equal(text.data, "a {} {x y} {\n\"# 1\" 11 # {w}\n{v");
    text_release(&text);
    sweep_release(&sweep);
}

/* ---- the plan ---- */

static struct sweep_plan plan_well(const struct sweep *sweep, const struct sweep_choice *choice)
{
    struct sweep_plan plan;
    struct err err = {0};
    if (sweep_plan_make(&plan, sweep, choice, &err) != 0)
        fail_msg("%s", err.message);
    return plan;
}

static void repetitions_have_the_same_seeds_at_all_points(void **state)
{
    (void)state;
    struct sweep sweep = read_well(GRID "repeat 3\nseed 9\n");
    struct sweep_plan plan = plan_well(&sweep, &(struct sweep_choice){0});
    assert_int_equal(plan.runs.count, 12);
    for (size_t i = 0; i < 12; i++) {
        const struct sweep_run *run = &plan.runs.items[i];
        assert_int_equal(run->point, i / 3);
        assert_int_equal(run->repetition, i % 3 + 1);
        assert_int_equal(run->seed, plan.runs.items[i % 3].seed);
        assert_int_equal(run->seed, sweep_seed(9, run->repetition));
    }
    assert_int_equal(plan.runs.items[0].seed, 9);
    assert_true(plan.runs.items[1].seed != plan.runs.items[2].seed);
    assert_true(sweep_seed(9, 2) != sweep_seed(10, 2));
    assert_string_equal(plan.runs.items[3].name, "engine=fera size=12 sm.sweep=1s");
    sweep_plan_release(&plan);
    sweep_release(&sweep);
}

static void a_filter_selects_matching_points(void **state)
{
    (void)state;
    struct sweep sweep = read_well(GRID);
    struct sweep_plan plan;
    struct err err = {0};
    plan = plan_well(&sweep, &(struct sweep_choice){.only = " size=1*  engine=f?ra"});
    assert_int_equal(plan.runs.count, 1);
    assert_int_equal(plan.runs.items[0].point, 1);
    sweep_plan_release(&plan);
    plan = plan_well(&sweep, &(struct sweep_choice){.only = "sm.sweep=\"2s\""});
    assert_int_equal(plan.runs.count, 2);
    sweep_plan_release(&plan);
    assert_int_equal(sweep_plan_make(&plan, &sweep, &(struct sweep_choice){.only = "size=5"}, &err),
                     -EINVAL);
    assert_non_null(strstr(err.message, "fits 'size=5'"));
    assert_int_equal(sweep_plan_make(&plan, &sweep, &(struct sweep_choice){.only = "sise=4"}, &err),
                     -EINVAL);
    assert_non_null(strstr(err.message, "did you mean 'size'?"));
    assert_int_equal(sweep_plan_make(&plan, &sweep, &(struct sweep_choice){.only = "size"}, &err),
                     -EINVAL);
    assert_non_null(strstr(err.message, "NAME=PATTERN"));
    sweep_release(&sweep);
}

static void a_filter_has_alternatives_and_repetitions(void **state)
{
    (void)state;
    struct sweep sweep = read_well(GRID "repeat 3\n");
    struct sweep_plan plan =
        plan_well(&sweep, &(struct sweep_choice){.only = "size=4,1* repetition=1,3"});
    assert_int_equal(plan.runs.count, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(plan.runs.items[i].repetition, i % 2 ? 3 : 1);
    sweep_plan_release(&plan);
    plan = plan_well(&sweep, &(struct sweep_choice){.only = "size=5,4"});
    assert_int_equal(plan.runs.count, 6);
    sweep_plan_release(&plan);
    struct err err = {0};
    assert_int_equal(
        sweep_plan_make(&plan, &sweep, &(struct sweep_choice){.only = "repetition=4"}, &err),
        -EINVAL);
    sweep_release(&sweep);
}

static void shares_of_tasks_are_disjoint_and_complete(void **state)
{
    (void)state;
    enum { TASKS = 5, RUNS = 12 };
    struct sweep sweep = read_well(GRID "repeat 3\n");
    unsigned seen[RUNS] = {0};
    for (uint64_t task = 1; task <= TASKS; task++) {
        struct sweep_plan plan =
            plan_well(&sweep, &(struct sweep_choice){.task = task, .tasks = TASKS});
        assert_in_range(plan.runs.count, RUNS / TASKS, RUNS / TASKS + 1);
        for (size_t i = 0; i < plan.runs.count; i++)
            seen[plan.runs.items[i].point * 3 + plan.runs.items[i].repetition - 1]++;
        sweep_plan_release(&plan);
    }
    for (unsigned i = 0; i < RUNS; i++)
        assert_int_equal(seen[i], 1);
    sweep_release(&sweep);
}

static void too_many_runs_are_refused(void **state)
{
    (void)state;
    struct sweep sweep = read_well("scenario plain.weft\nrepeat 100000\nvary sm.sweep in 1s 2s 3s "
                                   "4s 5s 6s 7s 8s 9s 10s 11s\n");
    struct sweep_plan plan;
    struct err err = {0};
    assert_int_equal(sweep_plan_make(&plan, &sweep, &(struct sweep_choice){0}, &err), -EINVAL);
    assert_non_null(strstr(err.message, "more than 1000000 runs"));
    sweep_release(&sweep);
}

/* ---- running ---- */

static int try_sweep(const char *text, const char *store, unsigned jobs, bool retry,
                     struct sweep_counts *counts, struct err *err)
{
    struct sweep sweep = read_well(text);
    struct sweep_plan plan = plan_well(&sweep, &(struct sweep_choice){0});
    char path[256];
    snprintf(path, sizeof path, "%s", path_of(store));
    struct sweep_options options = {.store = path, .jobs = jobs, .retry = retry};
    int status = sweep_plan_compare(&plan, &sweep, path, err);
    if (status == 0)
        status = sweep_run_plan(&sweep, &plan, &options, counts, err);
    sweep_plan_release(&plan);
    sweep_release(&sweep);
    return status;
}

static struct sweep_counts run_sweep(const char *text, const char *store, unsigned jobs)
{
    struct sweep_counts counts = {0};
    struct err err = {0};
    if (try_sweep(text, store, jobs, false, &counts, &err) != 0)
        fail_msg("%s", err.message);
    assert_false(counts.interrupted);
    return counts;
}

static struct result_runs read_runs(const char *name)
{
    struct result_store *store;
    struct result_runs runs;
    assert_int_equal(result_store_open(&store, path_of(name), RESULT_STORE_READ, NULL), 0);
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    result_store_close(store);
    return runs;
}

static void results_do_not_depend_on_the_number_of_jobs(void **state)
{
    (void)state;
    struct sweep_counts counts = run_sweep(GRID "repeat 2\n", "one.db", 1);
    assert_int_equal(counts.total, 8);
    assert_int_equal(counts.done, 8);
    assert_int_equal(counts.failed + counts.broken + counts.there, 0);
    run_sweep(GRID "repeat 2\n", "many.db", 5);
    struct result_runs one = read_runs("one.db"), many = read_runs("many.db");
    assert_int_equal(one.items.count, 8);
    assert_int_equal(many.items.count, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_string_equal(one.items.items[i].point, many.items.items[i].point);
        assert_int_equal(one.items.items[i].repetition, many.items.items[i].repetition);
        assert_int_equal(one.items.items[i].hash, many.items.items[i].hash);
        assert_string_equal(one.items.items[i].replay, many.items.items[i].replay);
    }
    assert_true(one.items.items[0].hash != one.items.items[2].hash);
    result_runs_release(&one);
    result_runs_release(&many);
}

static void a_run_is_stored_completely(void **state)
{
    (void)state;
    struct result_store *store;
    struct result_runs runs;
    struct run_record record = {0};
    run_sweep(GRID, "whole.db", 1);
    assert_int_equal(result_store_open(&store, path_of("whole.db"), RESULT_STORE_READ, NULL), 0);
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    struct result_run *run = &runs.items.items[3];
    assert_int_equal(result_store_read_texts(store, run, &runs.arena, NULL), 0);
    assert_string_equal(run->template, SCENARIO);
    assert_non_null(strstr(run->scenario, "topology ring 12\nsm S1 engine pira\n"));
    assert_non_null(strstr(run->topology, "vendid="));
    assert_string_equal(result_parameter(run->parameters, run->parameter_count, "size"), "12");
    assert_int_equal(run->checks, 1);
    assert_true(run->wall_s > 0);
    assert_int_equal(result_store_read_record(store, run->id, &record, NULL), 0);
    assert_int_equal(record.switches, 12);
    assert_true(record.events.count > 0 && record.changes.count == 1);
    run_record_release(&record);
    result_runs_release(&runs);
    result_store_close(store);
}

static void a_repetition_is_run_with_its_seed(void **state)
{
    (void)state;
    write_file("random.weft", "topology irregular switches=8 ports=8 hosts=4\nsm H0\n"
                              "run until settled\n");
    run_sweep("scenario random.weft\nrepeat 2\nseed 5\n", "random.db", 1);
    run_sweep("scenario random.weft\n", "other.db", 1);
    struct result_runs runs = read_runs("random.db"), other = read_runs("other.db");
    assert_int_equal(runs.items.items[0].seed, 5);
    assert_int_equal(runs.items.items[1].seed, sweep_seed(5, 2));
    assert_true(runs.items.items[0].hash != runs.items.items[1].hash);
    assert_true(runs.items.items[0].hash != other.items.items[0].hash);
    result_runs_release(&runs);
    result_runs_release(&other);
}

/* Stores a run with figures a.x, a.y and b and series a.x and b. */
static struct results keep_results(const char *text, const char *name)
{
    struct sweep sweep = read_well(text);
    struct sweep_plan plan = plan_well(&sweep, &(struct sweep_choice){0});
    static const char *const names[] = {"a.x", "a.y", "b"};
    struct run_record record = {0};
    struct results read = {0};
    struct result_store *store;
    char path[256];
    snprintf(path, sizeof path, "%s", path_of(name));
    for (unsigned i = 0; i < 3; i++)
        results_set(&record.results, names[i], i, "s");
    for (unsigned i = 0; i < 3; i += 2)
        results_add_point(&record.results, results_series(&record.results, names[i], "s"), 1, i);
    assert_int_equal(sweep_keep(&sweep, &plan.runs.items[0], &record, NULL, NULL, 1, path, NULL),
                     0);
    assert_int_equal(result_store_open(&store, path, RESULT_STORE_READ, NULL), 0);
    assert_int_equal(result_store_read_results(store, 1, &read, NULL), 0);
    result_store_close(store);
    run_record_release(&record);
    sweep_plan_release(&plan);
    sweep_release(&sweep);
    return read;
}

static void only_chosen_results_are_stored(void **state)
{
    (void)state;
    struct results read = keep_results("scenario plain.weft\n", "all.db");
    assert_int_equal(read.figures.count, 3);
    assert_int_equal(read.series.count, 0);
    results_release(&read);
    read = keep_results("scenario plain.weft\nkeep a.* c\nseries b\n", "some.db");
    assert_int_equal(read.figures.count, 2);
    assert_string_equal(read.figures.items[1].name, "a.y");
    assert_int_equal(read.series.count, 1);
    assert_string_equal(read.series.items[0].name, "b");
    assert_true(read.series.items[0].points.items[0].value == 2);
    results_release(&read);
}

static void only_missing_runs_are_executed(void **state)
{
    (void)state;
    run_sweep(GRID, "more.db", 2);
    struct sweep_counts counts = run_sweep(GRID, "more.db", 2);
    assert_int_equal(counts.there, 4);
    assert_int_equal(counts.done, 0);
    counts = run_sweep(GRID "repeat 2\n", "more.db", 2);
    assert_int_equal(counts.there, 4);
    assert_int_equal(counts.done, 4);
    counts = run_sweep("scenario ring.weft\nvary size in 4 6 12\n"
                       "vary engine,sm.sweep in fera,1s pira,2s\n",
                       "more.db", 2);
    assert_int_equal(counts.there, 4); /* the order of lines does not matter */
    assert_int_equal(counts.done, 2);
}

static void another_scenario_or_seed_is_refused(void **state)
{
    (void)state;
    struct sweep_counts counts;
    struct err err = {0};
    write_file("change.weft", "topology ring 4\nsm S1\nrun until settled\n");
    run_sweep("scenario change.weft\n", "change.db", 1);
    assert_int_equal(
        try_sweep("scenario change.weft\nseed 2\n", "change.db", 1, false, &counts, &err), -EINVAL);
    assert_non_null(strstr(err.message, "was run with seed 1"));
    write_file("change.weft", "topology ring 4\nsm S1\nrun 1s\n");
    assert_int_equal(try_sweep("scenario change.weft\n", "change.db", 1, false, &counts, &err),
                     -EINVAL);
    assert_int_equal(err.line, 3);
    assert_non_null(strstr(err.message, "differs from the scenario"));
}

static void a_failed_run_is_stored_with_its_reason(void **state)
{
    (void)state;
    static const char text[] = "scenario late.weft\nvary when in 1s 3s\n";
    struct sweep_counts counts;
    struct err err = {0};
    write_file("late.weft", "topology ring 4\nsm S1\nrun 2s\nrun {when}\ncheck in-order\n");
    counts = run_sweep(text, "late.db", 2);
    assert_int_equal(counts.done, 1);
    assert_int_equal(counts.failed, 1);
    struct result_runs runs = read_runs("late.db");
    assert_int_equal(runs.items.count, 2);
    assert_true(runs.items.items[0].failed);
    assert_non_null(
        strstr(runs.items.items[0].error, "late.weft:4:5: 1s has passed: the run is at 2s"));
    assert_non_null(strstr(runs.items.items[0].replay, "--replay when=1s --repetition 1 --seed 1"));
    assert_false(runs.items.items[1].failed);
    result_runs_release(&runs);

    counts = run_sweep(text, "late.db", 2);
    assert_int_equal(counts.there, 1);
    assert_int_equal(counts.left_failed, 1);
    assert_int_equal(counts.done + counts.failed, 0);
    assert_int_equal(try_sweep(text, "late.db", 2, true, &counts, &err), 0);
    assert_int_equal(counts.failed, 1);
}

static void a_run_that_takes_too_long_fails(void **state)
{
    (void)state;
    write_file("long.weft", "topology ring 64\nsm S1 sweep 100ms full_sweep_every 1\nrun 80000s\n");
    struct sweep_counts counts = run_sweep("scenario long.weft\ntimeout 50ms\n", "long.db", 1);
    assert_int_equal(counts.failed, 1);
    struct result_runs runs = read_runs("long.db");
    assert_string_equal(runs.items.items[0].error, "took longer than 50ms");
    result_runs_release(&runs);
}

static void checks_that_do_not_hold_are_counted(void **state)
{
    (void)state;
    write_file("broken.weft",
               "topology ring 4\nsm S1\nrun until settled\ncheck smps Get(NodeInfo) <= {n}\n");
    struct sweep_counts counts =
        run_sweep("scenario broken.weft\nvary n in 1 1000000\n", "broken.db", 1);
    assert_int_equal(counts.done, 2);
    assert_int_equal(counts.broken, 1);
    counts = run_sweep("scenario broken.weft\nvary n in 1 1000000\n", "broken.db", 1);
    assert_int_equal(counts.there, 2);
    assert_int_equal(counts.broken, 1);
}

static void wrong_values_are_found_before_the_first_run(void **state)
{
    (void)state;
    struct sweep_counts counts;
    struct err err = {0};
    assert_int_equal(try_sweep("scenario plain.weft\nvary sm.engin in fera\n", "slip.db", 1, false,
                               &counts, &err),
                     -EINVAL);
    assert_non_null(strstr(err.message, "'engin' is not a setting"));
    assert_int_equal(
        try_sweep("scenario ring.weft\nvary engine in fera pira\nvary size in 4 five\n", "slip.db",
                  1, false, &counts, &err),
        -EINVAL);
    assert_non_null(strstr(err.message, "ring.weft:2:10: "));
    assert_int_equal(access(path_of("slip.db"), F_OK), -1);
}

/* ---- commands ---- */

static void the_replay_without_placeholders_is_weft_sim(void **state)
{
    (void)state;
    struct sweep sweep = read_well("scenario plain.weft\nvary S1*:traps in no\nseed 4\n");
    struct sweep_plan plan = plan_well(&sweep, &(struct sweep_choice){0});
    struct text command = {0}, expected = {0};
    sweep_replay_command(&sweep, &plan.runs.items[0], &command);
    text_printf(&expected, "weft sim %s/plain.weft --set 'S1*:traps=no' --seed 4", folder);
    assert_string_equal(command.data, expected.data);
    text_release(&command);
    text_release(&expected);
    sweep_plan_release(&plan);
    sweep_release(&sweep);
}

static void words_are_quoted_for_the_shell(void **state)
{
    (void)state;
    struct text text = {0};
    text_put_shell_word(&text, "a/b-c.db");
    text_put_shell_word(&text, "");
    text_put_shell_word(&text, "it's $1");
    assert_string_equal(text.data, "a/b-c.db'''it'\\''s $1'");
    text_release(&text);
}

static void the_slurm_script_is_self_contained(void **state)
{
    (void)state;
    const char *const options[] = {"--time=60", "--comment=two words"};
    struct slurm_job job = {.program = "/bin/weft",
                            .sweep = "/home/me/x.sweep",
                            .folder = "/home/me/my jobs",
                            .store = "/home/me/x.db",
                            .only = "a=1*",
                            .seed = 3,
                            .repeat = 4,
                            .tasks = 5,
                            .options = options,
                            .option_count = 2};
    static const char *const lines[] = {
        "#!/bin/sh\n",
        "#SBATCH --array=1-5\n",
        "#SBATCH \"--output=/home/me/my jobs/task-%a.log\"\n",
        "#SBATCH --time=60\n",
        "#SBATCH \"--comment=two words\"\n",
        "exec /bin/weft sweep /home/me/x.sweep \\\n",
        "--task \"$SLURM_ARRAY_TASK_ID/5\" --store ",
        "--store '/home/me/my jobs'/\"task-$SLURM_ARRAY_TASK_ID.db\" \\\n",
        "--seed 3 --repeat 4 --only 'a=1*' \\\n    --skip /home/me/x.db\n",
        "weft sweep merge '/home/me/my jobs'/task-*.db -o /home/me/x.db\n",
    };
    struct text script = {0};
    slurm_write_script(&job, &script);
    for (unsigned i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(script.data, lines[i]))
            fail_msg("no line '%s' in\n%s", lines[i], script.data);
    text_release(&script);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_of_a_sweep_are_parsed),
        cmocka_unit_test(errors_have_line_and_column),
        cmocka_unit_test(unknown_placeholders_have_line_and_column),
        cmocka_unit_test(too_many_points_are_refused),
        cmocka_unit_test(points_are_the_product_of_all_lines),
        cmocka_unit_test(a_parameter_is_a_placeholder_or_a_setting),
        cmocka_unit_test(other_braces_are_kept),
        cmocka_unit_test(repetitions_have_the_same_seeds_at_all_points),
        cmocka_unit_test(a_filter_selects_matching_points),
        cmocka_unit_test(a_filter_has_alternatives_and_repetitions),
        cmocka_unit_test(shares_of_tasks_are_disjoint_and_complete),
        cmocka_unit_test(too_many_runs_are_refused),
        cmocka_unit_test(results_do_not_depend_on_the_number_of_jobs),
        cmocka_unit_test(a_run_is_stored_completely),
        cmocka_unit_test(a_repetition_is_run_with_its_seed),
        cmocka_unit_test(only_chosen_results_are_stored),
        cmocka_unit_test(only_missing_runs_are_executed),
        cmocka_unit_test(another_scenario_or_seed_is_refused),
        cmocka_unit_test(a_failed_run_is_stored_with_its_reason),
        cmocka_unit_test(a_run_that_takes_too_long_fails),
        cmocka_unit_test(checks_that_do_not_hold_are_counted),
        cmocka_unit_test(wrong_values_are_found_before_the_first_run),
        cmocka_unit_test(the_replay_without_placeholders_is_weft_sim),
        cmocka_unit_test(words_are_quoted_for_the_shell),
        cmocka_unit_test(the_slurm_script_is_self_contained),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
