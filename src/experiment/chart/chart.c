/* Builds charts, and finds the ranges of their axes and the points that shape a line. */
#include "experiment/chart/chart.h"

#include "base/quantity.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- building ---- */

void chart_init(struct chart *chart)
{
    *chart = (struct chart){.hollow_note = ""};
    chart->x = chart->y = (struct chart_axis){.label = "", .unit = "", .low = NAN, .high = NAN};
}

void chart_release(struct chart *chart)
{
    for (size_t i = 0; i < chart->groups.count; i++)
        vec_release(&chart->groups.items[i].points);
    vec_release(&chart->groups);
    vec_release(&chart->categories);
    vec_release(&chart->bands);
    vec_release(&chart->marks);
    arena_release(&chart->arena);
}

void chart_set_axis(struct chart *chart, struct chart_axis *axis, const char *label,
                    const char *unit)
{
    axis->label = arena_strdup(&chart->arena, label);
    axis->unit = arena_strdup(&chart->arena, unit);
}

size_t chart_add_category(struct chart *chart, const char *name)
{
    vec_push(&chart->categories, arena_strdup(&chart->arena, name));
    return chart->categories.count - 1;
}

size_t chart_add_group(struct chart *chart, const char *name, enum chart_style style)
{
    unsigned number = (unsigned)chart->groups.count;
    struct chart_group group = {.name = arena_strdup(&chart->arena, name),
                                .style = style,
                                .colour = number % CHART_COLOURS,
                                .shape = number % CHART_SHAPES};
    vec_push(&chart->groups, group);
    return number;
}

void chart_add_measured(struct chart *chart, size_t group, double x, double y, double half_width,
                        bool hollow)
{
    assert(group < chart->groups.count);
    struct chart_point point = {x, y, y - half_width, y + half_width, hollow};
    vec_push(&chart->groups.items[group].points, point);
}

void chart_add_point(struct chart *chart, size_t group, double x, double y)
{
    chart_add_measured(chart, group, x, y, NAN, false);
}

void chart_add_band(struct chart *chart, double from, double to, const char *name,
                    const char *detail, unsigned colour)
{
    vec_push(&chart->bands, ((struct chart_band){from, to, arena_strdup(&chart->arena, name),
                                                 arena_strdup(&chart->arena, detail), colour}));
}

void chart_add_mark(struct chart *chart, double x, const char *label)
{
    vec_push(&chart->marks, ((struct chart_mark){x, arena_strdup(&chart->arena, label)}));
}

/* ---- ranges ---- */

/* Half of the gap between the middles of neighbouring bars; 0: the chart has none. */
static double half_gap(const struct chart *chart)
{
    double gap = NAN;
    bool any = false;
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        any |= group->style >= CHART_BARS;
        for (size_t i = 1; i < group->points.count; i++)
            gap = fmin(gap, fabs(group->points.items[i].x - group->points.items[i - 1].x));
    }
    return !any ? 0 : gap > 0 ? gap / 2 : 0.5;
}

static void extend_range(struct chart_range *range, double value)
{
    if (!isfinite(value))
        return;
    if (!(range->low <= value))
        range->low = value;
    if (!(range->high >= value))
        range->high = value;
}

/* Applies the limits of the axis, and makes sure that the range is not empty. */
static void finish_range(struct chart_range *range, const struct chart_axis *axis)
{
    if (isfinite(axis->low))
        range->low = axis->low;
    if (isfinite(axis->high))
        range->high = axis->high;
    if (!isfinite(range->low) || !isfinite(range->high)) {
        range->low = 0;
        range->high = 1;
    }
    if (!(range->high > range->low)) {
        double room = range->low == 0 ? 1 : fabs(range->low) * 0.5;
        range->high = range->low + room;
        range->low -= room;
    }
    double most = fmax(fabs(range->low), fabs(range->high));
    struct quantity_scale scale = quantity_scale(most, axis->unit);
    range->factor = scale.factor;
    snprintf(range->unit, sizeof range->unit, "%s", scale.name);
}

struct chart_range chart_x_range(const struct chart *charts, size_t count)
{
    assert(count > 0);
    struct chart_range range = {.low = NAN, .high = NAN};
    if (charts[0].categories.count) {
        range.low = -0.5;
        range.high = (double)charts[0].categories.count - 0.5;
        finish_range(&range, &charts[0].x);
        return range;
    }
    for (size_t c = 0; c < count; c++) {
        const struct chart *chart = &charts[c];
        for (size_t g = 0; g < chart->groups.count; g++)
            for (size_t i = 0; i < chart->groups.items[g].points.count; i++)
                if (isfinite(chart->groups.items[g].points.items[i].y))
                    extend_range(&range, chart->groups.items[g].points.items[i].x);
        for (size_t i = 0; i < chart->bands.count; i++) {
            extend_range(&range, chart->bands.items[i].from);
            extend_range(&range, chart->bands.items[i].to);
        }
        for (size_t i = 0; i < chart->marks.count; i++)
            extend_range(&range, chart->marks.items[i].x);
    }
    double half = half_gap(&charts[0]);
    if (half > 0 && isfinite(range.low)) {
        range.low -= half; /* bars are centred on their x */
        range.high += half;
    } else if (range.low > 0 && range.low < range.high / 3) {
        range.low = 0; /* include zero where it is near */
    }
    finish_range(&range, &charts[0].x);
    return range;
}

