/* dfsssp: the routes of sssp, assigned to VLs so that no VL can deadlock.
 *
 * Domke, Hoefler and Nagel, "Deadlock-free oblivious routing for arbitrary topologies" (2011).
 * Routes are assigned to layers, each with a dependency graph without cycles, and the layers are
 * then spread over the VLs that are left. The paper looks for cycles in a layer and moves the
 * routes behind the weakest dependency of each to the next one. Here, as in its online variant,
 * routes enter a layer one after the other as long as they close no cycle, and the rest goes on to
 * the next layer: with an incremental graph (cdg.h) that is fast, and it takes fewer layers on most
 * networks. LIDs come in order, and the routes to one LID from its switch outwards, since a route
 * can only fit if the rest of its path does.
 *
 * A route is a pair (source switch, LID): all sources at a switch share it. A change of layer only
 * changes its SL.
 *
 * That may separate the two directions of a pair. Most clients use one SL for both, so if the VLs
 * suffice the routes are then assigned again, by pairs of switches (layers.h). If they do not, the
 * note says so, or the engine refuses: see `reversible` in engine.h. */
#include "routing/engines/column.h"
#include "routing/engines/layers.h"
#include "routing/engines/sssp.h"

#include <string.h>

/* Routes to the LID are left for this layer, or for the next. */
enum { OPEN_NOW = 1, OPEN_NEXT = 2 };

struct layering {
    const struct network *network;
    struct routes *routes;
    struct cdg cdg; /* one, for the layer that is being filled */
    struct column column;
    bool from_hosts; /* which sources fill_turn() handles */
    uint8_t *open;   /* by LID: OPEN_NOW, OPEN_NEXT */
    uint8_t *fits;   /* by switch: its route for the column fits into the layer */
    uint8_t *needed;
    struct layers_pairs pairs;
};

static uint8_t *level_of(const struct layering *layering, uint32_t at, uint32_t lid)
{
    return &layering->routes->service_levels[(size_t)at * layering->routes->stride + lid];
}

/* Whether a route of the column starts here and is left for this layer. Routes from switches with
 * terminals come first, then the others. */
static bool starts_in(const struct layering *layering, uint32_t at, uint8_t level)
{
    bool hosts = network_terminal_count(layering->network, at) > 0;
    return hosts == layering->from_hosts && (hosts || layering->column.to_terminal) &&
           *level_of(layering, at, layering->column.lid) == level;
}

/* From the target outwards: a route fits if the rest of its path fits, and its first dependency.
 * The other routes move to the next layer. Returns their number. */
static uint64_t fill_from_column(struct layering *layering, uint8_t level)
{
    const struct column *column = &layering->column;
    uint8_t *fits = layering->fits;
    uint64_t left = 0;
    /* A switch needs its dependency if a route that has no layer yet starts there or beyond. */
    memset(layering->needed, 0, layering->network->switches.count);
    for (uint32_t i = column->count; i-- > 1;) {
        uint32_t at = column->order[i];
        layering->needed[at] |= starts_in(layering, at, level);
        layering->needed[column->next[at]] |= layering->needed[at];
    }
    fits[column->target] = true;
    for (uint32_t i = 1; i < column->count; i++) {
        uint32_t at = column->order[i], next = column->next[at];
        fits[at] = layering->needed[at] && fits[next] &&
                   (next == column->target || cdg_insert(&layering->cdg, 0, column->out[at],
                                                         column->out[next]) != CDG_REFUSED);
        if (fits[at] || !starts_in(layering, at, level))
            continue;
        *level_of(layering, at, column->lid) = level + 1;
        left++;
    }
    return left;
}

