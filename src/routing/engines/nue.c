/* nue: routes that never need more VLs than there are.
 *
 * Domke, Hoefler and Matsuoka, "Routing on the dependency graph: a new approach to deadlock-free
 * high-performance routing" (2016): destinations are assigned to the VLs, and the routes to each
 * are searched in the complete dependency graph of its VL, which refuses dependencies that would
 * close a cycle with earlier routes. An escape tree in each graph from the start guarantees a path,
 * even on a single VL.
 *
 * What is done differently:
 * - Hops come before weights, as in sssp, so that the search needs no priority queue (nue_tree.c).
 * - Escape trees restrict routes, and many networks never need them. VLs start without; if a
 *   destination gets stuck on all of them, the computation starts again with escape trees and with
 *   the destinations in random order: with few VLs, consecutive neighbours would take the same
 *   links.
 * - A destination goes to the VL of its neighbours (nue_vls.c) only if its routes are all shortest
 *   there; else to the VL where the sum of detours is least. VLs only lose paths, so the detours
 *   of the last tree to the same switch are a lower bound on a VL: it is tried again only if no
 *   other VL has less (M. Minoux, "Accelerated greedy algorithms for maximizing submodular set
 *   functions", 1978). This is a heuristic: a search that knows other loads may find less.
 * - If loads are uneven, trees are removed and chosen again, as in sssp.
 *
 * VLs by destination separate the two directions of a pair, and most clients use one SL for both.
 * So these VLs only serve to find routes: the finished tables are assigned to VLs again, by pairs
 * of switches (layers.h). Routes found with many VLs do not always fit; routes found with one VL
 * do, as they have no cycle at all. With `reversible` (engine.h) routes are then computed again
 * with one VL; else they stay on the VLs of their destinations, and the note says so. (With two or
 * four VLs they hardly ever fit either.) */
#include "routing/engines/column.h"
#include "routing/engines/layers.h"
#include "routing/engines/nue_tree.h"
#include "routing/engines/sssp.h"

#include <string.h>

enum {
    ORDERS = 4,
    ORDERS_ENTRIES = 1 << 20
}; /* orders that are tried, in tables of at most this size */

struct nue {
    const struct network *network;
    struct routes *routes;
    struct arena memory;
    struct cdg cdg;
    struct nue_tree tree;
    struct column column;
    uint32_t *weight;   /* by channel */
    uint16_t *factor;   /* by channel: weight of a route; NULL: 1 */
    uint32_t *flow;     /* by switch */
    uint32_t *up;       /* [vl * switches + switch]: to the parent in the VL's escape tree */
    uint8_t *preferred; /* by switch: the preferred VL of its terminals */
    uint64_t *bound;    /* [switch * vls + vl]: detours of the last tree to a terminal there */
    uint8_t *vl_of;     /* by LID */
    uint32_t *detour;   /* by LID: hops above the shortest, of all switches with terminals */
    unsigned vls;       /* VLs of the search for routes */
    bool escape;        /* VLs have escape trees */
    uint64_t load[ENGINE_VLS_MAX];
};

static void nue_init(struct nue *nue, const struct engine_options *options)
{
    const struct network *network = nue->network;
    size_t switches = network->switches.count;
    nue->vls = engine_vls(options);
    cdg_init(&nue->cdg, network);
    for (unsigned i = 0; i < nue->vls; i++)
        cdg_open(&nue->cdg);
    nue_tree_init(&nue->tree, network, &nue->cdg);
    column_init(&nue->column, network);
    nue->weight = arena_alloc(&nue->memory, nue->cdg.channels * sizeof *nue->weight);
    nue->flow = arena_alloc(&nue->memory, (switches + 1) * sizeof *nue->flow);
    nue->up = arena_alloc(&nue->memory, switches * nue->vls * sizeof *nue->up);
    nue->preferred = arena_alloc(&nue->memory, switches);
    nue->bound = arena_alloc(&nue->memory, switches * nue->vls * sizeof *nue->bound);
    nue->vl_of = arena_alloc(&nue->memory, network->top_lid + 1u);
    nue->detour = arena_alloc(&nue->memory, (network->top_lid + 1u) * sizeof *nue->detour);
    if (options->weights)
        nue->factor = port_weights_by_edge(options->weights, network);
    nue->tree.weight = nue->weight;
    nue->tree.routes = nue->routes;
}

