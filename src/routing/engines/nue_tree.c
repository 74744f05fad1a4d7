/* A breadth-first search from the target that never closes a cycle of dependencies.
 *
 * Switches are reached ring by ring. A switch next to the last ring takes the neighbour with the
 * least weight on the path from there to the target, provided that the VL accepts the dependency
 * between the two channels; else the next best. A switch without such a neighbour is left for the
 * next ring: its route then makes a detour.
 *
 * Sources are the switches with terminals. The dependencies of other switches are only added when a
 * source sends through them: until then they are idle, and restrict no route. Their own packets to
 * terminals count, too: nue_tree_settle() adds them after the routes of all sources.
 *
 * Switches may be left over in the end. If the VL has an escape tree, whose dependencies are in its
 * graph from the start, they use it, and so do switches in conflict with them: in the worst case
 * all switches, and routes along the tree have no conflicts. Without an escape tree the attempt
 * fails. */
#include "routing/engines/nue_tree.h"

#include <assert.h>
#include <string.h>

enum {
    MARK_OFFERED = 1, /* has an offer from the last ring */
    MARK_IDLE = 2,    /* its dependency was not added yet: no source sends through it */
    MARK_DEAD = 4,    /* its dependency cannot be added: no source may send through it */
    MARK_LOCKED = 8,  /* uses the escape tree */
};

void nue_tree_init(struct nue_tree *tree, const struct network *network, struct cdg *cdg)
{
    size_t switches = network->switches.count + 1;
    *tree = (struct nue_tree){.network = network, .cdg = cdg};
    struct arena *memory = &tree->memory;
    tree->choice = arena_alloc(memory, switches * sizeof *tree->choice);
    tree->order = arena_alloc(memory, switches * sizeof *tree->order);
    tree->hops = arena_alloc(memory, switches * sizeof *tree->hops);
    tree->distance = arena_alloc(memory, switches * sizeof *tree->distance);
    tree->cost = arena_alloc(memory, switches * sizeof *tree->cost);
    tree->offer = arena_alloc(memory, switches * sizeof *tree->offer);
    tree->mark = arena_alloc(memory, switches);
    tree->front = arena_alloc(memory, switches * sizeof *tree->front);
    tree->next = arena_alloc(memory, switches * sizeof *tree->next);
    tree->down = arena_alloc(memory, switches * sizeof *tree->down);
}

void nue_tree_release(struct nue_tree *tree)
{
    arena_release(&tree->memory);
    vec_release(&tree->locked);
    vec_release(&tree->moved);
}

void nue_tree_aim(struct nue_tree *tree, uint32_t target)
{
    tree->target = target;
    tree->reachable = network_distances(tree->network, target, tree->distance, tree->front);
    tree->operations += tree->reachable;
}

static bool is_source(const struct nue_tree *tree, uint32_t at)
{
    return network_terminal_count(tree->network, at) > 0;
}

static uint32_t next_switch(const struct nue_tree *tree, uint32_t at)
{
    return tree->network->edges[tree->choice[at]].to;
}

/* Adds the dependency of packets that arrive by `in`. */
static bool add_tree_dependency(struct nue_tree *tree, uint32_t in)
{
    uint32_t at = tree->network->edges[in].to;
    return at == tree->target ||
           cdg_insert(tree->cdg, tree->vl, in, tree->choice[at]) != CDG_REFUSED;
}

/* Adds the dependency of packets that arrive by `in`, and all further dependencies on the path that
 * no source has needed so far. */
static bool add_path(struct nue_tree *tree, uint32_t in)
{
    if (!add_tree_dependency(tree, in))
        return false;
    uint32_t first = tree->network->edges[in].to, at = first;
    for (; at != tree->target && tree->mark[at] & MARK_IDLE; at = next_switch(tree, at)) {
        if (tree->mark[at] & MARK_DEAD || !add_tree_dependency(tree, tree->choice[at])) {
            tree->mark[first] |= MARK_DEAD;
            return false;
        }
    }
    while (first != at) {
        tree->mark[first] &= (uint8_t)~MARK_IDLE;
        first = next_switch(tree, first);
    }
    return true;
}

/* The cost of a hop and of the path behind it, where other LIDs or sources count. */
static uint64_t full_cost(const struct nue_tree *tree, uint32_t channel, uint32_t from, uint32_t to)
{
    uint64_t cost = tree->weight[channel];
    /* A link that the earlier LIDs of the terminal use costs more than any weights. */
    for (uint32_t lid = tree->first_lid; lid < tree->lid; lid++)
        if (routes_row(tree->routes, from)[lid] == tree->network->edges[channel].port)
            cost += UINT64_C(1) << 44;
    if (!tree->turns)
        return cost + tree->cost[to];
    for (; to != tree->target; to = next_switch(tree, to))
        cost += tree->weight[tree->choice[to]] + tree->turns[tree->choice[to]];
    return cost;
}

