/* The SVG writer: style sheet, layout, axes, bands, marks, key and hover slices. chart_svg_data.c
 * draws the data.
 *
 *     title                                     labels of marks
 *     strip of bands (phases), with names where there is room
 *     y title
 *     panel ……………………………………………………………………… names of lines
 *     panel …
 *     x ticks and title
 *     key (bars, bands, too many lines) */
#include "experiment/chart/chart_svg_internal.h"

#include "base/quantity.h"
#include "experiment/chart/markup.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    MARGIN_LEFT = 62,
    STRIP_HEIGHT = 20,
    PANEL_HEIGHT = 240,       /* of a single panel */
    SMALL_PANEL_HEIGHT = 112, /* of each of several panels */
    BARE_PANEL_HEIGHT = 12,   /* of a panel without data */
    X_TICK_PITCH = 84,
    Y_TICK_PITCH = 42,
    HOVER_SLICES = 96,
    MARKS_NAMED = 8,
};

/* ---- style ---- */

static const char *const light[CHART_COLOURS] = {"#0072b2", "#d55e00", "#009e73", "#b8578f",
                                                 "#3a9bd6", "#b87a00", "#222222", "#6b6b00"};
static const char *const dark[CHART_COLOURS] = {"#5cb3ec", "#ff8a3d", "#2fc79b", "#e394c2",
                                                "#9bd4f7", "#f2b63c", "#e8e8e8", "#d6d04a"};
static const char *const bands[CHART_BAND_COLOURS] = {"#6f7782", "#1f7fbf", "#b87a00", "#00825f"};

void chart_svg_style(struct text *out)
{
    text_puts(out, ".chart{display:block;width:100%;height:auto;font:12px system-ui,-apple-system,"
                   "'Segoe UI','DejaVu Sans',sans-serif}\n"
                   ".chart text{fill:#3c434c}.chart .title{font-weight:600;font-size:13.5px;"
                   "fill:#14181d}\n"
                   ".chart .tick,.chart .value{font-size:11px}.chart .axis{stroke:#5d6671;"
                   "stroke-width:1;fill:none}\n"
                   ".chart .grid{stroke:#dfe3e8;stroke-width:1;fill:none}\n"
                   ".chart .line{fill:none;stroke:currentColor;stroke-width:1.8;"
                   "stroke-linejoin:round;stroke-linecap:round}.chart .thin{stroke-width:1.4}\n"
                   ".chart .dot{fill:currentColor;stroke:#fff;stroke-width:.6}"
                   ".chart .hollow{fill:#fff;stroke:currentColor;stroke-width:1.6}\n"
                   ".chart .endless{opacity:.3;stroke-dasharray:2 3}\n"
                   ".chart .whisker,.chart .leader{fill:none;stroke:currentColor;stroke-width:1}"
                   ".chart .leader{opacity:.6}\n"
                   /* Bars are different in black and white too. */
                   ".chart .bar{fill:currentColor}.chart .bar.k1{opacity:.7}"
                   ".chart .bar.k2{opacity:.42}.chart .bar.k4{opacity:.6}"
                   ".chart .bar.k5{opacity:.35}\n"
                   ".chart .name{fill:currentColor;font-weight:600}\n"
                   ".chart .mark{stroke:#b00020;stroke-width:1.2;stroke-dasharray:4 3;fill:none}"
                   ".chart .flag{fill:#b00020}.chart text.fault{fill:#b00020;font-weight:600}\n"
                   ".chart .tint{opacity:.16}.chart .strip{opacity:.9}"
                   ".chart text.phase{fill:#fff;font-size:11px;font-weight:600}\n"
                   ".chart .hover{fill:transparent}.chart .hover:hover{fill:#14181d;opacity:.1}\n");
    for (unsigned i = 0; i < CHART_COLOURS; i++)
        text_printf(out, ".chart .k%u{color:%s}", i, light[i]);
    for (unsigned i = 0; i < CHART_BAND_COLOURS; i++)
        text_printf(out, ".chart .b%u{fill:%s}", i, bands[i]);
    text_puts(out, "\n@media screen and (prefers-color-scheme:dark){.chart text{fill:#c4cad2}"
                   ".chart .title{fill:#f0f2f5}.chart .axis{stroke:#98a1ac}"
                   ".chart .grid{stroke:#2f363e}.chart .dot{stroke:#181c21}"
                   ".chart .hollow{fill:#181c21}.chart .name{fill:currentColor}"
                   ".chart text.phase{fill:#fff}.chart .tint{opacity:.26}"
                   ".chart .mark{stroke:#ff7b8a}.chart .flag,.chart text.fault{fill:#ff7b8a}"
                   ".chart .hover:hover{fill:#fff}");
    for (unsigned i = 0; i < CHART_COLOURS; i++)
        text_printf(out, ".chart .k%u{color:%s}", i, dark[i]);
    text_puts(out, "}\n");
}

