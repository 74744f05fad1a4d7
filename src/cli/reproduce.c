/* weft reproduce: the papers' figures, run again, and what they claim, checked. src/reproduce does
 * the work; here is what goes where. */
#include "reproduce/reproduce.h"
#include "base/mem.h"
#include "cli/command.h"
#include "experiment/sweep/sweep_play.h"

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: weft reproduce [NAME ...] [OPTION ...]\n"
    "\n"
    "Runs the experiments of the papers that weft is built on, one for each of their\n"
    "figures, draws the figures, and compares what the papers claim with what was\n"
    "measured: once with the preset 'paper' and once with 'today'. A NAME is an\n"
    "experiment ('001-fig26'), the beginning of some ('001'), or a pattern; without\n"
    "one all are run.\n"
    "\n"
    "Results stay in the output folder. The same command goes on where it was\n"
    "interrupted, and a whole run takes over what a quick one has done.\n"
    "\n"
    "  --quick            a look in a minute or so: fewer sizes, fewer points\n"
    "  --out DIR          for stores, plots and index.html (default: reproduce-out)\n"
    "  -j, --jobs N       runs at a time (default: one a processor)\n"
    "  --retry            run once more what failed earlier\n"
    "  --list             show the experiments; run none\n"
    "  --experiments DIR  where they are (default: experiments here, then beside the\n"
    "                     program, then where weft is installed)\n"
    "  --json             print one JSON object instead of text\n"
    "\n"
    "exit status: 0 all claims turned out as experiments/expected says, 1 some did\n"
    "not or runs failed, 2 bad usage, 130 interrupted.\n"
    "\n"
    "examples:\n"
    "  weft reproduce --quick\n"
    "  weft reproduce 001-fig26 --out tasks && xdg-open tasks/index.html\n"
    "  weft reproduce 000 002 -j 8\n";

enum { MOST_JOBS = 1024, EXIT_INTERRUPTED = 130 };

struct reproduce_arguments {
    const char *experiments, *out, *jobs_text;
    unsigned jobs;
    bool quick, retry, list, json;
    char path[4096]; /* of the experiments, if nobody said */
    char jobs_option[64];
};

/* ---- arguments ---- */

static unsigned count_processors(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

/* Beside the program: build/weft and experiments/. */
static bool find_beside(char path[4096])
{
    char program[4000];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length <= 0)
        return false;
    program[length] = 0;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(program, '/');
        if (!slash)
            return false;
        *slash = 0;
        snprintf(path, 4096, "%s/experiments", program);
        if (access(path, R_OK) == 0)
            return true;
    }
    return false;
}

static const char *find_experiments(struct reproduce_arguments *arguments)
{
    if (arguments->experiments)
        return arguments->experiments;
    if (access("experiments/expected", R_OK) == 0)
        return "experiments";
    if (find_beside(arguments->path))
        return arguments->path;
    return reproduce_installed_path;
}

/* -j N and -jN are --jobs N. */
static void lengthen_jobs(struct reproduce_arguments *arguments, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "-j") == 0)
            argv[i] = "--jobs";
        if (strncmp(argv[i], "-j", 2) != 0)
            continue;
        snprintf(arguments->jobs_option, sizeof arguments->jobs_option, "--jobs=%s", argv[i] + 2);
        argv[i] = arguments->jobs_option;
    }
}

static int parse_arguments(struct reproduce_arguments *arguments, int argc, char **argv)
{
    const struct option_spec specs[] = {{.name = "quick", .flag = &arguments->quick},
                                        {.name = "out", .value = &arguments->out},
                                        {.name = "jobs", .value = &arguments->jobs_text},
                                        {.name = "retry", .flag = &arguments->retry},
                                        {.name = "list", .flag = &arguments->list},
                                        {.name = "json", .flag = &arguments->json},
                                        {.name = "experiments", .value = &arguments->experiments},
                                        {0}};
    uint64_t jobs = count_processors();
    lengthen_jobs(arguments, argc, argv);
    argc = command_options("reproduce", argc, argv, specs);
    if (argc < 0)
        return -1;
    if (arguments->jobs_text && !parse_unsigned(arguments->jobs_text, 1, MOST_JOBS, &jobs)) {
        command_usage("reproduce", "'%s' is no number of runs at a time (1 to %d)",
                      arguments->jobs_text, MOST_JOBS);
        return -1;
    }
    arguments->jobs = (unsigned)jobs;
    arguments->experiments = find_experiments(arguments);
    if (!arguments->out)
        arguments->out = "reproduce-out";
    return argc;
}

/* ---- the list ---- */

static void print_list(const struct recipes *recipes, const bool *chosen, bool as_json)
{
    struct text out = {0};
    struct json json = {.out = &out, .pretty = true};
    if (as_json)
        json_begin_array(&json, NULL);
    for (size_t i = 0; i < recipes->count; i++) {
        const struct recipe *recipe = &recipes->items[i];
        if (!chosen[i])
            continue;
        if (!as_json) {
            text_printf(&out, "%-12s %s\n", recipe->name, recipe->title);
            continue;
        }
        json_begin_object(&json, NULL);
        json_string(&json, "name", recipe->name);
        json_string(&json, "title", recipe->title);
        json_string(&json, "folder", recipe->folder);
        json_end_object(&json);
    }
    if (as_json) {
        json_end_array(&json);
        text_putc(&out, '\n');
    }
    fputs(out.data ? out.data : "", stdout);
    text_release(&out);
}

