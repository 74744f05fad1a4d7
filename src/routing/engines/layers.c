/* Pairs enter a layer one after the other as long as they close no cycle; the others move to the
 * next layer. Pairs with terminals at both ends come first, then those with terminals at one; the
 * farthest first, since they are the hardest to place. */
#include "routing/engines/layers.h"

#include "routing/engines/sssp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { MANY = 1000 };

/* ---- layers and VLs ---- */

void layers_share(struct layers_share *share, const uint64_t *weight, unsigned layers, unsigned vls)
{
    assert(layers > 0 && layers <= vls);
    for (unsigned i = 0; i < layers; i++)
        share[i].count = 1;
    for (unsigned vl = layers; vl < vls; vl++) {
        unsigned most = 0;
        for (unsigned i = 1; i < layers; i++)
            if (weight[i] * share[most].count > weight[most] * share[i].count)
                most = i;
        share[most].count++;
    }
    for (unsigned i = 0, first = 0; i < layers; first += share[i++].count)
        share[i].first = first;
}

int layers_refusal(const char *engine, unsigned layers, unsigned vls, struct err *err)
{
    if (layers > ENGINE_VLS_MAX)
        return err_set(err, ENOSPC, "%s: needs more than %d VLs, has %u", engine, ENGINE_VLS_MAX,
                       vls);
    return err_set(err, ENOSPC, "%s: needs %u VLs, has %u", engine, layers, vls);
}

void layers_describe(struct routes *routes, unsigned layers, unsigned vls)
{
    routes->vls = (uint8_t)vls;
    routes_add_note(routes, "%u layer%s over %u VL%s", layers, layers == 1 ? "" : "s", vls,
                    vls == 1 ? "" : "s");
}

void layers_describe_one_way(struct routes *routes)
{
    routes_add_note(routes, "; too few to have both directions of a pair on one: reversible paths "
                            "are not proved");
}

/* ---- pairs of switches ---- */

/* From every switch to all others. Distances saturate at UINT8_MAX: they only decide the order. */
static void find_distances(struct layers_pairs *pairs)
{
    const struct network *network = pairs->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *distance = mem_alloc(2 * (switches + 1) * sizeof *distance);
    uint32_t *queue = distance + switches;
    for (uint32_t from = 0; from < switches; from++) {
        uint8_t *row = pairs->distance + (size_t)from * switches;
        uint32_t count = network_distances(network, from, distance, queue);
        for (uint32_t i = 1; i < count; i++) {
            uint32_t hops = distance[queue[i]];
            row[queue[i]] = (uint8_t)(hops < UINT8_MAX ? hops : UINT8_MAX);
        }
        uint8_t last = row[queue[count - 1]];
        pairs->farthest = last > pairs->farthest ? last : pairs->farthest;
    }
    pairs->routes->operations += (uint64_t)switches * network->first_edge[switches];
    mem_free(distance);
}

void layers_pairs_init(struct layers_pairs *pairs, struct cdg *cdg, struct routes *routes)
{
    size_t switches = cdg->network->switches.count;
    *pairs = (struct layers_pairs){
        .network = cdg->network,
        .routes = routes,
        .cdg = cdg,
        .level = mem_zalloc(switches * switches + 1, 1),
    };
}

void layers_pairs_release(struct layers_pairs *pairs)
{
    mem_free(pairs->level);
    mem_free(pairs->distance);
    *pairs = (struct layers_pairs){0};
}

static uint64_t terminal_pairs(const struct layers_pairs *pairs, uint32_t a, uint32_t b)
{
    return (uint64_t)network_terminal_count(pairs->network, a) *
           network_terminal_count(pairs->network, b);
}

void layers_pairs_set(struct layers_pairs *pairs, uint32_t a, uint32_t b, unsigned layer)
{
    assert(a < b && layer < ENGINE_VLS_MAX);
    pairs->level[(size_t)a * pairs->network->switches.count + b] = (uint8_t)layer;
    pairs->weight[layer] += terminal_pairs(pairs, a, b);
}

/* Adds the routes from one switch to all LIDs at another. The LIDs of a switch with terminals have
 * the paths of its first terminal; all LIDs of a switch without terminals have the same paths. */
