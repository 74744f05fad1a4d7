/* Changed entries come column by column, so each column is looked at once: its old entries are laid
 * out by switch, every changed entry is walked to the end, and what arrives there is asked of the
 * neighbours. */
#include "routing/verify_change.h"

#include "base/bitset.h"

#include <errno.h>
#include <string.h>

enum age { OLD, NEW };

/* A switch in the column; each part means something where its number is the column's own. */
struct place {
    uint32_t arrives; /* the column in which it is known to */
    uint32_t asked[2];
    uint32_t waited_for; /* … in which somebody waits for its packets to be gone */
    uint16_t lanes[2];
    uint8_t old; /* what it had, where it has something else now */
};

struct walk {
    const struct network *network;
    const struct routes *routes;
    struct dependency_graph *graph;
    uint32_t *part;
    uint32_t column;
    struct place *places; /* by switch */
    uint64_t *changed;    /* switches whose entry changed */
    uint8_t *full;        /* by channel: all that arrives there may leave by it, as is known */
    VEC(uint32_t) path;
    bool self_link; /* an entry leads a switch to itself */
    uint64_t operations;
};

static uint32_t owner_of(const struct walk *walk, uint32_t lid)
{
    return lid <= walk->network->top_lid ? walk->network->owner[lid] : NETWORK_NONE;
}

/* Where a port leads, this switch's own port 0 included. */
static uint32_t end_behind(const struct walk *walk, uint32_t at, uint8_t port)
{
    const struct network_switch *node = &walk->network->switches.items[at];
    if (port == 0)
        return NETWORK_SWITCH | at;
    return port > node->port_count ? NETWORK_NONE
                                   : walk->network->ports.items[node->first_port + port].peer;
}

/* True if the walk ends at the owner; switches on the way are remembered. */
static bool arrives(struct walk *walk, uint32_t from, uint32_t lid, uint32_t owner)
{
    uint32_t at = from;
    walk->path.count = 0;
    while (walk->places[at].arrives != walk->column) {
        uint8_t port = routes_port(walk->routes, at, lid);
        uint32_t end = end_behind(walk, at, port);
        vec_push(&walk->path, at);
        walk->operations++;
        if (end == NETWORK_NONE || walk->path.count > walk->network->switches.count)
            return false;
        if (port == 0 || !(end & NETWORK_SWITCH)) {
            if (!network_leads_to(walk->network, at, port, owner))
                return false;
            break;
        }
        at = end & ~NETWORK_SWITCH;
    }
    for (size_t i = 0; i < walk->path.count; i++)
        walk->places[walk->path.items[i]].arrives = walk->column;
    return true;
}

/* Nobody sends to an alias from everywhere. */
static bool must_arrive(const struct walk *walk, uint32_t from, uint32_t lid, uint32_t owner)
{
    const struct network *network = walk->network;
    bool is_switch = owner & NETWORK_SWITCH;
    uint32_t at = is_switch ? owner & ~NETWORK_SWITCH : network->terminals.items[owner].at;
    uint32_t base =
        is_switch ? network->switches.items[at].lid : network->terminals.items[owner].lid;
    uint32_t used = 0;
    if (walk->part[from] != walk->part[at])
        return false;
    if (walk->routes->offsets && !is_switch)
        used = walk->routes->offsets[(size_t)at * walk->routes->switch_count + from];
    return lid == base || lid - base == used;
}

static int check_arrival(struct walk *walk, uint32_t from, uint32_t lid, struct err *err)
{
    char label[NETWORK_LABEL_BYTES];
    uint32_t owner = owner_of(walk, lid);
    if (owner == NETWORK_NONE || arrives(walk, from, lid, owner) ||
        !must_arrive(walk, from, lid, owner))
        return 0;
    return err_set(err, EHOSTUNREACH, "LID %u is not reached from %.80s", lid,
                   network_label(walk->network, NETWORK_SWITCH | from, label));
}

/* ---- dependencies ---- */

static uint8_t old_port(const struct walk *walk, uint32_t at, uint32_t lid)
{
    return bitset_has(walk->changed, at) ? walk->places[at].old : routes_row(walk->routes, at)[lid];
}

