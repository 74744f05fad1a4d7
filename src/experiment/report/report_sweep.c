/* The runs of a sweep as one table, points in rows and figures in columns, and the choice of axes
 * and figures that a report shows.
 *
 * Runs of the same point are repetitions; reports show the mean and the half width of its 95 %
 * confidence interval. Failed runs are counted and listed, but not averaged.
 *
 * By default x is the parameter with the most different numbers, curves are grouped by all other
 * parameters that vary, and y are the figures of `wanted` that differ between points. */
#include "experiment/report/report_sweep.h"

#include "base/map.h"
#include "base/parse.h"

#include <assert.h>
#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <string.h>

enum { VALUES_MOST = 50000000, Y_CHOSEN = 6 };

/* Patterns in order of preference; if none matches, all figures that differ are candidates. */
static const char *const wanted[] = {"accepted",    "throughput*", "latency.mean",
                                     "latency.p99", "lost*",       "change.*.time"};

static size_t find_column(const struct sweep_columns *columns, const char *name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strcmp(columns->items[i].name, name) == 0)
            return i;
    return SWEEP_NONE;
}

const char *sweep_value_of(const struct report_sweep *sweep, const struct result_run *run,
                           size_t parameter)
{
    const char *value = result_parameter(run->parameters, run->parameter_count,
                                         sweep->parameters.items[parameter].name);
    return value ? value : "";
}

struct quantity_mean sweep_mean(const struct report_sweep *sweep, const struct sweep_point *point,
                                size_t figure)
{
    assert(figure < sweep->figures.count && point->count > 0);
    double *values = mem_zalloc(point->count, sizeof *values);
    for (size_t i = 0; i < point->count; i++)
        values[i] = sweep->values[(point->first + i) * sweep->figures.count + figure];
    struct quantity_mean mean = quantity_mean(values, point->count);
    mem_free(values);
    return mean;
}

/* ---- reading ---- */

static void find_parameters(struct report_sweep *sweep)
{
    size_t count = sweep->runs->items.count;
    const char **values = mem_zalloc(count, sizeof *values);
    for (size_t r = 0; r < count; r++) {
        const struct result_run *run = &sweep->runs->items.items[r];
        for (size_t i = 0; i < run->parameter_count; i++)
            if (find_column(&sweep->parameters, run->parameters[i].name) == SWEEP_NONE)
                vec_push(&sweep->parameters,
                         ((struct sweep_column){.name = run->parameters[i].name, .numbers = true}));
    }
    for (size_t i = 0; i < sweep->parameters.count; i++) {
        struct sweep_column *parameter = &sweep->parameters.items[i];
        for (size_t r = 0; r < count; r++) {
            values[r] = sweep_value_of(sweep, &sweep->runs->items.items[r], i);
            parameter->numbers &= result_is_number(values[r]);
        }
        parameter->values = result_sort_values(values, count);
    }
    mem_free(values);
}

static void find_points(struct report_sweep *sweep)
{
    const struct result_run *last = NULL;
    for (size_t r = 0; r < sweep->runs->items.count; r++) {
        const struct result_run *run = &sweep->runs->items.items[r];
        if (run->failed) {
            sweep->failed++;
            continue;
        }
        sweep->broken += run->checks_failed > 0;
        if (!last || strcmp(last->point, run->point) != 0) {
            struct sweep_point point = {.first = sweep->finished.count, .run = run};
            vec_push(&sweep->points, point);
        }
        vec_push(&sweep->finished, run);
        sweep->points.items[sweep->points.count - 1].count++;
        last = run;
    }
}

struct measured {
    size_t run, figure;
    double value;
};

