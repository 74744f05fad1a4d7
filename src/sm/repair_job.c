/* Repair jobs: after a change, only broken entries of the tables in the switches are rerouted.
 *
 * A job tries a repair first (routing/repair/repair.h) if this manager computed and checked the
 * previous tables: it examines, repairs and checks only the entries that the change affects. If the
 * previous repair was not completely written, its missing entries are repaired again.
 *
 * If packets are lost and some entries find no acyclic choice, the others are written at once, and
 * these tables are provisional: broken routes do not wait for others that are harder to repair. The
 * next job repairs the rest with drains, which may change entries of other broken routes. If that
 * is impossible, an engine computes all tables, as it does at first, on request, with user routes,
 * and in modes other than `ordered`.
 *
 * Repairs degrade balance. If the load of a link exceeds that at the last computation too much, all
 * tables are computed at the next sweep, unless writing them would stop traffic. */
#include "sm/repair_job.h"
#include "routing/check/verify.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"

#include "base/map.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- in the manager: input of a job ---- */

static bool may_repair(const struct sm *sm, const struct sm_job *job, enum plan_reason reason)
{
    const struct sm_job *last = plan_current(sm);
    const struct user_routes *user = job->options.user;
    bool requested =
        reason == REASON_OPERATOR || reason == REASON_POLICY || reason == REASON_BALANCE;
    return sm->config.repair && !requested && job->mode == SM_ORDERED && job->known &&
           !job_keeps_tables(job) && last && last->repair_state.known &&
           last->result.tables != TABLES_PROVISIONAL &&
           last->result.tables != TABLES_REPAIRED_PARTLY &&
           (last == plan_serving(sm) || last->routes.vls <= 1) && !(user && user->entries.count);
}

/* Whether the last job left entries broken, and nothing has changed since. */
static bool repairs_rest(const struct sm *sm, const struct sm_job *job)
{
    const struct sm_job *last = plan_current(sm);
    return sm->config.repair && job->mode == SM_ORDERED && job->known && !job_keeps_tables(job) &&
           last && last->result.tables == TABLES_REPAIRED_PARTLY &&
           last->generation == job->generation && !last->edited && last == plan_serving(sm);
}

/* Maps switches of the last job to those of the new one. */
static uint32_t *follow_switches(const struct sm_job *last, const struct sm_job *job,
                                 const uint32_t *index)
{
    uint32_t *to_new = mem_alloc((last->nodes.count + 1) * sizeof *to_new);
    for (size_t i = 0; i < last->nodes.count; i++) {
        const struct network_switch *was = &last->network.switches.items[i], *is;
        to_new[i] = index[last->nodes.items[i]];
        if (to_new[i] == NETWORK_NONE)
            continue;
        is = &job->network.switches.items[to_new[i]];
        if (is->guid != was->guid || is->port_count != was->port_count)
            to_new[i] = NETWORK_NONE;
    }
    return to_new;
}

/* Whether this entry was in the switch before the last repair. */
static bool was_before(const struct sm_job *last, uint32_t at, uint32_t lid, uint8_t port)
{
    const struct table_change *entries = last->repair.entries.items;
    size_t i, count = last->repair.entries.count;
    lower_bound(i, count, entries[i].lid < lid);
    for (; i < count && entries[i].lid == lid; i++)
        if (entries[i].at == at)
            return entries[i].before == port;
    return false;
}

/* Adds entries of one switch that the last repair has not written; false: an entry is neither old
 * nor new. */
static bool compare_row(const struct sm_job *last, struct sm_job *job, uint32_t old, uint32_t at)
{
    assert(old < last->nodes.count && at < job->nodes.count);
    const uint8_t *row = routes_row(&job->before, at), *wanted = routes_row(&last->routes, old);
    uint32_t both =
        job->before.stride < last->routes.stride ? job->before.stride : last->routes.stride;
    if (job->before.stride == both && memcmp(row, wanted, both) == 0)
        return true;
    for (uint32_t lid = 1; lid < job->before.stride; lid++) {
        if (row[lid] == (lid < both ? wanted[lid] : PORT_NONE))
            continue;
        if (!was_before(last, old, lid, row[lid]))
            return false;
        if (lid <= job->network.top_lid && job->network.owner[lid] != NETWORK_NONE)
            vec_push(&job->repair.ends, ((struct repair_end){at, (uint16_t)lid, 0, NETWORK_NONE}));
    }
    return true;
}

