/* Drawings in the DOT language of Graphviz.
 *
 * Small networks are drawn in full, with port numbers at the links and hosts one by one. In larger
 * ones port numbers are left out, parallel links become one line with a count, hosts a number in
 * their switch, and finally groups of switches one box. Networks with levels are drawn in
 * rows over the whole width, placed here (place_rows) and only rendered by neato; grids,
 * dragonflies and small regular networks are placed by layout.h, as are irregular ones whose names
 * have rooms; other irregular ones are left to dot, in
 * rows by distance from the manager's switch, as papers on up-down routing draw them; other
 * networks are left to a spring model. draw_links.h has the lines of links. */
#include "topology/drawing/export.h"

#include "topology/drawing/draw_links.h"
#include "topology/drawing/layout.h"
#include "topology/summary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETAILED_LINKS = 60, ROW_LIMIT = 100, RING_LIMIT = 48, SPRING_HOSTS = 16 };
enum { SWITCH_LETTERS = 28, HOST_LETTERS = 20, SHORT_LETTERS = 6 }; /* of names */

static const struct {
    const char *fill, *line;
} colours[] = {
    {"#dbe9f6", "#3b6ea5"}, {"#fde5cb", "#c0722a"}, {"#dcefd8", "#4a8a46"},
    {"#eadcf2", "#7d4f98"}, {"#f7dada", "#a84848"}, {"#e2e2e2", "#5f5f5f"},
};
enum { COLOURS = sizeof colours / sizeof colours[0] };

enum style {
    STYLE_ROWS,
    STYLE_DOT,
    STYLE_SPRINGS,
    STYLE_PLACED,
    STYLE_ROOMS,
    STYLE_POINTS,
    STYLE_GROUPS,
};
static const char *const programs[] = {"neato", "dot", "neato", "neato", "neato", "sfdp", "dot"};

struct drawing {
    const struct topology *topology;
    const struct graph *graph;
    struct drawing_limits limits;
    struct text *out;
    char kind[160];
    enum style style;
    uint32_t *level, level_count;
    uint32_t manager; /* switch of the first node, or next to it */
    bool layered, detailed, whole_hosts;
    bool points;                         /* switches are points without names */
    size_t switch_letters, host_letters; /* of the longest names that are shown */
    struct link_styles links;
    double scale;                /* of title and legend: larger in wide drawings */
    struct layout_point *places; /* STYLE_PLACED and STYLE_ROOMS: by switch */
    struct rooms rooms;
};

/* Text inside an HTML-like label. Graphviz refuses text that is not UTF-8: invalid bytes become
 * U+FFFD. */
static void put_label(struct text *out, const char *label, size_t letters)
{
    struct text name = {0};
    text_put_shortened(&name, label, letters);
    for (size_t i = 0, bytes; i < name.length; i += bytes ? bytes : 1) {
        bytes = text_utf8_length(name.data + i);
        if (bytes != 1) {
            text_append(out, bytes ? name.data + i : "\xef\xbf\xbd", bytes ? bytes : 3);
            continue;
        }
        switch (name.data[i]) {
        case '&': text_puts(out, "&amp;"); break;
        case '<': text_puts(out, "&lt;"); break;
        case '>': text_puts(out, "&gt;"); break;
        case '"': text_puts(out, "&quot;"); break;
        default: text_putc(out, name.data[i]);
        }
    }
    text_release(&name);
}

/* Cells of a row: a box in the colour of each level that has switches. */
static void put_level_legend(const struct drawing *drawing)
{
    struct text *out = drawing->out;
    uint32_t levels = drawing->level_count < COLOURS ? drawing->level_count : COLOURS;
    for (uint32_t i = 0; i < levels && levels > 1; i++) {
        text_printf(out,
                    "<td><table border=\"0\" cellspacing=\"0\" fixedsize=\"true\" "
                    "width=\"18\" height=\"11\" align=\"right\"><tr><td "
                    "fixedsize=\"true\" width=\"18\" height=\"11\" border=\"1\" bgcolor=\"%s\" "
                    "color=\"%s\"></td></tr></table></td><td align=\"left\">",
                    colours[i].fill, colours[i].line);
        if (i == 0)
            text_puts(out, "switch with hosts   </td>");
        else
            text_printf(out, "%u hop%s above   </td>", i, i == 1 ? "" : "s");
    }
    if (!drawing->points && drawing->style != STYLE_GROUPS && drawing->graph->switch_count > 1)
        text_puts(out, "<td><table border=\"0\" cellspacing=\"0\" fixedsize=\"true\" "
                       "width=\"18\" height=\"11\" align=\"right\"><tr><td "
                       "fixedsize=\"true\" width=\"18\" height=\"11\" border=\"3\" "
                       "color=\"#3b6ea5\"></td></tr></table></td><td align=\"left\">switch of "
                       "the first node</td>");
}

