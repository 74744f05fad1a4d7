/* Balances routes by the load of links, counted in pairs of terminals.
 *
 * One destination after the other: from its switch outwards, every switch takes the path with the
 * least sum of loads; then the traffic of all terminals is added to the chosen paths, from the
 * farthest switch inwards. That is the idea of SSSP routing (Hoefler, Schneider and Lumsdaine,
 * "Optimized routing for large-scale InfiniBand networks", 2009) restricted to the next hops of
 * next_hops.h, so that routes stay as short as their engine promises. The first destinations choose
 * before the loads of the others, so each one chooses a second time, with the routes of all others
 * in place. Every choice depends on those before it: only the search for next hops uses several
 * threads.
 *
 * Terminals that the options list come first, in that order; then switch by switch. A terminal with
 * several LIDs gets a route for the first of them together with all terminals of its switch, then
 * for the second, and so on; links that it uses already cost more than any load, so that its routes
 * share few links. A port with weight w counts w-fold. */
#include "routing/search/least_loaded.h"

#include "base/map.h"

#include <string.h>

enum { NEXT_HOPS_BYTES = 64 << 20, ALL_NEXT_HOPS_BYTES = 1 << 30, ROUNDS = 2 };
#define USED_COST (UINT64_C(1) << 44) /* above any sum of loads */

struct balance {
    const struct network *network;
    struct routes *routes;
    struct next_hops next_hops;
    struct arena memory;       /* of all arrays */
    uint64_t *load;            /* by slot */
    uint16_t *weight;          /* by slot, or NULL: all 1 */
    uint32_t *slot_of_channel; /* by port of the network; of links between switches */
    uint64_t *fixed;           /* bits, [switch * stride + LID]: entries of user routes; or NULL */
    uint64_t *done;            /* bits by terminal: has its routes in this round */

    /* The next hops to one destination switch. */
    uint32_t destination; /* the destination switch, or NETWORK_NONE */
    uint32_t *order;      /* switches with a next hop, nearest first; the destination comes first */
    uint32_t count;       /* of switches in `order` */
    uint32_t *first_choice; /* by switch, one more at the end: its slots in `choices` */
    uint32_t *choices;
    uint32_t *depth, *stack, *by_depth; /* scratch, by switch */

    /* One LID. */
    uint64_t *cost;   /* by switch: load from here on */
    uint32_t *chosen; /* by switch: slot */
    uint64_t *flow;   /* by switch: pairs whose route leaves it */
    uint64_t *used;   /* bits by slot: used by the routes of one terminal so far */
    bool has_used;    /* `used` has bits */
    uint64_t operations;
};

static void set_destination(struct balance *balance, uint32_t destination)
{
    if (balance->destination == destination)
        return;
    balance->destination = destination;
    /* Lists the slots that are next hops to the destination, by switch. */
    const struct next_hops *next_hops = &balance->next_hops;
    uint32_t tile = destination / NEXT_HOPS_TILE - next_hops->first_tile, count = 0;
    const uint64_t *targets = next_hops->targets + (size_t)tile * next_hops->slot_count;
    for (uint32_t at = 0; at < next_hops->switch_count; at++) {
        balance->first_choice[at] = count;
        for (uint32_t slot = next_hops->network->first_edge[at];
             slot < next_hops->network->first_edge[at + 1]; slot++) {
            balance->choices[count] = slot;
            count += targets[slot] >> destination % NEXT_HOPS_TILE & 1;
        }
    }
    balance->first_choice[next_hops->switch_count] = count;
    balance->operations += next_hops->slot_count;
    /* Finds the distance of each switch. All its next hops have the same distance, so one is
     * enough. */
    for (uint32_t at = 0; at < next_hops->switch_count; at++)
        balance->depth[at] = NETWORK_NONE;
    balance->depth[destination] = 0;
    for (uint32_t from = 0; from < next_hops->switch_count; from++) {
        uint32_t steps = 0, at = from;
        while (balance->depth[at] == NETWORK_NONE &&
               balance->first_choice[at] < balance->first_choice[at + 1]) {
            balance->stack[steps++] = at;
            at = next_hops->to[balance->choices[balance->first_choice[at]]];
        }
        for (uint32_t depth = balance->depth[at]; steps && depth != NETWORK_NONE;)
            balance->depth[balance->stack[--steps]] = ++depth;
    }
    uint32_t switches = balance->next_hops.switch_count;
    memset(balance->by_depth, 0, (switches + 1) * sizeof *balance->by_depth);
    for (uint32_t at = 0; at < switches; at++)
        if (balance->depth[at] != NETWORK_NONE)
            balance->by_depth[balance->depth[at] + 1]++;
    for (uint32_t depth = 0; depth < switches; depth++)
        balance->by_depth[depth + 1] += balance->by_depth[depth];
    balance->count = balance->by_depth[switches];
    for (uint32_t at = 0; at < switches; at++)
        if (balance->depth[at] != NETWORK_NONE)
            balance->order[balance->by_depth[balance->depth[at]]++] = at;
}

