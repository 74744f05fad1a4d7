/* D-mod-k (Zahavi, "Fat-tree routing and node ordering providing contention free traffic for MPI
 * global collectives", 2012), in the form that also serves trees that lost links and switches:
 * Dmodc (Gliksberg, Capra, Louvet, Garcia, Sohier, "High-quality fault resiliency in fat trees",
 * 2019).
 *
 * Terminals are numbered in the order of the tree (tree.h). A switch s has a divider, the number of
 * different paths up from the leaves to its level: 1 at the leaves, and above the largest product
 * of a child's divider and the number of switches that this child has above it. The terminal with
 * number t takes
 *
 *     group (t / divider) mod groups,  and in it link (t / divider / groups) mod links
 *
 * of those groups of parallel links that lead on a shortest route. Only terminals whose numbers
 * agree modulo the divider reach s, so t / divider counts them one by one: they are balanced, with
 * any number of terminals at a leaf, any oversubscription and terminals at any level. Counting
 * loads instead would be worse in a damaged tree: a link that few terminals may use has a low load,
 * and attracts all of them.
 *
 * All switches must number groups alike: a leaf's groups are in the order of planes, the connected
 * components of the levels above it.
 *
 * Further LIDs of a terminal count as the terminals that follow it: their routes differ from the
 * first switch on. Not implemented: OpenSM's numbering for leaves with missing hosts, which
 * reserves numbers for them. */
#include "routing/engines/dmodk.h"

#include <assert.h>
#include <string.h>

enum { NEXT_HOPS_BYTES = 64 << 20, NUMBERS = 1 << 16, ROWS_TOGETHER = 18 };

struct filling {
    const struct network *network;
    const struct tree *tree;
    struct routes *routes;
    struct next_hops next_hops;
    uint32_t *divider; /* by switch, at most NUMBERS */
    uint16_t *lids;    /* base LIDs in the order of network->terminals_at */
    uint32_t *numbers; /* in the same order */
    bool *plain;       /* by switch: its terminals have consecutive LIDs and numbers, LMC 0 */
    uint16_t *own_lid; /* by switch */
    uint64_t *bare;    /* bits by tile: switches with one LID and no terminals */
    bool fresh;        /* the first tiles: rows hold nothing yet */
};

/* Division of numbers below NUMBERS by a constant. */
struct reciprocal {
    uint32_t divisor;
    uint64_t factor;
};

static struct reciprocal reciprocal_of(uint32_t divisor)
{
    assert(divisor);
    return (struct reciprocal){divisor, ((UINT64_C(1) << 32) + divisor - 1) / divisor};
}

static uint32_t quotient(const struct reciprocal *reciprocal, uint32_t number)
{
    return (uint32_t)(number * reciprocal->factor >> 32);
}

static uint32_t remainder_of(const struct reciprocal *reciprocal, uint32_t number)
{
    return number - quotient(reciprocal, number) * reciprocal->divisor;
}

/* The ports of one set of next hops. If all groups have the same number of links, the ports in turn
 * are one cycle; with divider 1 it is repeated often enough for all terminals of a switch. */
struct turns {
    struct reciprocal divider, groups, cycle_length;
    bool even;
    uint8_t links[NETWORK_TOP_PORT + 1]; /* by group */
    uint8_t first[NETWORK_TOP_PORT + 1]; /* by group: place of its first link in `ports` */
    uint8_t ports[NETWORK_TOP_PORT + 1];
    uint8_t cycle[2 * NETWORK_TOP_PORT];
};

/* Returns the number of groups. */
static uint32_t group_links(const struct filling *filling, uint32_t at, const uint8_t *places,
                            unsigned count, struct turns *turns)
{
    uint32_t first = filling->network->first_edge[at], groups = 0;
    const uint32_t *to = filling->next_hops.to + first;
    turns->even = true;
    for (unsigned i = 0; i < count; i++) {
        turns->ports[i] = filling->next_hops.port[first + places[i]];
        if (i == 0 || to[places[i]] != to[places[i - 1]]) {
            turns->first[groups] = (uint8_t)i;
            turns->links[groups++] = 0;
        }
        turns->links[groups - 1]++;
    }
    for (uint32_t group = 1; group < groups; group++)
        turns->even &= turns->links[group] == turns->links[0];
    return groups;
}

