/* Links: a port sends one packet at a time, VL15 before data; the peer receives it after the
 * propagation delay. A link trains when both ends poll and the cable is intact.
 *
 * VL15 has no flow control: a full output drops packets silently. The data packets of this file are
 * only the MADs of general services; they wait in a bounded queue, too. A packet in flight when its
 * link goes down is lost. */
#include "fabric/internal.h"

#include <assert.h>

enum {
    HEADER_BYTES = 20, /* after these, a switch can begin to route */
    DATA_QUEUE_PACKETS = 4096,
};

/* Sends the next management packet from `at` on; returns when it is sent. */
static uint64_t send_management(struct fabric *fabric, uint32_t index, uint64_t at)
{
    struct port *port = &fabric->ports[index];
    uint32_t number = queue_pop(fabric, &port->management);
    if (number == NONE)
        number = queue_pop(fabric, &port->data);
    struct packet *packet = packet_at(fabric, number);
    uint64_t whole = wire_time(port, packet->bytes), lead = whole;
    /* A switch cuts through packets that it forwards by LID; all others must arrive as a whole. */
    const struct node *receiver = node_of(fabric, port->peer);
    if (receiver->is_switch && !mad_is_directed(packet->mad) &&
        !sma_owns_lid(&receiver->sma, 0, packet->header.dlid))
        lead = wire_time(port, HEADER_BYTES);
    /* The counters cover all VLs, including VL15 (16.1.3.5). */
    struct sma *sma = &node_of(fabric, index)->sma;
    bool multicast = lid_is_multicast(packet->header.dlid);
    sma_count(sma, port->number, COUNTER_TRANSMIT_PACKETS, 1);
    sma_count(sma, port->number, COUNTER_TRANSMIT_DATA, packet->bytes / 4);
    sma_count(sma, port->number,
              multicast ? COUNTER_TRANSMIT_MULTICAST_PACKETS : COUNTER_TRANSMIT_UNICAST_PACKETS, 1);
    fabric->totals.hops++;
    capture_packet(fabric, index, at, packet);
    packet->link_epoch = port->epoch;
    port->busy_ps += whole;
    des_post(fabric->network, at + lead + port->flight_ps,
             (struct event){EVENT_ARRIVE, port->peer, number});
    return at + whole;
}

static void wake_when_free(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    assert(!port->waking);
    port->waking = true;
    des_post_fifo(fabric->network, DELAY_SENT, port->free_at,
                  (struct event){EVENT_SENT, index, port->epoch});
}

/* Channel arbitration: flow control first, then VL15, then data by its tables. */
void link_start_sending(struct fabric *fabric, uint32_t index)
{
    struct port *port = &fabric->ports[index];
    uint64_t now = des_now(fabric->network);
    if (!port->up)
        return;
    if (port->free_at > now) {
        if (!port->waking)
            wake_when_free(fabric, index);
        return;
    }
    if (port->sent_vl != NONE)
        output_vl_free_sent(fabric, index);
    if (port->free_at > now) /* a packet that got the room is being sent already */
        return;
    uint64_t at = port->new_limits ? credits_send(fabric, index, now) : now;
    port->free_at = at;
    if (port->management.count || port->data.count)
        port->free_at = send_management(fabric, index, at);
    else if (port->ready)
        output_vl_send(fabric, index, at);
    bool is_needed =
        port->management.count || port->data.count || port->ready || port->new_limits ||
        (port->sent_vl != NONE && output_at(fabric, port->sent_vl)->first_waiting != NONE);
    if (port->free_at > now && is_needed && !port->waking)
        wake_when_free(fabric, index);
}

void link_sent(struct fabric *fabric, uint32_t index, uint32_t epoch)
{
    struct port *port = &fabric->ports[index];
    if (epoch != port->epoch)
        return;
    port->waking = false;
    link_start_sending(fabric, index);
}

void link_output(struct fabric *fabric, uint32_t index, uint32_t number)
{
    struct port *port = &fabric->ports[index];
    struct node *node = node_of(fabric, index);
    bool management = packet_at(fabric, number)->header.vl == VL_MANAGEMENT;
    struct packet_queue *queue = management ? &port->management : &port->data;
    uint32_t room = management ? node->options.vl15_buffer : DATA_QUEUE_PACKETS;
    bool open =
        port->up && (management || sma_port_state(&node->sma, port->number) == PORT_STATE_ACTIVE);
    if (!open || queue->count >= room) {
        sma_count(&node->sma, port->number,
                  open && management ? COUNTER_VL15_DROPPED : COUNTER_TRANSMIT_DISCARDS, 1);
        if (!open)
            sma_count(&node->sma, port->number, COUNTER_INACTIVE_DISCARDS, 1);
        packet_drop(fabric, number);
        return;
    }
    queue_push(fabric, queue, number);
    link_start_sending(fabric, index);
}

