/* Decides what a drawing shows, and where.
 *
 * Small networks are drawn in full, with port numbers at the links and hosts one by one. In larger
 * ones port numbers are left out, parallel links become one line with a count, hosts a number in
 * their switch, and finally groups of switches one box. Networks with levels are drawn in rows over
 * the whole width; grids, dragonflies and small regular networks are placed by layout.h, as are
 * irregular ones whose names have rooms; other irregular ones are drawn in rows by distance from
 * the manager's switch, as papers on up-down routing draw them, or, if they are large, by a spring
 * model. Of several subnets each has a colour, and the routers that join them are always shown.
 * picture.h has boxes and lines. */
#include "topology/drawing/export.h"

#include "topology/analysis/subnets.h"
#include "topology/drawing/layout.h"
#include "topology/drawing/picture.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DETAILED_LINKS = 60, ROW_LIMIT = 100, RING_LIMIT = 48 };
enum { SWITCH_LETTERS = 28, HOST_LETTERS = 20, SHORT_LETTERS = 6 }; /* of names */

enum style { STYLE_ROWS, STYLE_DISTANCE, STYLE_PLACED, STYLE_ROOMS, STYLE_FREE, STYLE_GROUPS };

struct drawing {
    const struct topology *topology;
    const struct graph *graph;
    struct drawing_limits limits;
    struct picture picture;
    enum style style;
    uint32_t *level, level_count;
    uint32_t *subnet, subnet_count; /* by switch */
    uint32_t manager;               /* switch of the first node, or next to it */
    bool detailed, whole_hosts;
    bool points;                 /* switches are points without names */
    struct layout_point *places; /* by switch */
    uint32_t *host_box;          /* by node: its box, or TOPOLOGY_NONE */
    struct rooms rooms;
    struct arena arena;
};

static const char *shorten(struct drawing *drawing, const char *name, size_t letters)
{
    struct text text = {0};
    text_put_shortened(&text, name, letters);
    const char *label = arena_strdup(&drawing->picture.arena, text.data ? text.data : "");
    text_release(&text);
    return label;
}

/* The width of a box in inches, from that of Helvetica. */
static double label_width(const char *label, double letter, double least)
{
    return fmax(least, 0.2 + letter * (double)text_width(label));
}

/* The size of the largest box of a switch. */
static struct layout_point largest_box(const struct drawing *drawing)
{
    struct layout_point size = {drawing->points ? 0.2 : 0.77, drawing->points ? 0.2 : 0.45};
    for (uint32_t i = 0; i < drawing->graph->switch_count && !drawing->points; i++)
        size.x = fmax(size.x, drawing->picture.boxes.items[i].width);
    return size;
}

/* ---- boxes ---- */

/* The boxes of switches come first, by number. */
static void add_switch(struct drawing *drawing, uint32_t at)
{
    const struct graph *graph = drawing->graph;
    const struct topology_node *node = &drawing->topology->nodes.items[graph->node[at]];
    uint32_t hosts = graph->first_host[at + 1] - graph->first_host[at];
    struct picture_box box = {
        .letter = 's',
        .number = at,
        .shape = drawing->points ? SHAPE_POINT : SHAPE_BOX,
        .width = 0.08,
        .height = 0.08,
        .name = node->description,
        .label = "",
        .detail = "",
        .colour = drawing->subnet_count > 1 ? drawing->subnet[at] : drawing->level[at],
        .marked = drawing->limits.nodes && drawing->limits.nodes[graph->node[at]]};
    if (!drawing->points) {
        box.label = shorten(drawing, node->description, SWITCH_LETTERS);
        if (hosts && !drawing->whole_hosts)
            box.detail =
                arena_printf(&drawing->picture.arena, "%u host%s", hosts, hosts == 1 ? "" : "s");
        box.width = label_width(box.label, 0.095, box.detail[0] ? 0.7 : 0.5);
        box.height = box.detail[0] ? 0.45 : 0.35;
        box.thick = at == drawing->manager;
    }
    vec_push(&drawing->picture.boxes, box);
}