static void start_turns(const struct filling *filling, uint32_t at, const struct fan *fan,
                        struct turns *turns)
{
    uint8_t places[NETWORK_TOP_PORT + 1];
    unsigned count = fan_places(fan, places), turn = 0;
    uint32_t groups = group_links(filling, at, places, count, turns);
    turns->divider = reciprocal_of(filling->divider[at]);
    turns->groups = reciprocal_of(groups);
    turns->cycle_length = reciprocal_of(count);
    if (!turns->even)
        return;
    for (unsigned link = 0; link < turns->links[0]; link++)
        for (uint32_t group = 0; group < groups; group++)
            turns->cycle[turn++] = turns->ports[turns->first[group] + link];
    for (; count > 1 && filling->divider[at] == 1 && turn < sizeof turns->cycle; turn++)
        turns->cycle[turn] = turns->cycle[turn - count];
}

static inline uint8_t port_for(const struct turns *turns, uint32_t number)
{
    if (turns->cycle_length.divisor == 1)
        return turns->ports[0];
    uint32_t turn = quotient(&turns->divider, number);
    if (turns->even)
        return turns->cycle[remainder_of(&turns->cycle_length, turn)];
    uint32_t group = remainder_of(&turns->groups, turn);
    uint32_t link = quotient(&turns->groups, turn) % turns->links[group];
    return turns->ports[turns->first[group] + link];
}

/* Terminals with consecutive LIDs and numbers: whole ranges at once. */
static void fill_plain(const struct turns *turns, uint8_t *entries, uint32_t number, uint32_t count)
{
    if (turns->cycle_length.divisor == 1) {
        memset(entries, turns->ports[0], count);
        return;
    }
    if (turns->divider.divisor == 1 && turns->even) {
        memcpy(entries, turns->cycle + remainder_of(&turns->cycle_length, number), count);
        return;
    }
    while (count) {
        uint32_t stretch = turns->divider.divisor - remainder_of(&turns->divider, number);
        stretch = stretch < count ? stretch : count;
        memset(entries, port_for(turns, number), stretch);
        entries += stretch;
        number += stretch;
        count -= stretch;
    }
}

static void fill_one_by_one(const struct filling *filling, const struct turns *turns,
                            uint8_t *table, uint32_t destination)
{
    const struct network *network = filling->network;
    for (uint32_t i = network->first_terminal[destination];
         i < network->first_terminal[destination + 1]; i++) {
        uint32_t count = UINT32_C(1) << network_terminal_at(network, i)->lmc;
        for (uint32_t offset = 0; filling->lids[i] && offset < count; offset++)
            table[filling->lids[i] + offset] = port_for(turns, filling->numbers[i] + offset);
    }
}

/* Fills entries for destinations with one next hop. Returns their number. */
static uint32_t fill_single(const struct filling *filling, uint32_t at, uint8_t port,
                            uint64_t targets, uint32_t first_destination)
{
    const struct network *network = filling->network;
    uint8_t *table = routes_row(filling->routes, at);
    const uint16_t *own_lid = filling->own_lid + first_destination;
    uint64_t bare = filling->bare[first_destination / NEXT_HOPS_TILE] & targets;
    uint32_t entries = (uint32_t)__builtin_popcountll(targets);
    for (uint64_t left = bare; left; left &= left - 1)
        table[own_lid[__builtin_ctzll(left)]] = port;
    for (uint64_t left = targets & ~bare; left; left &= left - 1) {
        uint32_t destination = first_destination + (unsigned)__builtin_ctzll(left);
        const struct network_switch *target = &network->switches.items[destination];
        uint32_t first = network->first_terminal[destination];
        uint32_t count = network_terminal_count(network, destination);
        if (count && filling->plain[destination]) {
            routes_fill(table, target->lid, target->lmc, port);
            memset(table + filling->lids[first], port, count);
        } else {
            routes_fill_switch(table, network, destination, port);
        }
        entries += count;
    }
    return entries;
}

