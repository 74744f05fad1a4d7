/* Service levels that stay as they were, as far as that spares a VL a hold.
 *
 * While tables change, and until all sources use the new service levels, packets of old levels
 * travel the new paths. A VL whose packets can do so without a cycle need not be held, unless new
 * packets on it close one: an engine that computes from scratch puts pairs on other VLs than before
 * for no reason but the order in which it meets them. So all pairs on such a VL get their old level
 * back. Pairs of other VLs, which have to be held anyway, stay where the engine has put them; but
 * if that is a VL that need not be held, they go there only if they close no cycle, or else to any
 * VL where they close none. If one fits nowhere, the engine's levels stay, all of them. */
#include "routing/update/path_groups.h"
#include "routing/update/planner.h"

#include <string.h>

struct sl_keeper {
    const struct routes *before;
    struct routes *after;
    struct path_groups groups;
    unsigned vls;
    uint16_t free;               /* VLs that keep their pairs */
    struct cdg cdg;              /* a layer for each VL */
    uint8_t *levels;             /* as after->service_levels */
    VEC(struct path_group) rest; /* groups without a VL so far */
};

/* The group that was read gets a VL; with `check`, false if it closes a cycle there. */
static bool take_vl(struct sl_keeper *keeper, unsigned vl, bool check)
{
    path_groups_set(&keeper->groups, keeper->after, keeper->levels, vl);
    return path_groups_lay(&keeper->groups, &keeper->cdg, vl, keeper->after, check);
}

/* The engine's VL for the group that was read. */
static unsigned engine_vl(const struct sl_keeper *keeper)
{
    const struct group_path *last = &keeper->groups.paths[keeper->groups.count - 1];
    return update_level(keeper->after, last->from, last->lid);
}

/* A group keeps its one old VL if that need not be held; else it takes the engine's, if that is
 * held and has room for all that the engine put there; else it is left for place_rest(). False if a
 * VL has a cycle then. */
static bool keep_old_vls(struct sl_keeper *keeper)
{
    bool acyclic = true;
    for (struct path_group group = {0}; path_groups_next(&keeper->groups, &group);) {
        path_groups_read(&keeper->groups, group);
        uint16_t vls = path_groups_vls(&keeper->groups, keeper->before);
        if ((vls & (vls - 1)) == 0 && (vls & keeper->free))
            take_vl(keeper, (unsigned)__builtin_ctz(vls), false);
        else if (keeper->free >> engine_vl(keeper) & 1)
            vec_push(&keeper->rest, group);
        else
            take_vl(keeper, engine_vl(keeper), false);
    }
    for (unsigned vl = 0; vl < keeper->vls; vl++)
        acyclic &= cdg_sort(&keeper->cdg, vl);
    return acyclic;
}

/* The engine's VL first, then any. */
static bool place_rest(struct sl_keeper *keeper)
{
    for (size_t i = 0; i < keeper->rest.count; i++) {
        bool placed = false;
        path_groups_read(&keeper->groups, keeper->rest.items[i]);
        for (unsigned k = 0; k <= keeper->vls && !placed; k++) {
            cdg_begin(&keeper->cdg);
            placed = cdg_end(&keeper->cdg, take_vl(keeper, k ? k - 1 : engine_vl(keeper), true));
        }
        if (!placed)
            return false;
    }
    return true;
}

bool update_plan_keep_levels(const struct network *network, const struct routes *before,
                             struct routes *after)
{
    struct sl_keeper keeper = {.before = before, .after = after};
    size_t cells = (size_t)after->switch_count * after->stride;
    if (!before->service_levels || !after->service_levels || after->vls < 2)
        return false;
    keeper.vls = after->vls < UPDATE_PLAN_VLS ? after->vls : UPDATE_PLAN_VLS;
    keeper.levels = memcpy(mem_alloc(cells + 1), after->service_levels, cells);
    cdg_init(&keeper.cdg, network);
    while (keeper.cdg.count < keeper.vls)
        cdg_open(&keeper.cdg);
    path_groups_init(&keeper.groups, network, after->reversible);
    /* Finds the VLs on which packets of old levels can travel the new tables without a cycle. */
    uint64_t pairs[UPDATE_PLAN_VLS] = {0};
    update_lay_all(&keeper.cdg, before, after, pairs);
    for (unsigned vl = 0; vl < keeper.vls; vl++) {
        if (pairs[vl] && cdg_sort(&keeper.cdg, vl))
            keeper.free |= (uint16_t)(1u << vl);
        cdg_clear(&keeper.cdg, vl);
    }
    bool kept = keeper.free && keep_old_vls(&keeper) && place_rest(&keeper);
    if (kept)
        memcpy(after->service_levels, keeper.levels, cells);
    after->operations +=
        (uint64_t)network->switches.count * network->top_lid + keeper.cdg.reordering;
    cdg_release(&keeper.cdg);
    mem_free(keeper.levels);
    path_groups_release(&keeper.groups);
    vec_release(&keeper.rest);
    return kept;
}
