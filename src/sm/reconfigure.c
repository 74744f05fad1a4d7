/* Reconfiguration: from a change of the subnet to new tables in force.
 *
 * A trap, a sweep, a node that does not answer, an operator or a new mastership begins a change.
 * The table `transitions` below defines the action and the next phase for each phase and event.
 * Nothing else changes the phase.
 *
 * Discovery is independent of the phases, but no phase except COMPUTE ends before it is complete.
 * Then the subnet is compared with the one of the tables in force. If there is a reason for new
 * tables (enum plan_reason), a plan is made when the Sets under way have ended. A distribution that
 * is under way is broken off: the next plan starts from the tables in the switches. A computation
 * that is under way is completed and its tables are distributed first.
 *
 * LIDs, port settings, partitions, service levels and multicast do not wait for routes: they are
 * planned and written in every phase (plan_services(), program.c, blocks.c). */
#include "sm/reconfigure.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/lids.h"
#include "sm/mastership/standby_copy.h"
#include "sm/plan.h"
#include "sm/report.h"
#include "sm/tables/blocks.h"
#include "sm/tables/distribute.h"
#include "sm/tables/moves.h"
#include "sm/tables/multicast.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program.h"
#include "sm/tables/qos.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"
#include "subnet/names.h"

struct reconfigure {
    enum sm_phase phase;
    enum plan_reason reason; /* besides the topology; REASON_NONE: none */
    uint64_t generation;     /* of the subnet at the last plan */
    uint64_t job;            /* number of the job of SM_PHASE_COMPUTE */
    bool refused;            /* the last job computed no tables that pass the check */
    struct err refusal;      /* the reason of that */
};

/* ---- interface to other parts ---- */

enum sm_phase reconfigure_phase(const struct sm *sm)
{
    return sm->reconfigure->phase;
}

bool reconfigure_is_distributing(const struct sm *sm)
{
    return sm->reconfigure->phase >= SM_PHASE_WAVES && sm->reconfigure->phase <= SM_PHASE_START;
}

bool reconfigure_is_idle(const struct sm *sm)
{
    return sm->reconfigure->phase == SM_PHASE_IDLE || sm->reconfigure->phase == SM_PHASE_MOVE;
}

bool reconfigure_is_at_rest(const struct sm *sm)
{
    return sm_state(sm) == SM_MASTER && reconfigure_is_idle(sm) && plan_current(sm) &&
           plan_current(sm) == plan_serving(sm) && !reconfigure_is_outdated(sm);
}

bool reconfigure_is_outdated(const struct sm *sm)
{
    return sm->reconfigure->reason != REASON_NONE ||
           sm->reconfigure->generation != sm->subnet.generation;
}

void reconfigure_request(struct sm *sm, enum plan_reason reason)
{
    assert(reason != REASON_NONE && sm_state(sm) == SM_MASTER);
    if (sm->reconfigure->reason < reason)
        sm->reconfigure->reason = reason;
}

const struct err *sm_refusal(const struct sm *sm)
{
    return sm->reconfigure->refused ? &sm->reconfigure->refusal : NULL;
}

static void reconfigure_list_problems(struct sm *sm, struct problems *problems)
{
    const struct err *refusal = sm_refusal(sm);
    if (refusal)
        problems_add(problems, PROBLEM_NO_ROUTES,
                     subnet_at_node(&sm->subnet, port_at(sm, sm->subnet.own_port)->node), "%s",
                     refusal->message);
}

void reconfigure_accept_topology(struct sm *sm)
{
    assert(sm->reconfigure->reason == REASON_NONE);
    sm->reconfigure->generation = sm->subnet.generation;
}

/* ---- actions ---- */

static enum reconfigure_event open_unreported_change(struct sm *sm)
{
    report_cause(sm, SM_CAUSE(SM_CAUSE_TOPOLOGY, SUBNET_NONE), true);
    return EVENT_NONE;
}

/* The next plan starts from the tables in the switches. */
static enum reconfigure_event break_off(struct sm *sm)
{
    distribute_reset(sm);
    plan_break_off(sm);
    return EVENT_NONE;
}

