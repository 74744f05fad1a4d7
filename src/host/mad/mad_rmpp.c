/* RMPP transfers of agents: segmentation and reassembly of messages.
 *
 * wire/rmpp.h has the protocol. This file finds the transfer that a packet belongs to, passes
 * packets between it and the fabric, runs its timer and delivers messages and errors to the
 * program. A message that answers a request is accepted only while the request is outstanding. A
 * finished receiver is kept for a while to acknowledge repeated segments; an agent keeps the latest
 * LINGERING_RECEIVERS, since each holds its message. A port has at most REQUEST_RECEIVERS requests
 * of at most REQUEST_BYTES under way to an agent, so that a port that does not end its transfers
 * neither uses much memory nor keeps others from sending. An agent has at most SENDER_BYTES
 * outstanding to one LID, apart from a single longer message: further messages are dropped, as if
 * the peer did not answer. So a peer that requests tables and does not acknowledge them uses
 * bounded memory. */
#include "host/mad/mad_internal.h"
#include "wire/rmpp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum {
    SENDER_BYTES = 32 << 20,
    OPEN_RECEIVERS = 32,   /* of responses: for an agent */
    REQUEST_RECEIVERS = 4, /* of requests: for an agent and a source LID */
    REQUEST_BYTES = 1 << 20,
    LINGERING_RECEIVERS = 4,
    ACKNOWLEDGE_MOST_MS = 2000
};

struct transfer {
    struct transfer *before, *after; /* of the same layer, most recently used first */
    struct mad_agent *agent;
    struct rmpp_sender *sender; /* NULL if this is a receiver */
    struct rmpp_receiver *receiver;
    uint64_t tid;
    uint16_t lid; /* of the peer */
    size_t bytes; /* sender: of the message */
    uint32_t qp;
    struct packet_header packet; /* of packets to the peer */
    struct mad_head head;        /* sender: from the program */
    uint8_t header[MAD_HEADER_BYTES];
    struct fabric_delivery first; /* receiver: the first segment's packet */
    bool delivered;
    uint64_t timer_time;
    des_handle timer;
    uint32_t slot;
};

static void unlink_transfer(struct mad_rmpp *rmpp, struct transfer *transfer)
{
    if (transfer->before)
        transfer->before->after = transfer->after;
    else
        rmpp->first = transfer->after;
    if (transfer->after)
        transfer->after->before = transfer->before;
}

static void link_first(struct mad_rmpp *rmpp, struct transfer *transfer)
{
    transfer->before = NULL;
    transfer->after = rmpp->first;
    if (rmpp->first)
        rmpp->first->before = transfer;
    rmpp->first = transfer;
}

static struct transfer *begin_transfer(struct mad_agent *agent, uint64_t tid,
                                       const struct packet_header *packet)
{
    struct mad_rmpp *rmpp = &agent->file->layer->rmpp;
    struct transfer *transfer = mem_zalloc(1, sizeof *transfer);
    transfer->agent = agent;
    transfer->tid = tid;
    transfer->packet = *packet;
    transfer->lid = packet->dlid;
    transfer->qp = packet->dest_qp;
    uint32_t slot = 0;
    while (slot < rmpp->slots.count && rmpp->slots.items[slot])
        slot++;
    if (slot == rmpp->slots.count)
        vec_push(&rmpp->slots, transfer);
    rmpp->slots.items[slot] = transfer;
    transfer->slot = slot;
    link_first(rmpp, transfer);
    return transfer;
}

static void end_transfer(struct transfer *transfer)
{
    struct mad_layer *layer = transfer->agent->file->layer;
    assert(layer->rmpp.slots.items[transfer->slot] == transfer);
    unlink_transfer(&layer->rmpp, transfer);
    layer->rmpp.slots.items[transfer->slot] = NULL;
    des_cancel(layer->timers, transfer->timer);
    rmpp_sender_free(transfer->sender);
    rmpp_receiver_free(transfer->receiver);
    mem_free(transfer);
}

/* Ends the transfers of an agent: all, or its finished receivers but the latest ones. */
static void end_transfers(const struct mad_agent *agent, bool all)
{
    unsigned lingering = 0;
    struct transfer *next = agent->file->layer->rmpp.first;
    while (next) {
        struct transfer *transfer = next;
        next = transfer->after;
        if (transfer->agent == agent &&
            (all || (transfer->delivered && ++lingering > LINGERING_RECEIVERS)))
            end_transfer(transfer);
    }
}