static uint64_t cost_of(const struct nue_tree *tree, uint32_t channel, uint32_t from, uint32_t to)
{
    return tree->first_lid < tree->lid || tree->turns ? full_cost(tree, channel, from, to)
                                                      : tree->weight[channel] + tree->cost[to];
}

/* Makes an offer to every neighbour of a switch of the last ring. Returns the number of
 * neighbours. Most of the time of the engine is spent here, so what the loop needs is in local
 * variables: a byte of `mark` could alias the fields of `tree`. */
static uint32_t make_offers(struct nue_tree *tree, uint32_t at, uint32_t *neighbours,
                            uint32_t count)
{
    const struct network *network = tree->network;
    const struct network_edge *edges = network->edges;
    const struct cdg *cdg = tree->cdg;
    const uint32_t *hops = tree->hops, *reverse = cdg->reverse;
    uint32_t *choice = tree->choice;
    uint64_t *offer = tree->offer;
    uint8_t *mark = tree->mark;
    uint32_t first = network->first_edge[at], end = network->first_edge[at + 1];
    uint32_t bit = at == tree->target ? 0 : choice[at] - first, words = cdg->words;
    const uint64_t *refused = cdg->layer[tree->vl].refused + cdg_row(cdg, first) + bit / 64;
    uint64_t mask = at == tree->target ? 0 : UINT64_C(1) << bit % 64;
    if (mark[at] & MARK_DEAD)
        return count;
    for (uint32_t e = first; e < end; e++, refused += words) {
        uint32_t from = edges[e].to;
        if (hops[from] != NETWORK_NONE || *refused & mask)
            continue;
        uint32_t channel = reverse[e];
        uint64_t cost = tree->turns ? 0 : cost_of(tree, channel, from, at); /* see accept_offer() */
        if (!(mark[from] & MARK_OFFERED)) {
            mark[from] |= MARK_OFFERED;
            neighbours[count++] = from;
        } else if (cost > offer[from] || (cost == offer[from] && channel > choice[from])) {
            continue;
        }
        offer[from] = cost;
        choice[from] = channel;
    }
    tree->operations += end - first;
    return count;
}

/* Finds the best offer of the ring that the VL has not refused; false if there is none. */
static bool find_offer(struct nue_tree *tree, uint32_t at, uint32_t ring)
{
    const struct network *network = tree->network;
    tree->offer[at] = UINT64_MAX;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (tree->hops[to] != ring || tree->mark[to] & MARK_DEAD ||
            (to != tree->target && cdg_refuses(tree->cdg, tree->vl, e, tree->choice[to])))
            continue;
        uint64_t cost = cost_of(tree, e, at, to);
        if (cost >= tree->offer[at])
            continue;
        tree->offer[at] = cost;
        tree->choice[at] = e;
    }
    tree->operations += (uint64_t)(network->first_edge[at + 1] - network->first_edge[at]) *
                        (tree->turns ? 1 + ring : 1);
    return tree->offer[at] != UINT64_MAX;
}

static bool accept_offer(struct nue_tree *tree, uint32_t at, uint32_t ring)
{
    if (tree->turns && !find_offer(tree, at, ring))
        return false;
    if (!is_source(tree, at)) {
        tree->mark[at] |= MARK_IDLE;
        return true;
    }
    while (!add_path(tree, tree->choice[at]))
        if (!find_offer(tree, at, ring))
            return false;
    uint32_t terminals = tree->turns ? network_terminal_count(tree->network, at) : 0;
    for (; terminals && at != tree->target; at = next_switch(tree, at))
        tree->turns[tree->choice[at]] += terminals; /* sources that follow see this load */
    return true;
}

static void add_to_tree(struct nue_tree *tree, uint32_t at, uint32_t ring)
{
    tree->hops[at] = ring;
    tree->cost[at] = tree->offer[at];
    tree->order[tree->reached++] = at;
    tree->detour += is_source(tree, at) ? ring - tree->distance[at] : 0;
}

/* All rings; false if there are too many detours. */
static bool spread_out(struct nue_tree *tree)
{
    uint32_t *front = tree->front, *next = tree->next, count = 1;
    front[0] = tree->target;
    for (uint32_t ring = 0; count && tree->reached < tree->reachable; ring++) {
        uint32_t neighbours = 0, accepted = 0;
        for (uint32_t i = 0; i < count; i++)
            neighbours = make_offers(tree, front[i], next, neighbours);
        for (uint32_t i = 0; i < neighbours; i++) {
            uint32_t at = next[i];
            tree->mark[at] &= (uint8_t)~MARK_OFFERED;
            if (accept_offer(tree, at, ring)) {
                next[accepted++] = at;
            } else {
                tree->choice[at] = NETWORK_NONE;
            }
        }
        for (uint32_t i = 0; i < accepted; i++)
            add_to_tree(tree, next[i], ring + 1);
        if (tree->detour >= tree->limit)
            return false;
        uint32_t *last = front;
        front = next;
        next = last;
        count = accepted;
    }
    return true;
}

