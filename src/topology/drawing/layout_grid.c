/* The layout of grids: mesh, torus, hypercube and HyperX.
 *
 * Coordinates are computed from the links. The neighbours of a corner (of any switch of a torus)
 * are the unit vectors. Two of them belong to the same dimension if they are adjacent (a line that
 * is fully meshed, or a ring of three) or if the corner is their only common neighbour (a ring of
 * five or more). A ring of four is the product of two lines of two, and is merged again at the end.
 * A switch at a larger distance has in each dimension the largest coordinate of its neighbours that
 * are nearer; with one such neighbour it continues the line. The result counts only if every link
 * changes one coordinate as a grid does.
 *
 * Rows and columns that are closed (or fully meshed) are bent, so that the links that skip switches
 * do not cross their labels. */
#include "topology/drawing/layout.h"

#include <stdlib.h>

enum { MAX_DIMENSIONS = 16, MAX_NEIGHBOURS = 64 };

struct coordinates {
    int32_t at[MAX_DIMENSIONS];
};

struct grid {
    const struct graph *graph;
    struct coordinates *of; /* by switch */
    uint32_t *distance, *queue;
    uint32_t dimensions;
    int32_t size[MAX_DIMENSIONS];
    bool meshed[MAX_DIMENSIONS]; /* its lines are full meshes */
    bool closed[MAX_DIMENSIONS]; /* its lines are rings of three or more */
    struct arena memory;
};

static bool adjacent(const struct graph *graph, uint32_t one, uint32_t other)
{
    for (uint32_t e = graph->first_edge[one]; e < graph->first_edge[one + 1]; e++)
        if (graph->neighbour[e] == other)
            return true;
    return false;
}

/* Different neighbours of a switch, in port order; more than MAX_NEIGHBOURS are left out. */
static uint32_t list_neighbours(const struct graph *graph, uint32_t at, uint32_t *list)
{
    uint32_t count = 0;
    for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
        bool known = count == MAX_NEIGHBOURS;
        for (uint32_t i = 0; i < count && !known; i++)
            known = list[i] == graph->neighbour[e];
        if (!known)
            list[count++] = graph->neighbour[e];
    }
    return count;
}

static uint32_t common_neighbours(const struct graph *graph, uint32_t one, uint32_t other)
{
    uint32_t list[MAX_NEIGHBOURS], count = list_neighbours(graph, one, list), common = 0;
    for (uint32_t i = 0; i < count; i++)
        common += adjacent(graph, list[i], other);
    return common;
}

static uint32_t find_corner(const struct graph *graph)
{
    uint32_t list[MAX_NEIGHBOURS], best = 0, least = UINT32_MAX;
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint32_t degree = list_neighbours(graph, i, list);
        if (degree < least) {
            least = degree;
            best = i;
        }
    }
    return best;
}

/* Gives each neighbour of the corner a dimension and a coordinate there. */
static bool place_neighbours(struct grid *grid, uint32_t corner)
{
    uint32_t list[MAX_NEIGHBOURS], count = list_neighbours(grid->graph, corner, list);
    uint32_t dimension[MAX_NEIGHBOURS], members[MAX_DIMENSIONS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        bool opposite = false;
        dimension[i] = grid->dimensions;
        for (uint32_t j = 0; j < i; j++) {
            bool meshed = adjacent(grid->graph, list[i], list[j]);
            if (!meshed && common_neighbours(grid->graph, list[i], list[j]) != 1)
                continue;
            dimension[i] = dimension[j];
            grid->meshed[dimension[j]] = meshed;
            opposite = !meshed;
        }
        if (dimension[i] == MAX_DIMENSIONS)
            return false;
        grid->dimensions += dimension[i] == grid->dimensions;
        int32_t number = (int32_t)++members[dimension[i]];
        grid->of[list[i]].at[dimension[i]] = opposite ? -1 : number;
    }
    return grid->dimensions > 0;
}

