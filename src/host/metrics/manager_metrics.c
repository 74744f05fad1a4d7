/* Reads the counters of subnet manager, SA and performance manager, and prints them as metric
 * families. The counters of ports are not among them (host/metrics/port_metrics.h). */
#include "host/metrics/manager_metrics.h"

#include "host/metrics/format.h"
#include "routing/engine/engine.h"

void manager_totals_add_job(struct manager_totals *totals, const struct sm_job *job, bool refused)
{
    const struct sm_job_report report = sm_job_report(job);
    totals->proofs_passed += report.proofs_passed;
    totals->proofs_failed += report.proofs_failed;
    totals->jobs_refused += refused;
    totals->jobs_repaired += !refused && report.repaired;
    totals->jobs_computed += !refused && !report.repaired;
    for (size_t i = 0; i < report.refusing.count; i++)
        for (size_t engine = 0; engine < METRIC_ENGINES && engine_at(engine); engine++)
            totals->refusals[engine] += engine_at(engine) == report.refusing.items[i];
}

void manager_metrics_read(struct manager_metrics *metrics, const struct sm *sm, const struct sa *sa,
                          const struct perf *perf)
{
    struct sm_paths paths = sm_paths(sm);
    metrics->state = sm_state(sm);
    metrics->subnet = sm_subnet(sm)->prefix_routes.own;
    metrics->settled = sm_is_settled(sm);
    metrics->copy_is_complete = sm_has_copy(sm);
    metrics->own_link_is_down = sm_own_link_is_down(sm);
    metrics->vls = paths.routes ? paths.routes->vls : 0;
    snprintf(metrics->engine, sizeof metrics->engine, "%s",
             paths.routes && paths.routes->engine ? paths.routes->engine : "");
    metrics->m_key_violations = sm_m_key_violations(sm);
    sm_counts(sm, &metrics->smps);
    sm_totals(sm, &metrics->changes);
    sa_counts(sa, &metrics->sa);
    perf_counts(perf, &metrics->perf);
}

/* A family with one label; the values of the label are constants. */
struct labelled {
    const char *label;
    uint64_t value;
};
static void put_labelled(struct text *out, const char *name, const char *type, const char *help,
                         const char *label, const struct labelled *samples, size_t count)
{
    metric_family(out, name, type, help);
    for (size_t i = 0; i < count; i++) {
        metric_begin(out, name);
        metric_label(out, label, samples[i].label);
        metric_end(out, samples[i].value);
    }
}
#define PUT_LABELLED(out, name, type, help, label, samples)                                        \
    put_labelled(out, name, type, help, label, (samples), sizeof(samples) / sizeof *(samples))

static void print_state(const struct manager_metrics *m, struct text *out)
{
    const struct labelled states[] = {
        {"not_active", m->state == SM_NOT_ACTIVE},
        {"discovering", m->state == SM_DISCOVERING},
        {"standby", m->state == SM_STANDBY},
        {"master", m->state == SM_MASTER},
    };
    metric_family(out, "weft_build_info", "gauge", "Version of weft.");
    metric_begin(out, "weft_build_info");
    metric_label(out, "version", m->version);
    metric_end(out, 1);
    metric_family(out, "weft_subnet_info", "gauge", "The subnet, by its prefix.");
    metric_begin(out, "weft_subnet_info");
    metric_label_guid(out, "subnet", m->subnet);
    metric_end(out, 1);
    PUT_LABELLED(out, "weft_sm_state", "gauge", "State of the manager: 1 for the present one.",
                 "state", states);
    metric_gauge(out, "weft_sm_priority", "Priority of the manager.", m->priority);
    metric_gauge(out, "weft_sm_settled", "1 if the manager is master and no change is under way.",
                 m->settled);
    metric_gauge(out, "weft_sm_own_link_down", "1 if the link of the manager's own port is down.",
                 m->own_link_is_down);
}

