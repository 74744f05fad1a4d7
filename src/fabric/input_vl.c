/* Input VLs and the inside of a switch: routing, SL-to-VL mapping, crossbar.
 *
 * The model follows section IV-B of "Modeling InfiniBand with OPNET": a packet that reaches the
 * head of its VL requests the routing unit, which serves one request at a time, VL15 first and the
 * VLs round-robin; the SL-to-VL table then selects the VL of its output; the crossbar connects the
 * two as soon as the output VL has room for the whole packet and no other packet is crossing into
 * it. Packets that wait for the same output VL are served in order of arrival. The crossbar is
 * fully demultiplexed (a connection for each VL) or multiplexed (one connection for each port); it
 * works at the rate of the faster of the two links, times a factor. A packet that arrives more
 * slowly than it leaves waits until it can cross without a gap, so that it does not block the
 * output.
 *
 * The next packet of a VL is routed while the one before it still crosses. A multicast packet
 * crosses once for each of its outputs, one after the other. */
#include "fabric/internal.h"

static struct input_vl *input_at(struct fabric *fabric, uint32_t port_vl)
{
    return &fabric->data->inputs[port_vl];
}
static struct sma *sma_of(const struct fabric *fabric, const struct switch_core *switch_core)
{
    return &fabric->nodes[switch_core - fabric->data->switch_cores].sma;
}

/* ---- the crossbar ---- */

/* The next output of a multicast packet after `after`, or 0. */
static unsigned next_copy(struct fabric *fabric, const struct switch_core *switch_core,
                          uint32_t port_vl, const struct data_packet *data_packet, unsigned after)
{
    unsigned input = fabric->ports[port_of(fabric, port_vl)].number;
    for (unsigned output = after + 1; output <= switch_core->port_count; output++)
        if (output != input && fabric->ports[switch_core->first_port + output].open &&
            sma_route_multicast(sma_of(fabric, switch_core), data_packet->dlid, output))
            return output;
    return 0;
}

/* Takes the head of the VL, or a copy of it if it must go to more outputs. */
static uint32_t take_head(struct fabric *fabric, struct switch_core *switch_core, uint32_t port_vl)
{
    struct data *data = fabric->data;
    struct input_vl *input = input_at(fabric, port_vl);
    uint32_t number = input->queue.head;
    if (!lid_is_multicast(data_packet_at(data, number)->dlid))
        return data_packet_pop(data, &input->queue);
    input->copied = fabric->ports[port_of(fabric, input->wanted)].number;
    if (!next_copy(fabric, switch_core, port_vl, data_packet_at(data, number), input->copied)) {
        input->copied = 0;
        return data_packet_pop(data, &input->queue);
    }
    uint32_t copy = data_packet_new(data);
    *data_packet_at(data, copy) = *data_packet_at(data, number);
    multicast_add_copy(fabric, data_packet_at(data, copy)->multicast);
    data->totals.duplicates++;
    data->travelling++;
    return copy;
}

static void start_crossing(struct fabric *fabric, uint32_t port_vl, uint32_t to)
{
    struct data *data = fabric->data;
    struct input_vl *input = input_at(fabric, port_vl);
    struct output_vl *output = output_at(fabric, to);
    struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    struct switch_core *switch_core = switch_core_of(fabric, port);
    uint64_t now = des_now(fabric->network);
    uint32_t number = take_head(fabric, switch_core, port_vl);
    struct data_packet *data_packet = data_packet_at(data, number);
    unsigned blocks = blocks_of(data_packet->bytes);
    struct port *out = &fabric->ports[port_of(fabric, to)];
    uint64_t rate = out->internal_ps_per_8_bytes < port->internal_ps_per_8_bytes
                        ? out->internal_ps_per_8_bytes
                        : port->internal_ps_per_8_bytes;
    uint64_t over = now + (data_packet->bytes * rate + 7) / 8;
    if (over < data_packet->tail)
        over = data_packet->tail;
    data_packet->tail = over;
    data_packet->vl = vl_of(fabric, to) & 15;
    input->crossing = to;
    input->crossing_blocks = input->copied ? 0 : (uint16_t)blocks;
    input->wanted = NONE;
    output->crossing = port_vl;
    output->used = (uint16_t)(output->used + blocks);
    if (fabric->options.multiplexed)
        port->input_busy = out->output_busy = true;
    des_post_fifo(fabric->network, DELAY_CROSSING, over,
                  (struct event){EVENT_CROSSED, port_vl, switch_core->life});
    if (input->queue.head != NONE && !input->copied)
        routing_unit_request(fabric, switch_core, port_vl);
    output_vl_push(fabric, to, number);
}