/* The position of a switch whose nearer neighbours have theirs. */
static bool place_switch(struct grid *grid, uint32_t at)
{
    const struct graph *graph = grid->graph;
    const struct coordinates *first = NULL;
    struct coordinates *own = &grid->of[at];
    bool single = true, conflict[MAX_DIMENSIONS] = {0};
    for (uint32_t e = graph->first_edge[at]; e < graph->first_edge[at + 1]; e++) {
        const struct coordinates *near = &grid->of[graph->neighbour[e]];
        if (grid->distance[graph->neighbour[e]] >= grid->distance[at])
            continue;
        single &= !first || near == first;
        first = near;
        for (uint32_t d = 0; d < grid->dimensions; d++) {
            conflict[d] |= near->at[d] != 0 && near->at[d] == -own->at[d];
            if (abs(near->at[d]) <= abs(own->at[d]))
                continue;
            own->at[d] = near->at[d];
            conflict[d] = false;
        }
    }
    uint32_t axes = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        axes += own->at[d] != 0;
        if (conflict[d]) /* opposite the corner on a ring of even length */
            own->at[d] = abs(own->at[d]) + 1;
        else if (single && own->at[d] != 0)
            own->at[d] += own->at[d] < 0 ? -1 : 1;
    }
    return !single || axes == 1;
}

/* Makes coordinates run from 0, and finds the size of each dimension. */
static void normalise(struct grid *grid)
{
    uint32_t count = grid->graph->switch_count;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        int32_t low = 0, high = 0;
        for (uint32_t i = 0; i < count; i++) {
            int32_t at = grid->of[i].at[d];
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
        grid->size[d] = high - low + 1;
        for (uint32_t i = 0; i < count; i++)
            if (grid->of[i].at[d] < 0)
                grid->of[i].at[d] += grid->size[d];
    }
}

static void remove_dimension(struct grid *grid, uint32_t which)
{
    grid->dimensions--;
    for (uint32_t d = which; d < grid->dimensions; d++) {
        grid->size[d] = grid->size[d + 1];
        grid->meshed[d] = grid->meshed[d + 1];
        for (uint32_t i = 0; i < grid->graph->switch_count; i++)
            grid->of[i].at[d] = grid->of[i].at[d + 1];
    }
}

/* Two lines of two become a ring of four, except in a square and a cube. */
static void merge_pairs(struct grid *grid)
{
    uint32_t pairs = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++)
        pairs += grid->size[d] == 2;
    if (pairs == grid->dimensions && pairs <= 3)
        return;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t other = d + 1;
        while (other < grid->dimensions && grid->size[other] != 2)
            other++;
        if (grid->size[d] != 2 || other >= grid->dimensions)
            continue;
        for (uint32_t i = 0; i < grid->graph->switch_count; i++) {
            int32_t *at = grid->of[i].at;
            at[d] = at[other] ? 3 - at[d] : at[d];
        }
        grid->size[d] = 4;
        remove_dimension(grid, other);
    }
}

/* Whether a link changes one coordinate, by one, or around a ring, or within a meshed line. */
static bool is_grid_link(struct grid *grid, const int32_t *one, const int32_t *other)
{
    uint32_t changes = 0;
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        int32_t step = abs(one[d] - other[d]);
        changes += step != 0;
        if (step > 1 && step != grid->size[d] - 1 && !grid->meshed[d])
            return false;
        grid->closed[d] |= step > 1;
    }
    return changes == 1;
}

static bool is_grid(struct grid *grid)
{
    const struct graph *graph = grid->graph;
    uint64_t points = 1;
    for (uint32_t d = 0; d < grid->dimensions && points <= graph->switch_count; d++)
        points *= (uint64_t)grid->size[d];
    if (points != graph->switch_count || grid->dimensions < 2)
        return false;
    bool *taken = arena_alloc(&grid->memory, points * sizeof *taken);
    for (uint32_t i = 0; i < graph->switch_count; i++) {
        uint64_t point = 0;
        for (uint32_t d = 0; d < grid->dimensions; d++)
            point = point * (uint64_t)grid->size[d] + (uint64_t)grid->of[i].at[d];
        if (taken[point])
            return false;
        taken[point] = true;
        for (uint32_t e = graph->first_edge[i]; e < graph->first_edge[i + 1]; e++)
            if (!is_grid_link(grid, grid->of[i].at, grid->of[graph->neighbour[e]].at))
                return false;
    }
    return true;
}

