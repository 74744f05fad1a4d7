/* dor: dimension-order routes through grids (Dally and Seitz, "Deadlock-free message routing in
 * multiprocessor interconnection networks", 1987).
 *
 * Coordinates come from the network itself (grid.h). A packet moves along the first dimension until
 * its coordinate is that of the destination, then along the second, and so on; in a full mesh that
 * is one hop, in a ring the shorter direction (of two equal ones, switches at even places go up and
 * the others down). Parallel links share the terminals.
 *
 * Turns lead from lower dimensions to higher ones only, so a dependency cycle can only lie inside a
 * ring. There VLs separate packets: bit i of the SL says whether a packet crosses the seam of ring
 * i, the link between its last place and its first. Packets that do not cross it cannot close the
 * cycle; packets that do travel at most half the ring, so that none of them waits on the far side.
 * A grid with r rings takes 2^r VLs. A ring of four is also two lines of two, which need no VLs: it
 * is taken as a ring if the cables are those of one (network_grid.c) and there are VLs for it.
 *
 * Clients use one service level for both directions of a pair. A pair at opposite places of a ring
 * uses both halves if half the ring is an even number of hops, so that one direction crosses the
 * seam. With `reversible` (engine.h) both directions use the same half, which balances the links of
 * the last dimension less evenly; else the note says so.
 *
 * If a link of a ring is missing, packets take the other direction, and the result is proved; any
 * other missing link is a refusal that names it. Not implemented: other orders of dimensions for
 * further LIDs of a terminal, which would need more VLs. */
#include "routing/engine/engine.h"
#include "routing/search/network_grid.h"

#include <errno.h>
#include <string.h>

/* The parallel links to one neighbour: a stretch of `ports`. */
struct bundle {
    uint32_t first;
    uint8_t count; /* 0: missing */
};

struct dor {
    const struct network *network;
    struct routes *routes;
    struct grid grid;
    uint32_t first_bundle[GRID_DIMENSIONS + 1]; /* in a switch's row of bundles */
    struct bundle *bundles; /* [switch * row + …]: line or ring: up, down; full mesh: by place */
    uint8_t *ports;
    unsigned ring_bit[GRID_DIMENSIONS]; /* of the service level */
    unsigned rings;
    bool damaged, same_side;
    bool lost; /* a pair cannot be routed */
};

static uint32_t row_length(const struct dor *dor)
{
    return dor->first_bundle[dor->grid.dimensions];
}

static struct bundle *bundle_at(const struct dor *dor, uint32_t at, unsigned d, uint32_t which)
{
    return &dor->bundles[(size_t)at * row_length(dor) + dor->first_bundle[d] + which];
}

/* Which bundle a neighbour's links are in. */
static uint32_t bundle_of(const struct grid *grid, unsigned d, uint32_t at, uint32_t to)
{
    uint32_t from = grid_place(grid, at, d), there = grid_place(grid, to, d);
    if (grid->dimension[d].shape == GRID_FULL)
        return there;
    return there == (from + 1) % grid->dimension[d].size ? 0 : 1;
}

static void gather_bundles(struct dor *dor)
{
    const struct network *network = dor->network;
    uint32_t switches = (uint32_t)network->switches.count;
    for (unsigned d = 0; d < dor->grid.dimensions; d++)
        dor->first_bundle[d + 1] =
            dor->first_bundle[d] +
            (dor->grid.dimension[d].shape == GRID_FULL ? dor->grid.dimension[d].size : 2);
    dor->bundles = mem_zalloc((size_t)switches * row_length(dor) + 1, sizeof *dor->bundles);
    dor->ports = mem_alloc(network->first_edge[switches]);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t used = network->first_edge[at];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            unsigned d = network_grid_dimension(&dor->grid, at, to);
            bundle_at(dor, at, d, bundle_of(&dor->grid, d, at, to))->count++;
        }
        for (uint32_t i = 0; i < row_length(dor); i++) {
            struct bundle *bundle = &dor->bundles[(size_t)at * row_length(dor) + i];
            bundle->first = used;
            used += bundle->count;
            bundle->count = 0;
        }
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            unsigned d = network_grid_dimension(&dor->grid, at, to);
            struct bundle *bundle = bundle_at(dor, at, d, bundle_of(&dor->grid, d, at, to));
            dor->ports[bundle->first + bundle->count++] = network->edges[e].port;
        }
    }
}

/* Whether all links along a line or ring to a place exist, up (0) or down (1). */
static bool is_open(const struct dor *dor, uint32_t at, unsigned d, uint32_t place,
                    unsigned direction)
{
    while (grid_place(&dor->grid, at, d) != place) {
        const struct bundle *bundle = bundle_at(dor, at, d, direction);
        if (!bundle->count)
            return false;
        at = network_next(dor->network, at, dor->ports[bundle->first]);
    }
    return true;
}

