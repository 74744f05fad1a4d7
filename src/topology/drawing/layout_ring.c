/* Layouts on rings: dragonflies, rings, and small networks without other structure (jellyfish). */
#include "topology/drawing/layout.h"

#include "topology/analysis/summary.h"

#include <math.h>

static const double two_pi = 6.283185307179586;

/* The radius of a ring on which `count` labels do not overlap. */
static double ring_radius(uint32_t count, double width)
{
    double radius = count * width / two_pi;
    return count == 1 ? 0 : radius > width ? radius : width;
}

/* Clockwise, the first place on top. */
static struct layout_point ring_place(double radius, double turn)
{
    return (struct layout_point){radius * sin(two_pi * turn), radius * cos(two_pi * turn)};
}

bool layout_dragonfly(const struct graph *graph, struct layout_point box,
                      struct layout_point *places)
{
    uint32_t *group_of = mem_alloc(graph->switch_count * sizeof *group_of);
    uint32_t groups = topology_find_groups(graph, group_of);
    if (groups) {
        uint32_t size = graph->switch_count / groups;
        uint32_t *taken = mem_zalloc(groups, sizeof *taken);
        double small = ring_radius(size, 1.15 * box.x);
        double large = ring_radius(groups, 2 * small + 3 * box.x);
        for (uint32_t i = 0; i < graph->switch_count; i++) {
            double turn = (double)group_of[i] / groups;
            struct layout_point centre = ring_place(large, turn);
            struct layout_point own = ring_place(small, turn + (double)taken[group_of[i]]++ / size);
            places[i] = (struct layout_point){centre.x + own.x, centre.y + own.y};
        }
        mem_free(taken);
    }
    mem_free(group_of);
    return groups > 0;
}

/* The next switch of a ring: a neighbour that has no position yet, or TOPOLOGY_NONE. */
static uint32_t find_next(const struct graph *graph, uint32_t at, const bool *placed)
{
    for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++)
        if (!placed[graph->neighbour[e]])
            return graph->neighbour[e];
    return TOPOLOGY_NONE;
}

static bool is_ring(const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t begin = graph->first_edge[i], other = TOPOLOGY_NONE;
        for (uint32_t e = begin; e < graph->first_edge[i + 1]; e++) {
            uint32_t to = graph->neighbour[e];
            if (to != graph->neighbour[begin] && other != TOPOLOGY_NONE && to != other)
                return false;
            if (to != graph->neighbour[begin])
                other = to;
        }
    }
    return true;
}

void layout_ring(const struct graph *graph, struct layout_point box, struct layout_point *places)
{
    double radius = ring_radius(graph->switch_count, 1.3 * box.x);
    bool *placed = mem_zalloc(graph->switch_count, sizeof *placed), ring = is_ring(graph);
    uint32_t at = 0, unplaced = 0;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        places[at] = ring_place(radius, (double)i / graph->switch_count);
        placed[at] = true;
        at = ring ? find_next(graph, at, placed) : TOPOLOGY_NONE;
        while (unplaced < graph->switch_count && placed[unplaced])
            unplaced++;
        if (at == TOPOLOGY_NONE)
            at = unplaced;
    }
    mem_free(placed);
}
