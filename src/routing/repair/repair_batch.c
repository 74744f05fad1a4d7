/* Where one part of a tree lost a switch, the entries of all its hosts are broken at the same
 * switches, and there are the same neighbours to choose from. So a switch is settled for all LIDs
 * of a block that it is equally far from, before the next one is looked at: neighbours are asked
 * once, and what comes from whom is known as sets of LIDs.
 *
 * It is what repair_column.c does for one LID, as far as that is easy: one lane, and hops that can
 * be taken at once, or after the next switch has gone over to a way that others take already. What
 * is not easy is left to it, with everything as it was. */
#include "routing/repair/repair_settling.h"

#include <string.h>

void repair_batch_init(struct repair_batch *batch, struct repair_column *column)
{
    size_t switches = column->network->switches.count + 1;
    *batch = (struct repair_batch){.column = column, .block = &column->block};
    batch->settled = mem_zalloc(switches, sizeof *batch->settled);
    batch->hops = mem_alloc(switches * BATCH_LIDS);
    batch->nearness = mem_zalloc(switches, sizeof *batch->nearness);
    batch->slot = mem_zalloc(switches, sizeof *batch->slot);
}

void repair_batch_release(struct repair_batch *batch)
{
    mem_free(batch->settled);
    mem_free(batch->hops);
    mem_free(batch->slot);
    mem_free(batch->nearness);
    vec_release(&batch->changed);
    vec_release(&batch->row);
    vec_release(&batch->load);
    for (unsigned i = 0; i < BATCH_LEVELS; i++)
        vec_release(&batch->levels[i]);
}

/* ---- what is to be done ---- */

static void put_task(struct repair_batch *batch, unsigned level, uint32_t at, uint64_t lids)
{
    if (level + 1 >= NEAR_FAR) {
        batch->hard |= lids;
        return;
    }
    size_t count = batch->levels[level].count;
    if (count && batch->levels[level].items[count - 1].at == at)
        batch->levels[level].items[count - 1].lids |= lids;
    else
        vec_push(&batch->levels[level], ((struct repair_task){at, lids}));
    batch->top_level = level > batch->top_level ? level : batch->top_level;
}

/* Sorts the LIDs by where they end. Aliases, and those whose last entry is wrong, are hard. */
static void find_goals(struct repair_batch *batch)
{
    const struct network *network = batch->column->network;
    const struct routes *routes = batch->column->routes;
    batch->goal_count = 0;
    for (uint64_t left = batch->block->lids; left; left &= left - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(left);
        uint32_t lid = batch->block->lid[bit];
        const struct network_terminal *terminal = &network->terminals.items[network->owner[lid]];
        unsigned i = 0;
        while (i < batch->goal_count && batch->goals[i].at != terminal->at)
            i++;
        if (i == batch->goal_count)
            batch->goals[batch->goal_count++] = (struct repair_goal){
                .at = terminal->at,
                .near = repair_near_to(&batch->column->distances, terminal->at)};
        batch->goals[i].lids |= left & -left;
        if (terminal->lid != lid || routes->offsets ||
            routes_port(routes, terminal->at, lid) != terminal->port)
            batch->hard |= left & -left;
        batch->hops[(size_t)terminal->at * BATCH_LIDS + bit] = 1;
    }
}

static void find_tasks(struct repair_batch *batch)
{
    const struct repair_block *block = batch->block;
    for (size_t i = 0; i < block->met.count; i++) {
        uint32_t at = block->met.items[i];
        batch->slot[at] = (uint32_t)i;
        batch->settled[at] = 0;
        for (unsigned g = 0; g < batch->goal_count; g++) {
            const struct repair_goal *goal = &batch->goals[g];
            uint64_t lids = block->broken[at] & goal->lids;
            if (lids && goal->near[at] < NEAR_FAR)
                put_task(batch, goal->near[at], at, lids);
            else
                batch->hard |= lids;
        }
    }
}

/* ---- load ---- */

/* A switch gets a row of its own, with the load as it is. */
static void copy_load(struct repair_batch *batch, uint32_t at)
{
    const struct network_switch *node = &batch->column->network->switches.items[at];
    const uint64_t *load = batch->column->repair->standing.load;
    size_t first = batch->load.count, count = node->port_count + 1u;
    vec_push(&batch->row, (uint32_t)first);
    vec_reserve(&batch->load, first + count);
    memcpy(batch->load.items + first, load + node->first_port, count * sizeof *load);
    batch->load.count += count;
}

