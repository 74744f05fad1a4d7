/* The commands of `weft ctl`: reports on a running fabric, and faults.
 *
 * A table has all commands. Reports are text of at most 80 columns, or JSON. Faults change the
 * fabric at once; traps and time-outs follow from that. */
#include "base/parse.h"
#include "base/record.h"
#include "base/rng.h"
#include "base/time.h"
#include "fabric/data.h"
#include "host/server/session.h"
#include "sma/sma.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>

enum { WORDS = 12 };

/* One command. */
struct call {
    struct clients *clients;
    struct fabric *fabric;
    const struct topology *topology;
    const char *words[WORDS + 1]; /* the rest NULL */
    unsigned count;
    struct record record; /* of the report */
    struct err *err;
};

/* ---- arguments ---- */

static int parse_node(const struct call *call, unsigned at, uint32_t *node)
{
    assert(at < call->count);
    *node = topology_find(call->topology, call->words[at]);
    if (*node != TOPOLOGY_NONE)
        return 0;
    return err_set(call->err, EINVAL, "no single node is called '%s'", call->words[at]);
}

/* Two words: a node and a port number. */
static int parse_port(const struct call *call, unsigned at, uint32_t *port)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t number = 0;
    assert(at + 1 < call->count);
    int result = parse_node(call, at, &node);
    if (result < 0)
        return result;
    const char *word = call->words[at + 1];
    const struct topology_node *found = &call->topology->nodes.items[node];
    if (!parse_bounded(word, 0, 255, &number))
        return err_set(call->err, EINVAL, "'%s' is no port number", word);
    if (number > found->port_count)
        return err_set(call->err, EINVAL, "%s has ports up to %u, not %s", found->name,
                       found->port_count, word);
    *port = topology_port_index(call->topology, node, (unsigned)number);
    return 0;
}

static int parse_attribute(const struct call *call, const char *word, unsigned *attribute)
{
    uint64_t number = 0;
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if ((wire_attributes[i].class == WIRE_CLASS_SMP ||
             wire_attributes[i].class == WIRE_CLASS_COMMON) &&
            strcasecmp(wire_attributes[i].name, word) == 0) {
            *attribute = wire_attributes[i].id;
            return 0;
        }
    if (!parse_bounded(word, 0, 0xffff, &number))
        return err_set(call->err, EINVAL, "'%s' is no SMP attribute", word);
    *attribute = (unsigned)number;
    return 0;
}

static int parse_up(const struct call *call, bool *up)
{
    *up = strcmp(call->words[1], "up") == 0;
    if (*up || strcmp(call->words[1], "down") == 0)
        return 0;
    return err_set(call->err, EINVAL, "'%s' is neither 'up' nor 'down'", call->words[1]);
}

/* ---- faults ---- */

static int control_link(struct call *call)
{
    uint32_t port = TOPOLOGY_NONE;
    bool up = false;
    int result = parse_up(call, &up);
    if (result == 0)
        result = parse_port(call, 2, &port);
    return result < 0 ? result : fabric_set_link(call->fabric, port, up, call->err);
}

static int control_node(struct call *call)
{
    uint32_t node = TOPOLOGY_NONE;
    bool up = false;
    int result = parse_up(call, &up);
    if (result == 0)
        result = parse_node(call, 2, &node);
    if (result < 0)
        return result;
    if (strcmp(call->words[0], "switch") == 0 &&
        call->topology->nodes.items[node].kind != NODE_SWITCH)
        return err_set(call->err, EINVAL, "'%s' is no switch; use 'node' for any node",
                       call->words[2]);
    return fabric_set_node(call->fabric, node, up, call->err);
}

static int control_flap(struct call *call)
{
    uint32_t port = TOPOLOGY_NONE;
    int result = parse_port(call, 1, &port);
    return result < 0 ? result : fabric_flap_port(call->fabric, port, call->err);
}

