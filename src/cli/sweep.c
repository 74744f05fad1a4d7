/* weft sweep: runs a scenario over a grid of parameters, in parallel, into one result store.
 * weft-sweep(5) describes the file, src/experiment/sweep reads it. */
#include "cli/sweep.h"

#include "base/mem.h"
#include "base/parse.h"
#include "experiment/report/run_text.h"
#include "experiment/sweep/sweep_play.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char help[] =
    "usage: weft sweep FILE [OPTION ...]\n"
    "       weft sweep FILE --slurm [OPTION ...] [-- SBATCH-OPTION ...]\n"
    "       weft sweep merge STORE ... -o STORE\n"
    "\n"
    "Runs a scenario once for every point of a grid of parameters, each run in its\n"
    "own process, and stores the results in a result store (SQLite). Runs that are in\n"
    "the store are not repeated: the same command continues after an interruption,\n"
    "and executes only new runs if values or repetitions were added. A run that\n"
    "crashes or takes too long is stored as failed, with the command that repeats it.\n"
    "\n"
    "  -j, --jobs N       number of parallel runs (default: one for each processor)\n"
    "  --store FILE       the result store (default: the file's, else its name with\n"
    "                     .db)\n"
    "  --repeat N         repetitions of each point (default: the file's, else 1)\n"
    "  --seed N           of the first repetition; the others are derived from it\n"
    "                     (default: the file's, else 1)\n"
    "  --only PATTERN     only matching points, such as 'traffic.rate=2* data_vls=1'\n"
    "  --retry            repeat runs that failed earlier\n"
    "  --resume           continue an interrupted sweep (the default)\n"
    "  --list             list the runs and their state; run none\n"
    "  --replay POINT     run one point now and print its timeline; store nothing\n"
    "  --repetition N     of --replay (default: 1)\n"
    "  --json             print one JSON object instead of text\n"
    "\n"
    "On a cluster:\n"
    "  --slurm            write a job array, DIR/array.sh, and submit it with sbatch;\n"
    "                     options of sbatch follow '--'\n"
    "  --tasks N          tasks of the array (default: one for each run, at most 64)\n"
    "  --submit           with --slurm: submit the job array (the default)\n"
    "  --write-only       write the job array, but do not submit it\n"
    "  --dir DIR          for the script, and the tasks' stores and logs\n"
    "                     (default: the file's name with .slurm)\n"
    "  --task I/N         run the I-th of N shares, as a task of the array does\n"
    "  --skip STORE       omit runs that are in STORE\n"
    "  -o STORE           merge: the store to write\n"
    "\n"
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
    "  weft sweep merge load.slurm/task-*.db -o load.db\n";

enum { MOST_JOBS = 1024, MOST_TASKS = 100000 };

/* ---- arguments ---- */

static bool parse_share(const char *text, uint64_t *task, uint64_t *tasks)
{
    char first[16];
    const char *slash = strchr(text, '/');
    if (!slash || (size_t)(slash - text) >= sizeof first)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
    return parse_bounded(slash + 1, 1, MOST_TASKS, tasks) && parse_bounded(first, 1, *tasks, task);
}

static int check_sweep_arguments(const struct sweep_arguments *arguments, int argc, char **argv)
{
    if (argc < 2)
        return command_usage("sweep", "expected a sweep file");
    if (argc > 2 && strcmp(argv[2], "--") != 0)
        return command_usage("sweep", "'%s' is one argument too many", argv[2]);
    if (argc > 2 && !arguments->slurm)
        return command_usage("sweep", "options of sbatch after '--' need --slurm");
    if (arguments->slurm && arguments->task)
        return command_usage("sweep", "--slurm writes the array, --task runs a part of it");
    if (arguments->tasks && !arguments->task && !arguments->slurm)
        return command_usage("sweep", "--tasks needs --slurm");
    if (arguments->task && !arguments->store)
        return command_usage("sweep", "--task needs its own store: use --store");
    return 0;
}