/* ---- pens ---- */

static double range_fraction(const struct chart_range *range, double value)
{
    if (range->log)
        return log10(value / range->low) / log10(range->high / range->low);
    return (value - range->low) / (range->high - range->low);
}

double svg_picture_width(const struct chart *first)
{
    return first->width > 0 ? first->width : SVG_WIDTH;
}

double frame_x(const struct frame *frame, double value)
{
    return frame->left + range_fraction(&frame->x, value) * frame->width;
}

double frame_y(const struct frame *frame, double value)
{
    return frame->top + (1 - range_fraction(&frame->y, value)) * frame->height;
}

bool frame_shows(const struct frame *frame, double x, double y)
{
    return x >= frame->x.low && x <= frame->x.high && y >= frame->y.low && y <= frame->y.high;
}

double svg_text_width(const char *text)
{
    size_t length = markup_length(text);
    return SVG_LETTER * (double)(length > SVG_LABEL_LETTERS ? SVG_LABEL_LETTERS : length);
}

/* The number of letters that fit into a width; a letter of a title is wider. */
static size_t letters_in(double width, bool title)
{
    return (size_t)fmax(width / (title ? 9 : SVG_LETTER), 3);
}

static void put_text_limited(struct text *out, double x, double y, const char *anchor,
                             const char *class, const char *text, size_t letters)
{
    text_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">", x, y, anchor,
                class);
    markup_put_short(out, text, letters);
    if (markup_length(text) > letters) {
        text_puts(out, "<title>");
        markup_put(out, text);
        text_puts(out, "</title>");
    }
    text_puts(out, "</text>\n");
}

void svg_put_text(struct text *out, double x, double y, const char *anchor, const char *class,
                  const char *text)
{
    put_text_limited(out, x, y, anchor, class, text, SVG_LABEL_LETTERS);
}

void svg_put_marker(struct text *out, double x, double y, const struct chart_group *group,
                    bool hollow, const char *title)
{
    static const char *const shapes[CHART_SHAPES + 1] = {
        "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0 -7.2 0z", /* circle */
        "m-3.3 -3.3h6.6v6.6h-6.6z",                          /* square */
        "m0 -4.4l4.2 7.4h-8.4z",                             /* triangle */
        "m0 -4.6l4.6 4.6l-4.6 4.6l-4.6 -4.6z",               /* diamond */
        "m0 4.4l4.2 -7.4h-8.4z",                             /* inverted triangle */
        "m0 -7l1.8 5.2l5.2 1.8l-5.2 1.8l-1.8 5.2l-1.8 -5.2l-5.2 -1.8l5.2 -1.8z", /* star */
    };
    text_printf(out, "<path class=\"%s k%u\" d=\"M%.1f %.1f%s\"", hollow ? "hollow" : "dot",
                group->colour, x, y, shapes[group->shape]);
    if (!title) {
        text_puts(out, "/>\n");
        return;
    }
    text_puts(out, "><title>");
    markup_put(out, title);
    text_puts(out, "</title></path>\n");
}

/* ---- axes ---- */

static const char *tick_text(const struct chart_range *range, const struct chart_axis *axis,
                             double value, unsigned decimals, char buffer[QUANTITY_BYTES])
{
    return range->log ? quantity_short(value * range->factor, axis->unit, buffer)
                      : quantity_number(value, decimals, buffer);
}

static unsigned y_ticks(const struct frame *frame)
{
    return (unsigned)(frame->height / Y_TICK_PITCH) + 1;
}