/* The direction to the opposite place in a ring. With same_side both directions of a pair use the
 * same half: low places go up and high ones down, or the reverse, over the seam. The choice may
 * depend only on values that are the same from both ends and at every hop in this dimension. */
static unsigned choose_side(const struct dor *dor, uint32_t at, unsigned d, uint32_t destination)
{
    uint32_t here = grid_place(&dor->grid, at, d), place = grid_place(&dor->grid, destination, d);
    if (!dor->same_side)
        return here % 2;
    uint32_t side = here < place ? here : place;
    for (unsigned e = d + 1; e < dor->grid.dimensions; e++)
        side += grid_place(&dor->grid, at, e) + grid_place(&dor->grid, destination, e);
    return side % 2 ? here < place : here > place;
}

/* Up (0) or down (1) from a switch to the place of another in a line or ring. */
static unsigned choose_direction(const struct dor *dor, uint32_t at, unsigned d,
                                 uint32_t destination)
{
    uint32_t here = grid_place(&dor->grid, at, d), size = dor->grid.dimension[d].size;
    uint32_t place = grid_place(&dor->grid, destination, d);
    if (dor->grid.dimension[d].shape == GRID_LINE)
        return place < here;
    uint32_t up = (place + size - here) % size;
    unsigned direction = 2 * up == size ? choose_side(dor, at, d, destination) : 2 * up > size;
    return dor->damaged && !is_open(dor, at, d, place, direction) ? !direction : direction;
}

/* The links of the next hop, or NULL at the destination's own switch. */
static const struct bundle *next_step(const struct dor *dor, uint32_t at, uint32_t destination)
{
    for (unsigned d = 0; d < dor->grid.dimensions; d++) {
        uint32_t place = grid_place(&dor->grid, destination, d);
        if (grid_place(&dor->grid, at, d) == place)
            continue;
        bool full = dor->grid.dimension[d].shape == GRID_FULL;
        return bundle_at(dor, at, d, full ? place : choose_direction(dor, at, d, destination));
    }
    return NULL;
}

/* A bit for each ring whose seam is on the path. */
static uint8_t service_level(const struct dor *dor, uint32_t at, uint32_t destination)
{
    uint8_t level = 0;
    for (unsigned d = 0; d < dor->grid.dimensions; d++) {
        uint32_t here = grid_place(&dor->grid, at, d);
        uint32_t place = grid_place(&dor->grid, destination, d);
        if (dor->grid.dimension[d].shape != GRID_RING || here == place)
            continue;
        bool crosses = choose_direction(dor, at, d, destination) == 0 ? place < here : place > here;
        level |= (uint8_t)(crosses << dor->ring_bit[d]);
    }
    return level;
}

/* Terminals, and further LIDs of one, take parallel links in turn. */
static uint32_t fill_destination(const struct dor *dor, uint32_t at, uint32_t destination,
                                 const struct bundle *step)
{
    const struct network *network = dor->network;
    const struct network_switch *target = &network->switches.items[destination];
    const uint8_t *ports = dor->ports + step->first;
    uint8_t *table = routes_row(dor->routes, at);
    routes_fill(table, target->lid, target->lmc, ports[destination % step->count]);
    for (uint32_t i = network->first_terminal[destination];
         i < network->first_terminal[destination + 1]; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        for (uint32_t k = 0; terminal->lid && k < UINT32_C(1) << terminal->lmc; k++)
            table[terminal->lid + k] = ports[(i + k) % step->count];
    }
    return 1 + network_terminal_count(network, destination);
}

static void fill_dor_row(void *context, size_t index)
{
    struct dor *dor = context;
    uint32_t at = (uint32_t)index;
    uint64_t operations = 0;
    memset(routes_row(dor->routes, at), PORT_NONE, dor->routes->stride);
    routes_fill_own(dor->routes, dor->network, at);
    for (uint32_t destination = 0; destination < dor->grid.switch_count; destination++) {
        if (destination == at)
            continue;
        const struct bundle *step = next_step(dor, at, destination);
        operations += dor->grid.dimensions;
        if (step->count) {
            operations += fill_destination(dor, at, destination, step);
        } else {
            __atomic_store_n(&dor->lost, true, __ATOMIC_RELAXED);
        }
        if (dor->rings)
            routes_fill_switch(dor->routes->service_levels + (size_t)at * dor->routes->stride,
                               dor->network, destination, service_level(dor, at, destination));
    }
    engine_count(dor->routes, operations + 1 + network_terminal_count(dor->network, at));
}

