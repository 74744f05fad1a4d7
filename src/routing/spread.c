/* Rows of tables from tiles of distances.
 *
 * A neighbour is a candidate for a destination if it is one hop closer on a route of the same kind.
 * The paper's engines take the lowest candidate port. Balanced engines keep a count for each port
 * of the switch: every terminal goes to the candidate with the lowest count, so parallel links and
 * equal ways share the terminals evenly (switches' own LIDs carry next to no traffic and are not
 * counted). Counts belong to one switch, hence rows may be filled side by side, and destinations
 * always come in the same order: tables do not depend on the number of threads.
 *
 * A terminal with several LIDs gets the first of them spread over all terminals, then the second,
 * and so on, each by another port than before as long as there is one. */
#include "routing/spread.h"

#include "base/bitset.h"

#include <string.h>

struct spread {
    const struct network *network;
    const struct updown *updown;
    struct distances distances;
    struct routes *routes;
    enum spread_choice choice;

    /* Balanced only. */
    uint32_t *load;     /* by edge */
    uint32_t *stage;    /* by switch */
    uint32_t *by_stage; /* switches in order of stages */
    uint32_t *first_of_stage;
    uint32_t stage_count, current;
    uint64_t *fixed;   /* [switch * stride + LID]: entries that the user gave; or NULL */
    uint8_t **arrives; /* by switch above the first stage: by LID, whether it comes from below */
};

/* The candidates of one switch for the 64 destinations of a tile, as offsets into its edge row. */
struct fan {
    uint8_t count[TILE_LANES];
    uint8_t edges[TILE_LANES][NETWORK_TOP_PORT + 1];
    uint32_t operations; /* rows compared, candidates found */
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
    if (!spread->updown)
        return closer;
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

static void gather_fan(const struct spread *spread, uint32_t tile, uint32_t at, struct fan *fan)
{
    const struct network *network = spread->network;
    uint32_t first = network->first_edge[at];
    uint64_t open = ~UINT64_C(0);
    memset(fan->count, 0, sizeof fan->count);
    fan->operations = 0;
    for (uint32_t e = first; e < network->first_edge[at + 1] && open; e++) {
        uint64_t lanes = candidate_lanes(spread, tile, at, network->edges[e].to) & open;
        if (spread->choice == SPREAD_LOWEST)
            open &= ~lanes;
        fan->operations += ROW_OPERATIONS + (unsigned)__builtin_popcountll(lanes);
        for (; lanes; lanes &= lanes - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(lanes);
            fan->edges[lane][fan->count[lane]++] = (uint8_t)(e - first);
        }
    }
    if (!spread->updown)
        return;
    uint64_t strays = spread->distances.strays[(size_t)tile * spread->distances.switch_count + at];
    for (; strays; strays &= strays - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(strays);
        fan->count[lane] = 1;
        fan->edges[lane][0] = (uint8_t)(stray_edge(spread, tile, at, lane) - first);
    }
}

/* The candidates with the lowest count, in order of ports. */
struct lightest {
    unsigned count, next;
    uint8_t edges[NETWORK_TOP_PORT + 1];
};

static void find_lightest(struct lightest *lightest, const uint32_t *load, const uint8_t *edges,
                          unsigned count)
{
    uint32_t least = UINT32_MAX;
    for (unsigned i = 0; i < count; i++) {
        if (load[edges[i]] < least) {
            least = load[edges[i]];
            lightest->count = 0;
        }
        if (load[edges[i]] == least)
            lightest->edges[lightest->count++] = edges[i];
    }
    lightest->next = 0;
}

static bool is_fixed(const struct spread *spread, uint32_t at, uint32_t lid)
{
    return spread->fixed && bitset_has(spread->fixed, (size_t)at * spread->routes->stride + lid);
}

/* Does the LID count as load here? */
static bool counts(const struct spread *spread, uint32_t at, uint32_t lid)
{
    return spread->stage[at] == 0 || spread->arrives[at][lid];
}

static void take_edge(const struct spread *spread, uint32_t at, uint8_t edge, uint32_t lid)
{
    uint32_t e = spread->network->first_edge[at] + edge;
    uint32_t to = spread->network->edges[e].to;
    routes_row(spread->routes, at)[lid] = spread->network->edges[e].port;
    if (counts(spread, at, lid))
        spread->load[e]++;
    if (spread->stage[to] > spread->stage[at])
        __atomic_store_n(&spread->arrives[to][lid], 1, __ATOMIC_RELAXED);
}

/* The terminals of one switch that have one LID each. */
static uint32_t fill_single(const struct spread *spread, uint32_t at, uint32_t destination,
                            const uint8_t *edges, unsigned count)
{
    const struct network *network = spread->network;
    const uint32_t *load = spread->load + network->first_edge[at];
    struct lightest lightest = {0};
    uint32_t operations = 0;
    unsigned idle = 0;
    for (uint32_t i = network->first_terminal[destination];
         i < network->first_terminal[destination + 1]; i++) {
        uint32_t lid = network->terminals.items[network->terminals_at[i]].lid;
        if (lid == 0 || is_fixed(spread, at, lid))
            continue;
        operations++;
        if (!counts(spread, at, lid)) {
            take_edge(spread, at, edges[idle++ % count], lid);
            continue;
        }
        if (lightest.next == lightest.count) {
            find_lightest(&lightest, load, edges, count);
            operations += count;
        }
        take_edge(spread, at, lightest.edges[lightest.next++], lid);
    }
    return operations;
}

/* The LIDs `offset` of the terminals of one switch. `used` has a row of ports for each of them. */
static uint32_t fill_offset(const struct spread *spread, uint32_t at, uint32_t destination,
                            const uint8_t *edges, unsigned count, uint32_t offset,
                            bool (*used)[NETWORK_TOP_PORT + 1])
{
    const struct network *network = spread->network;
    const uint32_t *load = spread->load + network->first_edge[at];
    uint32_t first = network->first_terminal[destination], operations = 0;
    for (uint32_t i = first; i < network->first_terminal[destination + 1]; i++) {
        const struct network_terminal *terminal =
            &network->terminals.items[network->terminals_at[i]];
        bool *mine = used[i - first];
        uint8_t fresh[NETWORK_TOP_PORT + 1];
        unsigned fresh_count = 0;
        if (!terminal->lid || offset >> terminal->lmc ||
            is_fixed(spread, at, terminal->lid + offset))
            continue;
        for (unsigned k = 0; k < count; k++)
            if (!mine[edges[k]])
                fresh[fresh_count++] = edges[k];
        if (fresh_count == 0) {
            memset(mine, 0, sizeof *used);
            memcpy(fresh, edges, count);
            fresh_count = count;
        }
        struct lightest lightest = {0};
        find_lightest(&lightest, load, fresh, fresh_count);
        mine[lightest.edges[0]] = true;
        take_edge(spread, at, lightest.edges[0], terminal->lid + offset);
        operations += count + fresh_count + 1;
    }
    return operations;
}

static unsigned largest_lmc(const struct network *network, uint32_t at)
{
    unsigned lmc = 0;
    for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
        unsigned own = network->terminals.items[network->terminals_at[i]].lmc;
        lmc = own > lmc ? own : lmc;
    }
    return lmc;
}

