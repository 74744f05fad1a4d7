/* FERa's distances and tables (TPDS 2006, section 2.3).
 *
 * FERa's rule for tables without regard to the input port: a switch that can reach the destination
 * by going down all the way must do so, even where a route up would be shorter; all others go up
 * along a shortest such route. Ranks order the directed graph, so both distances are one sweep over
 * the edges: pure-down distances from the highest rank to the lowest (children first), the others
 * from the lowest to the highest (parents first). That is O(links) for a destination, where the
 * paper's form is O(n^2).
 *
 * Destinations are the switches in order of index, cut into tiles of 64. Every switch has one row
 * of 64 distances in a tile. Inner loops run over a row, which compilers turn into vector
 * instructions, or over the bits of one word, one bit for each destination of the tile. Tiles do
 * not depend on each other and may be computed in parallel, and so do rows of the tables.
 *
 * With several roots some switches may have no legal route (root to root in a fat tree, for
 * example). These unroutable switches send towards the nearest switch that has one. Ties go to the
 * lowest port, as in the paper, and all terminals of a switch share its route. Engines that balance
 * use next_hops.h, which is faster; this form stays with the paper's engines, since the price of
 * their operations (engine.h) was measured with it. */
#include "routing/paper/fera_tables.h"

#include <string.h>

/* A row of distances counts as eight operations: one for every vector of 128 bits. */
enum { TILE = 64, ROW_OPERATIONS = 8, CHUNK_BYTES = 32 << 20 };

struct fera {
    const struct network *network;
    const struct updown *updown;
    struct routes *routes;
    struct arena memory;
    uint32_t switch_count;
    uint32_t first_tile, tile_count; /* the tiles in memory */
    uint16_t *hops;                  /* [(tile * switch_count + switch) * TILE + destination] */

    /* Bits of destinations, one word for each tile and switch: [tile * switch_count + switch]. */
    uint64_t *descends;   /* the route goes down all the way */
    uint64_t *unroutable; /* no legal route: `hops` counts from the nearest switch that has one */
    struct updown_gaps *gaps; /* by tile */
};

static uint16_t *hops_row(const struct fera *fera, uint32_t tile, uint32_t at)
{
    return fera->hops + ((size_t)tile * fera->switch_count + at) * TILE;
}

/* best = min(best, other + 1) for every destination. HOPS_NONE + 1 is larger than HOPS_NONE, so no
 * distance spreads from where there is no route. */
static void relax_row(uint16_t *restrict best, const uint16_t *restrict other)
{
    for (int bit = 0; bit < TILE; bit++) {
        uint16_t longer = (uint16_t)(other[bit] + 1);
        best[bit] = longer < best[bit] ? longer : best[bit];
    }
}

static uint64_t reached_bits(const uint16_t *row)
{
    uint64_t bits = 0;
    for (int bit = 0; bit < TILE; bit++)
        bits |= (uint64_t)(row[bit] != HOPS_NONE) << bit;
    return bits;
}

static void sweep_down(struct fera *fera, uint32_t tile)
{
    const struct network *network = fera->network;
    const struct updown *updown = fera->updown;
    uint64_t *descends = fera->descends + (size_t)tile * fera->switch_count;
    for (uint32_t rank = fera->switch_count; rank-- > 0;) {
        uint32_t at = updown->order[rank];
        uint16_t *row = hops_row(fera, tile, at);
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            if (updown->rank[network->edges[e].to] > rank)
                relax_row(row, hops_row(fera, tile, network->edges[e].to));
        descends[at] = reached_bits(row);
    }
}

static void sweep_up(struct fera *fera, uint32_t tile)
{
    const struct network *network = fera->network;
    const struct updown *updown = fera->updown;
    for (uint32_t rank = 0; rank < fera->switch_count; rank++) {
        uint32_t at = updown->order[rank];
        uint16_t *row = hops_row(fera, tile, at);
        uint16_t best[TILE];
        for (int bit = 0; bit < TILE; bit++)
            best[bit] = HOPS_NONE;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            if (updown->rank[network->edges[e].to] < rank)
                relax_row(best, hops_row(fera, tile, network->edges[e].to));
        for (int bit = 0; bit < TILE; bit++)
            row[bit] = row[bit] == HOPS_NONE ? best[bit] : row[bit];
    }
}

