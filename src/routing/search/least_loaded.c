/* Loads are what the routes so far put on each link, counted in pairs of terminals.
 *
 * One destination after the other: from its switch outwards every switch takes the way with the
 * least load from there to the destination, added up over all links; then the traffic of all
 * terminals is added up along the chosen ways, from the far end inwards. That is the idea of SSSP
 * routing (Hoefler, Schneider and Lumsdaine, "Optimized routing for large-scale InfiniBand
 * networks", 2009) kept to the ways that next_hops.h allows, so that routes stay as short as their
 * engine promises. The first to choose know little of the others, so all choose twice: a second
 * time, one by one, when the routes of all others are there. Every choice depends on those before
 * it: there is no work for a second thread but the search for ways.
 *
 * Terminals that the options list come first, in that order; then switch by switch. A terminal with
 * several LIDs gets the first of them when all terminals of its switch do, then the second, and so
 * on; ways that it uses already cost more than any load, so that its routes share as little as they
 * can. A port with weight w counts w-fold. */
#include "routing/search/least_loaded.h"

#include "base/bitset.h"

#include <string.h>

enum { NEXT_HOPS_BYTES = 64 << 20, ALL_WAYS_BYTES = 1 << 30, ROUNDS = 2 };
#define USED_COST (UINT64_C(1) << 44) /* above any sum of loads */

struct weigh {
    const struct network *network;
    struct routes *routes;
    struct next_hops next_hops;
    uint64_t *load;            /* by slot */
    uint16_t *weight;          /* by slot, or NULL: all 1 */
    uint8_t *port;             /* by slot */
    uint32_t *slot_of_channel; /* by port of the network; of links between switches */
    uint64_t *fixed;           /* [switch * stride + LID]: entries that the user gave; or NULL */
    uint64_t *done;            /* by terminal: is served in this round */

    /* The ways to one destination switch. */
    uint32_t destination;   /* whose these are, or NETWORK_NONE */
    uint32_t *order;        /* switches that have one, nearest first; the destination's is first */
    uint32_t count;         /* of them */
    uint32_t *first_choice; /* by switch, one more at the end: its slots in `choices` */
    uint32_t *choices;
    uint32_t *depth, *stack, *by_depth; /* scratch, by switch */

    /* One LID. */
    uint64_t *cost;   /* by switch: load from here on */
    uint32_t *chosen; /* by switch: slot */
    uint64_t *flow;   /* by switch: pairs whose route leaves it */
    uint64_t *used;   /* by slot, a bit: of the routes of one terminal so far */
    bool recalls;     /* there are any */
    uint64_t operations;
};

/* Slots that are ways to the destination, by switch. */
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

static bool has_choice(const struct weigh *weigh, uint32_t at)
{
    return weigh->first_choice[at] < weigh->first_choice[at + 1];
}

/* How many steps away each switch is. All its ways are of the same length, so one tells. */
static void measure_depths(struct weigh *weigh, uint32_t destination)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    for (uint32_t at = 0; at < next_hops->switch_count; at++)
        weigh->depth[at] = NETWORK_NONE;
    weigh->depth[destination] = 0;
    for (uint32_t from = 0; from < next_hops->switch_count; from++) {
        uint32_t count = 0, at = from;
        while (weigh->depth[at] == NETWORK_NONE && has_choice(weigh, at)) {
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

static uint64_t slot_cost(const struct weigh *weigh, uint32_t slot)
{
    uint64_t cost = weigh->load[slot] + (weigh->weight ? weigh->weight[slot] : 1);
    return weigh->recalls && bitset_has(weigh->used, slot) ? cost + USED_COST : cost;
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
            uint64_t cost = slot_cost(weigh, slot) + weigh->cost[weigh->next_hops.to[slot]];
            if (cost >= least)
                continue;
            least = cost;
            weigh->chosen[at] = slot;
        }
        weigh->cost[at] = least;
    }
    weigh->operations += weigh->first_choice[weigh->next_hops.switch_count] + weigh->count;
}

static bool is_fixed(const struct weigh *weigh, uint32_t at, uint32_t lid)
{
    return weigh->fixed && bitset_has(weigh->fixed, (size_t)at * weigh->routes->stride + lid);
}