static uint32_t fill_balanced(const struct spread *spread, uint32_t at, uint32_t destination,
                              const uint8_t *edges, unsigned count)
{
    const struct network *network = spread->network;
    unsigned lmc = largest_lmc(network, destination);
    if (lmc == 0)
        return fill_single(spread, at, destination, edges, count);
    uint32_t operations = 0;
    bool(*used)[NETWORK_TOP_PORT + 1] =
        mem_zalloc(network_terminal_count(network, destination), sizeof *used);
    for (uint32_t offset = 0; offset < UINT32_C(1) << lmc; offset++)
        operations += fill_offset(spread, at, destination, edges, count, offset, used);
    mem_free(used);
    return operations;
}

static void fill_lids(uint8_t *table, uint16_t lid, uint8_t lmc, uint8_t port)
{
    if (lid)
        memset(table + lid, port, (size_t)1 << lmc);
}

/* Returns the entries written and the candidates weighed for them. */
static uint32_t fill_destination(const struct spread *spread, uint32_t at, uint32_t destination,
                                 const uint8_t *edges, unsigned count)
{
    const struct network *network = spread->network;
    const struct network_switch *target = &network->switches.items[destination];
    uint8_t *table = routes_row(spread->routes, at);
    bool here = at == destination;
    if (!here && count == 0)
        return 1;
    uint8_t port = here ? 0 : network->edges[network->first_edge[at] + edges[0]].port;
    uint32_t operations = 1;
    if (!here && spread->choice == SPREAD_BALANCED) {
        struct lightest lightest = {0};
        find_lightest(&lightest, spread->load + network->first_edge[at], edges, count);
        port = network->edges[network->first_edge[at] + lightest.edges[0]].port;
        operations += count + fill_balanced(spread, at, destination, edges, count);
    }
    fill_lids(table, target->lid, target->lmc, port);
    if (!here && spread->choice == SPREAD_BALANCED)
        return operations;
    for (uint32_t i = network->first_terminal[destination];
         i < network->first_terminal[destination + 1]; i++) {
        const struct network_terminal *terminal =
            &network->terminals.items[network->terminals_at[i]];
        fill_lids(table, terminal->lid, terminal->lmc, here ? terminal->port : port);
    }
    return operations + network_terminal_count(network, destination);
}

