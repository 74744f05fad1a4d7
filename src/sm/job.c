/* A routing job as the host runs it, in any thread: keeps, repairs or computes the tables, plans
 * the order of updates, and checks the result. It uses nothing but the job. */
#include "sm/job.h"
#include "routing/check/verify.h"
#include "routing/engines/engine_fallback.h"
#include "sm/repair_job.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { VLS_AT_MOST = 15 }; /* data VLs of a link */

void sm_job_free(struct sm_job *job)
{
    if (!job)
        return;
    network_release(&job->network);
    routes_release(&job->routes);
    routes_release(&job->before);
    update_plan_release(&job->plan);
    repair_release(&job->repair);
    repair_state_release(&job->repair_state);
    dependency_release(&job->checked);
    verify_change_release(&job->change);
    mem_free(job->edited);
    vec_release(&job->nodes);
    mem_free(job);
}

/* The manager only writes tables that pass the independent check. */
int job_check(struct sm_job *job, const struct routes *routes, struct err *err)
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
    (*(fine ? &job->result.proofs_passed : &job->result.proofs_failed))++;
    return fine ? 0 : -EINVAL;
}

/* Packets follow old or new tables, or a mixture of both. */
static void find_longest(struct sm_job *job)
{
    job->result.longest_before = routes_longest(&job->before, &job->network);
    uint32_t after = routes_longest(&job->routes, &job->network);
    job->result.longest = (job->before.ports ? job->result.longest_before : after) + after;
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

/* If a repair in waves was not possible, new tables hardly ever have an order without a drain.
 * While routes are broken, sources are stopped then and the waves are not used (decide_urgency()),
 * and packets would be lost while they are searched. */
bool job_needs_no_order(const struct sm_job *job)
{
    return job->kind == JOB_REPAIR && job->may_quiesce && has_broken_routes(job);
}

/* During a drain packets on broken routes are lost, and also packets of intact routes that new
 * entries already lead to a broken one. So all sources are quiesced, and one drain follows: their
 * packets wait in the adapters and are not lost. A repair executes its waves, and quiesces sources
 * from the first drain on. */
static void decide_urgency(struct sm_job *job)
{
    bool waits = update_plan_drains(&job->plan) || job->plan.first_levels || job->plan.stuck_vls;
    if (waits && job->before.ports)
        find_longest(job);
    if (waits && (job->before.ports ? has_broken_routes(job) : job->repair.allow_partial))
        job->traffic = TRAFFIC_URGENT;
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
    job->spare_vls = !spared && (status || is_one_way(&job->routes));
    if (!job->spare_vls) {
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
    return job->spare_vls ? compute_with_spare_vl(job, &engines, err)
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
    bool ordered = !status && job->mode == SM_ORDERED && job->known && job->traffic == TRAFFIC_RUNS;
    if (ordered && job->known != BEFORE_LEVELS && job->routes.vls > 1)
        job->before.vls = VLS_AT_MOST; /* packets may be on any VL */
    if (ordered && job_needs_no_order(job))
        update_plan_hold_all(&job->plan, &job->network, &job->before, &job->routes);
    else if (ordered)
        update_plan_make_with_levels(&job->plan, &job->network, &job->before, &job->routes);
    return status ? status : job_check(job, &job->routes, err);
}

bool job_keeps_tables(const struct sm_job *job)
{
    return (job->kind == JOB_TAKE_OVER || job->kind == JOB_CHECK_COPY) && !job->first->renames;
}

/* Keeps the tables in the switches if they pass the check. If they also follow the ranks of the
 * engine, the ranks are kept for repairs and for virtual machines that move. */
static bool adopt(struct sm_job *job)
{
    struct err unfit;
    struct routes *there = &job->before;
    if (!job_keeps_tables(job) || !job->known)
        return false;
    if (job->engine->ranks)
        there->ranks = job->engine->ranks(&job->network, &job->options);
    bool right = job_check(job, there, &unfit) == 0;
    job->result.proofs_failed -= !right; /* another manager has computed them */
    if (!right || !job->repair_state.directed) {
        mem_free(there->ranks);
        there->ranks = NULL;
    }
    if (!right)
        return false;
    job->routes = *there;
    job->before = (struct routes){0};
    job->known = BEFORE_UNKNOWN;
    job->result.kept = true;
    strcpy(job->routes.note, "the tables that are in the switches are right and stay");
    return true;
}

static int run(struct sm_job *job, struct err *err)
{
    struct err unfit;
    if (adopt(job))
        return 0;
    if (job->kind == JOB_CHECK_COPY)
        return err_set(err, EINVAL, "the tables that are in the switches are not right");
    int status = job->kind == JOB_REPAIR ? repair_job_run(job, &unfit) : -EAGAIN;
    if (status)
        status = compute(job, err);
    else
        job->result.tables = job->repair.left ? TABLES_REPAIRED_PARTLY : TABLES_REPAIRED;
    if (!status && job->traffic == TRAFFIC_QUIESCED)
        find_longest(job);
    else if (!status && (job->before.ports || job_is_repair(job)))
        decide_urgency(job);
    return status;
}

int sm_job_run(struct sm_job *job, struct err *err)
{
    return job->result.status = run(job, err);
}

/* The engines before the one that computed the tables have refused the network. Without tables all
 * have, unless the tables of one have failed the check. */
static struct engine_list refusing_engines(const struct sm_job *job)
{
    struct engine_list refusing = {0};
    const struct engine *engine = job->first;
    for (size_t i = 0; i <= job->others.count && !job->result.proofs_failed; i++) {
        if (job->result.status >= 0 && engine == job->engine)
            break;
        if (refusing.count < ENGINE_LIST_TOP)
            refusing.items[refusing.count++] = engine;
        engine = i < job->others.count ? job->others.items[i] : NULL;
    }
    return refusing;
}

struct sm_job_report sm_job_report(const struct sm_job *job)
{
    uint64_t checks = job->routes.ports && !job_is_repair(job); /* a repair includes its check */
    if (job_keeps_tables(job) && job->known)
        checks++;
    return (struct sm_job_report){
        .network = &job->network,
        .engine = job->engine,
        .options = &job->options,
        .refusing = job_is_repair(job) ? (struct engine_list){0} : refusing_engines(job),
        .operations = job->routes.operations + job->plan.operations +
                      checks * verify_operations(&job->network, &job->routes),
        .proofs_passed = job->result.proofs_passed,
        .proofs_failed = job->result.proofs_failed,
        .repaired = job_is_repair(job),
        .kept = job->result.kept,
    };
}