static void draw_y_axis(const struct frame *frame)
{
    char title[160], number[QUANTITY_BYTES];
    const struct chart_range *y = &frame->y;
    double low = y->low / y->factor, high = y->high / y->factor;
    if (frame->chart->groups.count == 0)
        return; /* only bands and marks */
    struct quantity_ticks ticks =
        y->log ? quantity_ticks_log(low, high) : quantity_ticks(low, high, y_ticks(frame));
    for (unsigned i = 0; i < ticks.count; i++) {
        double at = frame_y(frame, ticks.at[i] * y->factor);
        text_printf(frame->out, "<path class=\"grid\" d=\"M%.1f %.1fh%.1f\"/>\n", frame->left, at,
                    frame->width);
        svg_put_text(frame->out, frame->left - 7, at + 4, "end", "tick",
                     tick_text(y, &frame->chart->y, ticks.at[i], ticks.decimals, number));
    }
    chart_axis_title(&frame->chart->y, y, title, sizeof title);
    if (title[0])
        put_text_limited(frame->out, 6, frame->top - 8, "start", "ylabel", title,
                         letters_in(svg_picture_width(frame->chart) - 12, false));
}

static void draw_categories(const struct frame *frame, double bottom)
{
    const struct chart *chart = frame->chart;
    double slot = frame->width / (double)chart->categories.count;
    size_t stride = (size_t)ceil(22 / slot); /* room for three letters */
    size_t letters = (size_t)(slot * (double)stride / 6.8);
    for (size_t i = 0; i < chart->categories.count; i += stride)
        put_text_limited(frame->out, frame_x(frame, (double)i), bottom + 16, "middle", "tick",
                         chart->categories.items[i], letters);
}

static void draw_x_ticks(const struct frame *frame, double bottom)
{
    char number[QUANTITY_BYTES];
    const struct chart_range *x = &frame->x;
    double low = x->low / x->factor, high = x->high / x->factor;
    unsigned wanted = (unsigned)(frame->width / X_TICK_PITCH) + 1;
    struct quantity_ticks ticks =
        x->log ? quantity_ticks_log(low, high) : quantity_ticks(low, high, wanted);
    for (unsigned i = 0; i < ticks.count; i++) {
        double at = frame_x(frame, ticks.at[i] * x->factor);
        text_printf(frame->out, "<path class=\"axis\" d=\"M%.1f %.1fv4\"/>\n", at, bottom);
        tick_text(x, &frame->chart->x, ticks.at[i], ticks.decimals, number);
        double most = svg_picture_width(frame->chart) - svg_text_width(number) / 2;
        svg_put_text(frame->out, fmin(at, most), bottom + 17, "middle", "tick", number);
    }
}

static void draw_x_axis(const struct frame *frame)
{
    char title[160];
    double bottom = frame->top + frame->height;
    if (frame->chart->categories.count)
        draw_categories(frame, bottom);
    else
        draw_x_ticks(frame, bottom);
    chart_axis_title(&frame->chart->x, &frame->x, title, sizeof title);
    if (title[0])
        put_text_limited(frame->out, frame->left + frame->width / 2, bottom + 35, "middle",
                         "xlabel", title, letters_in(frame->width, false));
}

/* ---- bands and marks ---- */

/* The pixels of a band, clipped to the frame and at least 1.2 wide; false if outside. */
static bool band_pixels(const struct frame *frame, const struct chart_band *band, double *left,
                        double *width)
{
    double from = fmax(band->from, frame->x.low), to = fmin(band->to, frame->x.high);
    if (!(to >= from))
        return false;
    *left = frame_x(frame, from);
    *width = fmax(frame_x(frame, to) - *left, 1.2);
    return true;
}

static void draw_tints(const struct frame *frame, const struct chart *first)
{
    double left, width;
    for (size_t i = 0; i < first->bands.count; i++)
        if (band_pixels(frame, &first->bands.items[i], &left, &width))
            text_printf(frame->out,
                        "<rect class=\"tint b%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                        "height=\"%.1f\"/>\n",
                        first->bands.items[i].colour, left, frame->top, width, frame->height);
}

