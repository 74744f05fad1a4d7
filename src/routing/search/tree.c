/* Levels of a tree, from its leaves or from its roots.
 *
 * First guess: terminals are at the lowest level only, and the level of a switch is its distance
 * from the nearest one with terminals. If links then join switches that are not on neighbouring
 * levels, some terminals may be at higher levels. Second guess: the top consists of the switches
 * with the shortest distance to nine tenths of all terminals (in a fat tree with terminals at its
 * leaves these are the roots, and a few terminals elsewhere do not change that); levels count down
 * from there. A ring, a grid or an irregular network fits neither.
 *
 * The order of terminals is that of Dmodc's topological numbers (Gliksberg et al., "High-quality
 * fault resiliency in fat trees", 2019): subtrees are the connected components without the higher
 * levels. */
#include "routing/search/tree.h"

#include "base/mem.h"
#include "routing/search/roots.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { FAR = 63 }; /* larger distances count as this */

/* Levels by distance from the switches in the queue, which have theirs. */
static void spread_levels(struct tree *tree, const struct network *network, uint32_t *queue,
                          uint32_t count)
{
    count = network_spread(network, tree->level, queue, count);
    tree->operations += network_count_edges(network, queue, count);
}

/* Switches without a level are in parts without terminals or roots. */
static void level_other_parts(struct tree *tree, const struct network *network, uint32_t *queue)
{
    for (uint32_t at = 0; at < network->switches.count; at++) {
        if (tree->level[at] != NETWORK_NONE)
            continue;
        tree->level[at] = 0;
        queue[0] = at;
        spread_levels(tree, network, queue, 1);
    }
}

/* The first link in a part with terminals that does not join neighbouring levels, or NULL. */
static const struct network_edge *find_flaw(const struct tree *tree, const struct network *network,
                                            const bool *used, uint32_t *from)
{
    for (uint32_t at = 0; at < network->switches.count; at++) {
        for (uint32_t e = network->first_edge[at]; used[at] && e < network->first_edge[at + 1];
             e++) {
            uint32_t a = tree->level[at], b = tree->level[network->edges[e].to];
            *from = at;
            if (a + 1 != b && b + 1 != a)
                return &network->edges[e];
        }
    }
    return NULL;
}

static void level_from_roots(struct tree *tree, const struct network *network,
                             const uint32_t *roots, uint32_t count, uint32_t *queue)
{
    memset(tree->level, 0xFF, network->switches.count * sizeof *tree->level);
    for (uint32_t i = 0; i < count; i++) {
        tree->level[roots[i]] = 0;
        queue[i] = roots[i];
    }
    spread_levels(tree, network, queue, count);
    level_other_parts(tree, network, queue);
    uint32_t deepest = 0;
    for (uint32_t at = 0; at < network->switches.count; at++)
        deepest = tree->level[at] > deepest ? tree->level[at] : deepest;
    for (uint32_t at = 0; at < network->switches.count; at++)
        tree->level[at] = deepest - tree->level[at];
}

/* By switch: the distance within which nine tenths of the terminals are; NETWORK_NONE if they
 * cannot be reached. */
static void find_reach(struct tree *tree, const struct network *network, uint32_t *reach,
                       uint32_t *distance, uint32_t *queue)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t(*terminals)[FAR + 1] = mem_zalloc(switches, sizeof *terminals);
    uint64_t enough = (network->terminals.count * 9 + 9) / 10;
    for (uint32_t from = 0; from < switches; from++) {
        uint32_t count = network_terminal_count(network, from);
        if (count == 0)
            continue;
        uint32_t met = network_distances(network, from, distance, queue);
        tree->operations += network_count_edges(network, queue, met);
        for (uint32_t at = 0; at < switches; at++)
            if (distance[at] != NETWORK_NONE)
                terminals[at][distance[at] < FAR ? distance[at] : FAR] += count;
    }
    for (uint32_t at = 0; at < switches; at++) {
        uint64_t within = 0;
        reach[at] = NETWORK_NONE;
        for (uint32_t far = 0; far <= FAR && reach[at] == NETWORK_NONE; far++) {
            within += terminals[at][far];
            if (within >= enough)
                reach[at] = far;
        }
    }
    mem_free(terminals);
}