/* Returns the number of entries. */
static uint32_t fill_fan(const struct filling *filling, uint32_t at, const struct fan *fan,
                         uint32_t first_destination)
{
    const struct network *network = filling->network;
    uint8_t *table = routes_row(filling->routes, at);
    uint32_t entries = 0;
    struct turns turns;
    start_turns(filling, at, fan, &turns);
    for (uint64_t left = fan->targets; left; left &= left - 1) {
        uint32_t destination = first_destination + (unsigned)__builtin_ctzll(left);
        const struct network_switch *target = &network->switches.items[destination];
        uint32_t first = network->first_terminal[destination];
        uint32_t count = network->first_terminal[destination + 1] - first;
        routes_fill(table, target->lid, target->lmc, port_for(&turns, destination % NUMBERS));
        if (count && filling->plain[destination])
            fill_plain(&turns, table + filling->lids[first], filling->numbers[first], count);
        else if (count)
            fill_one_by_one(filling, &turns, table, destination);
        entries += 1 + count;
    }
    return entries;
}

/* Whether two switches differ in nothing but their next hops. */
static bool are_alike(const struct filling *filling, uint32_t a, uint32_t b)
{
    const uint32_t *first = filling->network->first_edge, *to = filling->next_hops.to;
    uint32_t slots = first[a + 1] - first[a];
    if (first[b + 1] - first[b] != slots || filling->divider[a] != filling->divider[b] ||
        memcmp(filling->next_hops.port + first[a], filling->next_hops.port + first[b], slots) != 0)
        return false;
    for (uint32_t i = 1; i < slots; i++)
        if ((to[first[a] + i] == to[first[a] + i - 1]) !=
            (to[first[b] + i] == to[first[b] + i - 1]))
            return false;
    return true;
}

/* Clears entries for destinations without a next hop: the row may be a copy of another. */
static void clear_lost(const struct filling *filling, uint32_t at, uint64_t lost, uint32_t first)
{
    for (; lost; lost &= lost - 1)
        routes_fill_switch(routes_row(filling->routes, at), filling->network,
                           first + (unsigned)__builtin_ctzll(lost), PORT_NONE);
}

/* Returns the number of entries. */
static uint64_t fill_tile(const struct filling *filling, uint32_t tile, uint32_t at)
{
    const struct next_hops *next_hops = &filling->next_hops;
    uint32_t first = (next_hops->first_tile + tile) * NEXT_HOPS_TILE,
             left = next_hops->switch_count - first;
    uint32_t start = filling->network->first_edge[at], end = filling->network->first_edge[at + 1];
    const uint64_t *targets = next_hops->targets + (size_t)tile * next_hops->slot_count;
    uint64_t entries = 0, all = left < NEXT_HOPS_TILE ? (UINT64_C(1) << left) - 1 : UINT64_MAX;
    uint64_t once = 0, twice = 0;
    struct fans fans;
    for (uint32_t slot = start; slot < end; slot++) {
        twice |= once & targets[slot];
        once |= targets[slot];
    }
    for (uint32_t slot = start; slot < end; slot++)
        if (targets[slot] & ~twice)
            entries += fill_single(filling, at, filling->next_hops.port[slot],
                                   targets[slot] & ~twice, first);
    next_hops_gather_fans(next_hops, tile, at, twice, &fans);
    for (unsigned i = 0; i < fans.count; i++)
        entries += fill_fan(filling, at, &fans.items[i], first);
    clear_lost(filling, at, all & ~once, first);
    return entries;
}

/* Fills one row, from a copy of the row of `model` (or NETWORK_NONE). Returns the operations. */
static uint64_t fill_dmodk_row(const struct filling *filling, uint32_t at, uint32_t model)
{
    const struct network *network = filling->network;
    const struct next_hops *next_hops = &filling->next_hops;
    uint8_t *table = routes_row(filling->routes, at);
    uint32_t stride = filling->routes->stride;
    uint64_t operations = 1 + network_terminal_count(network, at);
    if (model != NETWORK_NONE) {
        memcpy(table, routes_row(filling->routes, model), stride);
        clear_lost(filling, at, UINT64_C(1), model); /* the entries of `model` for itself */
        operations += stride / ROUTES_BLOCK;
    } else if (filling->fresh) {
        memset(table, PORT_NONE, stride);
    }
    uint32_t slots = network->first_edge[at + 1] - network->first_edge[at];
    for (uint32_t tile = 0; tile < next_hops->tile_count; tile++) {
        const uint64_t *targets = next_hops->targets + (size_t)tile * next_hops->slot_count;
        operations += slots;
        if (model == NETWORK_NONE ||
            memcmp(targets + network->first_edge[at], targets + network->first_edge[model],
                   slots * sizeof *targets) != 0)
            operations += fill_tile(filling, tile, at);
    }
    routes_fill_own(filling->routes, filling->network, at);
    return operations;
}

