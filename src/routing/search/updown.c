/* Orders of switches from the roots, and ranks by level, LID and index. */
#include "routing/search/updown.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Level, LID and index in one number that sorts like the key. */
static uint64_t key_of(uint32_t level, uint16_t lid, uint32_t index)
{
    return (uint64_t)level << 40 | (uint64_t)lid << 24 | index;
}

/* All but the levels. */
static void make_ranks(struct updown *updown, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    updown->rank = mem_alloc(switches * sizeof *updown->rank);
    updown->order = mem_alloc(switches * sizeof *updown->order);
    uint64_t *keys = mem_alloc(switches * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++)
        keys[at] = key_of(updown->level[at], network->switches.items[at].lid, at);
    sort_u64(keys, switches);
    for (uint32_t rank = 0; rank < switches; rank++) {
        updown->order[rank] = keys[rank] & 0xFFFFFF;
        updown->rank[updown->order[rank]] = rank;
    }
    mem_free(keys);
}

/* Marks the roots with level 0: those given, and the first switch of each part without one. Returns
 * their number. */
static uint32_t place_roots(struct updown *updown, const struct network *network,
                            const uint32_t *roots, size_t root_count, uint32_t *queue)
{
    bool *rooted = mem_zalloc(updown->part_count, sizeof *rooted);
    uint32_t tail = 0;
    for (size_t i = 0; i < root_count; i++) {
        if (updown->level[roots[i]] == 0)
            continue;
        updown->level[roots[i]] = 0;
        queue[tail++] = roots[i];
        rooted[updown->part[roots[i]]] = true;
    }
    for (uint32_t at = 0; at < network->switches.count; at++) {
        if (rooted[updown->part[at]])
            continue;
        rooted[updown->part[at]] = true;
        updown->level[at] = 0;
        queue[tail++] = at;
    }
    mem_free(rooted);
    return tail;
}

/* The switches by distance, then by GUID. */
static int by_level_and_guid(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return x[0] != y[0] ? (x[0] < y[0] ? -1 : 1) : x[1] < y[1] ? -1 : x[1] > y[1];
}

static void order_by_guid(struct updown *updown, const struct network *network)
{
    size_t switches = network->switches.count;
    uint64_t(*keys)[3] = mem_alloc(switches * sizeof *keys);
    for (size_t at = 0; at < switches; at++) {
        keys[at][0] = updown->level[at];
        keys[at][1] = network->switches.items[at].guid;
        keys[at][2] = at;
    }
    qsort(keys, switches, sizeof *keys, by_level_and_guid);
    for (size_t rank = 0; rank < switches; rank++)
        updown->level[keys[rank][2]] = (uint32_t)rank;
    mem_free(keys);
}

/* The order in which a flood reaches the switches: `queue`, as network_spread() leaves it. */
static void order_by_arrival(struct updown *updown, const struct network *network,
                             const uint32_t *queue)
{
    for (uint32_t rank = 0; rank < network->switches.count; rank++)
        updown->level[queue[rank]] = rank;
}

struct depth_first {
    const struct network *network;
    uint64_t *far;   /* by switch: the sum of distances to all others */
    uint32_t *links; /* by switch: links to visited switches */
    uint32_t *father;
};

/* The neighbour to visit next, or NETWORK_NONE. */
static uint32_t next_neighbour(const struct depth_first *search, const uint32_t *level, uint32_t at)
{
    const struct network *network = search->network;
    uint32_t best = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (level[to] != NETWORK_NONE || to == best)
            continue;
        bool better = best == NETWORK_NONE;
        if (!better && search->links[to] != search->links[best])
            better = search->links[to] > search->links[best];
        else if (!better && search->far[to] != search->far[best])
            better = search->far[to] > search->far[best];
        else if (!better)
            better = network->switches.items[to].lid < network->switches.items[best].lid;
        if (better)
            best = to;
    }
    return best;
}

