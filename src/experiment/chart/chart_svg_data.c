/* Draws the data of a chart as SVG: lines, steps, points with error bars, bars, and names at the
 * ends of lines. */
#include "experiment/chart/chart_svg_internal.h"

#include "base/quantity.h"
#include "experiment/chart/markup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LABEL_PITCH = 14, MARKED_POINTS = 400 };

/* ---- lines ---- */

/* Limits a coordinate to the surroundings of the frame; viewers fail on very large numbers. */
static double near_frame(double at, double low, double size)
{
    return fmin(fmax(at, low - size), low + 2 * size);
}

static void put_line(const struct frame *frame, const struct chart_group *group,
                     const struct chart_points *points)
{
    bool pen_down = false, any = false;
    double last_y = 0;
    for (size_t i = 0; i < points->count; i++) {
        const struct chart_point *point = &points->items[i];
        bool drawable = isfinite(point->x) && isfinite(point->y) &&
                        !(frame->y.log && point->y <= 0) && !(frame->x.log && point->x <= 0);
        if (!drawable) {
            pen_down = false;
            continue;
        }
        double x = near_frame(frame_x(frame, point->x), frame->left, frame->width);
        double y = near_frame(frame_y(frame, point->y), frame->top, frame->height);
        if (!any)
            text_printf(frame->out, "<path class=\"line k%u%s\" d=\"", group->colour,
                        group->style == CHART_LINES_POINTS ? " thin" : "");
        if (!pen_down)
            text_printf(frame->out, "M%.1f %.1f", x, y);
        else if (group->style == CHART_STEPS && fabs(y - last_y) >= 0.05)
            text_printf(frame->out, "H%.1fV%.1f", x, y);
        else if (group->style == CHART_STEPS)
            text_printf(frame->out, "H%.1f", x);
        else
            text_printf(frame->out, "L%.1f %.1f", x, y);
        pen_down = any = true;
        last_y = y;
    }
    if (any)
        text_puts(frame->out, "\"/>\n");
}

/* ---- points ---- */

static void put_title(const struct frame *frame, const struct chart_group *group,
                      const struct chart_point *point, struct text *title)
{
    const struct chart *chart = frame->chart;
    char buffer[QUANTITY_BYTES];
    if (group->name[0])
        text_printf(title, "%s\n", group->name);
    if (chart->categories.count && point->x >= 0 && point->x < (double)chart->categories.count)
        text_printf(title, "%s\n", chart->categories.items[(size_t)point->x]);
    else
        text_printf(title, "%s: %s\n", chart->x.label,
                    quantity_text(point->x, chart->x.unit, buffer));
    text_printf(title, "%s: %s", chart->y.label, quantity_text(point->y, chart->y.unit, buffer));
    if (isfinite(point->high))
        text_printf(title, " ± %s", quantity_text(point->high - point->y, chart->y.unit, buffer));
    if (point->hollow && chart->hollow_note[0])
        text_printf(title, "\n%s", chart->hollow_note);
}

static void put_error_bar(const struct frame *frame, const struct chart_group *group,
                          const struct chart_point *point, double x)
{
    if (!isfinite(point->low) || !isfinite(point->high) || !(point->high > point->low))
        return;
    double low = fmax(point->low, frame->y.low), high = fmin(point->high, frame->y.high);
    if (!(high > low))
        return;
    double bottom = frame_y(frame, low), top = frame_y(frame, high);
    if (bottom - top < 1)
        return;
    /* An end that is cut off has no cap; a bar without ends is faint. */
    bool ends_below = low > frame->y.low || point->low == frame->y.low;
    bool ends_above = high < frame->y.high || point->high == frame->y.high;
    text_printf(frame->out, "<path class=\"whisker%s k%u\" d=\"M%.1f %.1fV%.1f",
                ends_below || ends_above ? "" : " endless", group->colour, x, bottom, top);
    if (ends_below)
        text_printf(frame->out, "M%.1f %.1fh7", x - 3.5, bottom);
    if (ends_above)
        text_printf(frame->out, "M%.1f %.1fh7", x - 3.5, top);
    text_puts(frame->out, "\"/>\n");
}

static void put_points(const struct frame *frame, const struct chart_group *group,
                       const struct chart_points *points)
{
    for (size_t i = 0; i < points->count; i++) {
        const struct chart_point *point = &points->items[i];
        struct text title = {0};
        if (!frame_shows(frame, point->x, point->y))
            continue;
        put_error_bar(frame, group, point, frame_x(frame, point->x));
        put_title(frame, group, point, &title);
        svg_put_marker(frame->out, frame_x(frame, point->x), frame_y(frame, point->y), group,
                       point->hollow, title.data);
        text_release(&title);
    }
}

