/* Positions of all nodes of a network, by its structure, for the live page. */
#include "topology/analysis/subnets.h"
#include "topology/analysis/summary.h"
#include "topology/drawing/layout.h"

#include <math.h>
#include <stdlib.h>
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
    if (layout->subnets > 1 && layout->rooms.count) {
        memcpy(places, layout->room_places, graph->switch_count * sizeof *places);
        return LAYOUT_ROOMS;
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

static bool is_router(const struct topology *topology, const struct layout *layout, uint32_t node)
{
    return layout->subnets > 1 && topology->nodes.items[node].kind == NODE_ROUTER;
}

struct router_place {
    double x;
    uint32_t node;
};

static int compare_places(const void *a, const void *b)
{
    const struct router_place *x = a, *y = b;
    if (x->x != y->x)
        return x->x < y->x ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Routers between subnets are in a row above the switches, each near the middle of its own. */
static void place_routers(const struct topology *topology, const struct graph *graph,
                          struct layout *layout)
{
    double *sum = mem_zalloc(topology->nodes.count + 1, sizeof *sum);
    uint32_t *ends = mem_zalloc(topology->nodes.count + 1, sizeof *ends);
    struct router_place *routers = mem_alloc((topology->nodes.count + 1) * sizeof *routers);
    double top = INFINITY, left = -INFINITY;
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        struct layout_point at = layout->places[graph->node[i]];
        top = at.y < top ? at.y : top;
        for (uint32_t h = graph->first_host[i]; h < graph->first_host[i + 1]; h++) {
            uint32_t node = topology->ports.items[graph->host[h]].node;
            sum[node] += at.x;
            ends[node]++;
        }
    }
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        if (is_router(topology, layout, i) && ends[i])
            routers[count++] = (struct router_place){sum[i] / ends[i], i};
    qsort(routers, count, sizeof *routers, compare_places);
    for (uint32_t i = 0; i < count; i++) {
        double x = routers[i].x < left + 1 ? left + 1 : routers[i].x;
        layout->places[routers[i].node] = (struct layout_point){left = x, top - 1.5};
    }
    mem_free(sum);
    mem_free(ends);
    mem_free(routers);
}

static void find_subnets(const struct topology *topology, const struct graph *graph,
                         struct layout *layout)
{
    uint32_t *of = mem_alloc((topology->ports.count + 1) * sizeof *of);
    layout->subnets = topology_subnets(topology, graph, of);
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        layout->subnet[i] = graph->switch_of[i] == TOPOLOGY_NONE
                                ? -1
                                : (int32_t)of[topology->nodes.items[i].first_port];
    mem_free(of);
}

static void place_hosts(const struct topology *topology, const struct graph *graph,
                        struct layout *layout)
{
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t first = graph->first_host[i], count = graph->first_host[i + 1] - first;
        for (uint32_t h = 0; h < count; h++) {
            uint32_t node = topology->ports.items[graph->host[first + h]].node;
            if (layout->parent[node] >= 0 || is_router(topology, layout, node))
                continue;
            layout->subnet[node] = layout->subnet[graph->node[i]];
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
    layout->subnet = mem_alloc((nodes + 1) * sizeof *layout->subnet);
    find_subnets(topology, graph, layout);
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
    if (layout->subnets > 1)
        place_routers(topology, graph, layout);
    mem_free(places);
    mem_free(level);
}

void layout_release(struct layout *layout)
{
    mem_free(layout->places);
    mem_free(layout->level);
    mem_free(layout->group);
    mem_free(layout->parent);
    mem_free(layout->subnet);
    mem_free(layout->room_places);
    rooms_release(&layout->rooms);
    *layout = (struct layout){0};
}
