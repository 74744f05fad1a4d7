/* Levels that change before tables do, so that fewer lanes have to be held.
 *
 * What dooms a lane is that packets of old levels, by new tables, close a circle there. Mostly that
 * is the work of few pairs. If these go to another lane while the old tables are still in place,
 * one on which neither their old paths nor their new ones close a circle, nothing has to be held
 * for them. Pairs that have no such lane come together on as few lanes as can be, those with little
 * traffic first. Such a lane is held, and then laid anew for new paths, the difficult ones first;
 * if not all find a lane, one more is held.
 *
 * So there are two graphs for each lane: what old tables give rise to, with old levels and with the
 * first ones that replace them; and what new tables do, with the first and with the last. The plan
 * itself is made, and its lanes are judged, by those who know nothing of this. */
#include "routing/update/path_groups.h"
#include "routing/update/planner.h"

#include <string.h>

enum { HOMELESS_MOST = 256 }; /* with as many as these no lane is spared, and it takes long */

struct mover {
    const struct network *network;
    const struct routes *before;
    struct routes *after;
    struct path_groups groups;
    unsigned lanes;
    struct cdg old, new; /* a layer for each lane */
    uint8_t *first;      /* levels, as before->service_levels */
    uint8_t *last;       /* as after->service_levels */
    uint64_t pairs[UPDATE_PLAN_VLS];
    uint16_t doomed; /* lanes */
    VEC(struct path_group) changed, homeless;
    unsigned lane;  /* of the group that is being laid */
    uint16_t found; /* old lanes of the group that is being looked at */
};

static bool note_old_lane(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    mover->found |= (uint16_t)(1u << update_level(mover->before, from, lid));
    return true;
}

/* The one lane that the group's packets had; more than there are if they had several. */
static unsigned old_lane(struct mover *mover, struct path_group group)
{
    mover->found = 0;
    path_group_each(&mover->groups, group, note_old_lane, mover);
    bool one = (mover->found & (mover->found - 1)) == 0;
    return one ? (unsigned)__builtin_ctz(mover->found) : UPDATE_PLAN_VLS;
}

static bool path_stays(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    return update_path_stays(&mover->new, mover->before, mover->after, from, lid);
}

static bool put_new(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    return update_lay_path(&mover->new, mover->lane, mover->after, from, lid, false);
}

static bool add_new(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    return update_lay_path(&mover->new, mover->lane, mover->after, from, lid, true);
}

static bool add_old(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    return update_lay_path(&mover->old, mover->lane, mover->before, from, lid, true);
}

static bool set_first(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    if (lid < mover->before->stride)
        mover->first[(size_t)from * mover->before->stride + lid] = (uint8_t)mover->lane;
    return true;
}

static bool set_last(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    mover->last[(size_t)from * mover->after->stride + lid] = (uint8_t)mover->lane;
    return true;
}

/* Paths that stay stay on their lane. */
static void sort_group(void *context, struct path_group group)
{
    struct mover *mover = context;
    mover->lane = old_lane(mover, group);
    if (mover->lane < mover->lanes && path_group_each(&mover->groups, group, path_stays, mover)) {
        path_group_each(&mover->groups, group, put_new, mover);
        path_group_each(&mover->groups, group, set_last, mover);
    } else {
        vec_push(&mover->changed, group);
    }
}

/* Whether the group's new paths, its old ones, or both, fit on a lane; then they are there. */
static bool take_lane(struct mover *mover, struct path_group group, unsigned lane, bool old,
                      bool new)
{
    if (lane >= mover->lanes)
        return false;
    mover->lane = lane;
    cdg_begin(&mover->new);
    cdg_begin(&mover->old);
    bool fits = (!new || path_group_each(&mover->groups, group, add_new, mover)) &&
                (!old || path_group_each(&mover->groups, group, add_old, mover));
    if (!fits) {
        cdg_undo(&mover->new);
        cdg_undo(&mover->old);
        return false;
    }
    cdg_commit(&mover->new);
    cdg_commit(&mover->old);
    if (old)
        path_group_each(&mover->groups, group, set_first, mover);
    if (new)
        path_group_each(&mover->groups, group, set_last, mover);
    return true;
}

