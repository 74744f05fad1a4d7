#include "machines_traffic.h"

#include "host/sim/sim_paths.h"
#include "topology/virtual.h"

#include <stdio.h>
#include <string.h>

enum { PAYLOAD = 256, PROBE_PACKETS = 4 };
#define REST_INTERVAL  (50 * TIME_MS)
#define DENSE_INTERVAL (40 * TIME_US)
#define DENSE_TIME     (3 * TIME_MS)

struct watched {
    uint32_t number;    /* end port or VM, as traffic knows it */
    uint64_t departed;  /* TIME_NEVER: it does not move in this operation */
    uint64_t arrived;   /* TIME_NEVER: it is on its way */
    uint64_t got, gave; /* packets, since the probe began */
    bool runs;          /* VMs: it is somewhere */
};

struct failure {
    uint32_t port, node; /* one of them is TOPOLOGY_NONE, or both: there is none */
};

/* When a way was cut, and when a packet was sent that found it whole again. */
struct cut {
    uint64_t since, until; /* TIME_NEVER: not in this operation; not yet */
    bool silent;           /* the way is there, but somebody's agent keeps silent */
};

const char *const watch_cause_names[WATCH_CAUSES] = {
    [WATCH_MOVING] = "of machines on their way",
    [WATCH_CUT] = "whose way was cut",
    [WATCH_PATHLESS] = "never sent for want of a path",
    [WATCH_OTHER] = "for no reason",
};

struct watch {
    struct world *world;
    struct sim_paths *paths;
    VEC(struct watched) all; /* hosts, then VMs */
    size_t hosts;
    VEC(uint32_t) order; /* of all in lists of traffic: hosts between VMs */
    struct cut *cuts;    /* by sender * count + receiver */
    struct watch_sums sums;
    char fault[256];
};

/* ---- who ---- */

static uint32_t index_of(const struct watch *watch, uint32_t port, uint32_t vm)
{
    if (vm != TOPOLOGY_NONE)
        return (uint32_t)(watch->hosts + (vm - DATA_VM));
    for (uint32_t i = 0; i < watch->hosts; i++)
        if (watch->all.items[i].number == port)
            return i;
    return TOPOLOGY_NONE;
}

static struct watched *machine_at(const struct watch *watch, unsigned machine)
{
    return &watch->all.items[watch->hosts + machine];
}

static const char *name_of(const struct watch *watch, uint32_t i, char name[16])
{
    if (i == TOPOLOGY_NONE)
        return "nobody";
    snprintf(name, 16, "%s%u", i < watch->hosts ? "host" : "vm",
             (unsigned)(i < watch->hosts ? i : i - watch->hosts));
    return name;
}

static void find(struct watch *watch, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The first finding counts. */
static void find(struct watch *watch, const char *format, ...)
{
    va_list arguments;
    if (watch->fault[0])
        return;
    va_start(arguments, format);
    vsnprintf(watch->fault, sizeof watch->fault, format, arguments);
    va_end(arguments);
}

static uint32_t port_of(const struct watch *watch, size_t i)
{
    uint32_t number = watch->all.items[i].number;
    return i < watch->hosts ? number : fabric_vm(watch->world->fabric, number)->port;
}

/* Whoever is at this port: a host, or the machine that has the function. */
static uint32_t sender_at(const struct watch *watch, uint32_t port)
{
    for (size_t i = 0; i < watch->all.count; i++)
        if (port_of(watch, i) == port)
            return (uint32_t)i;
    return TOPOLOGY_NONE;
}

/* ---- what happens to packets ---- */

static bool touches(const struct watch *watch, const struct failure *failure, uint32_t port)
{
    const struct topology *topology = &watch->world->topology;
    if (failure->node != TOPOLOGY_NONE)
        return topology->ports.items[port].node == failure->node;
    return failure->port != TOPOLOGY_NONE &&
           (port == failure->port || topology->ports.items[port].peer == failure->port);
}

static struct cut *cut_of(const struct watch *watch, uint32_t from, uint32_t to)
{
    return &watch->cuts[from * watch->all.count + to];
}

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct watch *watch = context;
    (void)now;
    uint32_t from = index_of(watch, packet->source, packet->from_vm);
    uint32_t to = index_of(watch, packet->destination, packet->to_vm);
    watch->sums.delivered++;
    watch->sums.to_machines += packet->to_vm != TOPOLOGY_NONE;
    if (from == TOPOLOGY_NONE || to == TOPOLOGY_NONE)
        return;
    watch->all.items[to].got++;
    watch->all.items[from].gave++;
    struct cut *cut = cut_of(watch, from, to);
    if (!cut->silent && packet->entered > cut->since && packet->entered < cut->until)
        cut->until = packet->entered;
}

