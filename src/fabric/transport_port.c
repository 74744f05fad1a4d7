/* Adapters whose packets are made by a transport layer: the border between it and the data path.
 *
 * An output VL of such an adapter has at most one transport packet in its queue, so that packets
 * are built as late as possible. The queue has room for it beside the buffer, which senders of
 * traffic may fill; the VL serves both in the order of their arrival. When the packet leaves, the
 * transport layer is asked for the next one. A packet occupies the adapter and the host's bus
 * (host_bus.c) from when it enters its VL, and the next one waits for that. Not modelled: the time
 * of the first packet of a message, static rate control (pacing.c), and multicast. */
#include "fabric/internal.h"

#include <assert.h>

void fabric_set_transport(struct fabric *fabric, const struct data_transport *transport)
{
    fabric_unite(fabric);
    data_start(fabric);
    struct data *data = fabric->data;
    size_t count = (size_t)fabric->port_count << data->vl_shift;
    assert(!data->transport_waits);
    data->transport = *transport;
    data->transport_waits = mem_alloc(count * sizeof *data->transport_waits);
    for (size_t i = 0; i < count; i++)
        data->transport_waits[i] = NONE;
    uint32_t blocks = blocks_of(fabric_transport_mtu(fabric) + TRANSPORT_OVERHEAD_MAX);
    if (blocks > data->largest_blocks) {
        data->largest_blocks = blocks;
        credits_update_all(fabric); /* larger packets need limits to be sent earlier */
    }
}

unsigned fabric_transport_mtu(const struct fabric *fabric)
{
    unsigned mtu = TRANSPORT_MTU_MAX;
    for (uint32_t i = 0; i < fabric->node_count; i++) {
        const struct node_options *options = &fabric->nodes[i].options;
        while (mtu > options->agent.mtu ||
               blocks_of(mtu + TRANSPORT_OVERHEAD_MAX) > options->buffer_bytes / CREDIT_BYTES)
            mtu /= 2;
    }
    return mtu < 256 ? 0 : mtu;
}

static unsigned vl_of_sl(struct fabric *fabric, uint32_t index, unsigned sl)
{
    const struct port *port = &fabric->ports[index];
    return node_of(fabric, index)->sma.sl2vl[port->number][sl / 2] >> (sl % 2 ? 0 : 4) & 15;
}

/* The SLs whose VL takes a packet now. A packet whose SL has no VL, or that meets a closed port, is
 * taken and lost (7.2.7): its sender notices by a time-out. */
static uint16_t free_service_levels(struct fabric *fabric, uint32_t index)
{
    uint16_t service_levels = 0;
    for (unsigned sl = 0; sl < 16; sl++) {
        unsigned vl = vl_of_sl(fabric, index, sl);
        if (vl >= fabric->ports[index].vls ||
            fabric->data->transport_waits[port_vl_of(fabric, index, vl)] == NONE)
            service_levels |= (uint16_t)(1u << sl);
    }
    return service_levels;
}

static uint32_t make_data_packet(struct fabric *fabric, const struct transport_packet *packet)
{
    struct data *data = fabric->data;
    uint64_t now = des_now(fabric->network);
    uint32_t carried = pool_take(&data->carried), number = data_packet_new(data);
    assert(!lid_is_multicast(packet->dlid) && carried < NONE - CARRIES_TRANSPORT);
    data->carried.items[carried].packet = *packet;
    *data_packet_at(data, number) = (struct data_packet){
        .made = now,
        .entered = now,
        .since = now,
        .tail = now,
        .sender = CARRIES_TRANSPORT + carried,
        .destination = NONE,
        .dlid = packet->dlid,
        .payload = (uint16_t)packet->payload.bytes,
        .bytes = (uint16_t)transport_packet_bytes(packet),
        .p_key = packet->p_key,
        .sl = packet->sl & 15,
        .hop_limit = packet->global ? packet->route.hop_limit : 0,
        .multicast = NONE,
    };
    data->transport_made++;
    data->travelling++;
    return number;
}

/* Whether the adapter can read the next packet from memory; if not, the owner is called then. */
static bool bus_is_free(struct fabric *fabric, uint32_t index)
{
    if (!switch_core_of(fabric, &fabric->ports[index])->has_bus)
        return true;
    uint64_t *called_at = &node_of(fabric, index)->host_side.called_at;
    uint64_t until = host_bus_reads_until(fabric, index);
    if (until <= des_now(fabric->network))
        return true;
    if (*called_at != until)
        fabric_call_transport(fabric, index, until);
    *called_at = until;
    return false;
}

