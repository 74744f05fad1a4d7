/* Planning: jobs that compute forwarding tables.
 *
 * A job contains a snapshot of the subnet and of the tables in the switches. The host runs it, in
 * another thread if it has one, and returns it. Obsolete jobs are discarded. The job also plans the
 * order of updates; distribute.c makes its tables wanted. */
#include "sm/plan.h"
#include "routing/check/verify.h"
#include "routing/search/roots.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/repair_job.h"
#include "sm/tables/multicast.h"
#include "sm/tables/qos.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include "base/bitset.h"
#include "vswitch/model/terminals.h"

#include <errno.h>
#include <string.h>

enum { VLS_AT_MOST = 15 }; /* data VLs of a link */

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
    if (job->mode == SM_STATIC && sm->config.engine->provisional && !job->provisional)
        job->mode = SM_ORDERED;
    job->adopt = reason == REASON_TAKE_OVER && !job->engine->renames;
    job->only_adopt = sm_state(sm) == SM_STANDBY;
    if (job->mode != SM_ORDERED && !job->adopt)
        return;
    struct network shape = job->network; /* entries of LIDs that are gone may stay */
    if (plan_current(sm) && sm->config.policy->keeps_old_entries &&
        plan_current(sm)->routes.top_lid > shape.top_lid)
        shape.top_lid = plan_current(sm)->routes.top_lid;
    routes_init(&job->before, &shape, "adopted"); /* if these tables stay in force */
    for (uint32_t at = 0; at < job->before.switch_count; at++)
        job->has_before |= copy_known_blocks(
            node_at(sm, job->nodes.items[at])->tables, routes_row(&job->before, at),
            job->before.stride < LFT_ENTRIES ? job->before.stride : LFT_ENTRIES);
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
    job->provisional = provisional;
    job->options = sm->config.engine_options;
    job->options.generation = job->generation;
    job->quiesced = quiesce_is_on(sm);
    job->options.max_vls = qos_limit_lanes(sm);
    job->spares_vl = multicast_wants_lane(sm, job->options.max_vls);
    job->options.max_vls -= job->spares_vl;
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
        last->repair_state.known && plan_check(last, &last->routes, &(struct err){0}) == 0)
        last->edits_checked = last->edits;
    repair_job_prepare(sm, job, index, reason);
    sm_debug(sm, PART_ROUTING,
             "job %llu: engine %s%s, %zu switches, %zu terminals, at most %u VLs, %s",
             (unsigned long long)job->number, engine->name, provisional ? " (provisional)" : "",
             job->network.switches.count, job->network.terminals.count, job->options.max_vls,
             job->adopt        ? "the previous master's tables stay if they are correct"
             : job->try_repair ? "a repair is tried first"
             : job->has_before ? "all tables are computed, the old ones are in the switches"
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
        !plan_current(sm)->repaired || plan_current(sm)->imbalance <= sm->config.rebalance)
        return;
    plan_current(sm)->peak_at_request =
        plan_current(sm)->repair_state.peak * plan_current(sm)->imbalance / 100;
    plan_current(sm)->imbalance = 0; /* request it once */
    reconfigure_request(sm, REASON_BALANCE);
    sm_begin_change(sm, "links are used unevenly after repairs");
}

/* Whether tables that were computed for balance are worth writing. If not, their peak load becomes
 * the reference for the next decision. */