/* What leaves each switch, from the far end inwards. */
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

static uint64_t load_of(const struct weigh *weigh, uint32_t at)
{
    return weigh->flow[at] * (weigh->weight ? weigh->weight[weigh->chosen[at]] : 1);
}

static void add_loads(struct weigh *weigh, uint32_t lid)
{
    count_flows(weigh);
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        if (!is_fixed(weigh, at, lid))
            weigh->load[weigh->chosen[at]] += load_of(weigh, at);
    }
}

static void write_entries(struct weigh *weigh, uint16_t lid, uint8_t lmc)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        routes_fill(routes_row(weigh->routes, at), lid, lmc, weigh->port[weigh->chosen[at]]);
    }
    weigh->operations += weigh->count;
}

/* Where the routes of a terminal's earlier LIDs run, read from the tables. */
static void recall_used(struct weigh *weigh, const struct network_terminal *terminal,
                        uint32_t offset)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        for (uint32_t k = weigh->first_choice[at]; k < weigh->first_choice[at + 1]; k++)
            for (uint32_t earlier = 0; earlier < offset; earlier++)
                if (routes_port(weigh->routes, at, terminal->lid + earlier) ==
                    weigh->port[weigh->choices[k]])
                    bitset_add(weigh->used, weigh->choices[k]);
    }
    weigh->recalls = true;
    weigh->operations += (uint64_t)offset * weigh->first_choice[weigh->next_hops.switch_count];
}

static void forget_used(struct weigh *weigh)
{
    memset(weigh->used, 0, BITSET_WORDS(weigh->next_hops.slot_count) * sizeof *weigh->used);
    weigh->recalls = false;
}

/* Takes a LID's routes out again. */
static void remove_loads(struct weigh *weigh, uint32_t lid)
{
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        uint8_t port = routes_port(weigh->routes, at, lid);
        weigh->chosen[at] =
            weigh->slot_of_channel[weigh->network->switches.items[at].first_port + port];
    }
    count_flows(weigh);
    for (uint32_t i = 1; i < weigh->count; i++) {
        uint32_t at = weigh->order[i];
        if (!is_fixed(weigh, at, lid))
            weigh->load[weigh->chosen[at]] -= load_of(weigh, at);
    }
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
    add_loads(weigh, terminal->lid + offset);
    write_entries(weigh, (uint16_t)(terminal->lid + offset), 0);
    if (offset)
        forget_used(weigh);
}

static bool is_in_memory(const struct weigh *weigh, uint32_t destination)
{
    uint32_t tile = destination / NEXT_HOPS_LANES;
    return tile >= weigh->next_hops.first_tile &&
           tile < weigh->next_hops.first_tile + weigh->next_hops.tile_count;
}

/* All LIDs of those that are not served yet: the first of each, then the second of each. */
static void serve(struct weigh *weigh, const uint32_t *terminals, size_t count, bool again)
{
    const struct network *network = weigh->network;
    VEC(uint32_t) open = {0};
    unsigned top_lmc = 0;
    for (size_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[terminals[i]];
        if (!terminal->lid || bitset_has(weigh->done, terminals[i]) ||
            !is_in_memory(weigh, terminal->at))
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

/* A switch's own LID carries next to no traffic: it takes the best way, and is not counted. */
static void serve_switch(struct weigh *weigh, uint32_t at)
{
    const struct network_switch *node = &weigh->network->switches.items[at];
    if (!node->lid)
        return;
    turn_to(weigh, at);
    choose_ways(weigh);
    write_entries(weigh, node->lid, node->lmc);
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
        serve_switch(weigh, at);
    }
}

/* What needs no route. */
static void fill_own(struct weigh *weigh)
{
    const struct network *network = weigh->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        memset(routes_row(weigh->routes, at), PORT_NONE, weigh->routes->stride);
        routes_fill_own(weigh->routes, network, at);
    }
    weigh->operations += network->switches.count + network->terminals.count;
}