static void draw_strip(const struct frame *frame, double top)
{
    double left, width;
    for (size_t i = 0; i < frame->chart->bands.count; i++) {
        const struct chart_band *band = &frame->chart->bands.items[i];
        char label[160];
        if (!band_pixels(frame, band, &left, &width))
            continue;
        snprintf(label, sizeof label, "%.60s %.60s", band->name, band->detail);
        text_printf(frame->out,
                    "<g><rect class=\"strip b%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                    "height=\"%d\"/><title>",
                    band->colour, left, top, width, STRIP_HEIGHT);
        markup_put(frame->out, label);
        text_puts(frame->out, "</title>");
        const char *shown = svg_text_width(label) < width - 6        ? label
                            : svg_text_width(band->name) < width - 4 ? band->name
                                                                     : "";
        if (shown[0])
            put_text_limited(frame->out, left + width / 2, top + 14, "middle", "phase", shown, 90);
        text_puts(frame->out, "</g>\n");
    }
}

/* Labels beside the flags, in two rows; a label without room is only a hover title. */
static void draw_marks(const struct frame *frames, size_t count, double flags, unsigned rows)
{
    const struct frame *frame = &frames[0];
    double end[2] = {0, 0};
    for (size_t i = 0; i < frame->chart->marks.count; i++) {
        const struct chart_mark *mark = &frame->chart->marks.items[i];
        if (!(mark->x >= frame->x.low && mark->x <= frame->x.high))
            continue;
        double x = frame_x(frame, mark->x), width = svg_text_width(mark->label) * 1.05 + 8;
        bool flip = x + width > svg_picture_width(frame->chart) - 4;
        double from = flip ? x - width : x;
        unsigned row = from >= end[0] ? 0 : 1;
        text_puts(frame->out, "<g><path class=\"mark\" d=\"");
        for (size_t p = 0; p < count; p++)
            text_printf(frame->out, "M%.1f %.1fV%.1f", x, frames[p].top,
                        frames[p].top + frames[p].height);
        text_printf(frame->out, "\"/><path class=\"flag\" d=\"M%.1f %.1fl-4 -7h8z\"/><title>", x,
                    flags);
        markup_put(frame->out, mark->label);
        text_puts(frame->out, "</title></g>\n");
        if (row >= rows || from < end[row] || i >= MARKS_NAMED)
            continue;
        svg_put_text(frame->out, flip ? x - 7 : x + 7, flags - 4 - row * (SVG_LINE - 2),
                     flip ? "end" : "start", "fault", mark->label);
        end[row] = from + width;
    }
}

/* ---- hover ---- */

/* The last point at or before x, or NULL. */
static const struct chart_point *point_at(const struct chart_group *group, double x)
{
    size_t after;
    lower_bound(after, group->points.count, group->points.items[after].x <= x);
    return after ? &group->points.items[after - 1] : NULL;
}

static bool has_curves(const struct chart *chart)
{
    for (size_t g = 0; g < chart->groups.count; g++)
        if (chart->groups.items[g].style == CHART_LINES ||
            chart->groups.items[g].style == CHART_STEPS)
            return true;
    return false;
}

static void put_slice_title(const struct frame *frames, size_t count, double x, struct text *out)
{
    char number[QUANTITY_BYTES];
    struct text title = {0};
    const struct chart *first = frames[0].chart;
    text_printf(&title, "%s: %s", first->x.label, quantity_text(x, first->x.unit, number));
    for (size_t i = 0; i < first->bands.count; i++)
        if (x >= first->bands.items[i].from && x < first->bands.items[i].to)
            text_printf(&title, "\nphase: %s", first->bands.items[i].name);
    for (size_t f = 0; f < count; f++) {
        const struct chart *chart = frames[f].chart;
        for (size_t g = 0; g < chart->groups.count; g++) {
            const struct chart_group *group = &chart->groups.items[g];
            const struct chart_point *point = point_at(group, x);
            if (point && isfinite(point->y))
                text_printf(&title, "\n%s%s%s: %s", chart->y.label, group->name[0] ? ", " : "",
                            group->name, quantity_text(point->y, chart->y.unit, number));
        }
    }
    markup_put(out, title.data);
    text_release(&title);
}

