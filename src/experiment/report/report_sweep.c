/* The runs of a sweep as one table: points in rows, figures in columns.
 *
 * Runs of the same point are repetitions; reports show the mean and the half width of its 95 %
 * confidence interval. Failed runs are counted and listed, but not averaged. */
#include "experiment/report/report_sweep.h"

#include "base/map.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

enum { VALUES_MOST = 50000000 };

/* ---- parameters ---- */

const char *sweep_value_of(const struct result_run *run, const char *parameter)
{
    const char *value = result_parameter(run->parameters, run->parameter_count, parameter);
    return value ? value : "";
}

size_t sweep_find_parameter(const struct report_sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->parameters.count; i++)
        if (strcmp(sweep->parameters.items[i].name, name) == 0)
            return i;
    return SWEEP_NONE;
}

static void count_values(const struct report_sweep *sweep, struct sweep_parameter *parameter)
{
    size_t count = sweep->runs->items.count;
    const char **values = mem_zalloc(count, sizeof *values);
    parameter->numbers = true;
    for (size_t i = 0; i < count; i++) {
        values[i] = sweep_value_of(&sweep->runs->items.items[i], parameter->name);
        parameter->numbers &= result_is_number(values[i]);
    }
    parameter->values = result_sort_values(values, count);
    mem_free(values);
}

static void find_parameters(struct report_sweep *sweep)
{
    for (size_t r = 0; r < sweep->runs->items.count; r++) {
        const struct result_run *run = &sweep->runs->items.items[r];
        for (size_t i = 0; i < run->parameter_count; i++)
            if (sweep_find_parameter(sweep, run->parameters[i].name) == SWEEP_NONE)
                vec_push(&sweep->parameters,
                         ((struct sweep_parameter){.name = run->parameters[i].name}));
    }
    for (size_t i = 0; i < sweep->parameters.count; i++)
        count_values(sweep, &sweep->parameters.items[i]);
}

/* ---- figures ---- */

size_t sweep_find_figure(const struct report_sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->figures.count; i++)
        if (strcmp(sweep->figures.items[i].name, name) == 0)
            return i;
    return SWEEP_NONE;
}

struct measured {
    size_t figure;
    double value;
};
struct measured_run {
    VEC(struct measured);
};

/* Collects the figures of a run. The table is filled when all names are known. */
static int read_run(struct report_sweep *sweep, struct result_store *store,
                    const struct result_run *run, struct name_map *names,
                    struct measured_run *values, struct err *err)
{
    struct results results = {0};
    int status = result_store_read_results(store, run->id, &results, err);
    for (size_t i = 0; status == 0 && i < results.figures.count; i++) {
        const struct figure *figure = &results.figures.items[i];
        uint32_t at = name_map_get(names, figure->name);
        if (at == MAP_NONE) {
            struct sweep_figure kept = {arena_strdup(&sweep->arena, figure->name),
                                        arena_strdup(&sweep->arena, figure->unit)};
            at = (uint32_t)sweep->figures.count;
            vec_push(&sweep->figures, kept);
            name_map_add(names, kept.name, at);
        }
        vec_push(values, ((struct measured){at, figure->value}));
    }
    results_release(&results);
    return status;
}

static void fill_table(struct report_sweep *sweep, const struct measured_run *runs)
{
    size_t columns = sweep->figures.count, cells = sweep->finished.count * columns;
    sweep->values = mem_zalloc(cells, sizeof *sweep->values);
    for (size_t i = 0; i < cells; i++)
        sweep->values[i] = NAN;
    for (size_t r = 0; r < sweep->finished.count; r++)
        for (size_t i = 0; i < runs[r].count; i++)
            sweep->values[r * columns + runs[r].items[i].figure] = runs[r].items[i].value;
}

static int read_figures(struct report_sweep *sweep, struct result_store *store, struct err *err)
{
    struct name_map names = {0};
    struct measured_run *runs = mem_zalloc(sweep->finished.count, sizeof *runs);
    size_t cells = 0;
    int status = 0;
    for (size_t r = 0; r < sweep->finished.count && status == 0; r++) {
        status = read_run(sweep, store, sweep->finished.items[r], &names, &runs[r], err);
        cells += runs[r].count;
        if (status == 0 &&
            (cells > VALUES_MOST || sweep->figures.count * sweep->finished.count > VALUES_MOST))
            status = err_at(err, EFBIG, sweep->store, 0, "more than %d values", VALUES_MOST);
    }
    if (status == 0)
        fill_table(sweep, runs);
    for (size_t r = 0; r < sweep->finished.count; r++)
        vec_release(&runs[r]);
    mem_free(runs);
    name_map_release(&names);
    return status;
}

/* ---- points ---- */

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

struct quantity_scale sweep_scale(const struct report_sweep *sweep, size_t figure)
{
    double most = 0;
    for (size_t i = 0; i < sweep->points.count; i++) {
        double mean = sweep_mean(sweep, &sweep->points.items[i], figure).mean;
        most = isfinite(mean) && fabs(mean) > most ? fabs(mean) : most;
    }
    return quantity_scale(most, sweep->figures.items[figure].unit);
}

const char *sweep_mean_text(const struct report_sweep *sweep, const struct sweep_point *point,
                            size_t figure, const struct quantity_scale *scale,
                            char buffer[QUANTITY_BYTES])
{
    struct quantity_mean mean = sweep_mean(sweep, point, figure);
    return quantity_mean_on(scale, mean.mean, mean.half_width, buffer);
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
        status = sweep_choose(sweep, choice, err);
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
