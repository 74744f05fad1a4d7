/* Planning: jobs that compute forwarding tables.
 *
 * A job contains a snapshot of the subnet and of the tables in the switches. The host runs it, in
 * another thread if it has one, and returns it. Obsolete jobs are discarded. The job also plans the
 * order of updates; distribute.c makes its tables wanted. */
#include "sm/plan.h"
#include "routing/search/roots.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/reconfigure.h"
#include "sm/repair_job.h"
#include "sm/tables/multicast.h"
#include "sm/tables/qos.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include "base/map.h"
#include "vswitch/model/terminals.h"

#include <string.h>

struct plan {
    struct sm_job *outgoing; /* for the host */
    struct sm_job *received; /* computed, not current yet */
    struct sm_job *current;  /* see plan_current() */
    struct sm_job *serving;  /* see plan_serving(); may be the current one */
    bool broken_off;         /* the current tables will not all be written */
    uint64_t paths_generation;
    uint64_t jobs; /* number of the last job */
};

static void release_jobs(struct plan *plan)
{
    if (plan->current != plan->serving)
        sm_job_free(plan->current);
    sm_job_free(plan->serving);
    plan->current = plan->serving = NULL;
}

static void release_plan(struct sm *sm)
{
    release_jobs(sm->plan);
    sm_job_free(sm->plan->outgoing);
    sm_job_free(sm->plan->received);
}

SM_PART(plan, .release = release_plan);

struct sm_job *plan_current(const struct sm *sm)
{
    return sm->plan->current;
}

struct sm_job *plan_serving(const struct sm *sm)
{
    return sm->plan->serving;
}

struct sm_job *plan_next_job(struct sm *sm)
{
    struct sm_job *job = sm->plan->outgoing;
    sm->plan->outgoing = NULL;
    return job;
}

uint64_t plan_paths_generation(const struct sm *sm)
{
    return sm->plan->paths_generation;
}

void plan_paths_changed(struct sm *sm)
{
    sm->plan->paths_generation++;
}

static void add_switch(struct sm *sm, struct sm_job *job, uint32_t *index, uint32_t i)
{
    const struct subnet_node *node = node_at(sm, i);
    if (!node->present || node->kind != SUBNET_SWITCH || node->vswitch || index[i] != NETWORK_NONE)
        return;
    const struct subnet_port *end = port_at(sm, node->first_port);
    index[i] = network_add_switch(&job->network, node->guid, end->lid, end->lmc, node->port_count);
    network_name(&job->network, index[i] | NETWORK_SWITCH, subnet_node_label(&sm->subnet, node));
    vec_push(&job->nodes, i);
}

/* In the order of LIDs, so that the same subnet has the same routes: the order of discovery depends
 * on the order of answers. */
static void add_switches(struct sm *sm, struct sm_job *job, uint32_t *index)
{
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        index[i] = NETWORK_NONE;
    for (uint32_t lid = 0; lid < LFT_ENTRIES; lid++)
        if (sm->subnet.by_lid[lid] != SUBNET_NONE)
            add_switch(sm, job, index, port_at(sm, sm->subnet.by_lid[lid])->node);
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        add_switch(sm, job, index, i);
}

static void add_terminal(struct sm *sm, struct sm_job *job, uint32_t at, unsigned number,
                         uint32_t port)
{
    const struct subnet_port *end = port_at(sm, port);
    if (at != NETWORK_NONE && terminals_add(&job->network, &sm->subnet, at, number, port))
        return;
    uint32_t terminal =
        network_add_terminal(&job->network, end->guid, end->lid, end->lmc, at, number);
    job->network.terminals.items[terminal].node_guid = node_at(sm, end->node)->guid;
    network_name(&job->network, terminal, subnet_node_label(&sm->subnet, node_at(sm, end->node)));
    if (port == sm->subnet.own_port)
        job->network.manager = at;
}

