/* A repair: its columns, and the state of the tables. */
#include "routing/repair/repair.h"

#include "base/map.h"
#include "routing/repair/repair_column.h"
#include "routing/update/entry_order.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* An engine is faster than a repair of more operations. */
enum { WORK_LIMIT = 200000000 };

void repair_state_begin(struct repair_state *state, const struct network *network, unsigned vls,
                        const uint32_t *ranks)
{
    *state = (struct repair_state){.directed = ranks != NULL};
    cdg_init(&state->cdg, network);
    while (state->cdg.count < vls) {
        cdg_open(&state->cdg);
        if (ranks)
            cdg_order_by_rank(&state->cdg, state->cdg.count - 1, ranks);
    }
}

void repair_state_note(void *context, uint32_t at, unsigned in, unsigned out, unsigned vl)
{
    struct repair_state *state = context;
    uint32_t from = cdg_arriving(&state->cdg, at, in), to = cdg_leaving(&state->cdg, at, out);
    cdg_note(&state->cdg, vl, from, to);
    state->directed = state->directed && cdg_agrees(&state->cdg, vl, from, to);
}

bool repair_state_end(struct repair_state *state, uint64_t *load, uint64_t peak)
{
    bool acyclic = true;
    state->load = load;
    state->peak = peak;
    for (unsigned vl = 0; vl < state->cdg.count && acyclic; vl++)
        acyclic = cdg_sort(&state->cdg, vl);
    if (!acyclic)
        repair_state_release(state);
    return acyclic;
}

void repair_state_release(struct repair_state *state)
{
    cdg_release(&state->cdg);
    mem_free(state->load);
    *state = (struct repair_state){0};
}

void repair_release(struct repair *repair)
{
    repair_state_release(&repair->state);
    vec_release(&repair->ends);
    vec_release(&repair->lids);
    vec_release(&repair->entries);
    vec_release(&repair->waits);
    vec_release(&repair->cycle);
    mem_free(repair->is_new);
    mem_free(repair->forwards);
    mem_free(repair->live);
    *repair = (struct repair){0};
}

/* ---- columns ---- */

/* Ends by LID, and LIDs whose columns are searched as a whole. */
struct ends_by_lid {
    uint32_t *first; /* by LID, one more at the end: rows of `ends` */
    struct repair_end *ends;
    uint8_t *all; /* by LID */
    struct arena memory;
};

static void sort_ends(const struct repair *repair, uint32_t lids, struct ends_by_lid *columns)
{
    columns->first = arena_alloc(&columns->memory, (lids + 2u) * sizeof *columns->first);
    columns->ends = arena_alloc(&columns->memory, repair->ends.count * sizeof *columns->ends);
    columns->all = arena_alloc(&columns->memory, lids + 1u);
    for (size_t i = 0; i < repair->ends.count; i++)
        columns->first[repair->ends.items[i].lid + 1]++;
    for (uint32_t lid = 0; lid < lids; lid++)
        columns->first[lid + 1] += columns->first[lid];
    for (size_t i = repair->ends.count; i-- > 0;)
        columns->ends[--columns->first[repair->ends.items[i].lid + 1]] = repair->ends.items[i];
    memmove(columns->first, columns->first + 1, lids * sizeof *columns->first);
    columns->first[lids] = (uint32_t)repair->ends.count;
    for (size_t i = 0; i < repair->lids.count; i++)
        columns->all[repair->lids.items[i]] = 1;
}

/* Repairs the columns of switches, or those of terminals. */
static bool repair_columns(struct repair_column *column, const struct ends_by_lid *columns,
                           bool of_switches)
{
    const struct repair *repair = column->repair;
    const struct network *network = column->network;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++) {
        uint32_t owner = network->owner[lid], first = columns->first[lid];
        if (owner == NETWORK_NONE || !(owner & NETWORK_SWITCH) == of_switches ||
            (!columns->all[lid] && first == columns->first[lid + 1]))
            continue;
        repair_column_begin(column, lid);
        for (uint32_t i = first; i < columns->first[lid + 1]; i++)
            repair_column_add_end(column, &columns->ends[i]);
        if (columns->all[lid])
            repair_column_search(column);
        if ((!repair_column_finish(column) &&
             (!repair->allow_partial || column->old_routes_cyclic)) ||
            repair->operations + cdg_operations(column->cdg) > WORK_LIMIT)
            return false;
    }
    return true;
}

/* Removes entries for unused LIDs: those whose port has got a link, or all if `drop_unused_lids`.
 */
static void close_unused_entries(struct repair_column *column)
{
    const struct network *network = column->network;
    const struct repair *repair = column->repair;
    VEC(uint32_t) unused = {0};
    for (uint32_t lid = 1; lid <= column->routes->top_lid; lid++)
        if (network_owner(network, lid) == NETWORK_NONE)
            vec_push(&unused, lid);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        const uint8_t *row = routes_row(column->routes, at);
        bool close[256] = {0}, any = false;
        for (unsigned port = 0; port <= node->port_count; port++)
            any |= close[port] =
                repair->drop_unused_lids ||
                (repair->is_new[node->first_port + port] &&
                 network->ports.items[node->first_port + port].peer != NETWORK_NONE);
        for (size_t i = 0; any && i < unused.count; i++)
            if (close[row[unused.items[i]]])
                repair_change_entry(column, at, unused.items[i], PORT_NONE);
    }
    vec_release(&unused);
}