static uint64_t physical_state(const struct fabric *fabric, uint32_t index)
{
    return wire_get(fabric_port_info(fabric, index), PORT_INFO_PORT_PHYSICAL_STATE);
}

static bool may_train(const struct fabric *fabric, uint32_t index)
{
    const struct port *port = &fabric->ports[index];
    const struct node *node = &fabric->nodes[port->node];
    return node->up && port->cable && !port->up && sma_needs_link(&node->sma);
}

/* One end polls; the other polls, too, or sleeps and is woken. */
static bool can_train(const struct fabric *fabric, uint32_t a, uint32_t b)
{
    uint64_t of_a = physical_state(fabric, a), of_b = physical_state(fabric, b);
    bool a_polls = of_a == PHYSICAL_POLLING, b_polls = of_b == PHYSICAL_POLLING;
    return may_train(fabric, a) && may_train(fabric, b) && (a_polls || b_polls) &&
           (a_polls || of_a == PHYSICAL_SLEEP) && (b_polls || of_b == PHYSICAL_SLEEP);
}

void link_try_training(struct fabric *fabric, uint32_t index)
{
    uint32_t peer = fabric->ports[index].peer;
    if (peer == NONE || !can_train(fabric, index, peer))
        return;
    /* One event for both ends, kept at the lower one. */
    struct port *keeper = &fabric->ports[index < peer ? index : peer];
    des_cancel(fabric->network, keeper->training);
    keeper->training =
        des_schedule(fabric->network, des_now(fabric->network) + fabric->options.training_ps,
                     (struct event){EVENT_TRAINED, index < peer ? index : peer, 0});
}

/* From narrow to wide, unlike the bits: that of WIDTH_2X is the highest. */
static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};

static unsigned highest_bit(unsigned bits)
{
    return bits ? 1u << (31 - __builtin_clz(bits)) : 0;
}

/* Extended speeds enabled: FDR to NDR in the low four bits, XDR from the second field above. */
static unsigned enabled_ext(const uint8_t *info)
{
    return (unsigned)(wire_get(info, PORT_INFO_LINK_SPEED_EXT_ENABLED) |
                      wire_get(info, PORT_INFO_LINK_SPEED_EXT2_ENABLED) << 4);
}

/* The common settings of both ends, as far as the cable allows; width 0 if there are none. */
struct terms {
    unsigned width, speed, ext;
    bool fdr10;
};

static struct terms negotiate(const struct fabric *fabric, uint32_t a, uint32_t b)
{
    const struct port *ends[2] = {&fabric->ports[a], &fabric->ports[b]};
    const struct sma_port *pa = sma_port(&fabric->nodes[ends[0]->node].sma, ends[0]->number);
    const struct sma_port *pb = sma_port(&fabric->nodes[ends[1]->node].sma, ends[1]->number);
    enum link_speed cable = fabric->topology->ports.items[a].speed;
    struct terms terms = {
        .speed = highest_bit((unsigned)(wire_get(pa->info, PORT_INFO_LINK_SPEED_ENABLED) &
                                        wire_get(pb->info, PORT_INFO_LINK_SPEED_ENABLED)) &
                             link_speed_mask(cable)),
        .ext =
            highest_bit(enabled_ext(pa->info) & enabled_ext(pb->info) & link_speed_ext_mask(cable)),
    };
    /* FDR10 has no bit of its own; it is enabled beside QDR. */
    terms.fdr10 = !terms.ext && terms.speed == 1u << SPEED_QDR && pa->fdr10 && pb->fdr10;
    uint64_t common = wire_get(pa->info, PORT_INFO_LINK_WIDTH_ENABLED) &
                      wire_get(pb->info, PORT_INFO_LINK_WIDTH_ENABLED);
    for (unsigned i = 0; i < sizeof widths && terms.speed; i++)
        if (common & widths[i])
            terms.width = widths[i];
    return terms;
}

bool fabric_link_is_training(const struct fabric *fabric, uint32_t port)
{
    assert(port < fabric->port_count);
    uint32_t peer = fabric->ports[port].peer;
    return peer != NONE && can_train(fabric, port, peer) && negotiate(fabric, port, peer).width;
}

/* The link inside a device (`is_function`) becomes Active at once and without a report, since the
 * manager has requested it. */