/* Adds this much load from every terminal along a tree. */
static void add_tree_load(struct nue *nue, const uint32_t *order, uint32_t count,
                          const uint32_t *out, int32_t amount)
{
    const struct network *network = nue->network;
    for (uint32_t i = count; i-- > 1;) {
        uint32_t at = order[i];
        uint32_t flow = nue->flow[at] + (uint32_t)amount * network_terminal_count(network, at);
        nue->flow[at] = 0;
        nue->flow[network->edges[out[at]].to] += flow;
        nue->weight[out[at]] += nue->factor ? flow * nue->factor[out[at]] : flow;
    }
    nue->flow[order[0]] = 0;
}

static const uint32_t *escape_tree(const struct nue *nue, unsigned vl)
{
    return nue->escape ? nue->up + (size_t)vl * nue->network->switches.count : NULL;
}

static enum nue_result try_vl(struct nue *nue, unsigned vl, uint64_t limit)
{
    nue->tree.limit = limit;
    nue->tree.vl = vl;
    nue->tree.up = escape_tree(nue, vl);
    return nue_tree_grow(&nue->tree);
}

/* The next VL to try: the one with the lowest bound, of these the preferred one, or the one with
 * the least load. nue->vls if none can have less than `least` detours. */
static unsigned next_vl(const struct nue *nue, unsigned tried, unsigned preferred, uint64_t least)
{
    const uint64_t *bound = nue->bound + (size_t)nue->tree.target * nue->vls;
    unsigned best = nue->vls;
    for (unsigned vl = 0; vl < nue->vls; vl++)
        if (!(tried >> vl & 1) && bound[vl] < least &&
            (best == nue->vls || bound[vl] < bound[best] ||
             (bound[vl] == bound[best] && best != preferred &&
              (vl == preferred || nue->load[vl] < nue->load[best]))))
            best = vl;
    return best;
}

/* Grows the tree of the LID that is set in `tree`, on the VL with the least detours. */
static bool grow_on_best_vl(struct nue *nue, unsigned preferred)
{
    uint64_t *bound = nue->bound + (size_t)nue->tree.target * nue->vls;
    unsigned best = nue->vls, tried = 0, vl;
    uint64_t least = UINT64_MAX;
    while ((vl = next_vl(nue, tried, preferred, least)) < nue->vls) {
        enum nue_result result = try_vl(nue, vl, least);
        tried |= 1u << vl;
        bound[vl] = result == NUE_STUCK ? least : nue->tree.detour;
        if (result == NUE_STUCK)
            continue;
        least = bound[vl];
        best = vl;
        if (next_vl(nue, tried, preferred, least) == nue->vls) {
            nue_tree_keep(&nue->tree);
            return true;
        }
        cdg_end(&nue->cdg, false);
    }
    if (best == nue->vls || try_vl(nue, best, UINT64_MAX) == NUE_STUCK)
        return false;
    nue_tree_keep(&nue->tree);
    return true;
}

static void write_tree_ports(struct nue *nue, uint32_t lid, uint32_t count)
{
    const struct nue_tree *tree = &nue->tree;
    for (uint32_t i = 1; i < tree->reached; i++) {
        uint32_t at = tree->order[i];
        memset(routes_row(nue->routes, at) + lid, nue->network->edges[tree->choice[at]].port,
               count);
    }
    nue->routes->operations += tree->reached;
}

static void write_tree_of_lid(struct nue *nue, uint32_t lid, uint32_t count)
{
    write_tree_ports(nue, lid, count);
    memset(nue->vl_of + lid, (int)nue->tree.vl, count);
    nue->detour[lid] = (uint32_t)nue->tree.detour;
}

static void set_target(struct nue *nue, const struct network_terminal *terminal, uint32_t offset)
{
    struct nue_tree *tree = &nue->tree;
    if (tree->target != terminal->at)
        nue_tree_aim(tree, terminal->at);
    tree->first_lid = terminal->lid;
    tree->lid = terminal->lid + offset;
}

