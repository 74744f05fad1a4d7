/* Changed entries come by LID; those for 64 LIDs, which are one line of the cache at each switch,
 * are looked at together. Where a terminal is meant and there is one lane, that is done switch by
 * switch (change_rows.c), else column by column (change_column.c).
 *
 * Workers take a range of LIDs each, and find what these give rise to in a graph of their own. */
#include "routing/repair/verify_change.h"

#include "base/bitset.h"
#include "routing/repair/change_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The places of a switch's outputs in the order that is shown, a bit of a row each. */
struct outputs {
    int64_t label[(NETWORK_TOP_PORT + 1) * 16];
    int64_t lowest;
    uint64_t links[BITSET_WORDS((NETWORK_TOP_PORT + 1) * 16)]; /* those that have one */
    uint64_t before[BITSET_WORDS((NETWORK_TOP_PORT + 1) * 16)]; /* those that do not come after … */
    int64_t own;                                                /* … this place */
    bool known;                                                 /* that is found out */
};

/* Whether all that a row has comes after its own place. Many rows have the same one: then it is
 * found out for all outputs at once. */
static bool row_fits(struct change_walk *walk, struct outputs *outputs, const uint64_t *row,
                     size_t words, int64_t own)
{
    bool again = own == outputs->own;
    if (own < outputs->lowest)
        return true;
    outputs->own = own;
    for (size_t word = 0; word < words && again && !outputs->known; word++) {
        outputs->before[word] = 0;
        for (uint64_t left = outputs->links[word]; left; left &= left - 1, walk->operations++) {
            unsigned bit = (unsigned)__builtin_ctzll(left);
            outputs->before[word] |= (uint64_t)(own >= outputs->label[word * 64 + bit]) << bit;
        }
    }
    outputs->known = again;
    for (size_t word = 0; word < words; word++) {
        if (again && row[word] & outputs->before[word])
            return false;
        for (uint64_t left = again ? 0 : row[word]; left; left &= left - 1, walk->operations++)
            if (own >= outputs->label[word * 64 + (unsigned)__builtin_ctzll(left)])
                return false;
    }
    return true;
}

/* Every dependency must lead onwards in the order that is shown. */
static bool order_fits_at(struct change_walk *walk, uint32_t at, const int64_t *label)
{
    const struct dependency_graph *graph = walk->graph;
    const struct network *network = walk->network;
    size_t words = dependency_row_words(graph, at);
    const uint64_t *row = dependency_row(graph, at, 0, 0);
    uint32_t rows = (network->switches.items[at].port_count + 1u) * graph->vls;
    struct outputs outputs;
    memset(outputs.links, 0, words * sizeof *outputs.links);
    outputs.lowest = outputs.own = INT64_MAX;
    outputs.known = false;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *edge = &network->edges[e];
        for (unsigned lane = 0; lane < graph->vls; lane++) {
            int64_t next = label[graph->first_node[edge->to] + edge->to_port * graph->vls + lane];
            outputs.label[edge->port * graph->vls + lane] = next;
            outputs.lowest = next < outputs.lowest ? next : outputs.lowest;
            bitset_add(outputs.links, edge->port * graph->vls + lane);
        }
    }
    walk->operations += rows;
    for (uint32_t i = 0; i < rows; i++, row += words)
        if (!row_fits(walk, &outputs, row, words, label[graph->first_node[at] + i]))
            return false;
    return true;
}

static bool order_fits(struct change_walk *walk, const int64_t *label, uint32_t first, uint32_t end)
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

/* Entries that are as they were, but lead out of a link that is another one, are those of a new
 * switch, or are not those that were checked: all that they give rise to is new. By LID. */
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

/* Everything before a LID is done. */
static struct cursor skip_to(const struct change *change, struct cursor next, uint32_t lid)
{
    const struct repair *repair = change->repair;
    while (next.entry < repair->entries.count && repair->entries.items[next.entry].lid < lid)
        next.entry++;
    while (next.kept < change->kept.count && change->kept.items[next.kept].lid < lid)
        next.kept++;
    while (next.lid < repair->lids.count && repair->lids.items[next.lid] < lid)
        next.lid++;
    return next;
}

static bool is_live(const struct repair *repair, uint32_t lid)
{
    return repair->live && bitset_has(repair->live, lid);
}

/* Whether it matters who sends to a LID: to terminals everybody does, if there is one lane.
 * Nobody's addresses are columns, too. */
static bool needs_column(const struct change_walk *walk, uint32_t lid)
{
    return walk->graph->vls > 1 || !walk->few_ports || change_owner(walk, lid) & NETWORK_SWITCH;
}

/* Notes all that is to be looked at for the LIDs of a block. Returns those that need a column of
 * their own; the others are `together`. */
