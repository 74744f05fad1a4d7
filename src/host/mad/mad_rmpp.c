/* RMPP conversations of agents: messages cut into segments, segments put together.
 *
 * The protocol itself is wire/rmpp; this finds the conversation that a packet belongs to, carries
 * packets between it and the fabric, keeps its timer, and decides what a program hears of it. A
 * message that answers a request is taken only while the request waits. A finished receiver lingers
 * to acknowledge segments that come twice, but only the latest few of an agent, since each holds
 * its message. */
#include "host/mad/mad_internal.h"
#include "wire/rmpp.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

enum { OPEN_RECEIVERS = 32, LINGERING_RECEIVERS = 4, ACKNOWLEDGE_MOST_MS = 2000 };

struct conversation {
    struct conversation *before, *after; /* of the same layer, most recently used first */
    struct mad_agent *agent;
    struct rmpp_sender *sender; /* one of these two */
    struct rmpp_receiver *receiver;
    uint64_t tid;
    uint16_t lid; /* of the other end */
    uint32_t qp;
    struct packet_header packet; /* of what goes out */
    struct mad_head head;        /* sender: as the program gave it */
    uint8_t header[MAD_HEADER_BYTES];
    struct fabric_delivery first; /* receiver: the first segment's packet */
    bool delivered;
    uint64_t timer_time;
    des_handle timer;
    uint32_t slot;
};

static void unlink_conversation(struct mad_rmpp *rmpp, struct conversation *conversation)
{
    if (conversation->before)
        conversation->before->after = conversation->after;
    else
        rmpp->first = conversation->after;
    if (conversation->after)
        conversation->after->before = conversation->before;
    else
        rmpp->last = conversation->before;
}

static void put_first(struct mad_rmpp *rmpp, struct conversation *conversation)
{
    conversation->before = NULL;
    conversation->after = rmpp->first;
    if (rmpp->first)
        rmpp->first->before = conversation;
    else
        rmpp->last = conversation;
    rmpp->first = conversation;
}

static struct conversation *begin(struct mad_agent *agent, uint64_t tid,
                                  const struct packet_header *packet)
{
    struct mad_rmpp *rmpp = &agent->file->layer->rmpp;
    struct conversation *conversation = mem_zalloc(1, sizeof *conversation);
    conversation->agent = agent;
    conversation->tid = tid;
    conversation->packet = *packet;
    conversation->lid = packet->dlid;
    conversation->qp = packet->dest_qp;
    uint32_t slot = 0;
    while (slot < rmpp->slots.count && rmpp->slots.items[slot])
        slot++;
    if (slot == rmpp->slots.count)
        vec_push(&rmpp->slots, conversation);
    rmpp->slots.items[slot] = conversation;
    conversation->slot = slot;
    put_first(rmpp, conversation);
    return conversation;
}

static void end(struct conversation *conversation)
{
    struct mad_layer *layer = conversation->agent->file->layer;
    unlink_conversation(&layer->rmpp, conversation);
    layer->rmpp.slots.items[conversation->slot] = NULL;
    des_cancel(layer->timers, conversation->timer);
    rmpp_sender_free(conversation->sender);
    rmpp_receiver_free(conversation->receiver);
    mem_free(conversation);
}

void mad_rmpp_drop(struct mad_agent *agent)
{
    struct conversation *next = agent->file->layer->rmpp.first;
    while (next) {
        struct conversation *conversation = next;
        next = conversation->after;
        if (conversation->agent == agent)
            end(conversation);
    }
}

/* ---- what a program hears ---- */

static void deliver_message(struct conversation *conversation)
{
    struct mad_agent *agent = conversation->agent;
    struct mad_layer *layer = agent->file->layer;
    const uint8_t *mad = conversation->first.mad;
    size_t bytes;
    const uint8_t *message = rmpp_receiver_message(conversation->receiver, &bytes);
    uint32_t request =
        mad_request_find(layer, conversation->tid, (unsigned)wire_get(mad, MAD_CLASS));
    conversation->delivered = true;
    if (mad_is_response(mad) && request == NONE)
        return;
    mad_agent_give(agent, &conversation->first, message, bytes);
    if (mad_is_response(mad))
        mad_request_done(layer, request);
}

/* Beyond the latest few, finished receivers of an agent go before their time. */
static void limit_lingering(const struct mad_agent *agent)
{
    unsigned lingering = 0;
    struct conversation *next = agent->file->layer->rmpp.first;
    while (next) {
        struct conversation *conversation = next;
        next = conversation->after;
        if (conversation->agent == agent && conversation->delivered &&
            ++lingering > LINGERING_RECEIVERS)
            end(conversation);
    }
}

/* ---- packets and time ---- */

/* Timers are not moved for each segment: one that comes early looks again and sleeps on. */
static void keep_timer(struct conversation *conversation)
{
    struct mad_layer *layer = conversation->agent->file->layer;
    uint64_t deadline = conversation->sender ? rmpp_sender_deadline(conversation->sender)
                                             : rmpp_receiver_deadline(conversation->receiver);
    if (deadline == TIME_NEVER || (conversation->timer && conversation->timer_time <= deadline))
        return;
    des_cancel(layer->timers, conversation->timer);
    conversation->timer_time = deadline;
    conversation->timer =
        des_schedule(layer->timers, deadline,
                     (struct event){.kind = conversation->sender ? TIMER_SENDER : TIMER_RECEIVER,
                                    .a = conversation->slot});
}