/* The table is filled when the names of all figures are known. */
static int read_figures(struct report_sweep *sweep, struct result_store *store, struct err *err)
{
    struct name_map names = {0};
    VEC(struct measured) measured = {0};
    int status = 0;
    for (size_t r = 0; r < sweep->finished.count && status == 0; r++) {
        struct results results = {0};
        status = result_store_read_results(store, sweep->finished.items[r]->id, &results, err);
        for (size_t i = 0; status == 0 && i < results.figures.count; i++) {
            const struct figure *figure = &results.figures.items[i];
            uint32_t at = name_map_get(&names, figure->name);
            if (at == MAP_NONE) {
                struct sweep_column kept = {.name = arena_strdup(&sweep->arena, figure->name),
                                            .unit = arena_strdup(&sweep->arena, figure->unit)};
                at = (uint32_t)sweep->figures.count;
                vec_push(&sweep->figures, kept);
                name_map_add(&names, kept.name, at);
            }
            vec_push(&measured, ((struct measured){r, at, figure->value}));
        }
        results_release(&results);
        if (status == 0 && (measured.count > VALUES_MOST ||
                            sweep->figures.count * sweep->finished.count > VALUES_MOST))
            status = err_at(err, EFBIG, sweep->store, 0, "more than %d values", VALUES_MOST);
    }
    size_t columns = sweep->figures.count, cells = status ? 0 : sweep->finished.count * columns;
    sweep->values = mem_zalloc(cells + 1, sizeof *sweep->values);
    for (size_t i = 0; i < cells; i++)
        sweep->values[i] = NAN;
    for (size_t i = 0; i < measured.count && cells; i++)
        sweep->values[measured.items[i].run * columns + measured.items[i].figure] =
            measured.items[i].value;
    vec_release(&measured);
    name_map_release(&names);
    return status;
}

/* ---- the choice ---- */

static int unknown_name_error(const struct report_sweep *sweep, const char *option,
                              const char *name, bool parameters, bool figures, struct err *err)
{
    const char *what = !figures ? "parameter" : !parameters ? "figure" : "parameter or figure";
    VEC(const char *) names = {0};
    for (size_t i = 0; parameters && i < sweep->parameters.count; i++)
        vec_push(&names, sweep->parameters.items[i].name);
    for (size_t i = 0; figures && i < sweep->figures.count; i++)
        vec_push(&names, sweep->figures.items[i].name);
    const char *nearest = nearest_word(name, names.items, names.count);
    struct text hint = {0};
    if (nearest)
        text_printf(&hint, "; did you mean '%s'?", nearest);
    else if (names.count)
        text_printf(&hint, "; there is '%s', for one", names.items[0]);
    else
        text_puts(&hint, ", nor any other");
    int status = err_at(err, EINVAL, sweep->store, 0, "--%s: there is no %s '%s'%s", option, what,
                        name, hint.data);
    text_release(&hint);
    vec_release(&names);
    return status;
}

static int choose_x(struct report_sweep *sweep, const struct report_choice *choice, struct err *err)
{
    size_t by = choice->by ? find_column(&sweep->parameters, choice->by) : SWEEP_NONE;
    sweep->x_parameter = sweep->x_figure = SWEEP_NONE;
    if (choice->x) {
        sweep->x_parameter = find_column(&sweep->parameters, choice->x);
        if (sweep->x_parameter == SWEEP_NONE)
            sweep->x_figure = find_column(&sweep->figures, choice->x);
        if (sweep->x_parameter == SWEEP_NONE && sweep->x_figure == SWEEP_NONE)
            return unknown_name_error(sweep, "x", choice->x, true, true, err);
        return 0;
    }
    /* First among the parameters with numbers, then among all. */
    for (unsigned pass = 0; pass < 2 && sweep->x_parameter == SWEEP_NONE; pass++) {
        size_t most = 1;
        for (size_t i = 0; i < sweep->parameters.count; i++) {
            const struct sweep_column *parameter = &sweep->parameters.items[i];
            if ((pass == 0 && !parameter->numbers) || parameter->values <= most || i == by)
                continue;
            most = parameter->values;
            sweep->x_parameter = i;
        }
    }
    return 0;
}

static int choose_by(struct report_sweep *sweep, const struct report_choice *choice,
                     struct err *err)
{
    size_t chosen = SWEEP_NONE, along = SWEEP_NONE, most = 1;
    if (choice->by) {
        chosen = find_column(&sweep->parameters, choice->by);
        if (chosen == SWEEP_NONE)
            return unknown_name_error(sweep, "by", choice->by, true, false, err);
        vec_push(&sweep->by, chosen);
    }
    /* A curve of one figure over another follows a parameter, which cannot distinguish curves. */
    for (size_t i = 0; sweep->x_figure != SWEEP_NONE && i < sweep->parameters.count; i++)
        if (sweep->parameters.items[i].numbers && sweep->parameters.items[i].values > most) {
            most = sweep->parameters.items[i].values;
            along = i;
        }
    for (size_t i = 0; i < sweep->parameters.count; i++) {
        if (sweep->parameters.items[i].values < 2 || i == sweep->x_parameter || i == chosen)
            continue;
        if (!choice->by && i != along)
            vec_push(&sweep->by, i);
        else if (choice->by && sweep->x_figure == SWEEP_NONE)
            vec_push(&sweep->pooled, i);
    }
    return 0;
}