/* A machine that has ended can still be found for a while, if the manager is busy. */
static bool is_travellers(const struct watched *end, uint64_t now, uint64_t sent)
{
    return !end->runs || (now >= end->departed && sent <= end->arrived);
}

static enum watch_cause judge(const struct watch *watch, uint32_t from, uint32_t to, uint64_t now,
                              uint64_t sent)
{
    if (from == TOPOLOGY_NONE || to == TOPOLOGY_NONE)
        return WATCH_OTHER;
    const struct cut *cut = cut_of(watch, from, to);
    if (is_travellers(&watch->all.items[from], now, sent) ||
        is_travellers(&watch->all.items[to], now, sent))
        return WATCH_MOVING;
    return cut->since != TIME_NEVER && sent <= cut->until ? WATCH_CUT : WATCH_OTHER;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct watch *watch = context;
    uint32_t from = index_of(watch, packet->source, packet->from_vm);
    uint32_t to = index_of(watch, packet->destination, packet->to_vm);
    enum watch_cause why = judge(watch, from, to, now, packet->entered);
    watch->sums.lost[why]++;
    if (why < WATCH_PATHLESS)
        return;
    const struct topology *topology = &watch->world->topology;
    uint32_t node = topology->ports.items[port].node;
    char text[2][TIME_TEXT_BYTES], names[2][16];
    find(watch,
         "a packet from %s to %s (LID %u, sent at %s) is lost at %s at '%s' port %u: %s (%s)",
         name_of(watch, from, names[0]), name_of(watch, to, names[1]), packet->dlid,
         time_text(packet->entered, text[0]), time_text(now, text[1]),
         topology->nodes.items[node].description ? topology->nodes.items[node].description
                                                 : topology->nodes.items[node].name,
         port - topology->nodes.items[node].first_port, loss_names[cause], watch_cause_names[why]);
}

/* Senders ask the managers; whoever has an address must have a path. */
static struct data_path find_path(void *context, uint32_t source, uint32_t destination)
{
    struct watch *watch = context;
    struct data_path path = sim_paths_find(watch->paths, source, destination);
    bool is_vm = destination >= DATA_VM;
    uint32_t to = index_of(watch, destination, is_vm ? destination : TOPOLOGY_NONE);
    uint32_t from = sender_at(watch, source);
    uint64_t now = sim_now(watch->world->sim);
    if (path.dlid || from == TOPOLOGY_NONE || judge(watch, from, to, now, now) != WATCH_OTHER)
        return path;
    char text[TIME_TEXT_BYTES], names[2][16];
    watch->sums.lost[WATCH_PATHLESS]++;
    find(watch, "%s is told at %s that there is no path to %s", name_of(watch, from, names[0]),
         time_text(now, text), name_of(watch, to, names[1]));
    return path;
}

static void note_deadlock(void *context, uint64_t now, const char *cycle)
{
    (void)now;
    find(context, "packets wait for each other: %.160s", cycle);
}

/* ---- ways ---- */

/* Whether the way through the tables that are in the switches now meets the failure. */
static bool way_meets(struct watch *watch, uint32_t from, uint32_t to,
                      const struct failure *failure)
{
    const struct topology *topology = &watch->world->topology;
    struct fabric *fabric = watch->world->fabric;
    unsigned dlid = (unsigned)wire_get(fabric_port_info(fabric, to), PORT_INFO_LID);
    uint32_t at = from;
    for (size_t hops = 0; hops <= topology->nodes.count; hops++) {
        uint32_t peer = topology->ports.items[at].peer, top = 0;
        if (peer == TOPOLOGY_NONE)
            return false;
        if (touches(watch, failure, at) || touches(watch, failure, peer))
            return true;
        uint32_t node = topology->ports.items[peer].node;
        if (topology->nodes.items[node].kind != NODE_SWITCH)
            return false;
        const uint8_t *table = fabric_linear_table(fabric, node, &top);
        if (!table || dlid > top || !table[dlid] ||
            table[dlid] > topology->nodes.items[node].port_count)
            return false;
        at = topology_port_index(topology, node, table[dlid]);
    }
    return false;
}