static uint64_t begin_block(struct change_walk *walk, const struct change *change,
                            struct cursor begin, struct cursor end, uint32_t first,
                            uint64_t *together)
{
    const struct repair *repair = change->repair;
    uint64_t all = 0, apart = 0;
    change_walk_begin(walk, first, end.entry - begin.entry > walk->routes->switch_count / 2);
    for (size_t i = begin.entry; i < end.entry; i++) {
        const struct repair_entry *entry = &repair->entries.items[i];
        uint64_t late = change->late.first[i] < change->late.first[i + 1];
        change_walk_note(walk, entry);
        all |= UINT64_C(1) << (entry->lid - first);
        apart |= late << (entry->lid - first);
    }
    for (size_t i = begin.kept; i < end.kept; i++) {
        const struct kept *kept = &change->kept.items[i];
        if (change_owner(walk, kept->lid) != NETWORK_NONE)
            change_walk_keep(walk, kept->at, kept->lid);
        all |= UINT64_C(1) << (kept->lid - first);
    }
    for (size_t i = begin.lid; i < end.lid; i++) {
        uint32_t lid = repair->lids.items[i];
        walk->whole |= UINT64_C(1) << (lid - first);
        for (uint32_t at = 0; at < walk->network->switches.count && !is_live(repair, lid); at++)
            change_walk_keep(walk, at, lid);
    }
    all |= walk->whole;
    for (uint64_t left = all; left; left &= left - 1)
        if (needs_column(walk, first + (uint32_t)__builtin_ctzll(left)))
            apart |= left & -left;
    *together = all & ~apart;
    return apart;
}

/* The old entries of addresses that are new, where they carry traffic already. */
static int check_live(struct change_walk *walk, const struct change *change, struct cursor begin,
                      struct cursor end, struct err *err)
{
    int rc = 0;
    for (size_t i = begin.lid; i < end.lid; i++) {
        uint32_t lid = change->repair->lids.items[i];
        if (!is_live(change->repair, lid))
            continue;
        change_begin_column(walk);
        change_put_old(walk, lid);
        for (uint32_t at = 0; at < walk->network->switches.count && !rc; at++)
            rc = change_check_arrival(walk, at, lid, err);
    }
    return rc;
}

/* Entries of one LID that changed, up to `end`, and then those that were kept. */
static int check_column(struct change_walk *walk, const struct change *change, size_t entry,
                        size_t end, uint32_t lid, struct err *err)
{
    const struct lateness *late = &change->late;
    uint64_t bit = UINT64_C(1) << (lid - walk->first);
    int rc = 0;
    change_begin_column(walk);
    for (size_t i = entry; i < end && !rc; i++)
        rc = change_check_entry(walk, &change->repair->entries.items[i],
                                late->waited_for + late->first[i],
                                late->first[i + 1] - late->first[i], err);
    for (size_t i = 0; i < walk->met.count && !rc; i++) {
        uint32_t at = walk->met.items[i];
        struct repair_entry kept = {.at = at, .lid = (uint16_t)lid};
        kept.after = change_port(walk, at, lid);
        if (walk->kept[at] & ~walk->changed[at] & bit)
            rc = change_check_entry(walk, &kept, NULL, 0, err);
    }
    return rc;
}

static int check_columns(struct change_walk *walk, const struct change *change, uint64_t lids,
                         struct cursor begin, struct cursor end, struct err *err)
{
    const struct repair_entry *entries = change->repair->entries.items;
    size_t entry = begin.entry;
    int rc = 0;
    for (; lids && !rc; lids &= lids - 1) {
        uint32_t lid = walk->first + (uint32_t)__builtin_ctzll(lids);
        while (entry < end.entry && entries[entry].lid < lid)
            entry++;
        size_t first = entry;
        while (entry < end.entry && entries[entry].lid == lid)
            entry++;
        rc = check_column(walk, change, first, entry, lid, err);
    }
    return rc;
}

/* Those who send to an alias need not have an entry that changed; and those who have one need not
 * send there. */
static int check_aliases(struct change_walk *walk, uint64_t lids, struct err *err)
{
    int rc = 0;
    for (; walk->routes->offsets && lids && !rc; lids &= lids - 1) {
        uint32_t lid = walk->first + (uint32_t)__builtin_ctzll(lids);
        uint32_t owner = change_owner(walk, lid);
        if (owner & NETWORK_SWITCH || walk->network->terminals.items[owner].lid == lid)
            continue;
        for (uint32_t at = 0; at < walk->network->switches.count && !rc; at++)
            rc = change_check_arrival(walk, at, lid, err);
    }
    return rc;
}