/* Rows of consecutive switches: these often have the same next hops. */
static void fill_rows(void *context, size_t index)
{
    const struct filling *filling = context;
    uint32_t start = (uint32_t)index * ROWS_TOGETHER, end = start + ROWS_TOGETHER;
    uint64_t operations = 0;
    for (uint32_t at = start; at < end && at < filling->next_hops.switch_count; at++) {
        bool copy = filling->fresh && at > start && are_alike(filling, at, at - 1);
        operations += fill_dmodk_row(filling, at, copy ? at - 1 : NETWORK_NONE);
    }
    engine_count(filling->routes, operations);
}

/* Keys of links that put them in the order of planes, parallel links side by side. */
static uint64_t *order_links(const struct filling *filling)
{
    const struct network *network = filling->network;
    uint32_t edges = network->first_edge[network->switches.count];
    uint64_t *keys = mem_alloc(edges * sizeof *keys);
    uint32_t *plane = tree_planes(filling->tree, network);
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t to = network->edges[e].to;
        keys[e] = (uint64_t)plane[to] << 40 | (uint64_t)network->switches.items[to].lid << 24 | to;
    }
    mem_free(plane);
    return keys;
}

/* Raises the dividers of the switches above one switch. */
static void widen_above(const struct filling *filling, uint32_t at, uint32_t *seen_from)
{
    const struct network *network = filling->network;
    const uint32_t *level = filling->tree->level;
    uint64_t above = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        above += level[to] > level[at] && seen_from[to] != at;
        seen_from[to] = at;
    }
    above *= filling->divider[at];
    uint32_t divider = above < NUMBERS ? (uint32_t)above : NUMBERS;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (level[to] > level[at] && filling->divider[to] < divider)
            filling->divider[to] = divider;
    }
}

static void find_dividers(struct filling *filling)
{
    uint32_t switches = (uint32_t)filling->network->switches.count;
    uint32_t *seen_from = mem_alloc(switches * sizeof *seen_from);
    for (uint32_t at = 0; at < switches; at++) {
        filling->divider[at] = 1;
        seen_from[at] = NETWORK_NONE;
    }
    for (uint32_t level = 0; level < filling->tree->levels; level++)
        for (uint32_t at = 0; at < switches; at++)
            if (filling->tree->level[at] == level)
                widen_above(filling, at, seen_from);
    mem_free(seen_from);
}

/* By terminal: its number. Those on the list come first, the others in the order of the tree. */
static uint32_t *number_terminals(const struct filling *filling, const struct guid_list *list,
                                  enum dmodk_order wanted)
{
    const struct network *network = filling->network;
    size_t terminals = network->terminals.count, listed_count = 0;
    uint32_t *order = tree_terminals(filling->tree, network);
    uint32_t *number = mem_alloc(terminals * sizeof *number), next = 0;
    bool *listed = mem_zalloc(terminals, sizeof *listed);
    uint32_t *found = list ? guid_list_terminals(list, network, &listed_count) : NULL;
    for (size_t i = 0; i < listed_count; i++) {
        listed[found[i]] = true;
        if (wanted == DMODK_LIST)
            number[found[i]] = next++;
    }
    for (size_t i = 0; wanted == DMODK_TREE && i < terminals; i++)
        if (listed[order[i]])
            number[order[i]] = next++;
    for (size_t i = 0; i < terminals; i++)
        if (!listed[order[i]])
            number[order[i]] = next++;
    mem_free(order);
    mem_free(listed);
    mem_free(found);
    return number;
}

