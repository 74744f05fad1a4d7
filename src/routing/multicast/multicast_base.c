/* What the trees of multicast groups are made of: an order of the switches, the distances that it
 * allows, and a tree for those who cannot have one of their own.
 *
 * The order is that of the unicast engine if it has one, else that of updown.h from detected roots.
 * It is of use only if unicast's packets and packets that turn in every way that it allows cannot
 * wait for each other in a circle. Mostly unicast itself never turns from down to up, and that is
 * plain; where it does now and then (strays of a damaged tree), a graph of channels decides.
 *
 * The shared tree grows from the top switch: down as far as that goes, then one link up, and on.
 * Each link makes channels wait for channels, at the switch where it joins the tree; links that
 * would close a circle are left out. What cannot be joined to a piece starts one of its own; then
 * other tops are tried, and if need be the order is given up for all, so that only unicast counts.
 * That is decided once for all groups: those who share and those who do not must go together. */
#include "routing/multicast/multicast_base.h"

#include "routing/search/roots.h"
#include "routing/search/updown.h"

#include <string.h>

/* ---- unicast ---- */

/* With one lane, two entries for a LID of a terminal, one behind the other, are a dependency. */
static void note_entries(struct multicast_base *base, uint32_t at)
{
    const struct network *network = base->network;
    const uint8_t *row = routes_row(base->routes, at), *next[PORT_NONE + 1] = {0};
    uint64_t onward[PORT_NONE + 1][BITSET_WORDS(PORT_NONE + 1)] = {{0}}; /* ports, by port */
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

/* What terminals of `from` send to this LID, as far as it has not been met on the way of others,
 * who have left the LID in `met`. */
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

/* Traffic between switches is management, and not counted here. */
static void note_lid(struct multicast_base *base, uint32_t lid, uint32_t *met)
{
    const struct network *network = base->network;
    const struct routes *routes = base->routes;
    bool layered = routes->vls > 1 && routes->service_levels;
    uint32_t owner = network->owner[lid];
    if (owner == NETWORK_NONE || (!layered && !(owner & NETWORK_SWITCH)))
        return;
    for (uint32_t from = 0; from < network->switches.count; from++)
        if (network_terminal_count(network, from) &&
            (!layered || routes->service_levels[(size_t)from * routes->stride + lid] == base->lane))
            note_packets(base, from, lid, met);
}

static void note_routes(struct multicast_base *base)
{
    const struct network *network = base->network;
    bool layered = base->routes->vls > 1 && base->routes->service_levels;
    memset(base->scratch.queue, 0, network->switches.count * sizeof *base->scratch.queue);
    for (uint32_t at = 0; !layered && at < network->switches.count; at++)
        note_entries(base, at);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        note_lid(base, lid, base->scratch.queue);
}

/* ---- the order ---- */

static void choose_rank(struct multicast_base *base)
{
    const struct network *network = base->network;
    size_t bytes = network->switches.count * sizeof *base->rank;
    base->rank = mem_alloc(bytes + 1);
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
    updown_init(&updown, network, roots.switches.items, roots.switches.count);
    memcpy(base->rank, updown.rank, bytes);
    updown_release(&updown);
    roots_release(&roots);
}

/* Whether a packet from one switch over another to a third turns from down to up. */
static bool dmodk_up(const struct multicast_base *base, uint32_t from, uint32_t at, uint32_t to)
{
    return base->rank[at] > base->rank[from] && base->rank[to] < base->rank[at];
}

/* Calls for every dependency of unicast; stops, and returns false, where `visit` does. */
static bool each_turn(struct multicast_base *base,
                      bool (*visit)(struct multicast_base *base, uint32_t in, uint32_t out))
{
    const struct network *network = base->network;
    for (uint32_t in = 0; in < base->cdg.channels; in++) {
        uint32_t at = network->edges[in].to;
        for (uint32_t out = network->first_edge[at]; out < network->first_edge[at + 1]; out++)
            if (cdg_set_has(&base->cdg, base->turns, in, out) && !visit(base, in, out))
                return false;
    }
    return true;
}

static bool is_in_order(struct multicast_base *base, uint32_t in, uint32_t out)
{
    const struct network_edge *edges = base->network->edges;
    return !dmodk_up(base, edges[base->cdg.reverse[in]].to, edges[in].to, edges[out].to);
}

static bool add_if_possible(struct multicast_base *base, uint32_t in, uint32_t out)
{
    return cdg_insert(&base->cdg, 0, in, out) != CDG_REFUSED;
}

/* Unicast may have cycles of its own where that was allowed: those are not repaired here. */
static bool add_anyway(struct multicast_base *base, uint32_t in, uint32_t out)
{
    add_if_possible(base, in, out);
    return true;
}

/* Every turn that the order allows, between switches that can be used. */
static void add_order(struct multicast_base *base)
{
    const struct network *network = base->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t first = network->first_edge[at], degree = network->first_edge[at + 1] - first;
        for (uint32_t i = 0; base->usable[at] && i < degree * degree; i++) {
            uint32_t in = first + i / degree, out = first + i % degree;
            uint32_t from = network->edges[in].to, to = network->edges[out].to;
            if (from != to && base->usable[from] && base->usable[to] &&
                !dmodk_up(base, from, at, to))
                cdg_insert(&base->cdg, 0, base->cdg.reverse[in], out);
        }
    }
}

