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

#include "base/bitset.h"

#include <string.h>

enum { NEXT_HOPS_BYTES = 64 << 20, ALL_WAYS_BYTES = 1 << 30, ROUNDS = 2 };
#define USED_COST (UINT64_C(1) << 44) /* above any sum of loads */

struct weigh {
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
    bool recalls;     /* `used` has bits */
    uint64_t operations;
};

/* Lists the slots that are next hops to the destination, by switch. */
static void list_choices(struct weigh *weigh, uint32_t destination)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    uint32_t tile = destination / NEXT_HOPS_LANES - next_hops->first_tile, count = 0;
    const uint64_t *lanes = next_hops->lanes + (size_t)tile * next_hops->slot_count;
    for (uint32_t at = 0; at < next_hops->switch_count; at++) {
        weigh->first_choice[at] = count;
        for (uint32_t slot = next_hops->network->first_edge[at];
             slot < next_hops->network->first_edge[at + 1]; slot++) {
            weigh->choices[count] = slot;
            count += lanes[slot] >> destination % NEXT_HOPS_LANES & 1;
        }
    }
    weigh->first_choice[next_hops->switch_count] = count;
    weigh->operations += next_hops->slot_count;
}

/* Finds the distance of each switch. All its next hops have the same distance, so one is enough. */
static void measure_depths(struct weigh *weigh, uint32_t destination)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    for (uint32_t at = 0; at < next_hops->switch_count; at++)
        weigh->depth[at] = NETWORK_NONE;
    weigh->depth[destination] = 0;
    for (uint32_t from = 0; from < next_hops->switch_count; from++) {
        uint32_t count = 0, at = from;
        while (weigh->depth[at] == NETWORK_NONE &&
               weigh->first_choice[at] < weigh->first_choice[at + 1]) {
            weigh->stack[count++] = at;
            at = next_hops->to[weigh->choices[weigh->first_choice[at]]];
        }
        for (uint32_t depth = weigh->depth[at]; count && depth != NETWORK_NONE;)
            weigh->depth[weigh->stack[--count]] = ++depth;
    }
}

static void order_by_depth(struct weigh *weigh)
{
    uint32_t switches = weigh->next_hops.switch_count;
    memset(weigh->by_depth, 0, (switches + 1) * sizeof *weigh->by_depth);
    for (uint32_t at = 0; at < switches; at++)
        if (weigh->depth[at] != NETWORK_NONE)
            weigh->by_depth[weigh->depth[at] + 1]++;
    for (uint32_t depth = 0; depth < switches; depth++)
        weigh->by_depth[depth + 1] += weigh->by_depth[depth];
    weigh->count = weigh->by_depth[switches];
    for (uint32_t at = 0; at < switches; at++)
        if (weigh->depth[at] != NETWORK_NONE)
            weigh->order[weigh->by_depth[weigh->depth[at]]++] = at;
}

static void turn_to(struct weigh *weigh, uint32_t destination)
{
    if (weigh->destination == destination)
        return;
    weigh->destination = destination;
    list_choices(weigh, destination);
    measure_depths(weigh, destination);
    order_by_depth(weigh);
}

/* From the destination outwards. */
static void choose_ways(struct weigh *weigh)
{
    weigh->cost[weigh->order[0]] = 0;
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        uint64_t least = UINT64_MAX;
        for (uint32_t k = weigh->first_choice[at]; k < weigh->first_choice[at + 1]; k++) {
            uint32_t slot = weigh->choices[k];
            uint64_t cost = weigh->cost[weigh->next_hops.to[slot]] + weigh->load[slot] +
                            (weigh->weight ? weigh->weight[slot] : 1);
            if (weigh->recalls && bitset_has(weigh->used, slot))
                cost += USED_COST;
            if (cost >= least)
                continue;
            least = cost;
            weigh->chosen[at] = slot;
        }
        weigh->cost[at] = least;
    }
    weigh->operations += weigh->first_choice[weigh->next_hops.switch_count] + weigh->count;
}

/* Adds up the pairs whose routes leave each switch, from the farthest inwards. */
static void count_flows(struct weigh *weigh)
{
    for (uint32_t i = 0; i < weigh->count; i++)
        weigh->flow[weigh->order[i]] = network_terminal_count(weigh->network, weigh->order[i]);
    for (uint32_t i = weigh->count; i-- > 1;) {
        uint32_t at = weigh->order[i];
        weigh->flow[weigh->next_hops.to[weigh->chosen[at]]] += weigh->flow[at];
    }
    weigh->operations += 2 * (uint64_t)weigh->count;
}