static int list(const struct reproduce_arguments *arguments, const char *const *names, size_t count,
                struct err *err)
{
    struct recipes recipes = {0};
    int status = recipes_read(&recipes, arguments->experiments, err);
    if (status)
        return status;
    bool *chosen = mem_zalloc(recipes.count, sizeof *chosen);
    status = reproduce_choose(&recipes, names, count, chosen, err);
    if (status == 0)
        print_list(&recipes, chosen, arguments->json);
    mem_free(chosen);
    recipes_release(&recipes);
    return status;
}

/* ---- while it works ---- */

struct teller {
    char what[256]; /* "000-fig07 removal.sweep" */
    bool live;      /* there is a progress line on the terminal */
};

static void clear_line(struct teller *teller)
{
    if (teller->live)
        fputs("\r\033[K", stderr);
    teller->live = false;
}

static void tell_begin(void *context, const struct recipe *recipe, const char *sweep)
{
    struct teller *teller = context;
    const char *slash = strrchr(sweep, '/');
    snprintf(teller->what, sizeof teller->what, "%s %s", recipe->name, slash ? slash + 1 : sweep);
}

static void tell_progress(void *context, const struct sweep_counts *counts)
{
    struct teller *teller = context;
    if (!isatty(STDERR_FILENO))
        return;
    fprintf(stderr, "\r\033[K%s: %zu/%zu runs", teller->what, counts->there + counts->done,
            counts->total);
    if (counts->left >= 0 && counts->running)
        fprintf(stderr, ", %.0fs left", ceil(counts->left));
    fflush(stderr);
    teller->live = true;
}

static void tell_failure(void *context, const struct sweep *sweep, const struct sweep_run *run)
{
    struct text command = {0};
    sweep_replay_command(sweep, run, &command);
    clear_line(context);
    fprintf(stderr, "failed: %s: %s\n  again: %s\n", run->name, run->error, command.data);
    text_release(&command);
}

static void tell_note(void *context, const char *text)
{
    clear_line(context);
    fprintf(stderr, "weft reproduce: no plots: %s\n", text);
}

/* ---- all together ---- */

static int show(const struct reproduce_arguments *arguments,
                const struct reproduction *reproduction)
{
    struct text out = {0};
    if (reproduction->interrupted) {
        fputs("interrupted; the same command goes on from here\n", stderr);
        return EXIT_INTERRUPTED;
    }
    if (arguments->json) {
        reproduction_write_json(reproduction, &out);
    } else {
        reproduction_write_table(reproduction, &out);
        text_printf(&out, "%zu runs (%zu were there, %zu failed), %.0f s; page: %s\n",
                    reproduction->runs, reproduction->there, reproduction->failed,
                    reproduction->seconds, reproduction->page);
        if (reproduction->broken)
            text_printf(&out, "%zu runs have checks that do not hold\n", reproduction->broken);
    }
    fputs(out.data, stdout);
    text_release(&out);
    bool bad =
        reproduction->failed || reproduction->broken || reproduction_unexpected(reproduction) > 0;
    return bad ? EXIT_FAILS : EXIT_HOLDS;
}

static int work(const struct reproduce_arguments *arguments, const char *const *names, size_t count,
                struct err *err)
{
    struct reproduction reproduction;
    struct teller teller = {0};
    struct reproduce_options options = {.experiments = arguments->experiments,
                                        .out = arguments->out,
                                        .names = names,
                                        .name_count = count,
                                        .quick = arguments->quick,
                                        .retry = arguments->retry,
                                        .jobs = arguments->jobs,
                                        .begin = tell_begin,
                                        .progress = tell_progress,
                                        .failure = tell_failure,
                                        .note = tell_note,
                                        .context = &teller};
    int status = reproduce(&options, &reproduction, err);
    clear_line(&teller);
    if (status == 0)
        status = show(arguments, &reproduction);
    reproduction_release(&reproduction);
    return status;
}

static int run(int argc, char **argv)
{
    struct reproduce_arguments arguments = {0};
    struct err err = {0};
    argc = parse_arguments(&arguments, argc, argv);
    if (argc < 0)
        return EXIT_USAGE;
    const char *const *names = (const char *const *)argv + 1;
    size_t count = (size_t)argc - 1;
    int status = arguments.list ? list(&arguments, names, count, &err)
                                : work(&arguments, names, count, &err);
    fflush(stdout);
    return status < 0 ? command_error("reproduce", &err) : status;
}

const struct command command_reproduce = {
    .name = "reproduce",
    .summary = "run the papers' figures and check their claims",
    .help = help,
    .run = run,
};
