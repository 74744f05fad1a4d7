#include "routing/multicast/multicast.h"

#include "base/map.h"
#include "base/sort.h"
#include "routing/multicast/multicast_terrain.h"

#include <string.h>

/* A group on its way to a tree. */
struct task {
    struct multicast_terrain *terrain;
    const struct multicast_member *members;
    size_t count;
    uint64_t salt; /* of the group */
    struct multicast_tree *tree;
};

static uint64_t lot(const struct task *task, uint32_t at, unsigned port)
{
    return hash_mix(task->salt ^ hash_mix(task->terrain->network->switches.items[at].guid + port));
}

/* ---- marks: which ports are in the tree ---- */

static void mark(struct multicast_terrain *terrain, uint32_t at, unsigned port)
{
    uint16_t *masks = terrain->scratch.masks + (size_t)at * MULTICAST_POSITIONS;
    uint16_t bits = 0;
    for (unsigned i = 0; i < MULTICAST_POSITIONS; i++)
        bits |= masks[i];
    if (!bits)
        vec_push(&terrain->scratch.touched, at);
    masks[port / MULTICAST_POSITION_PORTS] |= (uint16_t)(1u << port % MULTICAST_POSITION_PORTS);
}

static void collect_marks(struct multicast_terrain *terrain, struct multicast_tree *tree)
{
    struct terrain_scratch *scratch = &terrain->scratch;
    sort_u32(scratch->touched.items, scratch->touched.count);
    for (size_t i = 0; i < scratch->touched.count; i++) {
        uint32_t at = scratch->touched.items[i];
        uint16_t *masks = scratch->masks + (size_t)at * MULTICAST_POSITIONS;
        for (unsigned position = 0; position < MULTICAST_POSITIONS; position++) {
            if (masks[position])
                vec_push(&tree->arms,
                         ((struct multicast_arm){at, (uint16_t)position, masks[position]}));
            masks[position] = 0;
        }
    }
    scratch->touched.count = 0;
}

/* Members that the tree reaches get their ports, the others are named. `reached` by switch. */
static void finish(const struct task *task, const bool *reached)
{
    const struct network *network = task->terrain->network;
    for (size_t i = 0; i < task->count; i++) {
        uint32_t end_point = task->members[i].end_point, at = network_switch_of(network, end_point);
        if (!reached[at])
            vec_push(&task->tree->missed, (uint32_t)i);
        else if (task->members[i].receives)
            mark(task->terrain, at,
                 end_point & NETWORK_SWITCH ? 0 : network->terminals.items[end_point].port);
    }
    collect_marks(task->terrain, task->tree);
}

/* ---- a tree of its own ---- */

/* How many members lie below each switch, and how far in sum. */
static void measure(const struct task *task)
{
    struct terrain_scratch *scratch = &task->terrain->scratch;
    size_t switches = task->terrain->network->switches.count;
    memset(scratch->count, 0, switches * sizeof *scratch->count);
    memset(scratch->sum, 0, switches * sizeof *scratch->sum);
    for (size_t i = 0; i < scratch->places.count; i++) {
        const uint16_t *hops = terrain_climb(task->terrain, scratch->places.items[i]);
        uint32_t weight = scratch->weight[scratch->places.items[i]];
        for (size_t at = 0; at < switches; at++) {
            uint32_t below = hops[at] == TERRAIN_FAR ? 0 : weight;
            scratch->count[at] += below;
            scratch->sum[at] += below * hops[at];
        }
    }
}

/* The most members below it, then the least sum of distances, then the lot. */
static uint32_t choose_root(const struct task *task)
{
    const struct terrain_scratch *scratch = &task->terrain->scratch;
    uint32_t best = NETWORK_NONE;
    for (uint32_t at = 0; at < task->terrain->network->switches.count; at++) {
        if (!scratch->count[at])
            continue;
        if (best == NETWORK_NONE || scratch->count[at] > scratch->count[best] ||
            (scratch->count[at] == scratch->count[best] &&
             (scratch->sum[at] < scratch->sum[best] ||
              (scratch->sum[at] == scratch->sum[best] && lot(task, at, 0) < lot(task, best, 0)))))
            best = at;
    }
    return best;
}

/* Switches below the root with their depth, breadth first; how many. */
static uint32_t descend(const struct task *task, uint32_t root)
{
    struct multicast_terrain *terrain = task->terrain;
    const struct network *network = terrain->network;
    uint32_t *depth = terrain->scratch.depth, *queue = terrain->scratch.queue;
    uint32_t head = 0, tail = 0, left = (uint32_t)terrain->scratch.places.count;
    memset(depth, 0xFF, network->switches.count * sizeof *depth);
    depth[root] = 0;
    queue[tail++] = root;
    while (head < tail) {
        uint32_t at = queue[head++];
        left -= terrain->scratch.weight[at] != 0;
        if (!left)
            break; /* the rest of this depth has been queued with it or is not needed */
        for (uint32_t i = network->first_edge[at]; i < network->first_edge[at + 1]; i++) {
            uint32_t to = network->edges[i].to;
            if (terrain->rank[to] < terrain->rank[at] || depth[to] != NETWORK_NONE ||
                !terrain->usable[to])
                continue;
            depth[to] = depth[at] + 1;
            queue[tail++] = to;
        }
    }
    return tail;
}