static void add_host(struct drawing *drawing, uint32_t node)
{
    const struct topology_node *found = &drawing->topology->nodes.items[node];
    const char *label = shorten(drawing, found->description, HOST_LETTERS);
    struct picture_box box = {.letter = 'h',
                              .number = node,
                              .shape = text_width(label) > SHORT_LETTERS ? SHAPE_BOX : SHAPE_ROUND,
                              .width = label_width(label, 0.08, 0.45),
                              .height = 0.26,
                              .name = found->description,
                              .label = label,
                              .detail = "",
                              .colour = found->kind == NODE_ROUTER,
                              .thick = node == 0,
                              .marked = drawing->limits.nodes && drawing->limits.nodes[node]};
    drawing->host_box[node] = (uint32_t)drawing->picture.boxes.count;
    vec_push(&drawing->picture.boxes, box);
}

static bool is_router(const struct drawing *drawing, uint32_t node)
{
    return drawing->subnet_count > 1 && drawing->topology->nodes.items[node].kind == NODE_ROUTER;
}

/* Whether a host or router has a box. */
static bool has_box(const struct drawing *drawing, uint32_t node)
{
    return drawing->whole_hosts || is_router(drawing, node);
}

static void add_boxes(struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        add_switch(drawing, i);
    for (uint32_t h = 0; h < graph->host_count; h++) {
        uint32_t node = drawing->topology->ports.items[graph->host[h]].node;
        if (drawing->host_box[node] == TOPOLOGY_NONE && has_box(drawing, node))
            add_host(drawing, node);
    }
}

/* ---- lines ---- */

static bool is_marked(const struct drawing *drawing, uint32_t port)
{
    const bool *ports = drawing->limits.ports;
    return ports && (ports[port] || ports[drawing->topology->ports.items[port].peer]);
}

/* The links of one switch to higher-numbered ones. */
static void add_links(struct drawing *drawing, uint32_t at)
{
    const struct graph *graph = drawing->graph;
    const struct topology *topology = drawing->topology;
    uint32_t begin = graph->first_edge[at], end = graph->first_edge[at + 1];
    for (uint32_t e = begin; e < end; e++) {
        uint32_t to = graph->neighbour[e], copies = 0, earlier = 0, beside = 0, before = 0;
        uint32_t index = topology_port_index(topology, graph->node[at], graph->port[e]);
        const struct topology_port *port = &topology->ports.items[index];
        if (to < at)
            continue;
        for (uint32_t other = begin; other < end; other++) {
            const struct topology_port *twin =
                &topology->ports
                     .items[topology_port_index(topology, graph->node[at], graph->port[other])];
            bool same = twin->width == port->width && twin->speed == port->speed;
            if (graph->neighbour[other] != to)
                continue;
            copies += same;
            earlier += same && other < e;
            beside++;
            before += other < e;
        }
        if (!drawing->detailed && earlier)
            continue;
        const struct picture_box *boxes = drawing->picture.boxes.items;
        vec_push(&drawing->picture.lines,
                 ((struct picture_line){
                     .from = at,
                     .to = to,
                     .port = port,
                     .from_port = drawing->detailed ? graph->port[e] : 0,
                     .to_port = drawing->detailed ? graph->peer_port[e] : 0,
                     .count = drawing->detailed || copies < 2 ? 0 : copies,
                     .shift = drawing->detailed ? 8 * (before - (beside - 1) / 2.0) : 0,
                     .bent = drawing->style == STYLE_DISTANCE && boxes[at].y == boxes[to].y,
                     .marked = is_marked(drawing, index)}));
    }
}

static void add_lines(struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        add_links(drawing, i);
        for (uint32_t h = graph->first_host[i]; h < graph->first_host[i + 1]; h++) {
            uint32_t index = graph->host[h];
            const struct topology_port *port = &drawing->topology->ports.items[index];
            if (!has_box(drawing, port->node))
                continue;
            struct picture_line line = {.from = i,
                                        .to = drawing->host_box[port->node],
                                        .port = port,
                                        .marked = is_marked(drawing, index)};
            if (drawing->detailed) {
                line.from_port = graph->host_port[h];
                line.to_port = topology_port_number(drawing->topology, index);
            }
            vec_push(&drawing->picture.lines, line);
        }
    }
}

/* ---- rows of a network with levels: layout_rows() has the order within them ---- */

static double clamp(double value, double least, double most)
{
    return fmax(least, fmin(value, most));
}

