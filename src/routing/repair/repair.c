/* The work of a repair, and what is mended row by row; the rest is for repair_batch.c and
 * repair_column.c.
 *
 * Rows of neighbours lie close together in memory, and the entries of one row that lead out of one
 * port have much in common; so the entries that lead out of links which are gone are replaced
 * switch by switch, without looking at anybody who sends to them. */
#include "routing/repair/repair.h"

#include "routing/check/verify.h"
#include "routing/repair/repair_columns.h"

#include <errno.h>
#include <string.h>

void repair_release(struct repair *repair)
{
    standing_release(&repair->standing);
    vec_release(&repair->ends);
    vec_release(&repair->stale);
    vec_release(&repair->switches);
    vec_release(&repair->lids);
    vec_release(&repair->entries);
    vec_release(&repair->waits);
    mem_free(repair->fresh);
    mem_free(repair->live);
    *repair = (struct repair){0};
}

/* ---- row by row ---- */

/* Whether a switch arrives in so many hops, by nothing that is not what it was. */
static bool arrives_in(const struct repair_column *column, uint32_t at, uint32_t lid, uint32_t end,
                       uint32_t hops)
{
    const struct network *network = column->network;
    uint8_t in;
    for (; hops && at != end && at != NETWORK_NONE; hops--) {
        uint8_t port = routes_port(column->routes, at, lid);
        if (port > network->switches.items[at].port_count ||
            column->repair->fresh[network->switches.items[at].first_port + port])
            return false;
        at = standing_next(network, at, port, &in);
        column->repair->operations++;
    }
    return at == end && hops == 0;
}

/* The last that was found to arrive, and in how many hops. An entry that is replaced leads to
 * somebody as near, so that this stays as it is. */
struct arrival {
    uint32_t at;
    uint16_t hops; /* one more; 0: none */
};

/* Whether a hop may follow those of the inputs that are used, where that is not known. */
static bool take_inputs(struct repair_column *column, uint32_t at, uint32_t lid, uint8_t out,
                        const uint64_t *ins)
{
    const struct network *network = column->network;
    struct standing *standing = &column->repair->standing;
    const struct network_port *ports =
        &network->ports.items[network->switches.items[at].first_port];
    size_t words = dependency_row_words(&standing->behind, at);
    const uint64_t *known = dependency_row(&standing->behind, at, out, 0);
    bool fits = true;
    for (size_t word = 0; word < words && fits; word++) {
        column->repair->operations++;
        for (uint64_t left = ins[word] & ~known[word]; left && fits; left &= left - 1) {
            struct standing_edge edge = {at, (uint8_t)(word * 64 + (unsigned)__builtin_ctzll(left)),
                                         out, 0};
            const struct network_port *link = &ports[edge.in];
            column->repair->operations++;
            if (routes_row(column->routes, link->peer & ~NETWORK_SWITCH)[lid] == link->peer_port)
                fits = standing_fits(standing, edge) && standing_add(standing, edge);
        }
    }
    return fits;
}

/* Whether all that comes to a switch now, by some of the inputs, may leave by the hop, and go on
 * from there; if so it is noted. */
static bool take_hop(struct repair_column *column, uint32_t at, uint32_t lid,
                     const struct network_edge *hop, const uint64_t *ins)
{
    const struct network *network = column->network;
    struct standing *standing = &column->repair->standing;
    struct standing_edge edge = {hop->to, hop->to_port, 0, 0};
    bool fits = take_inputs(column, at, lid, hop->port, ins);
    /* To a terminal everybody sends; so what follows is known, because the next one arrives. */
    bool brief = !(network->owner[lid] & NETWORK_SWITCH), more = true;
    while (fits && more) {
        uint8_t in;
        edge.out = routes_port(column->routes, edge.at, lid);
        uint32_t to = standing_next(network, edge.at, edge.out, &in);
        if (to == NETWORK_NONE)
            break;
        fits = standing_has(standing, edge) ||
               (standing_fits(standing, edge) && standing_add(standing, edge));
        edge = (struct standing_edge){to, in, 0, 0};
        more = !brief;
    }
    if (fits)
        standing_keep(standing);
    else
        standing_undo(standing);
    return fits;
}

