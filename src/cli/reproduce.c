/* weft reproduce: runs the experiments of the papers' figures and checks their claims.
 * src/reproduce does the work. */
#include "reproduce/reproduce.h"
#include "base/mem.h"
#include "base/record.h"
#include "cli/command.h"
#include "experiment/sweep/sweep_run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JOBS = 1024, EXIT_INTERRUPTED = 130, TITLE_BYTES = 256 };

static struct reproduce_options given = {.out = "reproduce-out", .seed = 1};
static bool list_experiments, list_claims, as_json;

static const struct option_spec options[] = {
    {"--quick", "fewer sizes and points; takes about a minute", .flag = &given.quick},
    {"--out DIR", "for stores, plots and index.html (default: reproduce-out)", .value = &given.out},
    {"-j, --jobs N", "number of parallel runs (default: one for each processor)",
     .number = &given.jobs, .low = 1, .high = MOST_JOBS},
    {"--retry", "repeat runs that failed earlier", .flag = &given.retry},
    {"--seed N", "seed of networks and traffic (default: 1); each seed has its own stores",
     .number = &given.seed, .low = 1, .high = UINT32_MAX},
    {"--list", "list the experiments; run none", .flag = &list_experiments},
    {"--claims",
     "list the claims: the printed value, its place in the paper and the tolerance; run none",
     .flag = &list_claims},
    {"--experiments DIR",
     "directory of the experiments (default: ./experiments, else the one next to the program, "
     "else the installed one)",
     .value = &given.experiments},
    {"--json", "print one JSON object instead of text", .flag = &as_json},
    {0}};

/* In this directory, next to the program (build/weft and experiments/), or installed. */
static const char *find_experiments(char path[4096])
{
    char program[4000];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (access("experiments/expected", R_OK) == 0)
        return "experiments";
    program[length > 0 ? length : 0] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (!slash)
            break;
        *slash = 0;
        snprintf(path, 4096, "%s/experiments", program);
        if (access(path, R_OK) == 0)
            return path;
    }
    return reproduce_installed_path;
}

/* ---- the lists ---- */

static void put_experiments(const struct recipes *recipes, const bool *chosen, bool json,
                            struct text *out)
{
    struct record record = record_to(out, json, true);
    record_begin_list(&record, NULL);
    for (size_t i = 0; i < recipes->count; i++) {
        const struct recipe *recipe = &recipes->items[i];
        if (!chosen[i])
            continue;
        record_begin(&record, NULL);
        record_string(&record, "name", "%-12s", recipe->name);
        record_string(&record, "title", " %s\n", recipe->title);
        record_string(&record, "folder", NULL, recipe->folder);
        record_end(&record);
    }
    record_end_list(&record);
    if (json)
        text_putc(out, '\n');
}

/* Experiments, or with --claims their claims. */
static int print_list(struct err *err)
{
    struct recipes recipes = {0};
    struct text out = {0};
    int status = recipes_read(&recipes, given.experiments, err);
    if (status)
        return status;
    bool *chosen = mem_zalloc(recipes.count, sizeof *chosen);
    status = reproduce_choose(&recipes, given.names, given.name_count, chosen, err);
    if (status == 0) {
        if (list_claims)
            claims_write_list(&recipes, chosen, as_json, &out);
        else
            put_experiments(&recipes, chosen, as_json, &out);
        command_print(&out);
    }
    text_release(&out);
    mem_free(chosen);
    recipes_release(&recipes);
    return status;
}

/* ---- progress ---- */

/* The sweep that is executed. */
static struct {
    char title[TITLE_BYTES]; /* "icpp03-fig07 removal.sweep" */
    const struct sweep *sweep;
} now;

static void begin_sweep(void *context, const struct recipe *recipe, const char *path,
                        const struct sweep *sweep)
{
    const char *slash = strrchr(path, '/');
    (void)context;
    snprintf(now.title, sizeof now.title, "%s %s", recipe->name, slash ? slash + 1 : path);
    now.sweep = sweep;
}