static void fill_row(void *context, size_t index)
{
    const struct spread *spread = context;
    uint32_t at = (uint32_t)index;
    if (spread->choice == SPREAD_BALANCED)
        at = spread->by_stage[spread->first_of_stage[spread->current] + index];
    struct fan fan;
    uint64_t operations = 0;
    for (uint32_t tile = 0; tile < spread->distances.tile_count; tile++) {
        uint32_t first = (spread->distances.first_tile + tile) * TILE_LANES;
        uint32_t left = spread->distances.switch_count - first;
        gather_fan(spread, tile, at, &fan);
        operations += fan.operations;
        for (uint32_t lane = 0; lane < TILE_LANES && lane < left; lane++)
            operations +=
                fill_destination(spread, at, first + lane, fan.edges[lane], fan.count[lane]);
    }
    engine_count(spread->routes, operations);
}

/* The user's entries are load from the start, and not the engine's to choose. */
static void count_user_routes(struct spread *spread, const struct user_routes *user)
{
    const struct network *network = spread->network;
    size_t stride = spread->routes->stride;
    spread->fixed =
        mem_zalloc(BITSET_WORDS(network->switches.count * stride), sizeof *spread->fixed);
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        if (at == NETWORK_NONE || entry->lid >= stride)
            continue;
        bitset_add(spread->fixed, at * stride + entry->lid);
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            spread->load[e] += network->edges[e].port == entry->port;
    }
}

/* Distances from the nearest switch with terminals; where there is none, all is the first stage. */
static void find_stages(struct spread *spread)
{
    const struct network *network = spread->network;
    uint32_t switches = (uint32_t)network->switches.count, tail = 0;
    spread->stage = mem_alloc(switches * sizeof *spread->stage);
    spread->by_stage = mem_alloc(switches * sizeof *spread->by_stage);
    spread->first_of_stage = mem_alloc((switches + 2) * sizeof *spread->first_of_stage);
    spread->arrives = mem_zalloc(switches, sizeof *spread->arrives);
    for (uint32_t at = 0; at < switches; at++) {
        bool first = network_terminal_count(network, at) > 0;
        spread->stage[at] = first ? 0 : NETWORK_NONE;
        if (first)
            spread->by_stage[tail++] = at;
    }
    for (uint32_t head = 0; head < tail; head++) {
        uint32_t at = spread->by_stage[head];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            if (spread->stage[to] != NETWORK_NONE)
                continue;
            spread->stage[to] = spread->stage[at] + 1;
            spread->arrives[to] = mem_zalloc(spread->routes->stride, 1);
            spread->by_stage[tail++] = to;
        }
    }
    for (uint32_t i = 0; i < tail; i++)
        while (spread->stage_count <= spread->stage[spread->by_stage[i]])
            spread->first_of_stage[spread->stage_count++] = i;
    spread->first_of_stage[spread->stage_count] = tail;
    for (uint32_t at = 0; at < switches; at++) {
        if (spread->stage[at] != NETWORK_NONE)
            continue;
        spread->stage[at] = 0;
        spread->by_stage[tail++] = at;
    }
    if (tail > spread->first_of_stage[spread->stage_count])
        spread->first_of_stage[++spread->stage_count] = tail;
}

static void fill_rows(struct spread *spread, const struct workers *workers)
{
    if (spread->choice == SPREAD_LOWEST) {
        workers_run(workers, spread->network->switches.count, fill_row, spread);
        return;
    }
    for (spread->current = 0; spread->current < spread->stage_count; spread->current++)
        workers_run(workers,
                    spread->first_of_stage[spread->current + 1] -
                        spread->first_of_stage[spread->current],
                    fill_row, spread);
}

static void release_balance(struct spread *spread)
{
    for (size_t at = 0; spread->arrives && at < spread->network->switches.count; at++)
        mem_free(spread->arrives[at]);
    mem_free(spread->arrives);
    mem_free(spread->load);
    mem_free(spread->fixed);
    mem_free(spread->stage);
    mem_free(spread->by_stage);
    mem_free(spread->first_of_stage);
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

void spread_tables(const struct network *network, const struct updown *updown,
                   const struct engine_options *options, enum spread_choice choice,
                   struct routes *routes, struct distance_gaps *gaps)
{
    uint32_t switches = (uint32_t)network->switches.count;
    struct spread spread = {
        .network = network,
        .updown = updown,
        .routes = routes,
        .choice = choice,
    };
    if (gaps)
        *gaps = (struct distance_gaps){0};
    if (choice == SPREAD_BALANCED) {
        spread.load = mem_zalloc(network->first_edge[switches] + 1, sizeof *spread.load);
        find_stages(&spread);
        if (options->user && options->seed_balance)
            count_user_routes(&spread, options->user);
    }
    distances_init(&spread.distances, network, updown, options->workers);
    for (uint32_t tile = 0; tile * TILE_LANES < switches; tile += spread.distances.tile_count) {
        distances_compute(&spread.distances, options->workers, tile);
        fill_rows(&spread, options->workers);
        if (gaps && updown)
            add_gaps(gaps, &spread.distances);
    }
    routes->operations += spread.distances.operations;
    distances_release(&spread.distances);
    release_balance(&spread);
}
