/* The wider a link, the thicker its line. The fastest speed of the fabric is a solid dark line;
 * slower speeds have other colours and dashes, which are different without colour too. */
#include "topology/drawing/draw_links.h"

enum { RANKS = 4 };
static const struct {
    const char *colour, *style;
    unsigned dash, gap; /* of the sample, in points; gap 0: solid */
} lines[RANKS] = {{"#40505f", "solid", 36, 0},
                  {"#c05a00", "dashed", 9, 5},
                  {"#7d3f98", "dotted", 3, 4},
                  {"#1b7f5c", "dashed", 4, 10}};

static double line_width(const struct link_styles *styles, unsigned width)
{
    double points = 0.5 + 0.2 * link_width_multiple(width);
    return styles->dense ? points / 2 : points;
}

void link_styles_init(struct link_styles *styles, const struct topology *topology, bool dense)
{
    bool used[SPEED_COUNT] = {0};
    *styles = (struct link_styles){.dense = dense};
    styles->count = topology_count_links(topology, styles->counts);
    for (size_t i = 0; i < styles->count; i++)
        used[styles->counts[i].speed] = true;
    for (unsigned speed = SPEED_COUNT, rank = 0; speed-- > 0;)
        if (used[speed])
            styles->rank[speed] = rank < RANKS ? rank++ : RANKS - 1;
}

void link_styles_put(const struct link_styles *styles, const struct topology_port *port,
                     struct text *out)
{
    unsigned rank = styles->rank[port->speed];
    text_printf(out, "color=\"%s%s\", style=%s, penwidth=%.1f", lines[rank].colour,
                styles->dense ? "80" : "", lines[rank].style, line_width(styles, port->width));
}

/* A cell of the sample; without colour a gap. The table of the sample has no other height. */
static void put_dash(struct text *out, unsigned length, double height, const char *colour)
{
    text_printf(out, "<td fixedsize=\"true\" width=\"%u\" height=\"%.0f\"", length,
                height < 1 ? 1 : height);
    if (colour)
        text_printf(out, " bgcolor=\"%s\"", colour);
    text_puts(out, "></td>");
}

void link_styles_put_legend(const struct link_styles *styles, struct text *out)
{
    enum { SAMPLE = 38 };
    for (size_t i = styles->count; i-- > 0;) {
        const struct link_count *count = &styles->counts[i];
        unsigned rank = styles->rank[count->speed];
        unsigned dash = lines[rank].dash, gap = lines[rank].gap;
        unsigned dashes = (SAMPLE + gap) / (dash + gap);
        double height = line_width(styles, count->width);
        text_printf(out,
                    "<td><table border=\"0\" cellborder=\"0\" cellspacing=\"0\" cellpadding=\"0\" "
                    "fixedsize=\"true\" width=\"%u\" height=\"%.0f\" align=\"right\"><tr>",
                    dashes * (dash + gap) - gap, height < 1 ? 1 : height);
        for (unsigned d = 0; d < dashes; d++) {
            if (d)
                put_dash(out, gap, height, NULL);
            put_dash(out, dash, height, lines[rank].colour);
        }
        text_printf(out, "</tr></table></td><td align=\"left\">%s %s: %u link%s   </td>",
                    link_width_name(count->width), link_speed_name(count->speed), count->links,
                    count->links == 1 ? "" : "s");
    }
}