static void show_sweep_progress(void *context, const struct sweep_counts *counts)
{
    size_t done = counts->there + counts->done;
    (void)context;
    if (counts->left >= 0 && counts->running)
        progress_show("%s: %zu/%zu runs, %.0fs left", now.title, done, counts->total,
                      ceil(counts->left));
    else
        progress_show("%s: %zu/%zu runs", now.title, done, counts->total);
}

static void print_failure(void *context, const struct sweep_run *run)
{
    struct text command = {0};
    (void)context;
    sweep_replay_command(now.sweep, run, &command);
    progress_clear();
    fprintf(stderr, "failed: %s: %s\n  again: %s\n", run->name, run->error, command.data);
    text_release(&command);
}

static void print_note(void *context, const char *text)
{
    (void)context;
    progress_clear();
    fprintf(stderr, "weft reproduce: no plots: %s\n", text);
}

/* ---- main ---- */

static int print_result(const struct reproduction *reproduction)
{
    struct text out = {0};
    if (reproduction->interrupted) {
        fputs("interrupted; the same command continues\n", stderr);
        return EXIT_INTERRUPTED;
    }
    if (as_json) {
        reproduction_write_json(reproduction, &out);
    } else {
        reproduction_write_table(reproduction, &out);
        text_printf(&out, "%zu runs (%zu were there, %zu failed), %.0f s; page: %s\n",
                    reproduction->runs, reproduction->there, reproduction->failed,
                    reproduction->seconds, reproduction->page);
        if (reproduction->broken)
            text_printf(&out, "checks failed in %zu runs\n", reproduction->broken);
    }
    command_print(&out);
    bool bad = reproduction->failed || reproduction->broken ||
               reproduction_count(reproduction).unexpected > 0;
    return bad ? EXIT_FAILS : EXIT_HOLDS;
}

static int run_experiments(struct err *err)
{
    struct reproduction reproduction;
    given.begin = begin_sweep;
    given.progress = show_sweep_progress;
    given.failure = print_failure;
    given.note = print_note;
    if (given.jobs == 0)
        given.jobs = count_processors();
    int status = reproduce(&given, &reproduction, err);
    progress_clear();
    if (status == 0)
        status = print_result(&reproduction);
    reproduction_release(&reproduction);
    return status;
}

static int run_reproduce(int argc, char **argv, struct err *err)
{
    static char path[4096];
    given.names = (const char *const *)argv + 1;
    given.name_count = (size_t)argc - 1;
    if (!given.experiments)
        given.experiments = find_experiments(path);
    return list_experiments || list_claims ? print_list(err) : run_experiments(err);
}

const struct command command_reproduce = {
    .name = "reproduce",
    .summary = "run the papers' figures and check their claims",
    .usage = "usage: weft reproduce [NAME ...] [OPTION ...]\n"
             "\n"
             "Runs the experiments of the papers that weft is built on, one for each of their\n"
             "figures, draws the figures, and compares what the papers claim with what was\n"
             "measured: once with the preset 'paper' and once with 'today'. A NAME is an\n"
             "experiment ('san03-fig26'), the beginning of some ('san03'), or a pattern;\n"
             "without one all are run.\n"
             "\n"
             "Results are kept in the output folder. The same command continues after an\n"
             "interruption, and a full run uses the results of a quick one.\n"
             "\n",
    .column = 21,
    .options = options,
    .more = "\n"
            "exit status: 0 all claims have the result in experiments/expected, 1 some have\n"
            "not or runs failed, 2 bad usage, 130 interrupted.\n"
            "\n"
            "examples:\n"
            "  weft reproduce --quick\n"
            "  weft reproduce --claims san03-fig26\n"
            "  weft reproduce san03-fig26 --out tasks && xdg-open tasks/index.html\n"
            "  weft reproduce icpp03 tpds06 -j 8\n",
    .run = run_reproduce,
};