/* Those that cannot stay on their lane go to another, those with few pairs first. */
static void move_changed(struct mover *mover)
{
    size_t left = 0;
    for (size_t i = 0; i < mover->changed.count; i++) {
        struct path_group group = mover->changed.items[i];
        if (!take_lane(mover, group, old_lane(mover, group), false, true))
            mover->changed.items[left++] = group;
    }
    mover->changed.count = left;
    for (size_t i = 0; i < left && mover->homeless.count < HOMELESS_MOST; i++) {
        struct path_group group = mover->changed.items[i];
        bool placed = false;
        for (unsigned lane = mover->lanes; lane-- > 0 && !placed;)
            placed = take_lane(mover, group, lane, true, true);
        if (!placed)
            vec_push(&mover->homeless, group);
    }
}

/* Of those that are not held. */
static uint16_t rarest_lane(const struct mover *mover)
{
    unsigned best = UPDATE_PLAN_VLS;
    for (unsigned lane = 0; lane < mover->lanes; lane++)
        if (!(mover->doomed >> lane & 1) &&
            (best == UPDATE_PLAN_VLS || mover->pairs[lane] < mover->pairs[best]))
            best = lane;
    return (uint16_t)(1u << best);
}

/* They come together on lanes that are held, as few as can be. */
static void gather_homeless(struct mover *mover)
{
    uint16_t candidates = rarest_lane(mover);
    for (size_t i = 0; i < mover->homeless.count; i++) {
        struct path_group group = mover->homeless.items[i];
        unsigned own = old_lane(mover, group);
        bool placed = false;
        for (unsigned lane = mover->lanes; lane-- > 0 && !placed;) {
            bool may = ((mover->doomed | candidates) >> lane & 1) != 0;
            placed = may && (lane == own || take_lane(mover, group, lane, true, false));
            if (placed)
                mover->doomed |= (uint16_t)(1u << lane);
        }
        if (!placed)
            mover->doomed |= mover->found;
    }
}

static bool note_last_lane(void *context, uint32_t from, uint32_t lid)
{
    struct mover *mover = context;
    mover->lane = mover->last[(size_t)from * mover->after->stride + lid];
    return false;
}

static void clear_out(void *context, struct path_group group)
{
    struct mover *mover = context;
    path_group_each(&mover->groups, group, note_last_lane, mover);
    if (mover->doomed >> mover->lane & 1)
        vec_push(&mover->changed, group);
}

/* The lane for new paths: the one given, or one that is held, or any. */
static bool find_last(struct mover *mover, struct path_group group, unsigned first)
{
    if (take_lane(mover, group, first, false, true))
        return true;
    for (unsigned lane = 0; lane < mover->lanes; lane++)
        if ((mover->doomed >> lane & 1) && take_lane(mover, group, lane, false, true))
            return true;
    for (unsigned lane = 0; lane < mover->lanes; lane++)
        if (!(mover->doomed >> lane & 1) && take_lane(mover, group, lane, false, true))
            return true;
    return false;
}

/* Lanes that are held are laid anew for new paths, the difficult ones first. */
static bool lay_doomed_lanes(struct mover *mover)
{
    mover->changed.count = 0;
    mover->lane = UPDATE_PLAN_VLS; /* not yet on any */
    for (size_t i = 0; i < mover->homeless.count; i++)
        path_group_each(&mover->groups, mover->homeless.items[i], set_last, mover);
    path_groups_each(&mover->groups, clear_out, mover);
    for (unsigned lane = 0; lane < mover->lanes; lane++)
        if (mover->doomed >> lane & 1)
            cdg_clear(&mover->new, lane);
    for (size_t i = 0; i < mover->homeless.count; i++)
        if (!find_last(mover, mover->homeless.items[i], UPDATE_PLAN_VLS))
            return false;
    for (size_t i = 0; i < mover->changed.count; i++) {
        path_group_each(&mover->groups, mover->changed.items[i], note_last_lane, mover);
        if (!find_last(mover, mover->changed.items[i], mover->lane))
            return false;
    }
    return true;
}

/* With fewer lanes to hold than `limit`. */
static bool house_the_rest(struct mover *mover, int limit)
{
    if (mover->homeless.count == 0)
        return true;
    if (mover->homeless.count == HOMELESS_MOST)
        return false;
    for (gather_homeless(mover); __builtin_popcount(mover->doomed) < limit;
         mover->doomed |= rarest_lane(mover))
        if (lay_doomed_lanes(mover))
            return true;
    return false;
}

static bool lay_old_paths(struct mover *mover)
{
    const struct network *network = mover->network;
    bool acyclic = true;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        for (uint32_t from = 0; from < network->switches.count; from++) {
            unsigned lane = update_level(mover->before, from, lid);
            if (network->owner[lid] == NETWORK_NONE || lane >= mover->lanes)
                continue;
            mover->pairs[lane]++;
            update_lay_path(&mover->old, lane, mover->before, from, lid, false);
        }
    path_groups_each(&mover->groups, sort_group, mover);
    for (unsigned lane = 0; lane < mover->lanes; lane++)
        acyclic &= cdg_sort(&mover->old, lane) && cdg_sort(&mover->new, lane);
    return acyclic;
}