struct chart_range chart_y_range(const struct chart *chart, const struct chart_range *x,
                                 unsigned ticks)
{
    struct chart_range range = {.low = NAN, .high = NAN}, errors = range;
    double *stacks = mem_zalloc(chart->categories.count + 1, sizeof *stacks);
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        for (size_t i = 0; i < group->points.count; i++) {
            const struct chart_point *point = &group->points.items[i];
            bool in_category = point->x >= 0 && point->x < (double)chart->categories.count;
            if (group->style == CHART_STACKED && in_category && point->y > 0)
                stacks[(size_t)point->x] += point->y;
            if (!(point->x >= x->low && point->x <= x->high))
                continue;
            extend_range(&range, point->y);
            extend_range(&errors, point->low);
            extend_range(&errors, point->high);
        }
    }
    for (size_t i = 0; i < chart->categories.count; i++)
        extend_range(&range, stacks[i]);
    mem_free(stacks);
    /* Error bars extend the range by half of it at most, and not below zero for positive data. */
    double span = range.high - (range.low > 0 ? 0 : range.low);
    if (isfinite(span) && isfinite(errors.low)) {
        extend_range(&range, fmin(errors.high, range.high + span / 2));
        if (range.low < 0)
            extend_range(&range, fmax(errors.low, range.low - span / 2));
    }
    if (range.low >= 0) {
        range.low = 0;
        bool part = strcmp(chart->y.unit, "share") == 0 && range.high > 0.5 && range.high <= 1;
        range.high = part ? 1 : quantity_round_up(range.high * 1.02, ticks);
    }
    finish_range(&range, &chart->y);
    return range;
}

void chart_axis_title(const struct chart_axis *axis, const struct chart_range *range, char *buffer,
                      size_t size)
{
    char unit[sizeof range->unit];
    snprintf(unit, sizeof unit, "%s", range->unit);
    size_t length = strlen(unit), word = strlen(axis->unit);
    bool is_word = word > 2 && !quantity_is_symbol(axis->unit);
    if (is_word && strstr(axis->label, axis->unit) && length >= word &&
        strcmp(unit + length - word, axis->unit) ==
            0) /* "entries (k)", not "entries (k entries)" */
        unit[length > word ? length - word - 1 : 0] = 0;
    snprintf(buffer, size, unit[0] ? "%.80s (%s)" : "%.80s", axis->label, unit);
}

/* ---- thinning ---- */

/* Keeps the points from `first` to `last`, of one column, that shape the line, in their order. */
static void keep_column(const struct chart_group *group, size_t first, size_t last,
                        struct chart_points *points)
{
    const struct chart_point *all = group->points.items;
    size_t least = first, most = first;
    for (size_t i = first; i <= last; i++) {
        if (isnan(all[i].y))
            continue; /* a gap inside a column is not drawn */
        if (!(all[i].y >= all[least].y))
            least = i;
        if (!(all[i].y <= all[most].y))
            most = i;
    }
    for (size_t i = first; i <= last; i++)
        if (i == first || i == last || i == least || i == most)
            vec_push(points, all[i]);
}

void chart_thin(const struct chart_group *group, const struct chart_range *x, unsigned columns,
                struct chart_points *points)
{
    assert(columns > 0);
    const struct chart_point *all = group->points.items;
    size_t count = group->points.count, first = 0, last = count, most = 4 * (size_t)columns;
    size_t sorted = 1, stride = 1;
    while (sorted < count && all[sorted].x >= all[sorted - 1].x)
        sorted++;
    if (sorted < count) {
        stride = count / most + 1;
    } else {
        while (first < count && all[first].x < x->low)
            first++;
        while (last > first && all[last - 1].x > x->high)
            last--;
        first -= first > 0; /* one point outside on each side, so that lines leave the frame */
        last += last < count;
    }
    if (sorted < count || last - first <= most) {
        for (size_t i = first; i < last; i += stride)
            vec_push(points, all[i]);
        return;
    }
    double width = (x->high - x->low) / columns;
    for (size_t i = first, end; i < last; i = end + 1) {
        double column = floor((all[i].x - x->low) / width);
        for (end = i; end + 1 < last && floor((all[end + 1].x - x->low) / width) == column;)
            end++;
        keep_column(group, i, end, points);
    }
}
