#include "data_fixture.h"

#include "fabric/internal.h"
#include "topology/generators/generate.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_TRAFFICS = 16 };

/* ---- building ---- */

void net_init(struct net *net)
{
    memset(net, 0, sizeof *net);
    topology_init(&net->topology);
    assert_int_equal(fabric_options_preset(&net->options, "paper", NULL), 0);
    net->options.node.agent.port_follows = false; /* tests close one end of a link */
    net->options.sma_set_ps = 0;
    net->lost_at = net->multicast_for = TOPOLOGY_NONE;
}

static uint32_t add_node(struct net *net, enum node_kind kind, unsigned ports)
{
    char name[16];
    uint32_t index;
    snprintf(name, sizeof name, "%c%zu", kind == NODE_SWITCH ? 'S' : 'H',
             net->topology.nodes.count);
    assert_int_equal(topology_add_node(&net->topology, kind, name, ports, 0, &index, NULL), 0);
    return index;
}

uint32_t net_switch(struct net *net, unsigned ports)
{
    return add_node(net, NODE_SWITCH, ports);
}

uint32_t net_adapter(struct net *net, unsigned ports)
{
    return add_node(net, NODE_ADAPTER, ports);
}

uint32_t net_port(const struct net *net, uint32_t node, unsigned port)
{
    return topology_port_index(&net->topology, node, port);
}

void net_cable(struct net *net, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b,
               enum link_width width, enum link_speed speed, unsigned metres)
{
    uint32_t ends[2] = {net_port(net, a, port_a), net_port(net, b, port_b)};
    assert_int_equal(topology_link(&net->topology, ends[0], ends[1], NULL), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct topology_port *port = &net->topology.ports.items[ends[i]];
        port->width = (uint8_t)width;
        port->speed = (uint8_t)speed;
        port->length_mm = metres * 1000;
    }
}

void net_link(struct net *net, uint32_t a, unsigned port_a, uint32_t b, unsigned port_b)
{
    net_cable(net, a, port_a, b, port_b, WIDTH_1X, SPEED_SDR, 20);
}

void net_generate(struct net *net, const char *kind, const char *words, uint64_t seed)
{
    char copy[128], *rest = copy;
    const char *list[16];
    size_t count = 0;
    struct err err = {0};
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word; (word = strsep(&rest, " ")) != NULL && count < 16;)
        list[count++] = word;
    if (!strstr(words, "speed=") && count < 16)
        list[count++] = "speed=SDR";
    if (topology_generate(&net->topology, kind, list, count, seed, &err) < 0)
        fail_msg("%s", err.message);
}

uint32_t net_star(struct net *net, unsigned hosts)
{
    uint32_t centre = net_switch(net, hosts);
    for (unsigned i = 1; i <= hosts; i++)
        net_link(net, net_adapter(net, 1), 1, centre, i);
    return centre;
}

uint32_t net_chain(struct net *net, unsigned switches)
{
    uint32_t first = net_adapter(net, 1), last = net_adapter(net, 1);
    uint32_t before = first, port = 1;
    for (unsigned i = 0; i < switches; i++) {
        uint32_t next = net_switch(net, 4);
        net_link(net, before, port, next, 1);
        before = next;
        port = 2;
    }
    net_link(net, before, port, last, 1);
    return first;
}

void net_ring(struct net *net, unsigned switches)
{
    for (unsigned i = 0; i < switches; i++)
        net_switch(net, 3);
    for (unsigned i = 0; i < switches; i++)
        net_link(net, i, 1, (i + 1) % switches, 2);
    for (unsigned i = 0; i < switches; i++)
        net_link(net, i, 3, net_adapter(net, 1), 1);
}

/* ---- observer ---- */

static void note_delivered(void *context, uint64_t now, const struct packet_view *packet)
{
    struct net *net = context;
    if (net->recording)
        vec_push(&net->deliveries, ((struct net_end){now, *packet}));
    net->received[packet->destination]++;
    net->received_bytes[packet->destination] += packet->bytes;
    net->vl_bytes[packet->sl] += packet->bytes;
    net->traffic_packets[packet->traffic % MOST_TRAFFICS]++;
}