static enum reconfigure_event make_plan(struct sm *sm)
{
    struct reconfigure *r = sm->reconfigure;
    assert(discovery_is_complete(sm) && !transactions_under_way(sm, GROUP_TABLES));
    assert(sm->subnet.own_port != SUBNET_NONE && reconfigure_is_outdated(sm));
    break_off(sm);
    subnet_find_paths(&sm->subnet);
    lids_assign(sm, r->reason == REASON_TAKE_OVER);
    report_nodes(sm);
    report_computes(sm);
    enum plan_reason reason = r->reason;
    if (r->generation != sm->subnet.generation && reason < REASON_TOPOLOGY)
        reason = REASON_TOPOLOGY; /* takes precedence over balance */
    r->reason = REASON_NONE;
    r->generation = sm->subnet.generation;
    struct sm_job *copied = standby_copy_take_routes(sm);
    const struct engine *quick = sm->config.engine->provisional; /* of a hybrid */
    if (copied) {
        plan_receive(sm, copied);
        report_computed(sm, NULL);
    } else {
        r->job = plan_routes(sm, quick ? quick : sm->config.engine, quick != NULL, reason);
    }
    program_schedule(sm); /* LIDs and port settings do not wait for routes */
    return copied ? EVENT_TABLES_COMPUTED : EVENT_NONE;
}

static enum reconfigure_event plan_final(struct sm *sm)
{
    report_computes(sm);
    sm->reconfigure->job = plan_routes(sm, sm->config.engine, false, REASON_TOPOLOGY);
    return EVENT_NONE;
}

static enum reconfigure_event take_tables(struct sm *sm)
{
    assert(sm->reconfigure->phase == SM_PHASE_COMPUTE);
    sm->reconfigure->refused = false;
    bool first = !plan_current(sm);
    plan_take_routes(sm);
    if (first && (plan_current(sm)->known || job_keeps_tables(plan_current(sm))))
        quiesce_find_inherited(sm);
    return distribute_begin(sm);
}

static enum reconfigure_event keep_tables(struct sm *sm)
{
    sm->reconfigure->refused = true;
    quiesce_end(sm);
    return EVENT_NONE;
}

static enum reconfigure_event close_change(struct sm *sm)
{
    assert(transactions_idle(sm) && !transactions_under_way(sm, GROUP_TABLES) &&
           !transactions_under_way(sm, GROUP_BLOCKS));
    report_end(sm, !sm->reconfigure->refused);
    standby_copy_end_change(sm);
    return EVENT_NONE;
}

static enum reconfigure_event end_writing(struct sm *sm)
{
    standby_copy_end_change(sm);
    return EVENT_NONE;
}

static enum reconfigure_event drop_routes(struct sm *sm)
{
    sm->reconfigure->reason = REASON_NONE;
    sm->reconfigure->refused = false;
    distribute_reset(sm);
    moves_drop(sm);
    plan_drop(sm);
    return EVENT_NONE;
}

/* ---- the table ---- */

struct phase_transition {
    reconfigure_action *action; /* NULL: none */
    uint8_t next;
    bool defined; /* else the event cannot happen in this phase */
};

#define GO_DO(to, what)                                                                            \
    {                                                                                              \
        .action = (what), .next = (to), .defined = true                                            \
    }
#define GO(to) GO_DO(to, NULL)

/* Common to all phases of a distribution, which only a new plan interrupts. */
#define DISTRIBUTION(phase)                                                                        \
    [EVENT_CHANGE_REPORTED] = GO(phase), [EVENT_DISCOVERY_COMPLETE] = GO(phase),                   \
    [EVENT_PLAN_OUTDATED] = GO(phase), [EVENT_PLAN_DUE] = GO_DO(SM_PHASE_COMPUTE, make_plan),      \
    [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_DISCOVER, break_off),                                \
    [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes)