static void bring_up(struct fabric *fabric, uint32_t index, bool is_function)
{
    uint32_t ends[2] = {index, fabric->ports[index].peer};
    assert(ends[1] != NONE);
    if (!can_train(fabric, ends[0], ends[1]))
        return;
    struct terms terms = negotiate(fabric, ends[0], ends[1]);
    if (!terms.width)
        return; /* no common setting: polls without end */
    enum link_speed speed = terms.ext     ? SPEED_FDR + (unsigned)__builtin_ctz(terms.ext)
                            : terms.fdr10 ? SPEED_FDR10
                                          : SPEED_SDR + (unsigned)__builtin_ctz(terms.speed);
    uint64_t rate = link_data_rate((enum link_width)terms.width, speed);
    fabric->mixed_rates |= fabric->last_rate && fabric->last_rate != rate;
    fabric->last_rate = rate;
    for (unsigned i = 0; i < 2; i++) {
        struct port *port = &fabric->ports[ends[i]];
        assert(!port->up && rate > 0);
        port->up = true;
        port->ps_per_8_bytes = 64 * TIME_S / rate;
        port->free_at = des_now(fabric->network);
        struct sma *sma = &node_of(fabric, ends[i])->sma;
        (is_function ? sma_function_up : sma_link_up)(sma, port->number, terms.width, terms.speed,
                                                      terms.ext, terms.fdr10);
    }
    for (unsigned i = 0; i < 2; i++) {
        if (fabric->data)
            data_port_link_up(fabric, ends[i]);
        if (!is_function)
            node_service_agent(fabric, fabric->ports[ends[i]].node);
    }
    fabric->totals.links_up++;
}

void link_trained(struct fabric *fabric, uint32_t index)
{
    bring_up(fabric, index, false);
}

static void drop_end(struct fabric *fabric, uint32_t index, unsigned state)
{
    struct port *port = &fabric->ports[index];
    struct sma *sma = &node_of(fabric, index)->sma;
    if (state == PHYSICAL_NO_CHANGE)
        state =
            (unsigned)wire_get(sma->ports[port->number].info, PORT_INFO_LINK_DOWN_DEFAULT_STATE);
    port->epoch++;
    assert(port->epoch); /* after an overflow, packets of the first link would be valid again */
    port->up = port->waking = port->active = false;
    queue_clear(fabric, &port->management);
    queue_clear(fabric, &port->data);
    sma_link_down(sma, port->number, state);
    if (fabric->data)
        data_port_link_down(fabric, index);
}

/* Takes a link down: the end at `index` enters the given state (PHYSICAL_NO_CHANGE: its default),
 * the other end its default. Queued packets and packets in flight are lost. */
void link_drop(struct fabric *fabric, uint32_t index, unsigned state)
{
    assert(fabric->ports[index].up && fabric->totals.links_up > 0);
    uint32_t peer = fabric->ports[index].peer;
    drop_end(fabric, index, state);
    drop_end(fabric, peer, PHYSICAL_NO_CHANGE);
    fabric->totals.links_up--;
    node_service_agent(fabric, fabric->ports[index].node);
    node_service_agent(fabric, fabric->ports[peer].node);
    link_try_training(fabric, index);
}

/* Executes a physical state command of a manager. */
void link_command(struct fabric *fabric, uint32_t index, unsigned state)
{
    const struct port *port = &fabric->ports[index];
    if (port->up) {
        link_drop(fabric, index, state);
        return;
    }
    wire_set(node_of(fabric, index)->sma.ports[port->number].info, PORT_INFO_PORT_PHYSICAL_STATE,
             state);
    link_try_training(fabric, index);
}

/* With port_follows: the other end of the link takes the state that a manager set at this one. */
void link_follow_state(struct fabric *fabric, uint32_t index)
{
    uint32_t peer = fabric->ports[index].peer;
    if (peer == NONE || !fabric->ports[peer].up)
        return;
    sma_follow_peer(&node_of(fabric, peer)->sma, fabric->ports[peer].number,
                    sma_port_state(&node_of(fabric, index)->sma, fabric->ports[index].number));
    if (fabric->data)
        data_port_refresh(fabric, peer);
}

void link_follow_function(struct fabric *fabric, uint32_t index)
{
    assert(fabric->ports[index].peer != NONE);
    uint32_t ends[2] = {index, fabric->ports[index].peer};
    bool wanted = sma_needs_link(&node_of(fabric, ends[1])->sma);
    if (!wanted && fabric->ports[index].up)
        link_drop(fabric, index, PHYSICAL_NO_CHANGE);
    for (unsigned i = 0; i < 2 && fabric->data; i++) { /* its LIDs and settings have changed */
        data_port_refresh_node(fabric, fabric->ports[ends[i]].node);
        data_port_refresh(fabric, ends[i]);
    }
    if (wanted && !fabric->ports[index].up)
        bring_up(fabric, index, true);
}
