/* VLs for nue.
 *
 * Destinations share a VL best if they are close to each other: their routes use the same links in
 * the same direction. The paper has the network partitioned; here it is cut in two between switches
 * that lie farthest apart, the halves are cut again, and so on. For the same reason the escape tree
 * of a VL grows from the switch that is nearest to the switches that prefer this VL. */
#include "routing/engine/engine.h"
#include "routing/engines/nue_tree.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

struct division {
    const struct network *network;
    uint8_t *preferred;
    uint32_t *distance, *queue;
    uint64_t *keys;
};

/* The switch of the set that is farthest away, of those that can be reached; `from` if there is
 * none. */
static uint32_t find_farthest(const struct division *division, const uint32_t *set, uint32_t count,
                              uint32_t from)
{
    uint32_t best = from;
    for (uint32_t i = 0; i < count; i++)
        if (division->distance[set[i]] != NETWORK_NONE &&
            division->distance[set[i]] > division->distance[best])
            best = set[i];
    return best;
}

/* Sorts a set from one of its ends to the other; switches of other parts come last. */
static void sort_between_ends(struct division *division, uint32_t *set, uint32_t count)
{
    const struct network *network = division->network;
    const uint32_t apart = UINT32_C(1) << 30;
    uint32_t *distance = division->distance;
    network_distances(network, set[0], distance, division->queue);
    uint32_t one = find_farthest(division, set, count, set[0]);
    network_distances(network, one, distance, division->queue);
    uint32_t other = find_farthest(division, set, count, one);
    for (uint32_t i = 0; i < count; i++)
        division->keys[i] = distance[set[i]] == NETWORK_NONE ? 2 * apart : apart + distance[set[i]];
    network_distances(network, other, distance, division->queue);
    for (uint32_t i = 0; i < count; i++) {
        if (distance[set[i]] != NETWORK_NONE)
            division->keys[i] -= distance[set[i]];
        division->keys[i] = division->keys[i] << 32 | set[i];
    }
    sort_u64(division->keys, count);
    for (uint32_t i = 0; i < count; i++)
        set[i] = (uint32_t)division->keys[i];
}

static void divide(struct division *division, uint32_t *set, uint32_t count, unsigned first_vl,
                   unsigned vls)
{
    const struct network *network = division->network;
    uint64_t all = 0, taken = 0;
    uint32_t cut = 0;
    if (vls == 1 || count < 2) {
        for (uint32_t i = 0; i < count; i++)
            division->preferred[set[i]] = (uint8_t)first_vl;
        return;
    }
    sort_between_ends(division, set, count);
    for (uint32_t i = 0; i < count; i++)
        all += network_terminal_count(network, set[i]);
    while (cut < count && taken * vls < all * (vls / 2))
        taken += network_terminal_count(network, set[cut++]);
    divide(division, set, cut, first_vl, vls / 2);
    divide(division, set + cut, count - cut, first_vl + vls / 2, vls - vls / 2);
}

void nue_divide(const struct network *network, unsigned vls, uint8_t *preferred)
{
    assert(vls > 0 && vls <= ENGINE_VLS_MAX);
    uint32_t switches = (uint32_t)network->switches.count;
    struct arena memory = {0};
    uint32_t *set = arena_alloc(&memory, switches * sizeof *set);
    struct division division = {
        .network = network,
        .preferred = preferred,
        .distance = arena_alloc(&memory, switches * sizeof *division.distance),
        .queue = arena_alloc(&memory, switches * sizeof *division.queue),
        .keys = arena_alloc(&memory, switches * sizeof *division.keys),
    };
    for (uint32_t at = 0; at < switches; at++)
        set[at] = at;
    divide(&division, set, switches, 0, vls);
    arena_release(&memory);
}

struct escape {
    struct cdg *cdg;
    const uint8_t *preferred;
    uint32_t *part;
    uint32_t *distance, *queue;
    uint32_t *root; /* [part * VLs + vl] */
    uint64_t operations;
};

