/* Means of measured values, as points of a chart. */
#include "experiment/report/curves.h"

#include "experiment/measure/statistics.h"
#include "experiment/store/result_store.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t find_group(struct curves *curves, const char *name)
{
    struct chart *chart = curves->chart;
    for (size_t i = 0; i < chart->groups.count; i++)
        if (strcmp(chart->groups.items[i].name, name) == 0)
            return i;
    return chart_add_group(chart, name, curves->style);
}

static struct curve_place *find_place(struct curves *curves, size_t group, const char *key)
{
    for (size_t i = 0; i < curves->places.count; i++)
        if (curves->places.items[i].group == group && strcmp(curves->places.items[i].key, key) == 0)
            return &curves->places.items[i];
    vec_push(&curves->places, ((struct curve_place){.group = group, .key = key}));
    return &curves->places.items[curves->places.count - 1];
}

void curves_add(struct curves *curves, const char *group, const struct curve_value *value)
{
    struct curve_place *place = find_place(curves, find_group(curves, group), value->key);
    vec_push(&place->x, value->x);
    vec_push(&place->y, value->y);
    place->saturated += value->saturated;
}

bool curves_have_numbers(const struct curves *curves)
{
    for (size_t i = 0; i < curves->places.count; i++)
        if (!result_is_number(curves->places.items[i].key))
            return false;
    return true;
}

static void add_categories(struct curves *curves)
{
    VEC(const char *) keys = {0};
    for (size_t i = 0; i < curves->places.count; i++)
        vec_push(&keys, curves->places.items[i].key);
    keys.count = result_sort_values(keys.items, keys.count);
    assert(keys.items || !keys.count);
    for (size_t i = 0; i < keys.count; i++)
        chart_add_category(curves->chart, keys.items[i]);
    vec_release(&keys);
}

static double place_x(const struct curves *curves, const struct curve_place *place)
{
    for (size_t i = 0; i < curves->chart->categories.count; i++)
        if (strcmp(curves->chart->categories.items[i], place->key) == 0)
            return (double)i;
    return curves->x_is_figure ? quantity_mean(place->x.items, place->x.count).mean
                               : strtod(place->key, NULL);
}

static int compare_points(const void *a, const void *b)
{
    const struct chart_point *one = a, *two = b;
    return (one->x > two->x) - (one->x < two->x);
}

void curves_finish(struct curves *curves, bool in_categories)
{
    struct chart *chart = curves->chart;
    if (in_categories)
        add_categories(curves);
    for (size_t i = 0; i < curves->places.count; i++) {
        struct curve_place *place = &curves->places.items[i];
        struct quantity_mean mean = quantity_mean(place->y.items, place->y.count);
        chart_add_measured(chart, place->group, place_x(curves, place), mean.mean, mean.half_width,
                           2 * place->saturated > place->y.count);
        vec_release(&place->x);
        vec_release(&place->y);
    }
    vec_release(&curves->places);
    /* If x is a figure, points keep the order of the values: a curve may turn back. */
    for (size_t i = 0; i < chart->groups.count && !curves->x_is_figure; i++) {
        struct chart_group *group = &chart->groups.items[i];
        if (group->points.count)
            qsort(group->points.items, group->points.count, sizeof *group->points.items,
                  compare_points);
    }
}