static void note_lost(void *context, uint64_t now, const struct packet_view *packet,
                      enum loss cause, uint32_t port)
{
    struct net *net = context;
    (void)now, (void)packet;
    net->lost[cause]++;
    net->lost_at = port;
}

static void note_deadlock(void *context, uint64_t now, const char *cycle)
{
    struct net *net = context;
    (void)now;
    net->deadlocks++;
    snprintf(net->cycle, sizeof net->cycle, "%s", cycle);
}

static void note_port_changed(void *context, uint64_t now, uint32_t port, bool open)
{
    struct net *net = context;
    (void)now;
    assert_int_equal(fabric_port_passes_data(net->fabric, port), open);
    net->ports_opened += open;
    net->ports_closed += !open;
}

static struct data_path find_path(void *context, uint32_t source, uint32_t destination)
{
    const struct net *net = context;
    bool meant = net->multicast_for == TOPOLOGY_NONE || net->multicast_for == destination;
    (void)source;
    return (struct data_path){.dlid = net->multicast && meant ? net->multicast
                                                              : net->lids[destination]};
}

static bool prepare(void *context)
{
    const struct net *net = context;
    return !net->multicast;
}

/* ---- the fabric and its tables ---- */

static bool is_switch(const struct net *net, uint32_t node)
{
    return net->topology.nodes.items[node].kind == NODE_SWITCH;
}

static unsigned port_count(const struct net *net, uint32_t node)
{
    return net->topology.nodes.items[node].port_count;
}

static uint32_t node_at(const struct net *net, uint32_t port)
{
    return net->topology.ports.items[port].node;
}

/* In this thread, the last one first: whatever does not depend on the order of the partitions in a
 * window does not notice. */
static void run_backwards(const struct workers *workers, size_t jobs,
                          void (*job)(void *context, size_t index), void *context)
{
    (void)workers;
    while (jobs--)
        job(context, jobs);
}

/* Every test also runs with the fabric in partitions (meson.build): its expectations are the same.
 */
static void divide(struct fabric *fabric)
{
    static struct workers workers = {.run = run_backwards};
    const char *partitions = getenv("NET_PARTITIONS");
    if (!partitions)
        return;
    workers.count = (unsigned)atoi(partitions);
    fabric_set_workers(fabric, &workers);
    fabric_divide_always(fabric);
}

void net_begin(struct net *net, uint64_t seed)
{
    size_t ports = net->topology.ports.count, nodes = net->topology.nodes.count;
    uint16_t lid = 0;
    net->fabric = fabric_new(&net->topology, &net->options, seed);
    divide(net->fabric);
    net->lids = mem_zalloc(ports, sizeof *net->lids);
    net->links = mem_zalloc(ports, sizeof *net->links);
    net->received = mem_zalloc(ports, sizeof *net->received);
    net->received_bytes = mem_zalloc(ports, sizeof *net->received_bytes);
    net->tables = mem_zalloc(nodes, sizeof *net->tables);
    for (uint32_t port = 0; port < ports; port++)
        if (!is_switch(net, node_at(net, port)) &&
            net->topology.ports.items[port].peer != TOPOLOGY_NONE)
            net->lids[port] = ++lid;
    for (uint32_t node = 0; node < nodes; node++)
        if (is_switch(net, node)) {
            net->tables[node] = mem_alloc(net->options.node.agent.linear_entries);
            memset(net->tables[node], NET_NOWHERE, net->options.node.agent.linear_entries);
        }
    assert_true(lid < net->options.node.agent.linear_entries);
    fabric_observe_data(net->fabric, &(struct data_observer){.context = net,
                                                             .delivered = note_delivered,
                                                             .lost = note_lost,
                                                             .deadlock = note_deadlock,
                                                             .port_changed = note_port_changed});
    fabric_set_paths(net->fabric,
                     &(struct data_paths){.context = net, .find = find_path, .prepare = prepare});
}

/* ---- SMPs from a node to itself ---- */

static uint32_t own_end(const struct net *net, uint32_t node, unsigned port)
{
    return net_port(net, node, is_switch(net, node) ? 0 : port);
}