/* Unicast, and the order if it is of use; false if the two do not go together. */
static bool make_graph(struct multicast_base *base, bool ordered)
{
    cdg_open(&base->cdg);
    cdg_order_by_rank(&base->cdg, 0, base->rank);
    if (ordered)
        add_order(base);
    return each_turn(base, ordered ? add_if_possible : add_anyway);
}

static bool order_is_of_use(struct multicast_base *base)
{
    if (each_turn(base, is_in_order))
        return true;
    bool fits = make_graph(base, true);
    cdg_close(&base->cdg, 0);
    return fits;
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

static bool may_go(const void *context, uint32_t at, uint32_t to)
{
    (void)at;
    return ((const struct multicast_base *)context)->usable[to];
}

const uint16_t *multicast_base_climb(struct multicast_base *base, uint32_t to)
{
    size_t switches = base->network->switches.count;
    if (base->climbs[to])
        return base->climbs[to];
    uint16_t *hops = mem_alloc(switches * sizeof *hops + 1);
    uint32_t *distance = base->scratch.depth;
    network_distances_if(base->network, to, distance, base->scratch.queue, may_climb, base);
    for (size_t at = 0; at < switches; at++)
        hops[at] =
            (uint16_t)(distance[at] < MULTICAST_BASE_FAR ? distance[at] : MULTICAST_BASE_FAR);
    return base->climbs[to] = hops;
}

/* ---- the shared tree ---- */

/* Whether this link of `at`, which is in the tree, can take part: turns at `at` only, since the
 * other end has no links in the tree yet. `taken` by channel: its link is in the tree. */
static bool try_link(struct multicast_base *base, const bool *taken, uint32_t at, uint32_t out)
{
    struct cdg *cdg = &base->cdg;
    const uint32_t *first_edge = base->network->first_edge;
    bool fits = true;
    cdg_begin(cdg);
    for (uint32_t other = first_edge[at]; fits && other < first_edge[at + 1]; other++)
        fits = !taken[other] || (cdg_insert(cdg, 0, cdg->reverse[other], out) != CDG_REFUSED &&
                                 cdg_insert(cdg, 0, cdg->reverse[out], other) != CDG_REFUSED);
    if (fits)
        cdg_commit(cdg);
    else
        cdg_undo(cdg);
    return fits;
}

static bool attach(struct multicast_base *base, bool *taken, uint32_t at, uint32_t out)
{
    const struct network_edge *edge = &base->network->edges[out];
    uint32_t to = edge->to;
    if (!base->usable[to] || base->piece[to] != NETWORK_NONE || !try_link(base, taken, at, out))
        return false;
    taken[out] = taken[base->cdg.reverse[out]] = true;
    base->parent[to] = at;
    base->up[to] = edge->to_port;
    base->down[to] = edge->port;
    base->piece[to] = base->piece[at];
    vec_push(&base->order, to);
    return true;
}

/* Links of one direction out of `at`; how many were attached, at most `most`. */
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

/* Tops are tried in the order of their ranks, from one on that is given. */
static void share(struct multicast_base *base, bool ordered, uint32_t first)
{
    uint32_t count = (uint32_t)base->network->switches.count;
    bool *taken = mem_zalloc(base->cdg.channels + 1, sizeof *taken);
    uint32_t *by_rank = base->scratch.queue;
    memset(base->parent, 0xFF, count * sizeof *base->parent);
    memset(base->piece, 0xFF, count * sizeof *base->piece);
    base->order.count = base->piece_count = 0;
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

static void make_room(struct multicast_base *base)
{
    size_t count = base->network->switches.count;
    base->shared_made = true;
    base->parent = mem_alloc(count * sizeof *base->parent + 1);
    base->piece = mem_alloc(count * sizeof *base->piece + 1);
    base->up = mem_zalloc(count + 1, 1);
    base->down = mem_zalloc(count + 1, 1);
}

void multicast_base_share(struct multicast_base *base)
{
    if (base->shared_made)
        return;
    make_room(base);
    share(base, base->ordered, 0);
}

/* ---- whether the order is of use ---- */

/* Of the switches in the scratch queue, how many have terminals. */
static uint32_t count_homes(const struct multicast_base *base, uint32_t found)
{
    uint32_t homes = 0;
    for (uint32_t i = 0; i < found; i++)
        homes += network_terminal_count(base->network, base->scratch.queue[i]) > 0;
    return homes;
}

/* Whether in every part some switch has all below it that have terminals; `parts` counts them. */
static bool has_tops(struct multicast_base *base, uint32_t *parts)
{
    const struct network *network = base->network;
    uint32_t count = (uint32_t)network->switches.count, topped = 0;
    uint32_t *distance = base->scratch.depth, *queue = base->scratch.queue;
    uint32_t *part = mem_zalloc(count + 1, sizeof *part);
    uint32_t *homes = mem_zalloc(count + 1, sizeof *homes);
    *parts = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (!base->usable[at] || part[at])
            continue;
        uint32_t found = network_distances_if(network, at, distance, queue, may_go, base);
        homes[++*parts] = count_homes(base, found);
        while (found-- > 0)
            part[queue[found]] = *parts;
    }
    uint8_t *done = mem_zalloc(*parts + 1, 1);
    for (uint32_t at = 0; at < count && topped < *parts; at++) {
        if (!base->usable[at] || done[part[at]])
            continue;
        uint32_t found = network_distances_if(network, at, distance, queue, may_descend, base);
        done[part[at]] = count_homes(base, found) == homes[part[at]];
        topped += done[part[at]];
    }
    bool all = topped == *parts;
    mem_free(done);
    mem_free(homes);
    mem_free(part);
    return all;
}

/* Where everybody can have a tree by the order, nothing else needs to be looked at. Else attempt 0
 * is to share by the order, and the others are to share without, from other tops. */
static void settle_order(struct multicast_base *base)
{
    enum { ATTEMPTS = 9 };
    uint32_t parts, fewest = UINT32_MAX, best = 0, last = 0;
    bool of_use = order_is_of_use(base), topped = has_tops(base, &parts);
    base->ordered = of_use;
    if (of_use && topped)
        return;
    make_room(base);
    for (uint32_t attempt = of_use ? 0 : 1; attempt < ATTEMPTS && fewest > parts; attempt++) {
        share(base, attempt == 0, attempt ? attempt - 1 : 0);
        last = attempt;
        if (base->piece_count < fewest) {
            fewest = base->piece_count;
            best = attempt;
        }
    }
    if (last != best)
        share(base, best == 0, best ? best - 1 : 0);
    base->ordered = best == 0 && of_use;
}

/* ---- birth ---- */

struct multicast_base *multicast_base_new(const struct network *network,
                                          const struct routes *routes, unsigned lane,
                                          const bool *usable)
{
    struct multicast_base *base = mem_zalloc(1, sizeof *base);
    size_t count = network->switches.count;
    base->network = network;
    base->switch_count = (uint32_t)count;
    base->lane = lane;
    if (routes && (routes->vls <= 1 || lane < routes->vls))
        base->routes = routes;
    base->usable = mem_alloc(count * sizeof *usable + 1);
    memcpy(base->usable, usable, count * sizeof *usable);
    base->climbs = mem_zalloc(count + 1, sizeof *base->climbs);
    struct multicast_base_scratch *scratch = &base->scratch;
    scratch->weight = mem_zalloc(count + 1, sizeof *scratch->weight);
    scratch->count = mem_zalloc(count + 1, sizeof *scratch->count);
    scratch->sum = mem_zalloc(count + 1, sizeof *scratch->sum);
    scratch->depth = mem_zalloc(count + 1, sizeof *scratch->depth);
    scratch->queue = mem_zalloc(count + 1, sizeof *scratch->queue);
    scratch->masks = mem_zalloc(count * MULTICAST_POSITIONS + 1, sizeof *scratch->masks);
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
    for (uint32_t i = 0; i < base->switch_count; i++) /* the network may be gone */
        mem_free(base->climbs[i]);
    mem_free(base->climbs);
    mem_free(base->usable);
    mem_free(base->rank);
    mem_free(base->turns);
    cdg_release(&base->cdg);
    mem_free(base->parent);
    mem_free(base->piece);
    mem_free(base->up);
    mem_free(base->down);
    vec_release(&base->order);
    mem_free(base->scratch.weight);
    mem_free(base->scratch.count);
    mem_free(base->scratch.sum);
    mem_free(base->scratch.depth);
    mem_free(base->scratch.queue);
    mem_free(base->scratch.masks);
    vec_release(&base->scratch.places);
    vec_release(&base->scratch.touched);
    mem_free(base);
}

bool multicast_base_is_ordered(const struct multicast_base *base)
{
    return base->ordered;
}