/* From the destination outwards. */
static void choose_paths(struct balance *balance)
{
    balance->cost[balance->order[0]] = 0;
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t at = balance->order[i];
        uint64_t least = UINT64_MAX;
        for (uint32_t k = balance->first_choice[at]; k < balance->first_choice[at + 1]; k++) {
            uint32_t slot = balance->choices[k];
            uint64_t cost = balance->cost[balance->next_hops.to[slot]] + balance->load[slot] +
                            (balance->weight ? balance->weight[slot] : 1);
            if (balance->has_used && bitset_has(balance->used, slot))
                cost += USED_COST;
            if (cost >= least)
                continue;
            least = cost;
            balance->chosen[at] = slot;
        }
        balance->cost[at] = least;
    }
    balance->operations += balance->first_choice[balance->next_hops.switch_count] + balance->count;
}

/* Adds the load of a LID's routes to the links, or removes it (`sign` is -1). */
static void add_loads(struct balance *balance, uint32_t lid, int sign)
{
    /* Adds up the pairs whose routes leave each switch, from the farthest inwards. */
    for (uint32_t i = 0; i < balance->count; i++)
        balance->flow[balance->order[i]] =
            network_terminal_count(balance->network, balance->order[i]);
    for (uint32_t i = balance->count; i-- > 1;) {
        uint32_t at = balance->order[i];
        balance->flow[balance->next_hops.to[balance->chosen[at]]] += balance->flow[at];
    }
    balance->operations += 2 * (uint64_t)balance->count;
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t at = balance->order[i], slot = balance->chosen[at];
        uint64_t load = balance->flow[at] * (balance->weight ? balance->weight[slot] : 1);
        if (!balance->fixed ||
            !bitset_has(balance->fixed, (size_t)at * balance->routes->stride + lid))
            balance->load[slot] += sign > 0 ? load : -load;
    }
}

static void write_entries(struct balance *balance, uint16_t lid, uint8_t lmc)
{
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t at = balance->order[i];
        routes_fill(routes_row(balance->routes, at), lid, lmc,
                    balance->next_hops.port[balance->chosen[at]]);
    }
    balance->operations += balance->count;
}

/* Marks the links of a terminal's earlier LIDs, from the tables. */
static void mark_used(struct balance *balance, const struct network_terminal *terminal,
                      uint32_t offset)
{
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t at = balance->order[i];
        for (uint32_t k = balance->first_choice[at]; k < balance->first_choice[at + 1]; k++)
            for (uint32_t earlier = 0; earlier < offset; earlier++)
                if (routes_port(balance->routes, at, terminal->lid + earlier) ==
                    balance->next_hops.port[balance->choices[k]])
                    bitset_add(balance->used, balance->choices[k]);
    }
    balance->has_used = true;
    balance->operations +=
        (uint64_t)offset * balance->first_choice[balance->next_hops.switch_count];
}

