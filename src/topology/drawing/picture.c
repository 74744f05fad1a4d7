/* Pictures as SVG and in the DOT language of Graphviz.
 *
 * The wider a link, the thicker its line. The fastest speed of the fabric is a solid dark line;
 * slower speeds have other colours and dashes, which are different without colour too. Lines go
 * from middle to middle; boxes cover their ends. */
#include "topology/drawing/picture.h"

#include <math.h>

static const struct {
    const char *fill, *line;
} colours[PICTURE_COLOURS] = {
    {"#dbe9f6", "#3b6ea5"}, {"#fde5cb", "#c0722a"}, {"#dcefd8", "#4a8a46"}, {"#eadcf2", "#7d4f98"},
    {"#f7dada", "#a84848"}, {"#e2e2e2", "#5f5f5f"}, {"#d5f0ee", "#2f8580"}, {"#fff0b3", "#9a7b10"},
    {"#fbd9ec", "#b0457f"}, {"#e6efc4", "#6f7f1f"}, {"#d6d9f7", "#4a52a8"}, {"#ead9cc", "#7f5a3c"},
};

enum { RANKS = 4 };
static const struct {
    const char *colour, *dashes;
} strokes[RANKS] = {{"#40505f", ""}, {"#c05a00", "9 5"}, {"#7d3f98", "3 4"}, {"#1b7f5c", "4 10"}};

enum { MARGIN = 22, HEADER = 78, WIDTH_LEAST = 480 };
static const double points = 72, letter_width = 5.6; /* of an inch; of the legend's letters */

static unsigned rank_of(const struct picture *picture, unsigned speed)
{
    return picture->rank[speed] < RANKS ? picture->rank[speed] : RANKS - 1;
}

static void put_stroke(const struct picture *picture, unsigned width, unsigned speed,
                       struct text *out)
{
    double thickness = 0.5 + 0.2 * link_width_multiple(width);
    unsigned rank = rank_of(picture, speed);
    text_printf(out, " stroke=\"%s\" stroke-width=\"%.1f\"", strokes[rank].colour,
                picture->dense ? thickness / 2 : thickness);
    if (strokes[rank].dashes[0])
        text_printf(out, " stroke-dasharray=\"%s\"", strokes[rank].dashes);
    text_puts(out, picture->dense ? " stroke-opacity=\"0.5\"" : "");
}

/* ---- SVG ---- */

/* The area of all boxes, in inches, and what the coordinates of the file need. */
struct drawn_area {
    double left, right, top, bottom, scale; /* scale: of title and legend, larger if it is wide */
};

static struct drawn_area measure(const struct picture *picture)
{
    struct drawn_area view = {INFINITY, -INFINITY, -INFINITY, INFINITY, 1};
    for (size_t i = 0; i < picture->boxes.count; i++) {
        const struct picture_box *box = &picture->boxes.items[i];
        view.left = fmin(view.left, box->x - box->width / 2);
        view.right = fmax(view.right, box->x + box->width / 2);
        view.top = fmax(view.top, box->y + box->height / 2);
        view.bottom = fmin(view.bottom, box->y - box->height / 2);
    }
    for (size_t i = 0; i < picture->lines.count; i++) /* room for lines below the last row */
        if (picture->lines.items[i].bent)
            view.bottom =
                fmin(view.bottom, picture->boxes.items[picture->lines.items[i].from].y - 0.8);
    if (!picture->boxes.count)
        view.left = view.right = view.top = view.bottom = 0;
    view.scale = fmax(1, (view.right - view.left) / 14);
    return view;
}

struct svg_point {
    double x, y;
};

static struct svg_point place_of(const struct drawn_area *view, double x, double y)
{
    return (struct svg_point){MARGIN + (x - view->left) * points,
                              MARGIN + HEADER * view->scale + (view->top - y) * points};
}

static void put_text(struct text *out, struct svg_point at, const char *class, const char *text)
{
    text_printf(out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, at.x, at.y);
    text_put_markup(out, text);
    text_puts(out, "</text>\n");
}