static void number_lids(struct filling *filling, const struct guid_list *list,
                        enum dmodk_order order)
{
    const struct network *network = filling->network;
    uint32_t *number = number_terminals(filling, list, order);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t first = network->first_terminal[at], end = network->first_terminal[at + 1];
        filling->plain[at] = true;
        for (uint32_t i = first; i < end; i++) {
            uint32_t terminal = network->terminals_at[i];
            filling->lids[i] = network->terminals.items[terminal].lid;
            filling->numbers[i] = number[terminal];
            filling->plain[at] &= filling->lids[i] == filling->lids[first] + (i - first) &&
                                  filling->numbers[i] == filling->numbers[first] + (i - first) &&
                                  filling->lids[i] && !network->terminals.items[terminal].lmc;
        }
    }
    mem_free(number);
}

/* Steps that do not depend on each other run in parallel. */
struct preparation {
    struct filling *filling;
    const struct engine_options *options;
    enum dmodk_order order;
    struct updown *updown; /* or NULL */
    uint64_t *keys;        /* of links */
};

static void prepare_part(void *context, size_t part)
{
    struct preparation *preparation = context;
    struct filling *filling = preparation->filling;
    uint64_t scatter = preparation->options->scatter;
    if (part == 0) {
        number_lids(filling, preparation->options->first, preparation->order);
    } else if (part == 1) {
        preparation->keys = scatter ? next_hops_scatter(filling->network, scatter)
                            : preparation->options->port_shift ? next_hops_shift(filling->network)
                                                               : order_links(filling);
    } else if (part == 2) {
        find_dividers(filling);
        for (uint32_t at = 0; at < filling->network->switches.count; at++) {
            const struct network_switch *node = &filling->network->switches.items[at];
            bool bare = node->lid && !node->lmc && !network_terminal_count(filling->network, at);
            filling->own_lid[at] = node->lid;
            filling->bare[at / NEXT_HOPS_TILE] |= (uint64_t)bare << at % NEXT_HOPS_TILE;
        }
    } else if (preparation->updown) {
        tree_directions(filling->tree, filling->network, preparation->updown);
    }
}

void dmodk_tables(const struct network *network, const struct tree *tree, struct updown *updown,
                  const struct engine_options *options, enum dmodk_order order,
                  struct routes *routes, struct next_hops_gaps *gaps)
{
    struct filling filling = {.network = network, .tree = tree, .routes = routes};
    struct preparation preparation = {
        .filling = &filling, .options = options, .order = order, .updown = updown};
    size_t switches = network->switches.count, terminals = network->terminals.count;
    struct arena memory = {0};
    uint32_t tile = 0;
    *gaps = (struct next_hops_gaps){0};
    filling.divider = arena_alloc(&memory, switches * sizeof *filling.divider);
    filling.lids = arena_alloc(&memory, terminals * sizeof *filling.lids);
    filling.numbers = arena_alloc(&memory, terminals * sizeof *filling.numbers);
    filling.plain = arena_alloc(&memory, switches * sizeof *filling.plain);
    filling.own_lid = arena_alloc(&memory, switches * sizeof *filling.own_lid);
    filling.bare = arena_alloc(&memory, BITSET_WORDS(switches) * sizeof *filling.bare);
    workers_run(options->workers, 4, prepare_part, &preparation);
    next_hops_init(&filling.next_hops, network, updown, options->workers,
                   options->scratch_bytes ? options->scratch_bytes : NEXT_HOPS_BYTES,
                   preparation.keys);
    mem_free(preparation.keys);
    do { /* at least once: every row must be cleared, even without destinations */
        filling.fresh = tile == 0;
        next_hops_compute(&filling.next_hops, options->workers, tile);
        workers_run(options->workers, (switches + ROWS_TOGETHER - 1) / ROWS_TOGETHER, fill_rows,
                    &filling);
        next_hops_add_gaps(&filling.next_hops, gaps);
        tile += filling.next_hops.tile_count;
    } while (tile < next_hops_tiles(&filling.next_hops) && filling.next_hops.tile_count);
    routes->operations += filling.next_hops.operations;
    next_hops_release(&filling.next_hops);
    arena_release(&memory);
}
