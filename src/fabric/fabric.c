/* Creates a fabric from its topology, runs its two clocks, and serves its consumers. */
#include "fabric/internal.h"
#include "fabric/partitions.h"

#include <assert.h>
#include <string.h>

/* The speed of the fastest link of a node: that of its other ports, whose cable may be slower.
 * FDR10 is not compared. */
static enum link_speed best_speed(const struct topology *topology, const struct topology_node *node,
                                  const struct topology_port *port)
{
    enum link_speed best = port->speed;
    for (unsigned number = 1; number <= node->port_count && best != SPEED_FDR10; number++) {
        const struct topology_port *other = &topology->ports.items[node->first_port + number];
        if (other->peer != TOPOLOGY_NONE && other->speed != SPEED_FDR10 && other->speed > best)
            best = other->speed;
    }
    return best;
}

/* A port supports every width up to that of its link, and every speed up to that of its node. */
static void set_link_support(struct sma *sma, unsigned number, const struct topology_port *port,
                             enum link_speed speed)
{
    static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};
    unsigned width_mask = 0;
    for (unsigned i = 0; i < sizeof widths; i++)
        if (widths[i] == WIDTH_2X
                ? port->width == WIDTH_2X
                : link_width_multiple(widths[i]) <= link_width_multiple(port->width))
            width_mask |= widths[i];
    sma_set_link_support(sma, number, (uint8_t)width_mask, (uint8_t)link_speed_mask(speed),
                         (uint8_t)link_speed_ext_mask(speed), speed == SPEED_FDR10);
}

void fabric_init_node(struct fabric *fabric, uint32_t index)
{
    const struct topology_node *described = &fabric->topology->nodes.items[index];
    struct node *node = &fabric->nodes[index];
    struct sma_identity identity = {
        .kind = described->kind,
        .port_count = described->port_count,
        .guid = described->guid,
        .system_guid = described->system_guid,
        .vendor_id = described->vendor_id,
        .device_id = described->device_id,
        .enhanced_port0 = described->enhanced_port0,
        .description = described->description,
    };
    node->options = fabric_options_for(&fabric->options, described->name, described->description,
                                       described->kind == NODE_SWITCH);
    sma_init(&node->sma, &identity, &node->options.agent);
    for (unsigned number = 0; number <= described->port_count; number++) {
        const struct topology_port *port =
            &fabric->topology->ports.items[described->first_port + number];
        sma_set_port_guid(&node->sma, number, port->guid);
        set_link_support(&node->sma, number, port, best_speed(fabric->topology, described, port));
    }
    node->up = true;
    node->is_switch = described->kind == NODE_SWITCH;
    node->first_port = described->first_port;
    node->timer_at = TIME_NEVER;
}

/* Joins a virtual switch and the functions behind its ports into one device. */
void fabric_join_device(struct fabric *fabric, uint32_t index)
{
    const struct topology_node *described = &fabric->topology->nodes.items[index];
    for (unsigned number = 1; number <= described->port_count; number++) {
        uint32_t own = described->first_port + number;
        uint32_t peer = fabric->topology->ports.items[own].peer;
        if (peer == TOPOLOGY_NONE)
            continue;
        uint32_t other = fabric->topology->ports.items[peer].node;
        unsigned far = topology_port_number(fabric->topology, peer);
        if (fabric->nodes[index].sma.device &&
            fabric->topology->nodes.items[other].kind == NODE_ADAPTER)
            sma_join_device(&fabric->nodes[index].sma, number, &fabric->nodes[other].sma, far);
        else if (fabric->nodes[other].sma.device && described->kind == NODE_ADAPTER)
            sma_join_device(&fabric->nodes[other].sma, far, &fabric->nodes[index].sma, number);
    }
}

/* Ports start with the LIDs of the file, as in hardware that an earlier manager configured. */
static void set_initial_lids(struct fabric *fabric)
{
    const struct topology *topology = fabric->topology;
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        if (port->lid && shared_physical_port(fabric, i) == i)
            sma_set_lid(&fabric->nodes[port->node].sma, topology_port_number(topology, i),
                        port->lid, port->lmc);
    }
}