static bool is_chosen(const struct report_sweep *sweep, size_t figure)
{
    for (size_t i = 0; i < sweep->y.count; i++)
        if (sweep->y.items[i] == figure)
            return true;
    return false;
}

static bool figure_differs(const struct report_sweep *sweep, size_t figure)
{
    double first = NAN;
    for (size_t r = 0; r < sweep->finished.count; r++) {
        double value = sweep->values[r * sweep->figures.count + figure];
        if (!isfinite(value))
            continue;
        if (isfinite(first) && value != first)
            return true;
        first = value;
    }
    return false;
}

/* Whether a chosen figure has the same values under another name. */
static bool is_duplicate(const struct report_sweep *sweep, size_t figure)
{
    for (size_t y = 0; y < sweep->y.count; y++) {
        size_t same = 0;
        for (; same < sweep->finished.count; same++) {
            const double *row = &sweep->values[same * sweep->figures.count];
            if (row[figure] != row[sweep->y.items[y]])
                break;
        }
        if (same == sweep->finished.count)
            return true;
    }
    return false;
}

static void add_matching_y(struct report_sweep *sweep, const char *pattern)
{
    bool single = sweep->points.count < 2;
    for (size_t i = 0; i < sweep->figures.count && sweep->y.count < Y_CHOSEN; i++) {
        if (fnmatch(pattern, sweep->figures.items[i].name, 0) != 0 || i == sweep->x_figure ||
            i == sweep->saturated || is_chosen(sweep, i))
            continue;
        if (single || (figure_differs(sweep, i) && !is_duplicate(sweep, i)))
            vec_push(&sweep->y, i);
    }
}

static int choose_y(struct report_sweep *sweep, const struct report_choice *choice, struct err *err)
{
    sweep->saturated = find_column(&sweep->figures, "saturated");
    for (size_t i = 0; i < choice->y_count; i++) {
        size_t figure = find_column(&sweep->figures, choice->y[i]);
        if (figure == SWEEP_NONE)
            return unknown_name_error(sweep, "y", choice->y[i], false, true, err);
        if (!is_chosen(sweep, figure))
            vec_push(&sweep->y, figure);
    }
    for (size_t i = 0; choice->y_count == 0 && i < sizeof wanted / sizeof wanted[0]; i++)
        add_matching_y(sweep, wanted[i]);
    if (sweep->y.count == 0)
        add_matching_y(sweep, "*");
    return 0;
}

/* ---- all together ---- */

int report_sweep_read(struct report_sweep **result, struct result_store *store,
                      const struct result_runs *runs, const struct report_choice *choice,
                      struct err *err)
{
    struct report_sweep *sweep = mem_zalloc(1, sizeof *sweep);
    sweep->runs = runs;
    sweep->store = arena_strdup(&sweep->arena, result_store_path(store));
    find_parameters(sweep);
    find_points(sweep);
    int status = read_figures(sweep, store, err);
    if (status == 0)
        status = choose_x(sweep, choice, err);
    if (status == 0)
        status = choose_by(sweep, choice, err);
    if (status == 0)
        status = choose_y(sweep, choice, err);
    if (status) {
        report_sweep_free(sweep);
        return status;
    }
    *result = sweep;
    return 0;
}

void report_sweep_free(struct report_sweep *sweep)
{
    if (!sweep)
        return;
    vec_release(&sweep->parameters);
    vec_release(&sweep->figures);
    vec_release(&sweep->finished);
    vec_release(&sweep->points);
    vec_release(&sweep->by);
    vec_release(&sweep->pooled);
    vec_release(&sweep->y);
    mem_free(sweep->values);
    arena_release(&sweep->arena);
    mem_free(sweep);
}
