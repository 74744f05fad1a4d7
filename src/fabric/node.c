/* Nodes: packets that arrive, and packets that are made here.
 *
 * A directed SMP follows its path (smi.c), everything else the tables that a manager wrote into the
 * agent. Requests to the node itself wait for its agent, which takes a processing time for each.
 * What the agent does not handle goes to a consumer attached at that port, if there is one. */
#include "fabric/internal.h"
#include "wire/pcap.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <string.h>

static uint32_t port_index(const struct node *node, unsigned number)
{
    return node->first_port + number;
}

/* Sends out of a numbered port after a delay; drops where there is no such port. */
static void forward_packet(struct fabric *fabric, struct node *node, uint32_t number,
                           unsigned output, uint64_t delay_ps)
{
    if (output == 0 || output > node->sma.port_count) {
        packet_drop(fabric, number);
        return;
    }
    uint32_t port = port_index(node, output);
    if (delay_ps)
        des_schedule(fabric->network, des_now(fabric->network) + delay_ps,
                     (struct event){EVENT_FORWARD, port, number});
    else
        link_output(fabric, port, number);
}

/* Turns the packet of a request into that of its response, and sends it. */
static void send_reply(struct fabric *fabric, uint32_t number)
{
    struct packet *packet = packet_at(fabric, number);
    uint32_t port = packet->port;
    struct packet_header *header = &packet->header;
    struct packet_header request = *header;
    header->dlid = request.slid;
    header->slid = request.dlid <= LID_UNICAST_LAST
                       ? request.dlid
                       : (uint16_t)wire_get(fabric_port_info(fabric, port), PORT_INFO_LID);
    packet->hops = 0;
    header->src_qp = request.dest_qp;
    header->dest_qp = request.src_qp;
    memcpy(header->dgid, request.sgid, sizeof header->dgid);
    memcpy(header->sgid, request.dgid, sizeof header->sgid);
    if (request.dest_qp == QP_GSI)
        header->q_key = Q_KEY_GSI;
    node_inject(fabric, port, number);
}

static struct sma_key_violation violation_of(const struct packet_header *header)
{
    return (struct sma_key_violation){header->slid, header->dlid,   header->p_key,
                                      header->sl,   header->src_qp, header->dest_qp};
}

/* A general service MAD must carry a P_Key and Q_Key that the port accepts. */
static bool accepts_keys(struct fabric *fabric, struct node *node, const struct packet *packet)
{
    const struct packet_header *header = &packet->header;
    unsigned port = fabric->ports[packet->port].number;
    if (header->dest_qp == QP_SMI)
        return true;
    struct sma_key_violation violation = violation_of(header);
    if (!sma_accepts_p_key(&node->sma, port, header->p_key)) {
        sma_report_p_key(&node->sma, port, &violation);
    } else if (header->q_key != Q_KEY_GSI) {
        violation.key = header->q_key;
        sma_report_q_key(&node->sma, port, &violation);
    } else {
        return true;
    }
    return false;
}

/* An agent answers a request at the latest after its response time, 4.096 us * 2^value. */
static void start_agent(struct fabric *fabric, struct node *node)
{
    uint64_t longest = (4096 * TIME_NS) << node->options.agent.response_time, work = fabric->sma_ps;
    if (wire_get(packet_at(fabric, node->requests.head)->mad, MAD_METHOD) == METHOD_SET)
        work += fabric->options.sma_set_ps;
    if (work > longest)
        work = longest;
    node->agent_busy = true;
    uint64_t fault = node->agent_delay_ps == TIME_NEVER ? 0 : node->agent_delay_ps;
    des_schedule(fabric->network, des_now(fabric->network) + work + fault,
                 (struct event){EVENT_AGENT, (uint32_t)(node - fabric->nodes), node->life});
}

/* Selects the VL on the output; false if the packet must be dropped. */
static bool select_vl(struct node *node, struct packet *packet, unsigned input, unsigned output)
{
    if (mad_is_smp(packet->mad))
        return true;
    packet->header.vl = (uint8_t)sma_map_sl(&node->sma, input, output, packet->header.sl);
    return packet->header.vl != VL_MANAGEMENT;
}

/* A router sends a packet on. Packets in a forwarding loop end as within a subnet. */
static void pass_to_subnet(struct fabric *fabric, struct node *node, uint32_t number, uint32_t port)
{
    struct packet *packet = packet_at(fabric, number);
    unsigned output = router_route_packet(fabric, port, &packet->header);
    if (!output || packet->hops++ >= fabric->hop_limit ||
        !select_vl(node, packet, fabric->ports[port].number, output))
        packet_drop(fabric, number);
    else
        forward_packet(fabric, node, number, output, fabric->options.router_ps);
}