/* Hosts are below their switches, in the order of those. */
static void place_rows(struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    struct picture_box *boxes = drawing->picture.boxes.items;
    uint64_t *place = arena_alloc(&drawing->arena, graph->switch_count * sizeof *place);
    uint32_t *order = arena_alloc(&drawing->arena, graph->switch_count * sizeof *order);
    uint32_t *size = arena_alloc(&drawing->arena, drawing->level_count * sizeof *size), widest = 0;
    double hosts = 0, at = 0;
    memset(size, 0, drawing->level_count * sizeof *size);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (++size[drawing->level[i]] > widest)
            widest = size[drawing->level[i]];
    for (size_t i = graph->switch_count; i < drawing->picture.boxes.count; i++)
        hosts += boxes[i].width + 0.2;
    double width = fmax(widest * (largest_box(drawing).x + 0.25), hosts);
    /* Port numbers need steep lines. */
    double gap = drawing->detailed ? clamp(width / 4, 2, 6) : clamp(width / 7, 1.3, 4.2);
    double host_gap = drawing->detailed ? clamp(width / 12, 1.1, 2) : 1.1;
    layout_rows(graph, drawing->level, drawing->level_count, place, order);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        boxes[i].x = (double)place[i] * width / LAYOUT_ROW;
        boxes[i].y = drawing->level[i] * gap;
    }
    for (uint32_t i = 0; i < graph->switch_count && drawing->whole_hosts; i++)
        for (uint32_t h = graph->first_host[order[i]]; h < graph->first_host[order[i] + 1]; h++) {
            struct picture_box *box =
                &boxes[drawing->host_box[drawing->topology->ports.items[graph->host[h]].node]];
            if (box->x || box->y)
                continue; /* it has another port, which was first */
            double share = (box->width + 0.2) / hosts * width;
            box->x = at + share / 2;
            box->y = -host_gap;
            at += share;
        }
}

/* ---- rows by distance from the manager's switch ---- */

struct distance_item {
    double key; /* mean position of the neighbours above */
    uint32_t box;
};

static int compare_row_items(const void *a, const void *b)
{
    const struct distance_item *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

/* The switches at a distance, and the hosts of those one row above. */
static uint32_t collect_row(const struct drawing *drawing, const uint32_t *distance, uint32_t row,
                            struct distance_item *items)
{
    const struct graph *graph = drawing->graph;
    const struct picture_box *boxes = drawing->picture.boxes.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        double sum = 0, above = 0;
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1] && row; e++)
            if (distance[graph->neighbour[e]] + 1 == row) {
                sum += boxes[graph->neighbour[e]].x;
                above++;
            }
        if (distance[i] == row)
            items[count++] = (struct distance_item){above ? sum / above : 0, i};
        for (uint32_t h = graph->first_host[i];
             h < graph->first_host[i + 1] && distance[i] + 1 == row && drawing->whole_hosts; h++) {
            uint32_t box = drawing->host_box[drawing->topology->ports.items[graph->host[h]].node];
            if (boxes[box].y == 0) /* not placed yet */
                items[count++] = (struct distance_item){boxes[i].x, box};
        }
    }
    return count;
}

static void place_by_distance(struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    struct picture_box *boxes = drawing->picture.boxes.items;
    size_t room = drawing->picture.boxes.count + graph->host_count;
    uint32_t *distance = arena_alloc(&drawing->arena, graph->switch_count * sizeof *distance);
    uint32_t *queue = arena_alloc(&drawing->arena, graph->switch_count * sizeof *queue);
    struct distance_item *items = arena_alloc(&drawing->arena, room * sizeof *items);
    double gap = drawing->detailed ? 1.05 : 0.95;
    uint32_t last =
        distance[queue[graph_distances(graph, &drawing->manager, 1, distance, queue) - 1]];
    for (uint32_t i = 0; i < graph->switch_count; i++)
        if (distance[i] == GRAPH_FAR)
            distance[i] = 0;
    for (uint32_t row = 0; row <= last + 1; row++) {
        uint32_t count = collect_row(drawing, distance, row, items);
        double width = 0;
        qsort(items, count, sizeof *items, compare_row_items);
        for (uint32_t i = 0; i < count; i++)
            width += boxes[items[i].box].width + 0.3;
        double at = -width / 2;
        for (uint32_t i = 0; i < count; i++) {
            struct picture_box *box = &boxes[items[i].box];
            box->x = at + box->width / 2 + 0.15;
            box->y = -(row + 1.0) * gap;
            at += box->width + 0.3;
        }
    }
}

