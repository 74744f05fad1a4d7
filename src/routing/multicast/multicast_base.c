/* Common parts of multicast trees: an order of the switches, the distances that it allows, and a
 * shared tree for groups that cannot have one of their own.
 *
 * The order is that of the unicast engine if it has one, else that of updown.h from detected roots.
 * It can be used only if unicast together with all turns that it allows has no dependency cycle.
 * That holds if unicast never turns from down to up; else (a damaged tree) a CDG decides.
 *
 * The shared tree grows from the top switch: down as far as possible, then one link up, and so on.
 * Each link adds dependencies at the switch where it joins the tree; links that would close a cycle
 * are left out. Switches that cannot be joined start another piece; then other tops are tried, and
 * at last the order is dropped for all groups, so that only unicast counts. That is decided once
 * for all groups, since groups with a tree of their own and groups that share one must not form a
 * cycle together. */
#include "routing/multicast/multicast_base.h"

#include "routing/search/roots.h"
#include "routing/search/updown.h"

#include <assert.h>
#include <string.h>

/* ---- unicast ---- */

/* With one VL, two entries for a terminal's LID, one behind the other, are a dependency. */
static void note_entries(struct multicast_base *base, uint32_t at)
{
    const struct network *network = base->network;
    const uint8_t *row = routes_row(base->routes, at), *next[PORT_NONE + 1] = {0};
    uint64_t onward[PORT_NONE + 1][BITSET_WORDS(PORT_NONE + 1)] = {
        {0}}; /* output ports at the next switch, by output port */
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
        next[network->edges[e].port] = routes_row(base->routes, network->edges[e].to);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        unsigned out = row[lid];
        if (!(network->owner[lid] & NETWORK_SWITCH) && next[out])
            bitset_add(onward[out], next[out][lid]);
    }
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
        for (unsigned port = 1; port <= NETWORK_TOP_PORT; port++) {
            uint32_t out = cdg_leaving(&base->cdg, network->edges[e].to, port);
            if (out != NETWORK_NONE && bitset_has(onward[network->edges[e].port], port))
                cdg_set_add(&base->cdg, base->turns, e, out);
        }
}

/* Adds the dependencies of packets from the terminals of `from` to this LID, up to a switch that
 * was visited for it: `met` has the last LID by switch. */
static void note_packets(struct multicast_base *base, uint32_t from, uint32_t lid, uint32_t *met)
{
    const struct cdg *cdg = &base->cdg;
    uint32_t at = from, in = cdg_leaving(cdg, at, routes_port(base->routes, at, lid));
    while (in != NETWORK_NONE && met[at] != lid) {
        met[at] = lid;
        at = base->network->edges[in].to;
        uint32_t out = cdg_leaving(cdg, at, routes_port(base->routes, at, lid));
        if (out != NETWORK_NONE)
            cdg_set_add(cdg, base->turns, in, out);
        in = out;
    }
}

/* Collects the dependencies of unicast. Traffic between switches is management and does not count.
 */
static void note_routes(struct multicast_base *base)
{
    const struct network *network = base->network;
    const struct routes *routes = base->routes;
    bool layered = routes->vls > 1 && routes->service_levels;
    uint32_t *met = base->scratch.queue;
    memset(met, 0, network->switches.count * sizeof *met);
    for (uint32_t at = 0; !layered && at < network->switches.count; at++)
        note_entries(base, at);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid];
        if (owner == NETWORK_NONE || (!layered && !(owner & NETWORK_SWITCH)))
            continue;
        for (uint32_t from = 0; from < network->switches.count; from++)
            if (network_terminal_count(network, from) &&
                (!layered || routes_level(routes, from, lid) == base->vl))
                note_packets(base, from, lid, met);
    }
}

/* ---- the order ---- */

static void choose_rank(struct multicast_base *base)
{
    const struct network *network = base->network;
    size_t bytes = network->switches.count * sizeof *base->rank;
    base->rank = arena_alloc(&base->memory, bytes);
    if (base->routes && base->routes->ranks) {
        memcpy(base->rank, base->routes->ranks, bytes);
        return;
    }
    struct roots roots = {0};
    struct engine_options options = {0};
    struct updown updown;
    struct err err;
    if (network->switches.count)
        roots_choose(&roots, network, &options, ROOT_DETECT, &err);
    updown_init(&updown, network, roots.switches.items, roots.switches.count, options.tree);
    memcpy(base->rank, updown.rank, bytes);
    updown_release(&updown);
    roots_release(&roots);
}