static void fails(struct watch *watch, const struct failure *failure, bool silent)
{
    uint64_t now = sim_now(watch->world->sim);
    for (uint32_t i = 0; i < watch->all.count; i++)
        for (uint32_t j = 0; j < watch->all.count; j++) {
            uint32_t from = port_of(watch, i), to = port_of(watch, j);
            if (i != j && from != TOPOLOGY_NONE && to != TOPOLOGY_NONE &&
                way_meets(watch, from, to, failure))
                *cut_of(watch, i, j) = (struct cut){now, TIME_NEVER, silent};
        }
}

void watch_fails_link(struct watch *watch, uint32_t port)
{
    fails(watch, &(struct failure){.port = port, .node = TOPOLOGY_NONE}, false);
}

void watch_fails_node(struct watch *watch, uint32_t node)
{
    fails(watch, &(struct failure){.port = TOPOLOGY_NONE, .node = node}, false);
}

void watch_silences_node(struct watch *watch, uint32_t node)
{
    fails(watch, &(struct failure){.port = TOPOLOGY_NONE, .node = node}, true);
}

void watch_hears_all(struct watch *watch)
{
    for (size_t i = 0; i < watch->all.count * watch->all.count; i++)
        if (watch->cuts[i].silent)
            watch->cuts[i] = (struct cut){sim_now(watch->world->sim), TIME_NEVER, false};
}

/* ---- traffic ---- */

static void send(struct watch *watch, enum traffic_pattern pattern, uint64_t interval,
                 uint64_t length)
{
    struct traffic traffic;
    struct err err = {0};
    traffic_init(&traffic, 256);
    traffic.pattern = pattern;
    traffic.arrival = ARRIVAL_CONSTANT;
    traffic.interval_ps = interval;
    traffic.start_ps = sim_now(watch->world->sim);
    traffic.stop_ps = length == TIME_NEVER ? length : traffic.start_ps + length;
    traffic.sizes[0].payload_bytes = PAYLOAD;
    for (size_t i = 0; i < watch->order.count; i++) {
        vec_push(&traffic.senders, watch->all.items[watch->order.items[i]].number);
        vec_push(&traffic.receivers, watch->all.items[watch->order.items[i]].number);
    }
    if (fabric_check_traffic(watch->world->fabric, &traffic, &err) < 0)
        fail_msg("%s", err.message);
    fabric_add_traffic(watch->world->fabric, &traffic);
    traffic_release(&traffic);
}

void watch_allow_no_loss(struct watch *watch)
{
    for (size_t i = 0; i < watch->all.count * watch->all.count; i++)
        watch->cuts[i] = (struct cut){TIME_NEVER, TIME_NEVER, false};
    for (size_t i = 0; i < watch->all.count; i++)
        watch->all.items[i].departed = watch->all.items[i].arrived = TIME_NEVER;
}

void watch_begin(struct watch *watch)
{
    watch_allow_no_loss(watch);
    send(watch, PATTERN_UNIFORM, DENSE_INTERVAL, DENSE_TIME);
    sim_run(watch->world->sim, sim_now(watch->world->sim) + 2 * DENSE_INTERVAL);
}

void watch_probe(struct watch *watch)
{
    watch_allow_no_loss(watch);
    for (size_t i = 0; i < watch->all.count; i++)
        watch->all.items[i].got = watch->all.items[i].gave = 0;
    send(watch, PATTERN_ALL_TO_ALL, DENSE_INTERVAL, PROBE_PACKETS * DENSE_INTERVAL);
    sim_run(watch->world->sim, sim_now(watch->world->sim) + (PROBE_PACKETS + 10) * DENSE_INTERVAL);
    for (uint32_t i = 0; i < watch->all.count; i++) {
        const struct watched *watched = &watch->all.items[i];
        char name[16];
        if (watched->runs && (!watched->got || !watched->gave))
            find(watch, "%s %s", name_of(watch, i, name),
                 watched->got ? "sends, and nothing arrives" : "gets nothing");
    }
}

