/* lash: layered shortest routes between switches.
 *
 * Skeie, Lysne and Theiss, "Layered shortest path (LASH) routing in irregular system area networks"
 * (2002): each pair of switches has one shortest route in each direction, and the pair goes to the
 * first layer that takes both without a cycle. Both directions are on one VL because the reply to a
 * packet uses its SL. A switch is one destination: all its LIDs have the same paths.
 *
 * The paper does not say which shortest routes, and these decide both loads and VLs. Two sets are
 * computed, one as in sssp, by the routes that links carry so far, and one by the lowest ports,
 * which is dimension order on meshes with their cables in order. The set with the lower loads is
 * assigned to VLs; the other one if that takes too many.
 *
 * Pairs with terminals at both ends come first, then those with terminals at one. Pairs without any
 * are not assigned: packets between switches are management. Then the layers share the VLs that are
 * left, pair by pair. */
#include "routing/engines/layers.h"
#include "routing/engines/sssp.h"

#include <string.h>

/* One tree for every switch. */
struct lash_trees {
    uint8_t *ports; /* [target * switches + at], or PORT_NONE */
    uint64_t most;  /* the largest load of a link, and the sum of all loads' squares */
    uint64_t squares;
};

struct lash {
    const struct network *network;
    struct routes *routes;
    struct cdg cdg;
    uint32_t switches;
    const uint8_t *ports; /* of the trees that are assigned to VLs */
    unsigned used;        /* layers */
    struct layers_pairs pairs;
};

static uint32_t lash_channel(const struct lash *lash, const uint8_t *ports, uint32_t at)
{
    return cdg_leaving(&lash->cdg, at, ports[at]);
}

static void grow_trees(struct lash *lash, struct sssp *sssp, struct lash_trees *trees, bool lowest,
                       bool again)
{
    const struct network *network = lash->network;
    for (uint32_t target = 0; target < lash->switches; target++) {
        uint8_t *ports = trees->ports + (size_t)target * lash->switches;
        int32_t terminals = (int32_t)network_terminal_count(network, target);
        sssp_aim(sssp, target);
        for (uint32_t i = 1; again && i < sssp->reached; i++)
            sssp->choice[sssp->order[i]] = lash_channel(lash, ports, sssp->order[i]);
        if (again)
            sssp_load(sssp, -terminals);
        if (lowest)
            sssp_choose_lowest(sssp);
        else
            sssp_choose(sssp);
        sssp_load(sssp, terminals);
        for (uint32_t i = 1; i < sssp->reached; i++)
            ports[sssp->order[i]] = network->edges[sssp->choice[sssp->order[i]]].port;
        sssp->operations += sssp->reached;
    }
}

static void make_trees(struct lash *lash, const struct engine_options *options, bool lowest,
                       struct lash_trees *trees)
{
    size_t pairs = (size_t)lash->switches * lash->switches;
    struct sssp sssp;
    sssp_init(&sssp, lash->network, options);
    *trees = (struct lash_trees){.ports = mem_alloc(pairs + 1)};
    memset(trees->ports, PORT_NONE, pairs);
    grow_trees(lash, &sssp, trees, lowest, false);
    for (int round = 0; round < 2 && !lowest && sssp_heavy(sssp.weight, lash->cdg.channels);
         round++)
        grow_trees(lash, &sssp, trees, lowest, true);
    for (uint32_t e = 0; e < lash->cdg.channels; e++) {
        trees->most = sssp.weight[e] > trees->most ? sssp.weight[e] : trees->most;
        trees->squares += (uint64_t)sssp.weight[e] * sssp.weight[e];
    }
    lash->routes->operations += sssp.operations;
    sssp_release(&sssp);
}

/* One direction of a pair. */
static bool add_lash_route(struct lash *lash, unsigned layer, uint32_t from, uint32_t target)
{
    const struct network *network = lash->network;
    const uint8_t *ports = lash->ports + (size_t)target * lash->switches;
    uint32_t in = lash_channel(lash, ports, from);
    for (uint32_t at = network->edges[in].to; at != target; at = network->edges[in].to) {
        uint32_t out = lash_channel(lash, ports, at);
        if (cdg_insert(&lash->cdg, layer, in, out) == CDG_REFUSED)
            return false;
        in = out;
    }
    return true;
}

static bool add_lash_pair(struct lash *lash, unsigned layer, uint32_t a, uint32_t b)
{
    cdg_begin(&lash->cdg);
    return cdg_end(&lash->cdg,
                   add_lash_route(lash, layer, a, b) && add_lash_route(lash, layer, b, a));
}