/* Places the LIDs `offset` of all terminals. False if one is stuck on all VLs. */
static bool place_offset(struct nue *nue, const uint32_t *destinations, uint32_t count,
                         uint32_t offset)
{
    struct nue_tree *tree = &nue->tree;
    for (uint32_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &nue->network->terminals.items[destinations[i]];
        if (offset >> terminal->lmc)
            continue;
        set_target(nue, terminal, offset);
        if (!grow_on_best_vl(nue, nue->preferred[terminal->at]))
            return false;
        add_tree_load(nue, tree->order, tree->reached, tree->choice, 1);
        nue->load[tree->vl]++;
        write_tree_of_lid(nue, tree->lid, 1);
    }
    return true;
}

/* Chooses the tree of one LID again, on its VL, under the weights of all others. */
static void choose_lid_again(struct nue *nue, uint32_t lid)
{
    const struct column *column = &nue->column;
    struct nue_tree *tree = &nue->tree;
    add_tree_load(nue, column->order, column->count, column->out, -1);
    if (try_vl(nue, nue->vl_of[lid], nue->detour[lid] + 1) == NUE_STUCK) {
        add_tree_load(nue, column->order, column->count, column->out, 1);
        return;
    }
    nue_tree_keep(tree);
    add_tree_load(nue, tree->order, tree->reached, tree->choice, 1);
    write_tree_of_lid(nue, lid, 1);
}

/* Every terminal's first LID, or only those whose trees cross a link above the limit. With a limit,
 * sources see each other's load: see sssp.c. */
static void choose_trees_again(struct nue *nue, const uint32_t *destinations, uint32_t count,
                               uint64_t limit)
{
    size_t bytes = nue->cdg.channels * sizeof *nue->tree.turns;
    nue->tree.turns = limit ? mem_alloc(bytes + 1) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct network_terminal *terminal = &nue->network->terminals.items[destinations[i]];
        set_target(nue, terminal, 0);
        column_read(&nue->column, &nue->cdg, nue->routes, terminal->lid);
        bool heavy = limit == 0;
        for (uint32_t k = 1; k < nue->column.count && !heavy; k++)
            heavy = nue->weight[nue->column.out[nue->column.order[k]]] > limit;
        if (!heavy)
            continue;
        if (limit)
            memset(nue->tree.turns, 0, bytes);
        choose_lid_again(nue, terminal->lid);
    }
    mem_free(nue->tree.turns);
    nue->tree.turns = NULL;
}

/* Places LIDs of switches without terminals. */
static bool place_switches(struct nue *nue)
{
    const struct network *network = nue->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *target = &network->switches.items[at];
        if (!target->lid || sssp_first_lid(network, at))
            continue;
        nue_tree_aim(&nue->tree, at);
        nue->tree.first_lid = nue->tree.lid = target->lid;
        if (!grow_on_best_vl(nue, nue->preferred[at]))
            return false;
        write_tree_of_lid(nue, target->lid, UINT32_C(1) << target->lmc);
    }
    return true;
}

/* Settles the routes from switches without terminals to terminals. */
static bool settle_idle_switches(struct nue *nue)
{
    const struct network *network = nue->network;
    struct nue_tree *tree = &nue->tree;
    bool idle = false;
    for (uint32_t at = 0; at < network->switches.count; at++)
        idle |= network_terminal_count(network, at) == 0;
    for (uint32_t lid = 1; idle && lid <= network->top_lid; lid++) {
        if (!column_read(&nue->column, &nue->cdg, nue->routes, lid) || !nue->column.to_terminal)
            continue;
        tree->target = nue->column.target;
        tree->first_lid = tree->lid = lid;
        tree->vl = nue->vl_of[lid];
        tree->up = escape_tree(nue, tree->vl);
        nue_tree_load(tree, &nue->column);
        if (!nue_tree_settle(tree))
            return false;
        write_tree_ports(nue, lid, 1);
    }
    return true;
}