static void add_link(struct sm *sm, struct sm_job *job, const uint32_t *index, uint32_t port)
{
    const struct subnet_port *near = port_at(sm, port);
    const struct subnet_port *far = port_at(sm, near->peer);
    if (index[far->node] != NETWORK_NONE) {
        if (port < near->peer)
            network_link(&job->network, index[near->node], near->number, index[far->node],
                         far->number);
        return;
    }
    add_terminal(sm, job, index[near->node], near->number, near->peer);
}

/* Returns true if they have any entry. */
static bool copy_known_blocks(const struct subnet_tables *tables, uint8_t *row, unsigned length)
{
    bool any = false;
    for (unsigned first = 0; first < length; first += LFT_BLOCK) {
        if (!subnet_block_known(tables, first / LFT_BLOCK))
            continue;
        memcpy(row + first, tables->actual + first, LFT_BLOCK);
        for (unsigned lid = first; lid < first + LFT_BLOCK && !any; lid++)
            any = lid && row[lid] != PORT_NONE;
    }
    row[0] = PORT_NONE; /* no unicast LID */
    return any;
}

static void take_snapshot(struct sm *sm, struct sm_job *job, enum plan_reason reason)
{
    job->mode = sm->config.mode;
    /* The final tables of a hybrid are distributed while traffic runs (TPDS 2006, section 3.4). */
    if (job->mode == SM_STATIC && sm->config.engine->provisional &&
        job->result.tables != TABLES_PROVISIONAL)
        job->mode = SM_ORDERED;
    job->kind = sm_state(sm) == SM_STANDBY                            ? JOB_CHECK_COPY
                : reason == REASON_TAKE_OVER && !job->engine->renames ? JOB_TAKE_OVER
                : reason == REASON_BALANCE                            ? JOB_REBALANCE
                                                                      : JOB_COMPUTE;
    if (job->mode != SM_ORDERED && !job_keeps_tables(job))
        return;
    struct network shape = job->network; /* entries of LIDs that are gone may stay */
    if (plan_current(sm) && sm->config.policy->keeps_old_entries &&
        plan_current(sm)->routes.top_lid > shape.top_lid)
        shape.top_lid = plan_current(sm)->routes.top_lid;
    routes_init(&job->before, &shape, "adopted"); /* if these tables stay in force */
    for (uint32_t at = 0; at < job->before.switch_count; at++)
        if (copy_known_blocks(node_at(sm, job->nodes.items[at])->tables,
                              routes_row(&job->before, at),
                              job->before.stride < LFT_ENTRIES ? job->before.stride : LFT_ENTRIES))
            job->known = BEFORE_TABLES;
}

/* Replaced or lost nodes must not leave the subnet without routes: if none of the given roots is in
 * the subnet, the engine chooses roots by itself, and user routes of absent nodes are ignored. */
static void ignore_absent_nodes(struct sm *sm, struct sm_job *job)
{
    struct engine_options *options = &job->options;
    struct err err = {0};
    char text[sizeof err.file + sizeof err.message + 32];
    if (options->root == ROOT_LIST && !roots_are_there(&job->network, options)) {
        options->root = ROOT_DEFAULT;
        sm_log(sm, SM_EVENT_WARNING,
               "none of the %zu given roots is in the subnet: the engine chooses roots",
               options->root_count);
    }
    if (options->user && user_routes_check(options->user, &job->network, "user_routes", &err) < 0)
        sm_log(sm, SM_EVENT_WARNING, "%s; such entries are ignored",
               err_text(&err, text, sizeof text));
}