/* The title, and the legend below it. */
static void put_title(const struct drawing *drawing)
{
    struct text *out = drawing->out;
    text_printf(out,
                "label=<<table border=\"0\" cellborder=\"0\" cellspacing=\"2\"><tr><td><font "
                "point-size=\"%.0f\">%s</font></td></tr><tr><td>%u switches, %u host ports"
                "</td></tr>",
                16 * drawing->scale, drawing->kind, drawing->graph->switch_count,
                drawing->graph->host_count);
    text_puts(out, "<tr><td><table border=\"0\" cellborder=\"0\" cellspacing=\"3\"><tr>");
    if (drawing->links.count)
        link_styles_put_legend(&drawing->links, out);
    else
        text_puts(out, "<td></td>");
    text_puts(out, "</tr></table></td></tr><tr><td><table border=\"0\" cellborder=\"0\" "
                   "cellspacing=\"3\"><tr>");
    size_t before = out->length;
    put_level_legend(drawing);
    text_puts(out, out->length == before ? "<td></td></tr>" : "</tr>");
    text_puts(out, "</table></td></tr></table>>]\n");
}

static void put_head(const struct drawing *drawing)
{
    static const char *const layout[] = {
        [STYLE_ROWS] = "splines=line",
        [STYLE_DOT] = "splines=true, ranksep=0.7, nodesep=0.25",
        [STYLE_SPRINGS] = "splines=line, overlap=prism, start=1",
        [STYLE_PLACED] = "splines=line, overlap=scalexy",
        [STYLE_ROOMS] = "splines=line, overlap=true",
        [STYLE_POINTS] = "splines=line, overlap=prism, start=1",
        [STYLE_GROUPS] = "splines=line, ranksep=1.6, nodesep=0.2",
    };
    text_printf(drawing->out,
                "graph fabric {\n"
                "  graph [bgcolor=white, fontname=\"Helvetica\", fontsize=%.0f, "
                "fontcolor=\"#333333\", labelloc=t, pad=0.3, outputorder=edgesfirst, %s,\n    ",
                11 * drawing->scale, layout[drawing->style]);
    put_title(drawing);
    text_puts(drawing->out,
              "  node [shape=box, style=\"rounded,filled\", fontname=\"Helvetica\", fontsize=12, "
              "fontcolor=\"#222222\", height=0.35, width=0.5, margin=\"0.08,0.04\"]\n"
              "  edge [color=\"#40505f\", fontname=\"Helvetica\", fontsize=9, "
              "fontcolor=\"#555555\", labeldistance=1.6, labelangle=-17]\n");
}

static void put_switch(const struct drawing *drawing, uint32_t at)
{
    const struct graph *graph = drawing->graph;
    const struct topology_node *node = &drawing->topology->nodes.items[graph->node[at]];
    uint32_t hosts = graph->first_host[at + 1] - graph->first_host[at];
    unsigned colour = drawing->level[at] % COLOURS;
    text_printf(drawing->out, "  s%u [label=<", at);
    put_label(drawing->out, node->description, SWITCH_LETTERS);
    if (hosts && !drawing->whole_hosts)
        text_printf(drawing->out, /* with a gap below underscores of the name */
                    "<br/><font point-size=\"3\"> <br/></font>"
                    "<font point-size=\"9\" color=\"#666666\">%u host%s</font>",
                    hosts, hosts == 1 ? "" : "s");
    text_printf(drawing->out, ">, fillcolor=\"%s\", color=\"%s\"", colours[colour].fill,
                colours[colour].line);
    if (at == drawing->manager)
        text_puts(drawing->out, ", penwidth=2.8");
    text_puts(drawing->out, "]\n");
}