static void print_changes(const struct manager_metrics *m, struct text *out)
{
    static const char *const phases[SM_STEPS] = {[SM_STEP_DISCOVER] = "discovery",
                                                 [SM_STEP_COMPUTE] = "routes",
                                                 [SM_STEP_DISTRIBUTE] = "distribution"};
    const struct sm_totals *c = &m->changes;
    const struct labelled changes[] = {{"up", c->changes}, {"no_routes", c->failed_changes}};
    PUT_LABELLED(out, "weft_changes_total", "counter", "Changes of the subnet that have ended.",
                 "result", changes);
    metric_family(out, "weft_change_phase_seconds_total", "counter",
                  "Time of changes that have ended, by phase.");
    for (unsigned i = SM_STEP_DISCOVER; i < SM_STEPS; i++) {
        metric_begin(out, "weft_change_phase_seconds_total");
        metric_label(out, "phase", phases[i]);
        metric_end_double(out, (double)c->step_ns[i] / 1e9);
    }
    metric_family(out, "weft_last_change_phase_seconds", "gauge",
                  "Time of the last change, by phase.");
    for (unsigned i = SM_STEP_DISCOVER; i < SM_STEPS; i++) {
        metric_begin(out, "weft_last_change_phase_seconds");
        metric_label(out, "phase", phases[i]);
        metric_end_double(out, (double)c->last_ns[i] / 1e9);
    }
    metric_counter(out, "weft_lft_blocks_written_total",
                   "Blocks of linear forwarding tables that were written.", c->blocks);
    metric_counter(out, "weft_lft_entries_rewritten_total",
                   "Entries of linear forwarding tables that were changed.", c->entries);
    metric_counter(out, "weft_port_settings_written_total", "Sets of PortInfo.", c->port_settings);
    metric_counter(out, "weft_quiesces_total", "Times that sources of packets were quiesced.",
                   c->quiesces);
    metric_gauge(out, "weft_hold_active", "1 while sources of packets are quiesced.", c->quiesced);
    metric_counter(out, "weft_drains_total", "Waits for packets to leave the fabric.", c->drains);
    metric_seconds(out, "weft_drain_seconds_total", "counter", "Time of these waits.",
                   c->drained_ns);
}

static void print_smps(const struct manager_metrics *m, struct text *out)
{
    const struct sm_counts *s = &m->smps;
    const struct labelled kinds[] = {
        {"node_info", s->node_info},
        {"port_info_get", s->port_info_get},
        {"port_info_set", s->port_info_set},
        {"switch_info", s->switch_info},
        {"tables_set", s->tables - s->tables_read},
        {"tables_get", s->tables_read},
        {"functions", s->functions},
        {"other", s->other},
    };
    PUT_LABELLED(out, "weft_smps_sent_total", "counter", "Requests sent, by kind.", "kind", kinds);
    metric_counter(out, "weft_smp_responses_total", "Responses received.", s->answered);
    metric_counter(out, "weft_smp_timeouts_total", "Requests that were not answered in time.",
                   s->timeouts);
    metric_counter(out, "weft_smps_given_up_total", "Requests of which all tries timed out.",
                   s->gave_up);
    metric_counter(out, "weft_mkey_violations_total",
                   "SMPs without the M_Key that ports have reported.", m->m_key_violations);
    trap_counts_print(&m->totals.traps, out);
}

static void print_routing(const struct manager_metrics *m, struct text *out)
{
    const struct manager_totals *t = &m->totals;
    const struct labelled jobs[] = {{"computed", t->jobs_computed},
                                    {"repaired", t->jobs_repaired},
                                    {"refused", t->jobs_refused}};
    const struct labelled proofs[] = {{"passed", t->proofs_passed}, {"failed", t->proofs_failed}};
    metric_family(out, "weft_routing_engine_info", "gauge",
                  "Engine of the tables in force, and the first one of the configuration.");
    metric_begin(out, "weft_routing_engine_info");
    metric_label(out, "engine", m->engine);
    metric_label(out, "configured", m->configured);
    metric_end(out, 1);
    metric_gauge(out, "weft_routing_vls", "VLs that the tables in force need.", m->vls);
    PUT_LABELLED(out, "weft_routing_jobs_total", "counter", "Computations of tables.", "result",
                 jobs);
    metric_family(out, "weft_engine_refusals_total", "counter",
                  "Networks that an engine has refused.");
    for (size_t i = 0; i < METRIC_ENGINES && engine_at(i); i++) {
        metric_begin(out, "weft_engine_refusals_total");
        metric_label(out, "engine", engine_at(i)->name);
        metric_end(out, t->refusals[i]);
    }
    PUT_LABELLED(out, "weft_table_proofs_total", "counter",
                 "Independent checks of computed tables before they are written.", "result",
                 proofs);
}

