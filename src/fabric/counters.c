/* Performance counters of data packets, as the agents return them (16.1.3.5).
 *
 * The data path counts the packets and bytes that each output VL has sent. A query of the counters
 * computes both ends of a link from that: the packets that one end has sent, the other has
 * received, except for those lost on the link, which are recorded here. Hence a packet counts at
 * both ends as soon as it is sent, and only lost packets cost time here.
 *
 * PortXmitWait is the time in which a port had packets and no credits for any of them, in units of
 * the time of four bytes on its link. */
#include "fabric/internal.h"

#include <assert.h>

enum { VCRC_BYTES = 2, WORD_BYTES = 4 }; /* data counters: 32-bit words, VCRC not counted */

struct link_counts {
    uint64_t packets, bytes, multicasts;
};

struct port_counts {
    struct link_counts sent, received; /* already added to the counters of the agent */
    struct link_counts missed;         /* sent by the peer, but never received */
    uint64_t multicasts;               /* sent */
    uint64_t wait_ps, reported_wait_ps;
};

void counters_start(struct fabric *fabric)
{
    struct data *data = fabric->data;
    data->counts = arena_alloc(&data->memory, fabric->port_count * sizeof *data->counts);
}

void counters_note_missed(struct fabric *fabric, uint32_t port,
                          const struct data_packet *data_packet)
{
    struct link_counts *missed = &fabric->data->counts[port].missed;
    missed->packets++;
    missed->bytes += data_packet->bytes;
    missed->multicasts += lid_is_multicast(data_packet->dlid);
}

void counters_note_multicast(struct fabric *fabric, uint32_t port)
{
    fabric->data->counts[port].multicasts++;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void counters_end_wait(struct fabric *fabric, uint32_t port, uint32_t port_vl)
{
    uint64_t now = des_now(fabric->network);
    uint64_t since = later(fabric->ports[port].free_at, fabric->data->outputs[port_vl].head_since);
    if (since < now)
        fabric->data->counts[port].wait_ps += now - since;
}

static struct link_counts sent_by(const struct fabric *fabric, uint32_t port)
{
    struct link_counts sum = {.multicasts = fabric->data->counts[port].multicasts};
    for (unsigned vl = 0; vl < 1u << fabric->data->vl_shift; vl++) {
        const struct output_vl *output = &fabric->data->outputs[port_vl_of(fabric, port, vl)];
        sum.packets += output->packets;
        sum.bytes += output->bytes;
    }
    return sum;
}

static struct link_counts received_by(const struct fabric *fabric, uint32_t port)
{
    const struct link_counts *missed = &fabric->data->counts[port].missed;
    if (fabric->ports[port].peer == NONE)
        return (struct link_counts){0};
    struct link_counts sum = sent_by(fabric, fabric->ports[port].peer);
    sum.packets -= missed->packets;
    sum.bytes -= missed->bytes;
    sum.multicasts -= missed->multicasts;
    return sum;
}

static uint64_t words(const struct link_counts *counts)
{
    return (counts->bytes - VCRC_BYTES * counts->packets) / WORD_BYTES;
}

/* Counters never decrease: after the loss of a packet that was counted in flight, they pause until
 * the next packet. */
static void add_to_agent(struct sma_counters *counters, struct link_counts *reported,
                         const struct link_counts *now, const enum port_counter which[4])
{
    if (now->packets < reported->packets || now->bytes < reported->bytes ||
        now->multicasts < reported->multicasts ||
        now->packets - now->multicasts < reported->packets - reported->multicasts)
        return;
    counters->total[which[0]] += words(now) - words(reported);
    counters->total[which[1]] += now->packets - reported->packets;
    counters->total[which[2]] += now->multicasts - reported->multicasts;
    counters->total[which[3]] +=
        (now->packets - now->multicasts) - (reported->packets - reported->multicasts);
    *reported = *now;
}

void counters_fold_port(const struct fabric *fabric, uint32_t index)
{
    assert(fabric->data && index < fabric->port_count);
    static const enum port_counter xmit[] = {COUNTER_TRANSMIT_DATA, COUNTER_TRANSMIT_PACKETS,
                                             COUNTER_TRANSMIT_MULTICAST_PACKETS,
                                             COUNTER_TRANSMIT_UNICAST_PACKETS};
    static const enum port_counter rcv[] = {COUNTER_RECEIVE_DATA, COUNTER_RECEIVE_PACKETS,
                                            COUNTER_RECEIVE_MULTICAST_PACKETS,
                                            COUNTER_RECEIVE_UNICAST_PACKETS};
    const struct port *port = &fabric->ports[index];
    struct sma_counters *counters = &fabric->nodes[port->node].sma.ports[port->number].counters;
    struct port_counts *counts = &fabric->data->counts[index];
    struct link_counts sent = sent_by(fabric, index), received = received_by(fabric, index);
    add_to_agent(counters, &counts->sent, &sent, xmit);
    add_to_agent(counters, &counts->received, &received, rcv);
    uint64_t now = des_now(fabric->network), since = now, tick = later(port->ps_per_8_bytes / 2, 1);
    for (unsigned vl = 0; vl < port->vls && !port->ready; vl++) { /* a wait that has not ended */
        const struct output_vl *output = &fabric->data->outputs[port_vl_of(fabric, index, vl)];
        if (output->queue.head != NONE && later(port->free_at, output->head_since) < since)
            since = later(port->free_at, output->head_since);
    }
    uint64_t wait = counts->wait_ps + now - since;
    if (wait / tick > counts->reported_wait_ps / tick) {
        counters->total[COUNTER_TRANSMIT_WAIT] += wait / tick - counts->reported_wait_ps / tick;
        counts->reported_wait_ps = wait;
    }
}

void counters_fold(const struct fabric *fabric, uint32_t node)
{
    const struct node *of = &fabric->nodes[node];
    for (unsigned number = 1; number <= of->sma.port_count && fabric->data; number++)
        counters_fold_port(fabric, of->first_port + number);
}

/* The new agent of a node that came back starts at zero. */
void counters_forget(struct fabric *fabric, uint32_t node)
{
    const struct node *of = &fabric->nodes[node];
    for (unsigned number = 1; number <= of->sma.port_count; number++) {
        uint32_t index = of->first_port + number;
        struct port_counts *counts = &fabric->data->counts[index];
        counts->sent = sent_by(fabric, index);
        counts->received = received_by(fabric, index);
        counts->reported_wait_ps = counts->wait_ps;
    }
}

void counters_count(struct fabric *fabric, uint32_t port, enum port_counter counter)
{
    sma_count(&node_of(fabric, port)->sma, fabric->ports[port].number, counter, 1);
}

void counters_discard(struct fabric *fabric, uint32_t port, enum loss cause)
{
    static const enum port_counter details[LOSS_CAUSES] = {
        [LOSS_INACTIVE_PORT] = COUNTER_INACTIVE_DISCARDS,
        [LOSS_DEAD_LINK] = COUNTER_INACTIVE_DISCARDS,
        [LOSS_LIFETIME] = COUNTER_LIFETIME_DISCARDS,
        [LOSS_HEAD_OF_QUEUE] = COUNTER_HEAD_OF_QUEUE_DISCARDS,
    };
    counters_count(fabric, port, COUNTER_TRANSMIT_DISCARDS);
    if (details[cause])
        counters_count(fabric, port, details[cause]);
}
