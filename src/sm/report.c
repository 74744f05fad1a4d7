/* Log lines about a change: its cause, nodes that appeared or vanished, durations and costs. */
#include "sm/report.h"
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/tables/distribute.h"
#include "sm/tables/program.h"
#include "sm/tables/program_ports.h"
#include "sm/tables/quiesce.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include <stdarg.h>
#include <stdio.h>

struct report {
    uint64_t since, discovered, computed; /* times; 0: the change had no such phase */
    struct text cause;
    uint32_t cause_at;       /* a port; SUBNET_NONE: none */
    struct sm_counts before; /* SMPs before the change */
    uint32_t blocks, ports;  /* Sets before it */
    uint32_t losses;         /* logged by report_loss() since it began */
    VEC(bool) announced;     /* by node: its appearance was logged */
    struct sm_totals totals; /* its times and counts of changes */
};

static void init_report(struct sm *sm)
{
    sm->report->cause_at = SUBNET_NONE;
}

static void release_report(struct sm *sm)
{
    vec_release(&sm->report->announced);
    text_release(&sm->report->cause);
}

SM_PART(report, .init = init_report, .release = release_report);

void report_begin(struct sm *sm, const char *cause)
{
    struct report *report = sm->report;
    report->since = sm->now;
    report->discovered = report->computed = 0;
    sm_counts(sm, &report->before);
    report->blocks = program_blocks_sent(sm);
    report->ports = program_ports_sent(sm);
    report->losses = 0;
    text_clear(&report->cause);
    text_puts(&report->cause, cause);
    sm_log_at(sm, SM_EVENT_CHANGE, report->cause_at, "%s", cause);
}

void sm_counts_before(const struct sm *sm, struct sm_counts *counts)
{
    *counts = sm->report->before;
}

/* If a change has many losses, only the first ones are logged one by one. */
enum { LOSSES_LOGGED = 20 };

void report_loss(struct sm *sm, uint32_t port, const char *format, ...)
{
    struct text text = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&text, format, arguments);
    va_end(arguments);
    bool is_cause = reconfigure_is_idle(sm) && sm_state(sm) != SM_STANDBY;
    sm->report->cause_at = port;
    sm_begin_change(sm, "%s", text.data); /* logs the cause */
    sm->report->cause_at = SUBNET_NONE;
    if (!is_cause && sm_state(sm) == SM_MASTER && sm->report->losses++ < LOSSES_LOGGED)
        sm_log_at(sm, SM_EVENT_LINK, port, "%s", text.data);
    text_release(&text);
}

void report_discovered(struct sm *sm)
{
    sm->report->discovered = sm->now;
}

void report_computed(struct sm *sm)
{
    sm->report->computed = sm->now;
}

void report_end(struct sm *sm, bool up)
{
    const struct report *report = sm->report;
    assert(report->since <= sm->now && report->discovered <= sm->now &&
           report->computed <= sm->now);
    unsigned switches = 0, adapters = 0;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present)
            (*(node_at(sm, i)->kind == SUBNET_SWITCH ? &switches : &adapters))++;
    faults_change_ended(sm);
    if (report->losses > LOSSES_LOGGED)
        sm_log(sm, SM_EVENT_LINK, "%u more links or nodes changed during this change",
               report->losses - LOSSES_LOGGED);
    struct sm_totals *totals = &sm->report->totals;
    totals->changes += up;
    totals->failed_changes += !up;
    if (!up) {
        sm_log(sm, SM_EVENT_ERROR, "the subnet is not up: it has no routes");
        return;
    }
    uint64_t discovered = report->discovered ? report->discovered : sm->now;
    uint64_t computed = report->computed ? report->computed : discovered;
    totals->last_ns[SM_STEP_DISCOVER] = discovered - report->since;
    totals->last_ns[SM_STEP_COMPUTE] = computed - discovered;
    totals->last_ns[SM_STEP_DISTRIBUTE] = sm->now - computed;
    for (unsigned i = 0; i < SM_STEPS; i++)
        totals->step_ns[i] += totals->last_ns[i];
    struct text first = {0}, except = {0};
    unsigned exceptions = sm_exceptions(sm, sm->now, &first);
    if (exceptions)
        text_printf(&except, ", except for %u problem%s (%s)", exceptions,
                    exceptions == 1 ? "" : "s", first.data);
    sm_log(sm, SM_EVENT_UP,
           "subnet up%s: %u switches, %u adapters; %s; %.3f ms (discovery %.3f, routes %.3f, "
           "distribution %.3f), %llu SMPs, %u blocks, %u port settings",
           except.length ? except.data : "", switches, adapters,
           report->cause.length ? report->cause.data : "",
           (double)(sm->now - report->since) / (double)NS_PER_MS,
           (double)totals->last_ns[SM_STEP_DISCOVER] / (double)NS_PER_MS,
           (double)totals->last_ns[SM_STEP_COMPUTE] / (double)NS_PER_MS,
           (double)totals->last_ns[SM_STEP_DISTRIBUTE] / (double)NS_PER_MS,
           (unsigned long long)(transactions_sent(sm) - report->before.sent),
           program_blocks_sent(sm) - report->blocks, program_ports_sent(sm) - report->ports);
    text_release(&first);
    text_release(&except);
}

void sm_totals(const struct sm *sm, struct sm_totals *totals)
{
    *totals = sm->report->totals;
    totals->blocks = program_blocks_sent(sm);
    totals->entries = program_entries_changed(sm);
    totals->port_settings = program_ports_sent(sm);
    totals->quiesces = (quiesce_count(sm) + 1) / 2; /* it counts begins and ends */
    totals->quiesced = quiesce_is_on(sm);
    totals->drains = distribute_drains(sm);
    totals->drained_ns = sm_drained_ns(sm);
}

/* Whether to log that a node appeared or vanished. Virtual functions are not logged. */
static bool is_news(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    return node->present != *vec_at(&sm->report->announced, index) && !node->virtual_function;
}

/* Where a node is or was: " (leaf3 port 7)", or "" if it never had a link. */
static struct subnet_name place_of(const struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    struct subnet_name result = {""};
    for (unsigned number = 1; node->kind != SUBNET_SWITCH && number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->last_peer;
        if (peer == SUBNET_NONE)
            continue;
        snprintf(result.text, sizeof result.text, " (%.300s)",
                 subnet_port_name(&sm->subnet, peer).text);
        break;
    }
    return result;
}

/* Logs single nodes if they are few, else their number. */
void report_nodes(struct sm *sm)
{
    enum { MANY = 100 };
    uint32_t counts[2][2] = {{0}}; /* adapters and switches; vanished and appeared */
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (is_news(sm, i))
            counts[node_at(sm, i)->kind == SUBNET_SWITCH][node_at(sm, i)->present]++;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        bool in = node->present;
        if (!is_news(sm, i))
            continue;
        *vec_at(&sm->report->announced, i) = in;
        if (!in)
            discovery_forget_description(sm, i);
        if (counts[0][in] + counts[1][in] < MANY)
            sm_log_at(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, node->first_port,
                      "%s 0x%016llx \"%s\" %s%s", subnet_kind_name(node),
                      (unsigned long long)node->guid, subnet_node_label(&sm->subnet, node),
                      in ? "is in" : "is gone", place_of(sm, i).text);
    }
    for (unsigned in = 0; in < 2; in++)
        if (counts[0][in] + counts[1][in] >= MANY)
            sm_log(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, "%u switches and %u adapters %s",
                   counts[1][in], counts[0][in], in ? "are in" : "are gone");
}
