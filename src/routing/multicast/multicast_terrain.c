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
#include "routing/multicast/multicast_terrain.h"

#include "routing/search/roots.h"
#include "routing/search/updown.h"

#include <string.h>

/* ---- unicast ---- */

/* With one lane, two entries for a LID of a terminal, one behind the other, are a dependency. */
static void note_entries(struct multicast_terrain *terrain, uint32_t at)
{
    const struct network *network = terrain->network;
    const uint8_t *row = routes_row(terrain->routes, at), *next[PORT_NONE + 1] = {0};
    uint64_t onward[PORT_NONE + 1][BITSET_WORDS(PORT_NONE + 1)] = {{0}}; /* ports, by port */
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
        next[network->edges[e].port] = routes_row(terrain->routes, network->edges[e].to);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        unsigned out = row[lid];
        if (!(network->owner[lid] & NETWORK_SWITCH) && next[out])
            bitset_add(onward[out], next[out][lid]);
    }
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
        for (unsigned port = 1; port <= NETWORK_TOP_PORT; port++) {
            uint32_t out = cdg_leaving(&terrain->cdg, network->edges[e].to, port);
            if (out != NETWORK_NONE && bitset_has(onward[network->edges[e].port], port))
                cdg_set_add(&terrain->cdg, terrain->turns, e, out);
        }
}

/* What terminals of `from` send to this LID, as far as it has not been met on the way of others,
 * who have left the LID in `met`. */
static void note_packets(struct multicast_terrain *terrain, uint32_t from, uint32_t lid,
                         uint32_t *met)
{
    const struct cdg *cdg = &terrain->cdg;
    uint32_t at = from, in = cdg_leaving(cdg, at, routes_port(terrain->routes, at, lid));
    while (in != NETWORK_NONE && met[at] != lid) {
        met[at] = lid;
        at = terrain->network->edges[in].to;
        uint32_t out = cdg_leaving(cdg, at, routes_port(terrain->routes, at, lid));
        if (out != NETWORK_NONE)
            cdg_set_add(cdg, terrain->turns, in, out);
        in = out;
    }
}

/* Traffic between switches is management, and not counted here. */
static void note_lid(struct multicast_terrain *terrain, uint32_t lid, uint32_t *met)
{
    const struct network *network = terrain->network;
    const struct routes *routes = terrain->routes;
    bool layered = routes->vls > 1 && routes->service_levels;
    uint32_t owner = network->owner[lid];
    if (owner == NETWORK_NONE || (!layered && !(owner & NETWORK_SWITCH)))
        return;
    for (uint32_t from = 0; from < network->switches.count; from++)
        if (network_terminal_count(network, from) &&
            (!layered ||
             routes->service_levels[(size_t)from * routes->stride + lid] == terrain->lane))
            note_packets(terrain, from, lid, met);
}

static void note_routes(struct multicast_terrain *terrain)
{
    const struct network *network = terrain->network;
    bool layered = terrain->routes->vls > 1 && terrain->routes->service_levels;
    memset(terrain->scratch.queue, 0, network->switches.count * sizeof *terrain->scratch.queue);
    for (uint32_t at = 0; !layered && at < network->switches.count; at++)
        note_entries(terrain, at);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        note_lid(terrain, lid, terrain->scratch.queue);
}

/* ---- the order ---- */

static void choose_rank(struct multicast_terrain *terrain)
{
    const struct network *network = terrain->network;
    size_t bytes = network->switches.count * sizeof *terrain->rank;
    terrain->rank = mem_alloc(bytes + 1);
    if (terrain->routes && terrain->routes->ranks) {
        memcpy(terrain->rank, terrain->routes->ranks, bytes);
        return;
    }
    struct roots roots = {0};
    struct engine_options options = {0};
    struct updown updown;
    struct err err;
    if (network->switches.count)
        roots_choose(&roots, network, &options, ROOT_DETECT, &err);
    updown_init(&updown, network, roots.switches.items, roots.switches.count);
    memcpy(terrain->rank, updown.rank, bytes);
    updown_release(&updown);
    roots_release(&roots);
}

/* Whether a packet from one switch over another to a third turns from down to up. */
static bool turns_up(const struct multicast_terrain *terrain, uint32_t from, uint32_t at,
                     uint32_t to)
{
    return terrain->rank[at] > terrain->rank[from] && terrain->rank[to] < terrain->rank[at];
}