/* Writes the number of a port outside the box, on the line to `to`. */
static void put_port(struct text *out, const struct picture_box *box, struct svg_point at,
                     struct svg_point to, unsigned port, double extra)
{
    char number[16];
    double dx = to.x - at.x, dy = to.y - at.y, length = hypot(dx, dy);
    double half_width = box->width * points / 2, half_height = box->height * points / 2;
    if (!port || length == 0)
        return;
    double inside = fmin(dx ? half_width / fabs(dx) : 1, dy ? half_height / fabs(dy) : 1);
    double along = fmin(inside + (10 + extra) / length, 0.5);
    snprintf(number, sizeof number, "%u", port);
    put_text(out, (struct svg_point){at.x + along * dx, at.y + along * dy + 3}, "p", number);
}

/* Where a line begins and ends, and its middle. */
struct drawn_line {
    struct svg_point a, b, middle;
};

static struct drawn_line lay_line(const struct picture *picture, const struct drawn_area *view,
                                  const struct picture_line *line)
{
    const struct picture_box *from = &picture->boxes.items[line->from];
    const struct picture_box *to = &picture->boxes.items[line->to];
    struct svg_point a = place_of(view, from->x, from->y), b = place_of(view, to->x, to->y);
    double length = hypot(b.x - a.x, b.y - a.y);
    double across = length > 0 ? line->shift / length : 0;
    struct svg_point shift = {-(b.y - a.y) * across, (b.x - a.x) * across};
    a = (struct svg_point){a.x + shift.x, a.y + shift.y};
    b = (struct svg_point){b.x + shift.x, b.y + shift.y};
    struct svg_point middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
    if (line->bent)
        middle.y += 34 + fmin(0.12 * length, 46);
    return (struct drawn_line){a, b, middle};
}

static void put_line(const struct picture *picture, const struct drawn_area *view,
                     const struct picture_line *line, struct text *out)
{
    struct drawn_line at = lay_line(picture, view, line);
    text_puts(out, line->marked ? "<g data-touched=\"yes\">" : "");
    text_printf(out, "<path fill=\"none\" d=\"M%.1f %.1f", at.a.x, at.a.y);
    text_printf(out, line->bent ? "Q%.1f %.1f" : "", at.middle.x, at.middle.y);
    text_printf(out, "%s%.1f %.1f\"", line->bent ? " " : "L", at.b.x, at.b.y);
    if (line->port)
        put_stroke(picture, line->port->width, line->port->speed, out);
    else
        text_puts(out, " stroke=\"#40505f\" stroke-width=\"2\"");
    text_puts(out, line->marked ? "/></g>\n" : "/>\n");
}

/* Of the ports, and of the links that the line stands for. */
static void put_numbers(const struct picture *picture, const struct drawn_area *view,
                        const struct picture_line *line, struct text *out)
{
    struct drawn_line at = lay_line(picture, view, line);
    double extra = 7 * ((line->from + line->to) % 3);
    put_port(out, &picture->boxes.items[line->from], at.a, line->bent ? at.middle : at.b,
             line->from_port, extra);
    put_port(out, &picture->boxes.items[line->to], at.b, line->bent ? at.middle : at.a,
             line->to_port, extra);
    if (line->count) {
        char number[24];
        snprintf(number, sizeof number, line->port ? "×%u" : "%u", line->count);
        put_text(out, (struct svg_point){at.middle.x, at.middle.y + 3}, "p", number);
    }
}

static void put_label(const struct drawn_area *view, const struct picture_box *box,
                      struct text *out)
{
    bool is_frame = box->shape == SHAPE_FRAME;
    struct svg_point at = place_of(view, box->x, box->y);
    double lines = box->detail[0] ? 2 : 8; /* the base line of the label, from the middle */
    at.y += is_frame ? 19 - box->height * points / 2 : lines - 4;
    if (box->label[0])
        put_text(out, at, is_frame ? "f" : box->letter == 'h' ? "h" : "s", box->label);
    if (box->detail[0])
        put_text(out, (struct svg_point){at.x, at.y + 12}, "d", box->detail);
}