static void draw_hover(const struct frame *frames, size_t count)
{
    const struct frame *last = &frames[count - 1];
    double top = frames[0].top, height = last->top + last->height - top;
    double width = last->width / HOVER_SLICES;
    if (!has_curves(frames[0].chart) || last->x.log)
        return;
    for (unsigned i = 0; i < HOVER_SLICES; i++) {
        double x = last->x.low + (i + 0.5) / HOVER_SLICES * (last->x.high - last->x.low);
        text_printf(last->out,
                    "<rect class=\"hover\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                    "<title>",
                    last->left + i * width, top, width, height);
        put_slice_title(frames, count, x, last->out);
        text_puts(last->out, "</title></rect>\n");
    }
}

/* ---- key ---- */

struct key {
    struct text *out; /* NULL: only measure */
    double x, y, width;
};

/* Advances to the position of the next entry. */
static void key_advance(struct key *key, double text_width, double *x, double *y)
{
    double width = text_width + 34;
    if (key->x + width > key->width && key->x > MARGIN_LEFT) {
        key->x = MARGIN_LEFT;
        key->y += SVG_LINE + 2;
    }
    *x = key->x;
    *y = key->y;
    key->x += width;
}

static bool is_first_of_name(const struct chart *chart, size_t band)
{
    for (size_t i = 0; i < band; i++)
        if (strcmp(chart->bands.items[i].name, chart->bands.items[band].name) == 0)
            return false;
    return true;
}

static void key_add_box(struct key *key, const char *class, unsigned colour, const char *text)
{
    double x, y;
    key_advance(key, svg_text_width(text), &x, &y);
    if (!key->out)
        return;
    text_printf(key->out,
                "<rect class=\"%s%u\" x=\"%.1f\" y=\"%.1f\" width=\"11\" height=\"11\"/>\n", class,
                colour, x, y - 9);
    svg_put_text(key->out, x + 16, y, "start", "key", text);
}

static void key_add_line(struct key *key, const struct chart_group *group)
{
    double x, y;
    key_advance(key, svg_text_width(group->name), &x, &y);
    if (!key->out)
        return;
    if (group->style != CHART_POINTS)
        text_printf(key->out, "<path class=\"line k%u\" d=\"M%.1f %.1fh14\"/>\n", group->colour,
                    x - 1, y - 4);
    if (group->style == CHART_LINES_POINTS || group->style == CHART_POINTS)
        svg_put_marker(key->out, x + 6, y - 4, group, false, NULL);
    svg_put_text(key->out, x + 18, y, "start", "key", group->name);
}

/* The key: entries without a label in the chart. Returns its height. */
static double draw_key(const struct chart *charts, size_t count, double height, double top,
                       struct text *out)
{
    static const struct chart_group neutral = {.colour = CHART_COLOURS - 2};
    struct chart_range x_range = chart_x_range(charts, count);
    struct key key = {
        .out = out, .x = MARGIN_LEFT, .y = top + SVG_LINE, .width = svg_picture_width(&charts[0])};
    bool hollow = false;
    for (unsigned colour = 0; colour < CHART_BAND_COLOURS; colour++)
        for (size_t i = 0; i < charts[0].bands.count; i++)
            if (charts[0].bands.items[i].colour == colour && is_first_of_name(&charts[0], i))
                key_add_box(&key, "b", colour, charts[0].bands.items[i].name);
    for (size_t c = 0; c < count; c++) {
        bool labelled = frame_labels_fit(&charts[c], &x_range, height);
        for (size_t g = 0; g < charts[c].groups.count; g++) {
            const struct chart_group *group = &charts[c].groups.items[g];
            for (size_t i = 0; i < group->points.count; i++)
                hollow |= group->points.items[i].hollow;
            if (!group->name[0] || labelled)
                continue;
            if (group->style >= CHART_BARS)
                key_add_box(&key, "bar k", group->colour, group->name);
            else
                key_add_line(&key, group);
        }
    }
    if (hollow && charts[0].hollow_note[0]) {
        double x, y;
        key_advance(&key, SVG_LETTER * (double)markup_length(charts[0].hollow_note), &x, &y);
        if (out) {
            svg_put_marker(out, x + 6, y - 4, &neutral, true, NULL);
            put_text_limited(out, x + 18, y, "start", "key", charts[0].hollow_note,
                             letters_in(key.width - x - 18, false));
        }
    }
    bool any = key.x > MARGIN_LEFT || key.y > top + SVG_LINE;
    return any ? key.y - top + 8 : 0;
}

/* ---- all together ---- */