static uint64_t cost_ps(struct cost cost, uint32_t nodes)
{
    return cost.base_ps + cost.per_node_ps * nodes;
}

struct fabric *fabric_new(const struct topology *topology, const struct fabric_options *options,
                          uint64_t seed)
{
    struct fabric *fabric = mem_zalloc(1, sizeof *fabric);
    fabric->topology = topology;
    fabric->options = *options;
    fabric->seed = seed;
    fabric->network = des_new();
    fabric->timers = des_new();
    fabric->node_count = (uint32_t)topology->nodes.count;
    fabric->port_count = (uint32_t)topology->ports.count;
    fabric->nodes = mem_zalloc(fabric->node_count, sizeof *fabric->nodes);
    fabric->ports = mem_zalloc_lines(fabric->port_count, sizeof *fabric->ports);
    fabric->smi_ps = cost_ps(options->smi, fabric->node_count);
    fabric->sma_ps = cost_ps(options->sma, fabric->node_count);
    fabric->routing_ps = cost_ps(options->routing, fabric->node_count);
    /* A LID-routed packet passes no switch twice unless the LFTs loop, or change while it travels:
     * hence twice the number of switches, and a margin. */
    fabric->hop_limit = 64;
    for (uint32_t i = 0; i < fabric->node_count; i++) {
        fabric_init_node(fabric, i);
        fabric->hop_limit += fabric->nodes[i].is_switch ? 2 : 0;
    }
    set_initial_lids(fabric);
    for (uint32_t i = 0; i < fabric->node_count; i++)
        if (fabric->nodes[i].sma.device)
            fabric_join_device(fabric, i);
    for (uint32_t i = 0; i < fabric->port_count; i++) {
        const struct topology_port *described = &topology->ports.items[i];
        struct port *port = &fabric->ports[i];
        port->node = described->node;
        port->number = (uint8_t)topology_port_number(topology, i);
        port->peer = described->peer == TOPOLOGY_NONE ? NONE : described->peer;
        port->cable = port->peer != NONE;
        port->sent_vl = port->held = NONE;
        port->flight_ps = described->length_mm * options->flight_ps_per_m / 1000;
        rng_seed(&port->rng, seed, i);
    }
    shared_join(fabric, NONE);
    /* Links start trained. */
    for (uint32_t i = 0; i < fabric->port_count; i++)
        if (fabric->ports[i].peer != NONE && i < fabric->ports[i].peer)
            link_trained(fabric, i);
    return fabric;
}

void fabric_free(struct fabric *fabric)
{
    if (!fabric)
        return;
    for (uint32_t i = 0; i < fabric->node_count; i++)
        sma_release(&fabric->nodes[i].sma);
    data_release(fabric);
    des_free(fabric->network);
    des_free(fabric->timers);
    mem_free(fabric->nodes);
    mem_free(fabric->ports);
    vec_release(&fabric->deliveries);
    vec_release(&fabric->packets);
    vec_release(&fabric->multicasts);
    vec_release(&fabric->losses);
    vec_release(&fabric->bad_cables);
    vec_release(&fabric->faults);
    map_release(&fabric->proxied);
    mem_free(fabric->pcap_interfaces);
    partitions_free(fabric);
    mem_free(fabric);
}

const struct topology *fabric_topology(const struct fabric *fabric)
{
    return fabric->topology;
}

void fabric_set_interrupt(struct fabric *fabric, const volatile sig_atomic_t *interrupt)
{
    fabric->interrupt = interrupt;
}

bool fabric_is_interrupted(const struct fabric *fabric)
{
    return fabric->interrupt && *fabric->interrupt;
}

void fabric_attach(struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count && fabric->ports[port].consumers < UINT16_MAX);
    fabric->ports[port].consumers++;
    if (shared_physical_port(fabric, port) != port)
        fabric->ports[shared_physical_port(fabric, port)].consumers++;
}

void fabric_detach(struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count && fabric->ports[port].consumers > 0);
    fabric->ports[port].consumers--;
    if (shared_physical_port(fabric, port) != port)
        fabric->ports[shared_physical_port(fabric, port)].consumers--;
}

