/* weft report: tables, CSV, plots and pages of measured runs. src/experiment/report makes them;
 * this file writes them to their files. */
#include "experiment/report/report.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/command.h"
#include "experiment/chart/chart_gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: weft report RUN-DIR|STORE [OPTION ...]\n"
    "\n"
    "Reports on a run (a directory that 'weft sim --out' made) or on the runs of a\n"
    "store that 'weft sweep' filled. Prints the verdict, or a table of the sweep's\n"
    "points. Without an output option, the page of a run is written to\n"
    "RUN-DIR/report.html; it needs no network and no other file.\n"
    "\n"
    "  --html FILE      write the page to FILE\n"
    "  --csv FILE       write the data: the figures and series of a run, or the\n"
    "                   points of a sweep\n"
    "  --plot FILE      plot with gnuplot, in the style of papers; FILE ends in .svg\n"
    "                   or .png\n"
    "  --keep           keep gnuplot's script as FILE.gp\n"
    "  --out DIR        write report.html, data.csv and plot.svg to DIR\n"
    "  --json           print one JSON object instead of text\n"
    "\n"
    "options for a sweep:\n"
    "  --x NAME         a parameter or a figure (default: the parameter with the most\n"
    "                   numeric values)\n"
    "  --y FIGURE       may be repeated (default: the most important figures)\n"
    "  --by PARAMETER   one curve for each of its values (default: for each\n"
    "                   combination of the other parameters)\n"
    "\n"
    "exit status: 0 success, 2 the report cannot be made.\n"
    "\n"
    "examples:\n"
    "  weft sim death.weft --out death && weft report death\n"
    "  weft report load.db --x traffic.rate --y latency.mean --by sm.engine \\\n"
    "      --plot latency.svg\n"
    "  weft report load.db --x accepted --y latency.mean --html load.html\n";

struct report_arguments {
    const char *path, *html, *csv, *plot, *out, *store;
    bool json, keep;
    struct option_values y;
    struct report_choice choice;
    struct arena arena;
    bool plot_may_fail; /* the plot is one of several outputs of --out */
};

static int parse_report_arguments(struct report_arguments *arguments, int argc, char **argv)
{
    enum chart_format format;
    const struct option_spec specs[] = {{.name = "html", .value = &arguments->html},
                                        {.name = "csv", .value = &arguments->csv},
                                        {.name = "plot", .value = &arguments->plot},
                                        {.name = "out", .value = &arguments->out},
                                        {.name = "x", .value = &arguments->choice.x},
                                        {.name = "by", .value = &arguments->choice.by},
                                        {.name = "y", .values = &arguments->y},
                                        {.name = "keep", .flag = &arguments->keep},
                                        {.name = "json", .flag = &arguments->json},
                                        {0}};
    argc = command_options("report", argc, argv, specs);
    if (argc < 0)
        return EXIT_USAGE;
    if (argc < 2)
        return command_usage("report", "expected a run directory or a store");
    if (argc > 2)
        return command_usage("report", "'%s' is one argument too many", argv[2]);
    if (arguments->plot && !chart_format_of(arguments->plot, &format))
        return command_usage("report", "--plot %s: expected a name that ends in .svg or .png",
                             arguments->plot);
    arguments->path = argv[1];
    arguments->choice.y = arguments->y.items;
    arguments->choice.y_count = arguments->y.count;
    return 0;
}

/* ---- paths ---- */

static int choose_paths(struct report_arguments *arguments, struct err *err)
{
    struct stat found;
    bool directory = stat(arguments->path, &found) == 0 && S_ISDIR(found.st_mode);
    bool nothing = !arguments->html && !arguments->csv && !arguments->plot && !arguments->json;
    struct arena *arena = &arguments->arena;
    const char *folder = arguments->out         ? arguments->out
                         : directory && nothing ? arguments->path
                                                : NULL;
    arguments->store =
        directory ? arena_printf(arena, "%s/run.db", arguments->path) : arguments->path;
    if (arguments->out && mkdir(arguments->out, 0777) < 0 && errno != EEXIST)
        return err_at(err, errno, arguments->out, 0, "%s", strerror(errno));
    if (folder && !arguments->html)
        arguments->html = arena_printf(arena, "%s/report.html", folder);
    if (arguments->out && !arguments->csv)
        arguments->csv = arena_printf(arena, "%s/data.csv", folder);
    if (arguments->out && !arguments->plot) {
        arguments->plot = arena_printf(arena, "%s/plot.svg", folder);
        arguments->plot_may_fail = true;
    }
    return 0;
}