/* Whether every entry is that of the last job or the one before. Ignores new switches, which carry
 * no traffic yet. */
static bool compare_tables(const struct sm_job *last, struct sm_job *job, const uint32_t *to_new)
{
    uint8_t *stays = mem_zalloc(job->before.switch_count + 1u, 1);
    bool known = true;
    for (uint32_t old = 0; old < last->nodes.count && known; old++) {
        if (to_new[old] == NETWORK_NONE)
            continue;
        stays[to_new[old]] = 1;
        known = compare_row(last, job, old, to_new[old]);
    }
    for (uint32_t at = 0; at < job->before.switch_count && known; at++)
        if (!stays[at])
            memset(routes_row(&job->before, at), PORT_NONE, job->before.stride);
    mem_free(stays);
    return known;
}

/* Copies service levels, offsets and default ports of the last tables. */
static void keep_paths(const struct sm_job *last, struct sm_job *job, const uint32_t *to_new)
{
    const struct routes *from = &last->routes;
    struct routes *to = &job->before;
    uint32_t stride = to->stride < from->stride ? to->stride : from->stride;
    to->engine = from->engine;
    to->vls = from->vls;
    to->reversible = from->reversible;
    to->lmc_needed = from->lmc_needed;
    if (from->offsets)
        to->offsets = mem_zalloc((size_t)to->switch_count * to->switch_count + 1, 1);
    if (from->service_levels)
        to->service_levels = mem_zalloc((size_t)to->switch_count * to->stride + 1, 1);
    if (from->default_ports) {
        to->default_ports = mem_alloc(to->switch_count + 1u);
        memset(to->default_ports, PORT_NONE, to->switch_count);
    }
    for (uint32_t i = 0; i < last->nodes.count; i++) {
        if (to_new[i] == NETWORK_NONE)
            continue;
        if (from->service_levels)
            memcpy(to->service_levels + (size_t)to_new[i] * to->stride,
                   from->service_levels + (size_t)i * from->stride, stride);
        if (from->default_ports)
            to->default_ports[to_new[i]] = from->default_ports[i];
        for (uint32_t k = 0; from->offsets && k < last->nodes.count; k++)
            if (to_new[k] != NETWORK_NONE)
                to->offsets[(size_t)to_new[i] * to->switch_count + to_new[k]] =
                    from->offsets[(size_t)i * from->switch_count + k];
    }
}

/* LIDs whose entries virtual machines changed are examined like new ones: the repair state does not
 * include them. */
static void add_edited(const struct sm_job *last, struct sm_job *job)
{
    struct repair *repair = &job->repair;
    size_t words = BITSET_WORDS(LFT_ENTRIES);
    if (!last->edited)
        return;
    uint64_t *all = mem_zalloc(words, sizeof *all);
    repair->live = mem_alloc(words * sizeof *all);
    memcpy(repair->live, last->edited, words * sizeof *all);
    memcpy(all, last->edited, words * sizeof *all);
    for (size_t i = 0; i < repair->lids.count; i++)
        bitset_add(all, repair->lids.items[i]);
    repair->lids.count = 0;
    for (uint32_t lid = 1; lid <= job->network.top_lid; lid++)
        if (bitset_has(all, lid) && job->network.owner[lid] != NETWORK_NONE) {
            vec_push(&repair->lids, (uint16_t)lid);
            if (bitset_has(last->edited, lid))
                vec_push(&job->change.lids, (uint16_t)lid);
        }
    mem_free(all);
}

static void prepare_repair(struct sm *sm, struct sm_job *job, const uint32_t *index)
{
    const struct sm_job *last = plan_current(sm);
    uint32_t *to_new = follow_switches(last, job, index);
    job->repair.drop_unused_lids =
        sm->subnet.functions.rows.count > 0; /* LIDs of virtual machines are reused */
    bool known = compare_tables(last, job, to_new);
    size_t unwritten = job->repair.ends.count;
    if (known && repair_compare(&job->repair, &last->repair_state, &last->network, &last->routes,
                                &job->network, &job->before, to_new)) {
        verify_change_begin(&job->change, &last->network, &last->checked, &job->network, to_new);
        for (size_t i = 0; i < unwritten; i++) {
            const struct repair_end *end = &job->repair.ends.items[i];
            vec_push(&job->change.entries, ((struct verify_entry){end->at, end->lid}));
        }
        keep_paths(last, job, to_new);
        add_edited(last, job);
        /* Packets are lost until the repair is written if routes that delivered packets no longer
         * do, or if the last repair was not completely written. New nodes alone cause no loss. */
        job->repair.allow_partial = unwritten > 0;
        for (size_t i = 0; i < job->repair.ends.count; i++)
            job->repair.allow_partial |= job->repair.ends.items[i].hops > 0;
        job->kind = JOB_REPAIR;
    }
    mem_free(to_new);
}