/* The link to a switch that is one nearer to the root: rather one that is in the tree anyway. */
static const struct network_edge *choose_parent(const struct task *task, uint32_t at,
                                                const bool *reached)
{
    const struct network *network = task->terrain->network;
    const uint32_t *depth = task->terrain->scratch.depth;
    const struct network_edge *best = NULL;
    uint64_t best_lot = 0;
    for (uint32_t i = network->first_edge[at]; i < network->first_edge[at + 1]; i++) {
        const struct network_edge *edge = &network->edges[i];
        if (depth[edge->to] != depth[at] - 1 ||
            task->terrain->rank[edge->to] > task->terrain->rank[at] ||
            (best && reached[best->to] && !reached[edge->to]))
            continue;
        uint64_t its_lot = lot(task, edge->to, edge->to_port);
        if (!best || reached[edge->to] > reached[best->to] || its_lot < best_lot) {
            best = edge;
            best_lot = its_lot;
        }
    }
    return best;
}

/* From the deepest member up. */
static void make_own(const struct task *task, uint32_t root, bool *reached)
{
    struct multicast_terrain *terrain = task->terrain;
    uint32_t met = descend(task, root);
    reached[root] = true;
    for (size_t i = 0; i < terrain->scratch.places.count; i++) {
        uint32_t at = terrain->scratch.places.items[i];
        reached[at] |= terrain->scratch.depth[at] != NETWORK_NONE;
    }
    for (uint32_t i = met; i-- > 1;) {
        uint32_t at = terrain->scratch.queue[i];
        if (!reached[at])
            continue;
        const struct network_edge *edge = choose_parent(task, at, reached);
        if (terrain->scratch.depth[at] > task->tree->depth)
            task->tree->depth = terrain->scratch.depth[at];
        mark(terrain, at, edge->port);
        mark(terrain, edge->to, edge->to_port);
        reached[edge->to] = true;
    }
    task->tree->root = root;
}

/* ---- a part of the shared tree ---- */

/* The piece with the most members; how many. */
static uint32_t choose_piece(const struct task *task, uint32_t *members)
{
    const struct multicast_terrain *terrain = task->terrain;
    uint32_t best = NETWORK_NONE, *sums = mem_zalloc(terrain->piece_count + 1, sizeof *sums);
    for (size_t i = 0; i < terrain->scratch.places.count; i++) {
        uint32_t at = terrain->scratch.places.items[i];
        sums[terrain->piece[at]] += terrain->scratch.weight[at];
    }
    for (uint32_t piece = 0; piece < terrain->piece_count; piece++)
        if (sums[piece] && (best == NETWORK_NONE || sums[piece] > sums[best]))
            best = piece;
    *members = best == NETWORK_NONE ? 0 : sums[best];
    mem_free(sums);
    return best;
}

/* A link is needed if there are members on both sides of it. */
static void make_shared(const struct task *task, uint32_t piece, uint32_t total, bool *reached)
{
    struct multicast_terrain *terrain = task->terrain;
    uint32_t *below = terrain->scratch.count, *height = terrain->scratch.sum;
    memcpy(below, terrain->scratch.weight, terrain->network->switches.count * sizeof *below);
    memset(height, 0, terrain->network->switches.count * sizeof *height);
    for (size_t i = terrain->order.count; i-- > 0;) {
        uint32_t at = terrain->order.items[i], parent = terrain->parent[at];
        if (terrain->piece[at] != piece)
            continue;
        bool here = terrain->scratch.weight[at] != 0;
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
        mark(terrain, at, terrain->up[at]);
        mark(terrain, parent, terrain->down[at]);
        reached[parent] = true;
        if (height[parent] <= height[at])
            height[parent] = height[at] + 1;
    }
}

/* ---- choosing ---- */

/* Where members are, and how many; returns how many in all can have multicast. */
static uint32_t gather(const struct task *task)
{
    struct multicast_terrain *terrain = task->terrain;
    uint32_t usable = 0;
    for (size_t i = 0; i < task->count; i++) {
        uint32_t at = network_switch_of(terrain->network, task->members[i].end_point);
        if (!terrain->usable[at])
            continue;
        usable++;
        if (!terrain->scratch.weight[at]++)
            vec_push(&terrain->scratch.places, at);
    }
    return usable;
}

static void grow(const struct task *task, uint32_t usable, bool *reached)
{
    struct multicast_terrain *terrain = task->terrain;
    uint32_t root = NETWORK_NONE, own = 0, shared = 0;
    if (terrain->ordered) {
        measure(task);
        root = choose_root(task);
        own = terrain->scratch.count[root];
    }
    if (own == usable) {
        make_own(task, root, reached);
        return;
    }
    terrain_share(terrain);
    uint32_t piece = choose_piece(task, &shared);
    if (own >= shared)
        make_own(task, root, reached);
    else
        make_shared(task, piece, shared, reached);
}

void multicast_tree_make(struct multicast_terrain *terrain, unsigned mlid,
                         const struct multicast_member *members, size_t count,
                         struct multicast_tree *tree)
{
    struct task task = {terrain, members, count, hash_mix(mlid), tree};
    bool *reached = mem_zalloc(terrain->network->switches.count + 1, sizeof *reached);
    tree->arms.count = tree->missed.count = 0;
    tree->root = NETWORK_NONE;
    tree->depth = 0;
    uint32_t usable = gather(&task);
    if (usable)
        grow(&task, usable, reached);
    finish(&task, reached);
    for (size_t i = 0; i < terrain->scratch.places.count; i++)
        terrain->scratch.weight[terrain->scratch.places.items[i]] = 0;
    terrain->scratch.places.count = 0;
    mem_free(reached);
}
