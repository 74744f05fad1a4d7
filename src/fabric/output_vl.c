/* Output VLs, and how their packets get onto the link.
 *
 * An output VL holds whole packets, including those that are still crossing into it. A VL is ready
 * when the peer has granted credits for its head. The arbiter selects among ready VLs; flow control
 * and VL15 precede all of them (link.c). The room of a packet becomes free when its last byte is
 * sent. The simulation schedules an event for that only if a packet waits for the room or for the
 * link, so that a link at low load costs no event of its own. */
#include "fabric/internal.h"

/* Frees the room of the packet sent last, if its last byte is sent. */
void output_vl_free_sent(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    uint32_t port_vl = port->sent_vl;
    if (port_vl == NONE || port->free_at > des_now(fabric->network))
        return;
    port->sent_vl = NONE;
    struct output_vl *output = output_at(fabric, port_vl);
    free_blocks(&output->used, port->sent_blocks);
    if (output->first_waiting != NONE)
        output_vl_serve_waiting(fabric, port_vl);
}

void output_vl_start_lifetime(struct fabric *fabric, uint32_t port_vl)
{
    struct output_vl *output = output_at(fabric, port_vl);
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    uint64_t life = switch_core_of(fabric, port)->life_time_ps, now = des_now(fabric->network);
    uint64_t end = TIME_NEVER;
    if (output->timed || !port->limits_life)
        return;
    if (life != TIME_NEVER)
        end = data_packet_at(fabric->data, output->queue.head)->since + life;
    if (port->queue_life_ps != TIME_NEVER && output->head_since + port->queue_life_ps < end)
        end = output->head_since + port->queue_life_ps;
    output->timed = true;
    des_post(fabric->network, end > now ? end : now, (struct event){EVENT_OUTPUT_LIFE, port_vl, 0});
}

void output_vl_push(struct fabric *fabric, uint32_t port_vl, uint32_t number)
{
    struct output_vl *output = output_at(fabric, port_vl);
    bool first = output->queue.head == NONE;
    data_packet_push(fabric->data, &output->queue, number);
    if (!first)
        return; /* the link serves the packets ahead of it already */
    struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    output->head_since = des_now(fabric->network);
    if (port->limits_life)
        output_vl_start_lifetime(fabric, port_vl);
    output_vl_update_ready(fabric, port_vl);
    if (port->ready)
        link_start_sending(fabric, port_of(fabric, port_vl));
}

bool output_vl_send(struct fabric *fabric, uint32_t index, uint64_t at)
{
    struct data *data = fabric->data;
    struct port *port = &fabric->ports[index];
    struct arbiter *arbiter = &port->arbiter;
    int vl = arbiter_pick(arbiter, port->ready);
    if (vl < 0)
        return false;
    uint32_t port_vl = port_vl_of(fabric, index, (unsigned)vl);
    struct output_vl *output = output_at(fabric, port_vl);
    uint32_t number = data_packet_pop(data, &output->queue);
    struct data_packet *data_packet = data_packet_at(data, number);
    unsigned blocks = blocks_of(data_packet->bytes);
    uint64_t wire = wire_time(port, data_packet->bytes);
    uint64_t start = at + fabric->options.channel_ps;
    if (start + wire < data_packet->tail) /* its bytes must arrive fast enough for the link */
        start = data_packet->tail - wire;
    arbiter_charge(arbiter, data_packet->bytes);
    output->sent = (uint16_t)((output->sent + blocks) % CREDIT_MODULUS);
    output->packets++;
    output->bytes += data_packet->bytes;
    output->head_since = des_now(fabric->network);
    if (lid_is_multicast(data_packet->dlid))
        counters_note_multicast(fabric, index);
    data->totals.hops++;
    data->on_links++;
    port->sent_vl = port_vl;
    port->sent_blocks = (uint16_t)blocks;
    port->free_at = start + wire;
    port->busy_ps += wire;
    data_packet->tail = start + wire + port->flight_ps;
    data_packet->link_epoch = port->epoch;
    uint64_t lead = port->peer_is_switch
                        ? start + wire_time(port, DATA_HEADER_BYTES) + port->flight_ps
                        : data_packet->tail;
    post_to_peer(
        fabric, port, port->peer_is_switch ? DELAY_HEADER : DELAY_WHOLE, lead,
        (struct event){port->peer_is_switch ? EVENT_HEADER : EVENT_PACKET, port->peer, number});
    output_vl_update_ready(fabric, port_vl);
    if (__builtin_expect(carries_transport(data_packet), 0))
        transport_port_sent(fabric, port_vl, number, start);
    return true;
}
