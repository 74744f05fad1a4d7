/* Reports on a sweep: a table for the terminal, a page, plots, CSV and JSON. */
#include "experiment/report/report_sweep.h"

#include "experiment/chart/chart_gnuplot.h"
#include "experiment/chart/markup.h"
#include "experiment/report/series_text.h"

#include <errno.h>
#include <string.h>

enum {
    TEXT_WIDTH = 80,
    PAGE_COLUMNS = 12, /* of a page's tables */
    ROWS_SHOWN = 500,  /* of a page's tables */
    FAILURES_SHOWN = 50,
    PLOT_PANELS = 6,
};

static bool varies(const struct report_sweep *sweep, size_t parameter)
{
    return sweep->parameters.items[parameter].values > 1;
}

static size_t most_repetitions(const struct report_sweep *sweep)
{
    size_t most = 0;
    for (size_t i = 0; i < sweep->points.count; i++)
        most = sweep->points.items[i].count > most ? sweep->points.items[i].count : most;
    return most;
}

static bool is_saturated(const struct report_sweep *sweep, const struct sweep_point *point)
{
    return sweep->saturated != SWEEP_NONE && sweep_mean(sweep, point, sweep->saturated).mean > 0.5;
}

/* ---- the terminal ---- */

/* A table of texts with columns of minimal width. */
struct grid {
    VEC(char *) cells;
    size_t columns;
};

static void grid_add(struct grid *grid, const char *text)
{
    vec_push(&grid->cells, mem_strdup(text));
}

/* Writes as many columns as fit into a terminal, at least `least`; returns their number. */
static size_t grid_write(struct grid *grid, size_t least, struct text *out)
{
    size_t *widths = mem_zalloc(grid->columns, sizeof *widths), shown = 0, total = 0;
    for (size_t i = 0; i < grid->cells.count; i++) {
        size_t own = text_width(grid->cells.items[i]), *width = &widths[i % grid->columns];
        *width = own > *width ? own : *width;
    }
    while (shown < grid->columns && (shown < least || total + widths[shown] <= TEXT_WIDTH))
        total += widths[shown++] + 2;
    for (size_t i = 0; i < grid->cells.count; i++) {
        size_t column = i % grid->columns;
        size_t blanks = widths[column] - text_width(grid->cells.items[i]);
        if (column < shown)
            text_printf(out, "%s%*s%s%s", column ? "  " : "", (int)blanks, "", grid->cells.items[i],
                        column + 1 == shown ? "\n" : "");
        mem_free(grid->cells.items[i]);
    }
    vec_release(&grid->cells);
    mem_free(widths);
    return shown;
}

/* Two rows: names and units. */
static void text_head(const struct report_sweep *sweep, const struct quantity_scale *scales,
                      struct grid *grid)
{
    size_t parameters = 0;
    for (size_t i = 0; i < sweep->parameters.count; i++) {
        if (varies(sweep, i))
            grid_add(grid, sweep->parameters.items[i].name);
        parameters += varies(sweep, i);
    }
    grid_add(grid, "runs");
    for (size_t i = 0; i < sweep->y.count; i++)
        grid_add(grid, sweep->figures.items[sweep->y.items[i]].name);
    grid->columns = grid->cells.count;
    for (size_t i = 0; i <= parameters; i++)
        grid_add(grid, "");
    for (size_t i = 0; i < sweep->y.count; i++)
        grid_add(grid, scales[i].name);
}

static void text_point(const struct report_sweep *sweep, const struct sweep_point *point,
                       const struct quantity_scale *scales, struct grid *grid)
{
    char cell[QUANTITY_BYTES];
    for (size_t i = 0; i < sweep->parameters.count; i++)
        if (varies(sweep, i))
            grid_add(grid, sweep_value_of(point->run, sweep->parameters.items[i].name));
    snprintf(cell, sizeof cell, "%zu%s", point->count, is_saturated(sweep, point) ? "*" : " ");
    grid_add(grid, cell);
    for (size_t i = 0; i < sweep->y.count; i++)
        grid_add(grid, sweep_mean_text(sweep, point, sweep->y.items[i], &scales[i], cell));
}