static void put_hosts(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    const struct topology *topology = drawing->topology;
    bool *drawn = mem_zalloc(topology->nodes.count, sizeof *drawn);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        for (uint32_t h = graph->first_host[i]; h < graph->first_host[i + 1]; h++) {
            uint32_t node = topology->ports.items[graph->host[h]].node;
            if (!drawn[node]) {
                text_printf(drawing->out, "  h%u [label=<", node);
                put_label(drawing->out, topology->nodes.items[node].description, HOST_LETTERS);
                text_printf(drawing->out,
                            ">, shape=%s, style=filled, fillcolor=\"%s\", "
                            "color=\"#999999\", fontsize=10, height=0.25, width=0.35%s]\n",
                            drawing->host_letters > SHORT_LETTERS ? "box" : "ellipse",
                            topology->nodes.items[node].kind == NODE_ROUTER ? "#fff3b8" : "#f6f6f6",
                            node == 0 ? ", penwidth=2.8" : "");
                drawn[node] = true;
            }
            text_printf(drawing->out, "  s%u -- h%u [", i, node);
            link_styles_put(&drawing->links, &topology->ports.items[graph->host[h]], drawing->out);
            if (drawing->detailed)
                text_printf(drawing->out, ", taillabel=\"%u\", headlabel=\"%u\"",
                            graph->host_port[h], topology_port_number(topology, graph->host[h]));
            text_puts(drawing->out, "]\n");
        }
    }
    mem_free(drawn);
}

static const struct topology_port *edge_port(const struct drawing *drawing, uint32_t at, uint32_t e)
{
    const struct topology *topology = drawing->topology;
    uint32_t node = drawing->graph->node[at];
    return &topology->ports.items[topology_port_index(topology, node, drawing->graph->port[e])];
}

/* The links of one switch to higher-numbered ones. The upper row comes first, so that dot draws it
 * above. */
static void put_links(const struct drawing *drawing, const uint32_t *row, uint32_t at)
{
    const struct graph *graph = drawing->graph;
    uint32_t begin = graph->first_edge[at], end = graph->first_edge[at + 1];
    for (uint32_t e = begin; e < end; e++) {
        uint32_t to = graph->neighbour[e], copies = 0, earlier = 0;
        const struct topology_port *port = edge_port(drawing, at, e);
        if (to < at)
            continue;
        for (uint32_t other = begin; other < end; other++) {
            const struct topology_port *twin = edge_port(drawing, at, other);
            bool same = graph->neighbour[other] == to && twin->width == port->width &&
                        twin->speed == port->speed;
            copies += same;
            earlier += other < e && same;
        }
        bool down = row[at] <= row[to];
        if (!drawing->detailed && earlier)
            continue;
        text_printf(drawing->out, "  s%u -- s%u [", down ? at : to, down ? to : at);
        link_styles_put(&drawing->links, port, drawing->out);
        if (drawing->detailed) /* lines at nearly the same angle: labels at different distances */
            text_printf(drawing->out, ", taillabel=\"%u\", headlabel=\"%u\", labeldistance=%.1f",
                        down ? graph->port[e] : graph->peer_port[e],
                        down ? graph->peer_port[e] : graph->port[e],
                        drawing->style == STYLE_ROWS ? 1.5 + (at + to) % 3 : 1.5);
        else if (copies > 1)
            text_printf(drawing->out, ", label=\"×%u\"", copies);
        if (drawing->detailed && drawing->style == STYLE_DOT && row[at] == row[to])
            text_puts(drawing->out, ", labelangle=-50"); /* away from lines to other rows */
        text_puts(drawing->out, "]\n");
    }
}

/* ---- rows: layout_rows() has the order within them; hosts are below their switch ---- */

/* Positions are in hundredths of an inch. */
static void put_place(struct text *out, char letter, uint32_t node, uint64_t x, uint64_t y)
{
    text_printf(out, "  %c%u [pos=\"%llu.%02llu,%llu.%02llu!\"]\n", letter, node,
                (unsigned long long)x / 100, (unsigned long long)x % 100,
                (unsigned long long)y / 100, (unsigned long long)y % 100);
}