static void prepare_rest(struct sm *sm, struct sm_job *job, const uint32_t *index)
{
    const struct sm_job *last = plan_current(sm);
    uint32_t *to_new = follow_switches(last, job, index);
    job->repair.may_drain = compare_tables(last, job, to_new);
    job->repair.is_new = mem_zalloc(job->network.ports.count + 1, 1);
    repair_state_begin(&job->repair.state, &job->network, 1, NULL); /* until it is computed */
    job->repair.state.load = mem_zalloc(job->network.ports.count + 1, sizeof(uint64_t));
    job->repair.state.peak = last->repair_state.peak;
    if (job->repair.may_drain) {
        job->kind = JOB_REPAIR;
        keep_paths(last, job, to_new);
    }
    mem_free(to_new);
}

void repair_job_prepare(struct sm *sm, struct sm_job *job, const uint32_t *index,
                        enum plan_reason reason)
{
    if (may_repair(sm, job, reason))
        prepare_repair(sm, job, index);
    else if (repairs_rest(sm, job))
        prepare_rest(sm, job, index);
    if (job->kind != JOB_REPAIR && job->known && plan_serving(sm)) {
        uint32_t *to_new = follow_switches(plan_serving(sm), job, index);
        keep_paths(plan_serving(sm), job, to_new);
        mem_free(to_new);
    }
    if (job->known && plan_serving(sm))
        job->known = BEFORE_LEVELS;
}

/* ---- in the job ---- */

/* Builds the repair state from the results of a check, and takes the loads of the report; false:
 * there is a cycle. */
static bool build_state(struct repair_state *state, const struct network *network,
                        const struct dependency_graph *graph, struct verify_report *report,
                        const uint32_t *ranks)
{
    repair_state_release(state);
    repair_state_begin(state, network, graph->vls, ranks);
    dependency_each(graph, repair_state_note, state);
    bool acyclic = repair_state_end(state, report->load, report->load_max);
    report->load = NULL;
    return acyclic;
}

void repair_job_set_state(struct sm_job *job, const struct dependency_graph *graph,
                          struct verify_report *report, const uint32_t *ranks)
{
    uint32_t *part = mem_alloc((job->network.switches.count + 1) * sizeof *part);
    job->repair_state.known =
        build_state(&job->repair_state, &job->network, graph, report, ranks) &&
        network_parts(&job->network, part) == 1;
    mem_free(part);
}

/* Writes what was changed, what is left, and a cycle that prevents the rest. */
static void write_note(struct sm_job *job)
{
    const struct repair *repair = &job->repair;
    struct text text = {0};
    char label[NETWORK_LABEL_BYTES];
    text_printf(&text, "%zu entries changed for %llu broken ones; ", repair->entries.count,
                (unsigned long long)repair->broken);
    if (repair->left)
        text_printf(&text, "%llu wait for a drain or a full computation",
                    (unsigned long long)repair->left);
    else
        text_puts(&text, "other entries stay");
    if (repair->left && repair->cycle.count) {
        text_printf(&text, ": a route from %s to LID %u would close the cycle",
                    network_label(&job->network, NETWORK_SWITCH | repair->stuck.at, label),
                    repair->stuck.lid);
        for (size_t i = 0; i <= repair->cycle.count; i++)
            text_printf(&text, "%s %s", i ? " ->" : "",
                        network_label(&job->network,
                                      NETWORK_SWITCH | repair->cycle.items[i % repair->cycle.count],
                                      label));
    }
    snprintf(job->routes.note, sizeof job->routes.note, "%s", text.data);
    text_release(&text);
}