/* ---- other places ---- */

/* Moves switches apart until no boxes overlap. */
static void spread(struct drawing *drawing, struct layout_point box)
{
    const struct layout_point *places = drawing->places;
    uint32_t count = drawing->graph->switch_count;
    double factor = 1;
    for (uint32_t i = 0; i < count && !drawing->points; i++)
        for (uint32_t j = 0; j < i; j++) {
            double x = fabs(places[i].x - places[j].x), y = fabs(places[i].y - places[j].y);
            double needed = fmin(x > 0.01 ? box.x / x : 99, y > 0.01 ? box.y / y : 99);
            factor = fmax(factor, fmin(needed, 12));
        }
    for (uint32_t i = 0; i < count; i++) {
        drawing->places[i].x *= factor;
        drawing->places[i].y *= factor;
    }
}

static void add_rooms(struct drawing *drawing)
{
    const struct rooms *rooms = &drawing->rooms;
    struct layout_point box = largest_box(drawing);
    struct layout_box *frames = arena_alloc(&drawing->arena, rooms->count * sizeof *frames);
    layout_rooms(rooms, drawing->graph->switch_count, box, drawing->places);
    layout_room_boxes(rooms, drawing->graph->switch_count, box, drawing->places, frames);
    for (uint32_t i = 0; i < rooms->count; i++)
        vec_push(&drawing->picture.boxes,
                 ((struct picture_box){.letter = 'r',
                                       .number = i,
                                       .shape = SHAPE_FRAME,
                                       .x = (frames[i].left + frames[i].right) / 2,
                                       .y = (frames[i].bottom + frames[i].top) / 2,
                                       .width = frames[i].right - frames[i].left,
                                       .height = frames[i].top - frames[i].bottom,
                                       .label = shorten(drawing, rooms->name[i], SWITCH_LETTERS),
                                       .detail = "",
                                       .name = ""}));
}

/* Routers in a row above the rest, each near the middle of its switches. */
static void place_routers(struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    struct picture_box *boxes = drawing->picture.boxes.items;
    size_t count = drawing->picture.boxes.count;
    struct distance_item *items = arena_alloc(&drawing->arena, (count + 1) * sizeof *items);
    double top = boxes[0].y, right = -INFINITY;
    uint32_t routers = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++)
        top = fmax(top, boxes[i].y);
    for (uint32_t i = graph->switch_count; i < count; i++) {
        double sum = 0, ends = 0;
        if (boxes[i].letter != 'h' || !is_router(drawing, boxes[i].number))
            continue;
        for (size_t at = 0; at < graph->switch_count; at++)
            for (uint32_t h = graph->first_host[at]; h < graph->first_host[at + 1]; h++)
                if (drawing->topology->ports.items[graph->host[h]].node == boxes[i].number) {
                    sum += boxes[at].x;
                    ends++;
                }
        items[routers++] = (struct distance_item){sum / ends - boxes[i].width / 2, i};
    }
    qsort(items, routers, sizeof *items, compare_row_items);
    for (uint32_t i = 0; i < routers; i++) {
        struct picture_box *box = &boxes[items[i].box];
        box->x = fmax(items[i].key, right) + box->width / 2;
        box->y = top + 1.2;
        right = box->x + box->width / 2 + 0.3;
    }
}

static void place_boxes(struct drawing *drawing)
{
    switch (drawing->style) {
    case STYLE_ROWS:
        place_rows(drawing);
        place_routers(drawing);
        return;
    case STYLE_DISTANCE: place_by_distance(drawing); return;
    case STYLE_ROOMS: add_rooms(drawing); break;
    case STYLE_FREE:
        layout_free(drawing->graph, drawing->places);
        spread(drawing, largest_box(drawing));
        break;
    default: spread(drawing, (struct layout_point){0.78, 0.46});
    }
    for (uint32_t i = 0; i < drawing->graph->switch_count; i++) {
        drawing->picture.boxes.items[i].x = drawing->places[i].x;
        drawing->picture.boxes.items[i].y = drawing->places[i].y;
    }
    place_routers(drawing);
}

