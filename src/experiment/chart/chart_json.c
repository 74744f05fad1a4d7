/* Charts as JSON, with the ranges of their axes and thinned points. */
#include "experiment/chart/chart.h"

#include <assert.h>
#include <math.h>

enum { Y_TICKS = 5 }; /* for which a y axis is rounded up */

/* An object or an array on one line of the text. */
static void open_line(struct json *json, const char *key, char bracket)
{
    json_open(json, key, bracket);
    json->pretty = false;
}

static void close_line(struct json *json, char bracket)
{
    json_close(json, bracket);
    json->pretty = true;
}

static void write_axis(struct json *json, const char *key, const struct chart_axis *axis,
                       const struct chart_range *range)
{
    char title[160];
    chart_axis_title(axis, range, title, sizeof title);
    open_line(json, key, '{');
    json_string(json, "title", title);
    json_string(json, "label", axis->label);
    json_string(json, "unit", axis->unit);
    json_string(json, "scale", range->unit);
    json_double(json, "low", range->low);
    json_double(json, "high", range->high);
    json_double(json, "factor", range->factor);
    close_line(json, '}');
}

/* [x, y], with an error bar [x, y, low, high], hollow [x, y, low, high, true]. */
static void write_point(struct json *json, const struct chart_point *point)
{
    json_begin_array(json, NULL);
    json_double(json, NULL, point->x);
    json_double(json, NULL, point->y);
    if (isfinite(point->low) || isfinite(point->high) || point->hollow) {
        json_double(json, NULL, point->low);
        json_double(json, NULL, point->high);
    }
    if (point->hollow)
        json_bool(json, NULL, true);
    json_end_array(json);
}

static void write_group(struct json *json, const struct chart_group *group,
                        const struct chart_range *x, unsigned columns)
{
    static const char *const styles[] = {
        [CHART_LINES_POINTS] = "lines+points",
        [CHART_LINES] = "lines",
        [CHART_STEPS] = "steps",
        [CHART_POINTS] = "points",
        [CHART_BARS] = "bars",
        [CHART_STACKED] = "stacked",
    };
    struct chart_points thinned = {0};
    if (group->style < CHART_BARS)
        chart_thin(group, x, columns, &thinned);
    const struct chart_point *points =
        group->style < CHART_BARS ? thinned.items : group->points.items;
    size_t count = group->style < CHART_BARS ? thinned.count : group->points.count;
    json_begin_object(json, NULL);
    json_string(json, "name", group->name);
    json_string(json, "style", styles[group->style]);
    json_unsigned(json, "colour", group->colour);
    json_unsigned(json, "shape", group->shape);
    open_line(json, "points", '[');
    for (size_t i = 0; i < count; i++)
        write_point(json, &points[i]);
    close_line(json, ']');
    json_end_object(json);
    vec_release(&thinned);
}

static void write_moments(struct json *json, const struct chart *chart)
{
    json_begin_array(json, "bands");
    for (size_t i = 0; i < chart->bands.count; i++) {
        const struct chart_band *band = &chart->bands.items[i];
        open_line(json, NULL, '{');
        json_double(json, "from", band->from);
        json_double(json, "to", band->to);
        json_string(json, "name", band->name);
        json_string(json, "detail", band->detail);
        json_unsigned(json, "colour", band->colour);
        close_line(json, '}');
    }
    json_end_array(json);
    json_begin_array(json, "marks");
    for (size_t i = 0; i < chart->marks.count; i++) {
        open_line(json, NULL, '{');
        json_double(json, "x", chart->marks.items[i].x);
        json_string(json, "label", chart->marks.items[i].label);
        close_line(json, '}');
    }
    json_end_array(json);
}

void chart_json_write(struct json *json, const char *key, const struct chart *charts, size_t count,
                      unsigned columns)
{
    assert(count > 0);
    struct chart_range x = chart_x_range(charts, count);
    json_begin_object(json, key);
    json_string(json, "hollow", charts[0].hollow_note);
    write_axis(json, "x", &charts[0].x, &x);
    json_begin_array(json, "categories");
    for (size_t i = 0; i < charts[0].categories.count; i++)
        json_string(json, NULL, charts[0].categories.items[i]);
    json_end_array(json);
    write_moments(json, &charts[0]);
    json_begin_array(json, "panels");
    for (size_t i = 0; i < count; i++) {
        struct chart_range y = chart_y_range(&charts[i], &x, Y_TICKS);
        json_begin_object(json, NULL);
        json_double(json, "height", charts[i].height);
        write_axis(json, "y", &charts[i].y, &y);
        json_begin_array(json, "groups");
        for (size_t g = 0; g < charts[i].groups.count; g++)
            write_group(json, &charts[i].groups.items[g], &x, columns);
        json_end_array(json);
        json_end_object(json);
    }
    json_end_array(json);
    json_end_object(json);
}