static int control_drop(struct call *call)
{
    uint32_t port = TOPOLOGY_NONE;
    unsigned attribute = 0, at = 2;
    uint64_t parts = 0;
    int result = 0;
    const char *const *words = call->words;
    if (!parse_percent(words[1], &parts))
        return err_set(call->err, EINVAL, "'%s' is no percentage: write 5%% or 0.25%%", words[1]);
    if (words[at] && strcmp(words[at], "attribute") != 0) {
        if (!words[at + 1])
            return err_set(call->err, EINVAL, "which port of '%s'?", words[at]);
        result = parse_port(call, at, &port);
        at += 2;
    }
    if (result == 0 && words[at]) {
        if (strcmp(words[at], "attribute") != 0 || !words[at + 1])
            return err_set(call->err, EINVAL, "expected 'attribute NAME', not '%s'", words[at]);
        result = parse_attribute(call, words[at + 1], &attribute);
        at += 2;
    }
    if (result == 0 && words[at])
        return err_set(call->err, EINVAL, "'%s' is one word too many", words[at]);
    return result < 0 ? result : fabric_set_loss(call->fabric, port, attribute, parts, call->err);
}

static int control_agent(struct call *call)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t delay = 0;
    const char *how = call->words[1], *time = call->words[3];
    bool slow = strcmp(how, "slow") == 0, mute = strcmp(how, "mute") == 0;
    int result = parse_node(call, 2, &node);
    if (result < 0)
        return result;
    if (!slow && !mute && strcmp(how, "heal") != 0)
        return err_set(call->err, EINVAL, "agents can be 'slow', 'mute' or 'heal'ed, not '%s'",
                       how);
    if (slow != (time != NULL))
        return err_set(call->err, EINVAL,
                       "'agent slow NODE' takes a time, such as 50ms; others none");
    if (slow && (!time_parse(time, &delay) || delay == 0))
        return err_set(call->err, EINVAL, "'%s' is no time: write 50ms or 2s", time);
    return fabric_set_agent_delay(call->fabric, node, mute ? TIME_NEVER : delay, call->err);
}

static int control_guid(struct call *call)
{
    uint32_t node = TOPOLOGY_NONE;
    uint64_t guid = 0;
    int result = parse_node(call, 1, &node);
    if (result == 0 && !parse_number(call->words[2], &guid))
        return err_set(call->err, EINVAL, "'%s' is no GUID (0x…)", call->words[2]);
    return result < 0 ? result : fabric_set_guid(call->fabric, node, guid, call->err);
}

static int control_errors(struct call *call)
{
    uint32_t port = TOPOLOGY_NONE;
    uint64_t count = 0;
    char number[24];
    int result = parse_port(call, 1, &port);
    snprintf(number, sizeof number, "%s", call->words[3]);
    char *unit = strstr(number, "/s");
    bool rate = unit && !unit[2];
    if (rate)
        *unit = 0;
    if (result == 0 && !parse_bounded(number, 0, UINT32_MAX, &count))
        return err_set(call->err, EINVAL, "'%s': expected a count or a rate, such as 100 or 5/s",
                       call->words[3]);
    if (result < 0)
        return result;
    return (rate ? fabric_set_bit_error_rate : fabric_add_bit_errors)(call->fabric, port,
                                                                      (unsigned)count, call->err);
}

static int control_traffic(struct call *call)
{
    if (strcmp(call->words[1], "start") == 0)
        return data_traffic_start(call->clients, call->err);
    if (strcmp(call->words[1], "stop") == 0)
        return data_traffic_stop(call->clients, call->err);
    return err_set(call->err, EINVAL, "'%s' is neither 'start' nor 'stop'", call->words[1]);
}

static int control_stop(struct call *call)
{
    call->clients->stop = true;
    return 0;
}

/* ---- status ---- */

static const char *port_label(const struct topology *topology, uint32_t port, char text[40])
{
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    const char *name = node->description && *node->description ? node->description : node->name;
    snprintf(text, 40, "%.30s:%u", name, topology_port_number(topology, port));
    return text;
}