static void finish_repair(struct sm_job *job)
{
    struct repair *repair = &job->repair;
    job->result.imbalance = repair_imbalance(repair);
    if (!repair->may_drain) { /* else the full check has stored both */
        job->repair_state = repair->state;
        repair->state = (struct repair_state){0};
        job->checked = job->change.graph;
        job->change.graph = (struct dependency_graph){0};
    }
    job->routes.operations = repair->operations;
    job->routes.generation = job->generation;
    if (repair->entries.count)
        write_note(job);
    /* Default ports without a link are none. */
    for (uint32_t at = 0; job->routes.default_ports && at < job->routes.switch_count; at++) {
        const struct network_switch *node = &job->network.switches.items[at];
        uint8_t *port = &job->routes.default_ports[at];
        if (*port > node->port_count ||
            job->network.ports.items[node->first_port + *port].peer == NETWORK_NONE)
            *port = PORT_NONE;
    }
}

/* Repairs so that at most single entries need a drain. */
static int repair_without_drain(struct sm_job *job, struct err *err)
{
    struct repair *repair = &job->repair;
    int status = repair_tables(repair, &job->network, &job->routes, err);
    if (!status && !repair_plan(repair, &job->routes, &job->plan))
        status = err_set(err, EDEADLK, "the new entries could deadlock");
    if (!status && repair->left)
        repair_leave_drains(repair, &job->routes, &job->plan);
    job->change.allow_partial = repair->left > 0;
    if (!status) {
        status = verify_change(&job->change, &job->routes, repair->entries.items,
                               repair->entries.count, &job->plan, err);
        (*(status ? &job->result.proofs_failed : &job->result.proofs_passed))++;
    }
    repair->operations += job->change.operations;
    if (status)
        update_plan_release(&job->plan);
    return status;
}

/* Builds the repair state of the tables without broken entries. */
static bool check_kept_tables(struct sm_job *job, struct err *err)
{
    struct repair *repair = &job->repair;
    struct routes kept;
    struct dependency_graph graph;
    struct verify_report report;
    uint64_t peak = repair->state.peak;
    repair->allow_partial = false;
    repair->left = 0;
    repair_drop_broken(repair, &job->network, &job->routes, &kept);
    verify_routes(&job->network, &kept,
                  &(struct verify_options){.workers = job->options.workers, .keep = &graph},
                  &report);
    repair->operations += verify_operations(&job->network, &kept);
    bool acyclic = build_state(&repair->state, &job->network, &graph, &report, NULL);
    repair->state.peak = peak;
    dependency_release(&graph);
    verify_report_release(&report);
    kept.service_levels = kept.offsets = NULL; /* those of the job's tables */
    routes_release(&kept);
    if (!acyclic)
        err_set(err, EDEADLK, "the tables that are in the switches could deadlock");
    return acyclic;
}

/* Repairs without regard to packets in flight: the plan drains them. */
static int repair_with_drain(struct sm_job *job, struct err *err)
{
    struct routes *routes = &job->routes;
    size_t cells = (size_t)routes->switch_count * routes->stride;
    uint8_t *held = mem_alloc(cells + 1);
    memcpy(held, routes->ports, cells);
    int status = check_kept_tables(job, err)
                     ? repair_tables(&job->repair, &job->network, routes, err)
                     : -EDEADLK;
    if (!status)
        status = job_check(job, routes, err);
    job->repair.operations += verify_operations(&job->network, routes);
    if (status) {
        mem_free(held);
        return status;
    }
    job->before = (struct routes){.engine = routes->engine,
                                  .switch_count = routes->switch_count,
                                  .stride = routes->stride,
                                  .top_lid = routes->top_lid,
                                  .vls = routes->vls,
                                  .ports = held};
    if (routes->service_levels)
        job->before.service_levels = memcpy(mem_alloc(cells + 1), routes->service_levels, cells);
    if (job_needs_no_order(job))
        update_plan_hold_all(&job->plan, &job->network, &job->before, routes);
    else
        update_plan_make(&job->plan, &job->network, &job->before, routes);
    return 0;
}

int repair_job_run(struct sm_job *job, struct err *err)
{
    assert(job->kind == JOB_REPAIR && job->before.ports && !job->routes.ports);
    struct repair *repair = &job->repair;
    struct routes held = job->before;
    job->routes = held; /* in place; repair_undo() reverts a failed repair */
    job->before = (struct routes){0};
    int status = repair->may_drain ? -EAGAIN : repair_without_drain(job, err);
    if (status) {
        repair_undo(repair, &job->routes);
        status = repair_with_drain(job, err);
    }
    if (!status)
        finish_repair(job);
    verify_change_release(&job->change);
    if (!status)
        return 0;
    repair_undo(repair, &job->routes);
    job->before = held;
    job->routes = (struct routes){.operations = repair->operations};
    return status;
}
