/* The topology as columns. A column is an array with a value for each node or link, so that a large
 * network needs few bytes for names of members. */
#include "host/api/api.h"

#include "topology/analysis/summary.h"
#include "topology/drawing/layout.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- nodes ---- */

static void write_names(const struct topology *topology, struct json *json)
{
    const char **labels = topology_labels(topology);
    json_begin_array(json, "name");
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        json_string(json, NULL, labels[i]);
    json_end_array(json);
    mem_free(labels);
    json_begin_array(json, "guid");
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        json_stringf(json, NULL, "0x%016" PRIx64, topology->nodes.items[i].guid);
    json_end_array(json);
    json_begin_array(json, "kind");
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        json_number(json, NULL, topology->nodes.items[i].kind);
    json_end_array(json);
    json_begin_array(json, "ports");
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        json_number(json, NULL, topology->nodes.items[i].port_count);
    json_end_array(json);
}

static void write_numbers(struct json *json, const char *key, const int32_t *values, size_t count)
{
    json_begin_array(json, key);
    for (size_t i = 0; i < count; i++)
        json_number(json, NULL, values[i]);
    json_end_array(json);
}

static double hundredths(double value)
{
    return (double)(int64_t)(value * 100) / 100;
}

static void write_places(struct json *json, const struct layout_point *places, size_t count)
{
    json_begin_array(json, "x");
    for (size_t i = 0; i < count; i++)
        json_double(json, NULL, hundredths(places[i].x));
    json_end_array(json);
    json_begin_array(json, "y");
    for (size_t i = 0; i < count; i++)
        json_double(json, NULL, hundredths(places[i].y));
    json_end_array(json);
}

/* One side of the frames of all rooms. y grows downwards here, upwards in the layout. */
static void write_side(struct json *json, const char *key, const struct layout_box *frames,
                       uint32_t count, size_t side)
{
    bool vertical =
        side == offsetof(struct layout_box, top) || side == offsetof(struct layout_box, bottom);
    json_begin_array(json, key);
    for (uint32_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)&frames[i] + side, sizeof value);
        json_double(json, NULL, hundredths(vertical ? -value : value));
    }
    json_end_array(json);
}

static void write_frames(const struct graph *graph, const struct layout *layout, struct json *json)
{
    uint32_t count = layout->rooms.count;
    struct layout_box *frames = mem_alloc((count + 1) * sizeof *frames);
    layout_room_boxes(&layout->rooms, graph->switch_count, layout_box_size, layout->room_places,
                      frames);
    write_side(json, "left", frames, count, offsetof(struct layout_box, left));
    write_side(json, "top", frames, count, offsetof(struct layout_box, top));
    write_side(json, "right", frames, count, offsetof(struct layout_box, right));
    write_side(json, "bottom", frames, count, offsetof(struct layout_box, bottom));
    mem_free(frames);
}

/* Rooms by the names of the switches, whatever the layout is. A host is in the room of its switch,
 * and has its place. */
static void write_rooms(const struct topology *topology, const struct graph *graph,
                        const struct layout *layout, struct json *json)
{
    size_t count = layout->rooms.count ? topology->nodes.count : 0;
    int32_t *room = mem_alloc((count + 1) * sizeof *room);
    struct layout_point *places = mem_zalloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++) {
        int32_t parent = layout->parent[i];
        uint32_t at = graph->switch_of[parent >= 0 ? (size_t)parent : i];
        room[i] = at == TOPOLOGY_NONE ? -1 : layout->rooms.of[at];
        if (at != TOPOLOGY_NONE)
            places[i] =
                (struct layout_point){layout->room_places[at].x, -layout->room_places[at].y};
    }
    json_begin_object(json, "rooms");
    json_begin_array(json, "name");
    for (uint32_t i = 0; i < layout->rooms.count; i++)
        json_string(json, NULL, layout->rooms.name[i]);
    json_end_array(json);
    write_frames(graph, layout, json);
    write_numbers(json, "of", room, count);
    write_places(json, places, count);
    json_end_object(json);
    mem_free(room);
    mem_free(places);
}

/* ---- links ---- */

enum link_column {
    LINK_A,
    LINK_A_PORT,
    LINK_B,
    LINK_B_PORT,
    LINK_WIDTH,
    LINK_SPEED,
    LINK_GBPS,
    LINK_COLUMNS,
};

static void write_link(const struct topology *topology, uint32_t port, enum link_column column,
                       struct json *json)
{
    const struct topology_port *a = &topology->ports.items[port];
    const struct topology_port *b = &topology->ports.items[a->peer];
    switch (column) {
    case LINK_A: json_number(json, NULL, a->node); break;
    case LINK_A_PORT: json_number(json, NULL, topology_port_number(topology, port)); break;
    case LINK_B: json_number(json, NULL, b->node); break;
    case LINK_B_PORT: json_number(json, NULL, topology_port_number(topology, a->peer)); break;
    case LINK_WIDTH: json_number(json, NULL, link_width_multiple(a->width)); break;
    case LINK_SPEED: json_number(json, NULL, a->speed); break;
    default: json_double(json, NULL, (double)link_data_rate(a->width, a->speed) / 1e9);
    }
}

static void write_links(const struct topology *topology, const struct api_links *links,
                        struct json *json)
{
    static const char *const names[LINK_COLUMNS] = {"a", "ap", "b", "bp", "width", "speed", "gbps"};
    json_begin_object(json, "links");
    for (enum link_column column = 0; column < LINK_COLUMNS; column++) {
        json_begin_array(json, names[column]);
        for (uint32_t i = 0; i < links->count; i++)
            write_link(topology, links->ports[i], column, json);
        json_end_array(json);
    }
    json_end_object(json);
    json_begin_array(json, "speeds");
    for (unsigned speed = 0; speed < SPEED_COUNT; speed++)
        json_string(json, NULL, link_speed_name(speed));
    json_end_array(json);
}

void api_topology_write(const struct topology *topology, const struct api_links *links,
                        uint64_t generation, struct text *out)
{
    struct json json = {.out = out};
    struct layout layout = {0};
    struct graph graph;
    char kind[160];
    graph_init(&graph, topology);
    layout_network(topology, &graph, &layout);
    topology_recognise(&graph, kind, sizeof kind);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "generation", generation);
    json_string(&json, "kind", kind);
    json_string(&json, "layout", layout_kind_names[layout.kind]);
    json_begin_object(&json, "nodes");
    write_names(topology, &json);
    write_numbers(&json, "level", layout.level, topology->nodes.count);
    write_numbers(&json, "group", layout.group, topology->nodes.count);
    write_numbers(&json, "parent", layout.parent, topology->nodes.count);
    write_numbers(&json, "subnet", layout.subnet, layout.subnets > 1 ? topology->nodes.count : 0);
    write_places(&json, layout.places, topology->nodes.count);
    json_end_object(&json);
    write_rooms(topology, &graph, &layout, &json);
    write_links(topology, links, &json);
    json_end_object(&json);
    layout_release(&layout);
    graph_release(&graph);
}
