/* Draws plots: curves and bars over parameters or figures, and series over time.
 *
 * Observations with the same group and x become one point: the mean of the networks' means, with
 * its 95 % confidence interval as error bar. One network has no error bar. If x is a parameter, x
 * is its value, so that a plot can average over other parameters; if x is a figure, the
 * observations must have the same parameters, and a point is hollow if most of its runs were
 * saturated.
 *
 * Values that the paper prints are stars.
 *
 * A plot over time shows the series of one run, one panel each, with the phases of the manager as
 * bands. */
#include "reproduce/draw.h"

#include "base/time.h"
#include "experiment/measure/run_record.h"
#include "experiment/report/curves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The observations of one network with the same group and x. */
struct place {
    const char *group, *key, *network;
    double x, y; /* sums */
    size_t count, saturated;
};

struct drawing {
    const struct recipe *recipe;
    const struct plot *plot;
    const struct evidence *evidence;
    const char *preset;
    VEC(struct place) places;
    struct arena arena;
};

static bool belongs(const struct drawing *drawing, const struct observation *observation)
{
    const char *preset = observation_value(observation, "preset");
    if (drawing->preset && *preset && strcmp(preset, drawing->preset) != 0)
        return false;
    return observation_matches(observation, &drawing->plot->where, NULL);
}

/* ---- curves and bars ---- */

/* The value of `by`, and the figure if there are several: "2 data VLs", "FERa". */
static const char *group_name(struct drawing *drawing, const struct observation *observation,
                              const char *figure)
{
    const struct plot *plot = drawing->plot;
    struct text name = {0};
    if (plot->by) {
        const char *value = observation_value(observation, plot->by);
        text_puts(&name, recipe_label(drawing->recipe, value));
        if (result_is_number(value))
            text_printf(&name, " %s", recipe_label(drawing->recipe, plot->by));
    }
    if (plot->y_count > 1)
        text_printf(&name, "%s%s", name.length ? ", " : "", recipe_label(drawing->recipe, figure));
    const char *copy = arena_strdup(&drawing->arena, name.data ? name.data : "");
    text_release(&name);
    return copy;
}

static enum chart_style style_of(const struct plot *plot)
{
    switch (plot->kind) {
    case PLOT_POINTS: return CHART_POINTS;
    case PLOT_BARS: return CHART_BARS;
    case PLOT_STACKED: return CHART_STACKED;
    default: return CHART_LINES_POINTS;
    }
}

/* The parameters of a run, without those that select the network. */
static const char *name_run(struct drawing *drawing, const struct observation *observation)
{
    struct text point = {0};
    struct result_parameter *kept =
        arena_alloc(&drawing->arena, (observation->parameter_count + 1) * sizeof *kept);
    size_t count = 0;
    for (size_t i = 0; i < observation->parameter_count; i++)
        if (strcmp(observation->parameters[i].name, "seed") != 0 &&
            strcmp(observation->parameters[i].name, "repetition") != 0)
            kept[count++] = observation->parameters[i];
    result_point(kept, count, &point);
    const char *name = arena_strdup(&drawing->arena, point.data ? point.data : "");
    text_release(&point);
    return name;
}

static struct place *find_place(struct drawing *drawing, const char *group, const char *key,
                                const char *network)
{
    for (size_t i = 0; i < drawing->places.count; i++) {
        struct place *place = &drawing->places.items[i];
        if (strcmp(place->group, group) == 0 && strcmp(place->key, key) == 0 &&
            strcmp(place->network, network) == 0)
            return place;
    }
    vec_push(&drawing->places, ((struct place){.group = group, .key = key, .network = network}));
    return &drawing->places.items[drawing->places.count - 1];
}