/* LIDs from `first` up to, not including, `end`, which are whole blocks. */
static int check_blocks(struct change_walk *walk, const struct change *change, uint32_t first,
                        uint32_t end, struct err *err)
{
    struct cursor next = skip_to(change, (struct cursor){0}, first);
    uint32_t lid;
    int rc = 0;
    while ((lid = next_lid(change, &next)) < end && !rc) {
        uint32_t block = lid - lid % ROUTES_BLOCK;
        struct cursor begin = next;
        next = skip_to(change, next, block + ROUTES_BLOCK);
        uint64_t together, apart = begin_block(walk, change, begin, next, block, &together);
        rc = check_live(walk, change, begin, next, err);
        if (!rc)
            rc = change_check_rows(walk, together, err);
        if (!rc && apart)
            rc = check_columns(walk, change, apart, begin, next, err);
        if (!rc)
            rc = check_aliases(walk, together | apart, err);
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

/* Entries that lead out of a port whose link changed, stale ones, and all of new switches. */
static void find_kept(const struct dependency_graph *graph, const struct routes *routes,
                      struct change *change)
{
    const struct network *network = graph->network;
    const struct repair *repair = change->repair;
    uint32_t end = network->top_lid < routes->stride ? network->top_lid + 1u : routes->stride;
    for (size_t i = 0; i < graph->losses.count; i++) {
        const struct dependency_loss *loss = &graph->losses.items[i];
        const uint8_t *row = routes_row(routes, loss->at), *found = row;
        while ((found = memchr(found + 1, loss->port, (size_t)(row + end - (found + 1)))) != NULL)
            vec_push(&change->kept, ((struct kept){(uint16_t)(found - row), loss->at}));
    }
    for (size_t i = 0; i < repair->stale.count; i++)
        vec_push(&change->kept,
                 ((struct kept){repair->stale.items[i].lid, repair->stale.items[i].at}));
    for (size_t i = 0; i < repair->switches.count; i++)
        for (uint32_t lid = 1; lid < end; lid++)
            vec_push(&change->kept, ((struct kept){(uint16_t)lid, repair->switches.items[i]}));
    if (change->kept.count)
        qsort(change->kept.items, change->kept.count, sizeof *change->kept.items, compare_kept);
}

/* ---- the work ---- */

enum { SLICES = 16 };

struct slice {
    struct change_walk walk;
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

static void check_slice(void *context, size_t index)
{
    struct check *check = context;
    struct slice *slice = &check->slices[index];
    slice->rc = check_blocks(&slice->walk, &check->change, slice->first, slice->end, &slice->err);
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

/* How much work an entry is, about; a column takes longer than its share of rows. */
static unsigned work_of(const struct network *network, const struct repair_entry *entry)
{
    uint32_t owner = entry->lid <= network->top_lid ? network->owner[entry->lid] : NETWORK_NONE;
    return owner & NETWORK_SWITCH ? 4 : 1;
}

/* Slices are about as much work each, and blocks of LIDs as a whole. More than one is worth it
 * where entries are more work than other graphs. */
static void cut_slices(struct check *check, const struct dependency_graph *graph,
                       const struct workers *workers)
{
    const struct repair *repair = check->change.repair;
    size_t words = graph->first_word[graph->network->switches.count];
    size_t count = repair->entries.count, work = 0, done = 0, entry = 0;
    unsigned wanted = words / 16 < count ? workers_count(workers) : 1;
    check->slice_count = wanted < SLICES ? wanted : SLICES;
    check->slices[0].first = 0;
    for (size_t i = 0; i < count && wanted > 1; i++)
        work += work_of(graph->network, &repair->entries.items[i]);
    for (unsigned i = 1; i < check->slice_count; i++) {
        for (; done < i * work / check->slice_count; entry++)
            done += work_of(graph->network, &repair->entries.items[entry]);
        uint32_t lid = entry < count ? repair->entries.items[entry].lid : UINT32_MAX;
        check->slices[i].first = check->slices[i - 1].end = lid - lid % ROUTES_BLOCK;
    }
    check->slices[check->slice_count - 1].end = UINT32_MAX;
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
    find_kept(graph, routes, &check.change);
    *operations += graph->losses.count * (network->top_lid / 16u);
    cut_slices(&check, graph, workers);
    for (unsigned i = 0; i < check.slice_count; i++) {
        struct slice *slice = &check.slices[i];
        change_walk_init(&slice->walk, routes, graph, repair->fresh);
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
        change_walk_release(&check.slices[i].walk);
    }
    if (!rc && !ordered)
        rc = err_set(err, EDEADLK, "the repaired tables could deadlock");
    mem_free(part);
    mem_free(check.change.late.first);
    mem_free(check.change.late.waited_for);
    vec_release(&check.change.kept);
    return rc;
}