static uint64_t *load_of(const struct repair_batch *batch, uint32_t at)
{
    const struct standing *standing = &batch->column->repair->standing;
    return standing->fixed ? batch->load.items + batch->row.items[batch->slot[at]]
                           : standing->load + batch->column->network->switches.items[at].first_port;
}

/* ---- where entries lead ---- */

/* Hops by entries as they are; those that are broken have none. */
static unsigned hops_from(struct repair_batch *batch, uint32_t at, unsigned lid)
{
    const struct repair_block *block = batch->block;
    uint8_t *hops = batch->hops;
    uint32_t way[NEAR_FAR];
    unsigned length = 0;
    while (hops[(size_t)at * BATCH_LIDS + lid] == 0) {
        way[length++] = at;
        at = repair_block_next(block, at, *repair_block_entry(block, at, lid));
        if (at == BLOCK_NOWHERE || length == NEAR_FAR || block->broken[at] >> lid & 1)
            return NEAR_NONE;
    }
    unsigned far = hops[(size_t)at * BATCH_LIDS + lid];
    batch->column->repair->operations += length + 1;
    if (far + length >= NEAR_FAR)
        return NEAR_NONE;
    while (length)
        hops[(size_t)way[--length] * BATCH_LIDS + lid] = (uint8_t)++far;
    return far - 1;
}

/* The dependency that the hop gives rise to at the next switch; false if there is none. */
static bool find_onward(const struct repair_batch *batch, const struct network_edge *hop,
                        unsigned lid, struct standing_edge *edge)
{
    uint8_t out = *repair_block_entry(batch->block, hop->to, lid);
    *edge = (struct standing_edge){hop->to, hop->to_port, out, 0};
    return repair_block_next(batch->block, hop->to, out) != BLOCK_NOWHERE;
}

/* ---- hops ---- */

/* Whether it is what it looks like; if not, that is noted. */
static bool confirm(struct repair_batch *batch, struct repair_settling *settling,
                    struct repair_candidate *candidate, unsigned lid)
{
    const struct network_edge *hop = candidate->hop;
    uint64_t bit = UINT64_C(1) << lid;
    struct standing_edge onward;
    if (hops_from(batch, hop->to, lid) != settling->hops - 1) {
        candidate->open &= ~bit;
        candidate->good &= ~bit;
        return false;
    }
    if (!(batch->block->broken[hop->to] & candidate->goes & bit) ||
        !find_onward(batch, hop, lid, &onward) ||
        standing_fits(&batch->column->repair->standing, onward))
        return true;
    candidate->goes &= ~bit;
    candidate->good &= ~bit;
    return false;
}

/* Everything that the hop gives rise to; false, and nothing has happened, if it closes a circle. */
static bool add_hop(struct repair_batch *batch, const struct repair_settling *settling,
                    const struct network_edge *hop, unsigned lid, bool counted)
{
    struct standing *standing = &batch->column->repair->standing;
    struct standing_edge onward;
    bool fine = true;
    for (unsigned i = 0; i < settling->inflow_count && fine && !counted; i++)
        if (settling->inflows[i].lids >> lid & 1)
            fine = standing_put(standing, (struct standing_edge){
                                              settling->at, settling->inflows[i].in, hop->port, 0});
    if (fine && find_onward(batch, hop, lid, &onward))
        fine = standing_put(standing, onward);
    if (fine)
        standing_keep(standing);
    else
        standing_undo(standing);
    return fine;
}

/* ---- settling ---- */

/* Where the entry of a switch is noted that has changed; NULL: it is none of those that may. */
static uint32_t *changed_at(const struct repair_batch *batch, uint32_t at, unsigned lid)
{
    uint32_t slot = batch->slot[at];
    if (slot >= batch->block->met.count || batch->block->met.items[slot] != at)
        return NULL;
    return &batch->changed.items[slot * BATCH_LIDS + lid];
}

/* Whether a switch sends on as it did before the repair. */
static bool is_steady(const struct repair_batch *batch, uint32_t at, unsigned lid)
{
    const uint32_t *changed = changed_at(batch, at, lid);
    return !(batch->block->broken[at] >> lid & 1) && (!changed || *changed == NETWORK_NONE);
}

