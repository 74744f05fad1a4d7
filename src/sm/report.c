/* The record of each change of the subnet: cause, times, costs and outcome; and the log lines made
 * from it and about nodes that appeared or vanished. */
#include "sm/report.h"
#include "base/rate_limit.h"
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/faults/recorded.h"
#include "sm/internal.h"
#include "sm/tables/distribute.h"
#include "sm/tables/program.h"
#include "sm/tables/quiesce.h"
#include "subnet/absent.h"
#include "subnet/names.h"

#include <stdio.h>

struct report {
    struct sm_change changes[SM_CHANGES_KEPT]; /* a ring; the last one may be under way */
    uint64_t count;                            /* of all changes */
    struct sm_change before;                   /* the costs of all changes before the last one */
    uint64_t computes_since;                   /* 0: no tables are being computed */
    uint32_t losses;                           /* since the change began */
    VEC(bool) announced;                       /* by node: its appearance was logged */
    struct sm_totals totals;                   /* its times and counts of changes */
};

static struct sm_change *kept_change(const struct sm *sm, uint64_t number)
{
    return &sm->report->changes[number % SM_CHANGES_KEPT];
}

/* The change under way, or NULL. */
static struct sm_change *open_change(const struct sm *sm)
{
    struct sm_change *last = sm->report->count ? kept_change(sm, sm->report->count - 1) : NULL;
    return last && last->outcome == SM_UNDER_WAY ? last : NULL;
}

static void release_change(struct sm_change *change)
{
    mem_free((char *)(uintptr_t)change->text);
    mem_free((char *)(uintptr_t)change->refusal);
}

static void release_report(struct sm *sm)
{
    for (unsigned i = 0; i < SM_CHANGES_KEPT; i++)
        release_change(&sm->report->changes[i]);
    vec_release(&sm->report->announced);
}

SM_PART(report, .release = release_report);

/* ---- causes ---- */