/* Whether a packet over these three switches turns from down to up. */
static bool turns_up(const struct multicast_base *base, uint32_t from, uint32_t at, uint32_t to)
{
    return base->rank[at] > base->rank[from] && base->rank[to] < base->rank[at];
}

/* Whether unicast never turns from down to up. */
static bool unicast_is_in_order(const struct multicast_base *base)
{
    const struct network *network = base->network;
    for (uint32_t in = 0; in < base->cdg.channels; in++) {
        uint32_t from = network->edges[base->cdg.reverse[in]].to, at = network->edges[in].to;
        for (uint32_t out = network->first_edge[at]; out < network->first_edge[at + 1]; out++)
            if (cdg_set_has(&base->cdg, base->turns, in, out) &&
                turns_up(base, from, at, network->edges[out].to))
                return false;
    }
    return true;
}

/* Adds every turn that the order allows, between usable switches. */
static void add_order(struct multicast_base *base)
{
    const struct network *network = base->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t first = network->first_edge[at], degree = network->first_edge[at + 1] - first;
        for (uint32_t i = 0; base->usable[at] && i < degree * degree; i++) {
            uint32_t in = first + i / degree, out = first + i % degree;
            uint32_t from = network->edges[in].to, to = network->edges[out].to;
            if (from != to && base->usable[from] && base->usable[to] &&
                !turns_up(base, from, at, to))
                cdg_insert(&base->cdg, 0, base->cdg.reverse[in], out);
        }
    }
}

/* Adds unicast, and all turns of the order if `ordered`; false if they have a cycle together.
 * Unicast may have cycles of its own where these are allowed: they do not count here. */
static bool make_graph(struct multicast_base *base, bool ordered)
{
    const struct network *network = base->network;
    cdg_open(&base->cdg);
    cdg_order_by_rank(&base->cdg, 0, base->rank);
    if (ordered)
        add_order(base);
    for (uint32_t in = 0; in < base->cdg.channels; in++) {
        uint32_t at = network->edges[in].to;
        for (uint32_t out = network->first_edge[at]; out < network->first_edge[at + 1]; out++)
            if (cdg_set_has(&base->cdg, base->turns, in, out) &&
                cdg_insert(&base->cdg, 0, in, out) == CDG_REFUSED && ordered)
                return false;
    }
    return true;
}

/* ---- distances ---- */

static bool may_climb(const void *context, uint32_t at, uint32_t to)
{
    const struct multicast_base *base = context;
    return base->rank[to] <= base->rank[at] && base->usable[to];
}

static bool may_descend(const void *context, uint32_t at, uint32_t to)
{
    const struct multicast_base *base = context;
    return base->rank[to] >= base->rank[at] && base->usable[to];
}

uint32_t multicast_base_descend(struct multicast_base *base, uint32_t root)
{
    return network_distances_if(base->network, root, base->scratch.depth, base->scratch.queue,
                                may_descend, base);
}

static bool may_use(const void *context, uint32_t at, uint32_t to)
{
    (void)at;
    return ((const struct multicast_base *)context)->usable[to];
}

const uint16_t *multicast_base_climb(struct multicast_base *base, uint32_t to)
{
    assert(to < base->network->switches.count);
    size_t switches = base->network->switches.count;
    if (base->climbs[to])
        return base->climbs[to];
    uint16_t *hops = arena_alloc(&base->memory, switches * sizeof *hops);
    uint32_t *distance = base->scratch.depth;
    network_distances_if(base->network, to, distance, base->scratch.queue, may_climb, base);
    for (size_t at = 0; at < switches; at++)
        hops[at] =
            (uint16_t)(distance[at] < MULTICAST_BASE_FAR ? distance[at] : MULTICAST_BASE_FAR);
    return base->climbs[to] = hops;
}