/* What is known of the switch whose entries are replaced, and what the last of them taught. */
struct lesson {
    struct arrival *arrivals; /* by LID, whatever the switch */
    uint64_t links[4];        /* its ports that lead to switches */
    uint64_t fresh[4];        /* those of them that are not what they were */
    size_t loss;              /* where its first is in standing.graph.losses, if there is any */
    uint8_t before;           /* the last entry that was replaced … */
    uint64_t ins[4];          /* … and the inputs that may be used by what left by it */
    /* The ports that served, or were not tried: a heap, the least used one first. Behind it are the
     * others, which did not serve when one of these did. */
    unsigned likely_count;
    struct likely {
        uint64_t use; /* lower ports come first where that is the same */
        const struct network_edge *hop;
    } likely[NETWORK_TOP_PORT + 1];
    uint32_t lost_goal; /* for this switch there was no port */
};

static void sink(struct lesson *lesson, unsigned i)
{
    struct likely moved = lesson->likely[i];
    for (unsigned child; (child = 2 * i + 1) < lesson->likely_count; i = child) {
        if (child + 1 < lesson->likely_count &&
            lesson->likely[child + 1].use < lesson->likely[child].use)
            child++;
        if (moved.use <= lesson->likely[child].use)
            break;
        lesson->likely[i] = lesson->likely[child];
    }
    lesson->likely[i] = moved;
}

static void swap_likely(struct lesson *lesson, unsigned a, unsigned b)
{
    struct likely moved = lesson->likely[a];
    lesson->likely[a] = lesson->likely[b];
    lesson->likely[b] = moved;
}

static uint64_t use_of(const struct repair_column *column, uint32_t at, uint8_t port)
{
    const struct repair *repair = column->repair;
    return repair->standing.load[column->network->switches.items[at].first_port + port] << 8 | port;
}

/* Of all that are in the heap. */
static void sort_likely(const struct repair_column *column, uint32_t at, struct lesson *lesson)
{
    for (unsigned i = 0; i < lesson->likely_count; i++)
        lesson->likely[i].use = use_of(column, at, lesson->likely[i].hop->port);
    for (unsigned i = lesson->likely_count / 2; i-- > 0;)
        sink(lesson, i);
}

static void begin_lesson(struct repair_column *column, uint32_t at, struct lesson *lesson)
{
    const struct network *network = column->network;
    const struct repair *repair = column->repair;
    memset(lesson->links, 0, sizeof lesson->links);
    memset(lesson->fresh, 0, sizeof lesson->fresh);
    lesson->likely_count = 0;
    lesson->before = PORT_NONE;
    const struct dependency_graph *graph = &repair->standing.graph;
    for (size_t i = 0; i < graph->losses.count; i++) {
        size_t loss = (lesson->loss + i) % graph->losses.count;
        if (graph->losses.items[loss].at == at) {
            lesson->loss = loss;
            break;
        }
    }
    lesson->lost_goal = NETWORK_NONE;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint8_t port = network->edges[e].port;
        bitset_add(lesson->links, port);
        if (repair->fresh[network->switches.items[at].first_port + port])
            bitset_add(lesson->fresh, port);
        lesson->likely[lesson->likely_count++].hop = &network->edges[e];
    }
    sort_likely(column, at, lesson);
    column->repair->operations += lesson->likely_count;
}

/* The inputs by which somebody may send what is to leave by another port than this: those that are
 * known to have done so, and links that are new to the tables. */
static const uint64_t *inputs_of(const struct repair *repair, uint32_t at, uint8_t before,
                                 struct lesson *lesson)
{
    const struct dependency_loss *losses = repair->standing.graph.losses.items;
    size_t i = lesson->loss, count = repair->standing.graph.losses.count;
    if (before == lesson->before)
        return lesson->ins;
    lesson->before = before;
    memcpy(lesson->ins, lesson->links, sizeof lesson->ins);
    while (i < count && losses[i].at == at && losses[i].port != before)
        i++;
    if (i == count || losses[i].at != at)
        return lesson->ins;
    for (unsigned word = 0; word < 4; word++)
        lesson->ins[word] &= losses[i].ins[word] | lesson->fresh[word];
    return lesson->ins;
}

