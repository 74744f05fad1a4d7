/* Makes the tree of one group: one of its own below a root, or the part of the shared tree that it
 * needs. */
#include "routing/multicast/multicast.h"

#include "base/map.h"
#include "base/mem.h"
#include "routing/multicast/multicast_base.h"

#include <string.h>

/* The computation of one group's tree. */
struct tree_task {
    struct multicast_base *base;
    const struct multicast_member *members;
    size_t count;
    uint64_t salt; /* of the group */
    struct multicast_tree *tree;
};

static uint64_t tie_hash(const struct tree_task *task, uint32_t at, unsigned port)
{
    return hash_mix(task->salt ^ hash_mix(task->base->network->switches.items[at].guid + port));
}

/* ---- marks: which ports are in the tree ---- */

static void mark_port(struct multicast_base *base, uint32_t at, unsigned port)
{
    uint16_t *masks = base->scratch.masks + (size_t)at * MULTICAST_POSITIONS;
    uint16_t bits = 0;
    for (unsigned i = 0; i < MULTICAST_POSITIONS; i++)
        bits |= masks[i];
    if (!bits)
        vec_push(&base->scratch.touched, at);
    masks[port / MULTICAST_POSITION_PORTS] |= (uint16_t)(1u << port % MULTICAST_POSITION_PORTS);
}

/* ---- a tree of its own ---- */

/* The switch with the most members below it, then the least sum of distances, then the lowest
 * hash. */
static uint32_t choose_root(const struct tree_task *task)
{
    struct multicast_base_scratch *scratch = &task->base->scratch;
    size_t switches = task->base->network->switches.count;
    uint32_t best = NETWORK_NONE;
    memset(scratch->count, 0, switches * sizeof *scratch->count);
    memset(scratch->sum, 0, switches * sizeof *scratch->sum);
    for (size_t i = 0; i < scratch->places.count; i++) {
        const uint16_t *hops = multicast_base_climb(task->base, scratch->places.items[i]);
        uint32_t weight = scratch->weight[scratch->places.items[i]];
        for (size_t at = 0; at < switches; at++) {
            uint32_t below = hops[at] == MULTICAST_BASE_FAR ? 0 : weight;
            scratch->count[at] += below;
            scratch->sum[at] += below * hops[at];
        }
    }
    for (uint32_t at = 0; at < switches; at++) {
        if (!scratch->count[at])
            continue;
        if (best == NETWORK_NONE || scratch->count[at] > scratch->count[best] ||
            (scratch->count[at] == scratch->count[best] &&
             (scratch->sum[at] < scratch->sum[best] ||
              (scratch->sum[at] == scratch->sum[best] &&
               tie_hash(task, at, 0) < tie_hash(task, best, 0)))))
            best = at;
    }
    return best;
}

/* The link to a switch that is one hop nearer to the root, preferably one that is in the tree
 * already. */
static const struct network_edge *choose_parent(const struct tree_task *task, uint32_t at,
                                                const bool *reached)
{
    const struct network *network = task->base->network;
    const uint32_t *depth = task->base->scratch.depth;
    const struct network_edge *best = NULL;
    uint64_t best_hash = 0;
    for (uint32_t i = network->first_edge[at]; i < network->first_edge[at + 1]; i++) {
        const struct network_edge *edge = &network->edges[i];
        if (depth[edge->to] != depth[at] - 1 || task->base->rank[edge->to] > task->base->rank[at] ||
            (best && reached[best->to] && !reached[edge->to]))
            continue;
        uint64_t its_hash = tie_hash(task, edge->to, edge->to_port);
        if (!best || reached[edge->to] > reached[best->to] || its_hash < best_hash) {
            best = edge;
            best_hash = its_hash;
        }
    }
    return best;
}

/* From the deepest member up. */
static void make_own(const struct tree_task *task, uint32_t root, bool *reached)
{
    struct multicast_base *base = task->base;
    uint32_t met = multicast_base_descend(base, root);
    reached[root] = true;
    for (size_t i = 0; i < base->scratch.places.count; i++) {
        uint32_t at = base->scratch.places.items[i];
        reached[at] |= base->scratch.depth[at] != NETWORK_NONE;
    }
    for (uint32_t i = met; i-- > 1;) {
        uint32_t at = base->scratch.queue[i];
        if (!reached[at])
            continue;
        const struct network_edge *edge = choose_parent(task, at, reached);
        if (base->scratch.depth[at] > task->tree->depth)
            task->tree->depth = base->scratch.depth[at];
        mark_port(base, at, edge->port);
        mark_port(base, edge->to, edge->to_port);
        reached[edge->to] = true;
    }
    task->tree->root = root;
}

/* ---- a part of the shared tree ---- */