static void place_hosts(const struct drawing *drawing, const uint32_t *row, uint32_t count,
                        uint64_t width)
{
    const struct graph *graph = drawing->graph;
    bool *placed = mem_zalloc(drawing->topology->nodes.count, sizeof *placed);
    uint64_t position = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = row[i];
        for (uint32_t h = graph->first_host[at]; h < graph->first_host[at + 1]; h++, position++) {
            uint32_t node = drawing->topology->ports.items[graph->host[h]].node;
            if (!placed[node])
                put_place(drawing->out, 'h', node,
                          (2 * position + 1) * width / (2 * graph->host_count), 0);
            placed[node] = true;
        }
    }
    mem_free(placed);
}

/* The width of the rows in hundredths of an inch: room for the names of the longest one. */
static uint64_t row_width(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    uint32_t *size = mem_zalloc(drawing->level_count, sizeof *size), widest = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (++size[drawing->level[i]] > widest)
            widest = size[drawing->level[i]];
    mem_free(size);
    uint64_t letters = drawing->switch_letters < 4 ? 4 : drawing->switch_letters;
    uint64_t width = widest * (46 + 10 * letters);
    uint64_t hosts = graph->host_count * (40 + 9 * (uint64_t)drawing->host_letters);
    return drawing->whole_hosts && hosts > width ? hosts : width;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static void place_rows(const struct drawing *drawing)
{
    assert(drawing->layered && drawing->level_count >= 2);
    const struct graph *graph = drawing->graph;
    uint64_t *place = mem_alloc(graph->switch_count * sizeof *place);
    uint32_t *order = mem_alloc(graph->switch_count * sizeof *order), leaves = 0;
    bool hosts = drawing->whole_hosts;
    uint64_t width = row_width(drawing);
    /* Port numbers need steep lines. */
    uint64_t gap = drawing->detailed ? clamp(width / 4, 200, 600) : clamp(width / 7, 130, 420);
    uint64_t host_gap = drawing->detailed ? clamp(width / 12, 110, 200) : 110;
    layout_rows(graph, drawing->level, drawing->level_count, place, order);
    while (leaves < graph->switch_count && drawing->level[order[leaves]] == 0)
        leaves++;
    if (hosts)
        place_hosts(drawing, order, leaves, width);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        put_place(drawing->out, 's', order[i], place[order[i]] * width / LAYOUT_ROW,
                  drawing->level[order[i]] * gap + (hosts ? host_gap : 0));
    mem_free(place);
    mem_free(order);
}

/* ---- rooms: a frame with the name of the room around its switches ---- */

/* The size of the largest box of a switch, in inches, from the width of Helvetica. */
static struct layout_point measure_boxes(const struct drawing *drawing)
{
    size_t letters = drawing->switch_letters < 6 ? 6 : drawing->switch_letters;
    if (drawing->points)
        return (struct layout_point){0.2, 0.2};
    return (struct layout_point){0.2 + 0.095 * (double)letters, 0.45};
}

static void put_rooms(const struct drawing *drawing)
{
    const struct rooms *rooms = &drawing->rooms;
    struct layout_box *boxes = mem_alloc(rooms->count * sizeof *boxes);
    layout_room_boxes(rooms, drawing->graph->switch_count, measure_boxes(drawing), drawing->places,
                      boxes);
    for (uint32_t i = 0; i < rooms->count; i++) {
        struct layout_box box = boxes[i];
        text_printf(drawing->out, "  r%u [label=<", i);
        put_label(drawing->out, rooms->name[i], SWITCH_LETTERS);
        text_printf(drawing->out,
                    ">, shape=box, style=\"rounded,dashed\", color=\"#8a94a0\", "
                    "fontcolor=\"#555555\", labelloc=t, fixedsize=true, width=%.2f, height=%.2f, "
                    "pos=\"%.2f,%.2f!\"]\n",
                    box.right - box.left, box.top - box.bottom, (box.left + box.right) / 2,
                    (box.bottom + box.top) / 2);
    }
    mem_free(boxes);
}

/* ---- switches ---- */

static void draw_switches(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    struct text *out = drawing->out;
    uint32_t *row = mem_zalloc(graph->switch_count, sizeof *row);
    uint32_t *queue = mem_alloc(graph->switch_count * sizeof *queue), last = 0;
    put_head(drawing);
    if (drawing->style == STYLE_DOT)
        last = row[queue[graph_distances(graph, &drawing->manager, 1, row, queue) - 1]];
    if (drawing->points)
        text_puts(out, "  node [label=\"\", shape=point, width=0.08]\n");
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        if (drawing->style == STYLE_ROWS)
            row[i] = drawing->level_count - 1 - drawing->level[i];
        if (row[i] == GRAPH_FAR)
            row[i] = 0;
        if (drawing->points)
            text_printf(out, "  s%u [color=\"%s\"]\n", i,
                        colours[drawing->level[i] % COLOURS].line);
        else
            put_switch(drawing, i);
    }
    /* Irregular networks: switches at the same distance from the manager side by side. */
    for (uint32_t r = 0; r <= last && drawing->style == STYLE_DOT; r++) {
        text_puts(out, "  { rank=same;");
        for (uint32_t i = 0; i < graph->switch_count; i++)
            if (row[i] == r)
                text_printf(out, " s%u", i);
        text_puts(out, " }\n");
    }
    for (uint32_t i = 0; i < graph->switch_count; i++)
        put_links(drawing, row, i);
    if (drawing->whole_hosts)
        put_hosts(drawing);
    if (drawing->style == STYLE_ROWS)
        place_rows(drawing);
    if (drawing->style == STYLE_ROOMS)
        put_rooms(drawing);
    bool placed = drawing->style == STYLE_PLACED || drawing->style == STYLE_ROOMS;
    for (uint32_t i = 0; placed && i < graph->switch_count; i++)
        text_printf(out, "  s%u [pos=\"%.2f,%.2f!\"]\n", i, drawing->places[i].x,
                    drawing->places[i].y);
    text_puts(out, "}\n");
    mem_free(queue);
    mem_free(row);
}