static bool head_fits(struct fabric *fabric, uint32_t port_vl, uint32_t to)
{
    const struct data_packet *data_packet =
        data_packet_at(fabric->data, input_at(fabric, port_vl)->queue.head);
    return output_vl_has_room(fabric, to, blocks_of(data_packet->bytes));
}

void input_vl_stop_waiting(struct fabric *fabric, uint32_t port_vl, uint32_t to)
{
    struct output_vl *output = output_at(fabric, to);
    uint32_t before = NONE, at = output->first_waiting, next = input_at(fabric, port_vl)->next;
    while (at != NONE && at != port_vl) {
        before = at;
        at = input_at(fabric, at)->next;
    }
    if (at == NONE)
        return;
    if (before == NONE)
        output->first_waiting = next;
    else
        input_at(fabric, before)->next = next;
    if (output->last_waiting == port_vl)
        output->last_waiting = before;
}

/* In a demultiplexed crossbar the first waiting packet can always cross if any can. */
static void serve_vl_queue(struct fabric *fabric, uint32_t to)
{
    struct output_vl *output = output_at(fabric, to);
    uint32_t port_vl = output->first_waiting;
    if (!head_fits(fabric, port_vl, to)) {
        link_start_sending(fabric, port_of(fabric, to)); /* schedules the next attempt */
    } else if (output->crossing == NONE) {
        input_vl_stop_waiting(fabric, port_vl, to);
        start_crossing(fabric, port_vl, to);
    }
}

/* In a multiplexed crossbar, packets behind one whose input is busy overtake it. After PATIENCE
 * times the output is reserved for it. */
static void note_overtaken(struct fabric *fabric, struct port *port, uint32_t port_vl)
{
    enum { PATIENCE = 2 };
    if (port_vl == NONE || input_at(fabric, port_vl)->overtaken++ < PATIENCE)
        return;
    input_at(fabric, port_vl)->overtaken = 0;
    if (port->held == NONE)
        port->held = port_vl;
}

/* Serves the VLs of an output round-robin, the queue of each from its head on. */
static void serve_port(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    uint32_t late = NONE;
    if (port->held != NONE && !head_fits(fabric, port->held, input_at(fabric, port->held)->wanted))
        port->held = NONE; /* a reservation lasts no longer than a crossing */
    for (unsigned step = 1; step <= port->vls && !port->output_busy; step++) {
        uint32_t to = port_vl_of(fabric, index, (port->turn + step) % port->vls);
        uint32_t port_vl = output_at(fabric, to)->first_waiting;
        for (; port_vl != NONE; port_vl = input_at(fabric, port_vl)->next) {
            if (!head_fits(fabric, port_vl, to)) {
                link_start_sending(fabric, index); /* schedules the next attempt */
                break;
            }
            bool busy = fabric->ports[port_of(fabric, port_vl)].input_busy;
            if (!busy && (port->held == NONE || port->held == port_vl)) {
                port->turn = (uint8_t)vl_of(fabric, to);
                port->held = NONE;
                note_overtaken(fabric, port, late);
                input_vl_stop_waiting(fabric, port_vl, to);
                start_crossing(fabric, port_vl, to);
                return;
            }
            if (busy && late == NONE)
                late = port_vl;
        }
    }
}

static void serve_output(struct fabric *fabric, uint32_t to)
{
    if (fabric->options.multiplexed)
        serve_port(fabric, port_of(fabric, to));
    else if (output_at(fabric, to)->first_waiting != NONE)
        serve_vl_queue(fabric, to);
}

