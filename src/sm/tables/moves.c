/* Addresses of virtual machines that move.
 *
 * vswitch decides what is wanted: each step of a move for a virtual function
 * (vswitch/model/move.h), and, when the hypervisors have answered, the addresses. The LIDs then
 * change in the subnet and in the network of the routes in force, in one step: from then on every
 * plan is for the new place. The entries follow by the planner of updates
 * (routing/update/columns.h) and the executor of all tables (distribute.c), in SM_PHASE_MOVE. If
 * the manager computes routes meanwhile, these include the new place, and no entries remain to be
 * written. All moves write their waves together, so that they share LFT blocks; each waits for its
 * own drains. */
#include "sm/tables/moves.h"

#include "routing/update/columns.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/lids.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/blocks.h"
#include "sm/tables/functions.h"
#include "sm/tables/partitions.h"
#include "vswitch/model/addresses.h"
#include "vswitch/model/terminals.h"

struct moves {
    VEC(struct address_move) items; /* in the order of submission */
    uint64_t count;                 /* so far */
    bool reroute;                   /* new routes are needed */
    struct column_check *check;
};

static void init_moves(struct sm *sm)
{
    sm->moves->check = column_check_new();
}

void moves_drop(struct sm *sm)
{
    for (size_t i = 0; i < sm->moves->items.count; i++)
        update_plan_release(&sm->moves->items.items[i].plan);
    sm->moves->items.count = 0;
    sm->moves->reroute = false;
}

static void release_moves(struct sm *sm)
{
    moves_drop(sm);
    vec_release(&sm->moves->items);
    column_check_free(sm->moves->check);
}

SM_PART(moves, .init = init_moves, .release = release_moves);

struct address_move *moves_at(const struct sm *sm, size_t i)
{
    return i < sm->moves->items.count ? &sm->moves->items.items[i] : NULL;
}

size_t moves_count(const struct sm *sm, bool over)
{
    size_t count = 0;
    for (size_t i = 0; i < sm->moves->items.count; i++)
        count += (sm->moves->items.items[i].result.state != SM_MOVE_PENDING) == over;
    return count;
}

bool moves_take_reroute(struct sm *sm)
{
    bool reroute = sm->moves->reroute;
    sm->moves->reroute = false;
    return reroute;
}

/* ---- virtual functions ---- */

bool sm_is_quiet(const struct sm *sm)
{
    return reconfigure_is_at_rest(sm) && discovery_is_complete(sm) && !sm_own_link_is_down(sm);
}

void sm_hold_functions(struct sm *sm, const struct move *move)
{
    functions_hold(&sm->subnet, move->target);
    if (move->source != SUBNET_NONE)
        functions_hold(&sm->subnet, move->source);
}

void sm_release_functions(struct sm *sm, const struct move *move)
{
    const uint32_t vf_ports[] = {move->target, move->source};
    for (size_t i = 0; i < 2; i++)
        if (vf_ports[i] != SUBNET_NONE) {
            functions_end_hold(&sm->subnet, vf_ports[i]);
            functions_program_order(sm, vf_ports[i]);
        }
}

uint32_t sm_step_move(struct sm *sm, const struct move *move, enum move_step step)
{
    uint32_t vf_port = move_begin(move, &sm->subnet, step);
    functions_program_order(sm, vf_port);
    return vf_port;
}

void sm_remove_machine(struct sm *sm, uint64_t guid)
{
    addresses_remove_vm(&sm->subnet, guid);
}

/* ---- addresses ---- */

uint64_t sm_move_addresses(struct sm *sm, const struct move *move, bool minimal)
{
    struct sm_job *serving = sm_is_quiet(sm) ? plan_serving(sm) : NULL;
    struct address_move moved = {.number = ++sm->moves->count,
                                 .move = *move,
                                 .minimal = minimal && move->source != SUBNET_NONE,
                                 .job = sm_paths(sm).job,
                                 .drained_before = distribute_drained_ns(sm)};
    move_addresses(move, &sm->subnet, serving ? &serving->network : NULL);
    lids_remember(sm, functions_port(&sm->subnet, move->target));
    lids_remember(sm, functions_port(&sm->subnet, move->source));
    if (serving) { /* else the subnet's generation has changed: new routes are planned */
        plan_paths_changed(sm);
        reconfigure_accept_topology(sm);
        partitions_plan(sm); /* unused functions lose their keys */
        blocks_program(sm);
    }
    /* The LFTs already have entries for a LID that the target had before. */
    if (move->target == SUBNET_NONE || (serving && move->lid == move->before))
        moved.result.state = SM_MOVE_DONE;
    vec_push(&sm->moves->items, moved);
    return moved.number;
}

