/* Reports on a running fabric: tables of at most 80 columns, or the same as JSON. */
#include "host/server/control_report.h"

#include "base/record.h"
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

static const char *port_place(const struct clients *clients, uint32_t port, char *text, size_t size)
{
    const struct topology *topology = fabric_topology(clients->fabric);
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    const char *name = node->description && *node->description ? node->description : node->name;
    snprintf(text, size, "%.30s:%u", name, topology_port_number(topology, port));
    return text;
}

static bool describe_client(const struct clients *clients, const struct session *session,
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
    port_place(clients, session->port, row->place, sizeof row->place);
    if (session->file)
        mad_file_status(session->file, &row->file);
    return true;
}

static void put_clients(const struct clients *clients, struct record *record)
{
    struct client_row row;
    bool first = true;
    record_begin_list(record, "clients");
    for (const struct session *session = clients->first; session; session = session->after) {
        if (!describe_client(clients, session, &row))
            continue;
        if (first)
            record_text(record, "\n%7s %-15s %-20s %6s %9s %9s %7s\n", "PID", "PROGRAM", "AT",
                        "AGENTS", "SENT", "RECEIVED", "LATE");
        first = false;
        bool manager = session->state == SESSION_MANAGER;
        record_begin(record, NULL);
        record_number(record, "pid", "%7llu", session->pid);
        record_string(record, "program", " %-15.15s", row.program);
        record_string(record, "at", " %-20.20s", row.place);
        record_flag(record, "manager", "   IsSM", manager);
        record_number(record, "agents", manager ? NULL : " %6llu", row.file.agents);
        record_number(record, "requests", NULL, row.file.requests);
        record_number(record, "sent", manager ? NULL : " %9llu", row.file.sent);
        record_number(record, "received", manager ? NULL : " %9llu", row.file.received);
        record_number(record, "timeouts", manager ? NULL : " %7llu", row.file.timeouts);
        record_number(record, "dropped", NULL, row.file.dropped);
        record_number(record, "queued_bytes", NULL, row.file.queued_bytes);
        record_text(record, "\n");
        record_end(record);
    }
    record_end_list(record);
}

void report_status(const struct clients *clients, bool as_json, struct text *out)
{
    struct record record = record_to(out, as_json, true);
    struct node_counts nodes = count_nodes(fabric_topology(clients->fabric));
    uint64_t network = fabric_network_time(clients->fabric);
    struct fabric_totals totals;
    fabric_totals(clients->fabric, &totals);
    record_begin(&record, NULL);
    record_number(&record, "switches", "nodes     %llu switches", nodes.switches);
    record_number(&record, "adapters", ", %llu adapters", nodes.adapters);
    record_number(&record, "routers", ", %llu routers", nodes.routers);
    record_number(&record, "nodes_down", ", %llu down\n", totals.nodes_down);
    record_number(&record, "links_up", "links     %llu up", totals.links_up);
    record_number(&record, "links_down", ", %llu down\n", totals.links_down);
    record_number(&record, "packets_sent", "packets   %llu sent", totals.packets_sent);
    record_number(&record, "smps_sent", " (%llu SMPs)", totals.smps_sent);
    record_number(&record, "hops", ", %llu hops", totals.hops);
    record_number(&record, "smps_lost", ", %llu lost", totals.smps_lost);
    record_number(&record, "traps", ", %llu traps\n", totals.traps);
    record_number(&record, "managers", NULL, totals.managers);
    record_number(&record, "network_ps", NULL, network);
    record_number(&record, "wall_ps", NULL, clients->now);
    record_text(&record, "time      %.6f s in the network, %.3f s on the wall",
                (double)network / TIME_S, (double)clients->now / TIME_S);
    record_string(&record, "pace", ", pace %s\n", clients->pace);
    record_text(&record, "clients   %zu ports open, %u managers, %" PRIu64 " questions answered\n",
                clients->opened.count, totals.managers, clients->served);
    put_clients(clients, &record);
    record_end(&record);
    if (as_json)
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
static bool is_selected(const struct clients *clients, const struct counter_selection *selection,
                        uint32_t port)
{
    const struct sma_counters *counters = fabric_counters(clients->fabric, port);
    if (selection->port != TOPOLOGY_NONE)
        return port == selection->port;
    if (selection->node != TOPOLOGY_NONE) {
        const struct topology *topology = fabric_topology(clients->fabric);
        const struct topology_node *node = &topology->nodes.items[selection->node];
        return topology->ports.items[port].node == selection->node &&
               (port != node->first_port || node->kind == NODE_SWITCH);
    }
    return counters->total[COUNTER_XMIT_PACKETS] || counters->total[COUNTER_RCV_PACKETS] ||
           error_sum(counters);
}

/* In a table, unless it is one port. */
static void put_counters(const struct clients *clients, bool alone, uint32_t port,
                         struct record *record)
{
    const struct topology *topology = fabric_topology(clients->fabric);
    const uint64_t *total = fabric_counters(clients->fabric, port)->total;
    char place[64];
    port_place(clients, port, place, sizeof place);
    record_begin(record, NULL);
    record_string(record, "node", NULL,
                  topology->nodes.items[topology->ports.items[port].node].name);
    record_number(record, "port", NULL, topology_port_number(topology, port));
    record_text(record, alone ? "%s\n" : "%-26.26s", place);
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        if (alone)
            record_text(record, "  %-30s", sma_counter_name(i));
        record_number(record, sma_counter_name(i), alone ? " %20llu\n" : NULL, total[i]);
    }
    if (!alone)
        record_text(
            record, " %11" PRIu64 " %10" PRIu64 " %11" PRIu64 " %11" PRIu64 " %6" PRIu64 "\n",
            total[COUNTER_XMIT_PACKETS], total[COUNTER_RCV_PACKETS], total[COUNTER_XMIT_DATA] * 4,
            total[COUNTER_RCV_DATA] * 4, error_sum(fabric_counters(clients->fabric, port)));
    record_end(record);
}

void report_counters(const struct clients *clients, const struct counter_selection *selection,
                     bool as_json, struct text *out)
{
    struct record record = record_to(out, as_json, true);
    bool alone = selection->port != TOPOLOGY_NONE;
    record_begin_list(&record, NULL);
    if (!alone)
        record_text(&record, "%-26s %11s %10s %11s %11s %6s\n", "PORT", "PACKETS OUT", "IN",
                    "BYTES OUT", "IN", "ERRORS");
    for (uint32_t port = 0; port < fabric_topology(clients->fabric)->ports.count; port++)
        if (is_selected(clients, selection, port))
            put_counters(clients, alone, port, &record);
    record_end_list(&record);
    if (as_json)
        text_putc(out, '\n');
}