/* For every part and VL, the switch with the least sum of distances to the switches that prefer the
 * VL, then to all. A switch with terminals comes before one without: on a fat tree, routes along a
 * tree that grows from a leaf turn up again at this one leaf only. */
static void find_roots(struct escape *escape, uint32_t parts)
{
    const struct network *network = escape->cdg->network;
    unsigned vls = escape->cdg->count;
    struct sum {
        uint64_t near, all;
    } *least = mem_alloc(((size_t)parts * vls + 1) * sizeof *least);
    memset(least, 0xFF, (size_t)parts * vls * sizeof *least);
    for (uint32_t from = 0; from < network->switches.count; from++) {
        uint64_t last = network_terminal_count(network, from) ? 0 : UINT64_C(1) << 62;
        uint64_t near[ENGINE_VLS_MAX] = {0}, all = 0;
        uint32_t found = network_distances(network, from, escape->distance, escape->queue);
        for (uint32_t i = 0; i < found; i++) {
            near[escape->preferred[escape->queue[i]]] += escape->distance[escape->queue[i]];
            all += escape->distance[escape->queue[i]];
        }
        for (unsigned vl = 0; vl < vls; vl++) {
            size_t index = (size_t)escape->part[from] * vls + vl;
            struct sum mine = {near[vl] + last, all};
            if (mine.near > least[index].near ||
                (mine.near == least[index].near && mine.all >= least[index].all))
                continue;
            least[index] = mine;
            escape->root[index] = from;
        }
        escape->operations += found;
    }
    mem_free(least);
}

/* Breadth first from the root of every part. */
static void grow_tree(struct escape *escape, uint32_t parts, unsigned vl, uint32_t *up)
{
    const struct network *network = escape->cdg->network;
    memset(up, 0xFF, network->switches.count * sizeof *up);
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t root = escape->root[(size_t)part * escape->cdg->count + vl];
        uint32_t tail = 0;
        escape->queue[tail++] = root;
        for (uint32_t head = 0; head < tail; head++) {
            uint32_t at = escape->queue[head];
            for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
                uint32_t to = network->edges[e].to;
                if (to == root || up[to] != NETWORK_NONE)
                    continue;
                up[to] = escape->cdg->reverse[e];
                escape->queue[tail++] = to;
            }
        }
    }
}

static void add_tree(struct escape *escape, unsigned vl, const uint32_t *up)
{
    struct cdg *cdg = escape->cdg;
    const struct network *network = cdg->network;
    bool *in_tree = mem_zalloc(cdg->channels + 1, sizeof *in_tree);
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (up[at] != NETWORK_NONE)
            in_tree[up[at]] = in_tree[cdg->reverse[up[at]]] = true;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t end = network->first_edge[at + 1];
        for (uint32_t in = network->first_edge[at]; in < end; in++)
            for (uint32_t out = network->first_edge[at]; in_tree[in] && out < end; out++)
                if (in != out && in_tree[out])
                    cdg_insert(cdg, vl, cdg->reverse[in], out);
    }
    mem_free(in_tree);
}

uint64_t nue_add_escape_trees(struct cdg *cdg, const uint8_t *preferred, uint32_t *up)
{
    const struct network *network = cdg->network;
    size_t switches = network->switches.count;
    struct arena memory = {0};
    struct escape escape = {
        .cdg = cdg,
        .preferred = preferred,
        .part = arena_alloc(&memory, switches * sizeof *escape.part),
        .distance = arena_alloc(&memory, switches * sizeof *escape.distance),
        .queue = arena_alloc(&memory, switches * sizeof *escape.queue),
    };
    uint32_t parts = network_parts(network, escape.part);
    escape.root = arena_alloc(&memory, (size_t)parts * cdg->count * sizeof *escape.root);
    find_roots(&escape, parts);
    for (unsigned vl = 0; vl < cdg->count; vl++) {
        grow_tree(&escape, parts, vl, up + vl * switches);
        add_tree(&escape, vl, up + vl * switches);
    }
    arena_release(&memory);
    return escape.operations;
}