/* See repair_find_waits(). */
static void find_waits(struct repair_batch *batch, uint32_t at, unsigned lid, uint32_t entry)
{
    const struct network *network = batch->column->network;
    struct repair *repair = batch->column->repair;
    uint8_t in, unused;
    for (;;) {
        uint8_t port = *repair_block_entry(batch->block, at, lid);
        at = standing_next(network, at, port, &in);
        if (at == NETWORK_NONE || is_steady(batch, at, lid))
            return;
        uint32_t first = batch->changed.items[batch->slot[at] * BATCH_LIDS + lid];
        if (first == NETWORK_NONE)
            continue;
        uint8_t old = repair->entries.items[first].before;
        if (standing_next(network, at, old, &unused) == NETWORK_NONE ||
            repair->fresh[network->switches.items[at].first_port + old])
            continue;
        struct standing_edge edge = {at, in, old, 0};
        if (standing_fits(&repair->standing, edge)) {
            standing_put(&repair->standing, edge);
            standing_keep(&repair->standing);
        } else {
            vec_push(&repair->waits, ((struct repair_wait){.entry = entry, .first = first}));
        }
    }
}

static void settle(struct repair_batch *batch, const struct repair_settling *settling,
                   const struct network_edge *hop, unsigned lid, uint8_t old)
{
    uint32_t at = settling->at;
    batch->settled[at] |= UINT64_C(1) << lid;
    batch->hops[(size_t)at * BATCH_LIDS + lid] = (uint8_t)(settling->hops + 1);
    if (hop->port == old)
        return;
    uint32_t entry = repair_change_entry_in(batch->column, at, batch->block->lid[lid], hop->port,
                                            settling->load);
    *repair_block_entry(batch->block, at, lid) = hop->port;
    batch->changed.items[batch->slot[at] * BATCH_LIDS + lid] = entry;
    find_waits(batch, at, lid, entry);
}

/* Takes the hop, if that closes no circle. */
static bool take(struct repair_batch *batch, struct repair_settling *settling,
                 struct repair_candidate *candidate, unsigned lid)
{
    uint64_t bit = UINT64_C(1) << lid;
    uint32_t moves = batch->column->repair->standing.moves;
    uint8_t old = *repair_block_entry(batch->block, settling->at, lid);
    const struct network_edge *hop = candidate->hop;
    bool counted = hop->port == old && !(batch->block->told[settling->at] & bit);
    bool fine = add_hop(batch, settling, hop, lid, counted);
    if (fine)
        settle(batch, settling, hop, lid, old);
    candidate->open &= ~bit;
    candidate->good &= ~bit;
    candidate->use = settling_use(settling, hop);
    settling->refused |= fine ? 0 : bit;
    if (batch->column->repair->standing.blocked) {
        batch->hard |= bit;
        batch->blocked |= bit;
        batch->column->repair->standing.blocked = false;
    }
    if (moves != batch->column->repair->standing.moves)
        settling_forget_ratings(settling);
    return fine;
}

/* False if there is no hop to be found at this distance. What takes long to tell is asked only of
 * those whose turn it is. */
static bool settle_lid(struct repair_batch *batch, struct repair_settling *settling, unsigned lid)
{
    uint64_t bit = UINT64_C(1) << lid;
    uint8_t old = *repair_block_entry(batch->block, settling->at, lid);
    for (;;) {
        struct repair_candidate *best = settling_best(settling, bit, old);
        if (!best)
            best = settling_next_best(batch, settling, bit, old);
        if (!best || batch->hard & bit)
            return false;
        bool rated = best->rated;
        if (!rated)
            settling_rate(batch, settling, best);
        if ((rated || best->good & bit) && confirm(batch, settling, best, lid) &&
            take(batch, settling, best, lid))
            return true;
    }
}

/* ---- detours ---- */

/* A switch that is not broken gets a place among those that are. */
static uint32_t *adopt(struct repair_batch *batch, uint32_t at, unsigned lid)
{
    struct repair_block *block = batch->block;
    if (!changed_at(batch, at, lid)) {
        batch->slot[at] = (uint32_t)block->met.count;
        vec_push(&block->met, at);
        vec_reserve(&batch->changed, block->met.count * BATCH_LIDS);
        memset(batch->changed.items + (size_t)batch->slot[at] * BATCH_LIDS, 0xFF,
               BATCH_LIDS * sizeof *batch->changed.items);
        if (batch->column->repair->standing.fixed)
            copy_load(batch, at);
    }
    return changed_at(batch, at, lid);
}