static void lock_to_escape_tree(struct nue_tree *tree, uint32_t at)
{
    if (at == tree->target || tree->mark[at] & MARK_LOCKED)
        return;
    tree->mark[at] = MARK_LOCKED;
    tree->choice[at] = tree->down[at] != NETWORK_NONE ? tree->down[at] : tree->up[at];
    vec_push(&tree->locked, at);
}

/* The next hop of a locked switch keeps its route or is locked, too. Switches that send through
 * here can stay: this one was locked because its old channel led, over other switches, to its
 * neighbour on the tree and from there to the new channel, so a channel that depended on the old
 * one already depended on the new one. */
static void settle_locked(struct nue_tree *tree, uint32_t at)
{
    const struct network *network = tree->network;
    uint32_t to = next_switch(tree, at);
    if (to != tree->target && !(tree->mark[to] & MARK_LOCKED) &&
        (tree->choice[to] == NETWORK_NONE || !add_path(tree, tree->choice[at])))
        lock_to_escape_tree(tree, to);
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t from = network->edges[e].to, in = tree->cdg->reverse[e];
        if (tree->choice[from] != in || tree->mark[from] & (MARK_LOCKED | MARK_IDLE))
            continue;
        bool added = add_tree_dependency(tree, in);
        assert(added);
        (void)added;
    }
    tree->operations += network->first_edge[at + 1] - network->first_edge[at];
}

/* Puts all switches with a choice in order, and counts their hops again. */
static void order_again(struct nue_tree *tree)
{
    uint32_t switches = (uint32_t)tree->network->switches.count;
    memset(tree->hops, 0xFF, switches * sizeof *tree->hops);
    tree->hops[tree->target] = 0;
    tree->reached = 1;
    tree->detour = 0;
    for (uint32_t start = 0; start < switches; start++) {
        uint32_t depth = 0, at = start;
        if (tree->choice[start] == NETWORK_NONE)
            continue;
        for (; tree->hops[at] == NETWORK_NONE; at = next_switch(tree, at))
            tree->next[depth++] = at;
        for (uint32_t hops = tree->hops[at]; depth;) {
            at = tree->next[--depth];
            tree->offer[at] = 0;
            add_to_tree(tree, at, ++hops);
        }
    }
    tree->operations += tree->reached;
}

/* Whether the route of the switch where `added` begins still needs it. */
static bool is_used(const void *context, struct cdg_dependency added)
{
    const struct nue_tree *tree = context;
    const struct network_edge *edges = tree->network->edges;
    return tree->choice[edges[tree->cdg->reverse[added.in]].to] == added.in &&
           tree->choice[edges[added.in].to] == added.out;
}

/* Moves a switch to the escape tree, with all switches that must follow. Returns true. */
static bool use_escape_tree(struct nue_tree *tree, uint32_t at)
{
    const struct network *network = tree->network;
    size_t settled = tree->locked.count;
    if (settled == 0) {
        memset(tree->down, 0xFF, network->switches.count * sizeof *tree->down);
        for (uint32_t child = tree->target; tree->up[child] != NETWORK_NONE;) {
            uint32_t parent = network->edges[tree->up[child]].to;
            tree->down[parent] = tree->cdg->reverse[tree->up[child]];
            child = parent;
        }
    }
    lock_to_escape_tree(tree, at);
    for (; settled < tree->locked.count; settled++)
        settle_locked(tree, tree->locked.items[settled]);
    return true;
}

static bool free_stuck(struct nue_tree *tree)
{
    for (uint32_t at = 0; at < tree->network->switches.count; at++) {
        bool stuck = tree->hops[at] == NETWORK_NONE && !(tree->mark[at] & MARK_LOCKED) &&
                     tree->distance[at] != NETWORK_NONE && is_source(tree, at);
        if (stuck && !(tree->up && use_escape_tree(tree, at)))
            return false;
    }
    if (tree->locked.count)
        order_again(tree);
    return true;
}