/* ---- groups ---- */

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

/* Each group is in the row of its highest level. */
static void add_groups(struct drawing *drawing)
{
    assert(drawing->level_count >= 2);
    const struct graph *graph = drawing->graph;
    struct picture *picture = &drawing->picture;
    uint32_t *of = arena_alloc(&drawing->arena, graph->switch_count * sizeof *of);
    uint32_t count = group_switches(drawing, of);
    size_t links_bytes = (size_t)count * count * sizeof(uint32_t);
    uint32_t *links = memset(arena_alloc(&drawing->arena, links_bytes), 0, links_bytes);
    for (uint32_t g = 0; g < count; g++) {
        uint32_t switches = 0, hosts = 0, level = 0, members = 0;
        for (uint32_t i = 0; i < graph->switch_count; i++) {
            if (of[i] != g)
                continue;
            switches++;
            hosts += graph->first_host[i + 1] - graph->first_host[i];
            level = drawing->level[i] > level ? drawing->level[i] : level;
            for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++)
                links[g * count + of[graph->neighbour[e]]]++;
        }
        for (uint32_t other = 0; other < g; other++)
            members += picture->boxes.items[other].colour == level;
        vec_push(&picture->boxes,
                 ((struct picture_box){
                     .letter = 'g',
                     .number = g,
                     .x = members,
                     .width = 1.5,
                     .height = 0.5,
                     .name = "",
                     .label = g == 0  ? "top"
                              : hosts ? arena_printf(&picture->arena, "group %u", g)
                                      : "",
                     .detail = arena_printf(&picture->arena,
                                            hosts ? "%u switches, %u hosts" : "%u switches",
                                            switches, hosts),
                     .colour = level}));
    }
    for (uint32_t g = 0; g < count; g++) { /* rows have the same middle */
        struct picture_box *box = &picture->boxes.items[g];
        uint32_t row = 0;
        for (uint32_t other = 0; other < count; other++)
            row += picture->boxes.items[other].colour == box->colour;
        box->x = (box->x - (row - 1) / 2.0) * 1.8;
        box->y = box->colour * clamp(count * 0.12, 1.6, 4);
        for (uint32_t other = g + 1; other < count; other++)
            if (links[g * count + other])
                vec_push(&picture->lines, ((struct picture_line){.from = g,
                                                                 .to = other,
                                                                 .count = links[g * count + other],
                                                                 .marked = false}));
    }
}

/* ---- all of it ---- */

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

/* Places direct networks by their structure; false: they have none. */
static bool place_by_structure(const struct drawing *drawing)
{
    const struct graph *graph = drawing->graph;
    size_t letters = 6;
    for (uint32_t i = 0; i < graph->switch_count && !drawing->points; i++) {
        size_t own = text_width(drawing->topology->nodes.items[graph->node[i]].description);
        letters = own > letters ? own < SWITCH_LETTERS ? own : SWITCH_LETTERS : letters;
    }
    struct layout_point box = {drawing->points ? 0.2 : 0.2 + 0.095 * (double)letters,
                               drawing->points ? 0.2 : 0.45};
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
    if (drawing->limits.by_rooms)
        return STYLE_ROOMS;
    if (topology_is_layered(drawing->graph, drawing->level, drawing->level_count))
        return drawing->points ? STYLE_GROUPS : STYLE_ROWS;
    if (drawing->subnet_count < 2 && place_by_structure(drawing))
        return STYLE_PLACED;
    if (drawing->rooms.count)
        return STYLE_ROOMS;
    return drawing->subnet_count < 2 && !drawing->points &&
                   drawing->graph->switch_count <= ROW_LIMIT
               ? STYLE_DISTANCE
               : STYLE_FREE;
}