static const char *ordinal_suffix(unsigned n)
{
    unsigned last = n % 100 / 10 == 1 ? 0 : n % 10;
    return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

static void put_cause(const struct sm *sm, const struct sm_cause *cause, struct text *out)
{
    const struct subnet *subnet = &sm->subnet;
    const struct subnet_port *port = cause->at == SUBNET_NONE ? NULL : port_at(sm, cause->at);
    const struct subnet_node *node = port ? node_at(sm, port->node) : NULL;
    assert(port || cause->kind < SM_CAUSE_OWN_PORT);
    switch (cause->kind) {
    case SM_CAUSE_MASTERSHIP: text_puts(out, cause->why); break;
    case SM_CAUSE_TOPOLOGY: text_puts(out, "the topology changed"); break;
    case SM_CAUSE_REROUTE: text_puts(out, "reroute requested"); break;
    case SM_CAUSE_REDISCOVERY: text_puts(out, "rediscovery requested"); break;
    case SM_CAUSE_CONFIGURATION: text_puts(out, "the routing configuration changed"); break;
    case SM_CAUSE_MOVE: text_puts(out, "a virtual machine needs new routes"); break;
    case SM_CAUSE_BALANCE: text_puts(out, "links are used unevenly after repairs"); break;
    case SM_CAUSE_CONFUSED_GUIDS: text_puts(out, "nodes with the same GUID were confused"); break;
    case SM_CAUSE_OWN_LINK: text_puts(out, "the link of the manager's own port was down"); break;
    case SM_CAUSE_OWN_PORT:
        text_printf(out, "port %u of the manager's own adapter does not answer", port->number);
        break;
    case SM_CAUSE_OTHER_TABLE:
        text_printf(out, "switch 0x%016llx has another table than the last master's copy",
                    (unsigned long long)node->guid);
        break;
    case SM_CAUSE_SWEEP:
        text_printf(out, "switch %s reports a port change (sweep)",
                    subnet_node_name(subnet, port->node).text);
        break;
    case SM_CAUSE_TRAP:
        text_printf(out, "switch %s reports a port change (trap 128)",
                    subnet_node_name(subnet, port->node).text);
        break;
    case SM_CAUSE_NODE_BACK:
        text_printf(out, "%s %s is back", subnet_kind_name(node),
                    subnet_node_name(subnet, port->node).text);
        break;
    case SM_CAUSE_PORT_UP:
        text_printf(out, "port up: %s", subnet_port_name(subnet, cause->at).text);
        break;
    case SM_CAUSE_LINK_DOWN:
    case SM_CAUSE_LINK_WAS_DOWN:
    case SM_CAUSE_LINK_SEEN_DOWN:
        text_printf(out, "link %s: %s", cause->kind == SM_CAUSE_LINK_DOWN ? "down" : "was down",
                    subnet_link_name(subnet, cause->at).text);
        if (cause->number > 1)
            text_printf(out, " (%u%s time in %d min)", cause->number, ordinal_suffix(cause->number),
                        HISTORY_MIN);
        break;
    case SM_CAUSE_LINK_UP:
        text_printf(out, "link up: %s", subnet_link_name(subnet, cause->at).text);
        break;
    case SM_CAUSE_NODE_SILENT:
        text_printf(out, "%s %s does not answer", subnet_kind_name(node),
                    subnet_node_name(subnet, port->node).text);
        if (cause->via != SUBNET_NONE)
            text_printf(out, " behind %s", subnet_port_name(subnet, cause->via).text);
        break;
    case SM_CAUSE_OTHER_NEIGHBOUR:
        text_printf(out, "the link at %s leads to 0x%016llx port %u",
                    subnet_port_name(subnet, cause->at).text, (unsigned long long)cause->guid,
                    cause->number);
        break;
    case SM_CAUSE_GUID_CHANGED:
        text_printf(out, "GUID change: %s has the GUID 0x%016llx now; it had 0x%016llx",
                    faults_place_of_guid(sm, node->guid).text, (unsigned long long)cause->guid,
                    (unsigned long long)node->guid);
        break;
    case SM_CAUSES_LOGGED: assert(false);
    }
}

/* ---- changes ---- */

/* The costs of all changes so far. */
static struct sm_change costs_now(const struct sm *sm)
{
    struct sm_change costs = {0};
    sm_counts(sm, &costs.requests);
    distribute_costs(sm, &costs);
    return costs;
}

/* Sets the costs of a change: they are those since it began. */
static void set_costs(const struct sm *sm, struct sm_change *change)
{
    const struct sm_change now = costs_now(sm), *before = &sm->report->before;
    change->waves = now.waves - before->waves;
    change->drains = now.drains - before->drains;
    change->drained_ns = now.drained_ns - before->drained_ns;
    change->stopped = now.stopped > before->stopped ? now.stopped : 0;
    const struct sm_counts *a = &before->requests, *b = &now.requests;
    change->requests = (struct sm_counts){
        .sent = b->sent - a->sent,
        .answered = b->answered - a->answered,
        .timeouts = b->timeouts - a->timeouts,
        .gave_up = b->gave_up - a->gave_up,
        .gets = b->gets - a->gets,
        .sets = b->sets - a->sets,
        .node_info = b->node_info - a->node_info,
        .port_info_get = b->port_info_get - a->port_info_get,
        .port_info_set = b->port_info_set - a->port_info_set,
        .switch_info = b->switch_info - a->switch_info,
        .tables = b->tables - a->tables,
        .tables_read = b->tables_read - a->tables_read,
        .functions = b->functions - a->functions,
        .other = b->other - a->other,
    };
}

void report_cause(struct sm *sm, struct sm_cause cause, bool begins)
{
    struct report *report = sm->report;
    bool logged = begins || (cause.kind > SM_CAUSES_LOGGED && sm_state(sm) == SM_MASTER &&
                             log_list_take(&report->losses));
    struct text text = {0};
    if (!logged && !sm_is_debugged(sm, PART_ROUTING))
        return;
    put_cause(sm, &cause, &text);
    sm_debug(sm, PART_ROUTING, "%s: %s",
             begins ? "a change begins" : "the change under way includes", text.data);
    if (!begins) {
        if (logged)
            sm_log_at(sm, SM_EVENT_LINK, cause.at, "%s", text.data);
        text_release(&text);
        return;
    }
    assert(!open_change(sm));
    report->before = costs_now(sm);
    report->losses = 0;
    report->computes_since = 0;
    struct sm_change *change = kept_change(sm, report->count);
    release_change(change);
    *change = (struct sm_change){
        .number = report->count++, .cause = cause, .text = text.data, .begin = sm->now};
    sm_log_event(sm, (struct sm_event){.kind = SM_EVENT_CHANGE, .at = cause.at, .change = change},
                 "%s", change->text);
}

void report_computes(struct sm *sm)
{
    struct sm_change *change = open_change(sm);
    sm->report->computes_since = sm->now;
    assert(change);
    if (!change->routing)
        change->routing = sm->now;
}

void report_computed(struct sm *sm, const char *refusal)
{
    struct sm_change *change = open_change(sm);
    assert(change && change->routing);
    change->routed = sm->now;
    change->computing += sm->now - sm->report->computes_since;
    if (!refusal)
        return;
    sm_log(sm, SM_EVENT_ERROR, "route computation failed, keeping previous tables: %s", refusal);
    if (!change->refusal)
        change->refusal = mem_strdup(refusal);
}

/* Logs the end of a change that finished. */
static void log_up(struct sm *sm, const struct sm_change *change)
{
    const struct subnet_node_counts nodes = subnet_count_nodes(&sm->subnet);
    struct text first = {0}, except = {0};
    const uint64_t *steps = sm->report->totals.last_ns;
    unsigned exceptions = sm_exceptions(sm, sm->now, &first);
    if (exceptions)
        text_printf(&except, ", except for %u problem%s (%s)", exceptions,
                    exceptions == 1 ? "" : "s", first.data);
    sm_log_event(sm, (struct sm_event){.kind = SM_EVENT_UP, .at = SUBNET_NONE, .change = change},
                 "subnet up%s: %u switches, %u adapters; %s; %.3f ms (discovery %.3f, "
                 "routes %.3f, distribution %.3f), %llu SMPs, %llu blocks, %llu port settings",
                 except.length ? except.data : "", nodes.switches, nodes.adapters, change->text,
                 (double)(change->end - change->begin) / (double)NS_PER_MS,
                 (double)steps[SM_STEP_DISCOVER] / (double)NS_PER_MS,
                 (double)steps[SM_STEP_COMPUTE] / (double)NS_PER_MS,
                 (double)steps[SM_STEP_DISTRIBUTE] / (double)NS_PER_MS,
                 (unsigned long long)change->requests.sent,
                 (unsigned long long)(change->requests.tables - change->requests.tables_read),
                 (unsigned long long)change->requests.port_info_set);
    text_release(&first);
    text_release(&except);
}

void report_end(struct sm *sm, bool up)
{
    struct report *report = sm->report;
    struct sm_totals *totals = &report->totals;
    struct sm_change *change = open_change(sm);
    assert(change && change->begin <= sm->now && change->routing <= change->routed &&
           change->routed <= sm->now);
    faults_change_ended(sm);
    if (log_list_others(report->losses))
        sm_log(sm, SM_EVENT_LINK, "%u more links or nodes changed during this change",
               log_list_others(report->losses));
    set_costs(sm, change);
    change->end = sm->now;
    change->outcome = up ? SM_FINISHED : SM_NO_ROUTES;
    totals->changes += up;
    totals->failed_changes += !up;
    if (!up) {
        sm_log_event(sm,
                     (struct sm_event){.kind = SM_EVENT_ERROR, .at = SUBNET_NONE, .change = change},
                     "the subnet is not up: it has no routes");
        return;
    }
    uint64_t routing = change->routed ? change->routing : change->end;
    totals->last_ns[SM_STEP_DISCOVER] = routing - change->begin;
    totals->last_ns[SM_STEP_COMPUTE] = change->computing;
    totals->last_ns[SM_STEP_DISTRIBUTE] = change->end - routing - change->computing;
    for (unsigned i = 0; i < SM_STEPS; i++)
        totals->step_ns[i] += totals->last_ns[i];
    log_up(sm, change);
}

const struct sm_change *report_abandon(struct sm *sm)
{
    struct sm_change *change = open_change(sm);
    if (!change)
        return NULL;
    set_costs(sm, change);
    change->end = sm->now;
    change->outcome = SM_ABANDONED;
    return change;
}

bool sm_change_at(const struct sm *sm, unsigned back, struct sm_change *change)
{
    const struct report *report = sm->report;
    if (back >= SM_CHANGES_KEPT || back >= report->count)
        return false;
    *change = *kept_change(sm, report->count - 1 - back);
    if (change->outcome == SM_UNDER_WAY)
        set_costs(sm, change);
    return true;
}

void sm_totals(const struct sm *sm, struct sm_totals *totals)
{
    *totals = sm->report->totals;
    const struct sm_change costs = costs_now(sm);
    totals->blocks = costs.requests.tables - costs.requests.tables_read;
    totals->entries = program_entries_changed(sm);
    totals->port_settings = costs.requests.port_info_set;
    totals->quiesces = (quiesce_count(sm) + 1) / 2; /* it counts begins and ends */
    totals->quiesced = quiesce_is_on(sm);
    totals->drains = costs.drains;
    totals->drained_ns = costs.drained_ns;
}

/* Whether to log that a node appeared or vanished. Virtual functions are not logged. */
static bool is_news(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    return node->present != *vec_at(&sm->report->announced, index) && !node->virtual_function;
}

bool report_is_announced(const struct sm *sm, uint32_t node)
{
    return node_at(sm, node)->virtual_function ||
           (node < sm->report->announced.count && sm->report->announced.items[node]);
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

/* What happened to a node. Packets to nodes behind a dead agent may still pass. */
static const char *news_of(struct sm *sm, uint32_t index, const struct absent *absent)
{
    if (node_at(sm, index)->present)
        return "joined the subnet";
    uint32_t group = absent->group_of.count ? absent->group_of.items[index] : SUBNET_NONE;
    if (group != SUBNET_NONE && faults_agent_is_dead(sm, &absent->groups.items[group]))
        return "is out of reach";
    return "left the subnet";
}

/* Logs single nodes if they are few, else their number. */
void report_nodes(struct sm *sm)
{
    enum { MANY = 100 };
    uint32_t counts[2][2] = {{0}}; /* adapters and switches; vanished and appeared */
    struct absent absent = {0};
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (is_news(sm, i))
            counts[node_at(sm, i)->kind == SUBNET_SWITCH][node_at(sm, i)->present]++;
    if (counts[0][0] + counts[1][0])
        absent_find(&absent, &sm->subnet);
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        bool in = node->present;
        if (!is_news(sm, i))
            continue;
        *vec_at(&sm->report->announced, i) = in;
        if (!in) {
            discovery_forget_description(sm, i);
            faults_node_left(sm, i);
        }
        if (counts[0][in] + counts[1][in] < MANY)
            sm_log_at(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, node->first_port,
                      "%s 0x%016llx \"%s\" %s%s", subnet_kind_name(node),
                      (unsigned long long)node->guid, subnet_node_label(&sm->subnet, node),
                      news_of(sm, i, &absent), place_of(sm, i).text);
    }
    if (counts[0][0] + counts[1][0])
        absent_release(&absent);
    for (unsigned in = 0; in < 2; in++)
        if (counts[0][in] + counts[1][in] >= MANY)
            sm_log(sm, in ? SM_EVENT_NODE_IN : SM_EVENT_NODE_OUT, "%u switches and %u adapters %s",
                   counts[1][in], counts[0][in], in ? "joined the subnet" : "left the subnet");
}
