/* Planning an update: which entries may be written together, and when to wait.
 *
 * The planner keeps the graph of all dependencies that can have arisen since the last drain and
 * tries to add the updates one by one; an update whose new dependencies would close a cycle is
 * postponed. Postponed updates are tried again in the next wave, when more switches have
 * acknowledged and their old entries no longer count; if a whole pass adds nothing, a drain removes
 * the dependencies of earlier tables; if that does not help, the remaining tables are split, into
 * blocks and then into single entries. Entries that are left are reported as stuck, together with
 * the VLs on which they could close a cycle if they were all written at once after a drain.
 *
 * The order in which updates are tried is a strategy. For up*-down* tables children go before
 * parents, and parents only when all their children have acknowledged: PIRa followed by FERa needs
 * no drain then. The opposite change works better from the root, and tables without directions in
 * no particular order; each strategy is tried until one has neither drains nor stuck entries.
 *
 * A drain ends when all packets that replaced entries have sent are gone. The plan has the number
 * of hops that the present tables need for that. */
#include "routing/update/make_plan.h"

#include "routing/update/planner.h"

#include <assert.h>
#include <string.h>

enum {
    WORK_LIMIT = 2000000000,
    SPLIT_MOST = 4096, /* blocks; if VLs are held anyway, more are not worth the time */
};

enum strategy { CHILDREN_FIRST, PARENTS_FIRST, ANY_ORDER };

/* Whether all neighbours that must be written first have acknowledged. */
static bool may_write(const struct planner *planner, enum strategy strategy, uint32_t at)
{
    const struct network *network = planner->network;
    const uint32_t *ranks = planner->after->ranks;
    if (strategy == ANY_ORDER)
        return true;
    for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
        uint32_t to = network->edges[e].to;
        if ((ranks[to] > ranks[at]) == (strategy == CHILDREN_FIRST) && planner->pending[to])
            return false;
    }
    return true;
}

/* One pass over the postponed updates; false if it added none to a new wave. */
static bool make_wave(struct planner *planner, enum strategy strategy, bool drain)
{
    struct update_plan *plan = planner->plan;
    struct update_wave wave = {.first = (uint32_t)plan->updates.count, .drain = drain};
    wave.drain_hops = drain ? planner->drain_hops : 0;
    uint32_t kept = 0;
    for (size_t i = 0; i < planner->left.count; i++) {
        struct table_update update = planner->left.items[i];
        if (plan->work < WORK_LIMIT && may_write(planner, strategy, update.at) &&
            planner_try(planner, &update))
            vec_push(&plan->updates, update);
        else
            planner->left.items[kept++] = update;
    }
    planner->left.count = kept;
    wave.count = (uint32_t)plan->updates.count - wave.first;
    if (wave.count == 0)
        return false;
    vec_push(&plan->waves, wave);
    for (uint32_t i = wave.first; i < plan->updates.count; i++) {
        const struct table_update *update = &plan->updates.items[i];
        memset(planner->phase + (size_t)update->at * planner->stride + update->first_lid,
               ENTRY_ACKED, update->lid_count);
        planner->pending[update->at]--;
    }
    planner->drained_last = false;
    return true;
}

/* Adds the differences in a range of a table, as runs of pieces of the given size. */
static void gather_pieces(struct planner *planner, uint32_t at, uint32_t lid, uint32_t count,
                          uint32_t piece, bool join)
{
    size_t start = planner->left.count;
    for (uint32_t end = lid + count; lid < end; lid += piece) {
        uint32_t same = 0;
        while (same < piece &&
               planner_old(planner, at, lid + same) == planner_new(planner, at, lid + same))
            same++;
        if (same == piece)
            continue;
        struct table_update *last = planner->left.count > start && join
                                        ? &planner->left.items[planner->left.count - 1]
                                        : NULL;
        if (last && last->first_lid + last->lid_count == (int)lid) {
            last->lid_count = (uint16_t)(last->lid_count + piece);
            continue;
        }
        vec_push(&planner->left, ((struct table_update){at, (uint16_t)lid, (uint16_t)piece}));
        planner->pending[at]++;
    }
}