/* What comes to a switch, by entries as they are or as they were, and leaves by another hop. */
static bool add_flow(struct repair_batch *batch, uint32_t at, const struct network_edge *hop,
                     unsigned lid)
{
    const struct network *network = batch->column->network;
    struct repair *repair = batch->column->repair;
    struct standing_edge onward;
    bool fine = true;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1] && fine; e++) {
        const struct network_edge *edge = &network->edges[e];
        const uint32_t *changed = changed_at(batch, edge->to, lid);
        uint8_t now = *repair_block_entry(batch->block, edge->to, lid), old = now;
        if (changed && *changed != NETWORK_NONE)
            old = repair->entries.items[*changed].before;
        if (now == edge->to_port || old == edge->to_port)
            fine = standing_put(&repair->standing,
                                (struct standing_edge){at, edge->port, hop->port, 0});
    }
    repair->operations += network->first_edge[at + 1] - network->first_edge[at];
    return fine &&
           (!find_onward(batch, hop, lid, &onward) || standing_put(&repair->standing, onward));
}

/* Lets the next switch take another hop, and takes the one to it. */
static bool turn_aside(struct repair_batch *batch, struct repair_settling *settling,
                       const struct network_edge *hop, const struct network_edge *other,
                       unsigned lid)
{
    struct repair *repair = batch->column->repair;
    uint32_t by = hop->to;
    uint8_t *entry = repair_block_entry(batch->block, by, lid), present = *entry;
    if (!add_flow(batch, by, other, lid)) {
        standing_undo(&repair->standing);
        return false;
    }
    *entry = other->port;
    if (!add_hop(batch, settling, hop, lid, false)) {
        *entry = present;
        return false;
    }
    uint32_t *changed = adopt(batch, by, lid);
    settling->load = load_of(batch, settling->at);
    if (*changed == NETWORK_NONE) {
        *changed = repair_change_entry_in(batch->column, by, batch->block->lid[lid], other->port,
                                          load_of(batch, by));
    } else {
        repair_shift_load(batch->column, by, present, other->port, load_of(batch, by));
        repair->entries.items[*changed].after = other->port;
        routes_row(batch->column->routes, by)[batch->block->lid[lid]] = other->port;
    }
    settle(batch, settling, hop, lid, *repair_block_entry(batch->block, settling->at, lid));
    return true;
}

/* A hop to a switch that is near enough, but must not go on as it does: it may have another way
 * that is as near, and is one that others take already. */
static bool try_detour(struct repair_batch *batch, struct repair_settling *settling,
                       const struct network_edge *hop, unsigned lid)
{
    const struct network *network = batch->column->network;
    const struct dependency_graph *graph = &batch->column->repair->standing.graph;
    uint32_t by = hop->to, first_port = network->switches.items[by].first_port;
    const uint64_t *row = dependency_row(graph, by, hop->to_port, 0);
    uint8_t present = *repair_block_entry(batch->block, by, lid);
    uint32_t next = repair_block_next(batch->block, by, present);
    if (batch->block->broken[by] & ~batch->settled[by] & UINT64_C(1) << lid ||
        !dependency_has_other(graph, by, hop->to_port, present) || next == BLOCK_NOWHERE ||
        !is_steady(batch, next, lid) || hops_from(batch, by, lid) != settling->hops - 1)
        return false;
    for (unsigned port = 1; port <= network->switches.items[by].port_count; port++) {
        if (!bitset_has(row, port) || port == present)
            continue;
        const struct network_port *link = &network->ports.items[first_port + port];
        struct network_edge other = {link->peer & ~NETWORK_SWITCH, (uint8_t)port, link->peer_port};
        if (other.to != settling->at && is_steady(batch, other.to, lid) &&
            hops_from(batch, other.to, lid) == settling->hops - 2 &&
            turn_aside(batch, settling, hop, &other, lid))
            return true;
    }
    return false;
}

/* Engines without directions promise short ways; so before a longer one others make room. */
static bool settle_aside(struct repair_batch *batch, struct repair_settling *settling, unsigned lid)
{
    uint64_t bit = UINT64_C(1) << lid;
    if (batch->column->repair->standing.directed || settling->hops < 2 ||
        !(settling->refused & bit))
        return false;
    struct standing *standing = &batch->column->repair->standing;
    uint32_t moves = standing->moves;
    bool settled = false;
    for (unsigned c = 0; c < settling->candidate_count && !settled; c++) {
        const struct network_edge *hop = settling->candidates[c].hop;
        settled = try_detour(batch, settling, hop, lid);
        if (settled)
            settling->candidates[c].use = settling_use(settling, hop);
    }
    if (settled) {
        batch->hard &= ~bit;
        batch->blocked &= ~bit;
    } else if (standing->blocked) {
        batch->blocked |= bit;
    }
    standing->blocked = false;
    if (moves != standing->moves)
        settling_forget_ratings(settling);
    return settled;
}

/* ---- the whole of a task ---- */