static void put_clients(struct record *record, const struct call *call)
{
    bool first = true;
    record_begin_list(record, "clients");
    for (const struct session *session = call->clients->first; session; session = session->after) {
        bool manager = session->state == SESSION_MANAGER;
        char path[64], program[24] = "?", place[40];
        struct mad_file_status status = {0};
        if (session->state != SESSION_OPEN && !manager)
            continue;
        snprintf(path, sizeof path, "/proc/%u/comm", session->pid);
        FILE *file = fopen(path, "re");
        if (file) {
            if (fgets(program, sizeof program, file))
                program[strcspn(program, "\n")] = 0;
            fclose(file);
        }
        if (session->file)
            mad_file_status(session->file, &status);
        if (first)
            record_text(record, "\n%7s %-15s %-20s %6s %9s %9s %7s\n", "PID", "PROGRAM", "AT",
                        "AGENTS", "SENT", "RECEIVED", "LATE");
        first = false;
        record_begin(record, NULL);
        record_number(record, "pid", "%7llu", session->pid);
        record_string(record, "program", " %-15.15s", program);
        record_string(record, "at", " %-20.20s", port_label(call->topology, session->port, place));
        record_flag(record, "manager", "   IsSM", manager);
        record_number(record, "agents", manager ? NULL : " %6llu", status.agents);
        record_number(record, "requests", NULL, status.requests);
        record_number(record, "sent", manager ? NULL : " %9llu", status.sent);
        record_number(record, "received", manager ? NULL : " %9llu", status.received);
        record_number(record, "timeouts", manager ? NULL : " %7llu", status.timeouts);
        record_number(record, "dropped", NULL, status.dropped);
        record_number(record, "queued_bytes", NULL, status.queued_bytes);
        record_text(record, "\n");
        record_end(record);
    }
    record_end_list(record);
}

/* "L6 port 1 <-> H24 port 1", or a node's name. */
static void put_fault_place(struct text *out, const struct topology *topology,
                            const struct fabric_fault *fault)
{
    bool link = fault->kind == FABRIC_CABLE_CUT || fault->kind == FABRIC_SMP_LOSS ||
                fault->kind == FABRIC_BAD_CABLE;
    if (link && fault->at == TOPOLOGY_NONE) {
        text_puts(out, "all links");
        return;
    }
    uint32_t ends[2] = {fault->at, link ? topology->ports.items[fault->at].peer : TOPOLOGY_NONE};
    for (unsigned i = 0; i < (link ? 2 : 1); i++) {
        const struct topology_node *node =
            &topology->nodes.items[link ? topology->ports.items[ends[i]].node : fault->at];
        text_printf(out, "%s%s", i ? " <-> " : "",
                    node->description && *node->description ? node->description : node->name);
        if (link)
            text_printf(out, " port %u", topology_port_number(topology, ends[i]));
    }
}

static void put_fault_text(struct text *out, const struct fabric_fault *fault)
{
    switch (fault->kind) {
    case FABRIC_CABLE_CUT: text_puts(out, "the cable is disconnected"); break;
    case FABRIC_NODE_DOWN: text_puts(out, "the node is off"); break;
    case FABRIC_SMP_LOSS:
        text_printf(out, "%.2f%% of SMPs are dropped", 100.0 * (double)fault->value / RNG_CERTAIN);
        if (fault->attribute)
            text_printf(out, " (attribute 0x%x)", fault->attribute);
        break;
    case FABRIC_BAD_CABLE:
        text_printf(out, "the cable causes %llu bit errors a second",
                    (unsigned long long)fault->value);
        break;
    case FABRIC_AGENT_DELAY:
        if (fault->value == TIME_NEVER)
            text_puts(out, "the agent does not answer");
        else
            text_printf(out, "the agent answers %.3f ms late", (double)fault->value / TIME_MS);
        break;
    case FABRIC_OTHER_GUID:
        text_printf(out, "the GUID is 0x%016llx", (unsigned long long)fault->value);
        break;
    }
}

static void put_faults(struct record *record, const struct call *call)
{
    struct fabric_faults faults = {0};
    fabric_list_faults(call->fabric, &faults);
    record_begin_list(record, "faults");
    record_text(record, "faults    %s", faults.items.count ? "" : "none\n");
    for (size_t i = 0; i < faults.items.count; i++) {
        struct text place = {0}, what = {0};
        put_fault_place(&place, call->topology, &faults.items.items[i]);
        put_fault_text(&what, &faults.items.items[i]);
        record_begin(record, NULL);
        record_string(record, "place", i ? "          %s" : "%s", place.data);
        record_string(record, "fault", ": %s\n", what.data);
        record_end(record);
        text_release(&place);
        text_release(&what);
    }
    record_end_list(record);
    vec_release(&faults.items);
}

