/* weft report: tables, CSV, plots and pages of measured runs. src/experiment/report makes them;
 * this file writes them to their files. */
#include "experiment/report/report.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "experiment/chart/chart.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct {
    const char *html, *csv, *out;
    struct chart_plot plot;
    bool json, frame;
    struct option_values y;
    struct report_choice choice;
} given;

static const struct option_spec options[] = {
    {"--html FILE", "write the page to FILE", .value = &given.html},
    {"--csv FILE", "write the data: the figures and series of a run, or the points of a sweep",
     .value = &given.csv},
    {"--plot FILE", "plot with gnuplot, in the style of papers; FILE ends in .svg, .png or .pdf",
     .value = &given.plot.path},
    {"--log AXES", "logarithmic axes of the plot: x, y or xy", .value = &given.plot.log},
    {"--keep", "keep gnuplot's script as FILE.gp", .flag = &given.plot.keep},
    {"--out DIR", "write report.html, data.csv and plot.svg to DIR", .value = &given.out},
    {"--json", "print one JSON object instead of text", .flag = &given.json},
    {"--frame",
     "print a page without content, for programs that write their own: {{title}}, {{lead}}, "
     "{{verdict}}, {{tone}} and {{data}} stand for it",
     .flag = &given.frame},
    {.usage = "", .help = "options for a sweep:"},
    {"--x NAME", "a parameter or a figure (default: the parameter with the most numeric values)",
     .value = &given.choice.x},
    {"--y FIGURE", "may be repeated (default: the most important figures)", .values = &given.y},
    {"--by PARAMETER",
     "one curve for each of its values (default: for each combination of the other parameters)",
     .value = &given.choice.by},
    {0}};

static const char *store_path;
static bool plot_may_fail; /* the plot is one of several outputs of --out */

/* Where the outputs go, if the options do not say it. */
static int choose_paths(const char *path, struct arena *arena, struct err *err)
{
    struct stat found;
    bool directory = stat(path, &found) == 0 && S_ISDIR(found.st_mode);
    bool nothing = !given.html && !given.csv && !given.plot.path && !given.json;
    const char *folder = given.out ? given.out : directory && nothing ? path : NULL;
    store_path = directory ? arena_printf(arena, "%s/run.db", path) : path;
    if (given.out && mkdir(given.out, 0777) < 0 && errno != EEXIST)
        return err_at(err, errno, given.out, 0, "%s", strerror(errno));
    if (folder && !given.html)
        given.html = arena_printf(arena, "%s/report.html", folder);
    if (given.out && !given.csv)
        given.csv = arena_printf(arena, "%s/data.csv", folder);
    given.plot.experiments = command_find_experiments(arena);
    plot_may_fail = given.out && !given.plot.path;
    if (plot_may_fail)
        given.plot.path = arena_printf(arena, "%s/plot.svg", folder);
    return 0;
}

/* ---- output ---- */

struct outputs {
    struct text csv, text;
    struct page page;
};

/* Writes all outputs. `status` is the result of the plot: with --out, the other outputs are written
 * even if gnuplot or Python is not installed. */
static int write_outputs(struct outputs *outputs, int status, struct err *err)
{
    if (status == -ENOENT && plot_may_fail) {
        fprintf(stderr, "weft report: no plot: %s\n", err->message);
        given.plot.path = NULL;
        status = 0;
    }
    if (status == 0 && given.csv)
        status = file_write(given.csv, &outputs->csv, err);
    if (status == 0 && given.html)
        status = page_write(&outputs->page, given.html, err);
    if (status == 0) {
        command_print(&outputs->text);
        if (given.html && !given.json)
            printf("page: %s\n", given.html);
        if (given.csv && !given.json)
            printf("data: %s\n", given.csv);
        if (given.plot.path && !given.json)
            printf("plot: %s\n", given.plot.path);
    }
    text_release(&outputs->csv);
    text_release(&outputs->text);
    page_release(&outputs->page);
    return status;
}