/* The piece with the most members, and their number. */
static uint32_t choose_piece(const struct tree_task *task, uint32_t *members)
{
    const struct multicast_base *base = task->base;
    uint32_t best = 0, *sums = mem_zalloc(base->piece_count + 1, sizeof *sums);
    for (size_t i = 0; i < base->scratch.places.count; i++) {
        uint32_t at = base->scratch.places.items[i];
        sums[base->piece[at]] += base->scratch.weight[at];
    }
    for (uint32_t piece = 1; piece < base->piece_count; piece++)
        if (sums[piece] > sums[best])
            best = piece;
    *members = sums[best];
    mem_free(sums);
    return best;
}

/* A link is needed if there are members on both sides of it. */
static void make_shared(const struct tree_task *task, uint32_t piece, uint32_t total, bool *reached)
{
    struct multicast_base *base = task->base;
    uint32_t *below = base->scratch.count, *height = base->scratch.sum;
    memcpy(below, base->scratch.weight, base->network->switches.count * sizeof *below);
    memset(height, 0, base->network->switches.count * sizeof *height);
    for (size_t i = base->order.count; i-- > 0;) {
        uint32_t at = base->order.items[i], parent = base->parent[at];
        if (base->piece[at] != piece)
            continue;
        bool here = base->scratch.weight[at] != 0;
        if (here || (below[at] && below[at] < total))
            reached[at] = true;
        if (reached[at]) {
            task->tree->root = at;
            task->tree->depth = height[at];
        }
        if (parent == NETWORK_NONE)
            continue;
        below[parent] += below[at];
        if (!below[at] || below[at] == total)
            continue;
        mark_port(base, at, base->up[at]);
        mark_port(base, parent, base->down[at]);
        reached[parent] = true;
        if (height[parent] <= height[at])
            height[parent] = height[at] + 1;
    }
}

/* ---- choosing ---- */

static void choose_tree(const struct tree_task *task, uint32_t usable, bool *reached)
{
    struct multicast_base *base = task->base;
    uint32_t root = NETWORK_NONE, own = 0, shared = 0;
    if (base->ordered) {
        root = choose_root(task);
        own = base->scratch.count[root];
    }
    if (own == usable) {
        make_own(task, root, reached);
        return;
    }
    multicast_base_share(base);
    uint32_t piece = choose_piece(task, &shared);
    if (own >= shared)
        make_own(task, root, reached);
    else
        make_shared(task, piece, shared, reached);
}

void multicast_tree_make(struct multicast_base *base, unsigned mlid,
                         const struct multicast_member *members, size_t count,
                         struct multicast_tree *tree)
{
    struct tree_task task = {base, members, count, hash_mix(mlid), tree};
    bool *reached = mem_zalloc(base->network->switches.count + 1, sizeof *reached);
    tree->arms.count = tree->missed.count = 0;
    tree->root = NETWORK_NONE;
    tree->depth = 0;
    uint32_t usable = 0; /* members that can have multicast */
    for (size_t i = 0; i < count; i++) {
        uint32_t at = network_switch_of(base->network, members[i].end_point);
        if (!base->usable[at])
            continue;
        usable++;
        if (!base->scratch.weight[at]++)
            vec_push(&base->scratch.places, at);
    }
    if (usable)
        choose_tree(&task, usable, reached);
    /* Marks the ports of members that the tree reaches, lists the others, and writes the masks.
     * `reached` by switch. */
    const struct network *network = task.base->network;
    for (size_t i = 0; i < task.count; i++) {
        uint32_t end_point = task.members[i].end_point, at = network_switch_of(network, end_point);
        if (!reached[at])
            vec_push(&task.tree->missed, (uint32_t)i);
        else if (task.members[i].receives)
            mark_port(task.base, at,
                      end_point & NETWORK_SWITCH ? 0 : network->terminals.items[end_point].port);
    }
    struct multicast_base_scratch *scratch = &task.base->scratch;
    sort_u32(scratch->touched.items, scratch->touched.count);
    for (size_t i = 0; i < scratch->touched.count; i++) {
        uint32_t at = scratch->touched.items[i];
        uint16_t *masks = scratch->masks + (size_t)at * MULTICAST_POSITIONS;
        for (unsigned position = 0; position < MULTICAST_POSITIONS; position++) {
            if (masks[position])
                vec_push(&task.tree->arms,
                         ((struct multicast_arm){at, (uint16_t)position, masks[position]}));
            masks[position] = 0;
        }
    }
    scratch->touched.count = 0;
    for (size_t i = 0; i < base->scratch.places.count; i++)
        base->scratch.weight[base->scratch.places.items[i]] = 0;
    base->scratch.places.count = 0;
    mem_free(reached);
}