static struct quantity_scale *scales_of(const struct report_sweep *sweep)
{
    struct quantity_scale *scales = mem_zalloc(sweep->y.count, sizeof *scales);
    for (size_t i = 0; i < sweep->y.count; i++)
        scales[i] = sweep_scale(sweep, sweep->y.items[i]);
    return scales;
}

void report_sweep_text(const struct report_sweep *sweep, struct text *out)
{
    struct grid grid = {0};
    struct quantity_scale *scales = scales_of(sweep);
    bool saturated = false;
    text_head(sweep, scales, &grid);
    for (size_t p = 0; p < sweep->points.count; p++) {
        text_point(sweep, &sweep->points.items[p], scales, &grid);
        saturated |= is_saturated(sweep, &sweep->points.items[p]);
    }
    size_t least = grid.columns - sweep->y.count + (sweep->y.count > 0);
    size_t columns = grid.columns, shown = grid_write(&grid, least, out);
    if (saturated)
        text_puts(out, "* saturated\n");
    if (shown < columns)
        text_printf(out, "no room for %zu more: choose with --y, or see --html\n", columns - shown);
    text_printf(out,
                "%zu points, %zu runs finished, %zu failed, %zu with checks that do not hold\n",
                sweep->points.count, sweep->finished.count, sweep->failed, sweep->broken);
    mem_free(scales);
}

/* ---- the page ---- */

static void put_top(const struct report_sweep *sweep, struct page *page)
{
    struct text lead = {0}, verdict = {0};
    size_t runs = sweep->runs->items.count;
    const char *name = runs ? sweep->runs->items.items[0].name : "";
    const char *slash = name ? strrchr(name, '/') : NULL;
    text_printf(&lead, "%zu points, %zu runs, up to %zu repetitions", sweep->points.count, runs,
                most_repetitions(sweep));
    page_begin(page, slash ? slash + 1 : name && name[0] ? name : "sweep", lead.data);
    if (sweep->failed)
        text_printf(&verdict, "%zu of %zu runs failed", sweep->failed, runs);
    else
        text_printf(&verdict, "All %zu runs finished", runs);
    if (sweep->broken)
        text_printf(&verdict, "; checks do not hold in %zu.", sweep->broken);
    else
        text_puts(&verdict, "; no check failed.");
    page_verdict(page, sweep->failed || sweep->broken ? PAGE_BAD : PAGE_GOOD, verdict.data);
    text_release(&lead);
    text_release(&verdict);
}

static void put_fixed(const struct report_sweep *sweep, struct page *page)
{
    struct text fixed = {0};
    for (size_t i = 0; i < sweep->parameters.count && sweep->runs->items.count; i++)
        if (!varies(sweep, i))
            text_printf(
                &fixed, "%s%s=%s", fixed.length ? ", " : "", sweep->parameters.items[i].name,
                sweep_value_of(&sweep->runs->items.items[0], sweep->parameters.items[i].name));
    if (fixed.length)
        page_note(page, "The same in all runs: %s.", fixed.data);
    text_release(&fixed);
}

static void put_curves(const struct report_sweep *sweep, struct page *page)
{
    if (sweep->points.count < 2 || !sweep->y.count)
        return;
    page_section(page, "Curves");
    for (size_t i = 0; i < sweep->y.count; i++) {
        struct chart chart;
        sweep_chart(sweep, sweep->y.items[i], &chart);
        page_chart(page, &chart, 1, "");
        chart_release(&chart);
    }
    if (most_repetitions(sweep) > 1)
        page_note(page, "Means over repetitions; bars are 95 %% confidence intervals.");
    for (size_t i = 0; i < sweep->pooled.count; i++)
        page_note(page, "The means are also over %s.",
                  sweep->parameters.items[sweep->pooled.items[i]].name);
}

/* Headings: the parameters that vary, the number of runs, the figures with their units. */
struct columns {
    const char *headings[PAGE_COLUMNS];
    size_t count, parameters;
    struct arena arena;
};