/* Removes the load of a LID's routes. */
static void remove_loads(struct balance *balance, uint32_t lid)
{
    for (uint32_t i = 1; i < balance->count; i++) {
        uint32_t at = balance->order[i];
        uint8_t port = routes_port(balance->routes, at, lid);
        balance->chosen[at] =
            balance->slot_of_channel[balance->network->switches.items[at].first_port + port];
    }
    add_loads(balance, lid, -1);
}

static void route_lid(struct balance *balance, const struct network_terminal *terminal,
                      uint32_t offset, bool again)
{
    set_destination(balance, terminal->at);
    if (again)
        remove_loads(balance, terminal->lid + offset);
    if (offset)
        mark_used(balance, terminal, offset);
    choose_paths(balance);
    add_loads(balance, terminal->lid + offset, 1);
    write_entries(balance, (uint16_t)(terminal->lid + offset), 0);
    if (balance->has_used)
        memset(balance->used, 0,
               BITSET_WORDS(balance->next_hops.slot_count) * sizeof *balance->used);
    balance->has_used = false;
}

/* All LIDs of terminals that have no routes in this round yet: the first of each, then the second
 * of each. */
static void route_terminals(struct balance *balance, const uint32_t *terminals, size_t count,
                            bool again)
{
    const struct network *network = balance->network;
    uint32_t start = balance->next_hops.first_tile * NEXT_HOPS_TILE;
    uint32_t end = start + balance->next_hops.tile_count * NEXT_HOPS_TILE;
    VEC(uint32_t) open = {0};
    unsigned top_lmc = 0;
    for (size_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[terminals[i]];
        if (!terminal->lid || bitset_has(balance->done, terminals[i]) || terminal->at < start ||
            terminal->at >= end)
            continue;
        bitset_add(balance->done, terminals[i]);
        vec_push(&open, terminals[i]);
        top_lmc = terminal->lmc > top_lmc ? terminal->lmc : top_lmc;
    }
    for (uint32_t offset = 0; offset < UINT32_C(1) << top_lmc; offset++)
        for (size_t i = 0; i < open.count; i++)
            if (!(offset >> network->terminals.items[open.items[i]].lmc))
                route_lid(balance, &network->terminals.items[open.items[i]], offset, again);
    vec_release(&open);
}

static void route_tiles(struct balance *balance, const uint32_t *first, size_t first_count,
                        bool again)
{
    const struct network *network = balance->network;
    uint32_t start = balance->next_hops.first_tile * NEXT_HOPS_TILE;
    uint32_t end = start + balance->next_hops.tile_count * NEXT_HOPS_TILE;
    memset(balance->done, 0, BITSET_WORDS(network->terminals.count) * sizeof *balance->done);
    route_terminals(balance, first, first_count, again);
    for (uint32_t at = start; at < end && at < balance->next_hops.switch_count; at++) {
        route_terminals(balance, network->terminals_at + network->first_terminal[at],
                        network_terminal_count(network, at), again);
        const struct network_switch *node = &network->switches.items[at];
        if (!node->lid)
            continue;
        set_destination(balance,
                        at); /* no load for the switch's own LID: it carries little traffic */
        choose_paths(balance);
        write_entries(balance, node->lid, node->lmc);
    }
}

/* User routes are load from the start: at least that of the switch's own terminals. */
static void count_user_routes(struct balance *balance, const struct user_routes *user)
{
    const struct network *network = balance->network;
    size_t stride = balance->routes->stride;
    balance->fixed = arena_alloc(&balance->memory, BITSET_WORDS(network->switches.count * stride) *
                                                       sizeof *balance->fixed);
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        unsigned first, count = user_route_lids(entry, network, &first);
        if (at == NETWORK_NONE || count == 0 || first + count > stride)
            continue;
        uint32_t terminals = network_terminal_count(network, at);
        for (unsigned lid = first; lid < first + count; lid++)
            bitset_add(balance->fixed, at * stride + lid);
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++)
            if (balance->next_hops.port[slot] == entry->port)
                balance->load[slot] += terminals ? terminals : 1;
    }
}

