/* Drawing: curves and bars over parameters or figures, and series over time.
 *
 * Curves and bars: observations with the same group and the same place on the x axis become one
 * point, their mean. Where x is a parameter they share a place if it has the same value (so that
 * "each switch of the subnet" is averaged over); where it is a figure, if all their parameters are
 * the same, and a point is hollow when most of its runs were saturated. Error bars are drawn for
 * repetitions of the same run only.
 *
 * Over time: one run, its series above each other, with the manager's phases as bands. */
#include "reproduce/draw.h"

#include "base/time.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    size_t group;
    const char *key;
    VEC(double) x, y;
    size_t saturated;
    const struct observation *first;
    bool mixed; /* not repetitions of one run: how they scatter says nothing */
};

struct drawing {
    const struct recipe *recipe;
    const struct plot *plot;
    const struct evidence *evidence;
    const char *preset;
    struct chart *chart;
    bool x_is_figure;
    VEC(struct place) places;
    struct arena arena;
};

static bool is_number(const char *text)
{
    char *end;
    strtod(text, &end);
    return *text && !*end;
}

static bool belongs(const struct drawing *drawing, const struct observation *observation)
{
    const char *preset = observation_value(observation, "preset");
    if (drawing->preset && *preset && strcmp(preset, drawing->preset) != 0)
        return false;
    return conditions_fit(&drawing->plot->where, observation->parameters,
                          observation->parameter_count);
}

/* ---- groups and places ---- */