static void add_observation(struct drawing *drawing, const struct observation *observation,
                            bool x_is_figure)
{
    const struct plot *plot = drawing->plot;
    const char *key =
        x_is_figure ? name_run(drawing, observation) : observation_value(observation, plot->x);
    for (size_t i = 0; i < plot->y_count; i++) {
        double y = observation_figure(observation, plot->y[i]);
        if (isnan(y))
            continue;
        struct place *place = find_place(drawing, group_name(drawing, observation, plot->y[i]), key,
                                         observation->network);
        place->x += observation_figure(observation, plot->x);
        place->y += y;
        place->count++;
        place->saturated += x_is_figure && observation_is_saturated(observation);
    }
}

/* ---- printed values ---- */

/* The position of a value of x; NaN if the chart has no such category. */
static double find_x(const struct chart *chart, const char *x)
{
    for (size_t i = 0; i < chart->categories.count; i++)
        if (strcmp(chart->categories.items[i], x) == 0)
            return (double)i;
    return chart->categories.count || !result_is_number(x) ? NAN : strtod(x, NULL);
}

/* The legend must tell a curve without a name from the paper's points. */
static void name_curves(struct chart *chart)
{
    for (size_t i = 0; i < chart->groups.count; i++)
        if (!chart->groups.items[i].name[0])
            chart->groups.items[i].name = "weft";
}

static void add_printed_points(const struct drawing *drawing, struct chart *chart)
{
    for (size_t i = 0; i < drawing->recipe->points.count; i++) {
        const struct printed_point *point = &drawing->recipe->points.items[i];
        double x = find_x(chart, point->x);
        if (strcmp(point->plot, drawing->plot->name) != 0 || isnan(x))
            continue;
        name_curves(chart);
        size_t group = 0;
        while (group < chart->groups.count &&
               (chart->groups.items[group].shape != CHART_STAR ||
                strcmp(chart->groups.items[group].name, point->text) != 0))
            group++;
        if (group == chart->groups.count)
            chart_add_reference(chart, point->text);
        chart_add_point(chart, group, x, point->y);
    }
}

/* ---- charts ---- */

/* The unit of a figure; "" for parameters. */
static const char *unit_of(const struct drawing *drawing, const char *figure)
{
    for (size_t i = 0; i < drawing->evidence->items.count; i++) {
        const struct figure *found =
            results_find(&drawing->evidence->items.items[i].results, figure);
        if (found)
            return found->unit;
    }
    return "";
}

static void name_axes(const struct drawing *drawing, struct chart *chart)
{
    const struct plot *plot = drawing->plot;
    chart_set_axis(chart, &chart->x, recipe_label(drawing->recipe, plot->x),
                   unit_of(drawing, plot->x));
    /* The key names several figures; then the axis has the name of the plot. */
    chart_set_axis(chart, &chart->y,
                   recipe_label(drawing->recipe, plot->y_count > 1 ? plot->name : plot->y[0]),
                   unit_of(drawing, plot->y[0]));
    chart->hollow_note = "saturated, or not steady yet";
}

static void draw_over_x(struct drawing *drawing, struct charts *charts)
{
    struct chart chart;
    enum plot_kind kind = drawing->plot->kind;
    struct curves curves = {.chart = &chart,
                            .style = style_of(drawing->plot),
                            .x_is_figure = *unit_of(drawing, drawing->plot->x) != 0};
    chart_init(&chart, "");
    for (size_t i = 0; i < drawing->evidence->items.count; i++)
        if (belongs(drawing, &drawing->evidence->items.items[i]))
            add_observation(drawing, &drawing->evidence->items.items[i], curves.x_is_figure);
    for (size_t i = 0; i < drawing->places.count; i++) {
        const struct place *place = &drawing->places.items[i];
        double count = (double)place->count;
        curves_add(&curves, place->group,
                   &(struct curve_value){.key = place->key,
                                         .x = place->x / count,
                                         .y = place->y / count,
                                         .saturated = 2 * place->saturated > place->count});
    }
    name_axes(drawing, &chart);
    bool any = curves.places.count > 0;
    curves_finish(&curves, kind == PLOT_BARS || kind == PLOT_STACKED ||
                               (!curves.x_is_figure && !curves_have_numbers(&curves)));
    if (any) {
        add_printed_points(drawing, &chart);
        vec_push(charts, chart);
    } else {
        chart_release(&chart);
    }
    vec_release(&drawing->places);
    arena_release(&drawing->arena);
}

