/* Means of measured values, as points of a chart. */
#include "experiment/report/curves.h"

#include "experiment/measure/statistics.h"
#include "experiment/store/result_store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void curves_add(struct curves *curves, const char *group, const struct curve_value *value)
{
    const struct chart *chart = curves->chart;
    size_t number = 0, at = 0;
    while (number < chart->groups.count && strcmp(chart->groups.items[number].name, group) != 0)
        number++;
    if (number == chart->groups.count)
        chart_add_group(curves->chart, group, curves->style);
    while (at < curves->places.count && (curves->places.items[at].group != number ||
                                         strcmp(curves->places.items[at].key, value->key) != 0))
        at++;
    if (at == curves->places.count)
        vec_push(&curves->places, ((struct curve_place){.group = number, .key = value->key}));
    struct curve_place *place = &curves->places.items[at];
    vec_push(&place->x, value->x);
    vec_push(&place->y, value->y);
    place->saturated += value->saturated;
}

static int compare_points(const void *a, const void *b)
{
    const struct chart_point *one = a, *two = b;
    return (one->x > two->x) - (one->x < two->x);
}

void curves_finish(struct curves *curves, bool in_categories)
{
    struct chart *chart = curves->chart;
    VEC(const char *) keys = {0};
    for (size_t i = 0; i < curves->places.count && in_categories; i++)
        vec_push(&keys, curves->places.items[i].key);
    keys.count = result_sort_values(keys.items, keys.count);
    assert(keys.items || keys.count == 0);
    for (size_t i = 0; i < keys.count; i++)
        chart_add_category(chart, keys.items[i]);
    for (size_t i = 0; i < curves->places.count; i++) {
        struct curve_place *place = &curves->places.items[i];
        struct quantity_mean mean = quantity_mean(place->y.items, place->y.count);
        double x = curves->x_is_figure ? quantity_mean(place->x.items, place->x.count).mean
                                       : strtod(place->key, NULL);
        for (size_t k = 0; k < keys.count; k++)
            if (strcmp(keys.items[k], place->key) == 0)
                x = (double)k;
        chart_add_measured(chart, place->group, x, mean.mean, mean.half_width,
                           2 * place->saturated > place->y.count);
        vec_release(&place->x);
        vec_release(&place->y);
    }
    vec_release(&curves->places);
    vec_release(&keys);
    /* If x is a figure, points keep the order of the values: a curve may turn back. */
    for (size_t i = 0; i < chart->groups.count && !curves->x_is_figure; i++) {
        struct chart_group *group = &chart->groups.items[i];
        if (group->points.count)
            qsort(group->points.items, group->points.count, sizeof *group->points.items,
                  compare_points);
    }
}