/* Delivers a packet at this end port to the agent, which has a queue, or to the consumer. */
static void deliver_locally(struct fabric *fabric, struct node *node, uint32_t number,
                            uint32_t port)
{
    struct packet *packet = packet_at(fabric, number);
    packet->port = port;
    if (!accepts_keys(fabric, node, packet)) {
        packet_drop(fabric, number);
        node_service_agent(fabric, fabric->ports[port].node);
    } else if (router_takes(fabric, port, &packet->header)) {
        pass_to_subnet(fabric, node, number, port);
    } else if (!sma_handles(&node->sma, packet->mad) && fabric->ports[port].consumers) {
        fabric_deliver(fabric, port, packet);
        packet_drop(fabric, number);
    } else if (!sma_handles(&node->sma, packet->mad)) {
        /* As an operating system without a consumer: "unsupported" to Get and Set. */
        uint64_t method = wire_get(packet->mad, MAD_METHOD);
        if (method != METHOD_GET && method != METHOD_SET) {
            packet_drop(fabric, number);
            return;
        }
        wire_set(packet->mad, MAD_METHOD, METHOD_GET_RESP);
        wire_set(packet->mad, MAD_STATUS, STATUS_BAD_ATTRIBUTE);
        if (mad_is_directed(packet->mad))
            wire_set(packet->mad, SMP_DIRECTION, 1);
        send_reply(fabric, number);
    } else if (node->requests.count >= node->options.agent_buffer) {
        sma_count(&node->sma, fabric->ports[port].number,
                  mad_is_smp(packet->mad) ? COUNTER_VL15_DROPPED : COUNTER_QP1_DROPPED, 1);
        packet_drop(fabric, number);
    } else {
        queue_push(fabric, &node->requests, number);
        if (!node->agent_busy)
            start_agent(fabric, node);
    }
}

/* Partition enforcement at a switch port, if a manager enabled it. False: the packet is dropped. */
static bool passes_enforcement(struct fabric *fabric, struct node *node, unsigned number,
                               enum wire_field direction, const struct packet *packet)
{
    bool inbound = direction == PORT_INFO_PARTITION_ENFORCEMENT_INBOUND;
    unsigned key = packet->header.p_key;
    if (mad_is_smp(packet->mad) || !wire_get(node->sma.ports[number].info, direction) ||
        (inbound ? sma_may_send_p_key(&node->sma, number, key)
                 : sma_accepts_p_key(&node->sma, number, key)))
        return true;
    struct sma_key_violation violation = violation_of(&packet->header);
    sma_count(&node->sma, number,
              inbound ? COUNTER_RECEIVE_CONSTRAINT_ERRORS : COUNTER_TRANSMIT_CONSTRAINT_ERRORS, 1);
    sma_report_p_key(&node->sma, number, &violation);
    node_service_agent(fabric, (uint32_t)(node - fabric->nodes));
    return false;
}

/* `detail`: the cause, as PortRcvErrorDetails counts it. */
static void drop_not_forwarded(struct fabric *fabric, struct node *node, uint32_t number,
                               unsigned input, enum port_counter detail)
{
    sma_count(&node->sma, input, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS, 1);
    sma_count(&node->sma, input, detail, 1);
    packet_drop(fabric, number);
}

static void arrive_at_lid(struct fabric *fabric, struct node *node, uint32_t number,
                          uint32_t end_port);

static void route_unicast(struct fabric *fabric, struct node *node, uint32_t number, unsigned input)
{
    struct packet *packet = packet_at(fabric, number);
    unsigned output = sma_route_unicast(&node->sma, packet->header.dlid);
    if (output == 0 && sma_owns_lid(&node->sma, 0, packet->header.dlid)) {
        arrive_at_lid(fabric, node, number, port_index(node, 0));
    } else if (output == 0 || output == input || output > node->sma.port_count) {
        drop_not_forwarded(fabric, node, number, input,
                           output == input && output ? COUNTER_LOOPING_ERRORS
                                                     : COUNTER_DLID_MAPPING_ERRORS);
    } else if (packet->hops++ == fabric->hop_limit) {
        fabric->totals.looped++;
        drop_not_forwarded(fabric, node, number, input, COUNTER_LOOPING_ERRORS);
    } else if (!passes_enforcement(fabric, node, output, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND,
                                   packet)) {
        packet_drop(fabric, number);
    } else if (!select_vl(node, packet, input, output)) {
        drop_not_forwarded(fabric, node, number, input, COUNTER_VL_MAPPING_ERRORS);
    } else {
        forward_packet(fabric, node, number, output,
                       routing_unit_route_management(fabric, (uint32_t)(node - fabric->nodes)));
    }
}