void mad_rmpp_drop(struct mad_agent *agent)
{
    end_transfers(agent, true);
}

/* ---- delivery to the program ---- */

static void deliver_message(struct transfer *transfer)
{
    struct mad_agent *agent = transfer->agent;
    struct mad_layer *layer = agent->file->layer;
    const uint8_t *mad = transfer->first.mad;
    size_t bytes;
    const uint8_t *message = rmpp_receiver_message(transfer->receiver, &bytes);
    uint32_t request = mad_request_find(layer, transfer->tid, (unsigned)wire_get(mad, MAD_CLASS));
    transfer->delivered = true;
    if (mad_is_response(mad) && request == NONE)
        return;
    mad_agent_give(agent, &transfer->first, message, bytes);
    if (mad_is_response(mad))
        mad_request_done(layer, request);
}

/* ---- packets and timers ---- */

/* A timer is not moved for each segment: one that expires too early is started again. */
static void restart_timer(struct transfer *transfer)
{
    struct mad_layer *layer = transfer->agent->file->layer;
    uint64_t deadline = transfer->sender ? rmpp_sender_deadline(transfer->sender)
                                         : rmpp_receiver_deadline(transfer->receiver);
    if (deadline == TIME_NEVER || (transfer->timer && transfer->timer_time <= deadline))
        return;
    des_cancel(layer->timers, transfer->timer);
    transfer->timer_time = deadline;
    transfer->timer =
        des_schedule(layer->timers, deadline,
                     (struct event){.kind = transfer->sender ? TIMER_SENDER : TIMER_RECEIVER,
                                    .b = transfer->slot});
}

/* Sends pending packets, delivers a finished message, ends a finished transfer. */
static void advance_transfer(struct transfer *transfer, uint64_t now)
{
    struct mad_agent *agent = transfer->agent;
    uint8_t mad[MAD_BYTES];
    while (transfer->sender ? rmpp_sender_next(transfer->sender, now, mad)
                            : rmpp_receiver_next(transfer->receiver, now, mad))
        fabric_send(agent->file->layer->fabric, agent->file->port, &transfer->packet, mad);
    enum rmpp_state state = transfer->sender ? rmpp_sender_state(transfer->sender)
                                             : rmpp_receiver_state(transfer->receiver);
    /* An abort by the peer is not reported: neither does the kernel. */
    if (transfer->sender && state == RMPP_FAILED &&
        rmpp_sender_status(transfer->sender) == RMPP_STATUS_TOO_MANY_RETRIES) {
        agent->file->status.timeouts++;
        transfer->head.status = ETIMEDOUT;
        mad_file_enqueue(agent->file, &transfer->head, transfer->header, MAD_HEADER_BYTES);
    }
    if (transfer->receiver && state == RMPP_DONE && !transfer->delivered) {
        deliver_message(transfer);
        end_transfers(agent, false);
    }
    bool over =
        state == RMPP_FAILED || state == RMPP_OVER || (transfer->sender && state == RMPP_DONE);
    if (over)
        end_transfer(transfer);
    else
        restart_timer(transfer);
}

void mad_rmpp_expire(struct mad_layer *layer, uint64_t now, const struct event *event)
{
    struct transfer *transfer = layer->rmpp.slots.items[event->b];
    assert(transfer && (transfer->sender != NULL) != (transfer->receiver != NULL));
    transfer->timer = 0;
    if (transfer->sender)
        rmpp_sender_expire(transfer->sender, now);
    else
        rmpp_receiver_expire(transfer->receiver, now);
    advance_transfer(transfer, now);
}

/* ---- sending ---- */

static bool has_room(const struct mad_agent *agent, uint16_t lid, size_t bytes)
{
    size_t outstanding = 0;
    for (const struct transfer *it = agent->file->layer->rmpp.first; it; it = it->after)
        outstanding += it->agent == agent && it->sender && it->lid == lid ? it->bytes : 0;
    return !outstanding || outstanding + bytes <= SENDER_BYTES;
}

