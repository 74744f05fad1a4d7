/* Curves of a sweep: one figure over a parameter or another figure, with a curve for each group. */
#include "experiment/report/curves.h"
#include "experiment/report/report_sweep.h"

#include <string.h>

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

static bool in_categories(const struct report_sweep *sweep)
{
    return sweep->x_parameter != SWEEP_NONE && !sweep->parameters.items[sweep->x_parameter].numbers;
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

/* All runs at one x count for its confidence interval, also if they differ in a parameter that is
 * averaged over. */
static void add_point(const struct report_sweep *sweep, const struct sweep_point *point,
                      size_t figure, const char *group, struct curves *curves)
{
    const char *x =
        sweep->x_parameter != SWEEP_NONE
            ? sweep_value_of(point->run, sweep->parameters.items[sweep->x_parameter].name)
            : point->run->point;
    for (size_t r = point->first; r < point->first + point->count; r++) {
        const double *row = &sweep->values[r * sweep->figures.count];
        curves_add(curves, group,
                   &(struct curve_value){
                       .key = x,
                       .x = sweep->x_figure != SWEEP_NONE ? row[sweep->x_figure] : 0,
                       .y = row[figure],
                       .saturated = sweep->saturated != SWEEP_NONE && row[sweep->saturated] > 0.5});
    }
}

void sweep_chart(const struct report_sweep *sweep, size_t figure, struct chart *chart)
{
    struct curves curves = {.chart = chart,
                            .style = in_categories(sweep) ? CHART_BARS : CHART_LINES_POINTS,
                            .x_is_figure = sweep->x_parameter == SWEEP_NONE};
    chart_init(chart, "");
    name_axes(sweep, figure, chart);
    for (size_t i = 0; i < sweep->points.count; i++) {
        struct text name = {0};
        name_group(sweep, sweep->points.items[i].run, &name);
        add_point(sweep, &sweep->points.items[i], figure, name.data ? name.data : "", &curves);
        text_release(&name);
    }
    curves_finish(&curves, in_categories(sweep));
}