static const struct phase_transition transitions[SM_PHASES][EVENT_COUNT] =
    {
        [SM_PHASE_IDLE] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_DISCOVER),
                [EVENT_DISCOVERY_COMPLETE] = GO(SM_PHASE_IDLE),
                [EVENT_PLAN_OUTDATED] = GO_DO(SM_PHASE_PLAN, open_unreported_change),
                [EVENT_ALL_ANSWERED] = GO_DO(SM_PHASE_IDLE, end_writing),
                [EVENT_MOVES_DUE] = GO_DO(SM_PHASE_MOVE, distribute_moves),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_IDLE, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
        [SM_PHASE_MOVE] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_DISCOVER),
                [EVENT_DISCOVERY_COMPLETE] = GO(SM_PHASE_MOVE),
                [EVENT_PLAN_OUTDATED] = GO_DO(SM_PHASE_PLAN, open_unreported_change),
                [EVENT_ALL_ANSWERED] = GO_DO(SM_PHASE_MOVE, end_writing),
                [EVENT_MOVES_DUE] = GO_DO(SM_PHASE_MOVE, distribute_moves),
                [EVENT_MOVES_OVER] = GO(SM_PHASE_IDLE),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_IDLE, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
        [SM_PHASE_DISCOVER] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_DISCOVER),
                [EVENT_DISCOVERY_COMPLETE] = GO(SM_PHASE_SETTLE),
                [EVENT_PLAN_OUTDATED] = GO(SM_PHASE_PLAN),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_DISCOVER, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
        [SM_PHASE_PLAN] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_DISCOVER),
                [EVENT_PLAN_OUTDATED] = GO(SM_PHASE_PLAN),
                [EVENT_PLAN_DUE] = GO_DO(SM_PHASE_COMPUTE, make_plan),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_DISCOVER, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
        [SM_PHASE_COMPUTE] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_COMPUTE),
                [EVENT_DISCOVERY_COMPLETE] = GO(SM_PHASE_COMPUTE),
                [EVENT_PLAN_OUTDATED] = GO(SM_PHASE_COMPUTE),
                [EVENT_PLAN_DUE] = GO(SM_PHASE_COMPUTE),
                [EVENT_TABLES_COMPUTED] = GO_DO(SM_PHASE_COMPUTE, take_tables),
                [EVENT_TABLES_REFUSED] = GO_DO(SM_PHASE_SETTLE, keep_tables),
                [EVENT_TABLES_NOT_BETTER] = GO(SM_PHASE_SETTLE),
                [EVENT_DECIDED_WAVES] = GO_DO(SM_PHASE_WAVES, distribute_keep_tables),
                [EVENT_DECIDED_STOP] = GO_DO(SM_PHASE_STOP, distribute_stop_ports),
                [EVENT_DECIDED_QUIESCE] = GO_DO(SM_PHASE_QUIESCE, distribute_stop_all_sources),
                [EVENT_DECIDED_ALL] = GO_DO(SM_PHASE_SETTLE, distribute_write_all),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_COMPUTE, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
        [SM_PHASE_WAVES] =
            {
                DISTRIBUTION(SM_PHASE_WAVES),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_WAVES, distribute_next_wave),
                [EVENT_DRAIN_OVER] = GO_DO(SM_PHASE_WAVES, distribute_drained_wave),
                [EVENT_DECIDED_QUIESCE] = GO_DO(SM_PHASE_QUIESCE, distribute_stop_sources),
                [EVENT_DECIDED_DROP] = GO_DO(SM_PHASE_DROP, distribute_drop_rest),
                [EVENT_DECIDED_ALL] = GO_DO(SM_PHASE_SETTLE, distribute_write_all),
                [EVENT_DECIDED_REST] = GO_DO(SM_PHASE_QUIESCED, distribute_write_all),
            },
        [SM_PHASE_DROP] =
            {
                DISTRIBUTION(SM_PHASE_DROP),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_DROP, distribute_drain),
                [EVENT_DRAIN_OVER] = GO_DO(SM_PHASE_SETTLE, distribute_write_all),
            },
        [SM_PHASE_QUIESCE] =
            {
                DISTRIBUTION(SM_PHASE_QUIESCE),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_QUIESCE, distribute_drain_quiesced),
                [EVENT_DRAIN_OVER] = GO_DO(SM_PHASE_QUIESCE, distribute_check_quiesced),
                [EVENT_DECIDED_DROP] = GO_DO(SM_PHASE_DROP, distribute_drop_rest),
                [EVENT_DECIDED_ALL] = GO_DO(SM_PHASE_QUIESCED, distribute_write_all),
            },
        [SM_PHASE_QUIESCED] =
            {
                DISTRIBUTION(SM_PHASE_QUIESCED),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_SETTLE, distribute_start_sources),
            },
        [SM_PHASE_STOP] =
            {
                DISTRIBUTION(SM_PHASE_STOP),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_WRITE, distribute_write_all),
            },
        [SM_PHASE_WRITE] =
            {
                DISTRIBUTION(SM_PHASE_WRITE),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_START, distribute_start_ports),
            },
        [SM_PHASE_START] =
            {
                DISTRIBUTION(SM_PHASE_START),
                [EVENT_CONFIRMED] = GO_DO(SM_PHASE_SETTLE, distribute_write_wanted),
            },
        [SM_PHASE_SETTLE] =
            {
                [EVENT_CHANGE_REPORTED] = GO(SM_PHASE_DISCOVER),
                [EVENT_DISCOVERY_COMPLETE] = GO(SM_PHASE_SETTLE),
                [EVENT_PLAN_OUTDATED] = GO(SM_PHASE_PLAN),
                [EVENT_PROVISIONAL_IN_FORCE] = GO_DO(SM_PHASE_COMPUTE, plan_final),
                [EVENT_ALL_ANSWERED] = GO_DO(SM_PHASE_IDLE, close_change),
                [EVENT_REQUESTS_DROPPED] = GO_DO(SM_PHASE_DISCOVER, break_off),
                [EVENT_MASTERSHIP_LOST] = GO_DO(SM_PHASE_IDLE, drop_routes),
            },
};