/* Whether a hop leads to somebody who is that near. */
static bool leads_near(const struct repair_column *column, const struct repair_end *end,
                       uint32_t goal, const struct network_edge *hop, struct arrival *known)
{
    if (known->at == hop->to && known->hops == end->hops)
        return true;
    if (!arrives_in(column, hop->to, end->lid, goal, end->hops - 1u))
        return false;
    *known = (struct arrival){hop->to, end->hops};
    return true;
}

/* Looks at all ports; those that lead near are the heap then. False if there is none: that says
 * nothing of other goals, and the heap stays as it is. */
static bool find_likely(const struct repair_column *column, const struct repair_end *end,
                        uint32_t goal, struct lesson *lesson)
{
    const struct network *network = column->network;
    unsigned all = network->first_edge[end->at + 1] - network->first_edge[end->at], count = 0;
    for (unsigned i = 0; i < all; i++)
        if (leads_near(column, end, goal, lesson->likely[i].hop, &lesson->arrivals[end->lid]))
            swap_likely(lesson, i, count++);
    if (count) {
        lesson->likely_count = count;
        sort_likely(column, end->at, lesson);
    }
    return count;
}

/* The least used of the ports that lead near, and that what comes here may take, if anything does
 * that counts; NULL: none. It is the first of the heap now. */
static const struct network_edge *find_hop(struct repair_column *column,
                                           const struct repair_end *end, uint32_t goal,
                                           const uint64_t *ins, struct lesson *lesson)
{
    struct arrival *known = &lesson->arrivals[end->lid];
    for (bool looked = false;;) {
        const struct network_edge *hop = lesson->likely_count ? lesson->likely[0].hop : NULL;
        bool near = hop && (looked || leads_near(column, end, goal, hop, known));
        if (near && (!ins || take_hop(column, end->at, end->lid, hop, ins)))
            return hop;
        if (!near && (looked || !find_likely(column, end, goal, lesson)))
            return NULL;
        if (near) {
            swap_likely(lesson, 0, --lesson->likely_count);
            sink(lesson, 0);
        }
        looked |= !near;
    }
}

/* Replaces an entry by one that leads to somebody as near. */
static bool replace_end(struct repair_column *column, const struct repair_end *end,
                        struct lesson *lesson)
{
    const struct network *network = column->network;
    uint32_t owner = network->owner[end->lid], at = end->at;
    uint32_t goal = network_switch_of(network, owner);
    if (goal == lesson->lost_goal)
        return false;
    bool carries = !(owner & NETWORK_SWITCH) || repair_column_carries(column, end->lid, at);
    uint8_t before = routes_port(column->routes, at, end->lid);
    const uint64_t *ins = carries ? inputs_of(column->repair, at, before, lesson) : NULL;
    const struct network_edge *hop = find_hop(column, end, goal, ins, lesson);
    if (!hop) {
        lesson->lost_goal = goal;
        return false;
    }
    repair_change_entry(column, at, end->lid, hop->port);
    lesson->likely[0].use = use_of(column, at, hop->port);
    sink(lesson, 0);
    if (bitset_has(lesson->links, before)) /* which is another link now, and is used less */
        sort_likely(column, at, lesson);
    column->repair->broken++;
    return true;
}

/* ---- the work ---- */

/* Where ends of a LID are left its column is mended as a whole, with the entries as they were: what
 * was replaced may lead to those that are left. `count` ends are; returns how many there are then.
 */
static size_t take_back(struct repair_column *column, struct repair_columns *columns, size_t first,
                        size_t count)
{
    struct repair *repair = column->repair;
    size_t replaced = repair->entries.count, kept = first;
    for (size_t i = first; i < replaced; i++) {
        struct repair_entry entry = repair->entries.items[i];
        if (columns->first[entry.lid + 1] == 0) {
            repair->entries.items[kept++] = entry;
            continue;
        }
        repair_change_entry(column, entry.at, entry.lid, entry.before);
        columns->first[entry.lid + 1]++;
        repair->broken--;
        repair->ends.items[count++] = (struct repair_end){entry.at, entry.lid, 0};
    }
    repair->entries.count = kept;
    return count;
}