void fabric_set_manager(struct fabric *fabric, uint32_t index, bool manager)
{
    assert(index < fabric->port_count);
    struct port *port = &fabric->ports[index];
    bool before = port->managers > 0;
    if (!manager && !before)
        return;
    fabric_unite(fabric);
    port->managers += manager ? 1u : -1u;
    if (before == (port->managers > 0))
        return;
    fabric->totals.managers += before ? -1u : 1u;
    sma_report_capability(&node_of(fabric, index)->sma, port->number, before ? 0 : FABRIC_IS_SM,
                          before ? FABRIC_IS_SM : 0);
    node_service_agent(fabric, port->node);
}

void fabric_send(struct fabric *fabric, uint32_t port, const struct packet_header *header,
                 const uint8_t mad[MAD_BYTES])
{
    port = shared_send(fabric, port, mad);
    if (port == NONE)
        return;
    fabric_unite(fabric);
    uint32_t number = packet_new(fabric);
    struct packet *packet = packet_at(fabric, number);
    const uint8_t *info = fabric_port_info(fabric, port);
    unsigned paths = (1u << wire_get(info, PORT_INFO_LMC)) - 1;
    packet->header = *header;
    packet->header.slid = (uint16_t)(wire_get(info, PORT_INFO_LID) | (header->slid & paths));
    packet->header.sl &= 15;
    memcpy(packet->mad, mad, MAD_BYTES);
    packet->header.src_qp = mad_is_smp(mad) ? QP_SMI : QP_GSI;
    if (header->global)
        packet->bytes += PACKET_GRH_BYTES;
    node_inject(fabric, port, number);
}

void fabric_deliver(struct fabric *fabric, uint32_t port, const struct packet *packet)
{
    vec_reserve(&fabric->deliveries, fabric->deliveries.count + 1);
    struct fabric_delivery *delivery = &fabric->deliveries.items[fabric->deliveries.count++];
    delivery->port = shared_receiver(fabric, port, packet->mad);
    delivery->header = packet->header;
    memcpy(delivery->mad, packet->mad, MAD_BYTES);
    fabric->totals.deliveries++;
}

bool fabric_next_delivery(struct fabric *fabric, struct fabric_delivery *delivery)
{
    assert(fabric->taken <= fabric->deliveries.count);
    if (!fabric->deliveries.count)
        return false;
    *delivery = fabric->deliveries.items[fabric->taken];
    fabric->taken = vec_drop_taken(&fabric->deliveries, fabric->taken + 1);
    return true;
}

