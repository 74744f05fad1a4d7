/* Figures and series in arrays, searched linearly by name. Names and units are kept in an arena
 * until the results are released. */
#include "experiment/measure/results.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void results_release(struct results *results)
{
    for (size_t i = 0; i < results->series.count; i++)
        vec_release(&results->series.items[i].points);
    vec_release(&results->series);
    vec_release(&results->figures);
    arena_release(&results->arena);
}

struct figure *results_find(const struct results *results, const char *name)
{
    for (size_t i = 0; i < results->figures.count; i++)
        if (strcmp(results->figures.items[i].name, name) == 0)
            return &results->figures.items[i];
    return NULL;
}

double results_value(const struct results *results, const char *name)
{
    const struct figure *figure = results_find(results, name);
    return figure ? figure->value : NAN;
}

void results_set(struct results *results, const char *name, double value, const char *unit)
{
    struct figure *figure = results_find(results, name);
    if (figure)
        figure->value = value;
    else
        vec_push(&results->figures, ((struct figure){arena_strdup(&results->arena, name),
                                                     arena_strdup(&results->arena, unit), value}));
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