/* Too many points for markers: dots, as lines of no length with round ends. */
static void put_dots(const struct frame *frame, const struct chart_group *group,
                     const struct chart_points *points)
{
    text_printf(frame->out, "<path class=\"line k%u\" d=\"", group->colour);
    for (size_t i = 0; i < points->count; i++)
        if (frame_shows(frame, points->items[i].x, points->items[i].y))
            text_printf(frame->out, "M%.1f %.1fh0", frame_x(frame, points->items[i].x),
                        frame_y(frame, points->items[i].y));
    text_puts(frame->out, "\"/>\n");
}

/* ---- bars ---- */

static void put_bar(const struct frame *frame, const struct chart_group *group,
                    const struct chart_point *point, double left, double width, double bottom)
{
    struct text title = {0};
    double low = fmax(bottom, frame->y.low), high = fmin(bottom + point->y, frame->y.high);
    double from = frame_y(frame, fmin(low, high)), to = frame_y(frame, fmax(low, high));
    put_title(frame, group, point, &title);
    text_printf(frame->out,
                "<rect class=\"bar k%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                "<title>",
                group->colour, left, to, width, fmax(from - to, 0.5));
    markup_put(frame->out, title.data);
    text_puts(frame->out, "</title></rect>\n");
    text_release(&title);
}

static void put_bar_label(const struct frame *frame, double x, double value, double top)
{
    char label[QUANTITY_BYTES];
    svg_put_text(frame->out, x, frame_y(frame, fmin(top, frame->y.high)) - 4, "middle", "value",
                 quantity_short(value, frame->chart->y.unit, label));
}

/* The width of the widest label of bars, which have a smaller font. */
static double widest_bar_label(const struct chart *chart)
{
    char label[QUANTITY_BYTES];
    double widest = 0;
    for (size_t g = 0; g < chart->groups.count; g++)
        for (size_t i = 0; i < chart->groups.items[g].points.count; i++) {
            double value = chart->groups.items[g].points.items[i].y;
            if (isfinite(value))
                widest = fmax(widest, svg_text_width(quantity_short(value, chart->y.unit, label)));
        }
    return 0.92 * widest;
}

/* Bars of one group. `slot` is the width of a category, or of a bar of a histogram, in pixels;
 * `piles` has the height that stacked bars have reached, by category. */
static void put_bars(const struct frame *frame, const struct chart_group *group, double slot,
                     unsigned columns, unsigned column, bool labelled, double *piles)
{
    bool histogram = frame->chart->categories.count == 0;
    double room = slot * (histogram ? 1.0 : 0.76);
    double width = room / columns - (histogram ? 0.5 : 2);
    for (size_t i = 0; i < group->points.count; i++) {
        const struct chart_point *point = &group->points.items[i];
        if (!isfinite(point->x) || !isfinite(point->y) || point->x < frame->x.low ||
            point->x > frame->x.high)
            continue;
        bool piled = group->style == CHART_STACKED && !histogram && point->x >= 0;
        double *pile = piled ? &piles[(size_t)point->x] : NULL, bottom = pile ? *pile : 0;
        double left = frame_x(frame, point->x) - room / 2 + column * room / columns + 1;
        put_bar(frame, group, point, left, fmax(width, 0.5), bottom);
        if (!pile)
            put_error_bar(frame, group, point, left + width / 2);
        if (pile)
            *pile += point->y;
        else if (labelled)
            put_bar_label(frame, left + width / 2, point->y,
                          isfinite(point->high) ? point->high : point->y);
    }
}

static void draw_bars(const struct frame *frame, struct chart_bars bars)
{
    const struct chart *chart = frame->chart;
    double slot = bars.gap / (frame->x.high - frame->x.low) * frame->width;
    bool labelled =
        0.76 * slot / bars.columns > widest_bar_label(chart) && chart->categories.count > 0;
    double *piles = mem_zalloc(chart->categories.count + 1, sizeof *piles);
    unsigned column = 0;
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        bool stacked = group->style == CHART_STACKED;
        if (group->style >= CHART_BARS)
            put_bars(frame, group, slot, bars.columns, stacked ? bars.columns - 1 : column,
                     labelled, piles);
        column += group->style == CHART_BARS;
    }
    for (size_t c = 0; labelled && c < chart->categories.count; c++)
        if (piles[c] > 0)
            put_bar_label(frame, frame_x(frame, (double)c), piles[c], piles[c]);
    mem_free(piles);
}

