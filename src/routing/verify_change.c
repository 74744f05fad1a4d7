/* Changed entries come column by column, so each column is looked at once: its old entries are laid
 * out by switch, every changed entry is walked to the end, and what arrives there is asked of the
 * neighbours.
 *
 * With one lane, every switch counts as a sender to a terminal. Then it is enough to note what an
 * entry and the next one give rise to: what follows is due to the next switch's own route, which is
 * either unchanged and known, or looked at itself.
 *
 * Where many entries for the same 64 LIDs have changed, these columns are copied first, so that
 * they lie close together.
 *
 * Workers take a range of LIDs each, and find what these give rise to in a graph of their own. */
#include "routing/verify_change.h"

#include "base/bitset.h"

#include <errno.h>
#include <stdlib.h>
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
    const uint32_t *part;
    uint32_t column;
    struct place *places; /* by switch */
    uint64_t *changed;    /* switches whose entry changed */
    uint64_t *unknown; /* by channel of switches with few ports, if it was asked: inputs that … */
    uint8_t *asked;    /* … are not known to be followed by it */
    const uint8_t *ports; /* the entries that are looked at: [switch * row + LID - first] */
    uint8_t *copy;        /* those of a block */
    const uint8_t *fresh; /* by channel: its link is another one */
    bool whole;           /* the old entries for this LID may be ones that nobody has seen */
    uint32_t row, first;
    VEC(uint32_t) path;
    bool self_link; /* an entry leads a switch to itself */
    uint64_t operations;
};

/* An entry of the block that is looked at. */
static inline uint8_t port_of(const struct walk *walk, uint32_t at, uint32_t lid)
{
    return walk->ports[(size_t)at * walk->row + lid - walk->first];
}

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
        uint8_t port = port_of(walk, at, lid);
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
    return bitset_has(walk->changed, at) ? walk->places[at].old : port_of(walk, at, lid);
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
        if (age == NEW && port_of(walk, edge->to, lid) == edge->to_port)
            lanes |= lanes_from(walk, edge->to, lid, NEW);
    }
    place->lanes[age] = lanes;
    return lanes;
}

static void put(struct walk *walk, uint32_t at, uint8_t in, uint8_t out, uint16_t lanes)
{
    walk->operations++;
    if (walk->graph->vls == 1 && out <= walk->network->switches.items[at].port_count &&
        bitset_has(dependency_row(walk->graph, at, in, 0), out))
        return;
    uint32_t end = end_behind(walk, at, out);
    if (out == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
        return;
    walk->self_link |= end == (NETWORK_SWITCH | at);
    for (unsigned left = lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctz(left);
        dependency_add(walk->graph, at, in, lane, out, lane);
    }
}

/* What comes to a switch from one neighbour and leaves by the changed entry. `late`: those who are
 * waited for send nothing here any more. */
static void gather_from(struct walk *walk, const struct repair_entry *entry,
                        const struct network_edge *edge, bool late)
{
    uint32_t lid = entry->lid;
    if (port_of(walk, edge->to, lid) == edge->to_port)
        put(walk, entry->at, edge->port, entry->after, lanes_from(walk, edge->to, lid, NEW));
    bool gone = late && walk->places[edge->to].waited_for == walk->column;
    if (!gone && old_port(walk, edge->to, lid) == edge->to_port)
        put(walk, entry->at, edge->port, entry->after, lanes_from(walk, edge->to, lid, OLD));
}

/* The inputs of which it is not known that they are followed by an output; one lane, few ports. */
static uint64_t *ask_unknown(struct walk *walk, uint32_t at, uint8_t out)
{
    const struct network *network = walk->network;
    uint32_t channel = network->switches.items[at].first_port + out;
    if (!walk->asked[channel]) {
        const uint64_t *rows = dependency_row(walk->graph, at, 0, 0);
        uint64_t unknown = 0;
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++)
            unknown |= (~rows[network->edges[e].port] >> out & 1) << network->edges[e].port;
        walk->asked[channel] = 1;
        walk->unknown[channel] = unknown;
        walk->operations += network->first_edge[at + 1] - network->first_edge[at];
    }
    return &walk->unknown[channel];
}