/* The most hops that packets of entries replaced since the last drain still have to travel. */
static uint32_t hops_to_drain(const struct planner *planner)
{
    const struct network *network = planner->network;
    uint32_t most = 1;
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t lid = 1; lid < planner->stride; lid++) {
            uint8_t port = planner_old(planner, at, lid);
            if (planner_entry_state(planner, at, lid) != ENTRY_ACKED ||
                port == planner_new(planner, at, lid))
                continue;
            uint32_t hops = 0, next = network_next(network, at, port);
            while (next != NETWORK_NONE && hops <= network->switches.count) {
                bool written = planner_entry_state(planner, next, lid) >= ENTRY_ACKED;
                port = written ? planner_new(planner, next, lid) : planner_old(planner, next, lid);
                next = network_next(network, next, port);
                hops++;
            }
            most = hops > most ? hops : most;
        }
    return most;
}

/* Adds waves until no update is left or none fits. */
static void make_waves(struct planner *planner, enum strategy strategy, bool drains)
{
    uint32_t piece = planner->stride;
    bool drain = false;
    while (planner->left.count && planner->plan->work < WORK_LIMIT) {
        if (make_wave(planner, strategy, drain)) {
            drain = false;
        } else if (drains && !planner->drained_last) {
            planner->drain_hops = hops_to_drain(planner);
            if (!planner_drain(planner))
                break;
            drain = true;
        } else if (strategy != ANY_ORDER) {
            strategy = ANY_ORDER; /* the old tables had other directions */
        } else if (piece > 1 &&
                   (drains || piece > ROUTES_BLOCK || planner->left.count < SPLIT_MOST)) {
            piece = piece > ROUTES_BLOCK ? ROUTES_BLOCK : 1;
            size_t count = planner->left.count;
            struct table_update *whole = planner->left.items;
            planner->left.items = NULL;
            planner->left.count = planner->left.capacity = 0;
            for (size_t i = 0; i < count; i++) {
                planner->pending[whole[i].at]--;
                gather_pieces(planner, whole[i].at, whole[i].first_lid, whole[i].lid_count, piece,
                              false);
            }
            mem_free(whole);
        } else {
            break;
        }
    }
}

/* The end of the plan: all updates that are left, after a drain, with sources held on some VLs; or
 * only a drain, if sources must not use new service levels before it. */
static void end_plan(struct planner *planner)
{
    struct update_plan *plan = planner->plan;
    struct update_wave last = {.first = (uint32_t)plan->updates.count,
                               .drain = true,
                               .drain_hops = hops_to_drain(planner)};
    uint16_t vls = planner_finish(planner);
    bool drained = planner->left.count > 0;
    if (vls && !drained && plan->waves.count) {
        planner_drain(planner);
        vls = planner_finish(planner);
        drained = true;
    }
    for (size_t i = 0; i < planner->left.count; i++)
        if (vls)
            vec_push(&plan->stuck, planner->left.items[i]);
        else
            vec_push(&plan->updates, planner->left.items[i]);
    last.count = (uint32_t)plan->updates.count - last.first;
    if (drained && !vls)
        vec_push(&plan->waves, last);
    plan->stuck_vls = vls;
    plan->stuck_hops = vls ? last.drain_hops : 0;
}

static void make_plan_by(struct planner *planner, enum strategy strategy, bool drains)
{
    /* Lists all differences, in whole blocks, in the strategy's order. */
    uint32_t switches = (uint32_t)planner->network->switches.count;
    uint32_t *order = mem_alloc(switches * sizeof *order);
    planner->plan->operations += (uint64_t)switches * planner->stride;
    planner->left.count = 0;
    memset(planner->pending, 0, switches * sizeof *planner->pending);
    for (uint32_t at = 0; at < switches; at++) {
        uint32_t rank = planner->after->ranks ? planner->after->ranks[at] : at;
        order[strategy == PARENTS_FIRST ? rank : switches - 1 - rank] = at;
    }
    for (uint32_t i = 0; i < switches; i++)
        gather_pieces(planner, order[i], 0, planner->stride, ROUTES_BLOCK, true);
    mem_free(order);
    if (planner_begin(planner))
        make_waves(planner, strategy, drains);
    if (planner->left.count || planner->levels)
        end_plan(planner);
}

/* Less is better: VLs to hold, stuck entries, then drains, then waves. Entries written during a
 * hold cost less than the time of a drain. */
static bool is_better(const struct update_plan *plan, const struct update_plan *other, bool hold)
{
    uint64_t costs[2][4] = {{0}};
    for (int i = 0; i < 2; i++) {
        const struct update_plan *one = i ? other : plan;
        costs[i][0] = (uint64_t)__builtin_popcount(one->stuck_vls);
        costs[i][1] = hold ? update_plan_drains(one) : 0;
        for (size_t k = 0; k < one->stuck.count; k++)
            costs[i][2] += one->stuck.items[k].lid_count;
        costs[i][3] = update_plan_drains(one);
    }
    for (int i = 0; i < 4; i++)
        if (costs[0][i] != costs[1][i])
            return costs[0][i] < costs[1][i];
    return plan->waves.count < other->waves.count;
}