/* ---- output ---- */

struct outputs {
    struct text csv, text;
    struct page page;
};

/* Writes all outputs. `status` is the result of the plot: with --out, the other outputs are written
 * even if gnuplot is not installed. */
static int write_outputs(struct report_arguments *arguments, struct outputs *outputs, int status,
                         struct err *err)
{
    if (status == -ENOENT && arguments->plot_may_fail) {
        fprintf(stderr, "weft report: no plot: %s\n", err->message);
        arguments->plot = NULL;
        status = 0;
    }
    if (status == 0 && arguments->csv)
        status = file_write(arguments->csv, &outputs->csv, err);
    if (status == 0 && arguments->html)
        status = page_write(&outputs->page, arguments->html, err);
    if (status == 0) {
        command_print("report", &outputs->text);
        if (arguments->html && !arguments->json)
            printf("page: %s\n", arguments->html);
        if (arguments->csv && !arguments->json)
            printf("data: %s\n", arguments->csv);
        if (arguments->plot && !arguments->json)
            printf("plot: %s\n", arguments->plot);
    }
    text_release(&outputs->csv);
    text_release(&outputs->text);
    page_release(&outputs->page);
    return status;
}

static int report_one(struct report_arguments *arguments, struct result_store *store,
                      const struct result_run *run, struct err *err)
{
    struct report_run report;
    struct outputs outputs = {0};
    struct text verdict = {0};
    int status = report_run_read(&report, store, run, err);
    if (status)
        return status;
    if (arguments->plot)
        status = report_run_plot(&report, arguments->plot, arguments->keep, err);
    if (arguments->csv)
        report_run_csv(&report, &outputs.csv);
    if (arguments->html)
        report_run_page(&report, &outputs.page);
    if (arguments->json) {
        report_run_json(&report, &outputs.text);
    } else {
        report_run_verdict(&report, &verdict);
        text_put_wrapped(&outputs.text, 0, "%s", verdict.data);
        text_release(&verdict);
    }
    report_run_release(&report);
    return write_outputs(arguments, &outputs, status, err);
}

static int report_many(struct report_arguments *arguments, struct result_store *store,
                       const struct result_runs *runs, struct err *err)
{
    struct report_sweep *sweep;
    struct outputs outputs = {0};
    int status = report_sweep_read(&sweep, store, runs, &arguments->choice, err);
    if (status)
        return status;
    if (arguments->plot)
        status = report_sweep_plot(sweep, arguments->plot, arguments->keep, err);
    if (arguments->csv)
        report_sweep_csv(sweep, &outputs.csv);
    if (arguments->html)
        report_sweep_page(sweep, &outputs.page);
    if (arguments->json)
        report_sweep_json(sweep, &outputs.text);
    else
        report_sweep_text(sweep, &outputs.text);
    report_sweep_free(sweep);
    return write_outputs(arguments, &outputs, status, err);
}

/* ---- main ---- */

static int report_store(struct report_arguments *arguments, struct err *err)
{
    struct result_store *store;
    struct result_runs runs;
    const struct report_choice *choice = &arguments->choice;
    int status = result_store_open(&store, arguments->store, RESULT_STORE_READ, err);
    if (status)
        return status;
    status = result_store_read_runs(store, &runs, err);
    if (status == 0) {
        bool chosen = choice->x || choice->by || choice->y_count;
        if (runs.items.count == 0)
            status = err_at(err, ENODATA, arguments->store, 0, "the store has no run");
        else if (runs.items.count == 1 && !chosen)
            status = report_one(arguments, store, &runs.items.items[0], err);
        else
            status = report_many(arguments, store, &runs, err);
        result_runs_release(&runs);
    }
    result_store_close(store);
    return status;
}

static int run_report(int argc, char **argv)
{
    struct report_arguments arguments = {0};
    struct err err = {0};
    int status = parse_report_arguments(&arguments, argc, argv);
    if (status == 0)
        status = choose_paths(&arguments, &err);
    if (status == 0)
        status = report_store(&arguments, &err);
    vec_release(&arguments.y);
    arena_release(&arguments.arena);
    fflush(stdout);
    return status < 0 ? command_error("report", &err) : status;
}

const struct command command_report = {
    .name = "report",
    .summary = "tables, plots and a page of what runs measured",
    .help = help,
    .run = run_report,
};