/* Calls for every dependency of unicast; stops, and returns false, where `visit` does. */
static bool each_turn(struct multicast_terrain *terrain,
                      bool (*visit)(struct multicast_terrain *terrain, uint32_t in, uint32_t out))
{
    const struct network *network = terrain->network;
    for (uint32_t in = 0; in < terrain->cdg.channels; in++) {
        uint32_t at = network->edges[in].to;
        for (uint32_t out = network->first_edge[at]; out < network->first_edge[at + 1]; out++)
            if (cdg_set_has(&terrain->cdg, terrain->turns, in, out) && !visit(terrain, in, out))
                return false;
    }
    return true;
}

static bool is_in_order(struct multicast_terrain *terrain, uint32_t in, uint32_t out)
{
    const struct network_edge *edges = terrain->network->edges;
    return !turns_up(terrain, edges[terrain->cdg.reverse[in]].to, edges[in].to, edges[out].to);
}

static bool add_if_possible(struct multicast_terrain *terrain, uint32_t in, uint32_t out)
{
    return cdg_insert(&terrain->cdg, 0, in, out) != CDG_REFUSED;
}

/* Unicast may have cycles of its own where that was allowed: those are not repaired here. */
static bool add_anyway(struct multicast_terrain *terrain, uint32_t in, uint32_t out)
{
    add_if_possible(terrain, in, out);
    return true;
}

/* Every turn that the order allows, between switches that can be used. */
static void add_order(struct multicast_terrain *terrain)
{
    const struct network *network = terrain->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint32_t first = network->first_edge[at], degree = network->first_edge[at + 1] - first;
        for (uint32_t i = 0; terrain->usable[at] && i < degree * degree; i++) {
            uint32_t in = first + i / degree, out = first + i % degree;
            uint32_t from = network->edges[in].to, to = network->edges[out].to;
            if (from != to && terrain->usable[from] && terrain->usable[to] &&
                !turns_up(terrain, from, at, to))
                cdg_insert(&terrain->cdg, 0, terrain->cdg.reverse[in], out);
        }
    }
}

/* Unicast, and the order if it is of use; false if the two do not go together. */
static bool make_graph(struct multicast_terrain *terrain, bool ordered)
{
    cdg_open(&terrain->cdg);
    cdg_order_by_rank(&terrain->cdg, 0, terrain->rank);
    if (ordered)
        add_order(terrain);
    return each_turn(terrain, ordered ? add_if_possible : add_anyway);
}

static bool order_is_of_use(struct multicast_terrain *terrain)
{
    if (each_turn(terrain, is_in_order))
        return true;
    bool fits = make_graph(terrain, true);
    cdg_close(&terrain->cdg, 0);
    return fits;
}

/* ---- distances ---- */

static bool may_climb(const void *context, uint32_t at, uint32_t to)
{
    const struct multicast_terrain *terrain = context;
    return terrain->rank[to] <= terrain->rank[at] && terrain->usable[to];
}

static bool may_descend(const void *context, uint32_t at, uint32_t to)
{
    const struct multicast_terrain *terrain = context;
    return terrain->rank[to] >= terrain->rank[at] && terrain->usable[to];
}

static bool may_go(const void *context, uint32_t at, uint32_t to)
{
    (void)at;
    return ((const struct multicast_terrain *)context)->usable[to];
}

const uint16_t *terrain_climb(struct multicast_terrain *terrain, uint32_t to)
{
    size_t switches = terrain->network->switches.count;
    if (terrain->climbs[to])
        return terrain->climbs[to];
    uint16_t *hops = mem_alloc(switches * sizeof *hops + 1);
    uint32_t *distance = terrain->scratch.depth;
    network_distances_if(terrain->network, to, distance, terrain->scratch.queue, may_climb,
                         terrain);
    for (size_t at = 0; at < switches; at++)
        hops[at] = (uint16_t)(distance[at] < TERRAIN_FAR ? distance[at] : TERRAIN_FAR);
    return terrain->climbs[to] = hops;
}

/* ---- the shared tree ---- */

/* Whether this link of `at`, which is in the tree, can take part: turns at `at` only, since the
 * other end has no links in the tree yet. `taken` by channel: its link is in the tree. */
