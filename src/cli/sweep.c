/* weft sweep: runs a scenario over a grid of parameters, in parallel, into one result store.
 * weft-sweep(5) describes the file, src/experiment/sweep reads it. */
#include "cli/sweep.h"

#include "base/parse.h"
#include "experiment/report/run_text.h"
#include "experiment/sweep/sweep_run.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_INTERRUPTED = 130 };
enum { MOST_JOBS = 1024, MOST_TASKS = 100000, MOST_REPETITIONS = 100000 };

static const char *share, *replay, *skip, *seed_text;     /* seed_text NULL: the seed of the file */
static uint64_t jobs, seed, repeat, task, repetition = 1; /* repeat 0: of the file */
static bool list, slurm, submit, resume;
static struct sweep_arguments given;

static const struct option_spec options[] = {
    {"-j, --jobs N", "number of parallel runs (default: one for each processor)", .number = &jobs,
     .low = 1, .high = MOST_JOBS},
    {"--store FILE", "the result store (default: the file's, else its name with .db)",
     .value = &given.store},
    {"--repeat N", "repetitions of each point (default: the file's, else 1)", .number = &repeat,
     .low = 1, .high = MOST_REPETITIONS},
    {"--seed N",
     "of the first repetition; the others are derived from it (default: the file's, else 1)",
     .value = &seed_text, .number = &seed},
    {"--only PATTERN", "only matching runs, such as 'traffic.rate=2*,4* data_vls=1 repetition=1'",
     .value = &given.only},
    {"--retry", "repeat runs that failed earlier", .flag = &given.retry},
    {"--resume", "continue an interrupted sweep (the default)", .flag = &resume},
    {"--list", "list the runs and their state; run none", .flag = &list},
    {"--replay POINT", "run one point now and print its timeline; store nothing", .value = &replay},
    {"--repetition N", "of --replay (default: 1)", .number = &repetition, .low = 1,
     .high = SWEEP_MOST_RUNS},
    {"--json", "print one JSON object instead of text", .flag = &given.json},
    {.usage = "", .help = "On a cluster:"},
    {"--slurm",
     "write a job array, DIR/array.sh, and submit it with sbatch; options of sbatch follow '--'",
     .flag = &slurm},
    {"--tasks N", "tasks of the array (default: one for each run, at most 64)",
     .number = &given.tasks, .low = 1, .high = MOST_TASKS},
    {"--submit", "with --slurm: submit the job array (the default)", .flag = &submit},
    {"--write-only", "write the job array, but do not submit it", .flag = &given.write_only},
    {"--dir DIR",
     "for the script, and the tasks' stores and logs (default: the file's name with .slurm)",
     .value = &given.folder},
    {"--task I/N", "run the I-th of N shares, as a task of the array does", .value = &share},
    {"--skip STORE", "omit runs that are in STORE", .value = &skip},
    {"-o, --out STORE", "merge: the store to write", .value = &given.output},
    {0}};

static int check_arguments(int argc, char **argv)
{
    if (submit && given.write_only)
        return command_usage("--submit or --write-only, not both");
    const char *slash = share ? strchr(share, '/') : NULL;
    char first[16] = ""; /* I of I/N */
    if (slash && (size_t)(slash - share) < sizeof first)
        snprintf(first, sizeof first, "%.*s", (int)(slash - share), share);
    if (share && (!*first || !parse_bounded(slash + 1, 1, MOST_TASKS, &given.tasks) ||
                  !parse_bounded(first, 1, given.tasks, &task)))
        return command_usage("'%s' is not a share: expected I/N, such as 3/8", share);
    if (argc < 2)
        return command_usage("expected a sweep file");
    if (argc > 2 && strcmp(argv[2], "--") != 0)
        return command_usage("'%s' is one argument too many", argv[2]);
    if (argc > 2 && !slurm)
        return command_usage("options of sbatch after '--' need --slurm");
    if (slurm && task)
        return command_usage("--slurm writes the array, --task runs a part of it");
    if (given.tasks && !task && !slurm)
        return command_usage("--tasks needs --slurm");
    if (task && !given.store)
        return command_usage("--task needs its own store: use --store");
    if (given.output)
        return command_usage("-o belongs to 'weft sweep merge'");
    return 0;
}

/* ---- replay ---- */

static void print_event(void *context, const struct run_record_event *event)
{
    struct text line = {0};
    (void)context;
    if (given.json)
        return;
    run_record_write_event(event, &line);
    fwrite(line.data, 1, line.length, stdout);
    text_release(&line);
}

