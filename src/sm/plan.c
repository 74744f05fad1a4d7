/* Planning: from what is known to what is wanted.
 *
 * A snapshot of the subnet goes to a routing engine as a job; the host runs it, in a thread of its
 * own if it likes, and hands it back. Tables of an older job than the one last asked for are not
 * taken. What the engine gives becomes the wanted side of every switch's table. */
#include "routing/check/verify.h"
#include "sm/internal.h"
#include "vswitch/model/terminals.h"

#include <errno.h>
#include <string.h>

enum { VLS_AT_MOST = 15 }; /* for data, of any link */

struct plan {
    struct sm_job *outgoing; /* to be handed to the host */
    struct sm_job *received; /* computed, and not taken yet */
    struct sm_job *current;  /* whose tables are in force, or on their way to be */
    struct sm_job *serving;  /* whose tables were all acknowledged; may be the current one */
    bool broken_off;         /* not all tables of the current one will be written */
    uint64_t paths_generation;
    uint64_t jobs; /* counted */
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

SM_PART(plan, NULL, release_plan, NULL);

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
    network_name(&job->network, index[i] | NETWORK_SWITCH, node->description);
    vec_push(&job->nodes, i);
}

/* In the order of their LIDs: that of discovery depends on which answer came first, and the same
 * subnet is to have the same routes. */
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
    if (terminals_add(&job->network, &sm->subnet, index[near->node], near->number, near->peer))
        return;
    uint32_t terminal = network_add_terminal(&job->network, far->guid, far->lid, far->lmc,
                                             index[near->node], near->number);
    job->network.terminals.items[terminal].node_guid = node_at(sm, far->node)->guid;
    network_name(&job->network, terminal, node_at(sm, far->node)->description);
    if (near->peer == sm->subnet.own_port)
        job->network.manager = index[near->node];
}

/* True if there is anything in them. */
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
    row[0] = PORT_NONE; /* no address */
    return any;
}

/* The tables that are in the switches now, as the order needs them. */
static void take_snapshot(struct sm *sm, struct sm_job *job, enum plan_reason reason)
{
    job->mode = sm->config.mode;
    /* The final tables of a hybrid go out while traffic runs (paper 002, section 3.4). */
    if (job->mode == SM_STATIC && sm->config.engine->provisional && !job->provisional)
        job->mode = SM_ORDERED;
    job->adopt = reason == REASON_TAKE_OVER && !job->engine->renames;
    job->only_adopt = sm_state(sm) == SM_STANDBY;
    if (job->mode != SM_ORDERED && !job->adopt)
        return;
    struct network shape = job->network; /* entries for addresses that are gone may stay */
    if (plan_current(sm) && sm->config.policy->keeps_old_entries &&
        plan_current(sm)->routes.top_lid > shape.top_lid)
        shape.top_lid = plan_current(sm)->routes.top_lid;
    routes_init(&job->before, &shape, "actual");
    for (uint32_t at = 0; at < job->before.switch_count; at++)
        job->has_before |= copy_known_blocks(
            node_at(sm, job->nodes.items[at])->tables, routes_row(&job->before, at),
            job->before.stride < LFT_ENTRIES ? job->before.stride : LFT_ENTRIES);
}

uint64_t plan_routes(struct sm *sm, const struct engine *engine, bool provisional,
                     enum plan_reason reason)
{
    struct sm_job *job = mem_zalloc(1, sizeof *job);
    uint32_t *index = mem_alloc(sm->subnet.nodes.count * sizeof *index + 1);
    job->number = ++sm->plan->jobs;
    job->generation = sm->subnet.generation;
    job->engine = engine;
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
    network_finish(&job->network);
    assert(job->network.switches.count == job->nodes.count);
    take_snapshot(sm, job, reason);
    /* Entries that virtual machines changed are checked once for all of them. If the check refuses
     * them, all tables are computed. */
    struct sm_job *last = sm->plan->serving;
    if (last && last == sm->plan->current && last->edits != last->edits_checked &&
        last->repair_state.known && plan_check(last, &last->routes, &(struct err){0}) == 0)
        last->edits_checked = last->edits;
    repair_job_prepare(sm, job, index, reason);
    mem_free(index);
    sm_job_free(sm->plan->outgoing);
    sm->plan->outgoing = job;
    return job->number;
}

