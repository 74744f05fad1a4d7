/* Curves of a sweep: one figure over a parameter or another figure, one curve a group. */
#include "experiment/report/report_sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What shares a place in the chart: a group, and where x is a parameter, its value. */
struct place {
    size_t group;
    const char *value; /* of x; NULL: every point has its own place */
    VEC(double) x, y;
    size_t saturated;
};
struct places {
    struct place *items;
    size_t count, capacity;
};

static void name_group(const struct report_sweep *sweep, const struct result_run *run,
                       struct text *name)
{
    for (size_t i = 0; i < sweep->by.count; i++) {
        const char *parameter = sweep->parameters.items[sweep->by.items[i]].name;
        const char *value = sweep_value_of(run, parameter);
        text_puts(name, i ? ", " : "");
        if (sweep->by.count > 1 || strspn(value, "0123456789.") == strlen(value))
            text_printf(name, "%s=", parameter);
        text_puts(name, value);
    }
}

static size_t find_group(struct chart *chart, const char *name, enum chart_style style)
{
    for (size_t i = 0; i < chart->groups.count; i++)
        if (strcmp(chart->groups.items[i].name, name) == 0)
            return i;
    return chart_add_group(chart, name, style);
}

static struct place *find_place(struct places *places, size_t group, const char *value)
{
    for (size_t i = 0; value && i < places->count; i++)
        if (places->items[i].group == group && strcmp(places->items[i].value, value) == 0)
            return &places->items[i];
    vec_push(places, ((struct place){.group = group, .value = value}));
    return &places->items[places->count - 1];
}

static void add_runs(const struct report_sweep *sweep, const struct sweep_point *point,
                     size_t figure, struct place *place)
{
    for (size_t r = point->first; r < point->first + point->count; r++) {
        const double *row = &sweep->values[r * sweep->figures.count];
        vec_push(&place->y, row[figure]);
        if (sweep->x_figure != SWEEP_NONE)
            vec_push(&place->x, row[sweep->x_figure]);
        place->saturated += sweep->saturated != SWEEP_NONE && row[sweep->saturated] > 0.5;
    }
}

static bool in_categories(const struct report_sweep *sweep)
{
    return sweep->x_parameter != SWEEP_NONE && !sweep->parameters.items[sweep->x_parameter].numbers;
}

static int compare_values(const void *a, const void *b)
{
    return result_compare_values(*(const char *const *)a, *(const char *const *)b);
}

/* Values of x as categories, in their order. */
static void add_categories(const struct report_sweep *sweep, struct chart *chart)
{
    VEC(const char *) values = {0};
    const char *name = sweep->parameters.items[sweep->x_parameter].name;
    for (size_t i = 0; i < sweep->points.count; i++)
        vec_push(&values, sweep_value_of(sweep->points.items[i].run, name));
    if (values.count)
        qsort(values.items, values.count, sizeof *values.items, compare_values);
    for (size_t i = 0; i < values.count; i++)
        if (i == 0 || strcmp(values.items[i], values.items[i - 1]) != 0)
            chart_add_category(chart, values.items[i]);
    vec_release(&values);
}

static double place_x(const struct chart *chart, const struct place *place)
{
    for (size_t i = 0; i < chart->categories.count; i++)
        if (place->value && strcmp(chart->categories.items[i], place->value) == 0)
            return (double)i;
    if (place->x.count)
        return quantity_mean(place->x.items, place->x.count).mean;
    return place->value ? strtod(place->value, NULL) : 0;
}

static int compare_points(const void *a, const void *b)
{
    const struct chart_point *one = a, *two = b;
    return (one->x > two->x) - (one->x < two->x);
}

static void name_axes(const struct report_sweep *sweep, size_t figure, struct chart *chart)
{
    const struct sweep_figure *y = &sweep->figures.items[figure];
    chart_set_axis(chart, &chart->y, y->name, y->unit);
    if (sweep->x_parameter != SWEEP_NONE)
        chart_set_axis(chart, &chart->x, sweep->parameters.items[sweep->x_parameter].name, "");
    else if (sweep->x_figure != SWEEP_NONE)
        chart_set_axis(chart, &chart->x, sweep->figures.items[sweep->x_figure].name,
                       sweep->figures.items[sweep->x_figure].unit);
    chart->hollow_note = "saturated";
}

static void collect(const struct report_sweep *sweep, size_t figure, struct chart *chart,
                    struct places *places)
{
    enum chart_style style = in_categories(sweep) ? CHART_BARS : CHART_LINES_POINTS;
    const char *x =
        sweep->x_parameter != SWEEP_NONE ? sweep->parameters.items[sweep->x_parameter].name : NULL;
    for (size_t i = 0; i < sweep->points.count; i++) {
        const struct sweep_point *point = &sweep->points.items[i];
        struct text name = {0};
        name_group(sweep, point->run, &name);
        size_t group = find_group(chart, name.data ? name.data : "", style);
        add_runs(sweep, point, figure,
                 find_place(places, group, x ? sweep_value_of(point->run, x) : NULL));
        text_release(&name);
    }
}

void sweep_chart(const struct report_sweep *sweep, size_t figure, struct chart *chart)
{
    struct places places = {0};
    chart_init(chart, "");
    name_axes(sweep, figure, chart);
    if (in_categories(sweep))
        add_categories(sweep, chart);
    collect(sweep, figure, chart, &places);
    for (size_t i = 0; i < places.count; i++) {
        struct place *place = &places.items[i];
        struct quantity_mean mean = quantity_mean(place->y.items, place->y.count);
        chart_add_measured(chart, place->group, place_x(chart, place), mean.mean, mean.half_width,
                           place->saturated * 2 > place->y.count);
        vec_release(&place->x);
        vec_release(&place->y);
    }
    for (size_t g = 0; g < chart->groups.count && sweep->x_parameter != SWEEP_NONE; g++) {
        struct chart_group *group = &chart->groups.items[g];
        if (group->points.count)
            qsort(group->points.items, group->points.count, sizeof *group->points.items,
                  compare_points);
    }
    vec_release(&places);
}