/* Sends what there is to send, and ends or delivers what is finished. */
static void advance(struct conversation *conversation, uint64_t now)
{
    struct mad_agent *agent = conversation->agent;
    uint8_t mad[MAD_BYTES];
    while (conversation->sender ? rmpp_sender_next(conversation->sender, now, mad)
                                : rmpp_receiver_next(conversation->receiver, now, mad))
        fabric_send(agent->file->layer->fabric, agent->file->port, &conversation->packet, mad);
    enum rmpp_state state = conversation->sender ? rmpp_sender_state(conversation->sender)
                                                 : rmpp_receiver_state(conversation->receiver);
    /* Of an abort by the other end the kernel reports nothing either. */
    if (conversation->sender && state == RMPP_FAILED &&
        rmpp_sender_status(conversation->sender) == RMPP_STATUS_TOO_MANY_RETRIES) {
        agent->file->status.timeouts++;
        conversation->head.status = ETIMEDOUT;
        mad_file_enqueue(agent->file, &conversation->head, conversation->header, MAD_HEADER_BYTES);
    }
    if (conversation->receiver && state == RMPP_DONE && !conversation->delivered) {
        deliver_message(conversation);
        limit_lingering(agent);
    }
    bool over =
        state == RMPP_FAILED || state == RMPP_OVER || (conversation->sender && state == RMPP_DONE);
    if (over)
        end(conversation);
    else
        keep_timer(conversation);
}

void mad_rmpp_expire(struct mad_layer *layer, uint64_t now, const struct event *event)
{
    struct conversation *conversation = layer->rmpp.slots.items[event->a];
    assert(conversation && (conversation->sender != NULL) != (conversation->receiver != NULL));
    conversation->timer = 0;
    if (conversation->sender)
        rmpp_sender_expire(conversation->sender, now);
    else
        rmpp_receiver_expire(conversation->receiver, now);
    advance(conversation, now);
}

/* ---- out ---- */

int mad_rmpp_send(struct mad_agent *agent, uint64_t now, const struct mad_head *head,
                  const struct packet_header *packet, const uint8_t *message, size_t bytes)
{
    struct mad_layer *layer = agent->file->layer;
    struct rmpp_options options = rmpp_defaults;
    struct rmpp_sender *sender;
    uint8_t first[MAD_BYTES] = {0};
    if (bytes > MESSAGE_LIMIT)
        return -EINVAL;
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
    struct conversation *conversation = begin(agent, wire_get(first, MAD_TID), packet);
    conversation->sender = sender;
    conversation->head = *head;
    memcpy(conversation->header, first, sizeof conversation->header);
    if (request && head->timeout_ms) {
        /* The segments are repeated by the protocol, the request as a whole is not. */
        struct mad_head once = *head;
        once.retries = 0;
        mad_request_add(agent, now, &once, packet, first);
    }
    advance(conversation, now);
    return 0;
}

/* ---- in ---- */

/* Offers the packet to the agent's conversations with that end; the taker, or NULL. */
static struct conversation *offer(struct mad_agent *agent, uint64_t now,
                                  const struct fabric_delivery *delivery)
{
    struct mad_rmpp *rmpp = &agent->file->layer->rmpp;
    uint64_t tid = wire_get(delivery->mad, MAD_TID);
    for (struct conversation *it = rmpp->first; it; it = it->after) {
        if (it->agent != agent || it->tid != tid || it->lid != delivery->header.slid ||
            it->qp != delivery->header.src_qp)
            continue;
        if (it->sender ? rmpp_sender_receive(it->sender, now, delivery->mad)
                       : rmpp_receiver_receive(it->receiver, now, delivery->mad)) {
            unlink_conversation(rmpp, it);
            put_first(rmpp, it);
            return it;
        }
    }
    return NULL;
}

static struct conversation *begin_receiver(struct mad_agent *agent, uint64_t now,
                                           const struct fabric_delivery *delivery)
{
    struct mad_layer *layer = agent->file->layer;
    uint64_t tid = wire_get(delivery->mad, MAD_TID);
    unsigned class = (unsigned)wire_get(delivery->mad, MAD_CLASS);
    if (mad_is_response(delivery->mad) && mad_request_find(layer, tid, class) == NONE)
        return NULL;
    unsigned open = 0;
    for (const struct conversation *it = layer->rmpp.first; it; it = it->after)
        open += it->agent == agent && it->receiver && !it->delivered;
    if (open >= OPEN_RECEIVERS)
        return NULL;
    struct rmpp_receiver *receiver = rmpp_receiver_create(&rmpp_defaults);
    if (!rmpp_receiver_receive(receiver, now, delivery->mad)) {
        rmpp_receiver_free(receiver);
        return NULL;
    }
    struct packet_header back = mad_answer_header(&delivery->header);
    back.q_key = Q_KEY_GSI;
    struct conversation *conversation = begin(agent, tid, &back);
    conversation->receiver = receiver;
    conversation->first = *delivery;
    return conversation;
}

void mad_rmpp_receive(struct mad_agent *agent, uint64_t now, const struct fabric_delivery *delivery)
{
    struct conversation *conversation = offer(agent, now, delivery);
    if (!conversation)
        conversation = begin_receiver(agent, now, delivery);
    if (conversation)
        advance(conversation, now);
}
