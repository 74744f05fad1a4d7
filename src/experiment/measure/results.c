/* Figures in an array with a map of their names, series in an array that is searched by name. Names
 * and units are kept in an arena until the results are released. */
#include "experiment/measure/results.h"

#include "experiment/measure/statistics.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void results_release(struct results *results)
{
    for (size_t i = 0; i < results->series.count; i++)
        vec_release(&results->series.items[i].points);
    vec_release(&results->series);
    vec_release(&results->figures);
    vec_release(&results->collected);
    name_map_release(&results->by_name);
    arena_release(&results->arena);
}

struct figure *results_find(const struct results *results, const char *name)
{
    uint32_t index = name_map_get(&results->by_name, name);
    return index == MAP_NONE ? NULL : &results->figures.items[index];
}

double results_value(const struct results *results, const char *name)
{
    const struct figure *figure = results_find(results, name);
    return figure ? figure->value : NAN;
}

void results_index(struct results *results)
{
    for (size_t i = results->by_name.count; i < results->figures.count; i++)
        name_map_add(&results->by_name, results->figures.items[i].name, (uint32_t)i);
}

void results_set(struct results *results, const char *name, double value, const char *unit)
{
    struct figure *figure = results_find(results, name);
    if (figure) {
        figure->value = value;
        return;
    }
    vec_push(&results->figures, ((struct figure){arena_strdup(&results->arena, name),
                                                 arena_strdup(&results->arena, unit), value}));
    results_index(results);
}

void results_set_distribution(struct results *results, const char *name,
                              const struct value_distribution *values, double scale,
                              const char *unit)
{
    const struct summary *summary = &values->summary;
    static const double percents[] = {50, 90, 99, 99.9};
    struct text full = {0};
#define SET(part, value)                                                                           \
    (text_clear(&full), text_printf(&full, "%s." part, name),                                      \
     results_set(results, full.data, (value) / scale, unit))
    SET("mean", summary->mean);
    SET("ci", batches_half_width(&values->batches));
    SET("deviation", summary_deviation(summary));
    SET("min", (double)summary->min);
    for (unsigned i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        text_clear(&full);
        text_printf(&full, "%s.p%g", name, percents[i]);
        results_set(results, full.data,
                    (double)histogram_percentile(&values->histogram, percents[i]) / scale, unit);
    }
    SET("max", (double)summary->max);
#undef SET
    text_release(&full);
}

const struct series *results_find_series(const struct results *results, const char *name)
{
    for (size_t i = 0; i < results->series.count; i++)
        if (strcmp(results->series.items[i].name, name) == 0)
            return &results->series.items[i];
    return NULL;
}

size_t results_series(struct results *results, const char *name, const char *unit)
{
    const struct series *found = results_find_series(results, name);
    if (found)
        return (size_t)(found - results->series.items);
    vec_push(&results->series, ((struct series){.name = arena_strdup(&results->arena, name),
                                                .unit = arena_strdup(&results->arena, unit)}));
    return results->series.count - 1;
}

void results_add_point(struct results *results, size_t series, uint64_t time, double value)
{
    assert(series < results->series.count);
    vec_push(&results->series.items[series].points, ((struct point){time, value}));
}