__attribute__((always_inline)) static inline void dispatch_event(struct fabric *fabric,
                                                                 const struct event *event)
{
    fabric->totals.events++;
    switch ((enum event_kind)event->kind) {
    case EVENT_ARRIVE: node_receive(fabric, (uint32_t)event->b, event->a); break;
    case EVENT_FORWARD: link_output(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_SENT: link_sent(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_AGENT: node_agent_done(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_TRAINED: link_trained(fabric, event->a); break;
    case EVENT_LINK_COMMAND:
        if (event->b >> 32 == node_of(fabric, event->a)->life)
            link_command(fabric, event->a, (uint32_t)event->b);
        break;
    case EVENT_TIMER:
        fabric->nodes[event->a].timer_at = TIME_NEVER;
        counters_fold(fabric, event->a); /* for samples of counters */
        sma_expire(&fabric->nodes[event->a].sma, des_now(fabric->timers));
        node_service_agent(fabric, event->a);
        break;
    case EVENT_BIT_ERRORS: faults_count_bit_errors(fabric, event->a); break;
    case EVENT_HEADER:
    case EVENT_PACKET: input_vl_receive(fabric, (uint32_t)event->b, event->a); break;
    case EVENT_CONNECT: input_vl_connect(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_UNIT_FREE: routing_unit_free(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_CROSSED: input_vl_crossed(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_CREDITS: credits_receive(fabric, event->a, event->b); break;
    case EVENT_REFRESH: credits_repeat(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_SOURCE: sender_due(fabric, event->a); break;
    case EVENT_RETRY: sender_retry(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_INPUT_LIFE: data_port_expire(fabric, event->a, false); break;
    case EVENT_OUTPUT_LIFE: data_port_expire(fabric, event->a, true); break;
    case EVENT_DEADLOCK: deadlock_check(fabric); break;
    case EVENT_IN_MEMORY: host_bus_written(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_VM: vm_attached(fabric, event->a, (uint32_t)event->b); break;
    case EVENT_TRANSPORT: transport_port_due(fabric, event->a); break;
    }
}

/* For all but the loops below, into which the compiler inlines the dispatch. */
__attribute__((noinline)) void fabric_handle_event(struct fabric *fabric, const struct event *event)
{
    dispatch_event(fabric, event);
}

uint64_t fabric_manager_cost(const struct fabric *fabric)
{
    return cost_ps(fabric->options.manager, fabric->node_count);
}

uint64_t fabric_network_time(const struct fabric *fabric)
{
    return des_now(fabric->network);
}

uint64_t fabric_next_network_event(struct fabric *fabric)
{
    fabric_unite(fabric);
    return des_next_time(fabric->network);
}

uint64_t fabric_next_timer(struct fabric *fabric)
{
    return des_next_time(fabric->timers);
}

bool fabric_run_network(struct fabric *fabric, uint64_t until)
{
    struct event event;
    fabric_unite(fabric);
    while (!fabric->deliveries.count && des_pop(fabric->network, until, &event))
        fabric_handle_event(fabric, &event);
    return fabric->deliveries.count > 0;
}

void fabric_advance(struct fabric *fabric, uint64_t time)
{
    if (des_next_time(fabric->network) >= time)
        des_advance(fabric->network, time);
    if (des_next_time(fabric->timers) >= time)
        des_advance(fabric->timers, time);
}

void fabric_advance_network(struct fabric *fabric, uint64_t time)
{
    if (des_next_time(fabric->network) == TIME_NEVER && des_now(fabric->network) < time)
        des_advance(fabric->network, time);
}

void fabric_run_timers(struct fabric *fabric, uint64_t until)
{
    struct event event;
    fabric_unite(fabric);
    while (des_pop(fabric->timers, until, &event))
        fabric_handle_event(fabric, &event);
}

/* On large fabrics nearly all that an event needs is a cache miss. What upcoming events of a FIFO
 * need is therefore prefetched in steps, each at a smaller distance: a step only reads what the
 * step before it has prefetched. Between two events of one FIFO there are some three of others.
 *
 * GCC drops calls of functions that only prefetch: it regards them as functions without an effect.
 * All steps are therefore inlined into one function that has an effect for the compiler. */
#define HINT __attribute__((always_inline)) static inline
enum { AHEAD_EVENT = 16, AHEAD_NAMED = 8, AHEAD_REFERRED = 6, AHEAD_ENTRY = 4, AHEAD_OUTPUT = 2 };

/* What the event names. */
HINT void prefetch_named(const struct fabric *fabric, const struct event *event)
{
    const struct data *data = fabric->data;
    bool by_vl = event->kind == EVENT_CONNECT || event->kind == EVENT_CROSSED;
    uint32_t port_vl = by_vl ? event->a : port_vl_of(fabric, event->a, event->b & 15);
    const struct port *port = &fabric->ports[by_vl ? port_of(fabric, event->a) : event->a];
    switch (event->kind) {
    case EVENT_HEADER:
    case EVENT_PACKET:
        __builtin_prefetch(&data->data_packets.items[event->b]);
        __builtin_prefetch(port);
        __builtin_prefetch(event->kind == EVENT_HEADER ? (const void *)&port->arbiter : &port->lid);
        break;
    case EVENT_CONNECT:
    case EVENT_CROSSED:
        __builtin_prefetch(&data->inputs[port_vl]);
        __builtin_prefetch(port);
        break;
    case EVENT_CREDITS:
        __builtin_prefetch(port);
        __builtin_prefetch(&data->outputs[port_vl]);
        __builtin_prefetch(&data->inputs[port_vl]);
        break;
    case EVENT_SENT:
        __builtin_prefetch(port);
        __builtin_prefetch(&port->arbiter);
        break;
    case EVENT_UNIT_FREE: __builtin_prefetch(&data->switch_cores[event->a]); break;
    default: break;
    }
}

/* A port that is about to send frees the room of the packet that it has sent last. */
HINT void prefetch_sent(const struct fabric *fabric, const struct port *port)
{
    if (port->sent_vl != NONE)
        __builtin_prefetch(output_at((struct fabric *)fabric, port->sent_vl));
}

/* What that refers to. */
HINT void prefetch_referred(const struct fabric *fabric, const struct event *event)
{
    const struct data *data = fabric->data;
    bool by_vl = event->kind == EVENT_CONNECT || event->kind == EVENT_CROSSED;
    const struct port *port = &fabric->ports[by_vl ? port_of(fabric, event->a) : event->a];
    uint32_t number;
    switch (event->kind) {
    case EVENT_HEADER:
    case EVENT_PACKET:
        number = port_vl_of(fabric, event->a, data->data_packets.items[event->b].vl);
        __builtin_prefetch(&data->switch_cores[port->node]);
        __builtin_prefetch(&data->inputs[number]);
        __builtin_prefetch(&data->outputs[number]); /* its credits are sent in packets' gaps */
        prefetch_sent(fabric, port);
        break;
    case EVENT_CONNECT:
        number = data->inputs[event->a].queue.head;
        __builtin_prefetch(&data->switch_cores[port->node]);
        if (number != NONE)
            __builtin_prefetch(&data->data_packets.items[number]);
        break;
    case EVENT_CROSSED:
        number = data->inputs[event->a].crossing;
        __builtin_prefetch(&data->switch_cores[port->node]);
        __builtin_prefetch(&data->outputs[event->a]);
        __builtin_prefetch(&port->arbiter);
        prefetch_sent(fabric, port);
        if (number == NONE)
            break;
        __builtin_prefetch(&data->outputs[number]);
        __builtin_prefetch(&fabric->ports[port_of(fabric, number)]);
        break;
    case EVENT_CREDITS:
        number = data->outputs[port_vl_of(fabric, event->a, event->b & 15)].queue.head;
        if (number == NONE)
            break;
        __builtin_prefetch(&data->data_packets.items[number]);
        __builtin_prefetch(&port->arbiter);
        prefetch_sent(fabric, port);
        break;
    case EVENT_SENT: prefetch_sent(fabric, port); break;
    default: break;
    }
}

/* The entry of the LFT for the head of an input VL, or NULL. */
HINT const uint8_t *entry_of_head(const struct fabric *fabric, uint32_t port_vl)
{
    const struct data *data = fabric->data;
    uint32_t number = data->inputs[port_vl].queue.head;
    uint32_t node = fabric->ports[port_of(fabric, port_vl)].node;
    const struct switch_core *switch_core = &data->switch_cores[node];
    if (number == NONE || !switch_core->linear)
        return NULL;
    unsigned dlid = data->data_packets.items[number].dlid;
    return dlid <= switch_core->linear_top ? &switch_core->linear[dlid] : NULL;
}

/* The output to which a packet will be routed. Its VL is a guess. */
HINT void prefetch_output(const struct fabric *fabric, uint32_t port_vl)
{
    const struct data *data = fabric->data;
    const uint8_t *entry = entry_of_head(fabric, port_vl);
    uint32_t node = fabric->ports[port_of(fabric, port_vl)].node;
    const struct switch_core *switch_core = &data->switch_cores[node];
    if (!entry || *entry > switch_core->port_count)
        return;
    uint32_t output = switch_core->first_port + *entry;
    __builtin_prefetch(&fabric->ports[output]);
    __builtin_prefetch(&fabric->ports[output].arbiter);
    __builtin_prefetch(&data->outputs[port_vl_of(fabric, output, vl_of(fabric, port_vl))]);
}

/* Senders wait in the heap: what the next one needs, and the one that is next after it. */
HINT void prefetch_senders(const struct fabric *fabric)
{
    const struct data *data = fabric->data;
    struct des_place place;
    if (des_first_of_heap(fabric->network, 1, &place) && place.kind == EVENT_SOURCE)
        for (size_t at = 0; at < sizeof(struct sender); at += 64)
            __builtin_prefetch((const char *)&data->senders.items[place.a] + at);
    if (!des_first_of_heap(fabric->network, 0, &place) || place.kind != EVENT_SOURCE)
        return;
    uint32_t index = data->senders.items[place.a].port;
    if (index >= fabric->port_count) /* that of a VM which is nowhere */
        return;
    const struct port *port = &fabric->ports[index];
    __builtin_prefetch(port);
    __builtin_prefetch(&port->arbiter);
    for (unsigned vl = 0; vl < 1u << data->vl_shift && vl < 4; vl++)
        __builtin_prefetch(&data->outputs[port_vl_of(fabric, index, vl)]);
}

__attribute__((noinline)) static void prefetch_upcoming(const struct fabric *fabric, uint32_t kind)
{
    __asm__ volatile(""); /* the effect */
    const struct des *des = fabric->network;
    const struct event *next;
    if (kind == EVENT_SOURCE) {
        prefetch_senders(fabric);
        return;
    }
    if ((next = des_upcoming(des, AHEAD_EVENT)) != NULL)
        __builtin_prefetch(next);
    if ((next = des_upcoming(des, AHEAD_NAMED)) != NULL)
        prefetch_named(fabric, next);
    if ((next = des_upcoming(des, AHEAD_REFERRED)) != NULL)
        prefetch_referred(fabric, next);
    if (kind != EVENT_CONNECT)
        return;
    if ((next = des_upcoming(des, AHEAD_ENTRY)) != NULL)
        __builtin_prefetch(entry_of_head(fabric, next->a));
    if ((next = des_upcoming(des, AHEAD_OUTPUT)) != NULL)
        prefetch_output(fabric, next->a);
}

/* Until totals.events reaches `events`; UINT64_MAX, a constant: without that test. */
__attribute__((always_inline)) static inline enum fabric_pause
run_events(struct fabric *fabric, uint64_t until, uint64_t events)
{
    struct event event;
    while (!fabric->deliveries.count) {
        uint64_t timer = des_next_time(fabric->timers);
        if (fabric->interrupt && *fabric->interrupt)
            return PAUSE_END;
        if (events != UINT64_MAX && fabric->totals.events >= events)
            return PAUSE_EVENTS;
        if (des_pop(fabric->network, until < timer ? until : timer, &event)) {
            if (event.kind < EVENT_DEADLOCK)
                des_advance(fabric->timers, des_now(fabric->network));
            else if (fabric->data && fabric->data->is_large)
                prefetch_upcoming(fabric, event.kind);
        } else if (timer > until || !des_pop(fabric->timers, until, &event)) {
            if (until != TIME_NEVER)
                des_advance(fabric->timers, until);
            return PAUSE_END;
        }
        dispatch_event(fabric, &event);
    }
    return PAUSE_DELIVERY;
}

enum fabric_pause fabric_run_events(struct fabric *fabric, uint64_t until, uint64_t events)
{
    return run_events(fabric, until, events);
}

void fabric_run_partition(struct partition *partition, uint64_t until)
{
    struct fabric *fabric = &partition->fabric;
    struct event event;
    partition->event = &event;
    while (des_pop(fabric->network, until, &event)) {
        if (fabric->data->is_large)
            prefetch_upcoming(fabric, event.kind);
        dispatch_event(fabric, &event);
    }
}

bool fabric_run(struct fabric *fabric, uint64_t until)
{
    return fabric->partitions ? partitions_run(fabric, until)
                              : run_events(fabric, until, UINT64_MAX) == PAUSE_DELIVERY;
}

const uint8_t *fabric_node_info(const struct fabric *fabric, uint32_t node)
{
    assert(node < fabric->node_count);
    return fabric->nodes[node].sma.node_info;
}

const uint8_t *fabric_port_info(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    const struct port *p = &fabric->ports[shared_physical_port(fabric, port)];
    return fabric->nodes[p->node].sma.ports[p->number].info;
}

unsigned fabric_p_keys(const struct fabric *fabric, uint32_t port, uint16_t *p_keys, unsigned room)
{
    assert(port < fabric->port_count);
    port = shared_physical_port(fabric, port);
    const struct sma *sma = &fabric->nodes[fabric->ports[port].node].sma;
    unsigned count = sma->options.p_keys < room ? sma->options.p_keys : room;
    memcpy(p_keys, sma->ports[fabric->ports[port].number].p_keys, count * sizeof *p_keys);
    return count;
}

unsigned fabric_p_key_index(const struct fabric *fabric, uint32_t port, uint16_t p_key)
{
    port = shared_physical_port(fabric, port);
    const struct sma *sma = &fabric->nodes[fabric->ports[port].node].sma;
    const uint16_t *keys = sma->ports[fabric->ports[port].number].p_keys;
    for (unsigned i = 0; i < sma->options.p_keys; i++)
        if ((keys[i] & 0x7fff) == (p_key & 0x7fff))
            return i;
    return 0;
}

const uint8_t *fabric_linear_table(const struct fabric *fabric, uint32_t node, unsigned *top)
{
    const struct sma *sma = &fabric->nodes[node].sma;
    *top = (unsigned)wire_get(sma->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
    return sma_linear_table(sma);
}

unsigned fabric_route(const struct fabric *fabric, uint32_t node, unsigned lid)
{
    assert(node < fabric->node_count && fabric->nodes[node].is_switch);
    return sma_route_unicast(&fabric->nodes[node].sma, lid);
}

unsigned fabric_map_sl(const struct fabric *fabric, uint32_t node, unsigned input, unsigned output,
                       unsigned sl)
{
    assert(node < fabric->node_count);
    return sma_map_sl(&fabric->nodes[node].sma, input, output, sl);
}

uint64_t fabric_port_guid(const struct fabric *fabric, uint32_t port, unsigned index)
{
    assert(port < fabric->port_count);
    const struct port *p = &fabric->ports[port];
    const struct node *node = &fabric->nodes[p->node];
    bool end_port = node->is_switch ? p->number == 0 : p->number != 0;
    unsigned guids = end_port ? node->sma.options.guids : 1;
    return index < guids ? node->sma.ports[p->number].guids[index] : 0;
}

void fabric_totals(const struct fabric *fabric, struct fabric_totals *totals)
{
    *totals = fabric->totals;
    uint32_t links = 0;
    totals->links_idle = 0;
    for (uint32_t i = 0; i < fabric->port_count; i++)
        if (fabric->ports[i].peer != NONE && fabric->ports[i].peer > i) {
            links++;
            totals->links_idle += fabric_link_is_idle(fabric, i);
        }
    assert(links >= totals->links_idle + totals->links_up);
    totals->links_down = links - totals->links_idle - totals->links_up;
}

uint64_t fabric_trace_hash(const struct fabric *fabric)
{
    return fabric->trace + (fabric->data ? fabric->data->trace : 0);
}

bool fabric_link_is_up(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    return fabric->ports[port].up;
}

bool fabric_link_is_idle(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    uint32_t peer = fabric->ports[port].peer;
    return peer != NONE && fabric->ports[port].cable && fabric->ports[peer].cable &&
           (!sma_needs_link(&fabric->nodes[fabric->ports[port].node].sma) ||
            !sma_needs_link(&fabric->nodes[fabric->ports[peer].node].sma));
}

bool fabric_node_is_up(const struct fabric *fabric, uint32_t node)
{
    assert(node < fabric->node_count);
    return fabric->nodes[node].up;
}

const struct sma_counters *fabric_counters(const struct fabric *fabric, uint32_t port)
{
    const struct port *p = &fabric->ports[port];
    if (fabric->data)
        counters_fold_port(fabric, port);
    return &fabric->nodes[p->node].sma.ports[p->number].counters;
}
