/* Service levels that change before tables do, so that fewer VLs have to be held.
 *
 * A VL is unsafe if packets of old levels can form a dependency cycle on it by the new tables.
 * Mostly few pairs cause that. If these use another VL while the old tables are still in place, one
 * on which neither their old paths nor their new ones close a cycle, no VL has to be held for them.
 * Pairs that have no such VL are gathered on as few VLs as possible, those with little traffic
 * first. Such a VL is held, and then assigned again for new paths, the difficult ones first; if a
 * path fits on no VL, one more is held.
 *
 * So each VL has two graphs: one of the old tables, with old levels and the first levels that
 * replace them, and one of the new tables, with the first and the last levels. update_plan_make()
 * makes the plan itself and decides which VLs are held. */
#include "routing/update/path_groups.h"
#include "routing/update/planner.h"

#include <assert.h>
#include <string.h>

enum { UNPLACED_MOST = 256 }; /* with that many, no VL is spared and the search takes long */

struct sl_planner {
    const struct network *network;
    const struct routes *before;
    struct routes *after;
    struct path_groups groups;
    unsigned vls;
    struct cdg old, new; /* a layer for each VL */
    uint8_t *first;      /* levels, as before->service_levels */
    uint8_t *last;       /* as after->service_levels */
    uint64_t pairs[UPDATE_PLAN_VLS];
    uint16_t held; /* VLs */
    VEC(struct path_group) changed, unplaced;
};

/* The VL of the old packets of the group that was read; UPDATE_PLAN_VLS if they have several. */
static unsigned old_vl(const struct sl_planner *planner)
{
    uint16_t vls = path_groups_vls(&planner->groups, planner->before);
    return vls & (vls - 1) ? UPDATE_PLAN_VLS : (unsigned)__builtin_ctz(vls);
}

static unsigned last_vl(const struct sl_planner *planner)
{
    const struct group_path *path = &planner->groups.paths[0];
    return planner->last[(size_t)path->from * planner->after->stride + path->lid];
}

/* Whether the paths of the group that was read are the same by both tables. */
static bool paths_stay(const struct sl_planner *planner)
{
    const struct network *network = planner->network;
    for (size_t i = 0; i < planner->groups.count; i++) {
        uint32_t at = planner->groups.paths[i].from, lid = planner->groups.paths[i].lid;
        for (size_t hops = 0; at != NETWORK_NONE; hops++) {
            uint8_t port = routes_port(planner->after, at, lid);
            if (port != routes_port(planner->before, at, lid) || hops > network->switches.count)
                return false;
            uint32_t out = cdg_leaving(&planner->new, at, port);
            at = out == NETWORK_NONE ? NETWORK_NONE : network->edges[out].to;
        }
    }
    return true;
}

/* Puts the new paths of the group that was read, its old ones, or both on a VL, if they fit. */
static bool take_vl(struct sl_planner *planner, unsigned vl, bool old, bool new)
{
    const struct path_groups *groups = &planner->groups;
    if (vl >= planner->vls)
        return false;
    cdg_begin(&planner->new);
    cdg_begin(&planner->old);
    bool fits = (!new || path_groups_lay(groups, &planner->new, vl, planner->after, true)) &&
                (!old || path_groups_lay(groups, &planner->old, vl, planner->before, true));
    cdg_end(&planner->new, fits);
    cdg_end(&planner->old, fits);
    if (fits && old)
        path_groups_set(groups, planner->before, planner->first, vl);
    if (fits && new)
        path_groups_set(groups, planner->after, planner->last, vl);
    return fits;
}

/* Groups that cannot stay on their VL get another one, those with few pairs first. */
static void move_changed(struct sl_planner *planner)
{
    size_t left = 0;
    for (size_t i = 0; i < planner->changed.count; i++) {
        path_groups_read(&planner->groups, planner->changed.items[i]);
        if (!take_vl(planner, old_vl(planner), false, true))
            planner->changed.items[left++] = planner->changed.items[i];
    }
    planner->changed.count = left;
    for (size_t i = 0; i < left && planner->unplaced.count < UNPLACED_MOST; i++) {
        bool placed = false;
        path_groups_read(&planner->groups, planner->changed.items[i]);
        for (unsigned vl = planner->vls; vl-- > 0 && !placed;)
            placed = take_vl(planner, vl, true, true);
        if (!placed)
            vec_push(&planner->unplaced, planner->changed.items[i]);
    }
}