uint64_t plan_routes(struct sm *sm, const struct engine *engine, bool provisional,
                     enum plan_reason reason)
{
    assert(engine && sm->subnet.own_port != SUBNET_NONE && discovery_is_complete(sm));
    struct sm_job *job = mem_zalloc(1, sizeof *job);
    uint32_t *index = mem_alloc(sm->subnet.nodes.count * sizeof *index + 1);
    job->number = ++sm->plan->jobs;
    job->generation = sm->subnet.generation;
    job->engine = job->first = engine;
    job->others = sm->config.others;
    job->result.tables = provisional ? TABLES_PROVISIONAL : TABLES_FINAL;
    job->options = sm->config.engine_options;
    job->options.generation = job->generation;
    const char *why_not;
    job->traffic = quiesce_is_on(sm) ? TRAFFIC_QUIESCED : TRAFFIC_RUNS;
    job->may_quiesce = quiesce_is_possible(sm, &why_not);
    job->options.max_vls = qos_limit_vls(sm);
    job->spare_vls = multicast_wants_vl(sm, job->options.max_vls);
    job->options.max_vls -= job->spare_vls;
    network_init(&job->network);
    add_switches(sm, job, index);
    if (port_at(sm, sm->subnet.own_port)->number == 0)
        job->network.manager = index[port_at(sm, sm->subnet.own_port)->node];
    for (size_t i = 0; i < job->nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, job->nodes.items[i]);
        for (unsigned number = 1; number <= node->port_count; number++)
            if (port_at(sm, node->first_port + number)->peer != SUBNET_NONE)
                add_link(sm, job, index, node->first_port + number);
    }
    const struct subnet_port *own = port_at(sm, sm->subnet.own_port);
    if (job->nodes.count == 0 && own->peer != SUBNET_NONE) {
        add_terminal(sm, job, NETWORK_NONE, 0, sm->subnet.own_port);
        add_terminal(sm, job, NETWORK_NONE, 0, own->peer);
    }
    network_finish(&job->network);
    assert(job->network.switches.count == job->nodes.count);
    ignore_absent_nodes(sm, job);
    take_snapshot(sm, job, reason);
    /* Entries that virtual machines changed are checked once for all of them. If the check refuses
     * them, all tables are computed. */
    struct sm_job *last = sm->plan->serving;
    if (last && last == sm->plan->current && last->edits != last->edits_checked &&
        last->repair_state.known && job_check(last, &last->routes, &(struct err){0}) == 0)
        last->edits_checked = last->edits;
    repair_job_prepare(sm, job, index, reason);
    sm_debug(sm, PART_ROUTING,
             "job %llu: engine %s%s, %zu switches, %zu terminals, at most %u VLs, %s",
             (unsigned long long)job->number, engine->name, provisional ? " (provisional)" : "",
             job->network.switches.count, job->network.terminals.count, job->options.max_vls,
             job_keeps_tables(job)     ? "the previous master's tables stay if they are correct"
             : job->kind == JOB_REPAIR ? "a repair is tried first"
             : job->known              ? "all tables are computed, the old ones are in the switches"
                                       : "all tables are computed, the switches have none");
    mem_free(index);
    sm_job_free(sm->plan->outgoing);
    sm->plan->outgoing = job;
    return job->number;
}

/* Sources change to the plan's first service levels while the old tables are in force, which is
 * safe together (routing/update/make_plan.h). Maps switches of the plan's job to those in force. */
void plan_use_first_levels(struct sm *sm)
{
    const struct sm_job *job = plan_current(sm);
    struct routes *routes = &plan_serving(sm)->routes;
    uint32_t stride = job->before.stride < routes->stride ? job->before.stride : routes->stride;
    struct map by_node = {0};
    for (uint32_t at = 0; at < job->nodes.count; at++)
        map_add(&by_node, job->nodes.items[at], at);
    for (uint32_t at = 0; at < plan_serving(sm)->nodes.count; at++) {
        uint32_t place = map_get(&by_node, plan_serving(sm)->nodes.items[at]);
        if (place != MAP_NONE)
            memcpy(routes->service_levels + (size_t)at * routes->stride,
                   job->plan.first_levels + (size_t)place * job->before.stride, stride);
    }
    map_release(&by_node);
    plan_paths_changed(sm);
}