static void print_administration(const struct manager_metrics *m, struct text *out)
{
    const struct sa_counts *s = &m->sa;
    metric_counter(out, "weft_sa_queries_total", "Queries received.", s->queries);
    metric_counter(out, "weft_sa_answers_total", "Queries answered, without BUSY.", s->answers);
    metric_counter(out, "weft_sa_refusals_total", "Queries answered with an error.", s->refusals);
    metric_counter(out, "weft_sa_busy_total", "Queries answered with BUSY.", s->busy);
    metric_counter(out, "weft_sa_dropped_total", "Queries without an answer.", s->dropped);
    metric_counter(out, "weft_sa_spoofed_total", "Queries with the GID of another port.",
                   s->spoofed);
    duration_counts_print(&m->totals.sa_latency, "weft_sa_answer_duration_seconds",
                          "Time from reading a query to sending its answer.", out);
    metric_gauge(out, "weft_sa_queries_waiting", "Queries in the queue.", s->waiting);
    metric_counter(out, "weft_sa_reports_sent_total", "Reports sent to subscribers.", s->reports);
    metric_counter(out, "weft_sa_reports_lost_total",
                   "Reports that a subscriber has not acknowledged.", s->reports_lost);
    metric_gauge(out, "weft_sa_multicast_groups", "Multicast groups.", s->groups);
    metric_gauge(out, "weft_sa_mlids_free", "MLIDs that new groups can get.", s->free_mlids);
    metric_gauge(out, "weft_sa_services", "Registered services.", s->services);
    metric_gauge(out, "weft_sa_subscriptions", "Subscriptions to reports.", s->subscriptions);
    metric_gauge(out, "weft_standbys", "Standbys that copy registrations from this master.",
                 s->standbys);
    metric_gauge(out, "weft_standby_lag_changes",
                 "Changes of registrations that the last standby has not confirmed.",
                 s->standby_lag);
    metric_gauge(out, "weft_standby_copy_complete",
                 "1 if this standby has a complete copy of the subnet.", m->copy_is_complete);
}

static void print_problems(const struct manager_metrics *m, struct text *out)
{
    metric_family(out, "weft_problems", "gauge", "Present problems, by kind.");
    for (unsigned kind = 0; kind < PROBLEM_KINDS; kind++) {
        metric_begin(out, "weft_problems");
        metric_label(out, "kind", problem_infos[kind].name);
        metric_label(out, "severity", problem_severity_names[problem_infos[kind].severity]);
        metric_end(out, m->problems[kind]);
    }
    const struct labelled logged[] = {{"warning", m->totals.warnings}, {"error", m->totals.errors}};
    PUT_LABELLED(out, "weft_log_events_total", "counter", "Warnings and errors in the log.",
                 "level", logged);
    metric_counter(out, "weft_file_write_failures_total",
                   "Attempts to write files that have failed.", m->totals.files_failed);
}

static void print_counter_reader(const struct manager_metrics *m, struct text *out)
{
    const struct perf_counts *p = &m->perf;
    metric_counter(out, "weft_perf_rounds_total", "Complete readings of all port counters.",
                   p->rounds);
    metric_seconds(out, "weft_perf_round_duration_seconds", "gauge",
                   "Time of the last complete reading.", p->duration_ns);
    metric_gauge(out, "weft_perf_round_ports", "Ports read in it.", p->ports);
    metric_counter(out, "weft_perf_requests_total", "Requests sent to performance agents.",
                   p->requests);
    metric_counter(out, "weft_perf_timeouts_total", "Such requests without a response.",
                   p->timeouts);
    metric_gauge(out, "weft_perf_silent_nodes",
                 "Nodes whose counters are not read because they do not answer.", p->silent_nodes);
    metric_gauge(out, "weft_perf_stuck_ports", "Ports with a counter at its largest value.",
                 p->stuck_ports);
}

void manager_metrics_print(const struct manager_metrics *m, const struct subnet_size *size,
                           struct text *out)
{
    const struct labelled nodes[] = {{"switch", size->switches}, {"adapter", size->adapters}};
    print_state(m, out);
    PUT_LABELLED(out, "weft_subnet_nodes", "gauge", "Nodes in the subnet.", "kind", nodes);
    metric_gauge(out, "weft_subnet_links", "Links between them.", size->links);
    print_changes(m, out);
    print_smps(m, out);
    print_routing(m, out);
    print_administration(m, out);
    print_problems(m, out);
    print_counter_reader(m, out);
    metric_gauge(out, "weft_virtual_machines", "Virtual machines with addresses.", m->machines);
    metric_gauge(out, "weft_virtual_machine_requests",
                 "Requests to start, move or stop virtual machines under way.",
                 m->machine_requests);
    metric_seconds(out, "weft_metrics_snapshot_seconds", "gauge",
                   "Time that the manager took to copy its own figures for this scrape.",
                   m->snapshot_ns);
    metric_seconds(out, "weft_metrics_ports_snapshot_seconds", "gauge",
                   "Time that it took to copy ports and counters, when they last changed.",
                   m->ports_snapshot_ns);
}