/* The user's entries are load from the start: at least that of the switch's own terminals. */
static void count_user_routes(struct weigh *weigh, const struct user_routes *user)
{
    const struct network *network = weigh->network;
    size_t stride = weigh->routes->stride;
    weigh->fixed = mem_zalloc(BITSET_WORDS(network->switches.count * stride), sizeof *weigh->fixed);
    for (size_t i = 0; i < user->entries.count; i++) {
        const struct user_route *entry = &user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        if (at == NETWORK_NONE || entry->lid >= stride)
            continue;
        uint32_t terminals = network_terminal_count(network, at);
        bitset_add(weigh->fixed, at * stride + entry->lid);
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++)
            if (weigh->port[slot] == entry->port)
                weigh->load[slot] += terminals ? terminals : 1;
    }
}

static void number_slots(struct weigh *weigh)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    const struct network *network = weigh->network;
    weigh->port = mem_alloc(next_hops->slot_count);
    weigh->slot_of_channel = mem_alloc(network->ports.count * sizeof *weigh->slot_of_channel);
    for (uint32_t at = 0; at < next_hops->switch_count; at++) {
        for (uint32_t slot = network->first_edge[at]; slot < network->first_edge[at + 1]; slot++) {
            weigh->port[slot] = network->edges[next_hops->edge[slot]].port;
            weigh->slot_of_channel[network->switches.items[at].first_port + weigh->port[slot]] =
                slot;
        }
    }
}

static void take_weights(struct weigh *weigh, const struct port_weights *weights)
{
    const struct next_hops *next_hops = &weigh->next_hops;
    uint16_t *by_edge = port_weights_by_edge(weights, weigh->network);
    weigh->weight = mem_alloc(next_hops->slot_count * sizeof *weigh->weight);
    for (uint32_t slot = 0; slot < next_hops->slot_count; slot++)
        weigh->weight[slot] = by_edge[next_hops->edge[slot]];
    mem_free(by_edge);
}

static void prepare(struct weigh *weigh, const struct engine_options *options)
{
    size_t switches = weigh->next_hops.switch_count, slots = weigh->next_hops.slot_count;
    weigh->destination = NETWORK_NONE;
    weigh->load = mem_zalloc(slots, sizeof *weigh->load);
    weigh->used = mem_zalloc(BITSET_WORDS(slots), sizeof *weigh->used);
    weigh->done = mem_zalloc(BITSET_WORDS(weigh->network->terminals.count), sizeof *weigh->done);
    weigh->order = mem_alloc(switches * sizeof *weigh->order);
    weigh->first_choice = mem_alloc((switches + 1) * sizeof *weigh->first_choice);
    weigh->choices = mem_alloc((slots + 1) * sizeof *weigh->choices);
    weigh->depth = mem_alloc(switches * sizeof *weigh->depth);
    weigh->stack = mem_alloc(switches * sizeof *weigh->stack);
    weigh->by_depth = mem_alloc((switches + 1) * sizeof *weigh->by_depth);
    weigh->cost = mem_alloc(switches * sizeof *weigh->cost);
    weigh->chosen = mem_alloc(switches * sizeof *weigh->chosen);
    weigh->flow = mem_alloc(switches * sizeof *weigh->flow);
    number_slots(weigh);
    if (options->weights && options->weights->items.count)
        take_weights(weigh, options->weights);
    fill_own(weigh);
    if (options->user && options->seed_balance)
        count_user_routes(weigh, options->user);
}

static void release(struct weigh *weigh)
{
    next_hops_release(&weigh->next_hops);
    mem_free(weigh->load);
    mem_free(weigh->weight);
    mem_free(weigh->port);
    mem_free(weigh->slot_of_channel);
    mem_free(weigh->fixed);
    mem_free(weigh->done);
    mem_free(weigh->order);
    mem_free(weigh->first_choice);
    mem_free(weigh->choices);
    mem_free(weigh->depth);
    mem_free(weigh->stack);
    mem_free(weigh->by_depth);
    mem_free(weigh->cost);
    mem_free(weigh->chosen);
    mem_free(weigh->flow);
    mem_free(weigh->used);
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
    release(&weigh);
}

bool least_loaded_is_wanted(const struct engine_options *options)
{
    return (options->weights && options->weights->items.count) ||
           (options->user && options->user->entries.count && options->seed_balance);
}