/* For debug lines: what happened, and so why the phase changes. */
static const char *const event_names[EVENT_COUNT] = {
    [EVENT_CHANGE_REPORTED] = "a change was reported",
    [EVENT_DISCOVERY_COMPLETE] = "discovery is complete, the tables fit",
    [EVENT_PLAN_OUTDATED] = "discovery is complete, new tables are needed",
    [EVENT_PLAN_DUE] = "no table is being written: new tables are computed",
    [EVENT_TABLES_COMPUTED] = "tables are computed and checked",
    [EVENT_TABLES_REFUSED] = "no engine computes tables that pass the check",
    [EVENT_TABLES_NOT_BETTER] = "tables for balance are not worth writing",
    [EVENT_DECIDED_WAVES] = "tables are written in waves",
    [EVENT_DECIDED_STOP] = "tables are written while ports are stopped (mode static)",
    [EVENT_DECIDED_QUIESCE] = "tables are written while sources are stopped",
    [EVENT_DECIDED_DROP] = "entries without a safe order drop packets first",
    [EVENT_DECIDED_ALL] = "the rest is written at once",
    [EVENT_DECIDED_REST] = "all is written, and sources are stopped",
    [EVENT_CONFIRMED] = "all Sets are answered",
    [EVENT_DRAIN_OVER] = "the fabric has drained",
    [EVENT_PROVISIONAL_IN_FORCE] = "provisional tables are in force",
    [EVENT_ALL_ANSWERED] = "all requests are answered",
    [EVENT_REQUESTS_DROPPED] = "all requests were forgotten",
    [EVENT_MASTERSHIP_LOST] = "mastership is lost",
};

/* The action runs in the new phase. */
static void handle(struct sm *sm, enum reconfigure_event event)
{
    struct reconfigure *r = sm->reconfigure;
    assert(event < EVENT_COUNT);
    while (event != EVENT_NONE) {
        const struct phase_transition *transition = &transitions[r->phase][event];
        assert(transition->defined);
        if (r->phase != SM_PHASE_IDLE || transition->next != SM_PHASE_IDLE)
            sm_debug(sm, event < EVENT_DECIDED_WAVES ? PART_ROUTING : PART_DISTRIBUTION,
                     "phase %s: %s", sm_phase_name(r->phase), event_names[event]);
        r->phase = (enum sm_phase)transition->next;
        event = transition->action ? transition->action(sm) : EVENT_NONE;
    }
}

/* ---- external events ---- */

void sm_begin_change(struct sm *sm, struct sm_cause cause)
{
    if (sm_state(sm) == SM_STANDBY)
        return; /* a standby changes nothing */
    report_cause(sm, cause, reconfigure_is_idle(sm));
    handle(sm, EVENT_CHANGE_REPORTED);
}

