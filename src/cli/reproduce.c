/* weft reproduce: runs the experiments of the papers' figures and checks their claims.
 *
 * The program experiments/reproduce does it, in Python. */
#include "base/mem.h"
#include "cli/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JOBS = 1024 };

static const char *out = "reproduce-out", *experiments;
static uint64_t seed = 1, jobs;
static bool quick, retry, list_experiments, list_claims, as_json;

static const struct option_spec options[] = {
    {"--quick", "fewer networks and points; takes a minute of CPU time", .flag = &quick},
    {"--out DIR", "for stores, plots and index.html (default: reproduce-out)", .value = &out},
    {"-j, --jobs N", "number of parallel runs (default: one for each processor)", .number = &jobs,
     .low = 1, .high = MOST_JOBS},
    {"--retry", "repeat runs that failed earlier", .flag = &retry},
    {"--seed N", "seed of networks and traffic (default: 1); each seed has its own stores",
     .number = &seed, .low = 1, .high = UINT32_MAX},
    {"--list", "list the experiments; run none", .flag = &list_experiments},
    {"--claims",
     "list the claims: the printed value, its place in the paper and the tolerance; run none",
     .flag = &list_claims},
    {"--experiments DIR",
     "directory of the experiments (default: ./experiments, else the one next to the program, "
     "else the installed one)",
     .value = &experiments},
    {"--json", "print one JSON object instead of text", .flag = &as_json},
    {0}};

static int run_reproduce(int argc, char **argv, struct err *err)
{
    const struct {
        bool given;
        const char *option;
    } flags[] = {{quick, "--quick"},
                 {retry, "--retry"},
                 {list_experiments, "--list"},
                 {list_claims, "--claims"},
                 {as_json, "--json"}};
    struct arena arena = {0};
    VEC(const char *) words = {0};
    const char *weft, *found = command_find_experiments(&arena);
    int status = command_find_self(&weft, &arena, err);
    if (status)
        return status;
    if (!experiments)
        experiments = access("experiments/expected", R_OK) == 0 ? "experiments" : found;
    const char *const first[] = {"python3",
                                 "-I",
                                 "-B",
                                 arena_printf(&arena, "%s/reproduce", found),
                                 "--weft",
                                 weft,
                                 "--seed",
                                 arena_printf(&arena, "%" PRIu64, seed),
                                 "--out",
                                 out,
                                 "--jobs",
                                 arena_printf(&arena, "%" PRIu64, jobs ? jobs : count_processors()),
                                 "--experiments",
                                 experiments};
    for (size_t i = 0; i < sizeof first / sizeof first[0]; i++)
        vec_push(&words, first[i]);
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].given)
            vec_push(&words, flags[i].option);
    vec_push(&words, "--");
    for (int i = 1; i <= argc; i++) /* and the NULL at the end */
        vec_push(&words, argv[i]);
    execvp(words.items[0], (char *const *)words.items);
    int error = errno;
    vec_release(&words);
    arena_release(&arena);
    return error == ENOENT
               ? err_set(err, error,
                         "python3 is not installed; it is in the Debian package python3")
               : err_set(err, error, "cannot run python3: %s", strerror(error));
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
             "interruption, and a full run uses results of a quick one.\n"
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