void frame_draw_groups(const struct frame *frame)
{
    const struct chart *chart = frame->chart;
    struct chart_bars bars = chart_measure_bars(chart);
    if (bars.columns)
        draw_bars(frame, bars);
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        struct chart_points points = {0};
        if (group->style >= CHART_BARS)
            continue;
        chart_thin(group, &frame->x, (unsigned)frame->width / 2, &points);
        if (group->style != CHART_POINTS)
            put_line(frame, group, &points);
        bool marked = group->style == CHART_LINES_POINTS || group->style == CHART_POINTS;
        if (marked && points.count <= MARKED_POINTS)
            put_points(frame, group, &points);
        else if (group->style == CHART_POINTS)
            put_dots(frame, group, &points);
        vec_release(&points);
    }
}

/* ---- names at the ends of lines ---- */

struct end_label {
    double y, wanted;
    const struct chart_group *group;
};

/* The rightmost point inside the range, or NULL. */
static const struct chart_point *find_end(const struct chart_group *group,
                                          const struct chart_range *x)
{
    const struct chart_point *end = NULL;
    for (size_t i = 0; i < group->points.count; i++) {
        const struct chart_point *point = &group->points.items[i];
        bool usable = isfinite(point->y) && point->x >= x->low && point->x <= x->high;
        if (usable && (!end || point->x >= end->x))
            end = point;
    }
    return end;
}

/* Whether names fit at the ends of lines: all lines must nearly reach the right side. */
bool frame_labels_fit(const struct chart *chart, const struct chart_range *x, double height)
{
    size_t named = 0;
    for (size_t g = 0; g < chart->groups.count; g++) {
        const struct chart_group *group = &chart->groups.items[g];
        const struct chart_point *end = find_end(group, x);
        bool goes_on =
            group->points.count && group->points.items[group->points.count - 1].x > x->high;
        if (end && !goes_on && end->x < x->low + 0.97 * (x->high - x->low))
            return false;
        named += group->name[0] && end;
    }
    return named > 0 && !chart_measure_bars(chart).columns && (double)named * LABEL_PITCH <= height;
}

double frame_label_room(const struct chart *chart)
{
    double room = 0;
    for (size_t g = 0; g < chart->groups.count; g++)
        room = fmax(room, svg_text_width(chart->groups.items[g].name));
    return room * 1.12 + 20; /* for the bold font */
}

static int compare_labels(const void *a, const void *b)
{
    const struct end_label *one = a, *two = b;
    if (one->wanted != two->wanted)
        return one->wanted < two->wanted ? -1 : 1;
    return (one->group > two->group) - (one->group < two->group);
}

/* Moves labels apart, first down, then back up from the bottom. */
static void separate_labels(struct end_label *labels, size_t count, double top, double bottom)
{
    for (size_t i = 0; i < count; i++) {
        double least = i ? labels[i - 1].y + LABEL_PITCH : top;
        labels[i].y = fmax(labels[i].wanted, least);
    }
    for (size_t i = count; i-- > 0;) {
        double most = i + 1 < count ? labels[i + 1].y - LABEL_PITCH : bottom;
        labels[i].y = fmin(labels[i].y, most);
    }
}

void frame_draw_labels(const struct frame *frame)
{
    const struct chart *chart = frame->chart;
    struct end_label *labels = mem_zalloc(chart->groups.count, sizeof *labels);
    double right = frame->left + frame->width;
    size_t count = 0;
    for (size_t g = 0; g < chart->groups.count; g++) {
        struct end_label label = {.group = &chart->groups.items[g]};
        const struct chart_point *end = find_end(label.group, &frame->x);
        if (!label.group->name[0] || !end)
            continue;
        label.wanted = frame_y(frame, fmin(fmax(end->y, frame->y.low), frame->y.high));
        labels[count++] = label;
    }
    if (count)
        qsort(labels, count, sizeof *labels, compare_labels);
    separate_labels(labels, count, frame->top + 5, frame->top + frame->height);
    for (size_t i = 0; i < count; i++) {
        char class[32];
        const struct chart_group *group = labels[i].group;
        if (fabs(labels[i].y - labels[i].wanted) > 3)
            text_printf(frame->out, "<path class=\"leader k%u\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
                        group->colour, right + 2, labels[i].wanted, right + 10, labels[i].y);
        snprintf(class, sizeof class, "name k%u", group->colour);
        svg_put_text(frame->out, right + 13, labels[i].y + 4, "start", class, group->name);
    }
    mem_free(labels);
}