static void replace_ends(struct repair_column *column, struct repair_columns *columns)
{
    struct repair *repair = column->repair;
    const struct network *network = column->network;
    uint32_t lids = network->top_lid + 1u, at = NETWORK_NONE;
    struct lesson lesson = {.arrivals = mem_zalloc(lids, sizeof *lesson.arrivals)};
    size_t left = 0, first = repair->entries.count;
    for (size_t i = 0; i < repair->lids.count; i++)
        columns->all[repair->lids.items[i]] = 1;
    for (size_t i = 0; i < repair->ends.count; i++) {
        const struct repair_end *end = &repair->ends.items[i];
        if (end->at != at) {
            at = end->at;
            begin_lesson(column, at, &lesson);
        }
        if (end->hops && repair->standing.graph.vls == 1 && !columns->all[end->lid] &&
            replace_end(column, end, &lesson))
            continue;
        columns->first[end->lid + 1]++;
        repair->ends.items[left++] = *end;
    }
    mem_free(lesson.arrivals);
    left = take_back(column, columns, first, left);
    repair->ends.count = left;
    for (uint32_t lid = 0; lid < lids; lid++)
        columns->first[lid + 1] += columns->first[lid];
    columns->at = mem_alloc((left + 1) * sizeof *columns->at);
    uint32_t *next = mem_alloc((lids + 1) * sizeof *next);
    memcpy(next, columns->first, (lids + 1) * sizeof *next);
    for (size_t i = 0; i < left; i++)
        columns->at[next[repair->ends.items[i].lid]++] = repair->ends.items[i].at;
    mem_free(next);
}

/* Entries for addresses that nobody has: those that led nowhere, but would not now, or all. */
static void close_old_ways(struct repair_column *column)
{
    const struct network *network = column->network;
    const struct repair *repair = column->repair;
    VEC(uint32_t) nobodys = {0};
    for (uint32_t lid = 1; lid <= column->routes->top_lid; lid++)
        if (lid > network->top_lid || network->owner[lid] == NETWORK_NONE)
            vec_push(&nobodys, lid);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        if (!repair->tidy && !memchr(repair->fresh + node->first_port, 1, node->port_count + 1u))
            continue;
        const uint8_t *row = routes_row(column->routes, at);
        bool close[256] = {0}, any = false;
        for (unsigned port = 0; port <= node->port_count; port++)
            any |= close[port] =
                repair->tidy ||
                (repair->fresh[node->first_port + port] &&
                 network->ports.items[node->first_port + port].peer != NETWORK_NONE);
        for (size_t i = 0; any && i < nobodys.count; i++)
            if (close[row[nobodys.items[i]]])
                repair_change_entry(column, at, nobodys.items[i], PORT_NONE);
    }
    vec_release(&nobodys);
}

/* By LID, those of one LID in the order in which they came. */
static void sort_entries(struct repair *repair, uint32_t lids)
{
    size_t count = repair->entries.count;
    uint32_t *next = mem_zalloc(lids + 2u, sizeof *next);
    uint32_t *place = mem_alloc((count + 1) * sizeof *place);
    struct repair_entry *sorted = mem_alloc((count + 1) * sizeof *sorted);
    for (size_t i = 0; i < count; i++)
        next[repair->entries.items[i].lid + 1]++;
    for (uint32_t lid = 0; lid < lids; lid++)
        next[lid + 1] += next[lid];
    for (size_t i = 0; i < count; i++) {
        place[i] = next[repair->entries.items[i].lid]++;
        sorted[place[i]] = repair->entries.items[i];
    }
    for (size_t i = 0; i < repair->waits.count; i++) {
        repair->waits.items[i].entry = place[repair->waits.items[i].entry];
        repair->waits.items[i].first = place[repair->waits.items[i].first];
    }
    vec_release(&repair->entries);
    repair->entries.items = sorted;
    repair->entries.count = count;
    repair->entries.capacity = count + 1;
    mem_free(next);
    mem_free(place);
}

