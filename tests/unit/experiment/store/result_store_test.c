/* The result store: runs are read as they were added, completely or not at all; conflicting runs
 * are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/report/run_text.h"
#include "experiment/store/result_store.h"
#include "experiment/store/result_store_sql.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/weft-store-XXXXXX";

static const char *path_of(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[300];
    (void)state;
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command); /* NOLINT(cert-env33-c): a path of our own */
}

static struct result_store *open_store(const char *name, enum result_store_mode mode)
{
    struct result_store *store;
    struct err err = {0};
    if (result_store_open(&store, path_of(name), mode, &err) != 0)
        fail_msg("%s: %s", name, err.message);
    return store;
}

static const struct result_parameter slow[] = {{"vls", "1"}, {"rate", "9000"}};
static const struct result_parameter fast[] = {{"vls", "1"}, {"rate", "20000"}};

static struct result_run run_of(const struct result_parameter *parameters, uint32_t repetition)
{
    return (struct result_run){.parameters = parameters,
                               .parameter_count = 2,
                               .repetition = repetition,
                               .seed = 41 + repetition,
                               .replay = "weft sim x.weft",
                               .name = "x.weft",
                               .scenario = "topology ring 3\nrun 1s\n",
                               .topology = "vendid=0x1\n",
                               .wall_s = 0.5};
}

static void add(struct result_store *store, const struct result_parameter *parameters,
                uint32_t repetition, uint64_t hash)
{
    struct result_run run = run_of(parameters, repetition);
    struct run_record record = {.hash = hash};
    struct err err = {0};
    if (result_store_add(store, &run, &record, NULL, &err) != 0)
        fail_msg("%s", err.message);
}

static size_t count_runs(struct result_store *store)
{
    struct result_runs runs;
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    size_t count = runs.items.count;
    result_runs_release(&runs);
    return count;
}

/* ---- what goes in comes out ---- */

static void fill_story(struct run_record *record)
{
    *record = (struct run_record){.hash = 0xfedcba9876543210u,
                                  .end = 61,
                                  .smps = 1,
                                  .lost = 2,
                                  .hops = 3,
                                  .switches = 4,
                                  .adapters = 5};
    run_record_add_event(record, RUN_RECORD_ACTION, 1, "-", "fail switch S1");
    run_record_add_event(record, RUN_RECORD_EVENT, 2, "S0", "heard");
    run_record_add_event(record, RUN_RECORD_ALARM, 3, "S0", "unhappy");
    run_record_add_event(record, RUN_RECORD_CHECK, 4, "ok", "check active");
    vec_push(&record->changes, ((struct run_record_change){.who = "S0",
                                                           .cause = "a trap",
                                                           .tied = true,
                                                           .fault = 9,
                                                           .begin = 10,
                                                           .routing = 20,
                                                           .computing = 5,
                                                           .routed = 30,
                                                           .end = 40,
                                                           .gets = 7,
                                                           .sets = 8,
                                                           .blocks = 9,
                                                           .finished = true}));
    vec_push(&record->changes, ((struct run_record_change){.who = "S1", .cause = "a sweep"}));
    record->verdict = "steady";
    vec_push(&record->checks, ((struct run_record_check){"check active", 4, 50, true, ""}));
    vec_push(&record->checks, ((struct run_record_check){"check time <= 1s", 5, 51, false, "2s"}));
}