static void put_box(const struct drawn_area *view, const struct picture_box *box, struct text *out)
{
    struct svg_point at = place_of(view, box->x, box->y);
    double width = box->width * points, height = box->height * points;
    const char *fill = box->letter == 'h'          ? box->colour ? "#fff3b8" : "#f6f6f6"
                       : box->shape == SHAPE_FRAME ? "none"
                                                   : colours[box->colour % PICTURE_COLOURS].fill;
    const char *stroke = box->letter == 'h'          ? "#999999"
                         : box->shape == SHAPE_FRAME ? "#8a94a0"
                                                     : colours[box->colour % PICTURE_COLOURS].line;
    text_puts(out, box->marked ? "<g data-touched=\"yes\">" : "<g>");
    if (box->name[0]) {
        text_puts(out, "<title>");
        text_put_markup(out, box->name);
        text_puts(out, "</title>");
    }
    if (box->shape == SHAPE_POINT)
        text_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>", at.x, at.y,
                    stroke);
    else if (box->shape == SHAPE_ROUND)
        text_printf(out,
                    "<ellipse cx=\"%.1f\" cy=\"%.1f\" rx=\"%.1f\" ry=\"%.1f\" fill=\"%s\" "
                    "stroke=\"%s\" stroke-width=\"%s\"/>",
                    at.x, at.y, width / 2, height / 2, fill, stroke, box->thick ? "2.8" : "1");
    else
        text_printf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"5\" "
                    "fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"%s/>",
                    at.x - width / 2, at.y - height / 2, width, height, fill, stroke,
                    box->thick ? "2.8" : "1",
                    box->shape == SHAPE_FRAME ? " stroke-dasharray=\"4 3\"" : "");
    text_putc(out, '\n');
    if (box->shape != SHAPE_FRAME)
        put_label(view, box, out);
    text_puts(out, "</g>\n");
}

/* The text of an entry behind its sample; moves x to the next one. */
static void put_entry(struct text *out, double *x, double y, double scale, const char *text)
{
    put_text(out, (struct svg_point){*x + 44 * scale, y + 4 * scale}, "l", text);
    *x += (62 + letter_width * (double)text_width(text)) * scale;
}

static void put_legend(const struct picture *picture, const struct drawn_area *view,
                       struct text *out)
{
    double x = MARGIN, scale = view->scale, y = MARGIN + 42 * scale;
    char text[64];
    for (size_t i = picture->count_count; i-- > 0;) {
        const struct link_count *count = &picture->counts[i];
        text_printf(out, "<path d=\"M%.1f %.1fh%.1f\"", x, y, 38 * scale);
        put_stroke(picture, count->width, count->speed, out);
        text_puts(out, "/>\n");
        snprintf(text, sizeof text, "%s %s: %u link%s", link_width_name(count->width),
                 link_speed_name(count->speed), count->links, count->links == 1 ? "" : "s");
        put_entry(out, &x, y, scale, text);
    }
    x = MARGIN;
    y += 18 * scale;
    uint32_t samples = picture->levels + picture->subnets;
    for (uint32_t i = 0; i < samples + picture->has_manager; i++) {
        bool manager = i == samples;
        text_printf(out,
                    "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
                    "stroke=\"%s\" stroke-width=\"%s\"/>\n",
                    x + 18 * scale, y - 5 * scale, 20 * scale, 10 * scale,
                    manager ? "none" : colours[i].fill, manager ? "#3b6ea5" : colours[i].line,
                    manager ? "2.8" : "1");
        if (picture->subnets)
            snprintf(text, sizeof text, "subnet %u", i + 1);
        else
            snprintf(text, sizeof text, i ? "%u hop%s above" : "switch with hosts", i,
                     i == 1 ? "" : "s");
        put_entry(out, &x, y, scale, manager ? "switch of the first node" : text);
    }
}