void fabric_offer_transport(struct fabric *fabric, uint32_t index)
{
    struct data *data = fabric->data;
    const struct port *port = &fabric->ports[index];
    uint64_t now = des_now(fabric->network);
    uint16_t service_levels;
    struct transport_packet packet;
    while (
        (service_levels = free_service_levels(fabric, index)) != 0 && bus_is_free(fabric, index) &&
        data->transport.next_packet(data->transport.context, now, index, service_levels, &packet)) {
        uint32_t number = make_data_packet(fabric, &packet);
        unsigned vl = vl_of_sl(fabric, index, packet.sl);
        if (!port->open || vl >= port->vls) {
            data_lose(fabric, number, port->open ? LOSS_NO_VL : cause_of_closed_port(fabric, index),
                      index);
            /* The loop must end although the owner may always have a packet. */
            fabric_call_transport(fabric, index, now + TIME_US);
            return;
        }
        uint32_t port_vl = port_vl_of(fabric, index, vl);
        struct output_vl *output = output_at(fabric, port_vl);
        data_packet_at(data, number)->vl = vl & 15;
        output->used = (uint16_t)(output->used + blocks_of(data_packet_at(data, number)->bytes));
        if (switch_core_of(fabric, port)->has_bus)
            host_bus_read(fabric, index, data_packet_at(data, number)->payload, false);
        data->transport_waits[port_vl] = number;
        data->totals.entered++;
        deadlock_watch(fabric);
        output_vl_push(fabric, port_vl, number);
    }
}

void transport_port_sent(struct fabric *fabric, uint32_t port_vl, uint32_t number, uint64_t at)
{
    struct data *data = fabric->data;
    const struct transport_packet *packet = carried_packet_of(data, data_packet_at(data, number));
    uint32_t index = port_of(fabric, port_vl);
    capture_transport(fabric, index, at, vl_of(fabric, port_vl), packet);
    if (data->transport_waits[port_vl] != number)
        return; /* at a switch */
    data->transport_waits[port_vl] = NONE;
    fabric_offer_transport(fabric, index);
}

struct transport_packet transport_port_take(struct fabric *fabric, uint32_t number, uint32_t index)
{
    struct data *data = fabric->data;
    const struct data_packet *data_packet = data_packet_at(data, number);
    struct transport_packet packet = *carried_packet_of(data, data_packet);
    uint32_t port_vl = port_vl_of(fabric, index, data_packet->vl);
    if (data->transport_waits[port_vl] == number) /* lost in the queue of its source */
        data->transport_waits[port_vl] = NONE;
    pool_give(&data->carried, data_packet->sender - CARRIES_TRANSPORT);
    pool_give(&data->data_packets, number);
    return packet;
}

/* The agent's timers begin now: its trap is repeated later. The network may be ahead of a timer
 * that is due on another clock; that one comes first. */
static void advance_timers(struct fabric *fabric)
{
    uint64_t now = des_now(fabric->network), next = des_next_time(fabric->timers);
    des_advance(fabric->timers, next < now ? next : now);
}

void fabric_report_p_key(struct fabric *fabric, uint32_t port,
                         const struct sma_key_violation *violation)
{
    advance_timers(fabric);
    sma_report_p_key(&node_of(fabric, port)->sma, fabric->ports[port].number, violation);
    node_service_agent(fabric, fabric->ports[port].node);
}

void fabric_report_q_key(struct fabric *fabric, uint32_t port,
                         const struct sma_key_violation *violation)
{
    advance_timers(fabric);
    sma_report_q_key(&node_of(fabric, port)->sma, fabric->ports[port].number, violation);
    node_service_agent(fabric, fabric->ports[port].node);
}

void fabric_call_transport(struct fabric *fabric, uint32_t port, uint64_t time)
{
    des_post(fabric->network, time, (struct event){EVENT_TRANSPORT, port, 0});
}

void transport_port_due(struct fabric *fabric, uint32_t port)
{
    struct data *data = fabric->data;
    data->transport.due(data->transport.context, des_now(fabric->network), port);
}

unsigned transport_port_blocks(const struct fabric *fabric, uint32_t port_vl)
{
    const struct data *data = fabric->data;
    const struct port *port = &fabric->ports[port_of(fabric, port_vl)];
    uint32_t number = data->transport_waits ? data->transport_waits[port_vl] : NONE;
    unsigned blocks = data->transport_waits && port->sent_vl == port_vl ? port->sent_blocks : 0;
    return number == NONE ? blocks : blocks + blocks_of(data->data_packets.items[number].bytes);
}