/* Everybody sends to a terminal. Those who do it by a new entry note what follows themselves; by an
 * old one came only what is known to have left by the old entry here, if that link is still the
 * same. */
static void gather_old_arrivals(struct walk *walk, const struct repair_entry *entry, bool late)
{
    const struct network *network = walk->network;
    const struct network_switch *node = &network->switches.items[entry->at];
    uint64_t *unknown = ask_unknown(walk, entry->at, entry->after), left = *unknown;
    if (entry->before && entry->before <= node->port_count &&
        !walk->fresh[node->first_port + entry->before] && !walk->whole)
        left &= ~*ask_unknown(walk, entry->at, entry->before);
    for (; left; left &= left - 1) {
        unsigned in = (unsigned)__builtin_ctzll(left);
        const struct network_port *link = &network->ports.items[node->first_port + in];
        uint32_t from = link->peer & ~NETWORK_SWITCH;
        walk->operations++;
        if (old_port(walk, from, entry->lid) != link->peer_port ||
            (late && walk->places[from].waited_for == walk->column))
            continue;
        put(walk, entry->at, (uint8_t)in, entry->after, 1);
        *unknown &= ~(UINT64_C(1) << in);
    }
}

static void gather_arrivals(struct walk *walk, const struct repair_entry *entry, bool late)
{
    const struct network *network = walk->network;
    uint32_t first = network->first_edge[entry->at], end = network->first_edge[entry->at + 1];
    for (uint32_t e = first; e < end; e++)
        gather_from(walk, entry, &network->edges[e], late);
    walk->operations += end - first;
}