/* ---- the shared tree ---- */

/* Adds the switch behind a link of `at`, which is in the tree, if it can be used and its link
 * closes no cycle. The link adds turns at `at` only, since its other end has no links in the tree
 * yet. `taken` by channel: its link is in the tree. */
static bool attach(struct multicast_base *base, bool *taken, uint32_t at, uint32_t out)
{
    struct cdg *cdg = &base->cdg;
    const struct network_edge *edge = &base->network->edges[out];
    const uint32_t *first_edge = base->network->first_edge;
    uint32_t to = edge->to;
    bool fits = true;
    if (!base->usable[to] || base->piece[to] != NETWORK_NONE)
        return false;
    cdg_begin(cdg);
    for (uint32_t other = first_edge[at]; fits && other < first_edge[at + 1]; other++)
        fits = !taken[other] || (cdg_insert(cdg, 0, cdg->reverse[other], out) != CDG_REFUSED &&
                                 cdg_insert(cdg, 0, cdg->reverse[out], other) != CDG_REFUSED);
    if (!cdg_end(cdg, fits))
        return false;
    taken[out] = taken[cdg->reverse[out]] = true;
    base->parent[to] = at;
    base->up[to] = edge->to_port;
    base->down[to] = edge->port;
    base->piece[to] = base->piece[at];
    vec_push(&base->order, to);
    return true;
}

/* Attaches links of one direction out of `at`, at most `most`. Returns their number. */
static unsigned grow_from(struct multicast_base *base, bool *taken, uint32_t at, bool upwards,
                          unsigned most)
{
    const struct network *network = base->network;
    unsigned attached = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1] && attached < most;
         e++)
        if ((base->rank[network->edges[e].to] < base->rank[at]) == upwards)
            attached += attach(base, taken, at, e);
    return attached;
}

static void grow_piece(struct multicast_base *base, bool *taken, uint32_t top)
{
    size_t first = base->order.count, next = first;
    bool grown = true;
    base->piece[top] = base->piece_count++;
    vec_push(&base->order, top);
    while (grown) {
        for (; next < base->order.count; next++)
            grow_from(base, taken, base->order.items[next], false, UINT32_MAX);
        grown = false;
        for (size_t i = first; i < base->order.count && !grown; i++)
            grown = grow_from(base, taken, base->order.items[i], true, 1) > 0;
    }
}

/* Grows all pieces. Tops are tried in the order of their ranks, beginning with `first`. */
static void make_shared_tree(struct multicast_base *base, bool ordered, uint32_t first)
{
    uint32_t count = (uint32_t)base->network->switches.count;
    bool *taken = mem_zalloc(base->cdg.channels + 1, sizeof *taken);
    uint32_t *by_rank = base->scratch.queue;
    memset(base->parent, 0xFF, count * sizeof *base->parent);
    memset(base->piece, 0xFF, count * sizeof *base->piece);
    base->order.count = base->piece_count = 0;
    base->shared_made = true;
    make_graph(base, ordered);
    for (uint32_t at = 0; at < count; at++)
        by_rank[base->rank[at]] = at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t top = by_rank[(first + i) % count];
        if (base->usable[top] && base->piece[top] == NETWORK_NONE)
            grow_piece(base, taken, top);
    }
    mem_free(taken);
    cdg_close(&base->cdg, 0);
}

void multicast_base_share(struct multicast_base *base)
{
    if (!base->shared_made)
        make_shared_tree(base, base->ordered, 0);
}

/* ---- whether the order is of use ---- */

/* The number of switches with terminals, of the first `found` in the scratch queue. */
static uint32_t count_with_terminals(const struct multicast_base *base, uint32_t found)
{
    uint32_t leaves = 0;
    for (uint32_t i = 0; i < found; i++)
        leaves += network_terminal_count(base->network, base->scratch.queue[i]) > 0;
    return leaves;
}

/* Whether in every part some switch has all switches with terminals below it; `parts` is the number
 * of parts. */
