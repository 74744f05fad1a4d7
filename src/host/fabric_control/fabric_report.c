/* The commands that read the fabric. Answers are text of at most 80 columns, or JSON. */
#include "host/fabric_control/fabric_control.h"

#include "base/parse.h"
#include "base/time.h"
#include "console/names.h"
#include "host/fabric_view/fabric_view.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const char *fabric_control_label(const struct topology *topology, uint32_t port, char text[40])
{
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    const char *name = node->description && *node->description ? node->description : node->name;
    snprintf(text, 40, "%.30s:%u", name, topology_port_number(topology, port));
    return text;
}

/* A command that only reads. */
struct fabric_report {
    const struct fabric_access *access;
    const struct topology *topology;
    struct record record;
};

static struct fabric_report begin_report(struct control_call *call)
{
    const struct fabric_access *access = call->subject;
    return (struct fabric_report){access, fabric_topology(access->fabric),
                                  record_to(&call->answer->text, call->answer->json, true)};
}

/* ---- status ---- */

/* As statements of a scenario. */
static void put_faults(struct record *record, const struct fabric_report *report)
{
    const struct fabric_faults *faults = fabric_faults(report->access->fabric);
    record_begin_list(record, "faults");
    record_text(record, "faults    %s", faults->count ? "" : "none\n");
    for (size_t i = 0; i < faults->count; i++) {
        const struct action action = action_of_fault(&faults->items[i]);
        struct text words = {0};
        action_print(&action, report->topology, &words);
        record_begin(record, NULL);
        record_string(record, "fault", i ? "          %s\n" : "%s\n", words.data);
        record_end(record);
        text_release(&words);
    }
    record_end_list(record);
}

/* Packets of the data traffic, if the fabric has any. */
static void put_traffic(struct record *record, struct fabric *fabric)
{
    struct data_totals totals;
    if (!fabric_vls(fabric))
        return;
    fabric_data_totals(fabric, &totals);
    record_begin(record, "traffic");
    record_number(record, "delivered", "traffic   %llu", totals.delivered);
    record_number(record, "made", " of %llu packets delivered", totals.made);
    record_number(record, "travelling", ", %llu travelling", totals.travelling);
    record_number(record, "waiting", ", %llu waiting", totals.waiting);
    record_number(record, "lost", ", %llu lost\n", data_totals_lost(&totals));
    record_number(record, "unroutable", NULL, totals.unroutable);
    record_number(record, "deadlocks", NULL, totals.deadlocks);
    for (unsigned i = 0; i < LOSS_CAUSES; i++) {
        char key[64];
        snprintf(key, sizeof key, "lost %s", loss_names[i]);
        if (totals.lost[i])
            record_number(record, key, NULL, totals.lost[i]);
    }
    record_end(record);
}

static void put_status(struct fabric_report *report)
{
    const struct fabric_access *access = report->access;
    struct record *record = &report->record;
    uint64_t network = fabric_network_time(access->fabric);
    uint32_t kinds[NODE_ROUTER + 1] = {0};
    struct fabric_totals totals;
    char hash[24];
    fabric_totals(access->fabric, &totals);
    for (size_t i = 0; i < report->topology->nodes.count; i++)
        kinds[report->topology->nodes.items[i].kind]++;
    snprintf(hash, sizeof hash, "%016" PRIx64, fabric_trace_hash(access->fabric));
    record_begin(record, NULL);
    record_number(record, "switches", "nodes     %llu switches", kinds[NODE_SWITCH]);
    record_number(record, "adapters", ", %llu adapters", kinds[NODE_ADAPTER]);
    record_number(record, "routers", ", %llu routers", kinds[NODE_ROUTER]);
    record_number(record, "nodes_down", ", %llu down\n", totals.nodes_down);
    record_number(record, "links_up", "links     %llu up", totals.links_up);
    record_number(record, "links_down", ", %llu down", totals.links_down);
    record_number(record, "links_idle", totals.links_idle ? ", %llu of idle functions\n" : "\n",
                  totals.links_idle);
    record_number(record, "packets_sent", "packets   %llu sent", totals.packets_sent);
    record_number(record, "smps_sent", " (%llu SMPs)", totals.smps_sent);
    record_number(record, "hops", ", %llu hops", totals.hops);
    record_number(record, "smps_lost", ", %llu lost", totals.smps_lost);
    record_number(record, "traps", ", %llu traps\n", totals.traps);
    record_string(record, "trace", "trace     %s\n", hash);
    record_number(record, "managers", NULL, totals.managers);
    record_number(record, "network_ps", NULL, network);
    record_number(record, "wall_ps", NULL, access->wall_ps);
    record_text(record, "time      %.6f s in the network, %.3f s on the wall",
                (double)network / TIME_S, (double)access->wall_ps / TIME_S);
    record_string(record, "pace", ", pace %s\n", access->pace);
    put_traffic(record, access->fabric);
    put_faults(record, report);
    if (access->put_status)
        access->put_status(access->context, record);
    record_end(record);
}