static uint64_t fill_routes_turn(struct layering *layering, uint8_t level, bool from_hosts)
{
    uint64_t left = 0;
    layering->from_hosts = from_hosts;
    for (uint32_t lid = 1; lid <= layering->network->top_lid; lid++) {
        if (!(layering->open[lid] & OPEN_NOW))
            continue;
        if (!column_read(&layering->column, &layering->cdg, layering->routes, lid)) {
            layering->open[lid] = 0;
            continue;
        }
        uint64_t more = fill_from_column(layering, level);
        layering->open[lid] |= more ? OPEN_NEXT : 0;
        layering->routes->operations += layering->column.count;
        left += more;
    }
    return left;
}

/* Assigns the routes to at most `limit` layers. Returns how many it takes; more than the limit if
 * routes are left over. */
static unsigned fill_layers(struct layering *layering, unsigned limit)
{
    unsigned layers = 0;
    uint64_t left = 1;
    memset(layering->open, OPEN_NOW, layering->network->top_lid + 1u);
    for (; left && layers < limit; layers++) {
        cdg_clear(&layering->cdg, 0);
        left = fill_routes_turn(layering, (uint8_t)layers, true);
        left += fill_routes_turn(layering, (uint8_t)layers, false);
        for (uint32_t lid = 1; lid <= layering->network->top_lid; lid++)
            layering->open[lid] = layering->open[lid] & OPEN_NEXT ? OPEN_NOW : 0;
    }
    return left ? limit + 1 : layers;
}

/* Pairs of terminals by LID of a block and by layer. */
typedef uint64_t block_weights[ROUTES_BLOCK][ENGINE_VLS_MAX];

static void weigh_block(const struct layering *layering, uint32_t block, block_weights weight)
{
    const struct network *network = layering->network;
    memset(weight, 0, sizeof(block_weights));
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint64_t terminals = network_terminal_count(network, at);
        const uint8_t *level = level_of(layering, at, block);
        for (uint32_t i = 0; i < ROUTES_BLOCK; i++)
            weight[i][level[i]] += terminals;
    }
    layering->routes->operations += (uint64_t)ROUTES_BLOCK * network->switches.count;
}

static bool is_terminal_lid(const struct network *network, uint32_t lid)
{
    return lid <= network->top_lid && network->owner[lid] != NETWORK_NONE &&
           !(network->owner[lid] & NETWORK_SWITCH);
}

/* The routes of a layer to one LID share a VL, the one with the fewest routes so far. */
static void spread_layers(const struct layering *layering, unsigned layers, unsigned vls)
{
    const struct network *network = layering->network;
    struct layers_share share[ENGINE_VLS_MAX];
    uint64_t sum[ENGINE_VLS_MAX] = {0}, load[ENGINE_VLS_MAX] = {0};
    block_weights weight;
    for (uint32_t block = 0; block < layering->routes->stride; block += ROUTES_BLOCK) {
        weigh_block(layering, block, weight);
        for (uint32_t i = 0; i < ROUTES_BLOCK; i++)
            for (unsigned k = 0; k < layers && is_terminal_lid(network, block + i); k++)
                sum[k] += weight[i][k];
    }
    layers_share(share, sum, layers, vls);
    for (uint32_t block = 0; block < layering->routes->stride; block += ROUTES_BLOCK) {
        uint8_t vl[ROUTES_BLOCK][ENGINE_VLS_MAX] = {{0}};
        weigh_block(layering, block, weight);
        for (uint32_t i = 0; i < ROUTES_BLOCK; i++) {
            for (unsigned k = 0; k < layers; k++) {
                unsigned best = layers_lightest(&share[k], load);
                vl[i][k] = (uint8_t)best;
                load[best] += is_terminal_lid(network, block + i) ? weight[i][k] : 0;
            }
        }
        for (uint32_t at = 0; at < network->switches.count; at++) {
            uint8_t *level = level_of(layering, at, block);
            for (uint32_t i = 0; i < ROUTES_BLOCK; i++)
                level[i] = vl[i][level[i]];
        }
    }
}