/* "2 data lanes", "FERa", "discovery": the value of `by`, and which y where there are several. */
static const char *group_name(struct drawing *drawing, const struct observation *observation,
                              const char *figure)
{
    const struct plot *plot = drawing->plot;
    struct text name = {0};
    if (plot->by) {
        const char *value = observation_value(observation, plot->by);
        text_puts(&name, recipe_label(drawing->recipe, value));
        if (is_number(value))
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

static size_t find_group(struct drawing *drawing, const char *name)
{
    struct chart *chart = drawing->chart;
    for (size_t i = 0; i < chart->groups.count; i++)
        if (strcmp(chart->groups.items[i].name, name) == 0)
            return i;
    return chart_add_group(chart, name, style_of(drawing->plot));
}

static const char *place_key(struct drawing *drawing, const struct observation *observation)
{
    struct text key = {0};
    if (!drawing->x_is_figure)
        return observation_value(observation, drawing->plot->x);
    result_point(observation->parameters, observation->parameter_count, &key);
    const char *copy = arena_strdup(&drawing->arena, key.data ? key.data : "");
    text_release(&key);
    return copy;
}

static struct place *find_place(struct drawing *drawing, size_t group, const char *key)
{
    for (size_t i = 0; i < drawing->places.count; i++)
        if (drawing->places.items[i].group == group &&
            strcmp(drawing->places.items[i].key, key) == 0)
            return &drawing->places.items[i];
    vec_push(&drawing->places, ((struct place){.group = group, .key = key}));
    return &drawing->places.items[drawing->places.count - 1];
}

static bool same_point(const struct observation *one, const struct observation *other)
{
    for (size_t i = 0; i < one->parameter_count; i++)
        if (strcmp(one->parameters[i].value, observation_value(other, one->parameters[i].name)) !=
            0)
            return false;
    return true;
}

static void add_observation(struct drawing *drawing, const struct observation *observation)
{
    for (size_t i = 0; i < drawing->plot->y_count; i++) {
        double y = observation_figure(observation, drawing->plot->y[i]);
        if (isnan(y))
            continue;
        const char *name = group_name(drawing, observation, drawing->plot->y[i]);
        struct place *place =
            find_place(drawing, find_group(drawing, name), place_key(drawing, observation));
        if (!place->first)
            place->first = observation;
        place->mixed |= !same_point(place->first, observation);
        vec_push(&place->y, y);
        if (drawing->x_is_figure)
            vec_push(&place->x, observation_figure(observation, drawing->plot->x));
        place->saturated += observation_is_saturated(observation);
    }
}

/* ---- axes ---- */

/* Of a figure, wherever it occurs; "" for parameters. */
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

static void name_axes(struct drawing *drawing)
{
    const struct plot *plot = drawing->plot;
    struct chart *chart = drawing->chart;
    chart_set_axis(chart, &chart->x, recipe_label(drawing->recipe, plot->x),
                   unit_of(drawing, plot->x));
    /* Several y's have names of their own in the key; the axis has the plot's. */
    chart_set_axis(chart, &chart->y,
                   recipe_label(drawing->recipe, plot->y_count > 1 ? plot->name : plot->y[0]),
                   unit_of(drawing, plot->y[0]));
    chart->hollow_note = "saturated, or not steady yet";
}

static int compare_names(const void *a, const void *b)
{
    return result_compare_values(*(const char *const *)a, *(const char *const *)b);
}

static bool in_categories(const struct drawing *drawing)
{
    if (drawing->plot->kind == PLOT_BARS || drawing->plot->kind == PLOT_STACKED)
        return true;
    for (size_t i = 0; i < drawing->places.count && !drawing->x_is_figure; i++)
        if (!is_number(drawing->places.items[i].key))
            return true;
    return false;
}

static void add_categories(struct drawing *drawing)
{
    VEC(const char *) keys = {0};
    for (size_t i = 0; i < drawing->places.count; i++)
        vec_push(&keys, drawing->places.items[i].key);
    if (keys.count)
        qsort(keys.items, keys.count, sizeof *keys.items, compare_names);
    for (size_t i = 0; i < keys.count; i++)
        if (i == 0 || strcmp(keys.items[i], keys.items[i - 1]) != 0)
            chart_add_category(drawing->chart, keys.items[i]);
    vec_release(&keys);
}

static double place_x(const struct drawing *drawing, const struct place *place)
{
    const struct chart *chart = drawing->chart;
    for (size_t i = 0; i < chart->categories.count; i++)
        if (strcmp(chart->categories.items[i], place->key) == 0)
            return (double)i;
    if (drawing->x_is_figure)
        return quantity_mean(place->x.items, place->x.count).mean;
    return strtod(place->key, NULL);
}

/* ---- curves and bars ---- */

static int compare_points(const void *a, const void *b)
{
    const struct chart_point *one = a, *two = b;
    return (one->x > two->x) - (one->x < two->x);
}

static void add_points(struct drawing *drawing)
{
    struct chart *chart = drawing->chart;
    for (size_t i = 0; i < drawing->places.count; i++) {
        struct place *place = &drawing->places.items[i];
        struct quantity_mean mean = quantity_mean(place->y.items, place->y.count);
        chart_add_measured(chart, place->group, place_x(drawing, place), mean.mean,
                           place->mixed ? NAN : mean.half_width,
                           drawing->x_is_figure && 2 * place->saturated > place->y.count);
    }
    /* Where x is a figure, a curve may turn back: its order is that of the sweep. */
    for (size_t i = 0; i < chart->groups.count && !drawing->x_is_figure; i++) {
        struct chart_group *group = &chart->groups.items[i];
        qsort(group->points.items, group->points.count, sizeof *group->points.items,
              compare_points);
    }
}

static void release(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->places.count; i++) {
        vec_release(&drawing->places.items[i].x);
        vec_release(&drawing->places.items[i].y);
    }
    vec_release(&drawing->places);
    arena_release(&drawing->arena);
}

static void draw_over_x(struct drawing *drawing, struct charts *charts)
{
    struct chart chart;
    chart_init(&chart, "");
    drawing->chart = &chart;
    drawing->x_is_figure = *unit_of(drawing, drawing->plot->x) != 0;
    for (size_t i = 0; i < drawing->evidence->items.count; i++)
        if (belongs(drawing, &drawing->evidence->items.items[i]))
            add_observation(drawing, &drawing->evidence->items.items[i]);
    name_axes(drawing);
    if (in_categories(drawing))
        add_categories(drawing);
    add_points(drawing);
    if (drawing->places.count)
        vec_push(charts, chart);
    else
        chart_release(&chart);
    release(drawing);
}

/* ---- over time ---- */

static void add_bands(struct chart *chart, const struct observation *observation)
{
    static const char *const phases[] = {"detect", "discover", "compute", "distribute"};
    double at = observation_figure(observation, "fault.begin") -
                observation_figure(observation, "fault.detect.time");
    for (unsigned i = 0; i < sizeof phases / sizeof phases[0] && !isnan(at); i++) {
        char name[64], detail[QUANTITY_BYTES];
        snprintf(name, sizeof name, "fault.%s.time", phases[i]);
        double time = observation_figure(observation, name);
        if (!(time > 0))
            continue;
        chart_add_band(chart, at, at + time, phases[i], quantity_text(time, "s", detail), i);
        at += time;
    }
}

/* What is counted is nothing before its first point and stays where it is after the last. */
static void add_series_points(struct chart *chart, size_t group, const struct plot *plot,
                              const struct series *series)
{
    bool counted = !strstr(series->unit, "/s") && strcmp(series->unit, "s") != 0;
    double last = 0;
    if (counted)
        chart_add_point(chart, group, time_seconds(plot->from), 0);
    for (size_t i = 0; i < series->points.count; i++) {
        const struct point *point = &series->points.items[i];
        if (point->time < plot->from || point->time > plot->to)
            continue;
        chart_add_point(chart, group, time_seconds(point->time), point->value);
        last = point->value;
    }
    if (counted && plot->to != TIME_NEVER)
        chart_add_point(chart, group, time_seconds(plot->to), last);
}

/* Latencies are one point a packet, all else holds until the next. */
static void draw_series(struct drawing *drawing, const struct observation *observation,
                        const char *name, struct charts *charts)
{
    const struct plot *plot = drawing->plot;
    const struct series *series = observation_series(observation, name);
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