static void init_mover(struct mover *mover)
{
    const struct routes *before = mover->before, *after = mover->after;
    mover->lanes = before->vls < after->vls ? before->vls : after->vls;
    mover->lanes = mover->lanes < UPDATE_PLAN_VLS ? mover->lanes : UPDATE_PLAN_VLS;
    size_t old_cells = (size_t)before->switch_count * before->stride;
    size_t new_cells = (size_t)after->switch_count * after->stride;
    mover->first = mem_alloc(old_cells + 1);
    mover->last = mem_alloc(new_cells + 1);
    memcpy(mover->first, before->service_levels, old_cells);
    memcpy(mover->last, after->service_levels, new_cells);
    path_groups_init(&mover->groups, mover->network, after->reversible);
    cdg_init(&mover->old, mover->network);
    cdg_init(&mover->new, mover->network);
    while (mover->old.count < mover->lanes) {
        cdg_open(&mover->old);
        cdg_open(&mover->new);
    }
}

/* Returns the first levels, or NULL; `*last` are those for the new routes. */
static uint8_t *move_levels(const struct network *network, const struct routes *before,
                            struct routes *after, uint8_t **last, int limit)
{
    struct mover mover = {.network = network, .before = before, .after = after};
    init_mover(&mover);
    bool moved = lay_old_paths(&mover);
    if (moved) {
        move_changed(&mover);
        moved = mover.changed.count > 0 && house_the_rest(&mover, limit);
    }
    after->operations += mover.old.reordering + mover.new.reordering;
    cdg_release(&mover.old);
    cdg_release(&mover.new);
    path_groups_release(&mover.groups);
    vec_release(&mover.changed);
    vec_release(&mover.homeless);
    if (!moved) {
        mem_free(mover.first);
        mem_free(mover.last);
        return NULL;
    }
    *last = mover.last;
    return mover.first;
}

static void swap_levels(struct routes *routes, uint8_t **levels)
{
    uint8_t *held = routes->service_levels;
    routes->service_levels = *levels;
    *levels = held;
}

/* Whether sources can change from one set of levels to another by the same tables. */
static bool may_change(const struct network *network, const struct routes *before,
                       const struct routes *middle)
{
    struct update_plan plan;
    update_plan_make(&plan, network, before, middle);
    bool may = plan.stuck_lanes == 0 && plan.waves.count == 0;
    update_plan_release(&plan);
    return may;
}

/* The plan with first levels in place of the one there is, if that holds fewer lanes. */
static void take_first_levels(struct update_plan *plan, const struct network *network,
                              const struct routes *before, struct routes *after, uint8_t *first,
                              uint8_t **last)
{
    struct routes middle = *before;
    struct update_plan other;
    middle.service_levels = first;
    swap_levels(after, last);
    update_plan_make(&other, network, &middle, after);
    bool better = __builtin_popcount(other.stuck_lanes) < __builtin_popcount(plan->stuck_lanes) &&
                  may_change(network, before, &middle);
    uint64_t operations = plan->operations + other.operations;
    if (better) {
        struct update_plan worse = *plan;
        *plan = other;
        other = worse;
        plan->first_levels = first;
        plan->first_hops = routes_longest(before, network);
    } else {
        swap_levels(after, last);
        mem_free(first);
    }
    plan->operations = operations;
    update_plan_release(&other);
}

void update_plan_make_with_levels(struct update_plan *plan, const struct network *network,
                                  const struct routes *before, struct routes *after)
{
    uint8_t *last;
    if (!before->service_levels || !after->service_levels || after->vls < 2 || before->vls < 2) {
        update_plan_make(plan, network, before, after);
        return;
    }
    size_t cells = (size_t)after->switch_count * after->stride;
    uint8_t *own = mem_alloc(cells + 1);
    memcpy(own, after->service_levels, cells);
    update_plan_keep_levels(network, before, after);
    update_plan_make(plan, network, before, after);
    if (plan->stuck_lanes) {
        swap_levels(after, &own);
        uint8_t *first =
            move_levels(network, before, after, &last, __builtin_popcount(plan->stuck_lanes));
        swap_levels(after, &own);
        if (first) {
            take_first_levels(plan, network, before, after, first, &last);
            mem_free(last);
        }
    }
    mem_free(own);
}