int repair_tables(struct repair *repair, const struct network *network, struct routes *routes,
                  const struct workers *workers, struct err *err)
{
    struct repair_column column;
    struct repair_columns columns = {.first =
                                         mem_zalloc(network->top_lid + 2u, sizeof *columns.first),
                                     .all = mem_zalloc(network->top_lid + 2u, 1)};
    repair->whole = true;
    repair_column_init(&column, network, routes, repair);
    standing_begin(&repair->standing);
    close_old_ways(&column);
    replace_ends(&column, &columns);
    bool mended = repair_mend_columns(&column, &columns, workers);
    repair->operations +=
        repair->standing.operations + column.distances.operations + column.block.operations;
    repair->standing.operations = 0;
    standing_end(&repair->standing);
    repair_column_release(&column);
    mem_free(columns.first);
    mem_free(columns.at);
    mem_free(columns.all);
    repair->standing.known = repair->whole;
    if (mended) {
        sort_entries(repair, routes->stride);
        return 0;
    }
    repair_undo(repair, routes);
    return err_set(err, EDEADLK, "no next hop is left that keeps the rest as it is");
}

/* The tables without the entries that do not arrive. */
static void keep_arriving(struct repair *repair, const struct network *network,
                          const struct routes *routes, struct routes *kept)
{
    struct repair_column column;
    routes_init(kept, network, routes->engine);
    for (uint32_t at = 0; at < kept->switch_count; at++)
        memcpy(routes_row(kept, at), routes_row(routes, at),
               kept->stride < routes->stride ? kept->stride : routes->stride);
    kept->vls = routes->vls;
    kept->offsets = routes->offsets;
    repair_column_init(&column, network, kept, repair);
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        if (network->owner[lid] == NETWORK_NONE)
            continue;
        repair_column_begin(&column, lid);
        repair_column_look(&column);
        for (size_t i = 0; i < column.broken.count; i++) {
            routes_row(kept, column.broken.items[i])[lid] = PORT_NONE;
            vec_push(&repair->ends,
                     ((struct repair_end){column.broken.items[i], (uint16_t)lid, 0}));
        }
    }
    repair->entries.count = 0;
    repair_column_release(&column);
}

int repair_patiently(struct repair *repair, const struct network *network, struct routes *routes,
                     struct err *err)
{
    struct routes kept;
    struct verify_report report;
    struct dependency_graph graph;
    uint64_t peak = repair->standing.peak;
    uint32_t repairs = repair->standing.repairs;
    repair->ends.count = repair->lids.count = 0;
    repair->patient = true;
    keep_arriving(repair, network, routes, &kept);
    kept.service_levels = routes->service_levels;
    verify_routes(network, &kept, &(struct verify_options){.keep = &graph}, &report);
    repair->operations += verify_operations(network, &kept);
    standing_release(&repair->standing);
    bool acyclic = standing_take(&repair->standing, &graph, &report, NULL);
    verify_report_release(&report);
    kept.service_levels = kept.offsets = NULL;
    routes_release(&kept);
    if (!acyclic)
        return err_set(err, EDEADLK, "the tables that are in the switches could deadlock");
    repair->standing.peak = peak;
    repair->standing.repairs = repairs;
    return repair_tables(repair, network, routes, NULL, err);
}

void repair_undo(struct repair *repair, struct routes *routes)
{
    for (size_t i = repair->entries.count; i-- > 0;) {
        const struct repair_entry *entry = &repair->entries.items[i];
        routes_row(routes, entry->at)[entry->lid] = entry->before;
    }
    repair->entries.count = repair->waits.count = 0;
    repair->standing.known = false;
}

unsigned repair_imbalance(const struct repair *repair)
{
    const struct network *network = repair->standing.graph.network;
    uint64_t most = 0;
    for (size_t i = 0; i < repair->entries.count; i++) {
        const struct repair_entry *entry = &repair->entries.items[i];
        uint8_t in;
        if (standing_next(network, entry->at, entry->after, &in) == NETWORK_NONE)
            continue;
        uint64_t load =
            repair->standing.load[network->switches.items[entry->at].first_port + entry->after];
        most = load > most ? load : most;
    }
    return repair->standing.peak ? (unsigned)(most * 100 / repair->standing.peak) : 0;
}
