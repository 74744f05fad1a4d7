/* Positions of all nodes of a network, by its structure, for the live page. */
#include "topology/analysis/summary.h"
#include "topology/drawing/layout.h"

#include <math.h>
#include <string.h>

enum { RING_LIMIT = 48 };
static const double two_pi = 6.283185307179586;

const struct layout_point layout_box_size = {0.7, 0.7};
const char *const layout_kind_names[] = {"tree", "grid", "dragonfly", "ring", "rooms", "free"};

/* ---- switches ---- */

/* Rows of a tree: as wide as the longest one needs, and not too flat. */
static void place_tree(const struct graph *graph, const uint32_t *level, uint32_t level_count,
                       struct layout_point *places)
{
    uint32_t count = graph->switch_count, widest = 1;
    uint64_t *place = mem_alloc(count * sizeof *place);
    uint32_t *order = mem_alloc(count * sizeof *order);
    uint32_t *size = mem_zalloc(level_count, sizeof *size);
    layout_rows(graph, level, level_count, place, order);
    for (uint32_t i = 0; i < count; i++)
        if (++size[level[i]] > widest)
            widest = size[level[i]];
    double width = 1.5 * widest, gap = width / 7 < 2.5 ? 2.5 : width / 7;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct layout_point){(double)place[i] / LAYOUT_ROW * width, level[i] * gap};
    mem_free(place);
    mem_free(order);
    mem_free(size);
}

static enum layout_kind place_switches(const struct graph *graph, const struct layout *layout,
                                       const uint32_t *level, uint32_t level_count,
                                       struct layout_point *places)
{
    if (level_count >= 2 && topology_is_layered(graph, level, level_count)) {
        place_tree(graph, level, level_count, places);
        return LAYOUT_TREE;
    }
    if (layout_grid(graph, layout_box_size, places))
        return LAYOUT_GRID;
    if (layout_dragonfly(graph, layout_box_size, places))
        return LAYOUT_DRAGONFLY;
    bool ring = graph->switch_count > 2 && graph->switch_count <= RING_LIMIT;
    for (uint32_t i = 0; i < graph->switch_count && ring; i++)
        ring = graph->first_edge[i + 1] - graph->first_edge[i] == 2;
    if (ring || graph->switch_count < 3) {
        layout_ring(graph, (struct layout_point){1, 1}, places);
        return LAYOUT_RINGS;
    }
    if (layout->rooms.count) {
        memcpy(places, layout->room_places, graph->switch_count * sizeof *places);
        return LAYOUT_ROOMS;
    }
    layout_free(graph, places);
    return LAYOUT_FREE;
}

/* ---- other nodes ---- */

static void place_hosts(const struct topology *topology, const struct graph *graph,
                        struct layout *layout)
{
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t first = graph->first_host[i], count = graph->first_host[i + 1] - first;
        for (uint32_t h = 0; h < count; h++) {
            uint32_t node = topology->ports.items[graph->host[first + h]].node;
            if (layout->parent[node] >= 0)
                continue;
            layout->parent[node] = (int32_t)graph->node[i];
            layout->group[node] = layout->group[graph->node[i]];
            /* Below the leaf in a tree, else around the switch. */
            struct layout_point at = layout->places[graph->node[i]];
            if (layout->kind == LAYOUT_TREE) {
                uint32_t columns = count < 6 ? count : 6, row = h / columns;
                at.x += ((h % columns) - (columns - 1) / 2.0) * 0.2;
                at.y += 0.7 + row * 0.25;
            } else {
                double turn = two_pi * h / count;
                at.x += 0.45 * sin(turn);
                at.y += 0.45 * cos(turn);
            }
            layout->places[node] = at;
        }
    }
}

void layout_network(const struct topology *topology, const struct graph *graph,
                    struct layout *layout)
{
    size_t nodes = topology->nodes.count;
    struct layout_point *places = mem_zalloc(graph->switch_count + 1, sizeof *places);
    uint32_t *level = mem_zalloc(graph->switch_count + 1, sizeof *level);
    layout->places = mem_zalloc(nodes + 1, sizeof *layout->places);
    layout->level = mem_alloc((nodes + 1) * sizeof *layout->level);
    layout->group = mem_alloc((nodes + 1) * sizeof *layout->group);
    layout->parent = mem_alloc((nodes + 1) * sizeof *layout->parent);
    for (size_t i = 0; i < nodes; i++)
        layout->level[i] = layout->group[i] = layout->parent[i] = -1;
    layout->kind = LAYOUT_FREE;
    if (graph->switch_count) {
        uint32_t levels = topology_levels(graph, level);
        rooms_find(&layout->rooms, topology, graph);
        layout->room_places = mem_zalloc(graph->switch_count, sizeof *layout->room_places);
        if (layout->rooms.count)
            layout_rooms(&layout->rooms, graph->switch_count, layout_box_size, layout->room_places);
        layout->kind = place_switches(graph, layout, level, levels, places);
        uint32_t *group = mem_alloc((graph->switch_count + 1) * sizeof *group);
        bool found = layout->kind == LAYOUT_DRAGONFLY ? topology_find_groups(graph, group) > 0
                                                      : layout->kind == LAYOUT_TREE;
        if (layout->kind == LAYOUT_TREE)
            graph_components(graph, level, levels - 1, group);
        for (uint32_t i = 0; i < graph->switch_count; i++)
            layout->group[graph->node[i]] =
                found && group[i] != TOPOLOGY_NONE ? (int32_t)group[i] : -1;
        mem_free(group);
    }
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        layout->places[graph->node[i]] = (struct layout_point){places[i].x, -places[i].y};
        layout->level[graph->node[i]] = (int32_t)level[i];
    }
    place_hosts(topology, graph, layout);
    /* The functions of a hypervisor are beside the switch in its adapter; nodes without a link to a
     * switch are in a row above the others. */
    double loose = 0;
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        if (graph->switch_of[i] == TOPOLOGY_NONE && layout->parent[i] < 0)
            layout->places[i] = (struct layout_point){loose++, -3};
    mem_free(places);
    mem_free(level);
}

void layout_release(struct layout *layout)
{
    mem_free(layout->places);
    mem_free(layout->level);
    mem_free(layout->group);
    mem_free(layout->parent);
    mem_free(layout->room_places);
    rooms_release(&layout->rooms);
    *layout = (struct layout){0};
}
