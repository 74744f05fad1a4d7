/* Flow control (7.9): the receiver limits how much the sender may send.
 *
 * Both ends count blocks of 64 bytes (CREDIT_BYTES) since the link came up, modulo 4096. The sender
 * keeps the number of blocks sent (FCTBS) and the limit received (FCCL); it sends a packet only
 * within the limit. The limit of the receiver is the number of blocks received plus the room in its
 * buffer. A flow-control packet carries the limit and the FCTBS of its sender, by which the peer
 * detects packets lost on the link.
 *
 * Real links repeat these packets all the time. The simulation sends a limit when it has grown by a
 * quarter of the buffer, or at all if the sender may have credits for less than half of the buffer
 * (or less than the largest packet). Hence no sender waits for credits that are available. After a
 * packet was lost to bit errors, the periodic repetition by its sender (every 65,536 symbol times)
 * is simulated once. */
#include "fabric/internal.h"

#include <assert.h>

enum { REPEAT_BYTES = 65536 };

void credits_reset(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    port->new_limits = 0;
    for (unsigned vl = 0; vl < 1u << fabric->data->vl_shift; vl++) {
        struct input_vl *input = &fabric->data->inputs[port_vl_of(fabric, index, vl)];
        input->received = 0;
        input->limit_sent = (uint16_t)credit_limit(input, port);
        if (port->peer == NONE)
            continue;
        struct output_vl *output = &fabric->data->outputs[port_vl_of(fabric, port->peer, vl)];
        output->sent = 0;
        output->limit = input->limit_sent;
    }
}

/* Whether the limit has to be sent. It is `growth` above the one sent last. */
void credits_grant(struct fabric *fabric, uint32_t port_vl, unsigned growth)
{
    const struct input_vl *input = &fabric->data->inputs[port_vl];
    struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    unsigned left = credit_distance(input->limit_sent, input->received);
    if (!port->up)
        return;
    if (growth * 4 >= port->room || left * 2 < port->room || left < fabric->data->largest_blocks) {
        port->new_limits |= (uint16_t)(1u << vl_of(fabric, port_vl));
        link_start_sending(fabric, port_of(fabric, port_vl));
    }
}

void credits_update_all(struct fabric *fabric)
{
    for (uint32_t port = 0; port < fabric->port_count; port++)
        for (unsigned vl = 0; vl < fabric->ports[port].vls && fabric->ports[port].up; vl++)
            credits_update(fabric, port_vl_of(fabric, port, vl));
}

uint64_t credits_send(struct fabric *fabric, uint32_t index, uint64_t at)
{
    struct port *port = &fabric->ports[index];
    uint64_t each = wire_time(port, CREDIT_PACKET_BYTES);
    assert(port->peer != NONE);
    for (; port->new_limits; port->new_limits &= (uint16_t)(port->new_limits - 1)) {
        unsigned vl = (unsigned)__builtin_ctz(port->new_limits);
        uint32_t port_vl = port_vl_of(fabric, index, vl);
        struct input_vl *input = &fabric->data->inputs[port_vl];
        at += each;
        port->busy_ps += each;
        input->limit_sent = (uint16_t)credit_limit(input, port);
        /* In the event: VL in bits 0-3, limit from bit 4, sent from bit 16, epoch above bit 32. */
        uint64_t what = vl | (uint64_t)input->limit_sent << 4 |
                        (uint64_t)output_at(fabric, port_vl)->sent << 16 |
                        (uint64_t)port->epoch << 32;
        fabric->data->totals.credit_packets++;
        post_to_peer(fabric, port, DELAY_CREDITS, at + port->flight_ps,
                     (struct event){EVENT_CREDITS, port->peer, what});
    }
    return at;
}

void credits_receive(struct fabric *fabric, uint32_t index, uint64_t what)
{
    struct port *port = &fabric->ports[index];
    uint32_t port_vl = port_vl_of(fabric, index, what & 15);
    struct input_vl *input = &fabric->data->inputs[port_vl];
    if (!port->up || what >> 32 != port->epoch)
        return;
    fabric->data->outputs[port_vl].limit = what >> 4 & (CREDIT_MODULUS - 1);
    /* Links keep the order: packets sent before this one have arrived or are lost. The header of
     * the packet behind it may have arrived. */
    uint16_t sent = what >> 16 & (CREDIT_MODULUS - 1);
    unsigned missing = credit_distance(sent, input->received);
    if (missing && missing < CREDIT_MODULUS / 2) {
        input->received = sent;
        credits_update(fabric, port_vl);
    }
    bool was_ready = port->ready;
    output_vl_update_ready(fabric, port_vl);
    if (port->ready && !was_ready)
        counters_end_wait(fabric, index, port_vl);
    if (port->ready)
        link_start_sending(fabric, index);
}

void credits_refresh(struct fabric *fabric, uint32_t index, uint32_t epoch)
{
    struct port *port = &fabric->ports[index];
    uint64_t later = des_now(fabric->network) + wire_time(port, REPEAT_BYTES);
    struct event event = {EVENT_REFRESH, index, epoch};
    if (port->crosses)
        partitions_post(fabric, later, event);
    else
        des_post(fabric->network, later, event);
}

void credits_repeat(struct fabric *fabric, uint32_t index, uint32_t epoch)
{
    struct port *port = &fabric->ports[index];
    if (!port->up || epoch != port->epoch)
        return;
    port->new_limits = (uint16_t)((1u << port->vls) - 1);
    link_start_sending(fabric, index);
}