struct layout {
    double title, strip, first, panel, gap, key, height;
    double label_room;
    unsigned mark_rows; /* rows of labels: 0 … 2 */
};

static struct layout make_layout(const struct chart *charts, size_t count)
{
    struct layout layout = {0};
    struct chart_range x = chart_x_range(charts, count);
    double y = 4;
    layout.panel = charts[0].height > 0          ? charts[0].height
                   : charts[0].groups.count == 0 ? BARE_PANEL_HEIGHT
                   : count > 1                   ? SMALL_PANEL_HEIGHT
                                                 : PANEL_HEIGHT;
    layout.gap = 30;
    layout.title = y;
    y += charts[0].title[0] ? SVG_LINE + 6 : 0;
    layout.mark_rows = charts[0].marks.count > 2 ? 2 : (unsigned)charts[0].marks.count;
    y += layout.mark_rows * SVG_LINE;
    layout.strip = y;
    y += charts[0].bands.count ? STRIP_HEIGHT + 4 : 0;
    layout.first = y + SVG_LINE + 8; /* the y title is above its axis */
    double bottom = layout.first + (double)count * layout.panel + (double)(count - 1) * layout.gap;
    layout.key = bottom + 24 + (charts[0].x.label[0] ? SVG_LINE : 0);
    layout.height = layout.key + draw_key(charts, count, layout.panel, layout.key, NULL) + 2;
    for (size_t i = 0; i < count; i++)
        if (frame_labels_fit(&charts[i], &x, layout.panel))
            layout.label_room = fmax(layout.label_room, frame_label_room(&charts[i]));
    layout.label_room = fmax(layout.label_room, 20);
    return layout;
}

static void draw_panel(const struct frame *frame, const struct chart *first)
{
    draw_tints(frame, first);
    draw_y_axis(frame);
    /* An inner <svg> clips the data; unlike a clip path it needs no unique id. */
    text_printf(frame->out,
                "<svg x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" viewBox=\"%.1f %.1f "
                "%.1f %.1f\">\n",
                frame->left - 6, frame->top - 14, frame->width + 12, frame->height + 18,
                frame->left - 6, frame->top - 14, frame->width + 12, frame->height + 18);
    frame_draw_groups(frame);
    text_puts(frame->out, "</svg>\n");
    text_printf(frame->out, "<path class=\"axis\" d=\"M%.1f %.1fv%.1fh%.1f\"/>\n", frame->left,
                frame->top, frame->height, frame->width);
    if (frame_labels_fit(frame->chart, &frame->x, frame->height))
        frame_draw_labels(frame);
}

void chart_svg_write(const struct chart *charts, size_t count, struct text *out)
{
    assert(count > 0);
    struct layout layout = make_layout(charts, count);
    struct frame *frames = mem_zalloc(count, sizeof *frames);
    text_printf(out, "<svg class=\"chart\" viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
                svg_picture_width(&charts[0]), ceil(layout.height));
    text_puts(out, "<title>");
    markup_put(out, charts[0].title[0] ? charts[0].title : charts[0].y.label);
    text_puts(out, "</title>\n");
    if (charts[0].title[0])
        put_text_limited(out, 6, layout.title + SVG_LINE - 2, "start", "title", charts[0].title,
                         letters_in(svg_picture_width(&charts[0]) - 12, true));
    for (size_t i = 0; i < count; i++) {
        struct frame *frame = &frames[i];
        *frame = (struct frame){.chart = &charts[i], .left = MARGIN_LEFT, .out = out};
        frame->top = layout.first + (double)i * (layout.panel + layout.gap);
        frame->width = svg_picture_width(&charts[0]) - MARGIN_LEFT - layout.label_room;
        frame->height = layout.panel;
        frame->x = chart_x_range(charts, count);
        frame->y = chart_y_range(&charts[i], &frame->x, y_ticks(frame));
        draw_panel(frame, &charts[0]);
    }
    draw_x_axis(&frames[count - 1]);
    draw_hover(frames, count);
    draw_strip(&frames[0], layout.strip);
    draw_marks(frames, count, layout.strip, layout.mark_rows);
    draw_key(charts, count, layout.panel, layout.key, out);
    text_puts(out, "</svg>\n");
    mem_free(frames);
}