/* Computes tables and their layers, by pairs if both directions must share one. */
static unsigned try_routes(struct layering *layering, const struct engine_options *options,
                           bool lowest, unsigned limit)
{
    struct routes *routes = layering->routes;
    cdg_clear(&layering->cdg, 0);
    memset(routes->service_levels, 0, (size_t)routes->switch_count * routes->stride);
    sssp_tables(layering->network, options, lowest, &layering->cdg, routes);
    if (cdg_sort(&layering->cdg, 0))
        return 1;
    return options->reversible ? layers_pairs_deal(&layering->pairs, limit)
                               : fill_layers(layering, limit);
}

/* First the balanced routes. If these take too many VLs, those by the lowest ports, which are as
 * short and less balanced, but take few VLs on regular networks. Returns the layers that it
 * takes. */
static unsigned assign_routes(struct layering *layering, const struct engine_options *options,
                              unsigned vls)
{
    struct routes *routes = layering->routes;
    unsigned layers = try_routes(layering, options, false, vls);
    if (layers <= vls)
        return layers;
    layers = try_routes(layering, options, true, ENGINE_VLS_MAX);
    if (layers <= vls) {
        routes_add_note(routes, "lowest ports, since balanced routes take more VLs; ");
        return layers;
    }
    unsigned balanced = try_routes(layering, options, false, ENGINE_VLS_MAX);
    return balanced < layers ? balanced : layers;
}

/* Assigns the layers to VLs, by pairs if these fit. */
static void assign_vls(struct layering *layering, const struct engine_options *options,
                       unsigned layers, unsigned vls)
{
    struct routes *routes = layering->routes;
    unsigned paired =
        layers == 1 || options->reversible ? layers : layers_pairs_deal(&layering->pairs, vls);
    if (paired <= vls) {
        layers_pairs_spread(&layering->pairs, paired, vls);
        layers_describe(routes, paired, vls);
        return;
    }
    /* The LIDs of a switch with terminals take the paths of its first terminal, on the same VLs. */
    const struct network *network = layering->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *target = &network->switches.items[at];
        uint32_t lid = sssp_first_lid(network, at);
        if (!target->lid)
            continue;
        for (uint32_t from = 0; from < network->switches.count; from++)
            memset(level_of(layering, from, target->lid),
                   *level_of(layering, from, lid ? lid : target->lid), (size_t)1 << target->lmc);
    }
    spread_layers(layering, layers, vls);
    layers_describe(routes, layers, vls);
    layers_describe_one_way(routes);
}

static int dfsssp_compute(const struct network *network, const struct engine_options *options,
                          struct routes *routes, struct err *err)
{
    struct layering layering = {.network = network, .routes = routes};
    unsigned vls = engine_vls(options);
    struct arena memory = {0};
    routes_init(routes, network, "dfsssp");
    routes->service_levels = mem_zalloc((size_t)routes->switch_count, routes->stride);
    layering.open = arena_alloc(&memory, network->top_lid + 1u);
    layering.fits = arena_alloc(&memory, network->switches.count + 1);
    layering.needed = arena_alloc(&memory, network->switches.count + 1);
    cdg_init(&layering.cdg, network);
    cdg_open(&layering.cdg);
    column_init(&layering.column, network);
    layers_pairs_init(&layering.pairs, &layering.cdg, routes);
    unsigned layers = assign_routes(&layering, options, vls);
    if (layers <= vls)
        assign_vls(&layering, options, layers, vls);
    routes->operations += cdg_operations(&layering.cdg);
    cdg_release(&layering.cdg);
    column_release(&layering.column);
    layers_pairs_release(&layering.pairs);
    arena_release(&memory);
    if (layers > vls) {
        engine_refuse(routes);
        return layers_refusal("dfsssp", layers, vls, err);
    }
    return engine_settle(network, options, false, routes, err);
}

const struct engine engine_dfsssp = {
    .name = "dfsssp",
    .summary = "SSSP routes distributed over VLs until each is deadlock-free, any topology",
    .compute = dfsssp_compute,
};