/* ---- counters ---- */

static bool has_counted(const uint64_t *total)
{
    for (unsigned i = 0; i < COUNTER_COUNT; i++)
        if (total[i])
            return true;
    return false;
}

/* A row of the table, or all counters of the only port. */
static void put_counters(struct record *record, const struct fabric_report *report, bool alone,
                         uint32_t port)
{
    const struct topology *topology = report->topology;
    const uint64_t *total = fabric_counters(report->access->fabric, port)->total;
    char place[40];
    record_begin(record, NULL);
    record_string(record, "node", NULL,
                  topology->nodes.items[topology->ports.items[port].node].name);
    record_number(record, "port", NULL, topology_port_number(topology, port));
    record_text(record, alone ? "%s\n" : "%-26.26s", fabric_control_label(topology, port, place));
    record_begin(record, "totals"); /* as src/perf/report.c has them */
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        const struct port_counter_info *info = &port_counter_infos[i];
        if (alone)
            record_text(record, "  %-30s", info->name);
        record_number(record, info->metric, alone ? " %20llu" : NULL, total[i] * info->unit);
        if (alone)
            record_text(record, "%s\n", info->unit > 1 ? " bytes" : "");
    }
    record_end(record);
    if (!alone)
        record_text(record, " %11" PRIu64 " %10" PRIu64 " %11" PRIu64 " %11" PRIu64,
                    total[COUNTER_TRANSMIT_PACKETS], total[COUNTER_RECEIVE_PACKETS],
                    total[COUNTER_TRANSMIT_DATA] * 4, total[COUNTER_RECEIVE_DATA] * 4);
    record_number(record, "errors", alone ? NULL : " %6llu\n",
                  port_counters_link_errors(total, NULL));
    record_end(record);
}

/* A node of a list, or one port of it: its counters are a row. */
static void put_ports(struct fabric_report *report, uint32_t node, uint32_t port)
{
    const struct topology *topology = report->topology;
    struct record *record = &report->record;
    record_begin_list(record, NULL);
    if (port == TOPOLOGY_NONE)
        record_text(record, "%-26s %11s %10s %11s %11s %6s\n", "PORT", "PACKETS OUT", "IN",
                    "BYTES OUT", "IN", "ERRORS");
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        uint32_t at = topology->ports.items[i].node;
        const struct topology_node *owner = &topology->nodes.items[at];
        const uint64_t *total = fabric_counters(report->access->fabric, i)->total;
        bool is_link = i != owner->first_port || owner->kind == NODE_SWITCH;
        if (port != TOPOLOGY_NONE   ? i == port
            : node != TOPOLOGY_NONE ? at == node && is_link
                                    : has_counted(total))
            put_counters(record, report, port != TOPOLOGY_NONE, i);
    }
    record_end_list(record);
}

/* ---- path and deadlock ---- */

static void put_output(struct fabric_report *report, uint32_t port, unsigned vl)
{
    struct record *record = &report->record;
    record_begin(record, NULL);
    record_string(record, "node", "  %s",
                  topology_label(report->topology, report->topology->ports.items[port].node));
    record_number(record, "port", " port %llu", topology_port_number(report->topology, port));
    record_number(record, "vl", " VL %llu\n", vl);
    record_end(record);
}