/* The manager writes nothing that the independent check has not passed. */
int plan_check(struct sm_job *job, const struct routes *routes, struct err *err)
{
    struct verify_report report;
    struct dependency_graph graph;
    struct verify_options options = {
        .workers = job->options.workers, .keep = &graph, .reversible = routes->reversible};
    verify_routes(&job->network, routes, &options, &report);
    bool fine = job->options.allow_cycles ? verify_delivers(&report) : verify_holds(&report);
    if (!fine) {
        err_set(err, EINVAL, "%s's tables are refused: %s", job->engine->name,
                report.findings.count ? report.findings.items[0] : "they do not deliver");
        dependency_release(&graph);
    } else { /* the next repair and its check start from what was found */
        uint32_t *part = mem_alloc((job->network.switches.count + 1) * sizeof *part);
        dependency_release(&job->checked);
        job->checked = graph;
        job->repair_state.known =
            repair_job_learn(&job->repair_state, &job->network, &graph, &report, routes->ranks) &&
            network_parts(&job->network, part) == 1;
        mem_free(part);
    }
    verify_report_release(&report);
    return fine ? 0 : -EINVAL;
}

/* What is in the fabric travels by old or new tables, or by a mixture of both. */
static void find_longest(struct sm_job *job)
{
    job->longest_before = routes_longest(&job->before, &job->network);
    job->longest = job->longest_before + routes_longest(&job->routes, &job->network);
}

/* Whether there are routes that lead into what is gone. */
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

/* Waves that wait for drains spare those whose routes are good a stop, and cost those whose routes
 * are broken their packets all the while: with more than one, it is better if all wait for one. */
static void decide_urgency(struct sm_job *job)
{
    unsigned drains = update_plan_drains(&job->plan) + (job->plan.first_levels != NULL);
    bool slow = drains > (job->plan.stuck_lanes ? 0 : 1);
    if (job->plan.stuck_lanes || drains)
        find_longest(job);
    job->urgent = slow && has_broken_routes(job);
}

static bool is_one_way(const struct routes *routes)
{
    return routes->vls > 1 && !routes->reversible;
}

/* With a lane less than there are, which is then for groups. The engines get all if the first one
 * cannot do with that, or if its levels hold both ways only so. */
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

/* All tables anew, of the first engine that does not refuse. */
static int compute(struct sm_job *job, struct err *err)
{
    uint64_t spent = job->routes.operations;
    struct engine_list engines = {.count = 1, .items = {job->engine}};
    for (size_t i = 0; i < job->others.count && engines.count < ENGINE_LIST_TOP; i++)
        engines.items[engines.count++] = job->others.items[i];
    int status = job->spares_vl ? compute_with_spare_vl(job, &engines, err)
                                : engine_list_compute(&engines, &job->network, &job->options,
                                                      &job->routes, &job->engine, err);
    job->routes.operations += spent;
    bool ordered = !status && job->mode == SM_ORDERED && job->has_before && !job->quiesced;
    if (ordered && !job->levels_known && job->routes.vls > 1)
        job->before.vls = VLS_AT_MOST; /* anything may be on any lane */
    if (ordered)
        update_plan_make_with_levels(&job->plan, &job->network, &job->before, &job->routes);
    return status ? status : plan_check(job, &job->routes, err);
}

/* Keeps the tables that are there, if they are right; and if they keep to the directions that the
 * engine would give, that is remembered: repairs and machines that move can rely on it then. */
static bool adopt(struct sm_job *job)
{
    struct err unfit;
    struct routes *there = &job->before;
    if (!job->adopt || !job->has_before)
        return false;
    if (job->engine->ranks)
        there->ranks = job->engine->ranks(&job->network, &job->options);
    bool right = plan_check(job, there, &unfit) == 0;
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
        job->provisional = false; /* the tables that were there are final, repaired or not */
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
        sm_log(sm, SM_EVENT_CHANGE, "%s: %s", job->engine->name, job->routes.note);
}

/* If all was there, nothing is broken off: the tables in force stay what they are, whatever becomes
 * of the next plan. */
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