static int replay_point(struct sweep *sweep, struct err *err)
{
    struct run_record record = {.tell = print_event};
    struct sweep_plan plan;
    struct sweep_choice choice = {.only = replay};
    struct text end = {0};
    sweep->repeat = 1;
    int status = sweep_plan_make(&plan, sweep, &choice, err);
    if (status)
        return status;
    assert(plan.runs.count > 0);
    struct sweep_run run = plan.runs.items[0];
    run.repetition = (uint32_t)repetition;
    run.seed = sweep_seed(sweep->seed, run.repetition);
    if (plan.runs.count > 1)
        status = command_usage("%zu points match '%s': expected one", plan.runs.count, replay);
    else
        status = sweep_play(sweep, &run, &record, NULL, err);
    if (status == 0) {
        if (given.json)
            run_record_write_json(&record, &end);
        else
            run_record_write_summary(&record, &end);
        command_print(&end);
        status = run_record_failures(&record) ? EXIT_FAILS : EXIT_HOLDS;
    }
    run_record_release(&record);
    sweep_plan_release(&plan);
    return status;
}

/* ---- output ---- */

static const char *const states[] = {
    [SWEEP_MISSING] = "missing", [SWEEP_DONE] = "done", [SWEEP_FAILED] = "failed"};

/* "12.3s", "3m 20s", "1h 05m". */
static const char *seconds_text(double seconds, char *buffer, size_t size)
{
    unsigned long whole = (unsigned long)(seconds + 0.5);
    if (seconds < 59.95)
        snprintf(buffer, size, "%.1fs", seconds);
    else if (whole < 3600)
        snprintf(buffer, size, "%lum %02lus", whole / 60, whole % 60);
    else
        snprintf(buffer, size, "%luh %02lum", whole / 3600, whole % 3600 / 60);
    return buffer;
}

static void show_progress(void *context, const struct sweep_counts *counts)
{
    char left[32];
    bool known = counts->left >= 0 && counts->running;
    progress_show(
        "%s: %zu/%zu done, %zu failed, %zu running%s%s%s", ((const struct sweep *)context)->file,
        counts->there + counts->done, counts->total, counts->failed + counts->left_failed,
        counts->running, known ? ", " : "",
        known ? seconds_text(ceil(counts->left), left, sizeof left) : "", known ? " left" : "");
}

static void show_failure(void *context, const struct sweep_run *run)
{
    struct text command = {0};
    sweep_replay_command(context, run, &command);
    progress_clear();
    fprintf(stderr, "failed: %s%srepetition %" PRIu32 ": %s\n  again: %s\n", run->name,
            *run->name ? ", " : "", run->repetition, run->error, command.data);
    text_release(&command);
}

static void put_run(const struct sweep *sweep, const struct sweep_run *run, struct json *json)
{
    struct text command = {0};
    sweep_replay_command(sweep, run, &command);
    json_begin_object(json, NULL);
    json_string(json, "point", run->name);
    json_unsigned(json, "repetition", run->repetition);
    json_unsigned(json, "seed", run->seed);
    json_string(json, "state", states[run->state]);
    if (run->state == SWEEP_FAILED)
        json_string(json, "error", run->error);
    json_string(json, "replay", command.data);
    json_end_object(json);
    text_release(&command);
}

static void print_json(const struct sweep *sweep, const struct sweep_plan *plan,
                       const struct sweep_counts *counts)
{
    struct text out = {0};
    struct json json = {.out = &out, .pretty = true};
    json_begin_object(&json, NULL);
    json_string(&json, "sweep", sweep->file);
    json_string(&json, "store", given.store);
    json_unsigned(&json, "runs", counts->total);
    json_unsigned(&json, "there", counts->there);
    json_unsigned(&json, "done", counts->done);
    json_unsigned(&json, "failed", counts->failed);
    json_unsigned(&json, "failed_earlier", counts->left_failed);
    json_unsigned(&json, "checks_do_not_hold", counts->broken);
    json_double(&json, "wall_s", counts->seconds);
    json_bool(&json, "interrupted", counts->interrupted);
    json_begin_array(&json, "failures");
    for (size_t i = 0; i < plan->runs.count; i++)
        if (plan->runs.items[i].state == SWEEP_FAILED)
            put_run(sweep, &plan->runs.items[i], &json);
    json_end_array(&json);
    json_end_object(&json);
    text_putc(&out, '\n');
    command_print(&out);
}

static void print_summary(const struct sweep_counts *counts)
{
    char took[32];
    size_t failed = counts->failed + counts->left_failed;
    printf("%zu run%s: %zu done", counts->total, counts->total == 1 ? "" : "s", counts->done);
    if (counts->there)
        printf(", %zu there already", counts->there);
    if (failed)
        printf(", %zu failed", failed);
    if (counts->left_failed)
        printf(" (%zu of them earlier: --retry runs them again)", counts->left_failed);
    if (counts->broken)
        printf("; checks failed in %zu", counts->broken);
    printf("; %s; %s\n", seconds_text(counts->seconds, took, sizeof took), given.store);
    if (counts->interrupted)
        printf("interrupted: %zu of %zu runs are done; the same command continues\n",
               counts->there + counts->done, counts->total);
}