static int report_one(struct result_store *store, const struct result_run *run, struct err *err)
{
    struct report_run report;
    struct outputs outputs = {0};
    struct text verdict = {0};
    int status = report_run_read(&report, store, run, err);
    if (status)
        return status;
    if (given.plot.path)
        status = report_run_plot(&report, &given.plot, err);
    if (given.csv)
        report_run_csv(&report, &outputs.csv);
    if (given.html)
        report_run_page(&report, &outputs.page);
    if (given.json) {
        report_run_json(&report, &outputs.text);
    } else {
        report_run_verdict(&report, &verdict);
        text_put_wrapped(&outputs.text, 0, "%s", verdict.data);
        text_release(&verdict);
    }
    report_run_release(&report);
    return write_outputs(&outputs, status, err);
}

static int report_many(struct result_store *store, const struct result_runs *runs, struct err *err)
{
    struct report_sweep *sweep;
    struct outputs outputs = {0};
    int status = report_sweep_read(&sweep, store, runs, &given.choice, err);
    if (status)
        return status;
    if (given.plot.path)
        status = report_sweep_plot(sweep, &given.plot, err);
    if (given.csv)
        report_sweep_csv(sweep, &outputs.csv);
    if (given.html)
        report_sweep_page(sweep, &outputs.page);
    if (given.json)
        report_sweep_json(sweep, &outputs.text);
    else
        report_sweep_text(sweep, &outputs.text);
    report_sweep_free(sweep);
    return write_outputs(&outputs, status, err);
}

/* ---- main ---- */

static int report_store(struct err *err)
{
    struct result_store *store;
    struct result_runs runs;
    bool chosen = given.choice.x || given.choice.by || given.y.count;
    int status = result_store_open(&store, store_path, RESULT_STORE_READ, err);
    if (status)
        return status;
    status = result_store_read_runs(store, &runs, err);
    if (status == 0) {
        if (runs.items.count == 0)
            status = err_at(err, ENODATA, store_path, 0, "the store has no run");
        else if (runs.items.count == 1 && !chosen)
            status = report_one(store, &runs.items.items[0], err);
        else
            status = report_many(store, &runs, err);
        result_runs_release(&runs);
    }
    result_store_close(store);
    return status;
}

static int run_report(int argc, char **argv, struct err *err)
{
    struct arena arena = {0};
    if (given.frame) {
        struct text frame = {0};
        page_put_frame(&frame);
        return argc == 1 ? command_print(&frame) : command_usage("--frame: expected no file");
    }
    if (argc != 2)
        return command_usage("expected a run directory or a store");
    if (given.plot.path && !chart_format_of(given.plot.path))
        return command_usage("--plot %s: expected a name that ends in .svg, .png or .pdf",
                             given.plot.path);
    const char *log = given.plot.log;
    if (log && (!*log || strspn(log, "xy") != strlen(log)))
        return command_usage("--log %s: expected x, y or xy", log);
    given.choice.y = given.y.items;
    given.choice.y_count = given.y.count;
    int status = choose_paths(argv[1], &arena, err);
    if (status == 0)
        status = report_store(err);
    arena_release(&arena);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "tables, plots and a page of what runs measured",
    .usage = "usage: weft report RUN-DIR|STORE [OPTION ...]\n"
             "       weft report --frame\n"
             "\n"
             "Reports on a run (a directory that 'weft sim --out' made) or on the runs of a\n"
             "store that 'weft sweep' filled. Prints the verdict, or a table of the sweep's\n"
             "points. Without an output option, the page of a run is written to\n"
             "RUN-DIR/report.html; it needs no network and no other file.\n"
             "\n",
    .column = 19,
    .options = options,
    .more = "\n"
            "exit status: 0 success, 2 the report cannot be made.\n"
            "\n"
            "examples:\n"
            "  weft sim death.weft --out death && weft report death\n"
            "  weft report load.db --x traffic.rate --y latency.mean --by sm.engine \\\n"
            "      --plot latency.svg\n"
            "  weft report load.db --x accepted --y latency.mean --html load.html\n",
    .run = run_report,
};