/* Groups for a network of many switches: those that are connected below the top level (the pods of
 * a three-level tree); the top level is group 0. If these are too many, one group per level.
 * Returns the number of groups. */
static uint32_t group_switches(const struct drawing *drawing, uint32_t *group)
{
    const struct graph *graph = drawing->graph;
    uint32_t top = drawing->level_count - 1;
    uint32_t count = graph_components(graph, drawing->level, top, group) + 1;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        group[i] = group[i] == TOPOLOGY_NONE ? 0 : group[i] + 1;
    if (count <= drawing->limits.switch_limit && count < graph->switch_count)
        return count;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        group[i] = top - drawing->level[i];
    return drawing->level_count;
}

struct group {
    uint32_t switches, hosts, top_level;
};

static void draw_groups(const struct drawing *drawing)
{
    assert(drawing->layered && drawing->level_count >= 2);
    const struct graph *graph = drawing->graph;
    struct text *out = drawing->out;
    uint32_t *of = mem_alloc(graph->switch_count * sizeof *of);
    uint32_t count = group_switches(drawing, of);
    struct group *groups = mem_zalloc(count, sizeof *groups);
    uint32_t *links = mem_zalloc((size_t)count * count, sizeof *links);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        struct group *group = &groups[of[i]];
        group->switches++;
        group->hosts += graph->first_host[i + 1] - graph->first_host[i];
        if (drawing->level[i] > group->top_level)
            group->top_level = drawing->level[i];
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++)
            links[of[i] * count + of[graph->neighbour[e]]]++;
    }
    put_head(drawing);
    for (uint32_t i = 0; i < count; i++) {
        const struct group *group = &groups[i];
        text_printf(out, "  g%u [label=<", i);
        if (i == 0)
            text_puts(out, "top<br/>");
        else if (group->hosts)
            text_printf(out, "group %u<br/>", i);
        text_printf(out, "<font point-size=\"10\">%u switches</font>", group->switches);
        if (group->hosts)
            text_printf(out, "<br/><font point-size=\"10\" color=\"#666666\">%u hosts</font>",
                        group->hosts);
        text_printf(out, ">, fillcolor=\"%s\", color=\"%s\"]\n",
                    colours[group->top_level % COLOURS].fill,
                    colours[group->top_level % COLOURS].line);
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (links[i * count + j])
                text_printf(out, "  g%u -- g%u [label=\"%u\", penwidth=2]\n", i, j,
                            links[i * count + j]);
    text_puts(out, "}\n");
    mem_free(of);
    mem_free(groups);
    mem_free(links);
}

