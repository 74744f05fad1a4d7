/* Plans the LFT changes of a move, checks that they cannot deadlock, and writes them in waves. In
 * mode naive all changes are written at once and unchecked, as in CLUSTER 2015.
 *
 * All requests write their waves together, so that they share LFT blocks; each waits for its own
 * drains. */
#include "vswitch/internal.h"

#include "vswitch/model/terminals.h"

#include <assert.h>

static void request_routes(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    if (operation->result.rerouted) {
        operation_end(operation, VSWITCH_FAILED, "no routes to the new place");
        return;
    }
    operation->state = OPERATION_REROUTING;
    operation->result.rerouted = true;
    sm_reroute(vswitch->sm, now);
}

/* Checks a plan for routes without ranks. False if it has to wait. */
static bool check_safety(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    struct sm_paths paths = sm_paths(vswitch->sm);
    struct column_plan *plan = &operation->plan;
    bool alone = true;
    for (size_t i = 0; i < vswitch->operations.count; i++)
        alone &= vswitch->operations.items[i] == operation ||
                 vswitch->operations.items[i]->state != OPERATION_WRITING;
    columns_join_waves(plan, (uint32_t)paths.network->switches.count);
    safety_use(vswitch->safety, paths.network, paths.routes, paths.job);
    switch (safety_check(vswitch->safety, plan, alone)) {
    case SAFETY_FREE: break;
    case SAFETY_AFTER_DRAIN: operation->drops_first = true; break;
    case SAFETY_LATER: return false;
    case SAFETY_NEVER:
        if (operation->result.request.mode == VSWITCH_MINIMAL && !operation->balanced_only)
            operation->balanced_only = true; /* plan again in balanced mode */
        else
            request_routes(vswitch, operation, now);
        return true;
    }
    operation->state = OPERATION_WRITING;
    return true;
}

bool waves_plan(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    if (!sm_is_quiet(vswitch->sm))
        return false;
    struct sm_paths paths = sm_paths(vswitch->sm);
    assert(operation->move.target != SUBNET_NONE && operation->move.lid);
    if (paths.job != operation->routes_job) { /* new routes include the new place */
        operation->result.rerouted = true;
        operation_succeed(vswitch, operation);
        return true;
    }
    const struct subnet *subnet = subnet_of(vswitch);
    bool swap = !subnet->functions.dynamic;
    uint32_t pf = subnet_pf_of(subnet, subnet->ports.items[operation->move.target].node);
    uint16_t like = swap                ? operation->move.before
                    : pf == SUBNET_NONE ? 0
                                        : subnet->ports.items[pf].lid;
    bool starts = operation->move.source == SUBNET_NONE;
    if (starts)
        routes_copy_levels(sm_edit_paths(vswitch->sm).routes, operation->move.lid, like);
    enum vswitch_mode mode =
        operation->balanced_only ? VSWITCH_BALANCED : operation->result.request.mode;
    columns_plan_release(&operation->plan);
    if (!like ||
        columns_plan(&operation->plan, paths.network, paths.routes, operation->move.lid, like,
                     1u << subnet->functions.lmc, swap, starts ? VSWITCH_BALANCED : mode) < 0) {
        request_routes(vswitch, operation, now);
        return true;
    }
    if (sm_mode(vswitch->sm) == SM_NAIVE)
        columns_join_waves(&operation->plan, (uint32_t)paths.network->switches.count);
    if (sm_mode(vswitch->sm) == SM_NAIVE || (operation->plan.ranked && !paths.overlaid))
        operation->state = OPERATION_WRITING;
    else if (!check_safety(vswitch, operation, now))
        return false;
    return true;
}

/* Adds the entries of the next wave or, with `drop`, all entries, set to drop the LIDs. */
static void add_entries(struct vswitch *vswitch, struct operation *operation, bool drop)
{
    for (size_t i = 0; i < operation->plan.changes.count; i++) {
        const struct column_change *change = &operation->plan.changes.items[i];
        if (drop || change->wave == operation->wave)
            vec_push(&vswitch->entries, ((struct sm_entry){change->at, change->lid,
                                                           drop ? PORT_NONE : change->after}));
    }
    operation->dropping |= drop;
    operation->result.table_smps += drop ? operation->plan.blocks : 0;
    operation->result.waves += !drop;
    operation->wave += !drop;
    operation->drained = false;
}

/* Begins the next wave or drain after all writes are acknowledged. */
static void next_wave(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    const struct column_plan *p = &operation->plan;
    assert(operation->state == OPERATION_WRITING && operation->wave <= p->waves);
    if (operation->routes_job != sm_paths(vswitch->sm).job) {
        operation->result.rerouted = true;
        operation_succeed(vswitch, operation);
        return;
    }
    if (operation->resume_at > now)
        return;
    if (operation->wave >= p->waves) {
        operation->result.table_smps += p->blocks;
        operation->result.switches = p->switches;
        uint32_t port = subnet_of(vswitch)->ports.items[operation->move.target].peer;
        if (port != SUBNET_NONE) /* other nodes may send there now */
            terminals_place(sm_edit_paths(vswitch->sm).network, subnet_of(vswitch), port,
                            TERMINALS_MAKE);
        operation_succeed(vswitch, operation);
        return;
    }
    bool drains = operation->drops_first ? operation->wave == 0 : p->drains >> operation->wave & 1;
    bool drop = operation->drops_first && !operation->dropping;
    if (!drains || operation->drained || drop) {
        add_entries(vswitch, operation, drop);
        return;
    }
    operation->resume_at = now + sm_drain_time(vswitch->sm, p->hops);
    operation->drained = true;
    operation->result.drains++;
}

bool waves_write(struct vswitch *vswitch, uint64_t now)
{
    bool over = false;
    if (!sm_is_quiet(vswitch->sm) || !sm_tables_are_written(vswitch->sm))
        return false;
    vswitch->entries.count = 0;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (operation->state != OPERATION_WRITING)
            continue;
        next_wave(vswitch, operation, now);
        over |= operation->state == OPERATION_OVER;
    }
    if (vswitch->entries.count) {
        sm_change_entries(vswitch->sm, vswitch->entries.items, vswitch->entries.count);
        over |= sm_tables_are_written(vswitch->sm); /* nothing was sent: no answer will come */
    }
    return over;
}