/* How many of the links of a whole grid are missing, from both ends. */
static uint64_t count_missing(const struct dor *dor)
{
    uint64_t missing = 0;
    for (uint32_t at = 0; at < dor->grid.switch_count; at++) {
        for (unsigned d = 0; d < dor->grid.dimensions; d++) {
            const struct grid_dimension *dimension = &dor->grid.dimension[d];
            uint32_t here = grid_place(&dor->grid, at, d);
            if (dimension->shape == GRID_FULL) {
                for (uint32_t place = 0; place < dimension->size; place++)
                    missing += place != here && !bundle_at(dor, at, d, place)->count;
                continue;
            }
            bool line = dimension->shape == GRID_LINE;
            missing += !(line && here + 1 == dimension->size) && !bundle_at(dor, at, d, 0)->count;
            missing += !(line && here == 0) && !bundle_at(dor, at, d, 1)->count;
        }
    }
    return missing;
}

/* The first pair in order of index, so that the message does not depend on threads. */
static int refuse_missing_link(const struct dor *dor, struct err *err)
{
    char from[NETWORK_LABEL_BYTES], to[NETWORK_LABEL_BYTES];
    for (uint32_t at = 0; at < dor->grid.switch_count; at++) {
        for (uint32_t destination = 0; destination < dor->grid.switch_count; destination++) {
            const struct bundle *step = next_step(dor, at, destination);
            if (step && !step->count)
                return err_set(err, EMEDIUMTYPE,
                               "dor: the %s lacks a link: the next step from %s towards "
                               "%s is missing",
                               dor->grid.name,
                               network_label(dor->network, NETWORK_SWITCH | at, from),
                               network_label(dor->network, NETWORK_SWITCH | destination, to));
        }
    }
    return 0;
}

static int fill_tables(struct dor *dor, const struct engine_options *options, struct err *err)
{
    const struct network *network = dor->network;
    uint64_t operations = (uint64_t)network->first_edge[network->switches.count] * 8;
    unsigned vls = engine_vls(options);
    dor->routes->operations = operations;
    for (unsigned d = 0; d < dor->grid.dimensions; d++)
        if (dor->grid.dimension[d].shape == GRID_RING)
            dor->ring_bit[d] = dor->rings++;
    if (1u << dor->rings > vls)
        return err_set(err, ENOSPC, "dor: the %s takes %u VLs, and there are %u", dor->grid.name,
                       1u << dor->rings, vls);
    gather_bundles(dor);
    uint64_t missing = count_missing(dor);
    dor->damaged = missing > 0;
    routes_reserve(dor->routes, network, "dor");
    dor->routes->operations = operations;
    dor->routes->vls = (uint8_t)(1u << dor->rings);
    if (dor->rings)
        dor->routes->service_levels =
            mem_zalloc((size_t)network->switches.count * dor->routes->stride, 1);
    routes_add_note(dor->routes, "%s%s", dor->grid.name, missing ? ", with links missing" : "");
    workers_run(options->workers, network->switches.count, fill_dor_row, dor);
    return dor->lost ? refuse_missing_link(dor, err) : 0;
}

/* Whether all pairs cross the same seams in both directions. If not, the note says so, or the
 * engine refuses. */
static int check_reversible(const struct dor *dor, struct err *err)
{
    struct routes *routes = dor->routes;
    uint32_t switches = routes->switch_count;
    routes->reversible = true;
    for (uint32_t a = 0; dor->rings && routes->reversible && a < switches; a++)
        for (uint32_t b = a + 1; routes->reversible && b < switches; b++)
            routes->reversible = service_level(dor, a, b) == service_level(dor, b, a);
    if (routes->reversible)
        return 0;
    if (dor->same_side)
        return err_set(err, EDEADLK,
                       "dor: with links missing, some pairs' two directions take other VLs");
    routes_add_note(routes,
                    ", two VLs for some pairs' directions: reversible paths are not proved");
    return 0;
}

static int dor_compute(const struct network *network, const struct engine_options *options,
                       struct routes *routes, struct err *err)
{
    struct dor dor = {.network = network, .routes = routes};
    struct err reason;
    *routes = (struct routes){0};
    int rc = network_grid(&dor.grid, network, engine_vls(options), &reason);
    if (rc)
        return err_set(err, -rc, "dor: %s", reason.message);
    dor.same_side = options->reversible;
    rc = fill_tables(&dor, options, err);
    if (!rc)
        rc = check_reversible(&dor, err);
    grid_release(&dor.grid);
    mem_free(dor.bundles);
    mem_free(dor.ports);
    if (rc) {
        engine_refuse(routes);
        return rc;
    }
    return engine_settle(network, options, dor.damaged, routes, err);
}

const struct engine engine_dor = {
    .name = "dor",
    .summary = "dimension order for meshes, tori, hypercubes and HyperX, with VLs for rings",
    .compute = dor_compute,
};