void output_vl_serve_waiting(struct fabric *fabric, uint32_t output)
{
    if (switch_core_of(fabric, &fabric->ports[port_of(fabric, output)])->is_switch)
        serve_output(fabric, output);
    else if (fabric->data->outputs[output].first_waiting != NONE)
        sender_offer(fabric, fabric->data->outputs[output].first_waiting);
}

static void wait_for_output_vl(struct fabric *fabric, uint32_t port_vl, uint32_t to)
{
    struct output_vl *output = output_at(fabric, to);
    const struct port *out = &fabric->ports[port_of(fabric, to)];
    if (!out->open || vl_of(fabric, to) >= out->vls) { /* the port has closed meanwhile */
        input_vl_output_closed(fabric, port_vl,
                               out->open ? LOSS_NO_VL
                                         : cause_of_closed_port(fabric, port_of(fabric, to)));
        return;
    }
    if (!fabric->options.multiplexed && output->first_waiting == NONE && output->crossing == NONE &&
        head_fits(fabric, port_vl, to)) { /* as usual at low load: without the queue */
        start_crossing(fabric, port_vl, to);
        return;
    }
    input_at(fabric, port_vl)->next = NONE;
    input_at(fabric, port_vl)->overtaken = 0;
    if (output->first_waiting == NONE)
        output->first_waiting = port_vl;
    else
        input_at(fabric, output->last_waiting)->next = port_vl;
    output->last_waiting = port_vl;
    if (output->first_waiting == port_vl || fabric->options.multiplexed)
        serve_output(fabric, to);
}

/* ---- routing and mapping ---- */

static void cancel_reservation(struct fabric *fabric, uint32_t port_vl, uint32_t wanted)
{
    if (wanted != NONE && fabric->ports[port_of(fabric, wanted)].held == port_vl)
        fabric->ports[port_of(fabric, wanted)].held = NONE;
}

void input_vl_discard(struct fabric *fabric, uint32_t port_vl, uint32_t output_port,
                      enum loss cause)
{
    struct input_vl *input = input_at(fabric, port_vl);
    uint32_t port = port_of(fabric, port_vl);
    uint32_t at = output_port == NONE || cause == LOSS_NO_VL ? port : output_port;
    uint32_t number = data_packet_pop(fabric->data, &input->queue);
    cancel_reservation(fabric, port_vl, input->wanted);
    free_blocks(&input->used, blocks_of(data_packet_at(fabric->data, number)->bytes));
    input->requested = false;
    input->wanted = NONE;
    input->copied = 0;
    /* PortRcvSwitchRelayErrors counts at the input; the other counters count at the output. */
    static const enum port_counter details[LOSS_CAUSES] = {
        [LOSS_NO_ROUTE] = COUNTER_DLID_MAPPING_ERRORS,
        [LOSS_MOVED] = COUNTER_DLID_MAPPING_ERRORS,
        [LOSS_OUTPUT_IS_INPUT] = COUNTER_LOOPING_ERRORS,
        [LOSS_NO_VL] = COUNTER_VL_MAPPING_ERRORS,
    };
    if (details[cause]) {
        counters_count(fabric, at, COUNTER_RECEIVE_SWITCH_RELAY_ERRORS);
        counters_count(fabric, at, details[cause]);
    } else if (cause == LOSS_P_KEY) {
        counters_count(fabric, at, COUNTER_TRANSMIT_CONSTRAINT_ERRORS);
    } else {
        counters_discard(fabric, at, cause);
    }
    data_lose(fabric, number, cause, at);
    credits_update(fabric, port_vl);
    if (input->queue.head != NONE)
        routing_unit_request(fabric, switch_core_of(fabric, &fabric->ports[port]), port_vl);
}

