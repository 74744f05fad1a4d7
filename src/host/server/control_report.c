/* Reports on a running fabric: tables of at most 80 columns, or the same as JSON. */
#include "host/server/control_report.h"
#include "base/time.h"
#include "sma/sma.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct node_counts {
    uint32_t adapters, switches, routers;
};

static struct node_counts count_nodes(const struct topology *topology)
{
    struct node_counts counts = {0};
    for (size_t i = 0; i < topology->nodes.count; i++) {
        unsigned kind = topology->nodes.items[i].kind;
        counts.adapters += kind == NODE_ADAPTER;
        counts.switches += kind == NODE_SWITCH;
        counts.routers += kind == NODE_ROUTER;
    }
    return counts;
}

/* ---- clients ---- */

struct client_row {
    char program[24], place[40];
    struct mad_file_status file;
};

static const char *port_place(const struct lobby *lobby, uint32_t port, char *text, size_t size)
{
    const struct topology *topology = fabric_topology(lobby->fabric);
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    const char *name = node->description && *node->description ? node->description : node->name;
    snprintf(text, size, "%.30s:%u", name, topology_port_number(topology, port));
    return text;
}

static bool describe_client(const struct lobby *lobby, const struct session *session,
                            struct client_row *row)
{
    char path[64];
    if (session->state != SESSION_OPEN && session->state != SESSION_MANAGER)
        return false;
    memset(row, 0, sizeof *row);
    snprintf(row->program, sizeof row->program, "?");
    snprintf(path, sizeof path, "/proc/%u/comm", session->pid);
    FILE *file = fopen(path, "re");
    if (file) {
        if (fgets(row->program, sizeof row->program, file))
            row->program[strcspn(row->program, "\n")] = 0;
        fclose(file);
    }
    port_place(lobby, session->port, row->place, sizeof row->place);
    if (session->file)
        mad_file_status(session->file, &row->file);
    return true;
}

static void report_clients(const struct lobby *lobby, struct text *out)
{
    struct client_row row;
    bool first = true;
    for (const struct session *session = lobby->first; session; session = session->after) {
        if (!describe_client(lobby, session, &row))
            continue;
        if (first)
            text_printf(out, "\n%7s %-15s %-20s %6s %9s %9s %7s\n", "PID", "PROGRAM", "AT",
                        "AGENTS", "SENT", "RECEIVED", "LATE");
        first = false;
        if (session->state == SESSION_MANAGER)
            text_printf(out, "%7u %-15.15s %-20.20s %6s\n", session->pid, row.program, row.place,
                        "IsSM");
        else
            text_printf(out, "%7u %-15.15s %-20.20s %6u %9" PRIu64 " %9" PRIu64 " %7" PRIu64 "\n",
                        session->pid, row.program, row.place, row.file.agents, row.file.sent,
                        row.file.received, row.file.timeouts);
    }
}

void report_status(const struct lobby *lobby, struct text *out)
{
    const struct topology *topology = fabric_topology(lobby->fabric);
    struct node_counts nodes = count_nodes(topology);
    struct fabric_totals totals;
    fabric_totals(lobby->fabric, &totals);
    text_printf(out, "nodes     %u switches, %u adapters, %u routers, %u down\n", nodes.switches,
                nodes.adapters, nodes.routers, totals.nodes_down);
    text_printf(out, "links     %u up, %u down\n", totals.links_up, totals.links_down);
    text_printf(out,
                "packets   %" PRIu64 " sent (%" PRIu64 " SMPs), %" PRIu64 " hops, %" PRIu64
                " lost, %" PRIu64 " traps\n",
                totals.packets_sent, totals.smps_sent, totals.hops, totals.smps_lost, totals.traps);
    text_printf(out, "time      %.6f s in the network, %.3f s on the wall, pace %s\n",
                (double)fabric_network_time(lobby->fabric) / TIME_S, (double)lobby->now / TIME_S,
                lobby->pace);
    text_printf(out, "clients   %zu ports open, %u managers, %" PRIu64 " questions answered\n",
                lobby->opened.count, totals.managers, lobby->served);
    report_clients(lobby, out);
}

static void clients_json(const struct lobby *lobby, struct json *json)
{
    struct client_row row;
    json_begin_array(json, "clients");
    for (const struct session *session = lobby->first; session; session = session->after) {
        if (!describe_client(lobby, session, &row))
            continue;
        json_begin_object(json, NULL);
        json_unsigned(json, "pid", session->pid);
        json_string(json, "program", row.program);
        json_string(json, "at", row.place);
        json_bool(json, "manager", session->state == SESSION_MANAGER);
        json_unsigned(json, "agents", row.file.agents);
        json_unsigned(json, "requests", row.file.requests);
        json_unsigned(json, "sent", row.file.sent);
        json_unsigned(json, "received", row.file.received);
        json_unsigned(json, "timeouts", row.file.timeouts);
        json_unsigned(json, "dropped", row.file.dropped);
        json_unsigned(json, "queued_bytes", row.file.queued_bytes);
        json_end_object(json);
    }
    json_end_array(json);
}

