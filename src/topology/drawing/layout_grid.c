/* The layout of grids: mesh, torus, hypercube and HyperX, from the coordinates of grid.h.
 *
 * Rows and columns that are closed (or fully meshed) are bent, so that the links that skip switches
 * do not cross their labels. */
#include "topology/analysis/grid.h"
#include "topology/drawing/layout.h"

/* A grid whose pairs of lines of two are rings of four. */
struct drawn_grid {
    uint32_t switches, dimensions;
    int32_t size[GRID_DIMENSIONS];
    enum grid_shape shape[GRID_DIMENSIONS];
    int32_t (*at)[GRID_DIMENSIONS]; /* by switch */
};

/* Two lines of two become a ring of four, except in a square and a cube. */
static void copy_grid(const struct grid *from, struct drawn_grid *grid)
{
    uint32_t pairs = 0;
    int32_t half = -1; /* the dimension that the next line of two joins */
    grid->at = mem_zalloc(grid->switches, sizeof *grid->at);
    for (unsigned d = 0; d < from->dimensions; d++)
        pairs += from->dimension[d].size == 2;
    bool merge = pairs != from->dimensions || pairs > 3;
    for (unsigned d = 0; d < from->dimensions; d++) {
        bool joins = merge && from->dimension[d].size == 2 && half >= 0;
        uint32_t to = joins ? (uint32_t)half : grid->dimensions++;
        for (uint32_t i = 0; i < grid->switches; i++) {
            int32_t at = (int32_t)grid_place(from, i, d), *own = &grid->at[i][to];
            *own = !joins ? at : at ? 3 - *own : *own;
        }
        grid->size[to] = joins ? 4 : (int32_t)from->dimension[d].size;
        grid->shape[to] = joins ? GRID_RING : from->dimension[d].shape;
        half = joins ? -1 : from->dimension[d].size == 2 ? (int32_t)to : half;
    }
}

/* ---- places ---- */

/* How far the middle of a line bends, so that no link that skips switches comes nearer than
 * `clearance` to their centres. */
static double bend_of(const struct drawn_grid *grid, uint32_t d, double clearance)
{
    double steps = grid->size[d] - 1;
    if (grid->shape[d] == GRID_LINE || grid->size[d] < 3)
        return 0;
    return grid->shape[d] == GRID_FULL ? clearance * steps * steps / 4
                                       : clearance * steps * steps / (4 * (steps - 1));
}

/* The offset of a place on a parabola. */
static double bend_at(const struct drawn_grid *grid, uint32_t d, double bend, int32_t at)
{
    double share = grid->size[d] > 1 ? (double)at / (grid->size[d] - 1) : 0;
    return bend * 4 * share * (1 - share);
}

static void place_grid(const struct drawn_grid *grid, struct layout_point box,
                       struct layout_point *places)
{
    uint32_t order[GRID_DIMENSIONS] = {0};
    /* The dimensions by size: the largest along x, the next along y, the third along the diagonal.
     */
    for (uint32_t d = 0; d < grid->dimensions; d++) {
        uint32_t at = d;
        for (; at > 0 && grid->size[order[at - 1]] < grid->size[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    uint32_t x = order[0], y = order[1];
    bool solid = grid->dimensions > 2;
    double depth = solid ? grid->size[order[2]] : 0;
    double bend_x = bend_of(grid, x, box.y * 1.1), bend_y = bend_of(grid, y, box.x * 0.8);
    double bend_z = solid ? bend_of(grid, order[2], box.x * 0.8) : 0;
    struct layout_point back = {box.x * 0.55, box.y * 1.5}; /* one step along the diagonal */
    /* A cell has room for the largest step of a bent line, so that no labels overlap. */
    struct layout_point cell = {box.x * 1.5 + depth * back.x + bend_z + bend_at(grid, y, bend_y, 1),
                                box.y * 2.2 + depth * back.y + bend_at(grid, x, bend_x, 1)};
    for (uint32_t i = 0; i < grid->switches; i++) {
        const int32_t *at = grid->at[i];
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
    struct simple simple;
    struct grid found;
    struct drawn_grid grid = {.switches = graph->switch_count};
    uint64_t points = 1;
    simple_init(&simple, graph->switch_count, graph->first_edge, graph->neighbour);
    bool is_grid = graph->switch_count >= 4 && grid_recognise(&found, &simple, NULL) == 0;
    simple_release(&simple);
    if (!is_grid)
        return false;
    copy_grid(&found, &grid);
    grid_release(&found);
    for (uint32_t d = 0; d < grid.dimensions; d++)
        points *= (uint64_t)grid.size[d];
    is_grid = points == graph->switch_count && grid.dimensions >= 2;
    if (is_grid)
        place_grid(&grid, box, places);
    mem_free(grid.at);
    return is_grid;
}