/* The VL with the fewest pairs, as a bit, of those that are not held. */
static uint16_t rarest_vl(const struct sl_planner *planner)
{
    unsigned best = UPDATE_PLAN_VLS;
    for (unsigned vl = 0; vl < planner->vls; vl++)
        if (!(planner->held >> vl & 1) &&
            (best == UPDATE_PLAN_VLS || planner->pairs[vl] < planner->pairs[best]))
            best = vl;
    return (uint16_t)(1u << best);
}

/* Puts the old paths of unplaced groups on VLs that are held, as few as possible. */
static void gather_unplaced(struct sl_planner *planner)
{
    uint16_t candidates = rarest_vl(planner);
    for (size_t i = 0; i < planner->unplaced.count; i++) {
        path_groups_read(&planner->groups, planner->unplaced.items[i]);
        unsigned own = old_vl(planner);
        bool placed = false;
        for (unsigned vl = planner->vls; vl-- > 0 && !placed;) {
            bool may = ((planner->held | candidates) >> vl & 1) != 0;
            placed = may && (vl == own || take_vl(planner, vl, true, false));
            if (placed)
                planner->held |= (uint16_t)(1u << vl);
        }
        if (!placed)
            planner->held |= path_groups_vls(&planner->groups, planner->before);
    }
}

/* A VL for the new paths of the group that was read: the one given, or one that is held, or any. */
static bool find_last_vl(struct sl_planner *planner, unsigned first)
{
    unsigned vls = planner->vls;
    assert(vls > 0);
    bool found = take_vl(planner, first, false, true);
    for (unsigned i = 0; i < 2 * vls && !found; i++) {
        unsigned vl = i % vls;
        bool held = planner->held >> vl & 1;
        found = held == (i < vls) && take_vl(planner, vl, false, true);
    }
    return found;
}

/* Assigns the VLs that are held again, for new paths, the difficult ones first. */
static bool assign_held_vls(struct sl_planner *planner)
{
    struct path_groups *groups = &planner->groups;
    planner->changed.count = 0;
    for (size_t i = 0; i < planner->unplaced.count; i++) {
        path_groups_read(groups, planner->unplaced.items[i]);
        path_groups_set(groups, planner->after, planner->last, UPDATE_PLAN_VLS);
    }
    for (struct path_group group = {0}; path_groups_next(groups, &group);) {
        path_groups_read(groups, group);
        if (planner->held >> last_vl(planner) & 1)
            vec_push(&planner->changed, group);
    }
    for (unsigned vl = 0; vl < planner->vls; vl++)
        if (planner->held >> vl & 1)
            cdg_clear(&planner->new, vl);
    for (size_t i = 0; i < planner->unplaced.count; i++) {
        path_groups_read(groups, planner->unplaced.items[i]);
        if (!find_last_vl(planner, UPDATE_PLAN_VLS))
            return false;
    }
    for (size_t i = 0; i < planner->changed.count; i++) {
        path_groups_read(groups, planner->changed.items[i]);
        if (!find_last_vl(planner, last_vl(planner)))
            return false;
    }
    return true;
}

/* Finds VLs for the unplaced groups with fewer VLs to hold than `limit`. */
static bool place_unplaced(struct sl_planner *planner, int limit)
{
    if (planner->unplaced.count == 0)
        return true;
    if (planner->unplaced.count == UNPLACED_MOST)
        return false;
    for (gather_unplaced(planner); __builtin_popcount(planner->held) < limit;
         planner->held |= rarest_vl(planner))
        if (assign_held_vls(planner))
            return true;
    return false;
}

/* Fills both graphs: with all old paths, and with the new paths that stay as they are, on their VL.
 * The other groups are `changed`. False if a graph has a cycle. */
