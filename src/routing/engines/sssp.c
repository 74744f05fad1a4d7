/* sssp: single-source shortest paths with growing weights.
 *
 * Hoefler, Schneider and Lumsdaine, "Optimized routing for large-scale InfiniBand networks" (2009):
 * each destination in turn gets a tree of shortest routes in which the weight of a link is the
 * number of routes that cross it; then the weights grow by the new routes. Initial weights exclude
 * detours, so hops come first. Therefore the links that lead closer to a switch do not depend on
 * weights: they are found once, breadth first, for all terminals of the switch. Each LID then takes
 * one pass over these links in order of distance, without a priority queue.
 *
 * The first destinations choose among links without any weight, and choose badly. If the loads are
 * uneven, every terminal's tree is therefore removed and chosen again, under the weights of all
 * others, twice. The remaining uneven links serve one terminal too many, as on a leaf of a fat tree
 * that lost a link: all sources reach a terminal by the same link, the lightest one, since the load
 * of one source does not affect another. Trees that cross such links are chosen once more, source
 * by source, each with the load of those before it.
 *
 * Routes are counted from terminal to terminal. Switches' own LIDs get routes but add no weight.
 * The further LIDs of a terminal avoid the links of its earlier ones as far as shortest paths
 * allow; weights come second.
 *
 * Shortest routes need not be free of deadlock. As with minhop the tables are proved to be, or
 * refused with the cycle, unless cycles are explicitly allowed. */
#include "routing/engines/sssp.h"

#include "routing/cdg/cdg.h"

#include "base/rng.h"

#include <assert.h>
#include <string.h>

void sssp_weigh_user_routes(const struct network *network, const struct engine_options *options,
                            uint32_t *weight)
{
    if (!options->user || !options->seed_balance)
        return;
    for (size_t i = 0; i < options->user->entries.count; i++) {
        const struct user_route *entry = &options->user->entries.items[i];
        uint32_t at = user_route_switch(entry, network);
        if (at == NETWORK_NONE)
            continue;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            if (network->edges[e].port == entry->port)
                weight[e] += 1 + network_terminal_count(network, at);
    }
}

void sssp_init(struct sssp *sssp, const struct network *network,
               const struct engine_options *options)
{
    size_t switches = network->switches.count, edges = network->first_edge[switches];
    *sssp = (struct sssp){.network = network};
    struct arena *memory = &sssp->memory;
    sssp->weight = arena_alloc(memory, edges * sizeof *sssp->weight);
    sssp->order = arena_alloc(memory, (switches + 1) * sizeof *sssp->order);
    sssp->distance = arena_alloc(memory, switches * sizeof *sssp->distance);
    sssp->next_hops = arena_alloc(memory, (edges + 1) * sizeof *sssp->next_hops);
    sssp->first_hop = arena_alloc(memory, (switches + 2) * sizeof *sssp->first_hop);
    sssp->choice = arena_alloc(memory, switches * sizeof *sssp->choice);
    sssp->cost = arena_alloc(memory, switches * sizeof *sssp->cost);
    sssp->flow = arena_alloc(memory, switches * sizeof *sssp->flow);
    if (options->weights)
        sssp->factor = port_weights_by_edge(options->weights, network);
    sssp_weigh_user_routes(network, options, sssp->weight);
}

void sssp_release(struct sssp *sssp)
{
    mem_free(sssp->factor);
    arena_release(&sssp->memory);
}

void sssp_aim(struct sssp *sssp, uint32_t target)
{
    assert(target < sssp->network->switches.count);
    const struct network *network = sssp->network;
    uint32_t next_hops = 0;
    sssp->reached = network_distances(network, target, sssp->distance, sssp->order);
    sssp->target = target;
    for (uint32_t i = 0; i < sssp->reached; i++) {
        uint32_t at = sssp->order[i], closer = sssp->distance[at] - 1;
        sssp->first_hop[i] = next_hops;
        if (i == 0)
            continue;
        sssp->operations += network->first_edge[at + 1] - network->first_edge[at];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t to = network->edges[e].to;
            sssp->next_hops[next_hops] = (struct sssp_hop){.edge = e, .to = to};
            next_hops += sssp->distance[to] == closer;
        }
    }
    sssp->first_hop[sssp->reached] = next_hops;
    sssp->operations += sssp->reached + next_hops;
}