/* The same, and how that goes on. */
static void gather(struct walk *walk, const struct repair_entry *entry, bool late)
{
    const struct network *network = walk->network;
    uint32_t at = entry->at, lid = entry->lid, owner = owner_of(walk, lid);
    bool brief = walk->graph->vls == 1 && !(owner & NETWORK_SWITCH);
    if (brief && network->switches.items[at].port_count < 64 &&
        entry->after <= network->switches.items[at].port_count)
        gather_old_arrivals(walk, entry, late);
    else
        gather_arrivals(walk, entry, late);
    uint16_t lanes = brief ? 1 : lanes_from(walk, at, lid, NEW);
    uint8_t port = entry->after;
    for (uint32_t hops = 0; hops < (brief ? 1 : network->switches.count); hops++) {
        uint32_t end = end_behind(walk, at, port);
        if (port == 0 || end == NETWORK_NONE || !(end & NETWORK_SWITCH))
            return;
        uint8_t in = network->ports.items[network->switches.items[at].first_port + port].peer_port;
        at = end & ~NETWORK_SWITCH;
        port = port_of(walk, at, lid);
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

static bool order_fits(struct walk *walk, const int64_t *label, uint32_t first, uint32_t end)
{
    for (uint32_t at = first; at < end; at++)
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

/* Entries that are as they were, but lead out of a link that is another one, or are those of a new
 * switch: all that they give rise to is new. By LID. */
struct kept {
    uint16_t lid;
    uint32_t at;
};

struct change {
    const struct repair *repair;
    struct lateness late;
    VEC(struct kept) kept;
};

/* What is next in each of the lists; all are in the order of LIDs. */
struct cursor {
    size_t entry, kept, lid;
};

/* Entries that come soon: what their routes meet first is fetched meanwhile. */
static void fetch_ahead(const struct walk *walk, const struct repair *repair, size_t i)
{
    enum { SOON = 4, LATER = 10 };
    if (i + LATER >= repair->entries.count)
        return;
    const struct repair_entry *soon = &repair->entries.items[i + SOON],
                              *later = soon - SOON + LATER;
    uint32_t next = end_behind(walk, later->at, later->after) & ~NETWORK_SWITCH;
    if (next < walk->routes->switch_count)
        __builtin_prefetch(routes_row(walk->routes, next) + later->lid);
    next = end_behind(walk, soon->at, soon->after) & ~NETWORK_SWITCH;
    if (next >= walk->routes->switch_count)
        return;
    next = end_behind(walk, next, routes_row(walk->routes, next)[soon->lid]) & ~NETWORK_SWITCH;
    if (next < walk->routes->switch_count)
        __builtin_prefetch(routes_row(walk->routes, next) + soon->lid);
}

/* Entries of one LID that changed, up to `end`. */
static int check_entries(struct walk *walk, const struct change *change, size_t first, size_t end,
                         struct err *err)
{
    const struct repair_entry *entries = change->repair->entries.items;
    const struct lateness *late = &change->late;
    int rc = 0;
    for (size_t i = first; i < end && !rc; i++) {
        if (walk->ports != walk->copy)
            fetch_ahead(walk, change->repair, i);
        for (uint32_t w = late->first[i]; w < late->first[i + 1]; w++)
            walk->places[late->waited_for[w]].waited_for = walk->column;
        rc = check_arrival(walk, entries[i].at, entries[i].lid, err);
        gather(walk, &entries[i], late->first[i] < late->first[i + 1]);
        for (uint32_t w = late->first[i]; w < late->first[i + 1]; w++)
            walk->places[late->waited_for[w]].waited_for = 0;
    }
    return rc;
}

/* One that is as it was. */
static int check_kept(struct walk *walk, uint32_t at, uint32_t lid, struct err *err)
{
    struct repair_entry entry = {.at = at, .lid = (uint16_t)lid};
    entry.after = port_of(walk, at, lid);
    int rc = check_arrival(walk, at, lid, err);
    if (!bitset_has(walk->changed, at))
        gather(walk, &entry, false);
    return rc;
}

/* Entries of one LID; all of them if the address is new. */
static int check_column(struct walk *walk, const struct change *change, struct cursor *next,
                        uint32_t lid, struct err *err)
{
    const struct repair *repair = change->repair;
    bool all = next->lid < repair->lids.count && repair->lids.items[next->lid] == lid;
    size_t first = next->entry;
    walk->column++;
    walk->whole = all;
    for (; next->entry < repair->entries.count && repair->entries.items[next->entry].lid == lid;
         next->entry++) {
        walk->places[repair->entries.items[next->entry].at].old =
            repair->entries.items[next->entry].before;
        bitset_add(walk->changed, repair->entries.items[next->entry].at);
    }
    int rc = check_entries(walk, change, first, next->entry, err);
    for (; next->kept < change->kept.count && change->kept.items[next->kept].lid == lid;
         next->kept++)
        if (!rc && owner_of(walk, lid) != NETWORK_NONE)
            rc = check_kept(walk, change->kept.items[next->kept].at, lid, err);
    bool live = all && repair->live && bitset_has(repair->live, lid);
    if (live)
        put_old(walk, repair, lid);
    for (uint32_t at = 0; all && at < walk->network->switches.count && !rc; at++)
        rc = live ? check_arrival(walk, at, lid, err) : check_kept(walk, at, lid, err);
    for (size_t i = first; i < next->entry; i++)
        bitset_drop(walk->changed, repair->entries.items[i].at);
    next->lid += all;
    return rc;
}

/* The lowest LID of what is left to be looked at, or UINT32_MAX. */
static uint32_t next_lid(const struct change *change, const struct cursor *next)
{
    const struct repair *repair = change->repair;
    uint32_t lid = UINT32_MAX;
    if (next->entry < repair->entries.count)
        lid = repair->entries.items[next->entry].lid;
    if (next->kept < change->kept.count && change->kept.items[next->kept].lid < lid)
        lid = change->kept.items[next->kept].lid;
    if (next->lid < repair->lids.count && repair->lids.items[next->lid] < lid)
        lid = repair->lids.items[next->lid];
    return lid;
}

/* Many entries of one block are worth a copy of its columns. */
static void begin_block(struct walk *walk, const struct change *change, size_t entry, uint32_t lid)
{
    const struct routes *routes = walk->routes;
    const struct repair *repair = change->repair;
    uint32_t first = lid - lid % ROUTES_BLOCK;
    size_t far = entry + routes->switch_count / 2;
    walk->first = first;
    walk->row = routes->stride;
    walk->ports = routes->ports + first;
    if (far >= repair->entries.count || repair->entries.items[far].lid >= first + ROUTES_BLOCK)
        return;
    enum { AHEAD = 16 };
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        if (at + AHEAD < routes->switch_count)
            __builtin_prefetch(routes_row(routes, at + AHEAD) + first);
        memcpy(walk->copy + (size_t)at * ROUTES_BLOCK, routes_row(routes, at) + first,
               ROUTES_BLOCK);
    }
    walk->operations += routes->switch_count;
    walk->ports = walk->copy;
    walk->row = ROUTES_BLOCK;
}

/* LIDs from `first` up to, not including, `end`. */
static int check_columns(struct walk *walk, const struct change *change, uint32_t first,
                         uint32_t end, struct err *err)
{
    struct cursor next = {0};
    uint32_t lid;
    int rc = 0;
    while (next.entry < change->repair->entries.count &&
           change->repair->entries.items[next.entry].lid < first)
        next.entry++;
    while (next.kept < change->kept.count && change->kept.items[next.kept].lid < first)
        next.kept++;
    while (next.lid < change->repair->lids.count && change->repair->lids.items[next.lid] < first)
        next.lid++;
    walk->first = UINT32_MAX;
    while ((lid = next_lid(change, &next)) < end && !rc) {
        if (lid - lid % ROUTES_BLOCK != walk->first)
            begin_block(walk, change, next.entry, lid);
        rc = check_column(walk, change, &next, lid, err);
    }
    return rc;
}

static int compare_kept(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->lid != y->lid)
        return x->lid < y->lid ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Entries that lead out of a port whose link changed, and all of new switches. */
static void find_kept(const struct network *network, const struct routes *routes,
                      struct change *change)
{
    const struct repair *repair = change->repair;
    uint32_t end = network->top_lid < routes->stride ? network->top_lid + 1u : routes->stride;
    for (size_t i = 0; i < repair->channels.count; i++) {
        struct repair_channel channel = repair->channels.items[i];
        const uint8_t *row = routes_row(routes, channel.at), *found = row;
        while ((found = memchr(found + 1, channel.port, (size_t)(row + end - (found + 1)))) != NULL)
            vec_push(&change->kept, ((struct kept){(uint16_t)(found - row), channel.at}));
    }
    for (size_t i = 0; i < repair->switches.count; i++)
        for (uint32_t lid = 1; lid < end; lid++)
            vec_push(&change->kept, ((struct kept){(uint16_t)lid, repair->switches.items[i]}));
    if (change->kept.count)
        qsort(change->kept.items, change->kept.count, sizeof *change->kept.items, compare_kept);
}

/* ---- the work ---- */

enum { SLICES = 16 };

struct slice {
    struct walk walk;
    uint32_t first, end; /* LIDs */
    struct dependency_graph graph;
    struct err err;
    int rc;
    bool ordered;
};

struct check {
    struct change change;
    unsigned slice_count;
    struct slice slices[SLICES];
};

static void walk_init(struct walk *walk, const struct network *network, const struct routes *routes,
                      const struct change *change)
{
    uint32_t switches = (uint32_t)network->switches.count;
    *walk = (struct walk){.network = network,
                          .routes = routes,
                          .fresh = change->repair->fresh,
                          .ports = routes->ports};
    walk->places = mem_zalloc(switches + 1, sizeof *walk->places);
    walk->changed = mem_zalloc(BITSET_WORDS(switches + 1u), sizeof *walk->changed);
    walk->asked = mem_zalloc(network->ports.count + 1, 1);
    walk->unknown = mem_alloc((network->ports.count + 1) * sizeof *walk->unknown);
    walk->copy = mem_alloc((size_t)(switches + 1) * ROUTES_BLOCK);
}

static void walk_release(struct walk *walk)
{
    mem_free(walk->places);
    mem_free(walk->changed);
    mem_free(walk->asked);
    mem_free(walk->unknown);
    mem_free(walk->copy);
    vec_release(&walk->path);
}

static void check_slice(void *context, size_t index)
{
    struct check *check = context;
    struct slice *slice = &check->slices[index];
    slice->rc = check_columns(&slice->walk, &check->change, slice->first, slice->end, &slice->err);
}

static void order_slice(void *context, size_t index)
{
    struct check *check = context;
    struct slice *slice = &check->slices[index];
    size_t switches = slice->walk.network->switches.count;
    slice->ordered = order_fits(&slice->walk, check->change.repair->standing.label,
                                (uint32_t)(index * switches / check->slice_count),
                                (uint32_t)((index + 1) * switches / check->slice_count));
}

/* Slices have about as many entries each, and blocks of LIDs as a whole. More than one is worth it
 * where entries are more work than other graphs. */
static void cut_slices(struct check *check, const struct dependency_graph *graph,
                       const struct workers *workers)
{
    const struct repair *repair = check->change.repair;
    size_t words = graph->first_word[graph->network->switches.count];
    size_t count = repair->entries.count;
    unsigned wanted = words / 16 < count ? workers_count(workers) : 1;
    check->slice_count = wanted < SLICES ? wanted : SLICES;
    for (unsigned i = 0; i < check->slice_count; i++) {
        uint32_t lid = i ? repair->entries.items[i * count / check->slice_count].lid : 0;
        check->slices[i].first = lid - lid % ROUTES_BLOCK;
        check->slices[i].end = UINT32_MAX;
        if (i)
            check->slices[i - 1].end = check->slices[i].first;
    }
}

/* The first error, by LID. */
static int join_slices(struct check *check, struct dependency_graph *graph, struct err *err)
{
    int rc = 0;
    for (unsigned i = 0; i < check->slice_count; i++) {
        struct slice *slice = &check->slices[i];
        if (i) {
            dependency_merge(graph, &slice->graph);
            dependency_release(&slice->graph);
        }
        slice->walk.graph = graph;
        if (slice->rc && !rc) {
            rc = slice->rc;
            if (err)
                *err = slice->err;
        }
    }
    return rc;
}

int verify_change(const struct network *network, const struct routes *routes,
                  const struct repair *repair, const struct workers *workers,
                  struct dependency_graph *graph, uint64_t *operations, struct err *err)
{
    struct check check = {.change = {.repair = repair}};
    uint32_t *part = mem_alloc((network->switches.count + 1) * sizeof *part);
    bool ordered = true;
    network_parts(network, part);
    sort_late(repair, &check.change.late);
    find_kept(network, routes, &check.change);
    *operations += repair->channels.count * (network->top_lid / 16u);
    cut_slices(&check, graph, workers);
    for (unsigned i = 0; i < check.slice_count; i++) {
        struct slice *slice = &check.slices[i];
        walk_init(&slice->walk, network, routes, &check.change);
        if (i)
            dependency_copy(&slice->graph, graph);
        slice->walk.graph = i ? &slice->graph : graph;
        slice->walk.part = part;
    }
    workers_run(workers, check.slice_count, check_slice, &check);
    int rc = join_slices(&check, graph, err);
    if (!rc)
        workers_run(workers, check.slice_count, order_slice, &check);
    for (unsigned i = 0; i < check.slice_count; i++) {
        ordered &= check.slices[i].ordered;
        *operations += check.slices[i].walk.operations;
        walk_release(&check.slices[i].walk);
    }
    if (!rc && !ordered)
        rc = err_set(err, EDEADLK, "the repaired tables could deadlock");
    mem_free(part);
    mem_free(check.change.late.first);
    mem_free(check.change.late.waited_for);
    vec_release(&check.change.kept);
    return rc;
}