/* By LID; entries of one LID keep their order. */
static void sort_entries(struct repair *repair, uint32_t lids)
{
    size_t count = repair->entries.count;
    uint32_t *next = mem_zalloc(lids + 2u, sizeof *next);
    uint32_t *place = mem_alloc((count + 1) * sizeof *place);
    struct table_change *sorted = mem_alloc((count + 1) * sizeof *sorted);
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
                  struct err *err)
{
    assert(repair->state.load && repair->is_new);
    assert(routes->switch_count == network->switches.count);
    struct repair_column column;
    struct ends_by_lid columns = {0};
    repair->whole = true;
    repair->state.cdg.similar = true;
    repair_column_init(&column, network, routes, repair);
    sort_ends(repair, network->top_lid + 1u, &columns);
    close_unused_entries(&column);
    /* Switches first: they have fewer choices. If a part of a tree can be reached only down and up
     * again, terminals find routes that differ from those to its switches. */
    bool repaired =
        repair_columns(&column, &columns, true) && repair_columns(&column, &columns, false);
    repair->operations += cdg_operations(column.cdg);
    column.cdg->insertions = column.cdg->reordering = 0;
    repair_column_release(&column);
    arena_release(&columns.memory);
    repair->state.known = repair->whole;
    if (repaired && (!repair->left || repair->entries.count)) {
        sort_entries(repair, routes->stride);
        return 0;
    }
    repair_undo(repair, routes);
    return err_set(err, EDEADLK, "no next hop is left that keeps the rest as it is");
}

void repair_drop_broken(struct repair *repair, const struct network *network,
                        const struct routes *routes, struct routes *kept)
{
    struct repair_column column;
    repair->ends.count = repair->lids.count = 0;
    repair->may_drain = true;
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
            struct repair_end end = {column.broken.items[i], (uint16_t)lid, 0, NETWORK_NONE};
            routes_row(kept, end.at)[lid] = PORT_NONE;
            vec_push(&repair->ends, end);
        }
    }
    repair->entries.count = 0;
    repair_column_release(&column);
    kept->service_levels = routes->service_levels;
}

void repair_undo(struct repair *repair, struct routes *routes)
{
    for (size_t i = repair->entries.count; i-- > 0;) {
        const struct table_change *entry = &repair->entries.items[i];
        routes_row(routes, entry->at)[entry->lid] = entry->before;
    }
    repair->entries.count = repair->waits.count = 0;
    repair->state.known = false;
}

uint64_t repair_highest_load(const struct repair_state *state, const struct network *network)
{
    uint64_t most = 0;
    for (size_t i = 0; state->load && i < network->ports.count; i++)
        most = state->load[i] > most ? state->load[i] : most;
    return most;
}

unsigned repair_imbalance(const struct repair *repair)
{
    const struct repair_state *state = &repair->state;
    return state->peak
               ? (unsigned)(repair_highest_load(state, state->cdg.network) * 100 / state->peak)
               : 0;
}

bool repair_plan(const struct repair *repair, const struct routes *routes, struct update_plan *plan)
{
    bool fine = entry_order_plan(
        &(struct entry_order){.entries = repair->entries.items,
                              .count = repair->entries.count,
                              .waits = repair->waits.items,
                              .wait_count = repair->waits.count,
                              .joined = routes,
                              .drain_hops =
                                  1}, /* the packet is in the channel to its last switch */
        plan);
    plan->relies_on_discards = true;
    return fine;
}

void repair_leave_drains(struct repair *repair, struct routes *routes, struct update_plan *plan)
{
    size_t waves = 0, kept = 0;
    while (waves < plan->waves.count && !plan->waves.items[waves].drain)
        waves++;
    if (waves == plan->waves.count)
        return;
    uint32_t first = plan->waves.items[waves].first;
    struct map late = {0};
    for (size_t i = first; i < plan->updates.count; i++)
        map_add(&late, (uint64_t)plan->updates.items[i].at << 16 | plan->updates.items[i].first_lid,
                1);
    for (size_t i = 0; i < repair->entries.count; i++) {
        struct table_change entry = repair->entries.items[i];
        if (map_get(&late, (uint64_t)entry.at << 16 | entry.lid) == MAP_NONE)
            repair->entries.items[kept++] = entry;
        else
            routes_row(routes, entry.at)[entry.lid] = entry.before;
    }
    map_release(&late);
    repair->left += repair->entries.count - kept;
    repair->whole = repair->state.known = false;
    repair->entries.count = kept;
    repair->waits.count = 0;
    plan->waves.count = waves;
    plan->updates.count = first;
}
