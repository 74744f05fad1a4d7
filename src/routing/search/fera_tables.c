/* Rows of tables from tiles of distances, as the seeds have it: ties go to the lowest port.
 *
 * A neighbour is a candidate for a destination if it is one hop closer on a route of the same kind.
 * All terminals of a switch share its route. Rows are filled side by side. Engines that balance are
 * quicker with next_hops.h; this form stays with the paper's engines, whose operations are counted
 * here (engine.h) as they were when their prices were taken. */
#include "routing/search/fera_tables.h"

#include <string.h>

struct spread {
    const struct network *network;
    const struct updown *updown;
    struct distances distances;
    struct routes *routes;
};

/* The lowest candidate of one switch for the 64 destinations of a tile. */
struct lowest {
    uint64_t found;            /* lanes that have one */
    uint32_t edge[TILE_LANES]; /* of the network */
    uint32_t operations;       /* rows compared, candidates found */
};

static uint64_t lanes_one_closer(const uint16_t *mine, const uint16_t *theirs)
{
    uint64_t lanes = 0;
    for (int lane = 0; lane < TILE_LANES; lane++)
        lanes |= (uint64_t)((uint16_t)(theirs[lane] + 1) == mine[lane]) << lane;
    return lanes;
}

static uint64_t candidate_lanes(const struct spread *spread, uint32_t tile, uint32_t at,
                                uint32_t to)
{
    const struct distances *distances = &spread->distances;
    uint64_t closer =
        lanes_one_closer(distances_row(distances, tile, at), distances_row(distances, tile, to));
    size_t row = (size_t)tile * distances->switch_count;
    closer &= ~distances->strays[row + at] & ~distances->strays[row + to];
    if (updown_is_up(spread->updown, at, to))
        return closer & ~distances->descends[row + at];
    return closer & distances->descends[row + at] & distances->descends[row + to];
}

/* A stray goes to the neighbour nearest to a legal route, of several to the one farthest up. */
static uint32_t stray_edge(const struct spread *spread, uint32_t tile, uint32_t at, uint32_t lane)
{
    const struct network *network = spread->network;
    const struct distances *distances = &spread->distances;
    const uint64_t *strays = distances->strays + (size_t)tile * distances->switch_count;
    uint32_t best = NETWORK_NONE;
    uint16_t ring = distances_row(distances, tile, at)[lane];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        uint16_t hops = distances_row(distances, tile, to)[lane];
        if (strays[to] >> lane & 1 ? hops + 1 != ring : ring != 1 || hops == HOPS_NONE)
            continue;
        if (best == NETWORK_NONE ||
            spread->updown->rank[to] < spread->updown->rank[network->edges[best].to])
            best = e;
    }
    return best;
}

static void find_lowest(const struct spread *spread, uint32_t tile, uint32_t at,
                        struct lowest *lowest)
{
    const struct network *network = spread->network;
    uint64_t strays = spread->distances.strays[(size_t)tile * spread->distances.switch_count + at];
    lowest->found = 0;
    lowest->operations = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint64_t lanes = candidate_lanes(spread, tile, at, network->edges[e].to) & ~lowest->found;
        lowest->found |= lanes;
        lowest->operations += ROW_OPERATIONS + (unsigned)__builtin_popcountll(lanes);
        for (; lanes; lanes &= lanes - 1)
            lowest->edge[__builtin_ctzll(lanes)] = e;
    }
    lowest->found |= strays;
    for (; strays; strays &= strays - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(strays);
        lowest->edge[lane] = stray_edge(spread, tile, at, lane);
    }
}

/* Returns the entries written. */
static uint32_t fill_destination(const struct spread *spread, uint32_t at, uint32_t destination,
                                 uint8_t port)
{
    const struct network *network = spread->network;
    const struct network_switch *target = &network->switches.items[destination];
    uint8_t *table = routes_row(spread->routes, at);
    routes_fill(table, target->lid, target->lmc, port);
    for (uint32_t i = network->first_terminal[destination];
         i < network->first_terminal[destination + 1]; i++) {
        const struct network_terminal *terminal =
            &network->terminals.items[network->terminals_at[i]];
        routes_fill(table, terminal->lid, terminal->lmc, at == destination ? terminal->port : port);
    }
    return 1 + network_terminal_count(network, destination);
}

static void fill_row(void *context, size_t index)
{
    const struct spread *spread = context;
    uint32_t at = (uint32_t)index;
    struct lowest lowest;
    uint64_t operations = 0;
    for (uint32_t tile = 0; tile < spread->distances.tile_count; tile++) {
        uint32_t first = (spread->distances.first_tile + tile) * TILE_LANES;
        uint32_t left = spread->distances.switch_count - first;
        find_lowest(spread, tile, at, &lowest);
        operations += lowest.operations;
        for (uint32_t lane = 0; lane < TILE_LANES && lane < left; lane++) {
            bool here = at == first + lane, found = lowest.found >> lane & 1;
            uint8_t port = here || !found ? 0 : spread->network->edges[lowest.edge[lane]].port;
            operations += here || found ? fill_destination(spread, at, first + lane, port) : 1;
        }
    }
    engine_count(spread->routes, operations);
}

static void add_gaps(struct distance_gaps *sum, const struct distances *distances)
{
    for (uint32_t tile = 0; tile < distances->tile_count; tile++) {
        const struct distance_gaps *gaps = &distances->gaps[tile];
        if (!sum->terminal_pairs && gaps->terminal_pairs) {
            sum->from = gaps->from;
            sum->to = gaps->to;
        }
        sum->terminal_pairs += gaps->terminal_pairs;
        sum->other_pairs += gaps->other_pairs;
    }
}

void fera_fill_tables(const struct network *network, const struct updown *updown,
                      const struct engine_options *options, struct routes *routes,
                      struct distance_gaps *gaps)
{
    uint32_t switches = (uint32_t)network->switches.count;
    struct spread spread = {.network = network, .updown = updown, .routes = routes};
    *gaps = (struct distance_gaps){0};
    distances_init(&spread.distances, network, updown, options->workers);
    for (uint32_t tile = 0; tile * TILE_LANES < switches; tile += spread.distances.tile_count) {
        distances_compute(&spread.distances, options->workers, tile);
        workers_run(options->workers, switches, fill_row, &spread);
        add_gaps(gaps, &spread.distances);
    }
    routes->operations += spread.distances.operations;
    distances_release(&spread.distances);
}
