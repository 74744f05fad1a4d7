/* weft route --moves: what it costs to move virtual machines between adapters, by these tables.
 *
 * A machine moves with its LIDs. The tables then swap the entries of two LIDs, those of the machine
 * and of a free function at its new place, or copy the entries of the new place (CLUSTER 2015,
 * section V). A cost is the number of SMPs, one for each block of a table. The LIDs are those of
 * adapters: virtual functions would only add LIDs. */
#include "base/rng.h"
#include "cli/routing.h"

struct table_moves {
    uint64_t full, swap_max, copy_max, swap_leaf;
};

/* The number of blocks of a table that change when the entries of two LIDs are swapped. */
static unsigned count_swap(const struct routes *routes, uint32_t at, uint32_t one, uint32_t other)
{
    if (routes_port(routes, at, one) == routes_port(routes, at, other))
        return 0;
    return one / ROUTES_BLOCK == other / ROUTES_BLOCK ? 1 : 2;
}

static void count_move(const struct network *network, const struct routes *routes, uint32_t from,
                       uint32_t to, struct table_moves *moves)
{
    const struct network_terminal *one = &network->terminals.items[from];
    const struct network_terminal *other = &network->terminals.items[to];
    unsigned swap = 0, copy = 0;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        swap += count_swap(routes, at, one->lid, other->lid);
        copy += routes_port(routes, at, one->lid) != routes_port(routes, at, other->lid);
    }
    moves->swap_max = swap > moves->swap_max ? swap : moves->swap_max;
    moves->copy_max = copy > moves->copy_max ? copy : moves->copy_max;
    if (one->at != other->at)
        return;
    unsigned leaf = count_swap(routes, one->at, one->lid, other->lid);
    moves->swap_leaf = leaf < moves->swap_leaf ? leaf : moves->swap_leaf;
}

static uint64_t count_full(const struct network *network, const struct routes *routes)
{
    uint64_t full = 0;
    for (uint32_t at = 0; at < routes->switch_count; at++)
        for (uint32_t first = 0; first <= network->top_lid; first += ROUTES_BLOCK) {
            uint32_t lid = first;
            while (lid < first + ROUTES_BLOCK && routes_port(routes, at, lid) == PORT_NONE)
                lid++;
            full += lid < first + ROUTES_BLOCK;
        }
    return full;
}

void route_put_moves(struct record *record, const struct network *network,
                     const struct routes *routes, uint64_t count, uint64_t seed)
{
    uint32_t terminals = (uint32_t)network->terminals.count;
    struct table_moves moves = {.full = count_full(network, routes), .swap_leaf = UINT64_MAX};
    struct rng rng;
    rng_seed(&rng, seed, 0);
    for (uint64_t i = 0; i < count && terminals > 1; i++) {
        uint32_t from = (uint32_t)rng_below(&rng, terminals);
        uint32_t to = (uint32_t)rng_below(&rng, terminals - 1);
        count_move(network, routes, from, to + (to >= from), &moves);
        /* and a move to a neighbour, usually at the same leaf */
        count_move(network, routes, from, from + 1 < terminals ? from + 1 : from - 1, &moves);
    }
    record_begin(record, "moves");
    record_number(record, "full_blocks", "moves         %llu blocks in all tables", moves.full);
    record_number(record, "swap_blocks_max", "; a swap of LIDs changes %llu at most",
                  moves.swap_max);
    if (moves.swap_leaf != UINT64_MAX)
        record_number(record, "swap_blocks_leaf", ", %llu in the leaf if both are there",
                      moves.swap_leaf);
    record_number(record, "copy_blocks_max", "; a copy %llu at most\n", moves.copy_max);
    record_end(record);
}
