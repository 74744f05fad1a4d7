/* Where one part of a tree lost a switch, the entries of all its hosts are broken at the same
 * switches, and there are the same neighbours to choose from. So a switch is settled for all LIDs
 * of a block that it is equally far from, before the next one is looked at: neighbours are asked
 * once, and what comes from whom is known as sets of LIDs.
 *
 * It is what repair_column.c does for one LID, as far as that is easy: one lane, and hops that can
 * be taken at once. What is not is left to it, with everything as it was. Because each switch still
 * takes its LIDs in ascending order, the choice of the least used link is the same. */
#include "routing/repair_batch.h"

#include <string.h>

/* A hop, and the LIDs for which … */
struct candidate {
    uint64_t use;  /* of the link; lower ports come first where that is the same */
    uint64_t good; /* … it may be chosen and agrees with the order in every way, … */
    uint64_t open; /* … it may be chosen, … */
    uint64_t goes; /* … what follows agrees with the order, … */
    uint64_t late; /* … what comes to the switch does not; all of that as far as is known */
    const struct network_edge *hop;
    bool rated; /* it is known */
};

/* What comes to a switch by one of its inputs. */
struct inflow {
    uint8_t in;
    uint64_t lids;
};

struct settling {
    uint32_t at, hops;
    uint64_t lids;
    uint64_t *load;
    uint8_t turn;
    int64_t last_inflow; /* the last place of what comes in, in the order */
    unsigned inflow_count, candidate_count;
    struct inflow inflows[NETWORK_TOP_PORT + 1];
    struct candidate candidates[NETWORK_TOP_PORT + 1];
    uint8_t place[256]; /* by port: which of them it is, if it is any */
    bool refused;
};

void repair_batch_init(struct repair_batch *batch, struct repair_column *column)
{
    size_t switches = column->network->switches.count + 1;
    *batch = (struct repair_batch){.column = column, .block = &column->block};
    batch->settled = mem_zalloc(switches, sizeof *batch->settled);
    batch->hops = mem_alloc(switches * BATCH_LIDS);
    batch->slot = mem_alloc(switches * sizeof *batch->slot);
}

void repair_batch_release(struct repair_batch *batch)
{
    mem_free(batch->settled);
    mem_free(batch->hops);
    mem_free(batch->slot);
    vec_release(&batch->changed);
    vec_release(&batch->row);
    vec_release(&batch->load);
    for (unsigned i = 0; i < BATCH_LEVELS; i++)
        vec_release(&batch->levels[i]);
}

/* ---- what is to be done ---- */