/* ---- over time ---- */

static void add_bands(struct chart *chart, const struct observation *observation)
{
    double at = observation_figure(observation, "fault.begin") -
                observation_figure(observation, "fault.detect.time");
    for (unsigned i = 0; i < SM_STEPS && !isnan(at); i++) {
        char name[64], detail[QUANTITY_BYTES];
        snprintf(name, sizeof name, "fault.%s.time", sm_step_name(i));
        double time = observation_figure(observation, name);
        if (!(time > 0))
            continue;
        chart_add_band(chart, at, at + time, sm_step_name(i), quantity_text(time, "s", detail), i);
        at += time;
    }
}

/* A counter is 0 before its first point and constant after the last. */
static void add_series_points(struct chart *chart, size_t group, const struct plot *plot,
                              const struct series *series)
{
    bool counted = !strstr(series->unit, "/s") && strcmp(series->unit, "s") != 0;
    double last = 0;
    size_t i = 0;
    for (; i < series->points.count && series->points.items[i].time < plot->from; i++)
        last = series->points.items[i].value;
    if (counted)
        chart_add_point(chart, group, time_seconds(plot->from), last);
    for (; i < series->points.count && series->points.items[i].time <= plot->to; i++) {
        const struct point *point = &series->points.items[i];
        chart_add_point(chart, group, time_seconds(point->time), point->value);
        last = point->value;
    }
    if (counted && plot->to != TIME_NEVER)
        chart_add_point(chart, group, time_seconds(plot->to), last);
}

/* Latencies are one point for each packet; other values are valid until the next point. */
static void draw_series(struct drawing *drawing, const struct observation *observation,
                        const char *name, struct charts *charts)
{
    const struct plot *plot = drawing->plot;
    const struct series *series = results_find_series(&observation->results, name);
    struct chart chart;
    if (!series || series->points.count == 0)
        return;
    chart_init(&chart, "");
    chart_set_axis(&chart, &chart.x, "time", "s");
    chart_set_axis(&chart, &chart.y, recipe_label(drawing->recipe, name), series->unit);
    bool packets = strcmp(series->unit, "s") == 0;
    size_t group = chart_add_group(&chart, "", packets ? CHART_POINTS : CHART_STEPS);
    add_series_points(&chart, group, plot, series);
    chart.x.low = plot->from ? time_seconds(plot->from) : NAN;
    chart.x.high = plot->to != TIME_NEVER ? time_seconds(plot->to) : NAN;
    chart.height = 90;
    add_bands(&chart, observation);
    vec_push(charts, chart);
}

static void draw_over_time(struct drawing *drawing, struct charts *charts)
{
    for (size_t i = 0; i < drawing->evidence->items.count; i++) {
        const struct observation *observation = &drawing->evidence->items.items[i];
        if (!belongs(drawing, observation))
            continue;
        for (size_t y = 0; y < drawing->plot->y_count; y++)
            draw_series(drawing, observation, drawing->plot->y[y], charts);
        return;
    }
}

void draw_plot(const struct recipe *recipe, const struct plot *plot,
               const struct evidence *evidence, const char *preset, struct charts *charts)
{
    struct drawing drawing = {
        .recipe = recipe, .plot = plot, .evidence = evidence, .preset = preset};
    if (plot->kind == PLOT_TIME)
        draw_over_time(&drawing, charts);
    else
        draw_over_x(&drawing, charts);
}

void charts_release(struct charts *charts)
{
    for (size_t i = 0; i < charts->count; i++)
        chart_release(&charts->items[i]);
    vec_release(charts);
}