static void order_depth_first(struct updown *updown, const struct network *network,
                              const uint32_t *roots, uint32_t root_count)
{
    size_t switches = network->switches.count;
    struct depth_first search = {.network = network};
    uint32_t rank = 0, *distance = mem_alloc(2 * switches * sizeof *distance);
    search.far = mem_zalloc(switches, sizeof *search.far);
    search.links = mem_zalloc(switches, sizeof *search.links);
    search.father = mem_alloc(switches * sizeof *search.father);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t count = network_distances(network, at, distance, distance + switches);
        for (uint32_t i = 0; i < count; i++)
            search.far[at] += distance[distance[switches + i]];
    }
    for (uint32_t at = 0; at < switches; at++)
        updown->level[at] = NETWORK_NONE;
    for (uint32_t i = 0; i < root_count; i++) {
        uint32_t next = roots[i], at = NETWORK_NONE;
        if (updown->level[next] != NETWORK_NONE)
            continue; /* an earlier root of its part has reached it */
        while (next != NETWORK_NONE || at != NETWORK_NONE) {
            if (next == NETWORK_NONE) {
                at = search.father[at];
            } else {
                search.father[next] = at;
                at = next;
                updown->level[at] = rank++;
                for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
                    search.links[network->edges[e].to]++;
            }
            next = at == NETWORK_NONE ? NETWORK_NONE : next_neighbour(&search, updown->level, at);
        }
    }
    mem_free(search.far);
    mem_free(search.links);
    mem_free(search.father);
    mem_free(distance);
}

void updown_init(struct updown *updown, const struct network *network, const uint32_t *roots,
                 size_t root_count, enum updown_tree tree)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *queue = mem_alloc(switches * sizeof *queue);
    updown->level = mem_alloc(switches * sizeof *updown->level);
    updown->part = mem_alloc(switches * sizeof *updown->part);
    updown->part_count = network_parts(network, updown->part);
    for (uint32_t at = 0; at < switches; at++)
        updown->level[at] = NETWORK_NONE;
    uint32_t tail = place_roots(updown, network, roots, root_count, queue);
    if (tree == TREE_DFS)
        order_depth_first(updown, network, queue, tail);
    else
        network_spread(network, updown->level, queue, tail);
    if (tree == TREE_POST)
        order_by_arrival(updown, network, queue);
    else if (tree == TREE_MDST)
        order_by_guid(updown, network);
    make_ranks(updown, network);
    mem_free(queue);
}

void updown_init_levels(struct updown *updown, const struct network *network, uint32_t *level)
{
    updown->level = level;
    updown->part = mem_alloc(network->switches.count * sizeof *updown->part);
    updown->part_count = network_parts(network, updown->part);
    make_ranks(updown, network);
}

void updown_release(struct updown *updown)
{
    mem_free(updown->level);
    mem_free(updown->rank);
    mem_free(updown->order);
    mem_free(updown->part);
    *updown = (struct updown){0};
}

uint32_t updown_terminal_rank(const struct updown *updown, const struct network *network,
                              uint32_t terminal)
{
    const struct network_terminal *node = &network->terminals.items[terminal];
    uint64_t key = key_of(updown->level[node->at] + 1, node->lid, 0);
    const uint32_t *order = updown->order;
    size_t rank;
    lower_bound(rank, network->switches.count,
                key_of(updown->level[order[rank]], network->switches.items[order[rank]].lid,
                       order[rank]) < key);
    return (uint32_t)rank;
}

void updown_count_gap(struct updown_gaps *gaps, const struct network *network, uint32_t from,
                      uint32_t to)
{
    assert(from != to);
    uint64_t sources = network_terminal_count(network, from);
    uint64_t targets = network_terminal_count(network, to);
    if (!sources || !targets) {
        gaps->other_pairs += sources + targets;
        return;
    }
    updown_add_gaps(gaps, &(struct updown_gaps){sources * targets, 0, from, to});
}

void updown_add_gaps(struct updown_gaps *sum, const struct updown_gaps *gaps)
{
    if (!sum->terminal_pairs) {
        sum->from = gaps->from;
        sum->to = gaps->to;
    }
    sum->terminal_pairs += gaps->terminal_pairs;
    sum->other_pairs += gaps->other_pairs;
}

int updown_refuse(const struct network *network, const struct updown_gaps *gaps, struct err *err)
{
    char first[NETWORK_LABEL_BYTES], last[NETWORK_LABEL_BYTES];
    return err_set(err, ENETUNREACH,
                   "%llu pairs of ports have no up*-down* route with these roots (the first from "
                   "%s to %s)",
                   (unsigned long long)gaps->terminal_pairs,
                   network_label(network, NETWORK_SWITCH | gaps->from, first),
                   network_label(network, NETWORK_SWITCH | gaps->to, last));
}