static void level_from_middle(struct tree *tree, const struct network *network, uint32_t *queue)
{
    uint32_t switches = (uint32_t)network->switches.count, count = 0, least = NETWORK_NONE;
    uint32_t *reach = mem_alloc(switches * sizeof *reach);
    uint32_t *roots = mem_alloc(switches * sizeof *roots);
    find_reach(tree, network, reach, tree->level, queue);
    for (uint32_t at = 0; at < switches; at++)
        least = reach[at] < least ? reach[at] : least;
    for (uint32_t at = 0; at < switches; at++)
        if (reach[at] == least)
            roots[count++] = at;
    level_from_roots(tree, network, roots, count, queue);
    mem_free(reach);
    mem_free(roots);
}

static int refuse_flaw(const struct tree *tree, const struct network *network, uint32_t from,
                       const struct network_edge *edge, struct err *err)
{
    char a[NETWORK_LABEL_BYTES], b[NETWORK_LABEL_BYTES];
    return err_set(err, EMEDIUMTYPE,
                   "the network is not a tree: the link from %s port %u to %s port %u joins "
                   "levels %u and %u",
                   network_label(network, NETWORK_SWITCH | from, a), edge->port,
                   network_label(network, NETWORK_SWITCH | edge->to, b), edge->to_port,
                   tree->level[from], tree->level[edge->to]);
}

bool tree_is_top(const struct tree *tree, const struct network *network, uint32_t at)
{
    bool top = true;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
        top &= tree->level[network->edges[e].to] < tree->level[at];
    return top;
}

int tree_recognise(struct tree *tree, const struct network *network,
                   const struct engine_options *options, struct err *err)
{
    uint32_t switches = (uint32_t)network->switches.count, from = 0;
    uint32_t *queue = mem_alloc(switches * sizeof *queue);
    bool *used = mem_alloc(switches * sizeof *used);
    const struct network_edge *flaw = NULL;
    int rc = 0;
    *tree = (struct tree){.level = mem_zalloc(switches, sizeof *tree->level)};
    uint32_t count = network_stages(network, tree->level, queue);
    for (uint32_t at = 0; at < switches; at++) /* whether its part has terminals */
        used[at] = tree->level[at] != NETWORK_NONE;
    if (options->root == ROOT_LIST) {
        uint32_t *roots = mem_alloc(switches * sizeof *roots);
        count = roots_find_listed(network, options, roots);
        if (count)
            level_from_roots(tree, network, roots, count, queue);
        else
            rc = roots_refuse_list(options, err);
        mem_free(roots);
        if (!rc && (flaw = find_flaw(tree, network, used, &from)))
            rc = refuse_flaw(tree, network, from, flaw, err);
    } else {
        tree->operations += network_count_edges(network, queue, count);
        level_other_parts(tree, network, queue);
        flaw = find_flaw(tree, network, used, &from);
        if (flaw) {
            int first = refuse_flaw(tree, network, from, flaw, err);
            level_from_middle(tree, network, queue);
            rc = find_flaw(tree, network, used, &from) ? first : 0;
        }
    }
    for (uint32_t at = 0; at < switches && !rc; at++) {
        tree->tops += used[at] && tree_is_top(tree, network, at);
        tree->levels = tree->level[at] >= tree->levels ? tree->level[at] + 1 : tree->levels;
    }
    mem_free(used);
    mem_free(queue);
    if (rc)
        tree_release(tree);
    return rc;
}

void tree_release(struct tree *tree)
{
    mem_free(tree->level);
    tree->level = NULL;
}

void tree_directions(const struct tree *tree, const struct network *network, struct updown *updown)
{
    assert(tree->levels || network->switches.count == 0);
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *level = mem_alloc(switches * sizeof *level);
    for (uint32_t at = 0; at < switches; at++)
        level[at] = tree->levels - 1 - tree->level[at];
    updown_init_levels(updown, network, level);
}

struct leaf_numbering {
    uint32_t *group; /* by switch: union-find, the lower index leads */
    uint32_t *least; /* by switch that leads: the lowest LID of a terminal in its group */
};

static uint32_t find_leader(const struct leaf_numbering *numbering, uint32_t at)
{
    while (numbering->group[at] != at) {
        numbering->group[at] = numbering->group[numbering->group[at]];
        at = numbering->group[at];
    }
    return at;
}