static void prepare(struct balance *balance, const struct engine_options *options)
{
    const struct next_hops *next_hops = &balance->next_hops;
    const struct network *network = balance->network;
    size_t switches = next_hops->switch_count, slots = next_hops->slot_count;
    struct arena *memory = &balance->memory;
    balance->destination = NETWORK_NONE;
    balance->load = arena_alloc(memory, slots * sizeof *balance->load);
    balance->used = arena_alloc(memory, BITSET_WORDS(slots) * sizeof *balance->used);
    balance->done = arena_alloc(memory, BITSET_WORDS(network->terminals.count) * sizeof(uint64_t));
    balance->order = arena_alloc(memory, switches * sizeof *balance->order);
    balance->first_choice = arena_alloc(memory, (switches + 1) * sizeof *balance->first_choice);
    balance->choices = arena_alloc(memory, (slots + 1) * sizeof *balance->choices);
    balance->depth = arena_alloc(memory, switches * sizeof *balance->depth);
    balance->stack = arena_alloc(memory, switches * sizeof *balance->stack);
    balance->by_depth = arena_alloc(memory, (switches + 1) * sizeof *balance->by_depth);
    balance->cost = arena_alloc(memory, switches * sizeof *balance->cost);
    balance->chosen = arena_alloc(memory, switches * sizeof *balance->chosen);
    balance->flow = arena_alloc(memory, switches * sizeof *balance->flow);
    balance->slot_of_channel = arena_alloc(memory, network->ports.count * sizeof(uint32_t));
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t *slot_of_port = balance->slot_of_channel + network->switches.items[at].first_port;
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++)
            slot_of_port[next_hops->port[slot]] = slot;
        memset(routes_row(balance->routes, at), PORT_NONE, balance->routes->stride);
        routes_fill_own(balance->routes, network, at);
    }
    balance->operations += switches + network->terminals.count;
    if (options->weights && options->weights->items.count) {
        uint16_t *by_edge = port_weights_by_edge(options->weights, network);
        balance->weight = arena_alloc(memory, slots * sizeof *balance->weight);
        for (size_t slot = 0; slot < slots; slot++)
            balance->weight[slot] = by_edge[next_hops->edge[slot]];
        mem_free(by_edge);
    }
    if (options->user && options->seed_balance)
        count_user_routes(balance, options->user);
}

void least_loaded_tables(const struct network *network, const struct updown *updown,
                         const struct engine_options *options, struct routes *routes,
                         struct next_hops_gaps *gaps)
{
    struct balance balance = {.network = network, .routes = routes};
    size_t first_count = 0;
    uint32_t *first =
        options->first ? guid_list_terminals(options->first, network, &first_count) : NULL;
    uint64_t *keys = options->scatter      ? next_hops_scatter(network, options->scatter)
                     : options->port_shift ? next_hops_shift(network)
                                           : NULL;
    *gaps = (struct next_hops_gaps){0};
    next_hops_init(&balance.next_hops, network, updown, options->workers,
                   first_count ? ALL_NEXT_HOPS_BYTES : NEXT_HOPS_BYTES, keys);
    mem_free(keys);
    prepare(&balance, options);
    for (uint32_t tile = 0; tile < next_hops_tiles(&balance.next_hops);
         tile += balance.next_hops.tile_count) {
        next_hops_compute(&balance.next_hops, options->workers, tile);
        for (int round = 0; round < ROUNDS; round++)
            route_tiles(&balance, first, first_count, round > 0);
        next_hops_add_gaps(&balance.next_hops, gaps);
    }
    routes->operations += balance.operations + balance.next_hops.operations;
    mem_free(first);
    next_hops_release(&balance.next_hops);
    arena_release(&balance.memory);
}

bool least_loaded_is_wanted(const struct engine_options *options)
{
    return (options->weights && options->weights->items.count) ||
           (options->user && options->user->entries.count && options->seed_balance);
}
