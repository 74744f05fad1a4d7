/* Reports on a sweep: a table for the terminal, a page, plots, CSV and JSON. */
#include "experiment/report/report_sweep.h"

#include "base/quantity.h"
#include "experiment/chart/chart.h"
#include "experiment/report/curves.h"
#include "experiment/report/run_text.h"
#include "experiment/report/words.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    TEXT_WIDTH = 80,
    ROWS_SHOWN = 500, /* of a page's table */
    FAILURES_SHOWN = 50,
    PLOT_PANELS = 6,
};

static bool varies(const struct report_sweep *sweep, size_t parameter)
{
    return sweep->parameters.items[parameter].values > 1;
}

static bool is_saturated(const struct report_sweep *sweep, const struct sweep_point *point)
{
    return sweep->saturated != SWEEP_NONE && sweep_mean(sweep, point, sweep->saturated).mean > 0.5;
}

/* ---- the terminal ---- */

/* A table of texts with columns of minimal width. */
struct text_grid {
    VEC(const char *) cells;
    size_t columns;
    struct arena arena; /* owns the texts */
};

static void grid_add(struct text_grid *grid, const char *text)
{
    vec_push(&grid->cells, arena_strdup(&grid->arena, text));
}

static void grid_release(struct text_grid *grid)
{
    vec_release(&grid->cells);
    arena_release(&grid->arena);
}

/* Writes as many columns as fit into a terminal, at least `least`; returns their number. */
static size_t grid_write(const struct text_grid *grid, size_t least, struct text *out)
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
    }
    mem_free(widths);
    return shown;
}

/* All points of a column have the scale of the largest mean. */
static struct quantity_scale scale_of(const struct report_sweep *sweep, size_t figure)
{
    double most = 0;
    for (size_t i = 0; i < sweep->points.count; i++) {
        double mean = sweep_mean(sweep, &sweep->points.items[i], figure).mean;
        most = isfinite(mean) && fabs(mean) > most ? fabs(mean) : most;
    }
    return quantity_scale(most, sweep->figures.items[figure].unit);
}

/* A row of names, a row of units, and at most `most` rows of points. */
static void fill_grid(const struct report_sweep *sweep, size_t most, struct text_grid *grid)
{
    char cell[QUANTITY_BYTES];
    struct quantity_scale *scales = mem_zalloc(sweep->y.count, sizeof *scales);
    for (size_t i = 0; i < sweep->parameters.count; i++)
        if (varies(sweep, i))
            grid_add(grid, sweep->parameters.items[i].name);
    grid_add(grid, "runs");
    size_t plain = grid->cells.count; /* columns without a unit */
    for (size_t i = 0; i < sweep->y.count; i++)
        grid_add(grid, sweep->figures.items[sweep->y.items[i]].name);
    grid->columns = grid->cells.count;
    for (size_t i = 0; i < plain; i++)
        grid_add(grid, "");
    for (size_t i = 0; i < sweep->y.count; i++) {
        scales[i] = scale_of(sweep, sweep->y.items[i]);
        grid_add(grid, scales[i].name);
    }
    for (size_t p = 0; p < sweep->points.count && p < most; p++) {
        const struct sweep_point *point = &sweep->points.items[p];
        for (size_t i = 0; i < sweep->parameters.count; i++)
            if (varies(sweep, i))
                grid_add(grid, sweep_value_of(sweep, point->run, i));
        snprintf(cell, sizeof cell, "%zu%s", point->count, is_saturated(sweep, point) ? "*" : " ");
        grid_add(grid, cell);
        for (size_t i = 0; i < sweep->y.count; i++) { /* "12.5 ± 0.3" */
            struct quantity_mean mean = sweep_mean(sweep, point, sweep->y.items[i]);
            grid_add(grid, quantity_mean_on(&scales[i], mean.mean, mean.half_width, cell));
        }
    }
    mem_free(scales);
}

