/* Entries that follow a machine: planned when its addresses are where they should be, judged, and
 * written in waves. All requests that have something to write do it in step, so that blocks are
 * shared; each waits for its own drains. */
#include "vswitch/internal.h"

#include "vswitch/model/terminals.h"

static void give_up_planning(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    if (operation->result.rerouted) { /* that did not help */
        operation_end(operation, VSWITCH_FAILED, "there are no routes to where it is now");
        return;
    }
    operation->state = OPERATION_REROUTING;
    operation->result.rerouted = true;
    sm_reroute(vswitch->sm, now);
}

/* Without ranks: false if it has to wait. */
static bool judge(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    struct sm_paths paths = sm_paths(vswitch->sm);
    struct column_plan *plan = &operation->plan;
    bool alone = true;
    for (size_t i = 0; i < vswitch->operations.count; i++)
        alone &= vswitch->operations.items[i] == operation ||
                 vswitch->operations.items[i]->state != OPERATION_WRITING;
    for (size_t i = 0; i < plan->changes.count; i++) /* all in one wave */
        plan->changes.items[i].wave = 0;
    plan->waves = plan->changes.count > 0;
    plan->drains = 0;
    safety_use(vswitch->safety, paths.network, paths.routes, paths.job);
    switch (safety_check(vswitch->safety, plan, alone)) {
    case SAFETY_FREE: break;
    case SAFETY_AFTER_DRAIN: operation->drops_first = true; break;
    case SAFETY_LATER: return false;
    case SAFETY_NEVER:
        if (operation->result.request.mode == VSWITCH_MINIMAL && !operation->balanced_only)
            operation->balanced_only = true; /* once more, with the way that is known to be good */
        else
            give_up_planning(vswitch, operation, now);
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
    if (paths.job != operation->routes_job) { /* routes were computed for the new places */
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
        give_up_planning(vswitch, operation, now);
        return true;
    }
    if (operation->plan.ranked && !paths.overlaid)
        operation->state = OPERATION_WRITING;
    else if (!judge(vswitch, operation, now))
        return false;
    return true;
}

/* The entries of the next wave; or, before a gated plan's only one, all of them, set to drop. */
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

/* All that was written is acknowledged. */
static void next_wave(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    const struct column_plan *p = &operation->plan;
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
        over |= sm_tables_are_written(vswitch->sm); /* nothing differed: nobody would wake us */
    }
    return over;
}