void picture_write_svg(const struct picture *picture, struct text *out)
{
    struct drawn_area view = measure(picture);
    double width = fmax(WIDTH_LEAST, (view.right - view.left) * points + 2 * MARGIN);
    double height = (view.top - view.bottom) * points + 2 * MARGIN + HEADER * view.scale;
    text_printf(out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"fabric\" width=\"%.0f\" "
                "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
                "font-family=\"Helvetica,Arial,sans-serif\">\n"
                /* Only below .fabric: in a page the rules would reach everything else, too. */
                "<style>.fabric text{text-anchor:middle;fill:#222}"
                ".fabric .s,.fabric .f{font-size:12px}"
                ".fabric .h{font-size:10px}.fabric .d{font-size:9px;fill:#666}"
                ".fabric .p{font-size:9px;fill:#555}.fabric .p,.fabric .f{paint-order:stroke;"
                "stroke:#fff;stroke-width:3px}.fabric .t,.fabric .l{text-anchor:start}"
                ".fabric .t{font-size:%.0fpx}.fabric .l{font-size:%.0fpx;fill:#333}</style>\n"
                "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n",
                width, height, width, height, 16 * view.scale, 11 * view.scale, width, height);
    put_text(out, (struct svg_point){MARGIN, MARGIN + 8 * view.scale}, "t", picture->title);
    put_text(out, (struct svg_point){MARGIN, MARGIN + 26 * view.scale}, "l", picture->subtitle);
    put_legend(picture, &view, out);
    for (size_t i = 0; i < picture->boxes.count; i++)
        if (picture->boxes.items[i].shape == SHAPE_FRAME)
            put_box(&view, &picture->boxes.items[i], out);
    for (size_t i = 0; i < picture->lines.count; i++)
        put_line(picture, &view, &picture->lines.items[i], out);
    for (size_t i = 0; i < picture->lines.count; i++) /* no line strikes them through */
        put_numbers(picture, &view, &picture->lines.items[i], out);
    for (size_t i = 0; i < picture->boxes.count; i++)
        if (picture->boxes.items[i].shape != SHAPE_FRAME)
            put_box(&view, &picture->boxes.items[i], out);
        else
            put_label(&view, &picture->boxes.items[i], out);
    text_puts(out, "</svg>\n");
}

/* ---- DOT ---- */

/* A quoted string; Graphviz refuses text that is not UTF-8. */
static void put_quoted(struct text *out, const char *text)
{
    for (size_t bytes; *text; text += bytes ? bytes : 1) {
        bytes = text_utf8_length(text);
        text_puts(out, *text == '"' || *text == '\\' ? "\\" : "");
        text_append(out, bytes ? text : "\xef\xbf\xbd", bytes ? bytes : 3);
    }
}

void picture_write_dot(const struct picture *picture, struct text *out)
{
    static const char *const shapes[] = {"box", "ellipse", "point", "box"};
    text_puts(out, "graph fabric {\n  graph [splines=line, labelloc=t, label=\"");
    put_quoted(out, picture->title);
    text_printf(out, "\\n%s\"]\n  node [style=filled]\n", picture->subtitle);
    for (size_t i = 0; i < picture->boxes.count; i++) {
        const struct picture_box *box = &picture->boxes.items[i];
        bool is_frame = box->shape == SHAPE_FRAME;
        text_printf(out, "  %c%u [pos=\"%.2f,%.2f!\", shape=%s, width=%.2f, height=%.2f, label=\"",
                    box->letter, box->number, box->x, box->y, shapes[box->shape], box->width,
                    box->height);
        put_quoted(out, box->label);
        text_printf(out, box->detail[0] ? "\\n%s\"" : "\"", box->detail);
        if (is_frame)
            text_puts(out, ", style=dashed, fixedsize=true, labelloc=t");
        else if (box->letter != 'h')
            text_printf(out, ", fillcolor=\"%s\", color=\"%s\"",
                        colours[box->colour % PICTURE_COLOURS].fill,
                        colours[box->colour % PICTURE_COLOURS].line);
        text_puts(out, box->thick ? ", penwidth=2.8]\n" : "]\n");
    }
    for (size_t i = 0; i < picture->lines.count; i++) {
        const struct picture_line *line = &picture->lines.items[i];
        const struct picture_box *boxes = picture->boxes.items;
        text_printf(out, "  %c%u -- %c%u [color=\"%s\"", boxes[line->from].letter,
                    boxes[line->from].number, boxes[line->to].letter, boxes[line->to].number,
                    strokes[line->port ? rank_of(picture, line->port->speed) : 0].colour);
        if (line->from_port)
            text_printf(out, ", taillabel=\"%u\", headlabel=\"%u\"", line->from_port,
                        line->to_port);
        if (line->count)
            text_printf(out, line->port ? ", label=\"×%u\"" : ", label=\"%u\"", line->count);
        text_puts(out, "]\n");
    }
    text_puts(out, "}\n");
}