/* Adds the load of a LID's routes to the links, or removes it (`sign` is -1). */
static void add_loads(struct weigh *weigh, uint32_t lid, int sign)
{
    count_flows(weigh);
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i], slot = weigh->chosen[at];
        uint64_t load = weigh->flow[at] * (weigh->weight ? weigh->weight[slot] : 1);
        if (!weigh->fixed || !bitset_has(weigh->fixed, (size_t)at * weigh->routes->stride + lid))
            weigh->load[slot] += sign > 0 ? load : -load;
    }
}

static void write_entries(struct weigh *weigh, uint16_t lid, uint8_t lmc)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        routes_fill(routes_row(weigh->routes, at), lid, lmc,
                    weigh->next_hops.port[weigh->chosen[at]]);
    }
    weigh->operations += weigh->count;
}

/* Marks the links of a terminal's earlier LIDs, from the tables. */
static void recall_used(struct weigh *weigh, const struct network_terminal *terminal,
                        uint32_t offset)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        for (uint32_t k = weigh->first_choice[at]; k < weigh->first_choice[at + 1]; k++)
            for (uint32_t earlier = 0; earlier < offset; earlier++)
                if (routes_port(weigh->routes, at, terminal->lid + earlier) ==
                    weigh->next_hops.port[weigh->choices[k]])
                    bitset_add(weigh->used, weigh->choices[k]);
    }
    weigh->recalls = true;
    weigh->operations += (uint64_t)offset * weigh->first_choice[weigh->next_hops.switch_count];
}

/* Removes the load of a LID's routes. */
static void remove_loads(struct weigh *weigh, uint32_t lid)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        uint8_t port = routes_port(weigh->routes, at, lid);
        weigh->chosen[at] =
            weigh->slot_of_channel[weigh->network->switches.items[at].first_port + port];
    }
    add_loads(weigh, lid, -1);
}

static void serve_lid(struct weigh *weigh, const struct network_terminal *terminal, uint32_t offset,
                      bool again)
{
    turn_to(weigh, terminal->at);
    if (again)
        remove_loads(weigh, terminal->lid + offset);
    if (offset)
        recall_used(weigh, terminal, offset);
    choose_ways(weigh);
    add_loads(weigh, terminal->lid + offset, 1);
    write_entries(weigh, (uint16_t)(terminal->lid + offset), 0);
    if (weigh->recalls)
        memset(weigh->used, 0, BITSET_WORDS(weigh->next_hops.slot_count) * sizeof *weigh->used);
    weigh->recalls = false;
}

/* All LIDs of terminals that have no routes in this round yet: the first of each, then the second
 * of each. */
static void serve(struct weigh *weigh, const uint32_t *terminals, size_t count, bool again)
{
    const struct network *network = weigh->network;
    uint32_t start = weigh->next_hops.first_tile * NEXT_HOPS_LANES;
    uint32_t end = start + weigh->next_hops.tile_count * NEXT_HOPS_LANES;
    VEC(uint32_t) open = {0};
    unsigned top_lmc = 0;
    for (size_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[terminals[i]];
        if (!terminal->lid || bitset_has(weigh->done, terminals[i]) || terminal->at < start ||
            terminal->at >= end)
            continue;
        bitset_add(weigh->done, terminals[i]);
        vec_push(&open, terminals[i]);
        top_lmc = terminal->lmc > top_lmc ? terminal->lmc : top_lmc;
    }
    for (uint32_t offset = 0; offset < UINT32_C(1) << top_lmc; offset++)
        for (size_t i = 0; i < open.count; i++)
            if (!(offset >> network->terminals.items[open.items[i]].lmc))
                serve_lid(weigh, &network->terminals.items[open.items[i]], offset, again);
    vec_release(&open);
}

static void serve_tiles(struct weigh *weigh, const uint32_t *first, size_t first_count, bool again)
{
    const struct network *network = weigh->network;
    uint32_t start = weigh->next_hops.first_tile * NEXT_HOPS_LANES;
    uint32_t end = start + weigh->next_hops.tile_count * NEXT_HOPS_LANES;
    memset(weigh->done, 0, BITSET_WORDS(network->terminals.count) * sizeof *weigh->done);
    serve(weigh, first, first_count, again);
    for (uint32_t at = start; at < end && at < weigh->next_hops.switch_count; at++) {
        serve(weigh, network->terminals_at + network->first_terminal[at],
              network_terminal_count(network, at), again);
        const struct network_switch *node = &network->switches.items[at];
        if (!node->lid)
            continue;
        turn_to(weigh, at); /* no load for the switch's own LID: it carries little traffic */
        choose_ways(weigh);
        write_entries(weigh, node->lid, node->lmc);
    }
}