/* Whether a LID was tried for long enough at ever greater distances. */
static bool is_far(const struct repair_batch *batch, uint32_t at, uint64_t bit)
{
    unsigned goal = 0;
    while (!(batch->goals[goal].lids & bit))
        goal++;
    return batch->level >= (unsigned)batch->goals[goal].near[at] + BATCH_DETOUR;
}

/* Where an engine gave directions longer ways that agree with them come first; other engines
 * promise short ones, so that a hop which was refused calls for something else. */
static void settle_task(struct repair_batch *batch, struct repair_settling *settling,
                        struct repair_task task)
{
    settling->at = task.at;
    settling->hops = batch->level;
    settling->turn = batch->turn;
    settling->lids = task.lids & ~batch->hard;
    settling->load = load_of(batch, task.at);
    if (!settling->lids)
        return;
    settling->refused = 0;
    settling_find_inflows(batch, settling);
    settling_find_candidates(batch, settling);
    for (uint64_t left = settling->lids; left; left &= left - 1) {
        unsigned lid = (unsigned)__builtin_ctzll(left);
        if (settle_lid(batch, settling, lid) || settle_aside(batch, settling, lid))
            continue;
        if (is_far(batch, task.at, left & -left) ||
            (settling->refused & left & -left && !batch->column->repair->standing.directed))
            batch->hard |= left & -left;
        else
            put_task(batch, batch->level + 1, task.at, left & -left);
    }
}

/* ---- the whole ---- */

/* What was done for LIDs that turned out to be hard is taken back. */
static void take_back(struct repair_batch *batch, size_t first_entry, size_t first_wait)
{
    struct repair *repair = batch->column->repair;
    uint32_t *place = mem_alloc((repair->entries.count - first_entry + 1) * sizeof *place);
    size_t count = repair->entries.count, kept = first_entry, waits = first_wait;
    for (size_t i = first_entry; i < count; i++) {
        struct repair_entry entry = repair->entries.items[i];
        place[i - first_entry] = NETWORK_NONE;
        unsigned bit = batch->block->bit[entry.lid];
        if (batch->hard >> bit & 1) {
            repair_change_entry_in(batch->column, entry.at, entry.lid, entry.before,
                                   load_of(batch, entry.at));
            *repair_block_entry(batch->block, entry.at, bit) = entry.before;
            continue;
        }
        place[i - first_entry] = (uint32_t)kept;
        repair->entries.items[kept++] = entry;
    }
    repair->entries.count = kept;
    for (size_t i = first_wait; i < repair->waits.count; i++) {
        struct repair_wait wait = repair->waits.items[i];
        wait.entry = place[wait.entry - first_entry];
        wait.first = place[wait.first - first_entry];
        if (wait.entry != NETWORK_NONE)
            repair->waits.items[waits++] = wait;
    }
    repair->waits.count = waits;
    mem_free(place);
}

static void begin(struct repair_batch *batch)
{
    size_t rows = batch->block->met.count;
    batch->hard = batch->blocked = 0;
    batch->top_level = 0;
    memset(batch->hops, 0, batch->column->network->switches.count * BATCH_LIDS);
    vec_reserve(&batch->changed, rows * BATCH_LIDS);
    if (rows)
        memset(batch->changed.items, 0xFF, rows * BATCH_LIDS * sizeof *batch->changed.items);
    memset(batch->goals, 0, sizeof batch->goals);
    find_goals(batch);
    find_tasks(batch);
    batch->row.count = batch->load.count = 0;
    for (size_t i = 0; i < rows && batch->column->repair->standing.fixed; i++)
        copy_load(batch, batch->block->met.items[i]);
}

uint64_t repair_batch_mend(struct repair_batch *batch)
{
    struct repair *repair = batch->column->repair;
    const struct repair_block *block = batch->block;
    size_t first_entry = repair->entries.count, first_wait = repair->waits.count;
    struct repair_settling settling = {0};
    begin(batch);
    for (batch->level = 1; batch->level <= batch->top_level; batch->level++)
        for (size_t i = 0; i < batch->levels[batch->level].count; i++)
            settle_task(batch, &settling, batch->levels[batch->level].items[i]);
    for (unsigned level = 0; level <= batch->top_level; level++)
        batch->levels[level].count = 0;
    if (batch->hard)
        take_back(batch, first_entry, first_wait);
    for (size_t i = 0; i < block->met.count; i++)
        repair->broken +=
            (unsigned)__builtin_popcountll(block->broken[block->met.items[i]] & ~batch->hard);
    return block->lids & ~batch->hard;
}
