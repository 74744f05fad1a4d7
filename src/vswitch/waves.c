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
    bool swap = !subnet->functions.dynamic, starts = operation->move.source == SUBNET_NONE;
    uint32_t pf = subnet_pf_of(subnet, subnet->ports.items[operation->move.target].node);
    uint16_t like = swap                ? operation->move.before
                    : pf == SUBNET_NONE ? 0
                                        : subnet->ports.items[pf].lid;
    const struct column_move move = {
        .lid = operation->move.lid,
        .like = like,
        .span = (uint16_t)(1u << subnet->functions.lmc),
        .swap = swap,
        .minimal = !starts && operation->result.request.mode == VSWITCH_MINIMAL,
    };
    struct column_rules rules = {.routes_job = paths.job,
                                 .naive = sm_mode(vswitch->sm) == SM_NAIVE,
                                 .unranked = paths.overlaid,
                                 .alone = true};
    for (size_t i = 0; i < vswitch->operations.count; i++)
        rules.alone &= vswitch->operations.items[i]->state != OPERATION_WRITING;
    if (starts)
        routes_copy_levels(sm_edit_paths(vswitch->sm).routes, move.lid, like);
    enum columns_verdict verdict =
        like ? column_check_plan(vswitch->check, &operation->plan, paths.network, paths.routes,
                                 &move, &rules)
             : COLUMNS_NEVER;
    if (verdict == COLUMNS_NEVER)
        request_routes(vswitch, operation, now);
    else if (verdict == COLUMNS_READY)
        operation->state = OPERATION_WRITING;
    return verdict != COLUMNS_LATER;
}

/* Adds the entries of the next wave; the last one may be of stuck entries, which drop the LIDs
 * before. */
static void add_entries(struct vswitch *vswitch, struct operation *operation, bool drop)
{
    const struct update_plan *p = &operation->plan;
    struct update_wave wave = {.count = (uint32_t)p->stuck.count};
    bool stuck = operation->wave == p->waves.count;
    if (!stuck)
        wave = p->waves.items[operation->wave];
    for (uint32_t i = wave.first; i < wave.first + wave.count; i++) {
        const struct table_update *update = stuck ? &p->stuck.items[i] : &p->updates.items[i];
        vec_push(&vswitch->entries, ((struct sm_entry){update->at, update->first_lid,
                                                       drop ? PORT_NONE : p->ports.items[i]}));
    }
    operation->dropping |= drop;
    operation->result.waves += !drop;
    operation->wave += !drop;
    operation->drained = false;
}

/* Begins the next wave or drain after all writes are acknowledged. */
static void next_wave(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    const struct update_plan *p = &operation->plan;
    unsigned waves = (unsigned)p->waves.count + (p->stuck.count > 0);
    assert(operation->state == OPERATION_WRITING && operation->wave <= waves);
    if (operation->routes_job != sm_paths(vswitch->sm).job) {
        operation->result.rerouted = true;
        operation_succeed(vswitch, operation);
        return;
    }
    if (operation->resume_at > now)
        return;
    if (operation->wave >= waves) {
        operation->result.table_smps = columns_blocks(p);
        operation->result.switches = columns_switches(p);
        uint32_t port = subnet_of(vswitch)->ports.items[operation->move.target].peer;
        if (port != SUBNET_NONE) /* other nodes may send there now */
            terminals_place(sm_edit_paths(vswitch->sm).network, subnet_of(vswitch), port,
                            TERMINALS_MAKE);
        operation_succeed(vswitch, operation);
        return;
    }
    bool stuck = operation->wave == p->waves.count, drop = stuck && !operation->dropping;
    bool drains = stuck || p->waves.items[operation->wave].drain;
    if (!drains || operation->drained || drop) {
        add_entries(vswitch, operation, drop);
        return;
    }
    operation->resume_at = now + sm_drain_time(vswitch->sm, p->stuck_hops);
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