/* Joins two groups, the first given by its leader; returns the leader of both. */
static uint32_t join_groups(const struct leaf_numbering *numbering, uint32_t a, uint32_t b)
{
    if (numbering->group[b] == a)
        return a;
    b = find_leader(numbering, b);
    if (a == b)
        return a;
    uint32_t leader = a < b ? a : b, other = a < b ? b : a;
    numbering->group[other] = leader;
    if (numbering->least[other] < numbering->least[leader])
        numbering->least[leader] = numbering->least[other];
    return leader;
}

/* Joins a switch with its neighbours on one side. */
static void join_neighbours(const struct leaf_numbering *numbering, const struct tree *tree,
                            const struct network *network, uint32_t at, bool above)
{
    uint32_t leader = find_leader(numbering, at), level = tree->level[at];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (above ? tree->level[to] > level : tree->level[to] < level)
            leader = join_groups(numbering, leader, to);
    }
}

/* Level by level, switches with terminals that are connected below that level are brought
 * together. */
uint32_t *tree_terminals(const struct tree *tree, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count, leaves = 0, count = 0;
    uint32_t *terminals = mem_alloc(network->terminals.count * sizeof *terminals);
    struct arena memory = {0};
    struct leaf_numbering numbering = {
        .group = arena_alloc(&memory, switches * sizeof *numbering.group),
        .least = arena_alloc(&memory, switches * sizeof *numbering.least),
    };
    uint32_t *order = arena_alloc(&memory, switches * sizeof *order);
    uint64_t *keys = arena_alloc(&memory, switches * sizeof *keys);
    for (uint32_t at = 0; at < switches; at++) {
        numbering.group[at] = at;
        numbering.least[at] = NETWORK_NONE;
        for (uint32_t i = network->first_terminal[at]; i < network->first_terminal[at + 1]; i++) {
            uint32_t lid = network_terminal_at(network, i)->lid;
            if (lid && lid < numbering.least[at])
                numbering.least[at] = lid;
        }
        if (network_terminal_count(network, at))
            order[leaves++] = at;
    }
    for (uint32_t level = 0; level < tree->levels && leaves; level++) {
        for (uint32_t at = 0; at < switches; at++)
            if (tree->level[at] == level)
                join_neighbours(&numbering, tree, network, at, false);
        /* Groups come in order of their lowest LIDs; inside a group the order stays. */
        uint32_t *old = mem_alloc(leaves * sizeof *old);
        memcpy(old, order, leaves * sizeof *old);
        for (uint32_t i = 0; i < leaves; i++)
            keys[i] = (uint64_t)numbering.least[find_leader(&numbering, order[i])] << 32 | i;
        sort_u64(keys, leaves);
        for (uint32_t i = 0; i < leaves; i++)
            order[i] = old[(uint32_t)keys[i]];
        mem_free(old);
    }
    for (uint32_t k = 0; k < leaves; k++)
        for (uint32_t i = network->first_terminal[order[k]];
             i < network->first_terminal[order[k] + 1]; i++)
            terminals[count++] = network->terminals_at[i];
    arena_release(&memory);
    return terminals;
}

uint32_t *tree_planes(const struct tree *tree, const struct network *network)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *plane = mem_alloc(switches * sizeof *plane);
    struct leaf_numbering numbering = {.group = mem_alloc(switches * sizeof *numbering.group),
                                       .least = mem_alloc(switches * sizeof *numbering.least)};
    for (uint32_t at = 0; at < switches; at++) {
        numbering.group[at] = at;
        numbering.least[at] = network->switches.items[at].lid;
    }
    for (uint32_t level = tree->levels; level-- > 0;) {
        for (uint32_t at = 0; at < switches; at++)
            if (tree->level[at] == level)
                join_neighbours(&numbering, tree, network, at, true);
        for (uint32_t at = 0; at < switches; at++)
            if (tree->level[at] == level)
                plane[at] = numbering.least[find_leader(&numbering, at)];
    }
    mem_free(numbering.group);
    mem_free(numbering.least);
    return plane;
}

uint32_t *tree_shift_order(const struct network *network)
{
    struct tree tree;
    struct err ignored;
    if (tree_recognise(&tree, network, &(struct engine_options){0}, &ignored) != 0)
        return NULL;
    uint32_t *order = tree_terminals(&tree, network);
    tree_release(&tree);
    return order;
}