static void a_record_is_read_as_it_was_added(void **state)
{
    (void)state;
    struct result_store *store = open_store("story.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct result_runs runs;
    struct run_record record, read = {0};
    struct text before = {0}, after = {0};
    fill_story(&record);
    record.file = run.name;
    record.seed = run.seed;
    assert_int_equal(result_store_add(store, &run, &record, NULL, NULL), 0);
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    assert_int_equal(runs.items.count, 1);
    assert_int_equal(runs.items.items[0].hash, record.hash);
    assert_int_equal(runs.items.items[0].checks, 2);
    assert_int_equal(runs.items.items[0].checks_failed, 1);
    assert_int_equal(result_store_read_record(store, runs.items.items[0].id, &read, NULL), 0);
    run_record_write_json(&record, &before);
    run_record_write_json(&read, &after);
    assert_string_equal(before.data, after.data);
    assert_string_equal(read.verdict, "steady");
    assert_true(read.changes.items[0].tied);
    assert_int_equal(read.changes.items[0].fault, 9);
    assert_int_equal(read.changes.items[0].routing, 20);
    assert_int_equal(read.changes.items[0].computing, 5);
    assert_false(read.changes.items[1].tied);
    assert_int_equal(result_store_read_record(store, 77, &read, NULL), -ENOENT);
    text_release(&before);
    text_release(&after);
    run_record_release(&record);
    run_record_release(&read);
    result_runs_release(&runs);
    result_store_close(store);
}

static void results_are_read_as_they_were_added(void **state)
{
    (void)state;
    struct result_store *store = open_store("results.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct results results = {0}, read = {0};
    struct run_record record = {0};
    results_set(&results, "latency.mean", 0.1, "s");
    results_set(&results, "a", -1e300, "");
    results_set(&results, "none", NAN, "s");
    size_t series = results_series(&results, "throughput", "packets/s");
    results_add_point(&results, series, 5, 1.5);
    results_add_point(&results, series, 5, 2.5);
    results_series(&results, "empty", "");
    assert_int_equal(result_store_add(store, &run, &record, &results, NULL), 0);

    assert_int_equal(result_store_read_results(store, 1, &read, NULL), 0);
    assert_int_equal(read.figures.count, 3);
    assert_string_equal(read.figures.items[0].name, "latency.mean");
    assert_string_equal(read.figures.items[0].unit, "s");
    assert_true(read.figures.items[0].value == 0.1);
    assert_true(read.figures.items[1].value == -1e300);
    assert_true(isnan(read.figures.items[2].value));
    assert_int_equal(read.series.count, 2);
    assert_string_equal(read.series.items[0].unit, "packets/s");
    assert_int_equal(read.series.items[0].points.count, 2);
    assert_int_equal(read.series.items[0].points.items[1].time, 5);
    assert_true(read.series.items[0].points.items[1].value == 2.5);
    assert_int_equal(read.series.items[1].points.count, 0);
    results_release(&results);
    results_release(&read);
    result_store_close(store);
}

static void long_texts_are_stored_once(void **state)
{
    (void)state;
    struct result_store *store = open_store("texts.db", RESULT_STORE_WRITE);
    struct result_runs runs;
    struct arena arena = {0};
    int64_t texts = 0;
    add(store, slow, 1, 1);
    add(store, fast, 1, 2);
    assert_int_equal(sql_number(store, NULL, &texts, "SELECT count(*) FROM text", ""), 0);
    assert_int_equal(texts, 2); /* a scenario and a topology */
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    struct result_run *run = &runs.items.items[1];
    assert_int_equal(result_store_read_texts(store, run, &arena, NULL), 0);
    assert_string_equal(run->scenario, "topology ring 3\nrun 1s\n");
    assert_string_equal(run->template, run->scenario);
    assert_string_equal(run->topology, "vendid=0x1\n");
    result_runs_release(&runs);
    arena_release(&arena);
    result_store_close(store);
}

static void runs_are_sorted_by_parameters(void **state)
{
    (void)state;
    struct result_store *store = open_store("order.db", RESULT_STORE_WRITE);
    struct result_runs runs;
    static const char *const expected[] = {"rate=9000 vls=1", "rate=9000 vls=1",
                                           "rate=20000 vls=1"};
    add(store, fast, 1, 1);
    add(store, slow, 2, 2);
    add(store, slow, 1, 3);
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    assert_int_equal(runs.items.count, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_string_equal(runs.items.items[i].point, expected[i]);
        assert_int_equal(runs.items.items[i].repetition, i == 1 ? 2 : 1);
    }
    assert_string_equal(runs.items.items[0].parameters[0].name, "vls");
    assert_string_equal(result_parameter(runs.items.items[2].parameters, 2, "rate"), "20000");
    assert_null(result_parameter(runs.items.items[2].parameters, 2, "size"));
    result_runs_release(&runs);
    result_store_close(store);
}

static void a_point_has_one_canonical_name(void **state)
{
    (void)state;
    const struct result_parameter parameters[] = {{"b", "two words"}, {"a", "1"}, {"c", ""}};
    struct text text = {0};
    result_point(parameters, 3, &text);
    assert_string_equal(text.data, "a=1 b=\"two words\" c=\"\"");
    text_clear(&text);
    result_point(NULL, 0, &text);
    assert_string_equal(text.data, "");
    text_release(&text);
    assert_true(result_compare_values("9", "10") < 0);
    assert_true(result_compare_values("S9", "S10") < 0);
    assert_true(result_compare_values("10", "fera") < 0);
    assert_true(result_compare_values("fera", "dr") > 0);
    assert_true(result_compare_values("5us", "5ms") > 0); /* the same number: by letters */
    assert_true(result_compare_values("-1.5", "1") < 0);
    assert_true(result_compare_values("1e9", "infiniband") < 0);
    assert_true(result_compare_values("nan", "5") > 0);
    assert_int_equal(result_compare_values("x", "x"), 0);
}

/* ---- the same run twice ---- */

static void adding_the_same_run_again_changes_nothing(void **state)
{
    (void)state;
    struct result_store *store = open_store("twice.db", RESULT_STORE_WRITE);
    add(store, slow, 1, 5);
    add(store, slow, 1, 5);
    assert_int_equal(count_runs(store), 1);
    result_store_close(store);
}

static void a_run_with_another_trace_is_refused(void **state)
{
    (void)state;
    struct result_store *store = open_store("contradiction.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct run_record record = {.hash = 6};
    struct err err = {0};
    add(store, slow, 1, 5);
    assert_int_equal(result_store_add(store, &run, &record, NULL, &err), -EEXIST);
    assert_non_null(strstr(err.message, "0000000000000005"));
    assert_non_null(strstr(err.message, "0000000000000006"));
    record.hash = 5;
    run.seed = 99;
    assert_int_equal(result_store_add(store, &run, &record, NULL, &err), -EEXIST);
    assert_non_null(strstr(err.message, "seed"));
    assert_int_equal(count_runs(store), 1);
    result_store_close(store);
}

/* True if the store has that run; *failed may be NULL. */
static bool has_run(struct result_store *store, const char *point, uint32_t repetition,
                    bool *failed)
{
    struct result_runs runs;
    bool found = false;
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    for (size_t i = 0; i < runs.items.count; i++) {
        const struct result_run *run = &runs.items.items[i];
        if (strcmp(run->point, point) != 0 || run->repetition != repetition)
            continue;
        found = true;
        if (failed)
            *failed = run->failed;
    }
    result_runs_release(&runs);
    return found;
}

static void a_finished_run_replaces_a_failed_one(void **state)
{
    (void)state;
    struct result_store *store = open_store("failed.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct result_runs runs;
    bool failed = false;
    run.error = "killed by signal 11";
    assert_int_equal(result_store_add(store, &run, NULL, NULL, NULL), 0);
    assert_true(has_run(store, "rate=9000 vls=1", 1, &failed));
    assert_true(failed);
    assert_int_equal(result_store_read_runs(store, &runs, NULL), 0);
    assert_true(runs.items.items[0].failed);
    assert_string_equal(runs.items.items[0].error, "killed by signal 11");
    assert_string_equal(runs.items.items[0].replay, "weft sim x.weft");
    result_runs_release(&runs);

    add(store, slow, 1, 5);
    assert_true(has_run(store, "rate=9000 vls=1", 1, &failed));
    assert_false(failed);
    assert_int_equal(result_store_add(store, &run, NULL, NULL, NULL), 0);
    assert_true(has_run(store, "rate=9000 vls=1", 1, &failed));
    assert_false(failed);
    assert_int_equal(count_runs(store), 1);
    assert_false(has_run(store, "rate=9000 vls=1", 2, NULL));
    result_store_close(store);
}

/* ---- merging ---- */

static int merge(struct result_store *store, const char *name, size_t *added, struct err *err)
{
    return result_store_merge(store, path_of(name), added, err);
}

static void merging_copies_missing_runs(void **state)
{
    (void)state;
    struct result_store *one = open_store("one.db", RESULT_STORE_WRITE);
    struct result_store *two = open_store("two.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(fast, 2);
    struct results results = {0}, read = {0};
    struct run_record record, told = {0};
    struct result_runs runs;
    size_t added = 0;
    fill_story(&record);
    results_set(&results, "latency.mean", 0.25, "s");
    results_add_point(&results, results_series(&results, "x", "s"), 1, 2);
    add(one, slow, 1, 1);
    add(two, slow, 1, 1);
    add(two, fast, 1, 2);
    assert_int_equal(result_store_add(two, &run, &record, &results, NULL), 0);
    result_store_close(two);

    assert_int_equal(merge(one, "two.db", &added, NULL), 0);
    assert_int_equal(added, 2);
    assert_int_equal(result_store_read_runs(one, &runs, NULL), 0);
    assert_int_equal(runs.items.count, 3);
    struct result_run *last = &runs.items.items[2];
    assert_int_equal(last->hash, record.hash);
    assert_int_equal(last->seed, run.seed);
    assert_int_equal(last->parameter_count, 2);
    assert_int_equal(result_store_read_texts(one, last, &runs.arena, NULL), 0);
    assert_string_equal(last->topology, run.topology);
    assert_int_equal(result_store_read_results(one, last->id, &read, NULL), 0);
    assert_int_equal(read.series.items[0].points.count, 1);
    assert_true(results_find(&read, "latency.mean")->value == 0.25);
    assert_int_equal(result_store_read_record(one, last->id, &told, NULL), 0);
    assert_int_equal(told.events.count, 4);
    assert_int_equal(told.changes.count, 2);
    assert_int_equal(told.changes.items[0].routing, 20);
    assert_string_equal(told.verdict, "steady");
    assert_int_equal(told.checks.count, 2);
    assert_int_equal(merge(one, "two.db", &added, NULL), 0);
    assert_int_equal(added, 0);
    result_runs_release(&runs);
    results_release(&results);
    results_release(&read);
    run_record_release(&record);
    run_record_release(&told);
    result_store_close(one);
}

static void merging_conflicting_runs_changes_nothing(void **state)
{
    (void)state;
    struct result_store *one = open_store("left.db", RESULT_STORE_WRITE);
    struct result_store *two = open_store("right.db", RESULT_STORE_WRITE);
    struct err err = {0};
    add(one, fast, 1, 1);
    add(two, slow, 1, 2);
    add(two, fast, 1, 3);
    result_store_close(two);
    assert_int_equal(merge(one, "right.db", NULL, &err), -EEXIST);
    assert_non_null(strstr(err.message, "'rate=20000 vls=1', repetition 1"));
    assert_int_equal(count_runs(one), 1);
    add(one, slow, 1, 2); /* the transaction has ended */
    result_store_close(one);
}

static void merging_runs_of_another_scenario_is_refused(void **state)
{
    (void)state;
    struct result_store *one = open_store("mine.db", RESULT_STORE_WRITE);
    struct result_store *two = open_store("yours.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct run_record record = {0};
    struct err err = {0};
    add(one, fast, 1, 1);
    run.scenario = "topology ring 4\n";
    assert_int_equal(result_store_add(two, &run, &record, NULL, NULL), 0);
    result_store_close(two);
    assert_int_equal(merge(one, "yours.db", NULL, &err), -EINVAL);
    assert_non_null(strstr(err.message, "another scenario"));
    assert_int_equal(count_runs(one), 1);
    result_store_close(one);
}

static void merging_keeps_the_first_of_two_failures(void **state)
{
    (void)state;
    struct result_store *one = open_store("first.db", RESULT_STORE_WRITE);
    struct result_store *two = open_store("second.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    struct result_runs runs;
    size_t added = 7;
    run.error = "time is up";
    assert_int_equal(result_store_add(one, &run, NULL, NULL, NULL), 0);
    run.error = "killed by signal 11";
    assert_int_equal(result_store_add(two, &run, NULL, NULL, NULL), 0);
    result_store_close(two);
    assert_int_equal(merge(one, "second.db", &added, NULL), 0);
    assert_int_equal(added, 0);
    assert_int_equal(result_store_read_runs(one, &runs, NULL), 0);
    assert_string_equal(runs.items.items[0].error, "time is up");
    result_runs_release(&runs);
    result_store_close(one);
}

static void merging_prefers_finished_runs(void **state)
{
    (void)state;
    struct result_store *one = open_store("broken.db", RESULT_STORE_WRITE);
    struct result_store *two = open_store("whole.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    bool failed = true;
    size_t added;
    run.error = "time is up";
    assert_int_equal(result_store_add(one, &run, NULL, NULL, NULL), 0);
    add(two, slow, 1, 4);
    result_store_close(two);
    assert_int_equal(merge(one, "whole.db", &added, NULL), 0);
    assert_int_equal(added, 1);
    assert_true(has_run(one, "rate=9000 vls=1", 1, &failed));
    assert_false(failed);
    result_store_close(one);
    two = open_store("whole.db", RESULT_STORE_WRITE);
    one = open_store("broken2.db", RESULT_STORE_WRITE);
    assert_int_equal(result_store_add(one, &run, NULL, NULL, NULL), 0);
    result_store_close(one);
    assert_int_equal(merge(two, "broken2.db", &added, NULL), 0);
    assert_int_equal(added, 0);
    result_store_close(two);
}

/* ---- files ---- */

static void assert_refused(const char *name, enum result_store_mode mode, const char *expected)
{
    struct result_store *store;
    struct err err = {0};
    assert_true(result_store_open(&store, path_of(name), mode, &err) < 0);
    assert_null(store);
    if (!strstr(err.message, expected))
        fail_msg("%s is refused with: %s", name, err.message);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(path_of(name), "we");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void other_files_are_refused_and_not_changed(void **state)
{
    (void)state;
    struct stat found;
    write_text("scenario.weft", "topology ring 3\nrun 1s\ncheck in-order\n");
    write_text("empty", "");
    assert_int_equal(mkdir(path_of("folder"), 0777), 0);
    assert_refused("scenario.weft", RESULT_STORE_READ, "is not a result store");
    assert_refused("scenario.weft", RESULT_STORE_WRITE, "is not a result store");
    assert_int_equal(stat(path_of("scenario.weft"), &found), 0);
    assert_int_equal(found.st_size, 38);
    assert_refused("empty", RESULT_STORE_READ, "is empty");
    assert_refused("folder", RESULT_STORE_READ, "");
    assert_refused("missing.db", RESULT_STORE_READ, "No such file");
    assert_refused("nowhere/x.db", RESULT_STORE_WRITE, "unable to open");
}

static void other_databases_and_versions_are_refused(void **state)
{
    (void)state;
    sqlite3 *db;
    struct result_store *store = open_store("version.db", RESULT_STORE_WRITE);
    result_store_close(store);
    assert_int_equal(sqlite3_open(path_of("version.db"), &db), 0);
    assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 9", NULL, NULL, NULL), 0);
    sqlite3_close(db);
    assert_refused("version.db", RESULT_STORE_READ, "version 9");
    assert_refused("version.db", RESULT_STORE_WRITE, "version 9");
    assert_int_equal(sqlite3_open(path_of("foreign.db"), &db), 0);
    assert_int_equal(sqlite3_exec(db, "CREATE TABLE t(x)", NULL, NULL, NULL), 0);
    sqlite3_close(db);
    assert_refused("foreign.db", RESULT_STORE_WRITE, "is not a result store");
}

static void a_reader_cannot_write(void **state)
{
    (void)state;
    struct result_store *store = open_store("reader.db", RESULT_STORE_WRITE);
    struct result_run run = run_of(slow, 1);
    result_store_close(store);
    store = open_store("reader.db", RESULT_STORE_READ);
    assert_true(result_store_add(store, &run, NULL, NULL, NULL) < 0);
    assert_int_equal(count_runs(store), 0);
    result_store_close(store);
}

/* Dies after writing half of a run to the disk. */
static void die_while_adding(const char *path)
{
    struct result_store *store;
    struct run_record record = {.hash = 1};
    struct result_run run = run_of(slow, 1);
    if (result_store_open(&store, path, RESULT_STORE_WRITE, NULL) < 0 ||
        result_store_add(store, &run, &record, NULL, NULL) < 0)
        _exit(1);
    if (sql_run(store, "PRAGMA cache_size = 1", NULL) < 0 || sql_begin(store, NULL) < 0)
        _exit(1);
    for (int64_t i = 0; i < 2000; i++)
        if (sql_do(store, NULL, "INSERT INTO event VALUES(1, ?1, 0, 'event', 'x', 'half of a run')",
                   "i", i) < 0)
            _exit(1);
    raise(SIGKILL);
}

static void a_killed_process_leaves_a_readable_store(void **state)
{
    (void)state;
    const char *path = path_of("killed.db");
    char journal[300];
    struct run_record record = {0};
    int status;
    pid_t child = fork();
    if (child == 0)
        die_while_adding(path);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    snprintf(journal, sizeof journal, "%s-journal", path);
    assert_int_equal(access(journal, F_OK), 0); /* the journal exists */
    struct result_store *store = open_store("killed.db", RESULT_STORE_READ);
    assert_int_equal(count_runs(store), 1);
    assert_int_equal(result_store_read_record(store, 1, &record, NULL), 0);
    assert_int_equal(record.events.count, 0);
    run_record_release(&record);
    result_store_close(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_is_read_as_it_was_added),
        cmocka_unit_test(results_are_read_as_they_were_added),
        cmocka_unit_test(long_texts_are_stored_once),
        cmocka_unit_test(runs_are_sorted_by_parameters),
        cmocka_unit_test(a_point_has_one_canonical_name),
        cmocka_unit_test(adding_the_same_run_again_changes_nothing),
        cmocka_unit_test(a_run_with_another_trace_is_refused),
        cmocka_unit_test(a_finished_run_replaces_a_failed_one),
        cmocka_unit_test(merging_copies_missing_runs),
        cmocka_unit_test(merging_conflicting_runs_changes_nothing),
        cmocka_unit_test(merging_runs_of_another_scenario_is_refused),
        cmocka_unit_test(merging_keeps_the_first_of_two_failures),
        cmocka_unit_test(merging_prefers_finished_runs),
        cmocka_unit_test(other_files_are_refused_and_not_changed),
        cmocka_unit_test(other_databases_and_versions_are_refused),
        cmocka_unit_test(a_reader_cannot_write),
        cmocka_unit_test(a_killed_process_leaves_a_readable_store),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