/* The switch of the first node, or the first switch that it is connected to. */
static uint32_t find_manager(const struct topology *topology, const struct graph *graph)
{
    for (size_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        for (unsigned p = 0; p <= node->port_count; p++) {
            uint32_t port = p ? topology->ports.items[node->first_port + p].peer : node->first_port;
            if (port != TOPOLOGY_NONE &&
                graph->switch_of[topology->ports.items[port].node] != TOPOLOGY_NONE)
                return graph->switch_of[topology->ports.items[port].node];
        }
    }
    return 0;
}

static void measure_names(struct drawing *drawing)
{
    for (size_t i = 0; i < drawing->topology->nodes.count; i++) {
        bool is_switch = drawing->graph->switch_of[i] != TOPOLOGY_NONE;
        size_t length = text_width(drawing->topology->nodes.items[i].description);
        size_t limit = is_switch ? SWITCH_LETTERS : HOST_LETTERS;
        size_t *most = is_switch ? &drawing->switch_letters : &drawing->host_letters;
        length = length < limit ? length : limit;
        *most = length > *most ? length : *most;
    }
}

/* Places direct networks by their structure; false: they have none. */
static bool place_switches(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    struct layout_point box = measure_boxes(drawing);
    if (layout_grid(graph, box, drawing->places) || layout_dragonfly(graph, box, drawing->places))
        return true;
    bool regular = graph->switch_count > 2 && graph->switch_count <= RING_LIMIT;
    for (uint32_t i = 1; i < graph->switch_count && regular; i++)
        regular = graph->first_edge[i + 1] - graph->first_edge[i] == graph->first_edge[1];
    if (regular)
        layout_ring(graph, box, drawing->places);
    return regular;
}

static enum style choose_style(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    if (drawing->limits.by_rooms)
        return STYLE_ROOMS;
    if (drawing->layered)
        return drawing->points ? STYLE_GROUPS : STYLE_ROWS;
    if (place_switches(drawing))
        return STYLE_PLACED;
    if (drawing->rooms.count)
        return STYLE_ROOMS;
    if (drawing->points)
        return STYLE_POINTS;
    bool irregular = strncmp(drawing->kind, "irregular", 9) == 0;
    return irregular && graph->switch_count <= ROW_LIMIT ? STYLE_DOT : STYLE_SPRINGS;
}

const char *topology_write_dot(const struct topology *topology, const struct graph *graph,
                               struct drawing_limits limits, struct text *out)
{
    struct arena memory = {0};
    struct drawing drawing = {
        .topology = topology,
        .graph = graph,
        .limits = limits,
        .out = out,
        .manager = find_manager(topology, graph),
        .level = arena_alloc(&memory, graph->switch_count * sizeof *drawing.level),
        .places = arena_alloc(&memory, graph->switch_count * sizeof *drawing.places),
        .detailed = graph->edge_count / 2 + graph->host_count <= DETAILED_LINKS,
        .points = graph->switch_count > limits.switch_limit,
    };
    topology_recognise(graph, drawing.kind, sizeof drawing.kind);
    drawing.level_count = topology_levels(graph, drawing.level);
    drawing.layered = topology_is_layered(graph, drawing.level, drawing.level_count);
    measure_names(&drawing);
    rooms_find(&drawing.rooms, topology, graph);
    if (limits.by_rooms && !drawing.rooms.count) {
        rooms_release(&drawing.rooms);
        arena_release(&memory);
        return NULL;
    }
    drawing.style = choose_style(&drawing);
    if (drawing.style == STYLE_ROOMS)
        layout_rooms(&drawing.rooms, graph->switch_count, measure_boxes(&drawing), drawing.places);
    link_styles_init(&drawing.links, topology,
                     graph->edge_count > 400 && drawing.style != STYLE_GROUPS);
    uint32_t hosts = drawing.style == STYLE_SPRINGS && limits.host_limit > SPRING_HOSTS
                         ? SPRING_HOSTS
                         : limits.host_limit;
    drawing.whole_hosts = graph->host_count <= hosts && drawing.style <= STYLE_SPRINGS;
    double inches = drawing.style == STYLE_ROWS ? (double)row_width(&drawing) / 100 : 0;
    drawing.scale = inches > 14 ? inches / 14 : 1;
    if (drawing.style == STYLE_GROUPS)
        draw_groups(&drawing);
    else
        draw_switches(&drawing);
    rooms_release(&drawing.rooms);
    arena_release(&memory);
    return programs[drawing.style];
}