/* The output VL for this packet at this output; NONE and the cause if there is none. */
static uint32_t select_output_vl(struct fabric *fabric, struct switch_core *switch_core,
                                 unsigned input, unsigned output,
                                 const struct data_packet *data_packet, enum loss *cause)
{
    uint32_t index = switch_core->first_port + output;
    const struct port *port = &fabric->ports[index];
    unsigned vl, sl = data_packet->sl;
    if (switch_core->uniform_sl2vl) {
        vl = switch_core->common_sl2vl >> sl * 4 & 15;
    } else {
        const uint8_t *row = switch_core->sl2vl[output * (switch_core->port_count + 1u) + input];
        vl = row[sl / 2] >> (sl % 2 ? 0 : 4) & 15;
    }
    if (!port->open)
        *cause = cause_of_closed_port(fabric, index);
    else if (port->keys_out &&
             !sma_accepts_p_key(sma_of(fabric, switch_core), port->number, data_packet->p_key))
        *cause = LOSS_P_KEY;
    else if (vl >= port->vls)
        *cause = LOSS_NO_VL;
    else
        return port_vl_of(fabric, index, vl);
    return NONE;
}

static void request_output_vl(struct fabric *fabric, uint32_t port_vl, uint32_t to)
{
    struct input_vl *input = input_at(fabric, port_vl);
    input->wanted = to;
    if (input->crossing == NONE)
        wait_for_output_vl(fabric, port_vl, to);
}

static void connect_multicast(struct fabric *fabric, struct switch_core *switch_core,
                              uint32_t port_vl, enum loss cause)
{
    struct input_vl *input = input_at(fabric, port_vl);
    const struct data_packet *data_packet = data_packet_at(fabric->data, input->queue.head);
    unsigned from = fabric->ports[port_of(fabric, port_vl)].number;
    unsigned output = input->copied;
    uint32_t refused_by = NONE;
    if (!multicast_may_forward(fabric, data_packet->multicast)) { /* the MFTs have a loop */
        fabric->totals.looped++;
        input_vl_discard(fabric, port_vl, NONE, LOSS_NO_ROUTE);
        return;
    }
    while ((output = next_copy(fabric, switch_core, port_vl, data_packet, output)) != 0) {
        uint32_t to = select_output_vl(fabric, switch_core, from, output, data_packet, &cause);
        if (to != NONE) {
            request_output_vl(fabric, port_vl, to);
            return;
        }
        refused_by = switch_core->first_port + output;
    }
    input_vl_discard(fabric, port_vl, refused_by, cause);
}

void input_vl_output_closed(struct fabric *fabric, uint32_t port_vl, enum loss cause)
{
    struct input_vl *input = input_at(fabric, port_vl);
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    if (!lid_is_multicast(data_packet_at(fabric->data, input->queue.head)->dlid)) {
        input_vl_discard(fabric, port_vl, port_of(fabric, input->wanted), cause);
        return;
    }
    cancel_reservation(fabric, port_vl, input->wanted);
    input->copied = fabric->ports[port_of(fabric, input->wanted)].number;
    input->wanted = NONE;
    connect_multicast(fabric, switch_core_of(fabric, port), port_vl, cause);
}

static void connect_head(struct fabric *fabric, uint32_t port_vl, uint32_t life)
{
    struct input_vl *input = input_at(fabric, port_vl);
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    struct switch_core *switch_core = switch_core_of(fabric, port);
    if (life != switch_core->life)
        return;
    const struct data_packet *data_packet = data_packet_at(fabric->data, input->queue.head);
    input->requested = false;
    if (lid_is_multicast(data_packet->dlid)) {
        connect_multicast(fabric, switch_core, port_vl, LOSS_NO_ROUTE);
        return;
    }
    unsigned dlid = data_packet->dlid, output;
    if (!switch_core->linear)
        output = sma_route_unicast(sma_of(fabric, switch_core), dlid);
    else
        output = dlid <= switch_core->linear_top ? switch_core->linear[dlid] : 0xFF;
    enum loss cause = LOSS_NO_ROUTE;
    if (output == port->number) {
        input_vl_discard(fabric, port_vl, NONE,
                         switch_core->is_virtual ? LOSS_MOVED : LOSS_OUTPUT_IS_INPUT);
    } else if (output == 0 || output > switch_core->port_count) {
        input_vl_discard(fabric, port_vl, NONE, LOSS_NO_ROUTE);
    } else {
        uint32_t to =
            select_output_vl(fabric, switch_core, port->number, output, data_packet, &cause);
        if (to == NONE) {
            input_vl_discard(fabric, port_vl, switch_core->first_port + output, cause);
            return;
        }
        const struct port *out = &fabric->ports[port_of(fabric, to)];
        if (out->ps_per_8_bytes < port->ps_per_8_bytes &&
            des_now(fabric->network) + wire_time(out, data_packet->bytes) < data_packet->tail) {
            input->requested = true; /* later: the faster output must not underrun */
            des_post(fabric->network, data_packet->tail - wire_time(out, data_packet->bytes),
                     (struct event){EVENT_CONNECT, port_vl, life});
        } else {
            request_output_vl(fabric, port_vl, to);
        }
    }
}