static bool place_all(struct nue *nue, const uint32_t *destinations, uint32_t count)
{
    uint32_t lids = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t own = UINT32_C(1) << nue->network->terminals.items[destinations[i]].lmc;
        lids = own > lids ? own : lids;
    }
    if (!place_offset(nue, destinations, count, 0))
        return false;
    for (int again = 0; again < 3; again++) {
        uint64_t heavy = sssp_heavy(nue->weight, nue->cdg.channels);
        if (heavy)
            choose_trees_again(nue, destinations, count, again < 2 ? 0 : heavy);
    }
    for (uint32_t offset = 1; offset < lids; offset++)
        if (!place_offset(nue, destinations, count, offset))
            return false;
    if (!place_switches(nue) || !settle_idle_switches(nue))
        return false;
    /* The LIDs of switches with terminals have the paths of the first terminal. */
    const struct network *network = nue->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *target = &network->switches.items[at];
        uint32_t lid = sssp_first_lid(network, at);
        if (!target->lid || !lid)
            continue;
        sssp_copy_column(nue->routes, network, at, lid);
        memset(nue->vl_of + target->lid, nue->vl_of[lid], (size_t)1 << target->lmc);
    }
    return true;
}

/* One row of VLs for all sources, except those that moved. */
static void write_vls_by_lid(struct nue *nue)
{
    struct routes *routes = nue->routes;
    for (uint32_t lid = 1; lid <= nue->network->top_lid; lid++)
        if (nue->vl_of[lid] >= routes->vls)
            routes->vls = nue->vl_of[lid] + 1;
    for (size_t i = 0; i < nue->tree.moved.count; i++)
        if (nue->tree.moved.items[i].vl >= routes->vls)
            routes->vls = nue->tree.moved.items[i].vl + 1;
    if (routes->vls > 1) {
        routes->service_levels = mem_zalloc((size_t)routes->switch_count, routes->stride);
        for (uint32_t at = 0; at < routes->switch_count; at++)
            memcpy(routes->service_levels + (size_t)at * routes->stride, nue->vl_of,
                   nue->network->top_lid + 1u);
    }
    for (size_t i = 0; i < nue->tree.moved.count; i++) {
        const struct nue_move *move = &nue->tree.moved.items[i];
        routes->service_levels[(size_t)move->from * routes->stride + move->lid] = move->vl;
    }
}

/* Whether all routes fit on one VL. Leaves their dependencies in the first layer, which must be
 * empty. */
static bool fits_one_vl(struct nue *nue)
{
    struct column *column = &nue->column;
    for (uint32_t lid = 1; lid <= nue->network->top_lid; lid++) {
        if (!column_read(column, &nue->cdg, nue->routes, lid))
            continue;
        for (uint32_t i = 1; i < column->count; i++) {
            uint32_t at = column->order[i];
            if (column->next[at] != column->target)
                cdg_note(&nue->cdg, 0, column->out[at], column->out[column->next[at]]);
        }
        nue->routes->operations += column->count;
    }
    return cdg_sort(&nue->cdg, 0);
}

/* Assigns the tables to this many VLs, by pairs; false if they are too few. */
static bool assign_nue_pairs(struct nue *nue, unsigned vls)
{
    struct layers_pairs pairs;
    cdg_clear(&nue->cdg, 0);
    layers_pairs_init(&pairs, &nue->cdg, nue->routes);
    cdg_close(&nue->cdg, 1);
    unsigned layers = nue->vls == 1 || fits_one_vl(nue) ? 1 : layers_pairs_deal(&pairs, vls);
    if (layers <= vls) {
        cdg_close(&nue->cdg, 0); /* frees memory for the levels, which are as large as the tables */
        nue->routes->vls = (uint8_t)vls;
        if (vls > 1)
            layers_pairs_spread(&pairs, layers, vls);
        nue->routes->reversible = true;
    }
    layers_pairs_release(&pairs);
    return layers <= vls;
}

/* False if a destination is stuck on all VLs; with escape trees none is. */
static bool place_with(struct nue *nue, const struct engine_options *options)
{
    uint32_t count;
    uint32_t *destinations = sssp_destinations(nue->network, options, &count);
    memset(nue->weight, 0, nue->cdg.channels * sizeof *nue->weight);
    sssp_weigh_user_routes(nue->network, options, nue->weight);
    memset(nue->load, 0, sizeof nue->load);
    memset(nue->bound, 0, nue->network->switches.count * nue->vls * sizeof *nue->bound);
    nue->tree.moved.count = 0;
    nue->tree.target = NETWORK_NONE;
    for (unsigned i = 0; i < nue->vls; i++)
        cdg_clear(&nue->cdg, i);
    if (nue->escape)
        nue->routes->operations += nue_add_escape_trees(&nue->cdg, nue->preferred, nue->up);
    bool placed = place_all(nue, destinations, count);
    mem_free(destinations);
    return placed;
}