void net_post(struct net *net, uint32_t node, unsigned port, unsigned attribute, uint32_t modifier,
              const uint8_t data[SMP_DATA_BYTES])
{
    static uint64_t tid = 1;
    uint8_t mad[MAD_BYTES] = {0};
    struct packet_header header = {.dlid = LID_PERMISSIVE, .dest_qp = QP_SMI};
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_SUBN_DIRECTED);
    wire_set(mad, MAD_CLASS_VERSION, 1);
    wire_set(mad, MAD_METHOD, METHOD_SET);
    wire_set(mad, MAD_TID, tid++);
    wire_set(mad, MAD_ATTRIBUTE_ID, attribute);
    wire_set(mad, MAD_ATTRIBUTE_MODIFIER, modifier);
    wire_set(mad, SMP_DR_SLID, LID_PERMISSIVE);
    wire_set(mad, SMP_DR_DLID, LID_PERMISSIVE);
    memcpy(mad + SMP_DATA_OFFSET, data, SMP_DATA_BYTES);
    fabric_send(net->fabric, own_end(net, node, port), &header, mad);
}

void net_set(struct net *net, uint32_t node, unsigned port, unsigned attribute, uint32_t modifier,
             const uint8_t data[SMP_DATA_BYTES])
{
    struct fabric_delivery answer;
    uint32_t end = own_end(net, node, port);
    fabric_attach(net->fabric, end);
    net_post(net, node, port, attribute, modifier, data);
    assert_true(fabric_run(net->fabric, net_now(net) + TIME_S));
    assert_true(fabric_next_delivery(net->fabric, &answer));
    assert_int_equal(wire_get(answer.mad, MAD_ATTRIBUTE_ID), attribute);
    assert_int_equal(wire_get(answer.mad, SMP_STATUS), 0);
    fabric_detach(net->fabric, end);
}

static void fill_port(const struct net *net, uint32_t node, unsigned port, enum wire_field field,
                      uint64_t value, uint8_t data[SMP_DATA_BYTES])
{
    memcpy(data, fabric_port_info(net->fabric, net_port(net, node, port)), SMP_DATA_BYTES);
    wire_set(data, PORT_INFO_PORT_STATE, PORT_STATE_NO_CHANGE);
    wire_set(data, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(data, field, value);
}

void net_set_port(struct net *net, uint32_t node, unsigned port, enum wire_field field,
                  uint64_t value)
{
    uint8_t data[SMP_DATA_BYTES];
    fill_port(net, node, port, field, value, data);
    net_set(net, node, port, ATTRIBUTE_PORT_INFO, port, data);
}

void net_post_port(struct net *net, uint32_t node, unsigned port, enum wire_field field,
                   uint64_t value)
{
    uint8_t data[SMP_DATA_BYTES];
    fill_port(net, node, port, field, value, data);
    net_post(net, node, port, ATTRIBUTE_PORT_INFO, port, data);
}

void net_map(struct net *net, uint32_t node, unsigned input, unsigned output, unsigned sl,
             unsigned vl)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    for (unsigned i = 0; i < 16; i++)
        wire_set_at(data, SL2VL_TABLE_VL, i, i % net->options.node.agent.data_vls);
    wire_set_at(data, SL2VL_TABLE_VL, sl, vl);
    net_set(net, node, output, ATTRIBUTE_SL2VL_TABLE, input << 8 | output, data);
}

void net_arbitrate(struct net *net, uint32_t node, unsigned port, bool high, const char *entries)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned vl, weight, at = 0;
    int used;
    for (; sscanf(entries, "%u:%u%n", &vl, &weight, &used) == 2; entries += used, at++) {
        wire_set_at(data, VL_ARBITRATION_TABLE_VL, at, vl);
        wire_set_at(data, VL_ARBITRATION_TABLE_WEIGHT, at, weight);
    }
    net_set(net, node, port, ATTRIBUTE_VL_ARBITRATION_TABLE, (high ? 3u : 1u) << 16 | port, data);
}

void net_p_key(struct net *net, uint32_t node, unsigned port, uint16_t p_key)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set_at(data, P_KEY_TABLE_P_KEY, 0, p_key);
    net_set(net, node, port, ATTRIBUTE_P_KEY_TABLE, is_switch(net, node) ? port << 16 : 0, data);
}