static bool try_link(struct multicast_terrain *terrain, const bool *taken, uint32_t at,
                     uint32_t out)
{
    struct cdg *cdg = &terrain->cdg;
    const uint32_t *first_edge = terrain->network->first_edge;
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

static bool attach(struct multicast_terrain *terrain, bool *taken, uint32_t at, uint32_t out)
{
    const struct network_edge *edge = &terrain->network->edges[out];
    uint32_t to = edge->to;
    if (!terrain->usable[to] || terrain->piece[to] != NETWORK_NONE ||
        !try_link(terrain, taken, at, out))
        return false;
    taken[out] = taken[terrain->cdg.reverse[out]] = true;
    terrain->parent[to] = at;
    terrain->up[to] = edge->to_port;
    terrain->down[to] = edge->port;
    terrain->piece[to] = terrain->piece[at];
    vec_push(&terrain->order, to);
    return true;
}

/* Links of one direction out of `at`; how many were attached, at most `most`. */
static unsigned grow_from(struct multicast_terrain *terrain, bool *taken, uint32_t at, bool upwards,
                          unsigned most)
{
    const struct network *network = terrain->network;
    unsigned attached = 0;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1] && attached < most;
         e++)
        if ((terrain->rank[network->edges[e].to] < terrain->rank[at]) == upwards)
            attached += attach(terrain, taken, at, e);
    return attached;
}

static void grow_piece(struct multicast_terrain *terrain, bool *taken, uint32_t top)
{
    size_t first = terrain->order.count, next = first;
    bool grown = true;
    terrain->piece[top] = terrain->piece_count++;
    vec_push(&terrain->order, top);
    while (grown) {
        for (; next < terrain->order.count; next++)
            grow_from(terrain, taken, terrain->order.items[next], false, UINT32_MAX);
        grown = false;
        for (size_t i = first; i < terrain->order.count && !grown; i++)
            grown = grow_from(terrain, taken, terrain->order.items[i], true, 1) > 0;
    }
}

/* Tops are tried in the order of their ranks, from one on that is given. */
static void share(struct multicast_terrain *terrain, bool ordered, uint32_t first)
{
    uint32_t count = (uint32_t)terrain->network->switches.count;
    bool *taken = mem_zalloc(terrain->cdg.channels + 1, sizeof *taken);
    uint32_t *by_rank = terrain->scratch.queue;
    memset(terrain->parent, 0xFF, count * sizeof *terrain->parent);
    memset(terrain->piece, 0xFF, count * sizeof *terrain->piece);
    terrain->order.count = terrain->piece_count = 0;
    make_graph(terrain, ordered);
    for (uint32_t at = 0; at < count; at++)
        by_rank[terrain->rank[at]] = at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t top = by_rank[(first + i) % count];
        if (terrain->usable[top] && terrain->piece[top] == NETWORK_NONE)
            grow_piece(terrain, taken, top);
    }
    mem_free(taken);
    cdg_close(&terrain->cdg, 0);
}

static void make_room(struct multicast_terrain *terrain)
{
    size_t count = terrain->network->switches.count;
    terrain->shared_made = true;
    terrain->parent = mem_alloc(count * sizeof *terrain->parent + 1);
    terrain->piece = mem_alloc(count * sizeof *terrain->piece + 1);
    terrain->up = mem_zalloc(count + 1, 1);
    terrain->down = mem_zalloc(count + 1, 1);
}

void terrain_share(struct multicast_terrain *terrain)
{
    if (terrain->shared_made)
        return;
    make_room(terrain);
    share(terrain, terrain->ordered, 0);
}

/* ---- whether the order is of use ---- */

/* Of the switches in the scratch queue, how many have terminals. */
static uint32_t count_homes(const struct multicast_terrain *terrain, uint32_t found)
{
    uint32_t homes = 0;
    for (uint32_t i = 0; i < found; i++)
        homes += network_terminal_count(terrain->network, terrain->scratch.queue[i]) > 0;
    return homes;
}