/* The data packets of --traffic. */
static void put_data(struct record *record, const struct call *call)
{
    struct data_totals totals;
    if (!fabric_vls(call->fabric))
        return;
    fabric_data_totals(call->fabric, &totals);
    record_begin(record, "data");
    record_number(record, "made", "data      %llu packets", totals.made);
    record_number(record, "delivered", ", %llu delivered", totals.delivered);
    record_number(record, "lost", ", %llu lost", data_totals_lost(&totals));
    record_number(record, "travelling", ", %llu under way", totals.travelling);
    record_number(record, "waiting", ", %llu waiting", totals.waiting);
    record_number(record, "unroutable", ", %llu without a path\n", totals.unroutable);
    record_number(record, "delivered_bytes", NULL, totals.delivered_bytes);
    record_begin(record, "lost_by_cause");
    for (unsigned i = 0; i < LOSS_CAUSES; i++)
        if (totals.lost[i])
            record_number(record, loss_names[i], NULL, totals.lost[i]);
    record_end(record);
    record_end(record);
}

static int control_status(struct call *call)
{
    const struct clients *clients = call->clients;
    struct record *record = &call->record;
    uint64_t network = fabric_network_time(call->fabric);
    uint32_t kinds[NODE_ROUTER + 1] = {0};
    struct fabric_totals totals;
    fabric_totals(call->fabric, &totals);
    for (size_t i = 0; i < call->topology->nodes.count; i++)
        kinds[call->topology->nodes.items[i].kind]++;
    record_begin(record, NULL);
    record_number(record, "switches", "nodes     %llu switches", kinds[NODE_SWITCH]);
    record_number(record, "adapters", ", %llu adapters", kinds[NODE_ADAPTER]);
    record_number(record, "routers", ", %llu routers", kinds[NODE_ROUTER]);
    record_number(record, "nodes_down", ", %llu down\n", totals.nodes_down);
    record_number(record, "links_up", "links     %llu up", totals.links_up);
    record_number(record, "links_down", ", %llu down\n", totals.links_down);
    record_number(record, "packets_sent", "packets   %llu sent", totals.packets_sent);
    record_number(record, "smps_sent", " (%llu SMPs)", totals.smps_sent);
    record_number(record, "hops", ", %llu hops", totals.hops);
    record_number(record, "smps_lost", ", %llu lost", totals.smps_lost);
    record_number(record, "traps", ", %llu traps\n", totals.traps);
    record_number(record, "managers", NULL, totals.managers);
    record_number(record, "network_ps", NULL, network);
    record_number(record, "wall_ps", NULL, clients->now);
    record_text(record, "time      %.6f s in the network, %.3f s on the wall",
                (double)network / TIME_S, (double)clients->now / TIME_S);
    record_string(record, "pace", ", pace %s\n", clients->pace);
    record_text(record, "clients   %zu ports open, %u managers, %" PRIu64 " requests answered\n",
                clients->opened.count, totals.managers, clients->served);
    put_data(record, call);
    put_faults(record, call);
    put_clients(record, call);
    record_end(record);
    return 0;
}

/* ---- counters ---- */

static uint64_t error_sum(const uint64_t *total)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < COUNTER_XMIT_DATA; i++)
        sum += total[i];
    return sum;
}

/* A row of the table, or all counters of the only port. */
static void put_counters(struct record *record, const struct call *call, bool alone, uint32_t port)
{
    const struct topology *topology = call->topology;
    const uint64_t *total = fabric_counters(call->fabric, port)->total;
    char place[40];
    record_begin(record, NULL);
    record_string(record, "node", NULL,
                  topology->nodes.items[topology->ports.items[port].node].name);
    record_number(record, "port", NULL, topology_port_number(topology, port));
    record_text(record, alone ? "%s\n" : "%-26.26s", port_label(topology, port, place));
    for (unsigned i = 0; i < COUNTER_COUNT; i++) {
        if (alone)
            record_text(record, "  %-30s", sma_counter_name(i));
        record_number(record, sma_counter_name(i), alone ? " %20llu\n" : NULL, total[i]);
    }
    if (!alone)
        record_text(record,
                    " %11" PRIu64 " %10" PRIu64 " %11" PRIu64 " %11" PRIu64 " %6" PRIu64 "\n",
                    total[COUNTER_XMIT_PACKETS], total[COUNTER_RCV_PACKETS],
                    total[COUNTER_XMIT_DATA] * 4, total[COUNTER_RCV_DATA] * 4, error_sum(total));
    record_end(record);
}