static void drop_reconfigure(struct sm *sm)
{
    handle(sm, EVENT_REQUESTS_DROPPED);
}

void reconfigure_stop(struct sm *sm)
{
    handle(sm, EVENT_MASTERSHIP_LOST);
}

void reconfigure_stand_by(struct sm *sm)
{
    reconfigure_stop(sm);
    sm->reconfigure->reason = REASON_TAKE_OVER; /* if it becomes master again */
}

bool reconfigure_computed(struct sm *sm, struct sm_job *job, const struct err *refusal)
{
    if (sm->reconfigure->phase != SM_PHASE_COMPUTE || job->number != sm->reconfigure->job) {
        sm_job_free(job); /* obsolete */
        return false;
    }
    report_computed(sm, refusal ? refusal->message : NULL);
    sm_debug(sm, PART_ROUTING, "job %llu: %s's tables, %s, %u VLs%s%s",
             (unsigned long long)job->number, job->engine->name,
             refusal              ? refusal->message
             : job_is_repair(job) ? "a repair"
                                  : "computed",
             job->routes.vls, job->routes.note[0] ? "; " : "", job->routes.note);
    if (refusal) {
        sm_job_free(job);
        sm->reconfigure->refusal = *refusal;
        handle(sm, EVENT_TABLES_REFUSED);
    } else if (job->kind == JOB_REBALANCE && !plan_is_improvement(sm, job)) {
        sm_job_free(job);
        handle(sm, EVENT_TABLES_NOT_BETTER);
    } else {
        plan_receive(sm, job);
        handle(sm, EVENT_TABLES_COMPUTED);
    }
    return true;
}

/* ---- events derived from other parts ---- */

void plan_services(struct sm *sm)
{
    if (reconfigure_is_outdated(sm) || !sm->config.policy->services)
        return;
    partitions_plan(sm);
    qos_plan(sm);
    if (sm->alias_guids)
        alias_plan_update(&sm->alias_plan, sm->alias_guids, &sm->subnet);
    blocks_program(sm);
}

/* Ends the change if everything wanted is confirmed. */
static void settle(struct sm *sm)
{
    const struct reconfigure *r = sm->reconfigure;
    if (r->phase == SM_PHASE_COMPUTE || reconfigure_is_distributing(sm))
        return;
    if (plan_current(sm) && !transactions_under_way(sm, GROUP_TABLES) && qos_is_settled(sm)) {
        plan_serve(sm);
        qos_serve(sm);
    }
    multicast_plan(sm); /* trees follow the routes in force */
    blocks_program(sm);
    if (!transactions_idle(sm) || reconfigure_is_outdated(sm))
        return;
    enum job_tables tables = plan_current(sm) ? plan_current(sm)->result.tables : TABLES_FINAL;
    bool quick = tables == TABLES_PROVISIONAL || tables == TABLES_REPAIRED_PARTLY;
    handle(sm, quick && r->phase == SM_PHASE_SETTLE && !r->refused ? EVENT_PROVISIONAL_IN_FORCE
                                                                   : EVENT_ALL_ANSWERED);
}

void reconfigure_advance(struct sm *sm)
{
    assert(sm_state(sm) == SM_MASTER);
    if (sm->config.policy->sequential && reconfigure_is_outdated(sm) && !transactions_idle(sm))
        return;
    handle(sm, reconfigure_is_outdated(sm) ? EVENT_PLAN_OUTDATED : EVENT_DISCOVERY_COMPLETE);
    if (reconfigure_is_outdated(sm) && !transactions_under_way(sm, GROUP_TABLES))
        handle(sm, EVENT_PLAN_DUE);
    plan_services(sm);
    do { /* an empty wave causes no answer that would continue with the next one */
        program_if_due(sm);
        if (reconfigure_is_distributing(sm))
            handle(sm, distribute_progress(sm));
    } while (program_is_due(sm));
    settle(sm);
}

void reconfigure_write_moves(struct sm *sm)
{
    if (moves_count(sm, false) && sm_is_quiet(sm))
        handle(sm, EVENT_MOVES_DUE);
}

SM_PART(reconfigure, .requests_dropped = drop_reconfigure, .problems = reconfigure_list_problems,
        .as_master = true);