struct sm_move_result sm_take_move(struct sm *sm, uint64_t number)
{
    for (size_t i = 0; i < sm->moves->items.count; i++) {
        struct address_move *move = &sm->moves->items.items[i];
        if (move->number != number)
            continue;
        struct sm_move_result result = move->result;
        result.drained_ns += distribute_drained_ns(sm) - move->drained_before;
        if (result.state != SM_MOVE_PENDING) {
            update_plan_release(&move->plan);
            vec_remove(&sm->moves->items, i);
        }
        return result;
    }
    return (struct sm_move_result){.state = SM_MOVE_FAILED}; /* the mastership has ended */
}

/* ---- entries ---- */

static bool is_alone(const struct sm *sm)
{
    for (size_t i = 0; i < sm->moves->items.count; i++)
        if (moves_is_written(&sm->moves->items.items[i]))
            return false;
    return true;
}

/* False if the plan has to wait. */
static bool plan_move(struct sm *sm, struct address_move *move)
{
    struct sm_job *job = plan_serving(sm);
    const struct subnet *subnet = &sm->subnet;
    bool swap = !subnet->functions.dynamic;
    uint32_t pf = subnet_pf_of(subnet, port_at(sm, move->move.target)->node);
    uint16_t like = swap ? move->move.before : pf == SUBNET_NONE ? 0 : port_at(sm, pf)->lid;
    const struct column_move columns = {.lid = move->move.lid,
                                        .like = like,
                                        .span = (uint16_t)(1u << subnet->functions.lmc),
                                        .swap = swap,
                                        .minimal = move->minimal};
    const struct column_rules rules = {.routes_job = job->number,
                                       .naive = sm->config.mode == SM_NAIVE,
                                       .unranked = job->options.user != NULL,
                                       .alone = is_alone(sm)};
    if (move->move.source == SUBNET_NONE) {
        plan_paths_changed(sm);
        routes_copy_levels(&job->routes, move->move.lid, like);
    }
    enum columns_verdict verdict =
        like ? column_check_plan(sm->moves->check, &move->plan, &job->network, &job->routes,
                                 &columns, &rules)
             : COLUMNS_NEVER;
    if (verdict == COLUMNS_NEVER && move->result.rerouted) {
        move->result.state = SM_MOVE_FAILED;
    } else if (verdict == COLUMNS_NEVER) {
        move->result.rerouted = true;
        sm->moves->reroute = true;
    }
    move->planned = verdict == COLUMNS_READY;
    return verdict != COLUMNS_LATER;
}

bool moves_plan(struct sm *sm)
{
    bool progress = false;
    for (size_t i = 0; i < sm->moves->items.count && !sm->moves->reroute; i++) {
        struct address_move *move = &sm->moves->items.items[i];
        if (move->result.state != SM_MOVE_PENDING)
            continue;
        if (move->job != plan_serving(sm)->number) { /* new routes include the new place */
            move->result.rerouted = true;
            move->result.state = SM_MOVE_DONE;
            progress = true;
        } else if (!move->planned) {
            progress |= plan_move(sm, move);
        }
    }
    return progress;
}

void moves_end(struct sm *sm, struct address_move *move)
{
    move->result.table_smps = columns_blocks(&move->plan);
    move->result.switches = columns_switches(&move->plan);
    uint32_t port = port_at(sm, move->move.target)->peer;
    if (port != SUBNET_NONE) { /* other nodes may send there now */
        plan_paths_changed(sm);
        terminals_place(&plan_serving(sm)->network, &sm->subnet, port, TERMINALS_MAKE);
    }
    move->result.state = SM_MOVE_DONE;
}