void input_vl_connect(struct fabric *fabric, uint32_t port_vl, uint32_t life)
{
    connect_head(fabric, port_vl, life);
    if (fabric->options.routing_shared && fabric->data->connect_ps == 0)
        routing_unit_free(fabric, fabric->ports[port_of(fabric, port_vl)].node, life);
}

/* The connection of an input to a multiplexed crossbar is free: serves first the VLs for which an
 * output is reserved, then the others. */
static void serve_input(struct fabric *fabric, uint32_t index, unsigned served)
{
    const struct port *port = &fabric->ports[index];
    unsigned slots = 1u << fabric->data->vl_shift;
    for (unsigned step = 1; step <= 2 * slots && !port->input_busy; step++) {
        uint32_t port_vl = port_vl_of(fabric, index, (served + step) & (slots - 1));
        const struct input_vl *input = input_at(fabric, port_vl);
        if (input->wanted == NONE || input->crossing != NONE)
            continue;
        uint32_t output = port_of(fabric, input->wanted);
        if (step > slots || fabric->ports[output].held == port_vl)
            serve_port(fabric, output);
    }
}

void input_vl_crossed(struct fabric *fabric, uint32_t port_vl, uint32_t life)
{
    struct input_vl *input = input_at(fabric, port_vl);
    uint32_t port = port_of(fabric, port_vl), to = input->crossing;
    struct switch_core *switch_core = switch_core_of(fabric, &fabric->ports[port]);
    bool multiplexed = fabric->options.multiplexed;
    if (life != switch_core->life || to == NONE)
        return;
    input->crossing = output_at(fabric, to)->crossing = NONE;
    free_blocks(&input->used, input->crossing_blocks);
    credits_update(fabric, port_vl);
    if (!multiplexed && output_at(fabric, to)->first_waiting != NONE)
        serve_vl_queue(fabric, to);
    /* In a multiplexed crossbar both ports are still busy: the next packet of the VL joins its
     * queue without precedence. */
    if (input->copied)
        connect_multicast(fabric, switch_core, port_vl, LOSS_INACTIVE_PORT);
    else if (input->wanted != NONE)
        wait_for_output_vl(fabric, port_vl, input->wanted);
    if (!multiplexed)
        return;
    fabric->ports[port].input_busy = fabric->ports[port_of(fabric, to)].output_busy = false;
    serve_input(fabric, port, vl_of(fabric, port_vl));
    serve_port(fabric, port_of(fabric, to));
}

/* ---- arrival ---- */

void input_vl_start_lifetime(struct fabric *fabric, uint32_t port_vl)
{
    struct input_vl *input = input_at(fabric, port_vl);
    uint64_t life = switch_core_of(fabric, &fabric->ports[port_of(fabric, port_vl)])->life_time_ps;
    uint64_t now = des_now(fabric->network);
    if (input->timed || life == TIME_NEVER)
        return;
    uint64_t end = data_packet_at(fabric->data, input->queue.head)->since + life;
    input->timed = true;
    des_post(fabric->network, end > now ? end : now, (struct event){EVENT_INPUT_LIFE, port_vl, 0});
}