/* With escape trees. On a single VL, the order of destinations decides which links are allowed
 * last: of several orders the one with the smallest maximum load is taken. */
static void place_best(struct nue *nue, const struct engine_options *options)
{
    struct engine_options tried = *options;
    size_t entries = (size_t)nue->routes->switch_count * nue->routes->stride;
    size_t detours = (nue->network->top_lid + 1u) * sizeof *nue->detour;
    unsigned orders = nue->vls == 1 && !options->scatter && entries <= ORDERS_ENTRIES ? ORDERS : 1;
    uint8_t *best = mem_alloc(entries + 1), *best_detour = mem_alloc(detours);
    uint32_t least = UINT32_MAX, load = 0;
    for (unsigned i = 0; i < orders; i++) {
        tried.scatter = options->scatter ? options->scatter : 1 + i;
        place_with(nue, &tried);
        load = 0;
        for (uint32_t channel = 0; channel < nue->cdg.channels; channel++)
            load = nue->weight[channel] > load ? nue->weight[channel] : load;
        if (load >= least)
            continue;
        least = load;
        memcpy(best, nue->routes->ports, entries);
        memcpy(best_detour, nue->detour, detours);
    }
    if (load != least) {
        memcpy(nue->routes->ports, best, entries);
        memcpy(nue->detour, best_detour, detours);
    }
    mem_free(best);
    mem_free(best_detour);
}

/* Computes tables with options->max_vls VLs, and assigns them to `vls` VLs; false if they do not
 * fit and must be reversible. */
static bool find_routes(struct routes *routes, const struct network *network,
                        const struct engine_options *options, unsigned vls)
{
    struct nue nue = {.network = network, .routes = routes};
    nue_init(&nue, options);
    nue_divide(network, nue.vls, nue.preferred);
    if (!place_with(&nue, options)) {
        nue.escape = true;
        place_best(&nue, options);
    }
    for (uint32_t at = 0; at < routes->switch_count; at++)
        routes_fill_own(routes, network, at);
    bool paired = assign_nue_pairs(&nue, vls);
    if (!paired && !options->reversible)
        write_vls_by_lid(&nue);
    uint64_t detours = 0;
    for (uint32_t lid = 1; lid <= nue.network->top_lid; lid++)
        detours += nue.detour[lid];
    routes->note[0] = 0;
    routes_add_note(routes, "%u VL%s, %llu hops of detours%s", routes->vls,
                    routes->vls == 1 ? "" : "s", (unsigned long long)detours,
                    nue.escape ? ", with escape trees" : "");
    if (nue.vls < routes->vls)
        routes_add_note(routes, ", found with %u so that both directions of a pair share one",
                        nue.vls);
    if (!paired)
        layers_describe_one_way(routes);
    routes->operations += cdg_operations(&nue.cdg) + nue.tree.operations;
    cdg_release(&nue.cdg);
    nue_tree_release(&nue.tree);
    column_release(&nue.column);
    mem_free(nue.factor);
    arena_release(&nue.memory);
    return paired || !options->reversible;
}

static int nue_compute(const struct network *network, const struct engine_options *options,
                       struct routes *routes, struct err *err)
{
    struct engine_options tried = *options;
    unsigned vls = engine_vls(options);
    routes_init(routes, network, "nue");
    tried.max_vls = vls;
    if (!find_routes(routes, network, &tried, vls)) {
        memset(routes->ports, PORT_NONE, (size_t)routes->switch_count * routes->stride);
        tried.max_vls = 1;
        find_routes(routes, network, &tried, vls);
    }
    return engine_settle(network, options, false, routes, err);
}

const struct engine engine_nue = {
    .name = "nue",
    .summary = "routes within any number of VLs, one is enough; any topology",
    .compute = nue_compute,
};