static void print_list(const struct sweep *sweep, const struct sweep_plan *plan)
{
    struct text out = {0};
    struct json json = {.out = &out, .pretty = true};
    if (given.json)
        json_begin_array(&json, NULL);
    else
        text_printf(&out, "%-8s %4s %20s  %s\n", "state", "rep.", "seed", "point");
    for (size_t i = 0; i < plan->runs.count; i++) {
        const struct sweep_run *run = &plan->runs.items[i];
        if (given.json)
            put_run(sweep, run, &json);
        else
            text_printf(&out, "%-8s %4" PRIu32 " %20" PRIu64 "  %s\n", states[run->state],
                        run->repetition, run->seed, run->name);
        if (!given.json && run->state == SWEEP_FAILED)
            text_printf(&out, "%36s%s\n", "", run->error);
    }
    if (given.json) {
        json_end_array(&json);
        text_putc(&out, '\n');
    }
    command_print(&out);
}

/* ---- main ---- */

static int run_plan(const struct sweep *sweep, struct sweep_plan *plan, struct err *err)
{
    struct sweep_counts counts;
    struct sweep_options wanted = {.store = given.store,
                                   .jobs = jobs ? (unsigned)jobs : count_processors(),
                                   .retry = given.retry,
                                   .progress = show_progress,
                                   .failure = show_failure,
                                   .context = (void *)sweep};
    int status = sweep_run_plan(sweep, plan, &wanted, &counts, err);
    if (status)
        return status;
    progress_clear();
    if (given.json)
        print_json(sweep, plan, &counts);
    else
        print_summary(&counts);
    if (counts.interrupted)
        return EXIT_INTERRUPTED;
    return counts.failed || counts.left_failed || counts.broken ? EXIT_FAILS : EXIT_HOLDS;
}

static int execute(struct sweep *sweep, struct err *err)
{
    struct sweep_plan plan;
    struct sweep_choice choice = {given.only, task, task ? given.tasks : 0};
    if (replay)
        return replay_point(sweep, err);
    if (!given.store)
        given.store = sweep->store;
    int status = sweep_plan_make(&plan, sweep, &choice, err);
    if (status)
        return status;
    status = sweep_plan_compare(&plan, sweep, given.store, err);
    if (status == 0 && skip)
        status = sweep_plan_compare(&plan, sweep, skip, err);
    if (status == 0 && list)
        print_list(sweep, &plan);
    else if (status == 0)
        status = slurm ? sweep_submit(&given, sweep, &plan, err) : run_plan(sweep, &plan, err);
    sweep_plan_release(&plan);
    return status;
}

static int run_sweep(int argc, char **argv, struct err *err)
{
    struct sweep sweep;
    if (argc > 1 && strcmp(argv[1], "merge") == 0)
        return sweep_merge(&given, argc - 2, argv + 2, err);
    int status = check_arguments(argc, argv);
    if (status)
        return status;
    given.file = argv[1];
    given.sbatch = (const char *const *)argv + (argc > 2 ? 3 : argc);
    status = sweep_read(&sweep, from_file(given.file, err));
    if (status)
        return status;
    if (repeat) /* the command line overrides the file */
        sweep.repeat = repeat;
    if (seed_text)
        sweep.seed = seed;
    status = execute(&sweep, err);
    sweep_release(&sweep);
    return status;
}

const struct command command_sweep = {
    .name = "sweep",
    .summary = "run a scenario over a grid of parameters",
    .usage = "usage: weft sweep FILE [OPTION ...]\n"
             "       weft sweep FILE --slurm [OPTION ...] [-- SBATCH-OPTION ...]\n"
             "       weft sweep merge STORE ... -o STORE\n"
             "\n"
             "Runs a scenario once for every point of a grid of parameters, each run in its\n"
             "own process, and stores the results in a result store (SQLite). Runs that are in\n"
             "the store are not repeated: the same command continues after an interruption,\n"
             "and executes only new runs if values or repetitions were added. A run that\n"
             "crashes or takes too long is stored as failed, with the command that repeats it.\n"
             "\n",
    .column = 21,
    .options = options,
    .more = "\n"
            "exit status: 0 all runs are done and all checks passed, 1 otherwise, 2 the sweep\n"
            "is invalid, 130 interrupted.\n"
            "\n"
            "a sweep:\n"
            "  scenario load.weft\n"
            "  vary traffic.rate in 5000 10000 20000\n"
            "  vary data_vls in 1 2\n"
            "  repeat 5\n"
            "\n"
            "examples:\n"
            "  weft sweep load.sweep -j 8\n"
            "  weft sweep load.sweep --list --only data_vls=1\n"
            "  weft sweep load.sweep --slurm --tasks 20 -- --partition=short --time=60\n"
            "  weft sweep merge load.slurm/task-*.db -o load.db\n",
    .run = run_sweep,
};