void plan_edit_entry(struct sm *sm, uint32_t at, uint16_t lid, uint8_t port)
{
    struct sm_job *job = plan_serving(sm);
    assert(at < job->routes.switch_count && lid && lid <= LID_UNICAST_LAST);
    if (!job->edited)
        job->edited = mem_zalloc(BITSET_WORDS(LFT_ENTRIES), sizeof(uint64_t));
    job->edits++;
    routes_grow(&job->routes, lid);
    routes_set(&job->routes, at, lid, port);
    bitset_add(job->edited, lid);
    plan_paths_changed(sm);
}

/* ---- balance after repairs ---- */

void plan_rebalance(struct sm *sm)
{
    if (!sm->config.rebalance || !sm_is_settled(sm) || !plan_current(sm) ||
        !job_is_repair(plan_current(sm)) ||
        plan_current(sm)->result.imbalance <= sm->config.rebalance)
        return;
    plan_current(sm)->peak_at_request =
        repair_highest_load(&plan_current(sm)->repair_state, &plan_current(sm)->network);
    plan_current(sm)->result.imbalance = 0; /* request it once */
    reconfigure_request(sm, REASON_BALANCE);
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_BALANCE, SUBNET_NONE));
}

/* Whether tables that were computed for balance are worth writing. If not, their peak load becomes
 * the reference for the next decision. */
bool plan_is_improvement(struct sm *sm, const struct sm_job *job)
{
    assert(job->kind == JOB_REBALANCE && plan_current(sm));
    const char *reason = NULL;
    if (job->plan.stuck.count || job->plan.stuck_vls)
        reason = "new tables have no safe order";
    else if (job->routes.vls > plan_current(sm)->routes.vls)
        reason = "new tables need more VLs";
    else if (job->repair_state.known && job->repair_state.peak >= plan_current(sm)->peak_at_request)
        reason = "new tables are not more even";
    if (!reason)
        return true;
    sm_log(sm, SM_EVENT_CHANGE, "the tables stay as they are: %s", reason);
    if (plan_current(sm)->repair_state.known && job->repair_state.known)
        plan_current(sm)->repair_state.peak = job->repair_state.peak;
    return false;
}

void plan_receive(struct sm *sm, struct sm_job *job)
{
    assert(!sm->plan->received && job->number && job->number <= sm->plan->jobs);
    assert(job->generation <= sm->subnet.generation);
    sm->plan->received = job;
}

void plan_take_routes(struct sm *sm)
{
    struct plan *plan = sm->plan;
    const struct sm_job *job = plan->received;
    assert(job);
    if (plan->current != plan->serving)
        sm_job_free(plan->current);
    plan->current = plan->received;
    plan->received = NULL;
    plan->broken_off = false;
    if (job->routes.note[0])
        sm_log(sm, SM_EVENT_CHANGE, "%s: %s",
               job_is_repair(job) ? job->routes.engine : job->engine->name, job->routes.note);
}

/* Tables that are all acknowledged stay in force, whatever the next plan is. */
void plan_break_off(struct sm *sm)
{
    sm->plan->broken_off = sm->plan->current != sm->plan->serving;
}

void plan_serve(struct sm *sm)
{
    struct plan *plan = sm->plan;
    if (plan->broken_off || plan->serving == plan->current)
        return;
    assert(!transactions_under_way(sm, GROUP_TABLES));
    sm_job_free(plan->serving);
    plan->serving = plan->current;
    repair_release(&plan->serving->repair);
    routes_release(&plan->serving->before);
    update_plan_release(&plan->serving->plan);
    plan->paths_generation++;
}

void plan_drop(struct sm *sm)
{
    release_jobs(sm->plan);
    sm->plan->broken_off = false;
    quiesce_forget(sm);
    qos_forget(sm);
    plan_paths_changed(sm);
}