/* Without arguments: all ports with a counter above 0. With a node: its ports. With a port: all its
 * counters. */
static int control_counters(struct call *call)
{
    struct record *record = &call->record;
    uint32_t node = TOPOLOGY_NONE, port = TOPOLOGY_NONE;
    int result = call->count >= 2 ? parse_node(call, 1, &node) : 0;
    if (result == 0 && call->count == 3)
        result = parse_port(call, 1, &port);
    if (result < 0)
        return result;
    record_begin_list(record, NULL);
    if (port == TOPOLOGY_NONE)
        record_text(record, "%-26s %11s %10s %11s %11s %6s\n", "PORT", "PACKETS OUT", "IN",
                    "BYTES OUT", "IN", "ERRORS");
    for (uint32_t i = 0; i < call->topology->ports.count; i++) {
        uint32_t at = call->topology->ports.items[i].node;
        const struct topology_node *owner = &call->topology->nodes.items[at];
        const uint64_t *total = fabric_counters(call->fabric, i)->total;
        bool is_link = i != owner->first_port || owner->kind == NODE_SWITCH;
        bool counted =
            total[COUNTER_XMIT_PACKETS] || total[COUNTER_RCV_PACKETS] || error_sum(total);
        if (port != TOPOLOGY_NONE   ? i == port
            : node != TOPOLOGY_NONE ? at == node && is_link
                                    : counted)
            put_counters(record, call, port != TOPOLOGY_NONE, i);
    }
    record_end_list(record);
    return 0;
}

/* ---- the table ---- */

static const struct {
    const char *name;
    unsigned least, most; /* number of words, with the name */
    int (*run)(struct call *call);
    const char *usage;
} commands[] = {
    {"status", 1, 1, control_status, "status"},
    {"counters", 1, 3, control_counters, "counters [NODE [PORT]]"},
    {"link", 4, 4, control_link, "link down|up NODE PORT"},
    {"switch", 3, 3, control_node, "switch down|up NODE"},
    {"node", 3, 3, control_node, "node down|up NODE"},
    {"flap", 3, 3, control_flap, "flap NODE PORT"},
    {"drop", 2, 6, control_drop, "drop P% [NODE PORT] [attribute NAME|0x..]"},
    {"agent", 3, 4, control_agent, "agent slow|mute|heal NODE [TIME]"},
    {"guid", 3, 3, control_guid, "guid NODE GUID"},
    {"errors", 4, 4, control_errors, "errors NODE PORT COUNT[/s]"},
    {"traffic", 2, 2, control_traffic, "traffic start|stop"},
    {"stop", 1, 1, control_stop, "stop"},
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

/* Each word ends with a NUL, the last one with two. */
int control_run(struct clients *clients, const char *command, bool json, struct text *out)
{
    struct err err = {0};
    struct call call = {.clients = clients,
                        .fabric = clients->fabric,
                        .topology = fabric_topology(clients->fabric),
                        .record = record_to(out, json, true),
                        .err = &err};
    for (const char *at = command; *at && call.count < WORDS; at += strlen(at) + 1)
        call.words[call.count++] = at;
    const char *name = call.count ? call.words[0] : "";
    unsigned i = 0;
    int result;
    while (i < COMMANDS && strcmp(commands[i].name, name) != 0)
        i++;
    if (call.count == 0)
        result = err_set(&err, EINVAL, "no command");
    else if (i == COMMANDS)
        result = err_set(&err, EINVAL, "no command '%s': 'weft ctl --help' lists them", name);
    else if (call.count < commands[i].least || call.count > commands[i].most)
        result = err_set(&err, EINVAL, "usage: weft ctl %s", commands[i].usage);
    else
        result = commands[i].run(&call);
    if (result == 0 && json && out->length)
        text_putc(out, '\n');
    if (result == 0)
        return 0;
    text_clear(out);
    text_puts(out, err.message);
    return -EINVAL;
}
