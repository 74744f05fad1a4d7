/* VLs for nue.
 *
 * Destinations share a VL best if they are close to each other: their routes use the same links in
 * the same direction. The paper has the network partitioned; here it is cut in two between switches
 * that lie farthest apart, the halves are cut again, and so on. For the same reason the escape tree
 * of a VL grows from the switch that is nearest to the switches that prefer this VL. */
#include "routing/engines/nue_lanes.h"

#include "base/sort.h"

#include <string.h>

struct division {
    const struct network *network;
    uint8_t *home;
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

static void divide(struct division *division, uint32_t *set, uint32_t count, unsigned first_lane,
                   unsigned lanes)
{
    const struct network *network = division->network;
    uint64_t all = 0, taken = 0;
    uint32_t cut = 0;
    if (lanes == 1 || count < 2) {
        for (uint32_t i = 0; i < count; i++)
            division->home[set[i]] = (uint8_t)first_lane;
        return;
    }
    sort_between_ends(division, set, count);
    for (uint32_t i = 0; i < count; i++)
        all += network_terminal_count(network, set[i]);
    while (cut < count && taken * lanes < all * (lanes / 2))
        taken += network_terminal_count(network, set[cut++]);
    divide(division, set, cut, first_lane, lanes / 2);
    divide(division, set + cut, count - cut, first_lane + lanes / 2, lanes - lanes / 2);
}

void nue_divide(const struct network *network, unsigned lanes, uint8_t *home)
{
    uint32_t switches = (uint32_t)network->switches.count;
    struct arena memory = {0};
    uint32_t *set = arena_alloc(&memory, switches * sizeof *set);
    struct division division = {
        .network = network,
        .home = home,
        .distance = arena_alloc(&memory, switches * sizeof *division.distance),
        .queue = arena_alloc(&memory, switches * sizeof *division.queue),
        .keys = arena_alloc(&memory, switches * sizeof *division.keys),
    };
    for (uint32_t at = 0; at < switches; at++)
        set[at] = at;
    divide(&division, set, switches, 0, lanes);
    arena_release(&memory);
}

struct escape {
    struct cdg *cdg;
    const uint8_t *home;
    uint32_t *part;
    uint32_t *distance, *queue;
    uint32_t *root; /* [part * VLs + lane] */
    uint64_t operations;
};

/* For every part and VL, the switch with the least sum of distances to the switches that prefer the
 * VL, then to all. A switch with terminals comes before one without: on a fat tree, routes along a
 * tree that grows from a leaf turn up again at this one leaf only. */
static void find_roots(struct escape *escape, uint32_t parts)
{
    const struct network *network = escape->cdg->network;
    unsigned lanes = escape->cdg->count;
    struct sum {
        uint64_t near, all;
    } *least = mem_alloc(((size_t)parts * lanes + 1) * sizeof *least);
    memset(least, 0xFF, (size_t)parts * lanes * sizeof *least);
    for (uint32_t from = 0; from < network->switches.count; from++) {
        uint64_t last = network_terminal_count(network, from) ? 0 : UINT64_C(1) << 62;
        uint64_t near[ENGINE_VLS_MAX] = {0}, all = 0;
        uint32_t found = network_distances(network, from, escape->distance, escape->queue);
        for (uint32_t i = 0; i < found; i++) {
            near[escape->home[escape->queue[i]]] += escape->distance[escape->queue[i]];
            all += escape->distance[escape->queue[i]];
        }
        for (unsigned lane = 0; lane < lanes; lane++) {
            size_t index = (size_t)escape->part[from] * lanes + lane;
            struct sum mine = {near[lane] + last, all};
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
static void grow_tree(struct escape *escape, uint32_t parts, unsigned lane, uint32_t *up)
{
    const struct network *network = escape->cdg->network;
    memset(up, 0xFF, network->switches.count * sizeof *up);
    for (uint32_t part = 0; part < parts; part++) {
        uint32_t root = escape->root[(size_t)part * escape->cdg->count + lane];
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

static void add_tree(struct escape *escape, unsigned lane, const uint32_t *up)
{
    struct cdg *cdg = escape->cdg;
    const struct network *network = cdg->network;
    bool *planted = mem_zalloc(cdg->channels + 1, sizeof *planted);
    for (uint32_t at = 0; at < network->switches.count; at++)
        if (up[at] != NETWORK_NONE)
            planted[up[at]] = planted[cdg->reverse[up[at]]] = true;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t end = network->first_edge[at + 1];
        for (uint32_t in = network->first_edge[at]; in < end; in++)
            for (uint32_t out = network->first_edge[at]; planted[in] && out < end; out++)
                if (in != out && planted[out])
                    cdg_insert(cdg, lane, cdg->reverse[in], out);
    }
    mem_free(planted);
}

uint64_t nue_plant(struct cdg *cdg, const uint8_t *home, uint32_t *up)
{
    const struct network *network = cdg->network;
    size_t switches = network->switches.count;
    struct arena memory = {0};
    struct escape escape = {
        .cdg = cdg,
        .home = home,
        .part = arena_alloc(&memory, switches * sizeof *escape.part),
        .distance = arena_alloc(&memory, switches * sizeof *escape.distance),
        .queue = arena_alloc(&memory, switches * sizeof *escape.queue),
    };
    uint32_t parts = network_parts(network, escape.part);
    escape.root = arena_alloc(&memory, (size_t)parts * cdg->count * sizeof *escape.root);
    find_roots(&escape, parts);
    for (unsigned lane = 0; lane < cdg->count; lane++) {
        grow_tree(&escape, parts, lane, up + lane * switches);
        add_tree(&escape, lane, up + lane * switches);
    }
    arena_release(&memory);
    return escape.operations;
}
