/* Service levels that stay as they were, as far as that spares lanes a hold.
 *
 * While tables change, and until all sources have heard of new service levels, packets of old
 * levels travel the new paths. A lane whose packets can do so without a circle need not be held,
 * unless new packets come there that close one: an engine that computes everything anew puts pairs
 * on other lanes than before for no reason but the order in which it met them. So all pairs on such
 * a lane get their old level back. Those of other lanes, which have to be held anyway, stay where
 * the engine has put them; but where that is a lane that need not be held, they go there only if
 * they close no circle, or else to any lane where they do not. If one fits nowhere, the engine's
 * levels stay, all of them. */
#include "routing/update/path_groups.h"
#include "routing/update/planner.h"

#include <string.h>

struct keeper {
    const struct network *network;
    const struct routes *before;
    struct routes *after;
    struct path_groups groups;
    unsigned lanes;
    uint16_t free;               /* lanes that keep their pairs */
    struct cdg cdg;              /* a layer for each lane */
    uint8_t *levels;             /* as after->service_levels */
    VEC(struct path_group) rest; /* those that are still to be laid */
    bool check;                  /* for cycles, while paths are laid */
    unsigned lane;               /* of the group that is being laid */
    uint16_t found;              /* old lanes of the group that is being looked at */
};

static bool lay_path(void *context, uint32_t from, uint32_t lid)
{
    struct keeper *keeper = context;
    keeper->levels[(size_t)from * keeper->after->stride + lid] = (uint8_t)keeper->lane;
    return update_lay_path(&keeper->cdg, keeper->lane, keeper->after, from, lid, keeper->check);
}

static bool lay_group(struct keeper *keeper, struct path_group group, unsigned lane)
{
    keeper->lane = lane;
    return path_group_each(&keeper->groups, group, lay_path, keeper);
}

static bool note_old_lane(void *context, uint32_t from, uint32_t lid)
{
    struct keeper *keeper = context;
    keeper->found |= (uint16_t)(1u << update_level(keeper->before, from, lid));
    keeper->lane = update_level(keeper->after, from, lid);
    return true;
}

/* Its one old lane if that need not be held; else the engine's, if that is held and has room for
 * all that the engine put there; else it is left for later. */
static void sort_group(void *context, struct path_group group)
{
    struct keeper *keeper = context;
    keeper->found = 0;
    path_group_each(&keeper->groups, group, note_old_lane, keeper);
    bool one = (keeper->found & (keeper->found - 1)) == 0;
    if (one && (keeper->found & keeper->free))
        lay_group(keeper, group, (unsigned)__builtin_ctz(keeper->found));
    else if (keeper->free >> keeper->lane & 1)
        vec_push(&keeper->rest, group);
    else
        lay_group(keeper, group, keeper->lane);
}

static bool sort_graphs(struct keeper *keeper)
{
    bool acyclic = true;
    for (unsigned lane = 0; lane < keeper->lanes; lane++)
        acyclic &= cdg_sort(&keeper->cdg, lane);
    return acyclic;
}

/* The lanes on which packets of old levels can travel the new tables without a circle. */
static void find_free_lanes(struct keeper *keeper)
{
    const struct network *network = keeper->network;
    uint16_t used = 0;
    for (uint32_t lid = 1; lid <= network->top_lid; lid++)
        for (uint32_t from = 0; from < network->switches.count; from++) {
            unsigned lane = update_level(keeper->before, from, lid);
            if (network->owner[lid] == NETWORK_NONE || lane >= keeper->lanes)
                continue;
            used |= (uint16_t)(1u << lane);
            update_lay_path(&keeper->cdg, lane, keeper->after, from, lid, false);
        }
    for (unsigned lane = 0; lane < keeper->lanes; lane++) {
        if ((used >> lane & 1) && cdg_sort(&keeper->cdg, lane))
            keeper->free |= (uint16_t)(1u << lane);
        cdg_clear(&keeper->cdg, lane);
    }
}

static bool take_lane(struct keeper *keeper, struct path_group group, unsigned lane)
{
    cdg_begin(&keeper->cdg);
    bool fits = lay_group(keeper, group, lane);
    if (fits)
        cdg_commit(&keeper->cdg);
    else
        cdg_undo(&keeper->cdg);
    return fits;
}

static bool place_rest(struct keeper *keeper)
{
    keeper->check = true;
    for (size_t i = 0; i < keeper->rest.count; i++) {
        struct path_group group = keeper->rest.items[i];
        path_group_each(&keeper->groups, group, note_old_lane, keeper);
        bool placed = take_lane(keeper, group, keeper->lane);
        for (unsigned lane = 0; lane < keeper->lanes && !placed; lane++)
            placed = take_lane(keeper, group, lane);
        if (!placed)
            return false;
    }
    return true;
}

bool update_plan_keep_levels(const struct network *network, const struct routes *before,
                             struct routes *after)
{
    struct keeper keeper = {.network = network, .before = before, .after = after};
    size_t cells = (size_t)after->switch_count * after->stride;
    if (!before->service_levels || !after->service_levels || after->vls < 2)
        return false;
    keeper.lanes = after->vls < UPDATE_PLAN_VLS ? after->vls : UPDATE_PLAN_VLS;
    keeper.levels = mem_alloc(cells + 1);
    memcpy(keeper.levels, after->service_levels, cells);
    cdg_init(&keeper.cdg, network);
    while (keeper.cdg.count < keeper.lanes)
        cdg_open(&keeper.cdg);
    path_groups_init(&keeper.groups, network, after->reversible);
    find_free_lanes(&keeper);
    bool kept = keeper.free != 0;
    if (kept) {
        path_groups_each(&keeper.groups, sort_group, &keeper);
        kept = sort_graphs(&keeper) && place_rest(&keeper);
    }
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