/* Sends the unroutable switches in `left` ring by ring towards switches that have a route. */
static uint64_t place_unroutable(struct fera *fera, uint32_t tile, uint32_t bit, uint32_t *left,
                                 uint32_t left_count)
{
    const struct network *network = fera->network;
    uint64_t *unroutable = fera->unroutable + (size_t)tile * fera->switch_count;
    uint64_t mask = UINT64_C(1) << bit, operations = 0;
    for (uint16_t ring = 1; left_count; ring++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < left_count; i++) {
            uint32_t at = left[i];
            bool beside = false;
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
                uint32_t to = network->edges[e].to;
                uint16_t other = hops_row(fera, tile, to)[bit];
                beside |= unroutable[to] & mask ? other < ring : other != HOPS_NONE;
            }
            operations += network->first_edge[at + 1] - network->first_edge[at];
            if (beside) {
                hops_row(fera, tile, at)[bit] = ring;
                unroutable[at] |= mask;
            } else {
                left[kept++] = at;
            }
        }
        left_count = kept;
    }
    return operations;
}

static uint64_t gather_unroutable(struct fera *fera, uint32_t tile, uint32_t destinations)
{
    const uint32_t *part = fera->updown->part;
    uint32_t switches = fera->switch_count, first = (fera->first_tile + tile) * TILE;
    uint64_t *reached = mem_alloc(switches * sizeof *reached);
    uint32_t *left = mem_alloc(switches * sizeof *left);
    uint64_t gaps = 0, operations = 0;
    for (uint32_t at = 0; at < switches; at++) {
        reached[at] = reached_bits(hops_row(fera, tile, at));
        gaps |= ~reached[at];
    }
    for (uint32_t bit = 0; bit < destinations; bit++) {
        uint32_t count = 0;
        if (!(gaps >> bit & 1))
            continue;
        for (uint32_t at = 0; at < switches; at++) {
            if (reached[at] >> bit & 1 || part[at] != part[first + bit])
                continue;
            updown_count_gap(&fera->gaps[tile], fera->network, at, first + bit);
            left[count++] = at;
        }
        operations += switches + place_unroutable(fera, tile, bit, left, count);
    }
    mem_free(reached);
    mem_free(left);
    return operations;
}

static void compute_fera_tile(void *context, size_t index)
{
    struct fera *fera = context;
    uint32_t tile = (uint32_t)index, first = (fera->first_tile + tile) * TILE;
    uint32_t left = fera->switch_count - first, destinations = left < TILE ? left : TILE;
    uint16_t *hops = hops_row(fera, tile, 0);
    for (size_t i = 0; i < (size_t)fera->switch_count * TILE; i++)
        hops[i] = HOPS_NONE;
    for (uint32_t bit = 0; bit < destinations; bit++)
        hops_row(fera, tile, first + bit)[bit] = 0;
    memset(fera->unroutable + (size_t)tile * fera->switch_count, 0,
           fera->switch_count * sizeof *fera->unroutable);
    fera->gaps[tile] = (struct updown_gaps){0};
    sweep_down(fera, tile);
    sweep_up(fera, tile);
    /* Each row is cleared, its reached bits are gathered twice, and going up fills and merges one
     * more; and one row is relaxed over every edge, either down or up. */
    uint64_t rows =
        UINT64_C(5) * fera->switch_count + fera->network->first_edge[fera->switch_count];
    engine_count(fera->routes, rows * ROW_OPERATIONS + gather_unroutable(fera, tile, destinations));
}

/* The lowest candidate of one switch for the 64 destinations of a tile. */
struct lowest {
    uint64_t found;      /* destinations that have one */
    uint32_t edge[TILE]; /* of the network */
    uint32_t operations; /* rows compared, candidates found */
};

/* Destinations for which a neighbour is one hop closer on a route of the same kind. */
static uint64_t candidate_bits(const struct fera *fera, uint32_t tile, uint32_t at, uint32_t to)
{
    const uint16_t *mine = hops_row(fera, tile, at), *theirs = hops_row(fera, tile, to);
    size_t row = (size_t)tile * fera->switch_count;
    uint64_t closer = 0;
    for (int bit = 0; bit < TILE; bit++)
        closer |= (uint64_t)((uint16_t)(theirs[bit] + 1) == mine[bit]) << bit;
    closer &= ~fera->unroutable[row + at] & ~fera->unroutable[row + to];
    if (updown_is_up(fera->updown, at, to))
        return closer & ~fera->descends[row + at];
    return closer & fera->descends[row + at] & fera->descends[row + to];
}