static int parse_sweep_arguments(struct sweep_arguments *arguments, int argc, char **argv)
{
    enum { MOST_REPETITIONS = 100000 };
    bool submit = false;
    const char *share = NULL;
    const struct option_spec specs[] = {
        {.name = "jobs", .letter = 'j', .number = &arguments->jobs, .low = 1, .high = MOST_JOBS},
        {.name = "store", .value = &arguments->store},
        {.name = "repeat", .number = &arguments->repeat, .low = 1, .high = MOST_REPETITIONS},
        {.name = "seed", .value = &arguments->seed_text, .number = &arguments->seed},
        {.name = "only", .value = &arguments->only},
        {.name = "skip", .value = &arguments->skip},
        {.name = "replay", .value = &arguments->replay},
        {.name = "repetition", .number = &arguments->repetition, .low = 1, .high = SWEEP_MOST_RUNS},
        {.name = "task", .value = &share},
        {.name = "tasks", .number = &arguments->tasks, .low = 1, .high = MOST_TASKS},
        {.name = "dir", .value = &arguments->folder},
        {.name = "retry", .flag = &arguments->retry},
        {.name = "list", .flag = &arguments->list},
        {.name = "json", .flag = &arguments->json},
        {.name = "slurm", .flag = &arguments->slurm},
        {.name = "submit", .flag = &submit},
        {.name = "write-only", .flag = &arguments->write_only},
        {.name = "resume", .flag = &(bool){false}},
        {0}};
    argc = command_options("sweep", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (submit && arguments->write_only)
        return command_usage("sweep", "--submit or --write-only, not both");
    if (share && !parse_share(share, &arguments->task, &arguments->tasks))
        return command_usage("sweep", "'%s' is not a share: expected I/N, such as 3/8", share);
    int status = check_sweep_arguments(arguments, argc, argv);
    if (status)
        return status;
    arguments->file = argv[1];
    arguments->sbatch = argv + (argc > 2 ? 3 : argc);
    return 0;
}

/* ---- replay ---- */

static void print_event(void *context, const struct run_record_event *event)
{
    const struct sweep_arguments *arguments = context;
    struct text line = {0};
    if (arguments->json)
        return;
    run_record_write_event(event, &line);
    fwrite(line.data, 1, line.length, stdout);
    text_release(&line);
}

static int replay_point(struct sweep_arguments *arguments, struct sweep *sweep, struct err *err)
{
    struct run_record record = {.tell = print_event, .context = arguments};
    struct sweep_plan plan;
    struct sweep_choice choice = {.only = arguments->replay};
    struct text end = {0};
    sweep->repeat = 1;
    int status = sweep_plan_make(&plan, sweep, &choice, err);
    if (status)
        return status;
    assert(plan.runs.count > 0);
    struct sweep_run run = plan.runs.items[0];
    run.repetition = (uint32_t)arguments->repetition;
    run.seed = sweep_seed(sweep->seed, run.repetition);
    if (plan.runs.count > 1) {
        status = command_usage("sweep", "%zu points match '%s': expected one", plan.runs.count,
                               arguments->replay);
    } else {
        status = sweep_play(sweep, &run, &record, NULL, err);
        if (status == 0) {
            if (arguments->json)
                run_record_write_json(&record, &end);
            else
                run_record_write_summary(&record, &end);
            command_print("sweep", &end);
            status = run_record_failures(&record) ? EXIT_FAILS : EXIT_HOLDS;
        }
        run_record_release(&record);
    }
    sweep_plan_release(&plan);
    return status;
}

/* ---- main ---- */

static int execute_sweep(struct sweep_arguments *arguments, struct sweep *sweep, struct err *err)
{
    struct sweep_plan plan;
    struct sweep_choice choice = {arguments->only, arguments->task,
                                  arguments->task ? arguments->tasks : 0};
    struct sweep_report report = {.arguments = arguments, .sweep = sweep, .plan = &plan};
    struct sweep_counts counts;
    if (arguments->replay)
        return replay_point(arguments, sweep, err);
    if (!arguments->store)
        arguments->store = sweep->store;
    struct sweep_options options = {.store = arguments->store,
                                    .jobs = (unsigned)arguments->jobs,
                                    .retry = arguments->retry,
                                    .progress = sweep_show_progress,
                                    .failure = sweep_show_failure,
                                    .context = &report};
    int status = sweep_plan_make(&plan, sweep, &choice, err);
    if (status)
        return status;
    status = sweep_plan_compare(&plan, sweep, arguments->store, err);
    if (status == 0 && arguments->skip)
        status = sweep_plan_compare(&plan, sweep, arguments->skip, err);
    if (status == 0) {
        if (arguments->list)
            sweep_show_list(arguments, sweep, &plan);
        else if (arguments->slurm)
            status = sweep_submit(arguments, sweep, &plan);
        else
            status = sweep_run_plan(sweep, &plan, &options, &counts, err);
        if (status == 0 && !arguments->list && !arguments->slurm)
            status = sweep_show_end(&report, &counts);
    }
    sweep_plan_release(&plan);
    return status;
}

static int run_sweep(int argc, char **argv)
{
    struct sweep_arguments arguments = {.jobs = count_processors(), .repetition = 1};
    struct sweep sweep;
    struct err err = {0};
    if (argc > 1 && strcmp(argv[1], "merge") == 0)
        return sweep_merge(argc - 1, argv + 1);
    int status = parse_sweep_arguments(&arguments, argc, argv);
    if (status == 0)
        status = sweep_read(&sweep, from_file(arguments.file, &err));
    if (status == 0) { /* the command line overrides the file */
        if (arguments.repeat)
            sweep.repeat = arguments.repeat;
        if (arguments.seed_text)
            sweep.seed = arguments.seed;
        status = execute_sweep(&arguments, &sweep, &err);
        sweep_release(&sweep);
    }
    fflush(stdout);
    return status < 0 ? command_error("sweep", &err) : status;
}

const struct command command_sweep = {
    .name = "sweep",
    .summary = "run a scenario over a grid of parameters",
    .help = help,
    .run = run_sweep,
};