void net_multicast(struct net *net, uint32_t node, uint16_t mlid, uint16_t port_mask)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    unsigned index = mlid - LID_MULTICAST_FIRST;
    wire_set_at(data, MULTICAST_FORWARDING_TABLE_PORT_MASK, index % 32, port_mask);
    net_set(net, node, 0, ATTRIBUTE_MULTICAST_FORWARDING_TABLE, index / 32, data);
}

static unsigned last_lid(const struct net *net)
{
    unsigned last = 0;
    for (size_t port = 0; port < net->topology.ports.count; port++)
        last = net->lids[port] > last ? net->lids[port] : last;
    return last;
}

void net_write_table(struct net *net, uint32_t node)
{
    for (unsigned block = 0; block <= last_lid(net) / 64; block++)
        net_set(net, node, 0, ATTRIBUTE_LINEAR_FORWARDING_TABLE, block,
                net->tables[node] + block * 64);
}

void net_program(struct net *net, uint32_t node)
{
    for (unsigned block = 0; is_switch(net, node) && block <= last_lid(net) / 64; block++)
        net_post(net, node, 0, ATTRIBUTE_LINEAR_FORWARDING_TABLE, block,
                 net->tables[node] + block * 64);
    for (unsigned number = 1; number <= port_count(net, node); number++) {
        uint32_t port = net_port(net, node, number);
        if (!fabric_link_is_up(net->fabric, port))
            continue;
        uint8_t data[SMP_DATA_BYTES];
        fill_port(net, node, number, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE, data);
        if (net->lids[port])
            wire_set(data, PORT_INFO_LID, net->lids[port]);
        net_post(net, node, number, ATTRIBUTE_PORT_INFO, number, data);
    }
}