/* Makes another plan and keeps the better one. */
static void try_plan(struct planner *planner, enum strategy strategy, bool drains, bool hold)
{
    struct update_plan *plan = planner->plan;
    struct update_plan other = {.work = plan->work, .operations = plan->operations};
    planner->plan = &other;
    make_plan_by(planner, strategy, drains);
    planner->plan = plan;
    plan->work = other.work;
    plan->operations = other.operations;
    if (is_better(&other, plan, hold)) {
        struct update_plan worse = *plan;
        *plan = other;
        other = worse;
    }
    update_plan_release(&other);
}

static void choose_plan(struct planner *planner)
{
    const struct update_plan *plan = planner->plan;
    bool ranked = planner->after->ranks;
    uint16_t vls = planner_unsafe_vls(planner);
    make_plan_by(planner, ranked && !vls ? CHILDREN_FIRST : ANY_ORDER, !vls);
    if (vls && plan->stuck_vls == vls)
        return;
    if (vls)
        try_plan(planner, ranked ? CHILDREN_FIRST : ANY_ORDER, true, true);
    for (int strategy = PARENTS_FIRST; ranked && strategy <= ANY_ORDER; strategy++)
        if (plan->stuck_vls || update_plan_drains(plan))
            try_plan(planner, (enum strategy)strategy, true, vls);
}

/* Packets on held VLs leave by the tables without the stuck entries; they may need as many hops as
 * the longest path. */
static void add_drain_hops(struct update_plan *plan, const struct planner *planner)
{
    const struct network *network = planner->network;
    size_t cells = (size_t)network->switches.count * planner->stride;
    struct routes mixed = {.switch_count = (uint32_t)network->switches.count,
                           .stride = planner->stride,
                           .top_lid = (uint16_t)(planner->stride - 1),
                           .ports = mem_alloc(cells)};
    for (uint32_t at = 0; at < network->switches.count; at++)
        for (uint32_t lid = 0; lid < planner->stride; lid++)
            routes_row(&mixed, at)[lid] = planner_new(planner, at, lid);
    for (size_t i = 0; i < plan->stuck.count; i++) {
        const struct table_update *update = &plan->stuck.items[i];
        for (uint32_t k = 0; k < update->lid_count; k++)
            routes_row(&mixed, update->at)[update->first_lid + k] =
                planner_old(planner, update->at, update->first_lid + k);
    }
    uint32_t hops = routes_longest(&mixed, network);
    plan->stuck_hops = hops > plan->stuck_hops ? hops : plan->stuck_hops;
    mem_free(mixed.ports);
}

void update_plan_hold_all(struct update_plan *plan, const struct network *network,
                          const struct routes *before, const struct routes *after)
{
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t stride = before->stride > after->stride ? before->stride : after->stride;
    struct planner planner = {
        .network = network, .before = before, .after = after, .plan = plan, .stride = stride};
    *plan = (struct update_plan){.operations = (uint64_t)switches * stride};
    planner.pending = mem_zalloc(switches + 1, sizeof *planner.pending);
    for (uint32_t at = 0; at < switches; at++)
        gather_pieces(&planner, at, 0, stride, ROUTES_BLOCK, true);
    for (size_t i = 0; i < planner.left.count; i++)
        vec_push(&plan->stuck, planner.left.items[i]);
    unsigned vls = before->vls > after->vls ? before->vls : after->vls;
    plan->stuck_vls = (uint16_t)((1u << (vls < UPDATE_PLAN_VLS ? vls : UPDATE_PLAN_VLS)) - 1);
    plan->stuck_hops = routes_longest(before, network);
    mem_free(planner.pending);
    vec_release(&planner.left);
}

void update_plan_make(struct update_plan *plan, const struct network *network,
                      const struct routes *before, const struct routes *after)
{
    assert(before->switch_count == network->switches.count &&
           after->switch_count == network->switches.count);
    uint32_t stride = before->stride > after->stride ? before->stride : after->stride;
    struct planner planner = {
        .network = network, .before = before, .after = after, .plan = plan, .stride = stride};
    *plan = (struct update_plan){0};
    if (network->switches.count == 0)
        return;
    planner_init(&planner);
    choose_plan(&planner);
    if (plan->stuck_vls)
        add_drain_hops(plan, &planner);
    plan->operations += planner.cdg.reordering;
    planner_release(&planner);
}