static bool lay_old_paths(struct sl_planner *planner)
{
    bool acyclic = true;
    update_lay_all(&planner->old, planner->before, planner->before, planner->pairs);
    for (struct path_group group = {0}; path_groups_next(&planner->groups, &group);) {
        path_groups_read(&planner->groups, group);
        unsigned vl = old_vl(planner);
        if (vl < planner->vls && paths_stay(planner)) {
            path_groups_lay(&planner->groups, &planner->new, vl, planner->after, false);
            path_groups_set(&planner->groups, planner->after, planner->last, vl);
        } else {
            vec_push(&planner->changed, group);
        }
    }
    for (unsigned vl = 0; vl < planner->vls; vl++)
        acyclic &= cdg_sort(&planner->old, vl) && cdg_sort(&planner->new, vl);
    return acyclic;
}

static uint8_t *copy_levels(const struct routes *routes)
{
    size_t cells = (size_t)routes->switch_count * routes->stride;
    return memcpy(mem_alloc(cells + 1), routes->service_levels, cells);
}

/* Returns the first levels, or NULL; `*last` are those for the new routes. */
static uint8_t *move_levels(const struct network *network, const struct routes *before,
                            struct routes *after, uint8_t **last, int limit)
{
    struct sl_planner planner = {.network = network, .before = before, .after = after};
    planner.vls = before->vls < after->vls ? before->vls : after->vls;
    planner.vls = planner.vls < UPDATE_PLAN_VLS ? planner.vls : UPDATE_PLAN_VLS;
    planner.first = copy_levels(before);
    planner.last = copy_levels(after);
    path_groups_init(&planner.groups, network, after->reversible);
    cdg_init(&planner.old, network);
    cdg_init(&planner.new, network);
    while (planner.old.count < planner.vls) {
        cdg_open(&planner.old);
        cdg_open(&planner.new);
    }
    bool moved = lay_old_paths(&planner);
    if (moved) {
        move_changed(&planner);
        moved = planner.changed.count > 0 && place_unplaced(&planner, limit);
    }
    after->operations += planner.old.reordering + planner.new.reordering;
    cdg_release(&planner.old);
    cdg_release(&planner.new);
    path_groups_release(&planner.groups);
    vec_release(&planner.changed);
    vec_release(&planner.unplaced);
    if (!moved) {
        mem_free(planner.first);
        mem_free(planner.last);
        return NULL;
    }
    *last = planner.last;
    return planner.first;
}

static void swap_levels(struct routes *routes, uint8_t **levels)
{
    uint8_t *held = routes->service_levels;
    routes->service_levels = *levels;
    *levels = held;
}

/* Whether sources can change from one set of levels to another with the same tables. */
static bool may_change(const struct network *network, const struct routes *before,
                       const struct routes *middle)
{
    struct update_plan plan;
    update_plan_make(&plan, network, before, middle);
    bool may = plan.stuck_vls == 0 && plan.waves.count == 0;
    update_plan_release(&plan);
    return may;
}

void update_plan_make_with_levels(struct update_plan *plan, const struct network *network,
                                  const struct routes *before, struct routes *after)
{
    uint8_t *last;
    if (!before->service_levels || !after->service_levels || after->vls < 2 || before->vls < 2) {
        update_plan_make(plan, network, before, after);
        return;
    }
    uint8_t *own = copy_levels(after);
    update_plan_keep_levels(network, before, after);
    update_plan_make(plan, network, before, after);
    if (plan->stuck_vls) {
        swap_levels(after, &own);
        uint8_t *first =
            move_levels(network, before, after, &last, __builtin_popcount(plan->stuck_vls));
        swap_levels(after, &own);
        if (first) {
            /* Replaces the plan by one with first levels, if that holds fewer VLs. */
            struct routes middle = *before;
            struct update_plan other;
            middle.service_levels = first;
            swap_levels(after, &last);
            update_plan_make(&other, network, &middle, after);
            bool better =
                __builtin_popcount(other.stuck_vls) < __builtin_popcount(plan->stuck_vls) &&
                may_change(network, before, &middle);
            uint64_t operations = plan->operations + other.operations;
            if (better) {
                struct update_plan worse = *plan;
                *plan = other;
                other = worse;
                plan->first_levels = first;
                plan->first_hops = routes_longest(before, network);
            } else {
                swap_levels(after, &last);
                mem_free(first);
            }
            plan->operations = operations;
            update_plan_release(&other);
            mem_free(last);
        }
    }
    mem_free(own);
}