void sssp_choose(struct sssp *sssp)
{
    const uint32_t *weight = sssp->weight;
    uint64_t *cost = sssp->cost;
    cost[sssp->target] = 0;
    sssp->choice[sssp->target] = NETWORK_NONE;
    for (uint32_t i = 1; i < sssp->reached; i++) {
        const struct sssp_hop *hop = sssp->next_hops + sssp->first_hop[i];
        const struct sssp_hop *end = sssp->next_hops + sssp->first_hop[i + 1];
        uint64_t least = UINT64_MAX;
        uint32_t edge = hop->edge;
        for (; hop < end; hop++) {
            uint64_t sum = weight[hop->edge] + cost[hop->to];
            edge = sum < least ? hop->edge : edge;
            least = sum < least ? sum : least;
        }
        cost[sssp->order[i]] = least;
        sssp->choice[sssp->order[i]] = edge;
    }
    sssp->operations += sssp->first_hop[sssp->reached];
}

void sssp_choose_lowest(struct sssp *sssp)
{
    sssp->choice[sssp->target] = NETWORK_NONE;
    for (uint32_t i = 1; i < sssp->reached; i++) {
        const struct sssp_hop *hop = sssp->next_hops + sssp->first_hop[i];
        const struct sssp_hop *end = sssp->next_hops + sssp->first_hop[i + 1], *best = hop;
        for (; hop < end; hop++)
            if (hop->to == best->to && sssp->weight[hop->edge] < sssp->weight[best->edge])
                best = hop;
        sssp->choice[sssp->order[i]] = best->edge;
    }
    sssp->operations += sssp->first_hop[sssp->reached];
}

static void add_weight(struct sssp *sssp, uint32_t edge, uint32_t flow)
{
    sssp->weight[edge] += sssp->factor ? flow * sssp->factor[edge] : flow;
}

void sssp_load(struct sssp *sssp, int32_t amount)
{
    const struct network *network = sssp->network;
    for (uint32_t i = sssp->reached; i-- > 1;) {
        uint32_t at = sssp->order[i], edge = sssp->choice[at];
        uint32_t flow = sssp->flow[at] + (uint32_t)amount * network_terminal_count(network, at);
        sssp->flow[at] = 0;
        sssp->flow[network->edges[edge].to] += flow;
        add_weight(sssp, edge, flow);
    }
    sssp->flow[sssp->target] = 0;
    sssp->operations += sssp->reached;
}

/* Adds the dependencies of the chosen routes; `everywhere`: each switch is a source, not only those
 * with terminals. */
static void note_choice(struct sssp *sssp, bool everywhere)
{
    const struct network *network = sssp->network;
    for (uint32_t i = sssp->reached; i-- > 1;) {
        uint32_t at = sssp->order[i], in = sssp->choice[at], to = network->edges[in].to;
        bool carries = everywhere || sssp->flow[at] || network_terminal_count(network, at);
        sssp->flow[at] = 0;
        if (!carries || to == sssp->target)
            continue;
        sssp->flow[to] = 1;
        cdg_note(sssp->cdg, 0, in, sssp->choice[to]);
    }
    sssp->flow[sssp->target] = 0;
}

uint32_t *sssp_destinations(const struct network *network, const struct engine_options *options,
                            uint32_t *count)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *list = mem_alloc((network->terminals.count + 1) * sizeof *list);
    uint32_t *by_turn = mem_alloc((switches + 1) * sizeof *by_turn);
    bool *listed = mem_zalloc(network->terminals.count + 1, sizeof *listed);
    size_t first_count = 0;
    uint32_t *first =
        options->first ? guid_list_terminals(options->first, network, &first_count) : NULL;
    *count = 0;
    for (uint32_t i = 0; i < network->terminals.count; i++)
        listed[i] = network->terminals.items[i].lid == 0;
    for (size_t i = 0; i < first_count; i++) {
        if (!listed[first[i]])
            list[(*count)++] = first[i];
        listed[first[i]] = true;
    }
    for (uint32_t at = 0; at < switches; at++)
        by_turn[at] = at;
    if (options->scatter) {
        struct rng rng;
        rng_seed(&rng, options->scatter, 0);
        rng_shuffle(&rng, by_turn, switches);
    }
    for (uint32_t turn = 0; turn < switches; turn++) {
        uint32_t at = by_turn[turn];
        for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++)
            if (!listed[network->terminals_at[i]])
                list[(*count)++] = network->terminals_at[i];
    }
    mem_free(first);
    mem_free(by_turn);
    mem_free(listed);
    return list;
}