const char *watch_fault(struct watch *watch)
{
    struct err err = {0};
    struct text cycle = {0};
    struct data_totals totals;
    fabric_data_totals(watch->world->fabric, &totals);
    if (fabric_find_deadlock(watch->world->fabric, &cycle) || totals.deadlocks)
        find(watch, "packets wait for each other: %.160s", cycle.data ? cycle.data : "once");
    if (fabric_check_data(watch->world->fabric, &err) < 0)
        find(watch, "%.200s", err.message);
    if (totals.duplicates)
        find(watch, "a packet came twice");
    text_release(&cycle);
    return watch->fault[0] ? watch->fault : NULL;
}

void watch_forgive(struct watch *watch)
{
    watch->fault[0] = 0;
}

struct watch_sums watch_sums(const struct watch *watch)
{
    return watch->sums;
}

/* ---- machines ---- */

void watch_departs(struct watch *watch, unsigned machine)
{
    struct watched *watched = machine_at(watch, machine);
    watched->departed = sim_now(watch->world->sim);
    watched->arrived = TIME_NEVER;
    fabric_move_vm(watch->world->fabric, watched->number, TOPOLOGY_NONE);
}

void watch_resumes(struct watch *watch, unsigned machine, uint32_t port)
{
    fabric_move_vm(watch->world->fabric, machine_at(watch, machine)->number, port);
}

void watch_arrives(struct watch *watch, unsigned machine, uint32_t port)
{
    struct watched *watched = machine_at(watch, machine);
    watched->arrived = sim_now(watch->world->sim);
    watched->runs = port != TOPOLOGY_NONE;
    fabric_move_vm(watch->world->fabric, watched->number, port);
    if (port == TOPOLOGY_NONE)
        sim_paths_forget_vm(watch->paths, watched->number);
}

bool watch_is_travelling(const struct watch *watch, unsigned machine)
{
    const struct watched *watched = machine_at(watch, machine);
    return watched->departed != TIME_NEVER && watched->arrived == TIME_NEVER;
}

/* ---- birth ---- */

static void add_hosts(struct watch *watch)
{
    const struct topology *topology = &watch->world->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++)
        if (topology_function(topology, port) == 0)
            vec_push(&watch->all, ((struct watched){port, TIME_NEVER, TIME_NEVER, 0, 0, true}));
    watch->hosts = watch->all.count;
}

/* So that of any few neighbours in the list one is a host, which always sends. */
static void mix(struct watch *watch, unsigned machines)
{
    size_t host = 0, vm = 0;
    while (host < watch->hosts || vm < machines) {
        if (host < watch->hosts && host * machines <= vm * watch->hosts)
            vec_push(&watch->order, (uint32_t)host++);
        else
            vec_push(&watch->order, (uint32_t)(watch->hosts + vm++));
    }
}

struct watch *watch_new(struct world *world, const uint64_t *guids, unsigned machines)
{
    struct watch *watch = mem_zalloc(1, sizeof *watch);
    watch->world = world;
    watch->paths = sim_paths_new(world->sim, world->fabric);
    add_hosts(watch);
    for (unsigned i = 0; i < machines; i++) {
        uint32_t vm = fabric_add_vm(world->fabric);
        sim_paths_add_vm(watch->paths, vm, guids[i]);
        vec_push(&watch->all, ((struct watched){vm, TIME_NEVER, TIME_NEVER, 0, 0, false}));
    }
    mix(watch, machines);
    watch->cuts = mem_alloc(watch->all.count * watch->all.count * sizeof *watch->cuts);
    watch_allow_no_loss(watch);
    fabric_set_paths(world->fabric, &(struct data_paths){.context = watch, .find = find_path});
    fabric_observe_data(world->fabric, &(struct data_observer){.context = watch,
                                                               .delivered = note_delivered,
                                                               .lost = note_lost,
                                                               .deadlock = note_deadlock});
    send(watch, PATTERN_UNIFORM, REST_INTERVAL, TIME_NEVER);
    return watch;
}

void watch_free(struct watch *watch)
{
    sim_paths_free(watch->paths);
    vec_release(&watch->all);
    vec_release(&watch->order);
    mem_free(watch->cuts);
    mem_free(watch);
}