/* Puts a pair into the first layer that takes it; false if that would be beyond the limit. */
static bool place_lash_pair(struct lash *lash, unsigned limit, uint32_t a, uint32_t b)
{
    unsigned layer = 0;
    while (layer < lash->used && !add_lash_pair(lash, layer, a, b))
        layer++;
    if (layer == limit)
        return false;
    if (layer == lash->used) {
        if (++lash->used > lash->cdg.count)
            cdg_open(&lash->cdg);
        add_lash_pair(lash, layer, a, b);
    }
    layers_pairs_set(&lash->pairs, a, b, layer);
    return true;
}

/* All pairs in which this many switches have terminals. */
static bool place_lash_pairs(struct lash *lash, unsigned limit, unsigned with_terminals)
{
    const struct network *network = lash->network;
    for (uint32_t a = 0; a < lash->switches; a++) {
        bool terminals = network_terminal_count(network, a) > 0;
        for (uint32_t b = a + 1; b < lash->switches; b++) {
            bool others = network_terminal_count(network, b) > 0;
            if ((unsigned)terminals + others != with_terminals ||
                lash->ports[(size_t)b * lash->switches + a] == PORT_NONE)
                continue;
            if (!place_lash_pair(lash, limit, a, b))
                return false;
        }
    }
    return true;
}

/* Returns how many layers it takes, more than the limit if pairs are left over. */
static unsigned assign_layers(struct lash *lash, const uint8_t *ports, unsigned limit)
{
    lash->ports = ports;
    lash->used = 1;
    memset(lash->pairs.weight, 0, sizeof lash->pairs.weight);
    for (unsigned i = 0; i < lash->cdg.count; i++)
        cdg_clear(&lash->cdg, i);
    return place_lash_pairs(lash, limit, 2) && place_lash_pairs(lash, limit, 1) ? lash->used
                                                                                : limit + 1;
}

/* All LIDs of a switch and of its terminals have the paths of the switch. */
static void write_lash_tables(struct lash *lash)
{
    const struct network *network = lash->network;
    for (uint32_t from = 0; from < lash->switches; from++) {
        uint8_t *row = routes_row(lash->routes, from);
        for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
            uint32_t owner = network->owner[lid];
            if (owner != NETWORK_NONE)
                row[lid] =
                    lash->ports[(size_t)network_switch_of(network, owner) * lash->switches + from];
        }
    }
    lash->routes->operations += (uint64_t)network->top_lid * lash->switches;
    for (uint32_t at = 0; at < lash->switches; at++)
        routes_fill_own(lash->routes, network, at);
}

/* The set of trees with the lower loads, or the other one if that takes too many VLs. */
static unsigned assign_pairs(struct lash *lash, const struct engine_options *options, unsigned vls)
{
    struct lash_trees balanced, lowest;
    make_trees(lash, options, false, &balanced);
    make_trees(lash, options, true, &lowest);
    bool ordered = lowest.most < balanced.most ||
                   (lowest.most == balanced.most && lowest.squares < balanced.squares);
    unsigned layers = assign_layers(lash, ordered ? lowest.ports : balanced.ports, ENGINE_VLS_MAX);
    if (layers > vls) {
        unsigned first = layers;
        layers = assign_layers(lash, ordered ? balanced.ports : lowest.ports, ENGINE_VLS_MAX);
        layers = layers > vls && first < layers ? first : layers;
    }
    if (layers <= vls)
        write_lash_tables(lash);
    mem_free(balanced.ports);
    mem_free(lowest.ports);
    return layers;
}

static int lash_compute(const struct network *network, const struct engine_options *options,
                        struct routes *routes, struct err *err)
{
    unsigned vls = engine_vls(options);
    struct lash lash = {
        .network = network,
        .routes = routes,
        .switches = (uint32_t)network->switches.count,
    };
    routes_init(routes, network, "lash");
    cdg_init(&lash.cdg, network);
    cdg_open(&lash.cdg);
    layers_pairs_init(&lash.pairs, &lash.cdg, routes);
    unsigned layers = assign_pairs(&lash, options, vls);
    routes->operations += cdg_operations(&lash.cdg);
    cdg_release(&lash.cdg);
    if (layers <= vls) {
        layers_pairs_spread(&lash.pairs, layers, vls);
        layers_describe(routes, layers, vls);
    }
    layers_pairs_release(&lash.pairs);
    if (layers > vls) {
        engine_refuse(routes);
        return layers_refusal("lash", layers, vls, err);
    }
    return engine_settle(network, options, false, routes, err);
}

const struct engine engine_lash = {
    .name = "lash",
    .summary = "one shortest route for each pair of switches, assigned to VLs",
    .compute = lash_compute,
};