void report_status_json(const struct lobby *lobby, struct text *out)
{
    struct json json = {.out = out, .pretty = true};
    struct node_counts nodes = count_nodes(fabric_topology(lobby->fabric));
    struct fabric_totals totals;
    fabric_totals(lobby->fabric, &totals);
    json_begin_object(&json, NULL);
    json_unsigned(&json, "switches", nodes.switches);
    json_unsigned(&json, "adapters", nodes.adapters);
    json_unsigned(&json, "routers", nodes.routers);
    json_unsigned(&json, "nodes_down", totals.nodes_down);
    json_unsigned(&json, "links_up", totals.links_up);
    json_unsigned(&json, "links_down", totals.links_down);
    json_unsigned(&json, "packets_sent", totals.packets_sent);
    json_unsigned(&json, "smps_sent", totals.smps_sent);
    json_unsigned(&json, "hops", totals.hops);
    json_unsigned(&json, "smps_lost", totals.smps_lost);
    json_unsigned(&json, "traps", totals.traps);
    json_unsigned(&json, "managers", totals.managers);
    json_unsigned(&json, "network_ps", fabric_network_time(lobby->fabric));
    json_unsigned(&json, "wall_ps", lobby->now);
    json_string(&json, "pace", lobby->pace);
    clients_json(lobby, &json);
    json_end_object(&json);
    text_putc(out, '\n');
}

/* ---- counters ---- */

static uint64_t error_sum(const struct sma_counters *counters)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNTER_XMIT_DATA; i++)
        sum += counters->total[i];
    return sum;
}

/* Whether the selection takes this port: what it names, or where something was counted. */
static bool is_selected(const struct lobby *lobby, const struct counter_selection *selection,
                        uint32_t port)
{
    const struct sma_counters *counters = fabric_counters(lobby->fabric, port);
    if (selection->port != TOPOLOGY_NONE)
        return port == selection->port;
    if (selection->node != TOPOLOGY_NONE) {
        const struct topology *topology = fabric_topology(lobby->fabric);
        const struct topology_node *node = &topology->nodes.items[selection->node];
        return topology->ports.items[port].node == selection->node &&
               (port != node->first_port || node->kind == NODE_SWITCH);
    }
    return counters->total[COUNTER_XMIT_PACKETS] || counters->total[COUNTER_RCV_PACKETS] ||
           error_sum(counters);
}

static void report_port_counters(const struct lobby *lobby, uint32_t port, struct text *out)
{
    char place[64];
    const struct sma_counters *counters = fabric_counters(lobby->fabric, port);
    text_printf(out, "%s\n", port_place(lobby, port, place, sizeof place));
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        text_printf(out, "  %-30s %20" PRIu64 "\n", sma_counter_names[i], counters->total[i]);
}

void report_counters(const struct lobby *lobby, const struct counter_selection *selection,
                     struct text *out)
{
    const struct topology *topology = fabric_topology(lobby->fabric);
    char place[64];
    if (selection->port != TOPOLOGY_NONE) {
        report_port_counters(lobby, selection->port, out);
        return;
    }
    text_printf(out, "%-26s %11s %10s %11s %11s %6s\n", "PORT", "PACKETS OUT", "IN", "BYTES OUT",
                "IN", "ERRORS");
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        if (!is_selected(lobby, selection, port))
            continue;
        const struct sma_counters *counters = fabric_counters(lobby->fabric, port);
        text_printf(
            out, "%-26.26s %11" PRIu64 " %10" PRIu64 " %11" PRIu64 " %11" PRIu64 " %6" PRIu64 "\n",
            port_place(lobby, port, place, sizeof place), counters->total[COUNTER_XMIT_PACKETS],
            counters->total[COUNTER_RCV_PACKETS], counters->total[COUNTER_XMIT_DATA] * 4,
            counters->total[COUNTER_RCV_DATA] * 4, error_sum(counters));
    }
}

void report_counters_json(const struct lobby *lobby, const struct counter_selection *selection,
                          struct text *out)
{
    const struct topology *topology = fabric_topology(lobby->fabric);
    struct json json = {.out = out, .pretty = true};
    json_begin_array(&json, NULL);
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        if (!is_selected(lobby, selection, port))
            continue;
        const struct sma_counters *counters = fabric_counters(lobby->fabric, port);
        json_begin_object(&json, NULL);
        json_string(&json, "node", topology->nodes.items[topology->ports.items[port].node].name);
        json_unsigned(&json, "port", topology_port_number(topology, port));
        for (unsigned i = 0; i < COUNTER_COUNT; i++)
            json_unsigned(&json, sma_counter_names[i], counters->total[i]);
        json_end_object(&json);
    }
    json_end_array(&json);
    text_putc(out, '\n');
}