/* Whether in every part some switch has all below it that have terminals; `parts` counts them. */
static bool has_tops(struct multicast_terrain *terrain, uint32_t *parts)
{
    const struct network *network = terrain->network;
    uint32_t count = (uint32_t)network->switches.count, topped = 0;
    uint32_t *distance = terrain->scratch.depth, *queue = terrain->scratch.queue;
    uint32_t *part = mem_zalloc(count + 1, sizeof *part);
    uint32_t *homes = mem_zalloc(count + 1, sizeof *homes);
    *parts = 0;
    for (uint32_t at = 0; at < count; at++) {
        if (!terrain->usable[at] || part[at])
            continue;
        uint32_t found = network_distances_if(network, at, distance, queue, may_go, terrain);
        homes[++*parts] = count_homes(terrain, found);
        while (found-- > 0)
            part[queue[found]] = *parts;
    }
    uint8_t *done = mem_zalloc(*parts + 1, 1);
    for (uint32_t at = 0; at < count && topped < *parts; at++) {
        if (!terrain->usable[at] || done[part[at]])
            continue;
        uint32_t found = network_distances_if(network, at, distance, queue, may_descend, terrain);
        done[part[at]] = count_homes(terrain, found) == homes[part[at]];
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
static void settle_order(struct multicast_terrain *terrain)
{
    enum { ATTEMPTS = 9 };
    uint32_t parts, fewest = UINT32_MAX, best = 0, last = 0;
    bool of_use = order_is_of_use(terrain), topped = has_tops(terrain, &parts);
    terrain->ordered = of_use;
    if (of_use && topped)
        return;
    make_room(terrain);
    for (uint32_t attempt = of_use ? 0 : 1; attempt < ATTEMPTS && fewest > parts; attempt++) {
        share(terrain, attempt == 0, attempt ? attempt - 1 : 0);
        last = attempt;
        if (terrain->piece_count < fewest) {
            fewest = terrain->piece_count;
            best = attempt;
        }
    }
    if (last != best)
        share(terrain, best == 0, best ? best - 1 : 0);
    terrain->ordered = best == 0 && of_use;
}

/* ---- birth ---- */

struct multicast_terrain *multicast_terrain_new(const struct network *network,
                                                const struct routes *routes, unsigned lane,
                                                const bool *usable)
{
    struct multicast_terrain *terrain = mem_zalloc(1, sizeof *terrain);
    size_t count = network->switches.count;
    terrain->network = network;
    terrain->switch_count = (uint32_t)count;
    terrain->lane = lane;
    if (routes && (routes->vls <= 1 || lane < routes->vls))
        terrain->routes = routes;
    terrain->usable = mem_alloc(count * sizeof *usable + 1);
    memcpy(terrain->usable, usable, count * sizeof *usable);
    terrain->climbs = mem_zalloc(count + 1, sizeof *terrain->climbs);
    struct terrain_scratch *scratch = &terrain->scratch;
    scratch->weight = mem_zalloc(count + 1, sizeof *scratch->weight);
    scratch->count = mem_zalloc(count + 1, sizeof *scratch->count);
    scratch->sum = mem_zalloc(count + 1, sizeof *scratch->sum);
    scratch->depth = mem_zalloc(count + 1, sizeof *scratch->depth);
    scratch->queue = mem_zalloc(count + 1, sizeof *scratch->queue);
    scratch->masks = mem_zalloc(count * MULTICAST_POSITIONS + 1, sizeof *scratch->masks);
    choose_rank(terrain);
    cdg_init(&terrain->cdg, network);
    terrain->turns = cdg_set_new(&terrain->cdg);
    if (terrain->routes)
        note_routes(terrain);
    settle_order(terrain);
    return terrain;
}

void multicast_terrain_free(struct multicast_terrain *terrain)
{
    if (!terrain)
        return;
    for (uint32_t i = 0; i < terrain->switch_count; i++) /* the network may be gone */
        mem_free(terrain->climbs[i]);
    mem_free(terrain->climbs);
    mem_free(terrain->usable);
    mem_free(terrain->rank);
    mem_free(terrain->turns);
    cdg_release(&terrain->cdg);
    mem_free(terrain->parent);
    mem_free(terrain->piece);
    mem_free(terrain->up);
    mem_free(terrain->down);
    vec_release(&terrain->order);
    mem_free(terrain->scratch.weight);
    mem_free(terrain->scratch.count);
    mem_free(terrain->scratch.sum);
    mem_free(terrain->scratch.depth);
    mem_free(terrain->scratch.queue);
    mem_free(terrain->scratch.masks);
    vec_release(&terrain->scratch.places);
    vec_release(&terrain->scratch.touched);
    mem_free(terrain);
}

bool multicast_terrain_is_ordered(const struct multicast_terrain *terrain)
{
    return terrain->ordered;
}