/* The lanes on which traffic that counts begins at a switch. */
static uint16_t lanes_of(const struct walk *walk, uint32_t at, uint32_t lid)
{
    const struct routes *routes = walk->routes;
    uint32_t owner = owner_of(walk, lid);
    if (owner != NETWORK_NONE && (owner & NETWORK_SWITCH) &&
        network_terminal_count(walk->network, at) == 0)
        return 0;
    return walk->graph->vls == 1 || !routes->service_levels
               ? 1
               : (uint16_t)(1u << routes->service_levels[(size_t)at * routes->stride + lid]);
}

/* The lanes of traffic that counts and that leaves a switch: [OLD] by its old entry, if everybody
 * above it has the old one too, [NEW] by its new one, whatever those above it have. A new entry
 * that sends to an old one is a matter of the order of updates. */
static uint16_t lanes_from(struct walk *walk, uint32_t at, uint32_t lid, enum age age)
{
    const struct network *network = walk->network;
    struct place *place = &walk->places[at];
    uint16_t all = (uint16_t)((1u << walk->graph->vls) - 1);
    if (place->asked[age] == walk->column)
        return place->lanes[age];
    place->asked[age] = walk->column;
    place->lanes[age] = 0;
    uint16_t lanes = lanes_of(walk, at, lid) & all;
    for (uint32_t e = network->first_edge[at]; lanes != all && e < network->first_edge[at + 1];
         e++) {
        const struct network_edge *edge = &network->edges[e];
        if (old_port(walk, edge->to, lid) == edge->to_port)
            lanes |= lanes_from(walk, edge->to, lid, OLD);
        if (age == NEW && routes_port(walk->routes, edge->to, lid) == edge->to_port)
            lanes |= lanes_from(walk, edge->to, lid, NEW);
    }
    place->lanes[age] = lanes;
    return lanes;
}

static void put(struct walk *walk, uint32_t at, uint8_t in, uint8_t out, uint16_t lanes)
{
    uint32_t end = end_behind(walk, at, out);
    walk->operations++;
    if (out == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
        return;
    walk->self_link |= end == (NETWORK_SWITCH | at);
    for (unsigned left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        dependency_add(walk->graph, at, in, lane, out, lane);
    }
}

/* All that comes to the switch and leaves by the changed entry. `late`: those who are waited for
 * send nothing here any more. */
static void gather_arrivals(struct walk *walk, const struct repair_entry *entry, bool late)
{
    const struct network *network = walk->network;
    uint32_t at = entry->at, lid = entry->lid;
    bool one_lane = walk->graph->vls == 1 && entry->after <= network->switches.items[at].port_count;
    uint8_t *full =
        one_lane ? &walk->full[network->switches.items[at].first_port + entry->after] : NULL;
    if (full && *full)
        return;
    const uint64_t *rows = dependency_row(walk->graph, at, 0, 0) + entry->after / 64;
    size_t words = dependency_row_words(walk->graph, at);
    bool all = true;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        if (one_lane && rows[edge->port * words] >> (entry->after % 64) & 1)
            continue; /* known */
        all = false;
        if (routes_row(walk->routes, edge->to)[lid] == edge->to_port)
            put(walk, at, edge->port, entry->after, lanes_from(walk, edge->to, lid, NEW));
        bool gone = late && walk->places[edge->to].waited_for == walk->column;
        if (!gone && old_port(walk, edge->to, lid) == edge->to_port)
            put(walk, at, edge->port, entry->after, lanes_from(walk, edge->to, lid, OLD));
    }
    if (full)
        *full = all;
    walk->operations += network->first_edge[at + 1] - network->first_edge[at];
}