static void route_multicast(struct fabric *fabric, struct node *node, uint32_t number,
                            unsigned input)
{
    uint16_t mlid = packet_at(fabric, number)->header.dlid;
    for (unsigned output = 1; output <= node->sma.port_count; output++) {
        if (output == input || !sma_route_multicast(&node->sma, mlid, output) ||
            !passes_enforcement(fabric, node, output, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND,
                                packet_at(fabric, number)))
            continue;
        uint32_t copy = packet_copy(fabric, number);
        bool loops = !multicast_may_forward(fabric, packet_at(fabric, copy)->multicast);
        fabric->totals.looped += loops;
        if (loops || !select_vl(node, packet_at(fabric, copy), input, output))
            drop_not_forwarded(fabric, node, copy, input,
                               loops ? COUNTER_LOOPING_ERRORS : COUNTER_VL_MAPPING_ERRORS);
        else
            forward_packet(fabric, node, copy, output,
                           node->sma.device ? fabric->options.vswitch_routing_ps
                                            : fabric->routing_ps);
    }
    if (input != 0 && sma_route_multicast(&node->sma, mlid, 0))
        deliver_locally(fabric, node, number, port_index(node, 0));
    else
        packet_drop(fabric, number);
}

/* Forwards by LID through a switch. `input` 0: from the management port. */
static void route_by_lid(struct fabric *fabric, struct node *node, uint32_t number, unsigned input)
{
    struct packet *packet = packet_at(fabric, number);
    bool own = sma_owns_lid(&node->sma, 0, packet->header.dlid);
    if (node->sma.device) /* shares its LID with the physical function at port 2 */
        own = own && sma_is_for_switch(packet->mad);
    else
        own = own && input == 0;
    if (lid_is_multicast(packet->header.dlid))
        route_multicast(fabric, node, number, input);
    else if (packet->header.dlid == LID_PERMISSIVE || own)
        arrive_at_lid(fabric, node, number, port_index(node, 0));
    else
        route_unicast(fabric, node, number, input);
}

static void run_smi(struct fabric *fabric, struct node *node, uint32_t number, unsigned arrival,
                    uint32_t end_port)
{
    struct packet *packet = packet_at(fabric, number);
    struct smi_step step = smi_step(packet->mad, node->is_switch, arrival);
    bool passes_through = node->is_switch && packet->arrival;
    switch (step.action) {
    case SMI_DISCARD: packet_drop(fabric, number); break;
    case SMI_LOCAL: deliver_locally(fabric, node, number, end_port); break;
    case SMI_FORWARD:
        packet->header.slid = packet->header.dlid = LID_PERMISSIVE;
        /* An adapter's port can only send out of itself. */
        if (node->is_switch || step.port == fabric->ports[end_port].number)
            forward_packet(fabric, node, number, step.port, passes_through ? fabric->smi_ps : 0);
        else
            packet_drop(fabric, number);
        break;
    case SMI_LID_ROUTE:
        packet->header.dlid = step.dlid;
        packet->header.slid = (uint16_t)wire_get(node->sma.ports[0].info, PORT_INFO_LID);
        if (step.dlid <= LID_UNICAST_LAST)
            route_by_lid(fabric, node, number, 0);
        else
            packet_drop(fabric, number);
        break;
    }
}

/* At the node that owns the packet's LID. For a directed SMP, the directed part of its route begins
 * here, or its last, LID-routed, part ends. */
static void arrive_at_lid(struct fabric *fabric, struct node *node, uint32_t number,
                          uint32_t end_port)
{
    if (mad_is_directed(packet_at(fabric, number)->mad))
        run_smi(fabric, node, number, 0, end_port);
    else
        deliver_locally(fabric, node, number, end_port);
}

/* Whether a packet to this LID stays in the node. Packets for a virtual switch that shares the LID
 * leave. */
static bool stays_here(const struct node *node, unsigned port, const struct packet *packet)
{
    bool shared = node->sma.host && node->sma.host_port == VSWITCH_PF &&
                  sma_owns_lid(node->sma.host, 0, packet->header.dlid);
    return sma_owns_lid(&node->sma, port, packet->header.dlid) &&
           !(shared && sma_is_for_switch(packet->mad));
}