uint32_t sssp_first_lid(const struct network *network, uint32_t at)
{
    for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++)
        if (network_terminal_at(network, i)->lid)
            return network_terminal_at(network, i)->lid;
    return 0;
}

void sssp_copy_column(struct routes *routes, const struct network *network, uint32_t at,
                      uint32_t lid)
{
    const struct network_switch *target = &network->switches.items[at];
    for (uint32_t from = 0; from < routes->switch_count; from++)
        if (from != at)
            memset(routes_row(routes, from) + target->lid, routes_row(routes, from)[lid],
                   (size_t)1 << target->lmc);
    routes->operations += routes->switch_count;
}

static void write_column(struct sssp *sssp, struct routes *routes, uint32_t lid, uint32_t count)
{
    for (uint32_t i = 1; i < sssp->reached; i++) {
        uint32_t at = sssp->order[i];
        memset(routes_row(routes, at) + lid, sssp->network->edges[sssp->choice[at]].port, count);
    }
    sssp->operations += sssp->reached;
}

/* As sssp_choose(), for a further LID of a terminal. */
static void choose_apart(struct sssp *sssp, const struct routes *routes, uint32_t first_lid,
                         uint32_t lid)
{
    const uint64_t apart = UINT64_C(1) << 44; /* above the weights of any route */
    sssp->cost[sssp->target] = 0;
    sssp->choice[sssp->target] = NETWORK_NONE;
    for (uint32_t i = 1; i < sssp->reached; i++) {
        uint32_t at = sssp->order[i];
        const uint8_t *row = routes_row(routes, at);
        uint64_t least = UINT64_MAX;
        for (uint32_t k = sssp->first_hop[i]; k < sssp->first_hop[i + 1]; k++) {
            const struct sssp_hop *hop = &sssp->next_hops[k];
            uint64_t sum = sssp->weight[hop->edge] + sssp->cost[hop->to];
            for (uint32_t earlier = first_lid; earlier < lid; earlier++)
                if (row[earlier] == sssp->network->edges[hop->edge].port)
                    sum += apart;
            if (sum >= least)
                continue;
            least = sum;
            sssp->choice[at] = hop->edge;
        }
        sssp->cost[at] = least;
    }
    sssp->operations += (uint64_t)sssp->first_hop[sssp->reached] * (1 + lid - first_lid);
}

/* Chooses and adds load at once: each switch, from the target outwards, sees the load of those
 * before it. */
static void choose_in_turn(struct sssp *sssp)
{
    const struct network *network = sssp->network;
    for (uint32_t i = 1; i < sssp->reached; i++) {
        uint32_t from = sssp->order[i], terminals = network_terminal_count(network, from);
        uint64_t least = UINT64_MAX;
        for (uint32_t k = sssp->first_hop[i]; k < sssp->first_hop[i + 1]; k++) {
            uint64_t sum = sssp->weight[sssp->next_hops[k].edge];
            for (uint32_t at = sssp->next_hops[k].to; at != sssp->target;
                 at = network->edges[sssp->choice[at]].to)
                sum += sssp->weight[sssp->choice[at]];
            if (sum >= least)
                continue;
            least = sum;
            sssp->choice[from] = sssp->next_hops[k].edge;
        }
        for (uint32_t at = from; terminals && at != sssp->target;
             at = network->edges[sssp->choice[at]].to)
            add_weight(sssp, sssp->choice[at], terminals);
        sssp->operations +=
            (uint64_t)sssp->distance[from] * (sssp->first_hop[i + 1] - sssp->first_hop[i] + 1);
    }
}

/* Chooses every terminal's first LID again, or only those whose trees cross a link above the
 * limit. */