void report_sweep_text(const struct report_sweep *sweep, struct text *out)
{
    struct text_grid grid = {0};
    bool saturated = false;
    fill_grid(sweep, SIZE_MAX, &grid);
    for (size_t p = 0; p < sweep->points.count; p++)
        saturated |= is_saturated(sweep, &sweep->points.items[p]);
    size_t least = grid.columns - sweep->y.count + (sweep->y.count > 0);
    size_t shown = grid_write(&grid, least, out);
    if (saturated)
        text_puts(out, "* saturated\n");
    if (shown < grid.columns)
        text_printf(out, "no room for %zu more: choose with --y, or see --html\n",
                    grid.columns - shown);
    text_printf(out,
                "%zu points, %zu runs finished, %zu failed, %zu with checks that do not hold\n",
                sweep->points.count, sweep->finished.count, sweep->failed, sweep->broken);
    grid_release(&grid);
}

/* ---- curves ---- */

/* The name of the curve that a run belongs to. */
static void name_group(const struct report_sweep *sweep, const struct result_run *run,
                       struct text *name)
{
    text_puts(name, "");
    for (size_t i = 0; i < sweep->by.count; i++) {
        const char *value = sweep_value_of(sweep, run, sweep->by.items[i]);
        text_puts(name, i ? ", " : "");
        if (sweep->by.count > 1 || strspn(value, "0123456789.") == strlen(value))
            text_printf(name, "%s=", sweep->parameters.items[sweep->by.items[i]].name);
        text_puts(name, value);
    }
}

static void set_axis(struct chart *chart, struct chart_axis *axis, const char *name,
                     const char *unit)
{
    struct text words = {0};
    report_words(name, &words);
    chart_set_axis(chart, axis, words.data, unit);
    text_release(&words);
}

/* All runs at one x count for its confidence interval, also if they differ in a parameter that is
 * averaged over. */
void sweep_chart(const struct report_sweep *sweep, size_t figure, struct chart *chart)
{
    const struct sweep_column *y = &sweep->figures.items[figure], *x = NULL;
    bool along_figure = sweep->x_figure != SWEEP_NONE;
    bool along_parameter = !along_figure && sweep->x_parameter != SWEEP_NONE;
    if (along_figure)
        x = &sweep->figures.items[sweep->x_figure];
    else if (along_parameter)
        x = &sweep->parameters.items[sweep->x_parameter];
    bool in_categories = along_parameter && !x->numbers;
    struct curves curves = {.chart = chart,
                            .style = in_categories ? CHART_BARS : CHART_LINES_POINTS,
                            .x_is_figure = sweep->x_parameter == SWEEP_NONE};
    chart_init(chart);
    set_axis(chart, &chart->y, y->name, y->unit);
    if (along_figure || along_parameter)
        set_axis(chart, &chart->x, x->name, along_figure ? x->unit : "");
    chart->hollow_note = "saturated";
    for (size_t i = 0; i < sweep->points.count; i++) {
        const struct sweep_point *point = &sweep->points.items[i];
        struct text name = {0};
        name_group(sweep, point->run, &name);
        for (size_t r = point->first; r < point->first + point->count; r++) {
            const double *row = &sweep->values[r * sweep->figures.count];
            struct curve_value value = {
                .key = curves.x_is_figure ? point->run->point
                                          : sweep_value_of(sweep, point->run, sweep->x_parameter),
                .x = along_figure ? row[sweep->x_figure] : 0,
                .y = row[figure],
                .saturated = sweep->saturated != SWEEP_NONE && row[sweep->saturated] > 0.5};
            curves_add(&curves, name.data, &value);
        }
        text_release(&name);
    }
    curves_finish(&curves, in_categories);
}

/* ---- the page ---- */

static void put_failures(const struct report_sweep *sweep, size_t most, struct json *json)
{
    json_begin_array(json, "failures");
    for (size_t i = 0; i < sweep->runs->items.count && most > 0; i++) {
        const struct result_run *run = &sweep->runs->items.items[i];
        if (!run->failed && !run->checks_failed)
            continue;
        json_begin_object(json, NULL);
        json_string(json, "point", run->point);
        json_unsigned(json, "repetition", run->repetition);
        json_string(json, "error", run->error);
        json_unsigned(json, "checks_failed", run->checks_failed);
        json_string(json, "replay", run->replay);
        json_end_object(json);
        most--;
    }
    json_end_array(json);
}