/* Title and legend. */
static void describe(struct drawing *drawing)
{
    struct picture *picture = &drawing->picture;
    const struct graph *graph = drawing->graph;
    bool used[SPEED_COUNT] = {0};
    topology_recognise(graph, picture->title, sizeof picture->title);
    uint32_t routers = 0, ports = 0; /* joined by cables to a switch */
    for (uint32_t i = 0; i < graph->host_count; i++)
        ports += is_router(drawing, drawing->topology->ports.items[graph->host[i]].node);
    for (uint32_t i = 0; i < drawing->topology->nodes.count && ports; i++)
        routers += is_router(drawing, i);
    if (drawing->subnet_count > 1 && routers)
        snprintf(picture->title, sizeof picture->title, "%u subnets joined by %u router%s",
                 drawing->subnet_count, routers, routers == 1 ? "" : "s");
    snprintf(picture->subtitle, sizeof picture->subtitle, "%u switches, %u host ports",
             graph->switch_count, graph->host_count - ports);
    picture->count_count = topology_count_links(drawing->topology, picture->counts);
    for (size_t i = 0; i < picture->count_count; i++)
        used[picture->counts[i].speed] = true;
    for (unsigned speed = SPEED_COUNT, rank = 0; speed-- > 0;)
        if (used[speed])
            picture->rank[speed] = rank++;
    picture->dense = graph->edge_count > 400 && drawing->style != STYLE_GROUPS;
    picture->levels =
        drawing->level_count < PICTURE_COLOURS ? drawing->level_count : PICTURE_COLOURS;
    picture->levels = picture->levels > 1 ? picture->levels : 0;
    if (drawing->subnet_count > 1 && drawing->style != STYLE_GROUPS) {
        picture->levels = 0;
        picture->subnets =
            drawing->subnet_count < PICTURE_COLOURS ? drawing->subnet_count : PICTURE_COLOURS;
    }
    picture->has_manager =
        !drawing->points && drawing->style != STYLE_GROUPS && graph->switch_count > 1;
}

static void find_subnets(struct drawing *drawing)
{
    const struct topology *topology = drawing->topology;
    const struct graph *graph = drawing->graph;
    uint32_t *of = arena_alloc(&drawing->arena, (topology->ports.count + 1) * sizeof *of);
    drawing->subnet =
        arena_alloc(&drawing->arena, (graph->switch_count + 1) * sizeof *drawing->subnet);
    drawing->subnet_count = topology_subnets(topology, graph, of);
    for (uint32_t i = 0; i < graph->switch_count; i++)
        drawing->subnet[i] = of[topology->nodes.items[graph->node[i]].first_port];
}

bool topology_draw(const struct topology *topology, const struct graph *graph,
                   struct drawing_limits limits, enum drawing_format format, struct text *out)
{
    struct drawing drawing = {
        .topology = topology,
        .graph = graph,
        .limits = limits,
        .manager = find_manager(topology, graph),
        .detailed = graph->edge_count / 2 + graph->host_count <= DETAILED_LINKS,
        .points = graph->switch_count > limits.switch_limit,
    };
    rooms_find(&drawing.rooms, topology, graph);
    bool possible = !limits.by_rooms || drawing.rooms.count;
    if (possible) {
        drawing.level =
            arena_alloc(&drawing.arena, (graph->switch_count + 1) * sizeof *drawing.level);
        drawing.places =
            arena_alloc(&drawing.arena, (graph->switch_count + 1) * sizeof *drawing.places);
        drawing.host_box =
            arena_alloc(&drawing.arena, (topology->nodes.count + 1) * sizeof *drawing.host_box);
        memset(drawing.host_box, 0xff, topology->nodes.count * sizeof *drawing.host_box);
        drawing.level_count = topology_levels(graph, drawing.level);
        find_subnets(&drawing);
        drawing.style = choose_style(&drawing);
        drawing.whole_hosts =
            graph->host_count <= limits.host_limit && drawing.style <= STYLE_DISTANCE;
        describe(&drawing);
        if (drawing.style == STYLE_GROUPS) {
            add_groups(&drawing);
        } else if (graph->switch_count) {
            add_boxes(&drawing);
            place_boxes(&drawing);
            add_lines(&drawing);
        }
        if (format == DRAWING_SVG)
            picture_write_svg(&drawing.picture, out);
        else
            picture_write_dot(&drawing.picture, out);
    }
    vec_release(&drawing.picture.boxes);
    vec_release(&drawing.picture.lines);
    arena_release(&drawing.picture.arena);
    arena_release(&drawing.arena);
    rooms_release(&drawing.rooms);
    return possible;
}