static void put_path(struct fabric_report *report, uint32_t from, uint32_t to)
{
    const struct fabric_access *access = report->access;
    struct record *record = &report->record;
    struct path_hops hops;
    path_hops_find(&hops, access->fabric, from, to, access->find_path, access->context);
    record_begin(record, NULL);
    record_string(record, "from", "%s", topology_label(report->topology, from));
    record_string(record, "to", " to %s", topology_label(report->topology, to));
    record_number(record, "dlid", ": LID %llu", hops.path.dlid);
    record_number(record, "sl", ", SL %llu", hops.path.sl);
    record_number(record, "links", ", %llu links", hops.items.count);
    record_flag(record, "arrives", NULL, !hops.reason[0]);
    record_string(record, "reason", hops.reason[0] ? "; %s\n" : "\n", hops.reason);
    record_begin_list(record, "hops");
    for (size_t i = 0; i < hops.items.count; i++)
        put_output(report, hops.items.items[i].port, hops.items.items[i].vl);
    record_end_list(record);
    record_end(record);
    path_hops_release(&hops);
}

/* ---- commands ---- */

static int answer_status(struct control_call *call)
{
    struct fabric_report report = begin_report(call);
    put_status(&report);
    return 0;
}

static int answer_counters(struct control_call *call)
{
    struct fabric_report report = begin_report(call);
    uint32_t node = TOPOLOGY_NONE, port = TOPOLOGY_NONE;
    uint64_t number;
    if (call->count && names_find_node(report.topology, call->words[0], &node, &call->err) < 0)
        return -EINVAL;
    if (call->count == 2) {
        const struct topology_node *found = &report.topology->nodes.items[node];
        if (!parse_bounded(call->words[1], 0, 255, &number))
            return err_set(&call->err, EINVAL, "'%s' is not a port number", call->words[1]);
        if (number > found->port_count)
            return err_set(&call->err, EINVAL, "%s has ports up to %u, not %s", found->name,
                           found->port_count, call->words[1]);
        port = topology_port_index(report.topology, node, (unsigned)number);
    }
    put_ports(&report, node, port);
    return 0;
}

static int answer_path(struct control_call *call)
{
    struct fabric_report report = begin_report(call);
    uint32_t from, to;
    if (names_find_node(report.topology, call->words[0], &from, &call->err) < 0 ||
        names_find_node(report.topology, call->words[1], &to, &call->err) < 0)
        return -EINVAL;
    put_path(&report, from, to);
    return 0;
}

static int answer_deadlock(struct control_call *call)
{
    struct fabric_report report = begin_report(call);
    struct record *record = &report.record;
    struct deadlock_cycle cycle = {0};
    struct fabric *fabric = report.access->fabric;
    bool found = fabric_vls(fabric) && fabric_list_deadlock(fabric, &cycle);
    record_begin(record, NULL);
    record_flag(record, "deadlock", "packets wait for each other in a cycle:\n", found);
    if (!found)
        record_text(record, "deadlock: none\n");
    record_begin_list(record, "cycle");
    for (size_t i = 0; i < cycle.hops.count; i++)
        put_output(&report, cycle.hops.items[i].port, cycle.hops.items[i].vl);
    record_end_list(record);
    record_end(record);
    vec_release(&cycle.hops);
    return 0;
}

static int stop_server(struct control_call *call)
{
    const struct fabric_access *access = call->subject;
    access->stop(access->context);
    return 0;
}

const struct control_command fabric_commands[] = {
    {"status", "", 0, 0, CONTROL_FABRIC, "nodes, links, packets, faults, attached programs",
     answer_status},
    {"counters", "[NODE [PORT]]", 0, 2, CONTROL_FABRIC,
     "performance counters, as the fabric counts", answer_counters},
    {"path", "FROM TO", 2, 2, CONTROL_FABRIC, "SL and links of the path by the tables",
     answer_path},
    {"deadlock", "", 0, 0, CONTROL_FABRIC, "a cycle of packets that wait for each other",
     answer_deadlock},
    {"stop", "", 0, 0, CONTROL_FABRIC, "end the server", stop_server},
    {0}};