/* Starts a packet at an end port: of a consumer, a response or a trap. A response to a full member
 * carries the limited P_Key of a port that has no other. */
void node_inject(struct fabric *fabric, uint32_t port, uint32_t number)
{
    struct node *node = node_of(fabric, port);
    struct packet *packet = packet_at(fabric, number);
    unsigned own = fabric->ports[port].number;
    packet->arrival = fabric->ports[port].number;
    packet->header.p_key = (uint16_t)sma_own_p_key(&node->sma, own, packet->header.p_key);
    packet->header.vl = VL_MANAGEMENT;
    fabric->totals.packets_sent++;
    fabric->totals.smps_sent += mad_is_smp(packet->mad);
    if (lid_is_multicast(packet->header.dlid))
        packet->multicast = multicast_start(fabric);
    /* SMPs go to QP0 and to one port, other MADs to QP1 and not to the permissive LID. */
    bool is_valid = mad_is_smp(packet->mad)
                        ? packet->header.dest_qp == QP_SMI && !lid_is_multicast(packet->header.dlid)
                        : packet->header.dest_qp == QP_GSI && packet->header.dlid != LID_PERMISSIVE;
    enum wire_field own_part = wire_get(packet->mad, SMP_DIRECTION) ? SMP_DR_DLID : SMP_DR_SLID;
    if (!node->up || !is_valid) {
        packet_drop(fabric, number);
    } else if (mad_is_directed(packet->mad) && wire_get(packet->mad, own_part) == LID_PERMISSIVE) {
        run_smi(fabric, node, number, 0, port);
    } else if (node->is_switch) {
        route_by_lid(fabric, node, number, 0);
    } else if (packet->header.dlid == LID_PERMISSIVE || stays_here(node, own, packet)) {
        arrive_at_lid(fabric, node, number, port);
    } else if (select_vl(node, packet, 0, own)) {
        link_output(fabric, port, number);
    } else {
        packet_drop(fabric, number);
    }
}

/* Whether the receiver accepts an arriving packet: link state and injected faults. */
static bool is_accepted(struct fabric *fabric, struct node *node, struct port *port,
                        const struct packet *packet)
{
    if (!port->up || !node->up || packet->link_epoch != fabric->ports[port->peer].epoch)
        return false;
    uint32_t self = (uint32_t)(port - fabric->ports);
    for (size_t i = 0; i < fabric->losses.count; i++) {
        const struct loss_rule *rule = &fabric->losses.items[i];
        if ((rule->port == NONE || rule->port == self) && mad_is_smp(packet->mad) &&
            (!rule->attribute || rule->attribute == wire_get(packet->mad, MAD_ATTRIBUTE_ID)) &&
            rng_chance(&port->rng, rule->parts)) {
            fabric->totals.smps_lost++;
            if (rule->port == self) /* bit errors, as a bad cable causes them */
                sma_count(&node->sma, port->number, COUNTER_SYMBOL_ERRORS, 1);
            return false;
        }
    }
    if (packet->header.vl == VL_MANAGEMENT)
        return true;
    uint8_t *info = node->sma.ports[port->number].info;
    if (wire_get(info, PORT_INFO_PORT_STATE) == PORT_STATE_ARMED)
        wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE); /* 7.2.7.3: the peer is active */
    if (fabric->data)
        data_port_refresh(fabric, self);
    return wire_get(info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE &&
           (!node->is_switch ||
            passes_enforcement(fabric, node, port->number, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND,
                               packet));
}

/* Adds time, port, header and data of an arriving packet, but not its directed-route paths. */
static void add_to_trace_hash(struct fabric *fabric, const struct packet *packet, uint32_t port)
{
    uint64_t hash = fabric->trace ^ des_now(fabric->network);
    hash = hash_mix(hash) ^ ((uint64_t)packet->header.dlid << 32 | port);
    for (unsigned byte = 0; byte < SMP_DATA_OFFSET + SMP_DATA_BYTES; byte += 8)
        hash = (hash ^ wire_get_bits(packet->mad, byte * 8, 64)) * 0x9e3779b97f4a7c15u;
    fabric->trace = hash_mix(hash);
}