static void enter_input_vl(struct fabric *fabric, struct switch_core *switch_core, uint32_t number,
                           uint32_t port_vl)
{
    struct data *data = fabric->data;
    struct input_vl *input = input_at(fabric, port_vl);
    struct data_packet *data_packet = data_packet_at(data, number);
    data_packet->since = des_now(fabric->network);
    data_packet->hops += data_packet->hops < UINT8_MAX;
    input->used = (uint16_t)(input->used + blocks_of(data_packet->bytes));
    bool first = input->queue.head == NONE;
    data_packet_push(data, &input->queue, number);
    if (switch_core->life_time_ps != TIME_NEVER)
        input_vl_start_lifetime(fabric, port_vl);
    if (first)
        routing_unit_request(fabric, switch_core, port_vl);
    credits_update(fabric, port_vl);
}

/* Loses a packet that used credits but does not enter the buffer. */
static void lose_on_arrival(struct fabric *fabric, uint32_t number, uint32_t port_vl,
                            enum loss cause)
{
    data_lose(fabric, number, cause, port_of(fabric, port_vl));
    credits_update(fabric, port_vl);
}

/* The first data packet makes an Armed port Active (7.2.7.3). */
static bool activate_if_armed(struct fabric *fabric, struct switch_core *switch_core,
                              uint32_t index)
{
    uint8_t *info = sma_of(fabric, switch_core)->ports[fabric->ports[index].number].info;
    if (wire_get(info, PORT_INFO_PORT_STATE) != PORT_STATE_ARMED)
        return false;
    wire_set(info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    data_port_refresh(fabric, index);
    return true;
}

void input_vl_receive(struct fabric *fabric, uint32_t number, uint32_t index)
{
    struct data *data = fabric->data;
    struct port *port = &fabric->ports[index];
    struct switch_core *switch_core = switch_core_of(fabric, port);
    struct data_packet *data_packet = data_packet_at(data, number);
    data->on_links--;
    data_trace(data, des_now(fabric->network),
               (uint64_t)data_packet->dlid << 16 | data_packet->bytes, index);
    if (!port->up || !switch_core->up || data_packet->link_epoch != port->epoch) {
        counters_note_missed(fabric, index, data_packet);
        bool is_back =
            port->up && switch_core->up; /* the link was down while the packet was on it */
        data_lose(fabric, number, is_back ? LOSS_DEAD_LINK : cause_of_closed_port(fabric, index),
                  index);
        return;
    }
    uint32_t port_vl = port_vl_of(fabric, index, data_packet->vl);
    struct input_vl *input = input_at(fabric, port_vl);
    unsigned blocks = blocks_of(data_packet->bytes);
    uint64_t error_rate = fabric->options.bit_error_rate; /* in 2^64 parts per bit */
    if (error_rate && rng_next(&port->rng) < (uint64_t)data_packet->bytes * 8 * error_rate) {
        /* The receiver has not counted the packet: the next flow-control packet of the sender
         * corrects that. */
        counters_count(fabric, index, COUNTER_RECEIVE_ERRORS);
        counters_count(fabric, index, COUNTER_LOCAL_PHYSICAL_ERRORS);
        counters_note_missed(fabric, index, data_packet);
        data_lose(fabric, number, LOSS_BIT_ERROR, index);
        credits_refresh(fabric, port->peer, port->epoch);
        return;
    }
    input->received = (uint16_t)((input->received + blocks) % CREDIT_MODULUS);
    if (!port->open && !activate_if_armed(fabric, switch_core, index)) {
        lose_on_arrival(fabric, number, port_vl, LOSS_INACTIVE_PORT);
    } else if (port->keys_in &&
               !sma_may_send_p_key(sma_of(fabric, switch_core), port->number, data_packet->p_key)) {
        counters_count(fabric, index, COUNTER_RECEIVE_CONSTRAINT_ERRORS);
        lose_on_arrival(fabric, number, port_vl, LOSS_P_KEY);
    } else if (switch_core->has_bus) {
        host_bus_receive(fabric, number, port_vl);
    } else if (!switch_core->is_switch) {
        data_deliver(fabric, number, index);
        credits_update(fabric, port_vl);
    } else if (input->used + blocks > port->room) {
        data->overflowed = true;
        lose_on_arrival(fabric, number, port_vl, LOSS_OVERFLOW);
    } else {
        enter_input_vl(fabric, switch_core, number, port_vl);
    }
}