/* An unroutable switch sends to the neighbour nearest to a legal route, of several to the one
 * farthest up. */
static uint32_t unroutable_edge(const struct fera *fera, uint32_t tile, uint32_t at, uint32_t bit)
{
    const struct network *network = fera->network;
    const uint64_t *unroutable = fera->unroutable + (size_t)tile * fera->switch_count;
    uint32_t best = NETWORK_NONE;
    uint16_t ring = hops_row(fera, tile, at)[bit];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        uint16_t hops = hops_row(fera, tile, to)[bit];
        if (unroutable[to] >> bit & 1 ? hops + 1 != ring : ring != 1 || hops == HOPS_NONE)
            continue;
        if (best == NETWORK_NONE ||
            fera->updown->rank[to] < fera->updown->rank[network->edges[best].to])
            best = e;
    }
    return best;
}

static void find_lowest(const struct fera *fera, uint32_t tile, uint32_t at, struct lowest *lowest)
{
    const struct network *network = fera->network;
    uint64_t unroutable = fera->unroutable[(size_t)tile * fera->switch_count + at];
    lowest->found = 0;
    lowest->operations = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint64_t bits = candidate_bits(fera, tile, at, network->edges[e].to) & ~lowest->found;
        lowest->found |= bits;
        lowest->operations += ROW_OPERATIONS + (unsigned)__builtin_popcountll(bits);
        for (; bits; bits &= bits - 1)
            lowest->edge[__builtin_ctzll(bits)] = e;
    }
    lowest->found |= unroutable;
    for (; unroutable; unroutable &= unroutable - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(unroutable);
        lowest->edge[bit] = unroutable_edge(fera, tile, at, bit);
    }
}

static void fill_fera_row(void *context, size_t index)
{
    const struct fera *fera = context;
    const struct network *network = fera->network;
    uint32_t at = (uint32_t)index;
    struct lowest lowest;
    uint64_t operations = 0;
    for (uint32_t tile = 0; tile < fera->tile_count; tile++) {
        uint32_t first = (fera->first_tile + tile) * TILE, left = fera->switch_count - first;
        find_lowest(fera, tile, at, &lowest);
        operations += lowest.operations;
        for (uint32_t bit = 0; bit < TILE && bit < left; bit++) {
            bool here = at == first + bit, found = lowest.found >> bit & 1;
            operations += here || found ? 1 + network_terminal_count(network, first + bit) : 1;
            if (here)
                routes_fill_own(fera->routes, network, at);
            else if (found)
                routes_fill_switch(routes_row(fera->routes, at), network, first + bit,
                                   network->edges[lowest.edge[bit]].port);
        }
    }
    engine_count(fera->routes, operations);
}

void fera_fill_tables(const struct network *network, const struct updown *updown,
                      const struct engine_options *options, struct routes *routes,
                      struct updown_gaps *gaps)
{
    uint32_t switches = (uint32_t)network->switches.count, tiles = (switches + TILE - 1) / TILE;
    struct fera fera = {
        .network = network, .updown = updown, .routes = routes, .switch_count = switches};
    size_t tile_bytes = (size_t)switches * TILE * sizeof *fera.hops;
    size_t limit = tile_bytes ? CHUNK_BYTES / tile_bytes : 1;
    if (limit < workers_count(options->workers))
        limit = workers_count(options->workers);
    if (limit > tiles)
        limit = tiles;
    *gaps = (struct updown_gaps){0};
    fera.hops = arena_alloc(&fera.memory, limit * tile_bytes);
    fera.descends = arena_alloc(&fera.memory, limit * switches * sizeof *fera.descends);
    fera.unroutable = arena_alloc(&fera.memory, limit * switches * sizeof *fera.unroutable);
    fera.gaps = arena_alloc(&fera.memory, limit * sizeof *fera.gaps);
    for (; fera.first_tile < tiles; fera.first_tile += fera.tile_count) {
        uint32_t left = tiles - fera.first_tile;
        fera.tile_count = left < limit ? left : (uint32_t)limit;
        workers_run(options->workers, fera.tile_count, compute_fera_tile, &fera);
        workers_run(options->workers, switches, fill_fera_row, &fera);
        for (uint32_t tile = 0; tile < fera.tile_count; tile++)
            updown_add_gaps(gaps, &fera.gaps[tile]);
    }
    arena_release(&fera.memory);
}