/* The same, and how that goes on. */
static void gather(struct walk *walk, const struct repair_entry *entry, bool late)
{
    const struct network *network = walk->network;
    uint32_t at = entry->at, lid = entry->lid;
    gather_arrivals(walk, entry, late);
    uint16_t lanes = lanes_from(walk, at, lid, NEW);
    uint8_t port = entry->after;
    for (uint32_t hops = 0; hops < network->switches.count; hops++) {
        uint32_t end = end_behind(walk, at, port);
        if (port == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
            return;
        uint8_t in = network->ports.items[network->switches.items[at].first_port + port].peer_port;
        at = end & ~NETWORK_SWITCH;
        port = routes_port(walk->routes, at, lid);
        put(walk, at, in, port, lanes);
    }
}

/* What the old entries of one LID give rise to. */
static void put_old(struct walk *walk, const struct repair *repair, uint32_t lid)
{
    const struct network *network = walk->network;
    for (uint32_t at = 0; at < network->switches.count; at++) {
        uint8_t port = old_port(walk, at, lid);
        uint32_t end = end_behind(walk, at, port);
        if (port == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
            continue;
        uint32_t channel = network->switches.items[at].first_port + port;
        uint32_t to = end & ~NETWORK_SWITCH;
        if (!repair->fresh[channel])
            put(walk, to, network->ports.items[channel].peer_port, old_port(walk, to, lid),
                lanes_from(walk, at, lid, OLD));
    }
}

/* Every dependency must lead onwards in the order that is shown. */
static bool order_fits_at(struct walk *walk, uint32_t at, const int64_t *label)
{
    const struct dependency_graph *graph = walk->graph;
    const struct network *network = walk->network;
    size_t words = dependency_row_words(graph, at);
    const uint64_t *row = dependency_row(graph, at, 0, 0);
    uint32_t rows = (network->switches.items[at].port_count + 1u) * graph->vls;
    int64_t behind[(NETWORK_TOP_PORT + 1) * 16], lowest = INT64_MAX;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        for (unsigned lane = 0; lane < graph->vls; lane++) {
            int64_t next = label[graph->first_node[edge->to] + edge->to_port * graph->vls + lane];
            behind[edge->port * graph->vls + lane] = next;
            lowest = next < lowest ? next : lowest;
        }
    }
    walk->operations += rows;
    for (uint32_t i = 0; i < rows; i++, row += words) {
        int64_t own = label[graph->first_node[at] + i];
        for (size_t word = 0; own >= lowest && word < words; word++)
            for (uint64_t left = row[word]; left; left &= left - 1, walk->operations++)
                if (own >= behind[word * 64 + (unsigned)__builtin_ctzll(left)])
                    return false;
    }
    return true;
}

static bool order_fits(struct walk *walk, const int64_t *label)
{
    for (uint32_t at = 0; at < walk->network->switches.count; at++)
        if (!order_fits_at(walk, at, label))
            return false;
    return !walk->self_link;
}

/* ---- what has to be looked at ---- */

/* Entries by which one waits for the packets of others to be gone, in the order of entries. */
struct lateness {
    uint32_t *first; /* by entry, one more at the end: rows of `waited_for` */
    uint32_t *waited_for;
};

static void sort_late(const struct repair *repair, struct lateness *late)
{
    size_t count = repair->entries.count;
    late->first = mem_zalloc(count + 2, sizeof *late->first);
    late->waited_for = mem_alloc((repair->waits.count + 1) * sizeof *late->waited_for);
    for (size_t i = 0; i < repair->waits.count; i++)
        late->first[repair->waits.items[i].entry + 2] += repair->waits.items[i].drain;
    for (size_t i = 0; i < count; i++)
        late->first[i + 1] += late->first[i];
    for (size_t i = 0; i < repair->waits.count; i++)
        if (repair->waits.items[i].drain)
            late->waited_for[late->first[repair->waits.items[i].entry + 1]++] =
                repair->entries.items[repair->waits.items[i].first].at;
}

/* Entries of one LID: those from `first` to `end`, or all of them if the address is new. */
static int check_column(struct walk *walk, const struct repair *repair, const struct lateness *late,
                        size_t first, size_t end, uint32_t lid, bool all, struct err *err)
{
    int rc = 0;
    walk->column++;
    for (size_t i = first; i < end; i++) {
        walk->places[repair->entries.items[i].at].old = repair->entries.items[i].before;
        bitset_add(walk->changed, repair->entries.items[i].at);
    }
    for (size_t i = first; i < end && !rc; i++) {
        for (uint32_t w = late->first[i]; w < late->first[i + 1]; w++)
            walk->places[late->waited_for[w]].waited_for = walk->column;
        rc = check_arrival(walk, repair->entries.items[i].at, lid, err);
        gather(walk, &repair->entries.items[i], late->first[i] < late->first[i + 1]);
        for (uint32_t w = late->first[i]; w < late->first[i + 1]; w++)
            walk->places[late->waited_for[w]].waited_for = 0;
    }
    bool live = all && repair->live && bitset_has(repair->live, lid);
    if (live)
        put_old(walk, repair, lid);
    for (uint32_t at = 0; all && at < walk->network->switches.count && !rc; at++) {
        struct repair_entry entry = {.at = at, .lid = (uint16_t)lid};
        entry.after = routes_port(walk->routes, at, lid);
        rc = check_arrival(walk, at, lid, err);
        if (!live && !bitset_has(walk->changed, at))
            gather(walk, &entry, false);
    }
    for (size_t i = first; i < end; i++)
        bitset_drop(walk->changed, repair->entries.items[i].at);
    return rc;
}

/* Both lists are in the order of LIDs. */
static int check_columns(struct walk *walk, const struct repair *repair, struct err *err)
{
    size_t count = repair->entries.count, next = 0, i = 0;
    struct lateness late;
    int rc = 0;
    sort_late(repair, &late);
    while ((i < count || next < repair->lids.count) && !rc) {
        uint32_t lid = i < count ? repair->entries.items[i].lid : UINT32_MAX;
        bool all = next < repair->lids.count && repair->lids.items[next] <= lid;
        if (all)
            lid = repair->lids.items[next++];
        size_t end = i;
        while (end < count && repair->entries.items[end].lid == lid)
            end++;
        rc = check_column(walk, repair, &late, i, end, lid, all, err);
        i = end;
    }
    mem_free(late.first);
    mem_free(late.waited_for);
    return rc;
}

/* Entries that lead out of a port whose link changed, and all of new switches. */
static int check_rows(struct walk *walk, const struct repair *repair, struct err *err)
{
    const struct network *network = walk->network;
    int rc = 0;
    for (size_t i = 0; i < repair->channels.count && !rc; i++) {
        uint32_t at = repair->channels.items[i].at;
        const uint8_t *row = routes_row(walk->routes, at);
        for (uint32_t lid = 1; lid <= network->top_lid && !rc; lid++)
            if (row[lid] == repair->channels.items[i].port) {
                walk->column++;
                rc = check_arrival(walk, at, lid, err);
            }
        walk->operations += network->top_lid / 16;
    }
    for (size_t i = 0; i < repair->switches.count && !rc; i++)
        for (uint32_t lid = 1; lid <= network->top_lid && !rc; lid++) {
            walk->column++;
            rc = check_arrival(walk, repair->switches.items[i], lid, err);
        }
    return rc;
}

int verify_change(const struct network *network, const struct routes *routes,
                  const struct repair *repair, struct dependency_graph *graph, uint64_t *operations,
                  struct err *err)
{
    uint32_t switches = (uint32_t)network->switches.count;
    struct walk walk = {.network = network, .routes = routes, .graph = graph};
    walk.part = mem_alloc((switches + 1) * sizeof *walk.part);
    walk.places = mem_zalloc(switches + 1, sizeof *walk.places);
    walk.changed = mem_zalloc(BITSET_WORDS(switches + 1u), sizeof *walk.changed);
    walk.full = mem_zalloc(network->ports.count + 1, 1);
    network_parts(network, walk.part);
    int rc = check_columns(&walk, repair, err);
    if (!rc)
        rc = check_rows(&walk, repair, err);
    if (!rc && !order_fits(&walk, repair->standing.label))
        rc = err_set(err, EDEADLK, "the repaired tables could deadlock");
    *operations += walk.operations;
    mem_free(walk.part);
    mem_free(walk.places);
    mem_free(walk.changed);
    mem_free(walk.full);
    vec_release(&walk.path);
    return rc;
}