static void put_task(struct repair_batch *batch, unsigned level, uint32_t at, uint64_t lids)
{
    if (level >= BATCH_LEVELS) {
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

/* All that are broken get a row of their own, with the load as it is. */
static void copy_load(struct repair_batch *batch)
{
    const struct network *network = batch->column->network;
    const uint64_t *load = batch->column->repair->standing.load;
    batch->row.count = batch->load.count = 0;
    for (size_t i = 0; i < batch->block->met.count; i++) {
        const struct network_switch *node = &network->switches.items[batch->block->met.items[i]];
        size_t first = batch->load.count, count = node->port_count + 1u;
        vec_push(&batch->row, (uint32_t)first);
        vec_reserve(&batch->load, first + count);
        memcpy(batch->load.items + first, load + node->first_port, count * sizeof *load);
        batch->load.count += count;
    }
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

/* ---- candidates ---- */

static void find_inflows(struct repair_batch *batch, struct settling *settling)
{
    const struct network *network = batch->column->network;
    const struct standing *standing = &batch->column->repair->standing;
    uint32_t at = settling->at, first_port = network->switches.items[at].first_port;
    settling->inflow_count = 0;
    settling->last_inflow = INT64_MIN;
    if (!(batch->block->fed[at] & settling->lids) || batch->column->repair->patient)
        return;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint8_t in = network->edges[e].port;
        uint64_t lids = batch->block->coming[first_port + in] & settling->lids;
        if (!lids)
            continue;
        int64_t label = standing->label[standing->graph.first_node[at] + in];
        settling->inflows[settling->inflow_count++] = (struct inflow){in, lids};
        settling->last_inflow = label > settling->last_inflow ? label : settling->last_inflow;
    }
}

static uint64_t use_of(const struct settling *settling, const struct network_edge *hop)
{
    return settling->load[hop->port] << 8 | (uint8_t)(hop->port - settling->turn);
}

/* Neighbours that may be near enough. */
static void find_candidates(struct repair_batch *batch, struct settling *settling)
{
    const struct network *network = batch->column->network;
    const struct repair_goal *goals[BATCH_LIDS];
    uint32_t at = settling->at;
    unsigned goal_count = 0, count = 0;
    for (unsigned g = 0; g < batch->goal_count; g++)
        if (batch->goals[g].lids & settling->lids)
            goals[goal_count++] = &batch->goals[g];
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        const struct network_edge *hop = &network->edges[e];
        uint64_t near = 0;
        for (unsigned g = 0; g < goal_count; g++)
            near |= goals[g]->near[hop->to] < settling->hops ? goals[g]->lids : 0;
        near &= settling->lids;
        settling->place[hop->port] = (uint8_t)count;
        if (near)
            settling->candidates[count++] = (struct candidate){
                .use = use_of(settling, hop), .good = near, .open = near, .hop = hop};
    }
    settling->candidate_count = count;
    batch->column->repair->operations += network->first_edge[at + 1] - network->first_edge[at];
}

/* The order has changed. */
static void forget_ratings(struct settling *settling)
{
    settling->last_inflow = INT64_MAX;
    for (unsigned c = 0; c < settling->candidate_count; c++) {
        settling->candidates[c].rated = false;
        settling->candidates[c].good = settling->candidates[c].open;
    }
}

/* Whether it leads to somebody who is not broken any more, and what agrees with the order. */
static void rate(struct repair_batch *batch, const struct settling *settling,
                 struct candidate *candidate)
{
    const struct standing *standing = &batch->column->repair->standing;
    const struct network_edge *hop = candidate->hop;
    uint32_t first_port = batch->column->network->switches.items[settling->at].first_port;
    int64_t label = standing->label[standing->graph.first_node[hop->to] + hop->to_port];
    uint64_t broken = batch->block->broken[hop->to];
    candidate->rated = true;
    candidate->open &= ~broken | batch->settled[hop->to];
    candidate->goes = broken;
    if (candidate->open & ~broken)
        candidate->goes |= repair_block_fitting(batch->block, first_port + hop->port, hop,
                                                candidate->open & ~broken);
    candidate->late = 0;
    for (unsigned i = 0; settling->last_inflow >= label && i < settling->inflow_count; i++)
        if (standing->label[standing->graph.first_node[settling->at] + settling->inflows[i].in] >=
            label)
            candidate->late |= settling->inflows[i].lids;
    candidate->good = candidate->open & candidate->goes & ~candidate->late;
    batch->column->repair->operations += 2 + settling->inflow_count;
}

/* Of those that are good for a LID: the old port, or the one with the least use; NULL: none. */
static struct candidate *best_for(struct settling *settling, uint64_t bit, uint8_t old)
{
    struct candidate *end = settling->candidates + settling->candidate_count;
    uint64_t least = UINT64_MAX;
    unsigned place = settling->place[old];
    if (place < settling->candidate_count && settling->candidates[place].hop->port == old &&
        settling->candidates[place].good & bit)
        return &settling->candidates[place];
    for (struct candidate *candidate = settling->candidates; candidate < end; candidate++) {
        uint64_t use = candidate->good & bit ? candidate->use : UINT64_MAX;
        least = use < least ? use : least;
    }
    return least < UINT64_MAX
               ? &settling->candidates[settling->place[(uint8_t)(least + settling->turn)]]
               : NULL;
}

/* Of the others, which are all rated. Hops that agree with the order in what follows come first, or
 * are the only ones where an engine gave directions. */
static struct candidate *next_best_for(const struct repair_batch *batch, struct settling *settling,
                                       uint64_t bit, uint8_t old)
{
    bool strange = !batch->column->repair->standing.directed;
    struct candidate *best = NULL;
    uint64_t least = UINT64_MAX;
    for (unsigned c = 0; c < settling->candidate_count; c++) {
        struct candidate *candidate = &settling->candidates[c];
        uint64_t against = !(candidate->goes & bit), late = (candidate->late & bit) != 0;
        uint64_t other = candidate->hop->port != old;
        uint64_t rating = against << 63 | late << 62 | other << 61 | candidate->use;
        if (!(candidate->open & bit) || (against && !strange) || rating >= least)
            continue;
        least = rating;
        best = candidate;
    }
    return best;
}

/* Whether it is what it looks like; if not, that is noted. */
static bool confirm(struct repair_batch *batch, struct settling *settling,
                    struct candidate *candidate, unsigned lid)
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
static bool add_hop(struct repair_batch *batch, const struct settling *settling,
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

/* See repair_find_waits(). */
static void find_waits(struct repair_batch *batch, uint32_t at, unsigned lid, uint32_t entry)
{
    const struct network *network = batch->column->network;
    struct repair *repair = batch->column->repair;
    uint8_t in, unused;
    for (;;) {
        uint8_t port = *repair_block_entry(batch->block, at, lid);
        at = standing_next(network, at, port, &in);
        if (at == NETWORK_NONE || !(batch->block->broken[at] >> lid & 1))
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

static void settle(struct repair_batch *batch, const struct settling *settling,
                   const struct network_edge *hop, unsigned lid, uint8_t old)
{
    uint32_t at = settling->at;
    batch->settled[at] |= UINT64_C(1) << lid;
    batch->hops[(size_t)at * BATCH_LIDS + lid] = (uint8_t)(settling->hops + 1);
    uint32_t *changed = &batch->changed.items[batch->slot[at] * BATCH_LIDS + lid];
    *changed = NETWORK_NONE;
    if (hop->port == old)
        return;
    uint32_t entry = repair_change_entry_in(batch->column, at, batch->block->lid[lid], hop->port,
                                            settling->load);
    *repair_block_entry(batch->block, at, lid) = hop->port;
    *changed = entry;
    find_waits(batch, at, lid, entry);
}

/* Takes the hop, if that closes no circle. */
static bool take(struct repair_batch *batch, struct settling *settling, struct candidate *candidate,
                 unsigned lid)
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
    candidate->use = use_of(settling, hop);
    settling->refused |= !fine;
    if (batch->column->repair->standing.blocked) {
        batch->hard |= bit;
        batch->blocked |= bit;
        batch->column->repair->standing.blocked = false;
    }
    if (moves != batch->column->repair->standing.moves)
        forget_ratings(settling);
    return fine;
}

/* False if there is no hop to be found at this distance. What takes long to tell is asked only of
 * those whose turn it is. */
static bool settle_lid(struct repair_batch *batch, struct settling *settling, unsigned lid)
{
    uint64_t bit = UINT64_C(1) << lid;
    uint8_t old = *repair_block_entry(batch->block, settling->at, lid);
    for (;;) {
        struct candidate *best = best_for(settling, bit, old);
        if (!best)
            best = next_best_for(batch, settling, bit, old);
        if (!best || batch->hard & bit)
            return false;
        bool rated = best->rated;
        if (!rated)
            rate(batch, settling, best);
        if ((rated || best->good & bit) && confirm(batch, settling, best, lid) &&
            take(batch, settling, best, lid))
            return true;
    }
}

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
static void settle_task(struct repair_batch *batch, struct settling *settling,
                        struct repair_task task)
{
    settling->at = task.at;
    settling->hops = batch->level;
    settling->turn = batch->turn;
    settling->lids = task.lids & ~batch->hard;
    settling->load = load_of(batch, task.at);
    if (!settling->lids)
        return;
    find_inflows(batch, settling);
    find_candidates(batch, settling);
    for (uint64_t left = settling->lids; left; left &= left - 1) {
        settling->refused = false;
        if (settle_lid(batch, settling, (unsigned)__builtin_ctzll(left)))
            continue;
        if (is_far(batch, task.at, left & -left) ||
            (settling->refused && !batch->column->repair->standing.directed))
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
    memset(batch->goals, 0, sizeof batch->goals);
    find_goals(batch);
    find_tasks(batch);
    if (batch->column->repair->standing.fixed)
        copy_load(batch);
}

uint64_t repair_batch_mend(struct repair_batch *batch)
{
    struct repair *repair = batch->column->repair;
    const struct repair_block *block = batch->block;
    size_t first_entry = repair->entries.count, first_wait = repair->waits.count;
    struct settling settling = {0};
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