void net_bring_up(struct net *net)
{
    for (uint32_t node = 0; node < net->topology.nodes.count; node++) {
        if (is_switch(net, node))
            net_write_table(net, node);
        for (unsigned number = 1; number <= port_count(net, node); number++) {
            uint32_t port = net_port(net, node, number);
            if (net->topology.ports.items[port].peer == TOPOLOGY_NONE)
                continue;
            if (net->lids[port])
                net_set_port(net, node, number, PORT_INFO_LID, net->lids[port]);
            net_set_port(net, node, number, PORT_INFO_PORT_STATE, PORT_STATE_ARMED);
            net_set_port(net, node, number, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
        }
    }
    net_forget(net);
}

void net_end(struct net *net)
{
    net_check(net);
    for (size_t i = 0; i < net->topology.nodes.count; i++)
        mem_free(net->tables[i]);
    mem_free(net->tables);
    mem_free(net->lids);
    mem_free(net->links);
    mem_free(net->received);
    mem_free(net->received_bytes);
    vec_release(&net->deliveries);
    fabric_free(net->fabric);
    topology_release(&net->topology);
}

/* ---- traffic ---- */

struct traffic net_traffic(const struct net *net)
{
    struct traffic traffic;
    traffic_init(&traffic, 256);
    traffic.arrival = ARRIVAL_SATURATED;
    traffic.start_ps = net_now(net);
    return traffic;
}

void net_member(struct traffic *traffic, uint32_t sender, uint32_t receiver)
{
    if (sender != TOPOLOGY_NONE)
        vec_push(&traffic->senders, sender);
    if (receiver != TOPOLOGY_NONE)
        vec_push(&traffic->receivers, receiver);
}

void net_everybody(const struct net *net, struct traffic *traffic)
{
    for (uint32_t port = 0; port < net->topology.ports.count; port++)
        if (net->lids[port])
            net_member(traffic, port, port);
}

unsigned net_start(struct net *net, struct traffic *traffic)
{
    struct err err = {0};
    if (fabric_check_traffic(net->fabric, traffic, &err) < 0)
        fail_msg("%s", err.message);
    net->traffics = fabric_add_traffic(net->fabric, traffic) + 1;
    traffic_release(traffic);
    return net->traffics - 1;
}

unsigned net_flow(struct net *net, uint32_t from, uint32_t to, unsigned payload, unsigned sl)
{
    struct traffic traffic = net_traffic(net);
    net_member(&traffic, from, to);
    traffic.sizes[0].payload_bytes = payload;
    traffic.sl = (uint8_t)sl;
    return net_start(net, &traffic);
}

void net_packet(struct net *net, uint32_t from, uint32_t to, unsigned payload, unsigned sl)
{
    struct traffic traffic = net_traffic(net);
    net_member(&traffic, from, to);
    traffic.pattern = PATTERN_TRACE;
    traffic.sl = (uint8_t)sl;
    vec_push(&traffic.trace, ((struct traffic_trace_entry){.payload_bytes = payload}));
    net_start(net, &traffic);
}

void net_stop_all(struct net *net)
{
    for (unsigned i = 0; i < net->traffics; i++)
        fabric_stop_traffic(net->fabric, i);
}

void net_drain(struct net *net, uint64_t limit)
{
    uint64_t end = net_now(net) + limit;
    net_stop_all(net);
    while (net_now(net) < end) {
        net_run(net, TIME_MS < limit ? TIME_MS : limit);
        struct data_totals totals = net_totals(net);
        if (!totals.travelling && !totals.waiting)
            return;
    }
    fail_msg("%llu packets travel and %llu wait for ever",
             (unsigned long long)net_totals(net).travelling,
             (unsigned long long)net_totals(net).waiting);
}

/* ---- running ---- */

uint64_t net_now(const struct net *net)
{
    return fabric_network_time(net->fabric);
}

/* No link was busy for longer than the time since the last check, including the whole packet that
 * is being sent; unless it was down meanwhile. */
static void check_capacity(struct net *net, uint32_t index)
{
    const struct port *port = &net->fabric->ports[index];
    struct net_usage *link = &net->links[index];
    uint64_t horizon = port->free_at > net_now(net) ? port->free_at : net_now(net);
    if (port->epoch == link->epoch && port->busy_ps - link->busy_ps > horizon - link->horizon)
        fail_msg("port %u has sent for %llu ps in %llu", index,
                 (unsigned long long)(port->busy_ps - link->busy_ps),
                 (unsigned long long)(horizon - link->horizon));
    *link = (struct net_usage){port->busy_ps, horizon, port->epoch};
}

void net_check(struct net *net)
{
    struct err err = {0};
    if (fabric_check_data(net->fabric, &err) < 0)
        fail_msg("%s", err.message);
    for (uint32_t port = 0; port < net->topology.ports.count; port++)
        check_capacity(net, port);
}

void net_run_until(struct net *net, uint64_t time)
{
    struct fabric_delivery delivery;
    while (fabric_run(net->fabric, time))
        fabric_next_delivery(net->fabric, &delivery);
    net_check(net);
}

void net_run(struct net *net, uint64_t ps)
{
    net_run_until(net, net_now(net) + ps);
}

struct data_totals net_totals(struct net *net)
{
    struct data_totals totals;
    fabric_data_totals(net->fabric, &totals);
    return totals;
}

uint64_t net_lost(struct net *net)
{
    struct data_totals totals = net_totals(net);
    uint64_t sum = 0;
    for (unsigned cause = 0; cause < LOSS_CAUSES; cause++)
        sum += totals.lost[cause];
    return sum;
}

void net_forget(struct net *net)
{
    size_t ports = net->topology.ports.count;
    net->deliveries.count = 0;
    memset(net->received, 0, ports * sizeof *net->received);
    memset(net->received_bytes, 0, ports * sizeof *net->received_bytes);
    memset(net->vl_bytes, 0, sizeof net->vl_bytes);
    memset(net->traffic_packets, 0, sizeof net->traffic_packets);
    memset(net->lost, 0, sizeof net->lost);
}

double net_share(const struct net *net, uint32_t port, uint64_t since)
{
    return (double)net_wire(net, port, net->received_bytes[port]) / (double)(net_now(net) - since);
}

uint64_t net_wire(const struct net *net, uint32_t port, uint64_t bytes)
{
    const struct topology_port *described = &net->topology.ports.items[port];
    uint64_t each = 64 * TIME_S / link_data_rate(described->width, described->speed);
    return (bytes * each + 7) / 8;
}