static bool add_direction(struct layers_pairs *pairs, uint32_t from, uint32_t target)
{
    const struct network *network = pairs->network;
    const struct network_switch *node = &network->switches.items[target];
    uint32_t first = network->first_terminal[target], end = network->first_terminal[target + 1];
    for (uint32_t i = first; i < end; i++) {
        const struct network_terminal *terminal = network_terminal_at(network, i);
        for (uint32_t k = 0; terminal->lid && k < UINT32_C(1) << terminal->lmc; k++)
            if (!cdg_lay_path(pairs->cdg, 0, pairs->routes, from, terminal->lid + k, true))
                return false;
    }
    return sssp_first_lid(network, target) || !node->lid ||
           cdg_lay_path(pairs->cdg, 0, pairs->routes, from, node->lid, true);
}

/* All pairs at this distance that are left for this layer, in which this many switches have
 * terminals. Returns how many move to the next layer. */
static uint64_t fill_pairs_turn(struct layers_pairs *pairs, uint8_t level, unsigned with_terminals,
                                unsigned distance)
{
    const struct network *network = pairs->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint64_t left = 0;
    for (uint32_t a = 0; a < switches; a++) {
        bool hosts = network_terminal_count(network, a) > 0;
        for (uint32_t b = a + 1; b < switches; b++) {
            size_t pair = (size_t)a * switches + b;
            bool others = network_terminal_count(network, b) > 0;
            if (pairs->distance[pair] != distance || pairs->level[pair] != level ||
                (unsigned)hosts + others != with_terminals)
                continue;
            cdg_begin(pairs->cdg);
            if (cdg_end(pairs->cdg, add_direction(pairs, a, b) && add_direction(pairs, b, a))) {
                layers_pairs_set(pairs, a, b, level);
            } else {
                pairs->level[pair]++;
                left++;
            }
        }
    }
    return left;
}

unsigned layers_pairs_deal(struct layers_pairs *pairs, unsigned limit)
{
    assert(limit > 0 && limit <= ENGINE_VLS_MAX);
    size_t switches = pairs->network->switches.count;
    uint64_t left = switches * switches, before = 2 * left;
    unsigned layers = 0;
    if (!pairs->distance) {
        pairs->distance = mem_zalloc(switches * switches + 1, 1);
        find_distances(pairs);
    }
    memset(pairs->level, 0, switches * switches);
    memset(pairs->weight, 0, sizeof pairs->weight);
    /* Each layer takes fewer pairs than the one before, apart from chance where few are left: the
     * search ends early if too many are left. */
    while (left && layers < limit && (left <= MANY || left <= (before - left) * (limit - layers))) {
        before = left;
        left = 0;
        cdg_clear(pairs->cdg, 0);
        for (unsigned with_terminals = 2; with_terminals > 0; with_terminals--)
            for (unsigned distance = pairs->farthest; distance > 0; distance--)
                left += fill_pairs_turn(pairs, (uint8_t)layers, with_terminals, distance);
        layers++;
    }
    return left ? limit + 1 : layers;
}

void layers_pairs_spread(struct layers_pairs *pairs, unsigned layers, unsigned vls)
{
    uint32_t switches = (uint32_t)pairs->network->switches.count;
    struct layers_share share[ENGINE_VLS_MAX];
    uint64_t load[ENGINE_VLS_MAX] = {0};
    layers_share(share, pairs->weight, layers, vls);
    for (uint32_t a = 0; a < switches; a++) {
        for (uint32_t b = a + 1; b < switches; b++) {
            uint8_t *level = &pairs->level[(size_t)a * switches + b];
            unsigned vl = layers_lightest(&share[layers > 1 ? *level : 0], load);
            load[vl] += terminal_pairs(pairs, a, b);
            *level = (uint8_t)vl;
            pairs->level[(size_t)b * switches + a] = (uint8_t)vl;
        }
    }
    /* Writes the level of each pair of a switch and a LID. */
    const struct network *network = pairs->network;
    struct routes *routes = pairs->routes;
    uint32_t *target = mem_alloc((network->top_lid + 1u) * sizeof *target);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        target[lid] = network->owner[lid] == NETWORK_NONE
                          ? NETWORK_NONE
                          : network_switch_of(network, network->owner[lid]);
    if (!routes->service_levels)
        routes->service_levels = mem_zalloc((size_t)routes->switch_count, routes->stride);
    for (uint32_t from = 0; from < routes->switch_count; from++) {
        uint8_t *row = routes->service_levels + (size_t)from * routes->stride;
        const uint8_t *level = pairs->level + (size_t)from * routes->switch_count;
        for (uint32_t lid = 1; lid <= network->top_lid; lid++)
            row[lid] = target[lid] == NETWORK_NONE ? 0 : level[target[lid]];
    }
    routes->operations += (uint64_t)network->top_lid * routes->switch_count;
    mem_free(target);
    pairs->routes->reversible = true;
}