/* User routes are load from the start: at least that of the switch's own terminals. */
static void count_user_routes(struct weigh *weigh, const struct user_routes *user)
{
    const struct network *network = weigh->network;
    size_t stride = weigh->routes->stride;
    weigh->fixed = arena_alloc(&weigh->memory, BITSET_WORDS(network->switches.count * stride) *
                                                   sizeof *weigh->fixed);
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        if (at == NETWORK_NONE || entry->lid >= stride)
            continue;
        uint32_t terminals = network_terminal_count(network, at);
        bitset_add(weigh->fixed, at * stride + entry->lid);
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++)
            if (weigh->next_hops.port[slot] == entry->port)
                weigh->load[slot] += terminals ? terminals : 1;
    }
}

static void prepare(struct weigh *weigh, const struct engine_options *options)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    const struct network *network = weigh->network;
    size_t switches = next_hops->switch_count, slots = next_hops->slot_count;
    struct arena *memory = &weigh->memory;
    weigh->destination = NETWORK_NONE;
    weigh->load = arena_alloc(memory, slots * sizeof *weigh->load);
    weigh->used = arena_alloc(memory, BITSET_WORDS(slots) * sizeof *weigh->used);
    weigh->done = arena_alloc(memory, BITSET_WORDS(network->terminals.count) * sizeof(uint64_t));
    weigh->order = arena_alloc(memory, switches * sizeof *weigh->order);
    weigh->first_choice = arena_alloc(memory, (switches + 1) * sizeof *weigh->first_choice);
    weigh->choices = arena_alloc(memory, (slots + 1) * sizeof *weigh->choices);
    weigh->depth = arena_alloc(memory, switches * sizeof *weigh->depth);
    weigh->stack = arena_alloc(memory, switches * sizeof *weigh->stack);
    weigh->by_depth = arena_alloc(memory, (switches + 1) * sizeof *weigh->by_depth);
    weigh->cost = arena_alloc(memory, switches * sizeof *weigh->cost);
    weigh->chosen = arena_alloc(memory, switches * sizeof *weigh->chosen);
    weigh->flow = arena_alloc(memory, switches * sizeof *weigh->flow);
    weigh->slot_of_channel = arena_alloc(memory, network->ports.count * sizeof(uint32_t));
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t *slot_of_port = weigh->slot_of_channel + network->switches.items[at].first_port;
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++)
            slot_of_port[next_hops->port[slot]] = slot;
        memset(routes_row(weigh->routes, at), PORT_NONE, weigh->routes->stride);
        routes_fill_own(weigh->routes, network, at);
    }
    weigh->operations += switches + network->terminals.count;
    if (options->weights && options->weights->items.count) {
        uint16_t *by_edge = port_weights_by_edge(options->weights, network);
        weigh->weight = arena_alloc(memory, slots * sizeof *weigh->weight);
        for (size_t slot = 0; slot < slots; slot++)
            weigh->weight[slot] = by_edge[next_hops->edge[slot]];
        mem_free(by_edge);
    }
    if (options->user && options->seed_balance)
        count_user_routes(weigh, options->user);
}

void least_loaded_tables(const struct network *network, const struct updown *updown,
                         const struct engine_options *options, struct routes *routes,
                         struct next_hops_gaps *gaps)
{
    struct weigh weigh = {.network = network, .routes = routes};
    size_t first_count = 0;
    uint32_t *first =
        options->first ? guid_list_terminals(options->first, network, &first_count) : NULL;
    uint64_t *keys = options->scatter ? next_hops_scatter(network, options->scatter) : NULL;
    *gaps = (struct next_hops_gaps){0};
    next_hops_init(&weigh.next_hops, network, updown, options->workers,
                   first_count ? ALL_WAYS_BYTES : NEXT_HOPS_BYTES, keys);
    mem_free(keys);
    prepare(&weigh, options);
    for (uint32_t tile = 0; tile < next_hops_tiles(&weigh.next_hops);
         tile += weigh.next_hops.tile_count) {
        next_hops_compute(&weigh.next_hops, options->workers, tile);
        for (int round = 0; round < ROUNDS; round++)
            serve_tiles(&weigh, first, first_count, round > 0);
        next_hops_add_gaps(&weigh.next_hops, gaps);
    }
    routes->operations += weigh.operations + weigh.next_hops.operations;
    mem_free(first);
    next_hops_release(&weigh.next_hops);
    arena_release(&weigh.memory);
}

bool least_loaded_is_wanted(const struct engine_options *options)
{
    return (options->weights && options->weights->items.count) ||
           (options->user && options->user->entries.count && options->seed_balance);
}