bool plan_is_improvement(struct sm *sm, const struct sm_job *job)
{
    assert(job->optional && plan_current(sm));
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

/* The manager only writes tables that pass the independent check. */
int plan_check(struct sm_job *job, const struct routes *routes, struct err *err)
{
    struct verify_report report;
    struct dependency_graph graph;
    struct verify_options options = {
        .workers = job->options.workers, .keep = &graph, .reversible = routes->reversible};
    verify_routes(&job->network, routes, &options, &report);
    bool fine = job->options.allow_cycles ? verify_delivers(&report) : verify_passes(&report);
    if (!fine) {
        err_set(err, EINVAL, "%s's tables are refused: %s", job->engine->name,
                report.findings.count ? report.findings.items[0] : "they do not deliver");
        dependency_release(&graph);
    } else { /* the next repair and its check start from the results */
        dependency_release(&job->checked);
        job->checked = graph;
        repair_job_set_state(job, &graph, &report, routes->ranks);
    }
    verify_report_release(&report);
    (*(fine ? &job->proofs_passed : &job->proofs_failed))++;
    return fine ? 0 : -EINVAL;
}

/* Packets follow old or new tables, or a mixture of both. */
static void find_longest(struct sm_job *job)
{
    job->longest_before = routes_longest(&job->before, &job->network);
    job->longest = job->longest_before + routes_longest(&job->routes, &job->network);
}

/* Whether an entry leads to a port without a link. */
static bool has_broken_routes(const struct sm_job *job)
{
    const struct network *network = &job->network;
    uint32_t top = job->before.top_lid < network->top_lid ? job->before.top_lid : network->top_lid;
    for (uint32_t at = 0; at < job->before.switch_count; at++) {
        const struct network_switch *node = &network->switches.items[at];
        const uint8_t *row = routes_row(&job->before, at);
        for (uint32_t lid = 1; lid <= top; lid++)
            if (row[lid] && row[lid] <= node->port_count && network->owner[lid] != NETWORK_NONE &&
                network->ports.items[node->first_port + row[lid]].peer == NETWORK_NONE)
                return true;
    }
    return false;
}

/* During a drain packets on broken routes are lost, and also packets of intact routes that new
 * entries already lead to a broken one. So all sources are quiesced, and one drain follows: their
 * packets wait in the adapters and are not lost. */
static void decide_urgency(struct sm_job *job)
{
    unsigned drains = update_plan_drains(&job->plan) + (job->plan.first_levels != NULL);
    if (job->plan.stuck_vls || drains)
        find_longest(job);
    job->urgent = drains && has_broken_routes(job);
}

static bool is_one_way(const struct routes *routes)
{
    return routes->vls > 1 && !routes->reversible;
}

/* Computes with one VL less, which is reserved for groups. Uses all VLs if the first engine fails
 * with fewer, or if its paths are reversible only with all of them. */
static int compute_with_spare_vl(struct sm_job *job, const struct engine_list *engines,
                                 struct err *err)
{
    struct engine_list first = {.count = 1, .items = {job->engine}};
    int spared =
        engine_list_compute(&first, &job->network, &job->options, &job->routes, &job->engine, err);
    struct routes sparing = job->routes;
    if (!spared && !is_one_way(&sparing))
        return 0;
    job->options.max_vls++;
    int status =
        engine_list_compute(engines, &job->network, &job->options, &job->routes, &job->engine, err);
    job->spares_vl = !spared && (status || is_one_way(&job->routes));
    if (!job->spares_vl) {
        if (!spared)
            routes_release(&sparing);
        return status;
    }
    if (!status)
        routes_release(&job->routes);
    job->routes = sparing;
    job->engine = first.items[0];
    job->options.max_vls--;
    return 0;
}

/* Computes all tables with the first engine that does not refuse. */
static int compute_tables(struct sm_job *job, struct err *err)
{
    struct engine_list engines = {.count = 1, .items = {job->engine}};
    for (size_t i = 0; i < job->others.count && engines.count < ENGINE_LIST_TOP; i++)
        engines.items[engines.count++] = job->others.items[i];
    return job->spares_vl ? compute_with_spare_vl(job, &engines, err)
                          : engine_list_compute(&engines, &job->network, &job->options,
                                                &job->routes, &job->engine, err);
}

/* User routes over a link that is gone, or that close a cycle, are not in force: they must not
 * leave the subnet without routes. */
static int compute_without_user_routes(struct sm_job *job, struct err *err)
{
    char text[sizeof job->routes.note];
    struct err reason = *err;
    job->options.user = NULL;
    int status = compute_tables(job, err);
    if (status)
        return status;
    snprintf(text, sizeof text, "user routes are not in force: %.200s%s%.200s", reason.message,
             job->routes.note[0] ? "; " : "", job->routes.note);
    memcpy(job->routes.note, text, sizeof text);
    return 0;
}

static int compute(struct sm_job *job, struct err *err)
{
    uint64_t spent = job->routes.operations;
    const struct engine *engine = job->engine;
    int status = compute_tables(job, err);
    if (engine_refused(status) && job->options.user) {
        job->engine = engine;
        status = compute_without_user_routes(job, err);
    }
    job->routes.operations += spent;
    bool ordered = !status && job->mode == SM_ORDERED && job->has_before && !job->quiesced;
    if (ordered && !job->levels_known && job->routes.vls > 1)
        job->before.vls = VLS_AT_MOST; /* packets may be on any VL */
    if (ordered)
        update_plan_make_with_levels(&job->plan, &job->network, &job->before, &job->routes);
    return status ? status : plan_check(job, &job->routes, err);
}

/* Keeps the tables in the switches if they pass the check. If they also follow the ranks of the
 * engine, the ranks are kept for repairs and for virtual machines that move. */
static bool adopt(struct sm_job *job)
{
    struct err unfit;
    struct routes *there = &job->before;
    if (!job->adopt || !job->has_before)
        return false;
    if (job->engine->ranks)
        there->ranks = job->engine->ranks(&job->network, &job->options);
    bool right = plan_check(job, there, &unfit) == 0;
    job->proofs_failed -= !right; /* another manager has computed them */
    if (!right || !job->repair_state.directed) {
        mem_free(there->ranks);
        there->ranks = NULL;
    }
    if (!right)
        return false;
    job->routes = *there;
    job->before = (struct routes){0};
    job->has_before = false;
    strcpy(job->routes.note, "the tables that are in the switches are right and stay");
    return true;
}

int sm_job_run(struct sm_job *job, struct err *err)
{
    struct err unfit;
    if (adopt(job))
        return 0;
    if (job->only_adopt)
        return err_set(err, EINVAL, "the tables that are in the switches are not right");
    int status = job->try_repair ? repair_job_run(job, &unfit) : -EAGAIN;
    if (status)
        status = compute(job, err);
    else
        job->provisional = job->repair.left > 0; /* else repaired tables are final */
    if (!status && job->quiesced)
        find_longest(job);
    else if (!status && job->before.ports)
        decide_urgency(job);
    return status;
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
               job->repaired ? job->routes.engine : job->engine->name, job->routes.note);
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