/* ---- places ---- */

/* How far the middle of a line bends, so that no link that skips switches comes nearer than
 * `clearance` to their centres. */
static double bend_of(const struct grid *grid, uint32_t d, double clearance)
{
    double steps = grid->size[d] - 1;
    if (!grid->closed[d])
        return 0;
    return grid->meshed[d] ? clearance * steps * steps / 4
                           : clearance * steps * steps / (4 * (steps - 1));
}

/* The offset of a place on a parabola. */
static double bend_at(const struct grid *grid, uint32_t d, double bend, int32_t at)
{
    double share = grid->size[d] > 1 ? (double)at / (grid->size[d] - 1) : 0;
    return bend * 4 * share * (1 - share);
}

/* The dimensions by size: the largest along x, the next along y, the third along the diagonal. */
static void order_dimensions(const struct grid *grid, uint32_t *order)
{
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t at = d;
        for (; at > 0 && grid->size[order[at - 1]] < grid->size[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
}

static void place_grid(const struct grid *grid, struct layout_point box,
                       struct layout_point *places)
{
    uint32_t order[MAX_DIMENSIONS] = {0};
    order_dimensions(grid, order);
    uint32_t x = order[0], y = order[1];
    bool solid = grid->dimensions > 2;
    double depth = solid ? grid->size[order[2]] : 0;
    double bend_x = bend_of(grid, x, box.y * 1.1), bend_y = bend_of(grid, y, box.x * 0.8);
    double bend_z = solid ? bend_of(grid, order[2], box.x * 0.8) : 0;
    struct layout_point back = {box.x * 0.55, box.y * 1.5}; /* one step along the diagonal */
    /* A cell has room for the largest step of a bent line, so that no labels overlap. */
    struct layout_point cell = {box.x * 1.5 + depth * back.x + bend_z + bend_at(grid, y, bend_y, 1),
                                box.y * 2.2 + depth * back.y + bend_at(grid, x, bend_x, 1)};
    for (uint32_t i = 0; i < grid->graph->switch_count; i++) {
        const int32_t *at = grid->of[i].at;
        struct layout_point block = {(grid->size[x] + 0.5) * cell.x + bend_y,
                                     (grid->size[y] + 0.5) * cell.y + bend_x};
        struct layout_point *place = &places[i];
        place->x = at[x] * cell.x + bend_at(grid, y, bend_y, at[y]);
        place->y = at[y] * cell.y + bend_at(grid, x, bend_x, at[x]);
        if (solid) {
            int32_t deep = at[order[2]];
            place->x += deep * back.x - bend_at(grid, order[2], bend_z, deep);
            place->y += deep * back.y;
        }
        /* Further dimensions repeat the whole, to the right and upwards in turn. */
        for (uint32_t d = 3; d < grid->dimensions; d++) {
            bool right = d % 2;
            *(right ? &place->x : &place->y) += at[order[d]] * (right ? block.x : block.y);
            *(right ? &block.x : &block.y) *= grid->size[order[d]];
        }
    }
}

bool layout_grid(const struct graph *graph, struct layout_point box, struct layout_point *places)
{
    uint32_t count = graph->switch_count, corner = count ? find_corner(graph) : 0;
    struct grid grid = {.graph = graph};
    grid.of = arena_alloc(&grid.memory, count * sizeof *grid.of);
    grid.distance = arena_alloc(&grid.memory, count * sizeof *grid.distance);
    grid.queue = arena_alloc(&grid.memory, count * sizeof *grid.queue);
    bool found = count >= 4 &&
                 graph_distances(graph, &corner, 1, grid.distance, grid.queue) == count &&
                 place_neighbours(&grid, corner);
    for (uint32_t i = 0; found && i < count; i++)
        if (grid.distance[grid.queue[i]] > 1)
            found = place_switch(&grid, grid.queue[i]);
    if (found) {
        normalise(&grid);
        merge_pairs(&grid);
        found = is_grid(&grid);
    }
    if (found)
        place_grid(&grid, box, places);
    arena_release(&grid.memory);
    return found;
}