void node_receive(struct fabric *fabric, uint32_t number, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    struct node *node = node_of(fabric, index);
    struct packet *packet = packet_at(fabric, number);
    add_to_trace_hash(fabric, packet, index);
    if (!is_accepted(fabric, node, port, packet)) {
        packet_drop(fabric, number);
        return;
    }
    bool multicast = lid_is_multicast(packet->header.dlid);
    sma_count(&node->sma, port->number, COUNTER_RECEIVE_PACKETS, 1);
    sma_count(&node->sma, port->number, COUNTER_RECEIVE_DATA, packet->bytes / 4);
    sma_count(&node->sma, port->number,
              multicast ? COUNTER_RECEIVE_MULTICAST_PACKETS : COUNTER_RECEIVE_UNICAST_PACKETS, 1);
    packet->arrival = port->number;
    bool permissive = packet->header.dlid == LID_PERMISSIVE;
    if (mad_is_directed(packet->mad) && permissive)
        run_smi(fabric, node, number, port->number, node->is_switch ? port_index(node, 0) : index);
    else if (node->is_switch)
        route_by_lid(fabric, node, number, port->number);
    else if (permissive || multicast || sma_owns_lid(&node->sma, port->number, packet->header.dlid))
        arrive_at_lid(fabric, node, number, index);
    else
        packet_drop(fabric, number);
}

static void answer_request(struct fabric *fabric, struct node *node, uint32_t number)
{
    struct packet *packet = packet_at(fabric, number);
    if (node->agent_delay_ps == TIME_NEVER) {
        packet_drop(fabric, number);
        return;
    }
    bool writes = wire_get(packet->mad, MAD_METHOD) == METHOD_SET && mad_is_smp(packet->mad);
    unsigned attribute = (unsigned)wire_get(packet->mad, MAD_ATTRIBUTE_ID);
    if (!mad_is_smp(packet->mad))
        counters_fold(fabric, (uint32_t)(node - fabric->nodes));
    if (sma_receive(&node->sma, des_now(fabric->timers), packet->arrival, packet->header.slid,
                    packet->mad) == SMA_REPLY)
        send_reply(fabric, number);
    else
        packet_drop(fabric, number);
    if (writes && fabric->data) /* the data path has copies of some attributes */
        data_port_written(fabric, (uint32_t)(node - fabric->nodes), attribute);
}

void node_agent_done(struct fabric *fabric, uint32_t index, uint32_t life)
{
    struct node *node = &fabric->nodes[index];
    if (life != node->life)
        return;
    uint32_t number = queue_pop(fabric, &node->requests);
    assert(node->agent_busy);
    node->agent_busy = false;
    if (number != NONE)
        answer_request(fabric, node, number);
    node_service_agent(fabric, index);
    if (node->requests.count && !node->agent_busy)
        start_agent(fabric, node);
}

/* Link commands wait until the response to the Set has left. */
enum { LINK_COMMAND_DELAY_US = 50 };

void node_service_agent(struct fabric *fabric, uint32_t index)
{
    struct node *node = &fabric->nodes[index];
    struct sma_output output;
    while (node->up && sma_next_output(&node->sma, des_now(fabric->timers), &output)) {
        uint32_t port = port_index(node, output.port);
        if (output.kind == SMA_SEND_TRAP) {
            uint32_t number = packet_new(fabric);
            struct packet *packet = packet_at(fabric, number);
            uint16_t slid = (uint16_t)wire_get(fabric_port_info(fabric, port), PORT_INFO_LID);
            packet->header = packet_header_of_mad(output.mad, slid, output.dlid, output.sl);
            memcpy(packet->mad, output.mad, MAD_BYTES);
            fabric->totals.traps++;
            node_inject(fabric, port, number);
        } else if (output.kind == SMA_FUNCTION) {
            link_follow_function(fabric, port);
        } else if (output.kind == SMA_PORT_STATE) {
            link_follow_state(fabric, port);
        } else {
            des_schedule(fabric->network,
                         des_now(fabric->network) + LINK_COMMAND_DELAY_US * TIME_US,
                         (struct event){EVENT_LINK_COMMAND, port,
                                        (uint64_t)node->life << 32 | output.physical_state});
        }
    }
    uint64_t deadline = node->up ? sma_deadline(&node->sma) : TIME_NEVER;
    if (deadline == node->timer_at)
        return;
    des_cancel(fabric->timers, node->timer);
    node->timer_at = deadline;
    node->timer = 0;
    if (deadline != TIME_NEVER)
        node->timer = des_schedule(
            fabric->timers, deadline > des_now(fabric->timers) ? deadline : des_now(fabric->timers),
            (struct event){EVENT_TIMER, index, 0});
}
