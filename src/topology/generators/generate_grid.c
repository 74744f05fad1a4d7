/* Grids: switches at the points of a box of integer coordinates.
 *
 * A mesh links neighbours, a torus closes each line into a ring, a HyperX (Ahn et al.) links all
 * switches of a line with each other; a ring is a torus of one dimension, a hypercube a mesh of two
 * switches per dimension. A port number means the same direction at every switch: in mesh and torus
 * the ports up of a dimension come first, then the ports down; at an edge they stay free. Hosts
 * follow. A line of two switches has one link, in a torus as well. */
#include "topology/generators/plan.h"

#include <assert.h>
#include <stdio.h>

enum grid_kind { GRID_MESH, GRID_TORUS, GRID_HYPERX, GRID_HYPERCUBE };

struct grid_plan {
    enum grid_kind kind;
    unsigned dimensions;
    uint64_t size[PLAN_LIST_ITEMS * 2], stride[PLAN_LIST_ITEMS * 2];
    uint64_t hosts, parallel;
};

/* Ports that dimension `d` takes at every switch. */
static uint64_t ports_of(const struct grid_plan *grid, unsigned d)
{
    uint64_t directions = grid->kind == GRID_HYPERX      ? grid->size[d] - 1
                          : grid->kind == GRID_HYPERCUBE ? 1
                                                         : 2;
    return plan_times(grid->size[d] == 1 ? 0 : directions, grid->parallel);
}

static void name_point(const struct grid_plan *grid, uint64_t point, char *name, size_t size)
{
    int used = snprintf(name, size, "S");
    if (grid->dimensions == 1 || grid->dimensions > 6) {
        snprintf(name + used, size - (size_t)used, "%llu", (unsigned long long)point);
        return;
    }
    for (unsigned d = 0; d < grid->dimensions && (size_t)used < size; d++)
        used += snprintf(name + used, size - (size_t)used, "%s%llu", d ? "_" : "",
                         (unsigned long long)(point / grid->stride[d] % grid->size[d]));
}

/* Links from one point to the next ones of its line, each link once. */
static void link_line(struct fabric_plan *plan, const struct grid_plan *grid, uint64_t point,
                      unsigned d, uint64_t base)
{
    assert(d < grid->dimensions && grid->size[d] > 0);
    uint64_t size = grid->size[d], at = point / grid->stride[d] % size, copies = grid->parallel;
    uint64_t start = point - at * grid->stride[d];
    if (grid->kind == GRID_HYPERX) {
        for (uint64_t to = at + 1; to < size; to++)
            for (uint64_t copy = 0; copy < copies; copy++)
                plan_link(plan, (uint32_t)point, (unsigned)(base + (to - 1) * copies + copy) + 1,
                          (uint32_t)(start + to * grid->stride[d]),
                          (unsigned)(base + at * copies + copy) + 1);
        return;
    }
    bool wraps = grid->kind == GRID_TORUS && size > 2;
    if (size == 1 || (at + 1 == size && !wraps))
        return;
    uint64_t to = start + (at + 1) % size * grid->stride[d];
    uint64_t down = grid->kind == GRID_HYPERCUBE ? 0 : copies;
    for (uint64_t copy = 0; copy < copies; copy++)
        plan_link(plan, (uint32_t)point, (unsigned)(base + copy) + 1, (uint32_t)to,
                  (unsigned)(base + down + copy) + 1);
}

static int draw_grid(struct fabric_plan *plan, struct grid_plan *grid)
{
    uint64_t points = 1, ports = grid->hosts, links;
    char name[32];
    for (unsigned d = 0; d < grid->dimensions; d++) {
        grid->stride[d] = points;
        points = plan_times(points, grid->size[d]);
        ports += ports_of(grid, d);
    }
    if (ports == 0)
        ports = 1;
    int error = plan_check_size(plan, points, plan_times(points, grid->hosts), ports);
    if (error)
        return error;
    for (uint64_t point = 0; point < points; point++) {
        name_point(grid, point, name, sizeof name);
        plan_add_switch(plan, (unsigned)ports, "%s", name);
    }
    for (uint64_t point = 0; point < points; point++) {
        links = 0;
        for (unsigned d = 0; d < grid->dimensions; d++) {
            link_line(plan, grid, point, d, links);
            links += ports_of(grid, d);
        }
        for (uint64_t host = 0; host < grid->hosts; host++)
            plan_attach_host(plan, (uint32_t)point, (unsigned)(links + host) + 1,
                             point * grid->hosts + host);
    }
    return 0;
}

static int draw_dims(struct fabric_plan *plan, enum grid_kind kind)
{
    const struct plan_argument *dims = &plan->arguments[0];
    struct grid_plan grid = {
        .kind = kind,
        .dimensions = dims->count,
        .hosts = plan_number(plan, 1),
        .parallel = plan_number(plan, 2),
    };
    for (unsigned d = 0; d < dims->count; d++)
        grid.size[d] = dims->values[d];
    return draw_grid(plan, &grid);
}

int generate_torus(struct fabric_plan *plan)
{
    return draw_dims(plan, GRID_TORUS);
}

int generate_mesh(struct fabric_plan *plan)
{
    return draw_dims(plan, GRID_MESH);
}

int generate_hyperx(struct fabric_plan *plan)
{
    return draw_dims(plan, GRID_HYPERX);
}

int generate_hypercube(struct fabric_plan *plan)
{
    struct grid_plan grid = {
        .kind = GRID_HYPERCUBE,
        .dimensions = (unsigned)plan_number(plan, 0),
        .hosts = plan_number(plan, 1),
        .parallel = 1,
    };
    for (unsigned d = 0; d < grid.dimensions; d++)
        grid.size[d] = 2;
    return draw_grid(plan, &grid);
}