static void choose_again(struct sssp *sssp, struct routes *routes, const uint32_t *destinations,
                         uint32_t count, uint64_t limit)
{
    cdg_clear(sssp->cdg, 0);
    sssp->target = NETWORK_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &sssp->network->terminals.items[destinations[i]];
        if (sssp->target != terminal->at)
            sssp_aim(sssp, terminal->at);
        bool again = limit == 0;
        for (uint32_t k = 1; k < sssp->reached; k++) {
            uint32_t at = sssp->order[k];
            sssp->choice[at] = cdg_leaving(sssp->cdg, at, routes_port(routes, at, terminal->lid));
            again |= sssp->weight[sssp->choice[at]] > limit;
        }
        sssp->operations += sssp->reached;
        if (again) {
            sssp_load(sssp, -1);
            if (limit) {
                choose_in_turn(sssp);
            } else {
                sssp_choose(sssp);
                sssp_load(sssp, 1);
            }
            write_column(sssp, routes, terminal->lid, 1);
        }
        note_choice(sssp, true);
    }
}

uint64_t sssp_heavy(const uint32_t *weight, uint64_t edges)
{
    uint64_t sum = 0, most = 0;
    for (uint64_t e = 0; e < edges; e++) {
        sum += weight[e];
        most = weight[e] > most ? weight[e] : most;
    }
    uint64_t mean = edges ? sum / edges : 0;
    return most <= mean + mean / 20 ? 0 : mean + (most - mean) * 3 / 10;
}

/* The LIDs `offset` of all terminals. */
static bool fill_offset(struct sssp *sssp, struct routes *routes, const uint32_t *destinations,
                        uint32_t count, uint32_t offset)
{
    const struct network *network = sssp->network;
    bool more = false;
    sssp->target = NETWORK_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &network->terminals.items[destinations[i]];
        if (offset >> terminal->lmc)
            continue;
        more |= (offset + 1) >> terminal->lmc == 0;
        if (sssp->target != terminal->at)
            sssp_aim(sssp, terminal->at);
        if (sssp->lowest)
            sssp_choose_lowest(sssp);
        else if (offset)
            choose_apart(sssp, routes, terminal->lid, terminal->lid + offset);
        else
            sssp_choose(sssp);
        sssp_load(sssp, 1);
        note_choice(sssp, true);
        write_column(sssp, routes, terminal->lid + offset, 1);
    }
    return more;
}

void sssp_tables(const struct network *network, const struct engine_options *options, bool lowest,
                 struct cdg *cdg, struct routes *routes)
{
    struct sssp sssp;
    uint32_t count;
    uint32_t *destinations = sssp_destinations(network, options, &count);
    sssp_init(&sssp, network, options);
    sssp.cdg = cdg;
    sssp.lowest = lowest;
    bool more = fill_offset(&sssp, routes, destinations, count, 0);
    for (int again = 0; again < 3 && !lowest; again++) {
        uint64_t heavy = sssp_heavy(sssp.weight, cdg->channels);
        if (heavy)
            choose_again(&sssp, routes, destinations, count, again < 2 ? 0 : heavy);
    }
    for (uint32_t offset = 1; more; offset++)
        more = fill_offset(&sssp, routes, destinations, count, offset);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *target = &network->switches.items[at];
        uint32_t lid = sssp_first_lid(network, at);
        if (!target->lid)
            continue;
        if (lid) {
            sssp_copy_column(routes, network, at, lid);
            continue;
        }
        sssp_aim(&sssp, at);
        if (sssp.lowest)
            sssp_choose_lowest(&sssp);
        else
            sssp_choose(&sssp);
        note_choice(&sssp, false);
        write_column(&sssp, routes, target->lid, UINT32_C(1) << target->lmc);
    }
    for (uint32_t at = 0; at < routes->switch_count; at++)
        routes_fill_own(routes, network, at);
    routes->operations += sssp.operations;
    sssp_release(&sssp);
    mem_free(destinations);
}

static int sssp_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    struct cdg cdg;
    routes_init(routes, network, "sssp");
    cdg_init(&cdg, network);
    cdg_open(&cdg);
    sssp_tables(network, options, false, &cdg, routes);
    bool cyclic = !cdg_sort(&cdg, 0);
    routes->operations += cdg_operations(&cdg);
    cdg_release(&cdg);
    return engine_settle(network, options, cyclic, routes, err);
}

const struct engine engine_sssp = {
    .name = "sssp",
    .summary = "shortest routes weighed by those so far; refused where it could deadlock",
    .compute = sssp_compute,
};