static void put_top(const struct report_sweep *sweep, size_t repetitions, struct page *page)
{
    struct text lead = {0};
    size_t runs = sweep->runs->items.count;
    const char *name = runs ? report_base_name(sweep->runs->items.items[0].name) : "";
    text_printf(&lead, "%zu points, %zu runs, up to %zu repetitions", sweep->points.count, runs,
                repetitions);
    page_begin(page, "sweep", name[0] ? name : "sweep", lead.data);
    text_release(&lead);
    page->bad = sweep->failed || sweep->broken;
    page->good = !page->bad;
    if (sweep->failed)
        text_printf(&page->verdict, "%zu of %zu runs failed", sweep->failed, runs);
    else
        text_printf(&page->verdict, "All %zu runs finished", runs);
    if (sweep->broken)
        text_printf(&page->verdict, "; checks do not hold in %zu.", sweep->broken);
    else
        text_puts(&page->verdict, "; no check failed.");
}

void report_sweep_page(const struct report_sweep *sweep, struct page *page)
{
    struct json *json = &page->json;
    struct text_grid grid = {0};
    const struct result_run *first = sweep->runs->items.count ? sweep->runs->items.items : NULL;
    size_t repetitions = 0;
    for (size_t i = 0; i < sweep->points.count; i++)
        if (sweep->points.items[i].count > repetitions)
            repetitions = sweep->points.items[i].count;
    put_top(sweep, repetitions, page);
    json_begin_object(json, "fixed"); /* parameters with one value */
    for (size_t i = 0; i < sweep->parameters.count && first; i++)
        if (!varies(sweep, i))
            json_string(json, sweep->parameters.items[i].name, sweep_value_of(sweep, first, i));
    json_end_object(json);
    json_begin_array(json, "pooled"); /* parameters that the curves average over */
    for (size_t i = 0; i < sweep->pooled.count; i++)
        json_string(json, NULL, sweep->parameters.items[sweep->pooled.items[i]].name);
    json_end_array(json);
    json_unsigned(json, "repetitions", repetitions);
    json_begin_array(json, "charts");
    for (size_t i = 0; i < sweep->y.count && sweep->points.count > 1; i++) {
        struct chart chart;
        sweep_chart(sweep, sweep->y.items[i], &chart);
        chart_json_write(json, NULL, &chart, 1, CHART_PAGE_COLUMNS);
        chart_release(&chart);
    }
    json_end_array(json);
    fill_grid(sweep, ROWS_SHOWN, &grid);
    json_unsigned(json, "points", sweep->points.count);
    json_unsigned(json, "columns", grid.columns);
    json_begin_array(json, "cells"); /* names, units, then a row for each point */
    for (size_t i = 0; i < grid.cells.count; i++)
        json_string(json, NULL, grid.cells.items[i]);
    json_end_array(json);
    grid_release(&grid);
    put_failures(sweep, FAILURES_SHOWN, json);
    json_unsigned(json, "failures_in_all", sweep->failed + sweep->broken);
    if (first)
        report_put_origin(first, json);
}

/* ---- plots ---- */

int report_sweep_plot(const struct report_sweep *sweep, const struct chart_plot *plot,
                      struct err *err)
{
    struct chart charts[PLOT_PANELS];
    size_t count = sweep->y.count < PLOT_PANELS ? sweep->y.count : PLOT_PANELS;
    if (count == 0)
        return err_at(err, ENODATA, sweep->store, 0, "there is nothing to plot");
    for (size_t i = 0; i < count; i++)
        sweep_chart(sweep, sweep->y.items[i], &charts[i]);
    int status = chart_draw(charts, count, plot, err);
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
            csv_put(out, sweep_value_of(sweep, point->run, i), ",");
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
        json_string(json, sweep->parameters.items[i].name, sweep_value_of(sweep, point->run, i));
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
    put_failures(sweep, SIZE_MAX, &json);
    json_end_object(&json);
}