int mad_rmpp_send(struct mad_agent *agent, uint64_t now, const struct mad_head *head,
                  const struct packet_header *packet, const uint8_t *message, size_t bytes)
{
    struct mad_layer *layer = agent->file->layer;
    struct rmpp_options options = rmpp_defaults;
    struct rmpp_sender *sender;
    uint8_t first[MAD_BYTES] = {0};
    if (bytes > MESSAGE_LIMIT)
        return -EINVAL;
    if (!has_room(agent, packet->dlid, bytes)) {
        agent->file->status.dropped++;
        return -ENOMEM;
    }
    uint8_t *copy = mem_alloc(bytes);
    memcpy(copy, message, bytes);
    bool request = !mad_is_response(copy);
    if (request)
        wire_set_bits(copy, 64, 32, agent->high_tid);
    memcpy(first, copy, bytes < MAD_BYTES ? bytes : MAD_BYTES);
    if (head->timeout_ms && head->timeout_ms < ACKNOWLEDGE_MOST_MS)
        options.acknowledge_timeout_ps = head->timeout_ms * TIME_MS;
    options.retries = head->retries;
    int result = mad_is_duplicate(layer, first)
                     ? -EINVAL
                     : rmpp_sender_create(&sender, copy, bytes, &options);
    mem_free(copy);
    if (result < 0)
        return result;
    struct transfer *transfer = begin_transfer(agent, wire_get(first, MAD_TID), packet);
    transfer->sender = sender;
    transfer->bytes = bytes;
    transfer->head = *head;
    memcpy(transfer->header, first, sizeof transfer->header);
    if (request && head->timeout_ms) {
        /* RMPP repeats segments; the request as a whole is not repeated. */
        struct mad_head once = *head;
        once.retries = 0;
        mad_request_add(agent, now, &once, packet, first);
    }
    advance_transfer(transfer, now);
    return 0;
}

/* ---- receiving ---- */

/* Passes the packet to the agent's transfers with that peer. Returns the one that accepts it, or
 * NULL. */
static struct transfer *find_receiving(struct mad_agent *agent, uint64_t now,
                                       const struct fabric_delivery *delivery)
{
    struct mad_rmpp *rmpp = &agent->file->layer->rmpp;
    uint64_t tid = wire_get(delivery->mad, MAD_TID);
    for (struct transfer *it = rmpp->first; it; it = it->after) {
        if (it->agent != agent || it->tid != tid || it->lid != delivery->header.slid ||
            it->qp != delivery->header.src_qp)
            continue;
        if (it->sender ? rmpp_sender_receive(it->sender, now, delivery->mad)
                       : rmpp_receiver_receive(it->receiver, now, delivery->mad)) {
            unlink_transfer(rmpp, it);
            link_first(rmpp, it);
            return it;
        }
    }
    return NULL;
}

/* Whether the agent may begin to receive another message of this kind, from this port. */
static bool may_begin_receiver(const struct mad_agent *agent,
                               const struct fabric_delivery *delivery, bool solicited)
{
    unsigned open = 0;
    for (const struct transfer *it = agent->file->layer->rmpp.first; it; it = it->after)
        open += it->agent == agent && it->receiver && !it->delivered &&
                mad_is_response(it->first.mad) == solicited &&
                (solicited || it->lid == delivery->header.slid);
    return open < (solicited ? OPEN_RECEIVERS : REQUEST_RECEIVERS);
}

static struct transfer *begin_receiver(struct mad_agent *agent, uint64_t now,
                                       const struct fabric_delivery *delivery)
{
    struct mad_layer *layer = agent->file->layer;
    uint64_t tid = wire_get(delivery->mad, MAD_TID);
    unsigned class = (unsigned)wire_get(delivery->mad, MAD_CLASS);
    bool solicited = mad_is_response(delivery->mad);
    struct rmpp_options options = rmpp_defaults;
    if ((solicited && mad_request_find(layer, tid, class) == NONE) ||
        !may_begin_receiver(agent, delivery, solicited))
        return NULL;
    if (!solicited)
        options.message_max = REQUEST_BYTES;
    struct rmpp_receiver *receiver = rmpp_receiver_create(&options);
    if (!rmpp_receiver_receive(receiver, now, delivery->mad)) {
        rmpp_receiver_free(receiver);
        return NULL;
    }
    struct packet_header back = mad_answer_header(&delivery->header);
    back.q_key = Q_KEY_GSI;
    struct transfer *transfer = begin_transfer(agent, tid, &back);
    transfer->receiver = receiver;
    transfer->first = *delivery;
    return transfer;
}

void mad_rmpp_receive(struct mad_agent *agent, uint64_t now, const struct fabric_delivery *delivery)
{
    struct transfer *transfer = find_receiving(agent, now, delivery);
    if (!transfer)
        transfer = begin_receiver(agent, now, delivery);
    if (transfer)
        advance_transfer(transfer, now);
}