enum nue_result nue_tree_grow(struct nue_tree *tree)
{
    assert(tree->vl < tree->cdg->count && tree->target < tree->network->switches.count);
    size_t switches = tree->network->switches.count;
    memset(tree->hops, 0xFF, switches * sizeof *tree->hops);
    memset(tree->choice, 0xFF, switches * sizeof *tree->choice);
    memset(tree->mark, 0, switches);
    tree->hops[tree->target] = 0;
    tree->cost[tree->target] = 0;
    tree->order[0] = tree->target;
    tree->reached = 1;
    tree->detour = 0;
    tree->locked.count = 0;
    cdg_begin(tree->cdg);
    if (!spread_out(tree) || !free_stuck(tree) || tree->detour >= tree->limit) {
        cdg_end(tree->cdg, false);
        return NUE_STUCK;
    }
    /* Switches that are not sources and were left over take any path: no channel depends on them.
     */
    const struct network *network = tree->network;
    for (uint32_t i = 0; i < tree->reached; i++) {
        uint32_t at = tree->order[i];
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            uint32_t from = network->edges[e].to;
            if (tree->hops[from] != NETWORK_NONE)
                continue;
            tree->hops[from] = tree->hops[at] + 1;
            tree->choice[from] = tree->cdg->reverse[e];
            tree->order[tree->reached++] = from;
        }
    }
    return tree->detour ? NUE_DETOURS : NUE_SHORTEST;
}

void nue_tree_load(struct nue_tree *tree, const struct column *column)
{
    size_t switches = tree->network->switches.count;
    memset(tree->hops, 0xFF, switches * sizeof *tree->hops);
    memset(tree->choice, 0xFF, switches * sizeof *tree->choice);
    memset(tree->mark, MARK_IDLE, switches);
    memset(tree->cost, 0, switches * sizeof *tree->cost);
    tree->hops[tree->target] = 0;
    tree->reached = column->count;
    for (uint32_t i = 0; i < column->count; i++) {
        uint32_t at = column->order[i];
        tree->order[i] = at;
        if (i == 0)
            continue;
        tree->choice[at] = column->out[at];
        tree->hops[at] = tree->hops[column->next[at]] + 1;
    }
    for (uint32_t i = column->count; i-- > 1;) {
        uint32_t at = column->order[i];
        if (is_source(tree, at))
            tree->mark[at] = 0;
        if (!(tree->mark[at] & MARK_IDLE))
            tree->mark[column->next[at]] = 0;
    }
    tree->mark[tree->target] = 0;
    tree->operations += column->count;
}

/* Finds the nearest neighbour that is not idle and whose path the VL accepts. */
static bool find_settled_neighbour(struct nue_tree *tree, uint32_t at)
{
    const struct network *network = tree->network;
    uint32_t best = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if (tree->mark[to] & MARK_IDLE ||
            (to != tree->target && cdg_refuses(tree->cdg, tree->vl, e, tree->choice[to])))
            continue;
        if (best == NETWORK_NONE || tree->hops[to] < tree->hops[network->edges[best].to])
            best = e;
    }
    tree->operations += network->first_edge[at + 1] - network->first_edge[at];
    tree->choice[at] = best;
    return best != NETWORK_NONE;
}

/* Moves the route as it is to another VL. */
static bool change_vl(struct nue_tree *tree, uint32_t from)
{
    for (unsigned vl = 0; vl < tree->cdg->count; vl++) {
        bool fits = true;
        if (vl == tree->vl)
            continue;
        cdg_begin(tree->cdg);
        for (uint32_t at = from, to; fits && (to = next_switch(tree, at)) != tree->target; at = to)
            fits = cdg_insert(tree->cdg, vl, tree->choice[at], tree->choice[to]) != CDG_REFUSED;
        if (cdg_end(tree->cdg, fits)) {
            vec_push(&tree->moved, ((struct nue_move){tree->lid, from, (uint8_t)vl}));
            return true;
        }
    }
    return false;
}

/* Settles an idle switch: on the VL if possible, else on another one, or along the escape tree. */
static bool settle_idle_switch(struct nue_tree *tree, uint32_t at)
{
    uint32_t choice = tree->choice[at];
    bool added = add_path(tree, choice);
    while (!added && find_settled_neighbour(tree, at))
        added = add_tree_dependency(tree, tree->choice[at]);
    if (added) {
        tree->mark[at] = 0;
        tree->hops[at] = tree->hops[next_switch(tree, at)] + 1;
        return true;
    }
    tree->choice[at] = choice;
    return tree->up ? use_escape_tree(tree, at) : change_vl(tree, at);
}

bool nue_tree_settle(struct nue_tree *tree)
{
    tree->locked.count = 0;
    for (uint32_t i = 1; i < tree->reached; i++)
        if (tree->mark[tree->order[i]] & MARK_IDLE && !settle_idle_switch(tree, tree->order[i]))
            return false;
    return true;
}

void nue_tree_keep(struct nue_tree *tree)
{
    cdg_commit_if(tree->cdg, is_used, tree);
}