static void add_column(struct columns *columns, bool number, const char *name, const char *unit)
{
    if (columns->count < PAGE_COLUMNS)
        columns->headings[columns->count++] = arena_printf(
            &columns->arena, unit[0] ? "%s%s (%s)" : "%s%s%s", number ? ">" : "", name, unit);
}

static void find_columns(const struct report_sweep *sweep, const struct quantity_scale *scales,
                         struct columns *columns)
{
    for (size_t i = 0; i < sweep->parameters.count && columns->count + 2 < PAGE_COLUMNS; i++)
        if (varies(sweep, i))
            add_column(columns, sweep->parameters.items[i].numbers, sweep->parameters.items[i].name,
                       "");
    columns->parameters = columns->count;
    add_column(columns, true, "runs", "");
    for (size_t i = 0; i < sweep->y.count; i++)
        add_column(columns, true, sweep->figures.items[sweep->y.items[i]].name, scales[i].name);
}

static void put_row(const struct report_sweep *sweep, const struct sweep_point *point,
                    const struct columns *columns, const struct quantity_scale *scales,
                    struct page *page)
{
    char cell[QUANTITY_BYTES];
    size_t left = columns->parameters;
    for (size_t i = 0; i < sweep->parameters.count && left; i++) {
        if (!varies(sweep, i))
            continue;
        page_cell(page, "%s", sweep_value_of(point->run, sweep->parameters.items[i].name));
        left--;
    }
    page_cell(page, "%s%zu", is_saturated(sweep, point) ? "saturated, " : "", point->count);
    for (size_t i = 0; i + columns->parameters + 1 < columns->count; i++)
        page_cell(page, "%s", sweep_mean_text(sweep, point, sweep->y.items[i], &scales[i], cell));
}

static void put_points(const struct report_sweep *sweep, struct page *page)
{
    struct columns columns = {0};
    struct quantity_scale *scales = scales_of(sweep);
    if (sweep->points.count) {
        find_columns(sweep, scales, &columns);
        page_section(page, "Points");
        page_begin_table(page, columns.headings, columns.count);
        for (size_t p = 0; p < sweep->points.count && p < ROWS_SHOWN; p++)
            put_row(sweep, &sweep->points.items[p], &columns, scales, page);
        page_end_table(page);
    }
    if (most_repetitions(sweep) > 1)
        page_note(page, "Mean ± half width of the 95 %% confidence interval.");
    if (sweep->points.count > ROWS_SHOWN)
        page_note(page, "%zu more points are in the store.", sweep->points.count - ROWS_SHOWN);
    arena_release(&columns.arena);
    mem_free(scales);
}

static void put_failures(const struct report_sweep *sweep, struct page *page)
{
    static const char *const headings[] = {"point", ">repetition", "what",
                                           "command that repeats it"};
    size_t shown = 0;
    if (!sweep->failed && !sweep->broken)
        return;
    page_section(page, "Runs that failed");
    page_begin_table(page, headings, 4);
    for (size_t i = 0; i < sweep->runs->items.count && shown < FAILURES_SHOWN; i++) {
        const struct result_run *run = &sweep->runs->items.items[i];
        if (!run->failed && !run->checks_failed)
            continue;
        page_cell(page, "%s", run->point);
        page_cell(page, "%u", run->repetition);
        if (run->failed)
            page_cell(page, "%s", run->error);
        else
            page_cell(page, "%u of %u checks", run->checks_failed, run->checks);
        page_cell(page, "%s", run->replay);
        shown++;
    }
    page_end_table(page);
    if (sweep->failed + sweep->broken > shown)
        page_note(page, "%zu more are in the store.", sweep->failed + sweep->broken - shown);
}

static void put_reproduction(const struct report_sweep *sweep, struct page *page)
{
    if (!sweep->runs->items.count)
        return;
    const struct result_run *run = &sweep->runs->items.items[0];
    page_section(page, "How to run it again");
    page_paragraph(page, "The first point:");
    page_code(page, run->replay ? run->replay : "");
    page_paragraph(page, "Seed %llu, trace hash %016llx, weft %s.", (unsigned long long)run->seed,
                   (unsigned long long)run->hash, run->version ? run->version : "");
}