static bool has_tops(struct multicast_base *base, uint32_t *parts)
{
    const struct network *network = base->network;
    uint32_t count = (uint32_t)network->switches.count, topped = 0;
    uint32_t *distance = base->scratch.depth, *queue = base->scratch.queue;
    uint32_t *part = mem_zalloc(count + 1, sizeof *part);
    uint32_t *leaves = mem_zalloc(count + 1, sizeof *leaves);
    *parts = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (!base->usable[at] || part[at])
            continue;
        uint32_t found = network_distances_if(network, at, distance, queue, may_use, base);
        leaves[++*parts] = count_with_terminals(base, found);
        while (found-- > 0)
            part[queue[found]] = *parts;
    }
    uint8_t *done = mem_zalloc(*parts + 1, 1);
    for (uint32_t at = 0; at < count && topped < *parts; at++) {
        if (!base->usable[at] || done[part[at]])
            continue;
        uint32_t found = multicast_base_descend(base, at);
        done[part[at]] = count_with_terminals(base, found) == leaves[part[at]];
        topped += done[part[at]];
    }
    bool all = topped == *parts;
    mem_free(done);
    mem_free(leaves);
    mem_free(part);
    return all;
}

/* If every group can have a tree by the order, no shared tree is needed now. Else attempt 0 shares
 * a tree by the order, and the others without it, from other tops. */
static void settle_order(struct multicast_base *base)
{
    enum { ATTEMPTS = 9 };
    uint32_t parts, fewest = UINT32_MAX, best = 0, last = 0;
    bool usable_order = unicast_is_in_order(base);
    if (!usable_order) {
        usable_order = make_graph(base, true);
        cdg_close(&base->cdg, 0);
    }
    bool topped = has_tops(base, &parts);
    base->ordered = usable_order;
    if (usable_order && topped)
        return;
    for (uint32_t attempt = usable_order ? 0 : 1; attempt < ATTEMPTS && fewest > parts; attempt++) {
        make_shared_tree(base, attempt == 0, attempt ? attempt - 1 : 0);
        last = attempt;
        if (base->piece_count < fewest) {
            fewest = base->piece_count;
            best = attempt;
        }
    }
    if (last != best)
        make_shared_tree(base, best == 0, best ? best - 1 : 0);
    base->ordered = best == 0 && usable_order;
}

/* ---- memory ---- */

struct multicast_base *multicast_base_new(const struct network *network,
                                          const struct routes *routes, unsigned vl,
                                          const bool *usable)
{
    struct multicast_base *base = mem_zalloc(1, sizeof *base);
    struct multicast_base_scratch *scratch = &base->scratch;
    struct arena *memory = &base->memory;
    size_t count = network->switches.count;
    base->network = network;
    base->vl = vl;
    if (routes && (routes->vls <= 1 || vl < routes->vls))
        base->routes = routes;
    base->usable = arena_alloc(memory, count * sizeof *usable);
    memcpy(base->usable, usable, count * sizeof *usable);
    base->climbs = arena_alloc(memory, count * sizeof *base->climbs);
    base->parent = arena_alloc(memory, count * sizeof *base->parent);
    base->piece = arena_alloc(memory, count * sizeof *base->piece);
    base->up = arena_alloc(memory, count);
    base->down = arena_alloc(memory, count);
    scratch->weight = arena_alloc(memory, count * sizeof *scratch->weight);
    scratch->count = arena_alloc(memory, count * sizeof *scratch->count);
    scratch->sum = arena_alloc(memory, count * sizeof *scratch->sum);
    scratch->depth = arena_alloc(memory, count * sizeof *scratch->depth);
    scratch->queue = arena_alloc(memory, count * sizeof *scratch->queue);
    scratch->masks = arena_alloc(memory, count * MULTICAST_POSITIONS * sizeof *scratch->masks);
    choose_rank(base);
    cdg_init(&base->cdg, network);
    base->turns = cdg_set_new(&base->cdg);
    if (base->routes)
        note_routes(base);
    settle_order(base);
    return base;
}

void multicast_base_free(struct multicast_base *base)
{
    if (!base)
        return;
    arena_release(&base->memory);
    mem_free(base->turns);
    cdg_release(&base->cdg);
    vec_release(&base->order);
    vec_release(&base->scratch.places);
    vec_release(&base->scratch.touched);
    mem_free(base);
}