void report_sweep_page(const struct report_sweep *sweep, struct page *page)
{
    put_top(sweep, page);
    put_fixed(sweep, page);
    put_curves(sweep, page);
    put_points(sweep, page);
    put_failures(sweep, page);
    put_reproduction(sweep, page);
}

/* ---- plots ---- */

int report_sweep_plot(const struct report_sweep *sweep, const char *path, bool keep,
                      struct err *err)
{
    struct chart charts[PLOT_PANELS];
    size_t count = sweep->y.count < PLOT_PANELS ? sweep->y.count : PLOT_PANELS;
    if (count == 0)
        return err_at(err, ENODATA, sweep->store, 0, "there is nothing to plot");
    for (size_t i = 0; i < count; i++)
        sweep_chart(sweep, sweep->y.items[i], &charts[i]);
    int status = chart_gnuplot(charts, count, path, keep, err);
    for (size_t i = 0; i < count; i++)
        chart_release(&charts[i]);
    return status;
}

/* ---- programs ---- */

void report_sweep_csv(const struct report_sweep *sweep, struct text *out)
{
    for (size_t i = 0; i < sweep->parameters.count; i++)
        csv_put(out, sweep->parameters.items[i].name, ",");
    text_puts(out, "runs");
    for (size_t i = 0; i < sweep->figures.count; i++) {
        text_putc(out, ',');
        csv_put(out, sweep->figures.items[i].name, ",");
        csv_put(out, sweep->figures.items[i].name, ".ci95");
    }
    text_putc(out, '\n');
    for (size_t p = 0; p < sweep->points.count; p++) {
        const struct sweep_point *point = &sweep->points.items[p];
        for (size_t i = 0; i < sweep->parameters.count; i++)
            csv_put(out, sweep_value_of(point->run, sweep->parameters.items[i].name), ",");
        text_printf(out, "%zu", point->count);
        for (size_t i = 0; i < sweep->figures.count; i++) {
            struct quantity_mean mean = sweep_mean(sweep, point, i);
            text_putc(out, ',');
            csv_put_number(out, mean.mean, ",");
            csv_put_number(out, mean.half_width, "");
        }
        text_putc(out, '\n');
    }
}

static void json_point(const struct report_sweep *sweep, const struct sweep_point *point,
                       struct json *json)
{
    json_begin_object(json, NULL);
    json_begin_object(json, "parameters");
    for (size_t i = 0; i < sweep->parameters.count; i++)
        json_string(json, sweep->parameters.items[i].name,
                    sweep_value_of(point->run, sweep->parameters.items[i].name));
    json_end_object(json);
    json_unsigned(json, "runs", point->count);
    json_bool(json, "saturated", is_saturated(sweep, point));
    json_begin_object(json, "figures");
    for (size_t i = 0; i < sweep->figures.count; i++) {
        struct quantity_mean mean = sweep_mean(sweep, point, i);
        json_begin_object(json, sweep->figures.items[i].name);
        json_double(json, "mean", mean.mean);
        json_double(json, "ci95", mean.half_width);
        json_string(json, "unit", sweep->figures.items[i].unit);
        json_end_object(json);
    }
    json_end_object(json);
    json_end_object(json);
}

void report_sweep_json(const struct report_sweep *sweep, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "finished", sweep->finished.count);
    json_unsigned(&json, "failed", sweep->failed);
    json_unsigned(&json, "with_failed_checks", sweep->broken);
    json_begin_array(&json, "points");
    for (size_t i = 0; i < sweep->points.count; i++)
        json_point(sweep, &sweep->points.items[i], &json);
    json_end_array(&json);
    json_begin_array(&json, "failures");
    for (size_t i = 0; i < sweep->runs->items.count; i++) {
        const struct result_run *run = &sweep->runs->items.items[i];
        if (!run->failed && !run->checks_failed)
            continue;
        json_begin_object(&json, NULL);
        json_string(&json, "point", run->point);
        json_unsigned(&json, "repetition", run->repetition);
        json_string(&json, "error", run->error);
        json_unsigned(&json, "checks_failed", run->checks_failed);
        json_string(&json, "replay", run->replay);
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
}
