/* The responder of RC and UC: packets of requests become messages (9.7.4, 9.8.2).
 *
 * RC executes a packet if its PSN is the expected one. A later PSN means a loss: one NAK, then
 * silence until the expected packet comes. An earlier PSN is a duplicate: it is acknowledged again,
 * and READs and atomic operations are answered again, but nothing is executed twice. What violates
 * the rules or the keys gets a NAK that ends the connection. UC knows no acknowledgements: what
 * cannot be received drops the message, and the next first packet begins a new one. A PSN that has
 * passed is not accepted again, so that a message arrives at most once. */
#include "transport/internal.h"

enum outcome {
    ACCEPTED,
    NOT_READY, /* no receive request */
    INVALID,
    ACCESS_DENIED,
    OPERATION_FAILED,
    DROPPED, /* UC */
};

/* ---- form: 9.7.4.1.2 ---- */

static bool in_sequence(const struct qp *qp, unsigned parts)
{
    if (qp->message != MESSAGE_SEND && qp->message != MESSAGE_WRITE)
        return parts & (PART_FIRST | PART_ONLY);
    return parts & (PART_MIDDLE | PART_LAST) &&
           parts & (qp->message == MESSAGE_SEND ? PART_SEND : PART_WRITE);
}

static bool length_is_right(const struct qp *qp, const struct transport_packet *packet,
                            unsigned parts)
{
    uint32_t bytes = packet->payload.bytes, mtu = qp->attributes.mtu;
    if (!(parts & PART_PAYLOAD))
        return bytes == 0;
    if (parts & (PART_FIRST | PART_MIDDLE))
        return bytes == mtu;
    return bytes <= mtu && (bytes > 0 || parts & PART_ONLY);
}

/* ---- SEND ---- */

static void fail_receive(struct transport *transport, struct qp *qp, unsigned status)
{
    uint32_t receive = qp->receive;
    qp->receive = NONE;
    receive_complete(
        transport, qp, receive,
        &(struct transport_completion){.status = (uint8_t)status, .operation = WORK_RECEIVE});
}

static enum outcome begin_send(struct transport *transport, struct qp *qp)
{
    qp->message_bytes = 0;
    if (qp->receive == NONE) /* else UC kept that of a message which it dropped */
        qp->receive = receive_take(transport, qp);
    if (qp->receive == NONE)
        return NOT_READY;
    if (segments_allowed(transport, qp->init.domain,
                         &transport->receives.items[qp->receive].segments, RIGHT_LOCAL_WRITE))
        return ACCEPTED;
    fail_receive(transport, qp, STATUS_LOCAL_PROTECTION);
    return OPERATION_FAILED;
}

static void complete_message(struct transport *transport, struct qp *qp,
                             const struct transport_packet *packet, unsigned parts)
{
    struct transport_completion completion = {
        .bytes = qp->message_bytes,
        .operation = parts & PART_WRITE ? WORK_RECEIVE_WRITE_IMMEDIATE : WORK_RECEIVE,
        .has_immediate = parts & PART_IMMEDIATE,
        .invalidated = parts & PART_INVALIDATE,
        .immediate = parts & (PART_IMMEDIATE | PART_INVALIDATE) ? packet->immediate : 0,
        .solicited = packet->solicited,
        .global = false,
    };
    uint32_t receive = qp->receive;
    qp->receive = NONE;
    receive_complete(transport, qp, receive, &completion);
}

static enum outcome accept_send(struct transport *transport, struct qp *qp,
                                const struct transport_packet *packet, unsigned parts)
{
    if (parts & (PART_FIRST | PART_ONLY)) {
        enum outcome outcome = begin_send(transport, qp);
        if (outcome != ACCEPTED)
            return outcome;
    }
    const struct receive *receive = &transport->receives.items[qp->receive];
    if (packet->payload.bytes > receive->bytes - qp->message_bytes) {
        if (qp->init.service == TRANSPORT_RC)
            fail_receive(transport, qp, STATUS_LOCAL_LENGTH);
        return INVALID;
    }
    if (parts & PART_INVALIDATE && !region_revoke(transport, qp->init.domain, packet->immediate))
        return ACCESS_DENIED;
    access_place(transport, qp, PAYLOAD_WORK, 0, receive->memory, qp->message_bytes,
                 &packet->payload);
    qp->message_bytes += packet->payload.bytes;
    qp->message = MESSAGE_SEND;
    return ACCEPTED;
}

/* ---- RDMA WRITE ---- */

static enum outcome begin_write(struct transport *transport, struct qp *qp,
                                const struct transport_packet *packet, unsigned parts)
{
    uint32_t bytes = packet->payload.bytes;
    if (!(qp->attributes.access & RIGHT_REMOTE_WRITE) ||
        packet->dma_bytes > TRANSPORT_MESSAGE_MAX ||
        (parts & PART_ONLY ? packet->dma_bytes != bytes : packet->dma_bytes <= bytes))
        return INVALID;
    if (packet->dma_bytes && !region_find(transport, qp->init.domain, packet->r_key,
                                          RIGHT_REMOTE_WRITE, packet->address, packet->dma_bytes))
        return ACCESS_DENIED;
    return ACCEPTED;
}

/* Nothing changes before the last check: the packet may come again after an RNR NAK. */
static enum outcome accept_write(struct transport *transport, struct qp *qp,
                                 const struct transport_packet *packet, unsigned parts)
{
    bool begins = parts & (PART_FIRST | PART_ONLY);
    uint32_t key = begins ? packet->r_key : qp->write_key, bytes = packet->payload.bytes;
    uint32_t received = begins ? 0 : qp->message_bytes;
    uint32_t whole = begins ? packet->dma_bytes : qp->write_bytes;
    uint64_t address = (begins ? packet->address : qp->write_address) + received;
    if (begins) {
        enum outcome outcome = begin_write(transport, qp, packet, parts);
        if (outcome != ACCEPTED)
            return outcome;
    }
    bool last = parts & (PART_LAST | PART_ONLY);
    if (bytes > whole - received || last != (bytes == whole - received))
        return INVALID;
    const struct region *region =
        region_find(transport, qp->init.domain, key, RIGHT_REMOTE_WRITE, address, bytes);
    if (bytes && !region)
        return ACCESS_DENIED;
    if (parts & PART_IMMEDIATE && qp->receive == NONE &&
        (qp->receive = receive_take(transport, qp)) == NONE)
        return NOT_READY;
    if (begins) {
        qp->write_key = key;
        qp->write_address = address;
        qp->write_bytes = whole;
    }
    if (bytes)
        access_place(transport, qp, PAYLOAD_REGION, key, region->public.memory, address,
                     &packet->payload);
    qp->message_bytes = received + bytes;
    qp->message = MESSAGE_WRITE;
    return ACCEPTED;
}

/* ---- READ and atomic operations ---- */

static enum outcome accept_read(struct transport *transport, struct qp *qp,
                                const struct transport_packet *packet, uint32_t *packets)
{
    if (!(qp->attributes.access & RIGHT_REMOTE_READ) || packet->dma_bytes > TRANSPORT_MESSAGE_MAX ||
        qp->reads_waiting >= qp->attributes.reads_accepted)
        return INVALID;
    if (packet->dma_bytes && !region_find(transport, qp->init.domain, packet->r_key,
                                          RIGHT_REMOTE_READ, packet->address, packet->dma_bytes))
        return ACCESS_DENIED;
    *packets = packet->dma_bytes ? (packet->dma_bytes - 1) / qp->attributes.mtu + 1 : 1;
    responses_add(transport, qp, packet, *packets);
    return ACCEPTED;
}

static enum outcome accept_atomic(struct transport *transport, struct qp *qp,
                                  const struct transport_packet *packet)
{
    if (!(qp->attributes.access & RIGHT_REMOTE_ATOMIC) || packet->address % 8 ||
        qp->reads_waiting >= qp->attributes.reads_accepted)
        return INVALID;
    if (!region_find(transport, qp->init.domain, packet->r_key, RIGHT_REMOTE_ATOMIC,
                     packet->address, 8))
        return ACCESS_DENIED;
    responses_add(transport, qp, packet, 1);
    return ACCEPTED;
}

static enum outcome accept(struct transport *transport, struct qp *qp,
                           const struct transport_packet *packet, unsigned parts, uint32_t *packets)
{
    *packets = 1;
    if (!in_sequence(qp, parts) || !length_is_right(qp, packet, parts))
        return INVALID;
    if (parts & PART_SEND)
        return accept_send(transport, qp, packet, parts);
    if (parts & PART_WRITE)
        return accept_write(transport, qp, packet, parts);
    if (parts & PART_ATOMIC_ETH)
        return accept_atomic(transport, qp, packet);
    return accept_read(transport, qp, packet, packets);
}

static void end_message(struct transport *transport, struct qp *qp,
                        const struct transport_packet *packet, unsigned parts)
{
    qp->message = MESSAGE_NONE;
    qp->msn = (qp->msn + 1) & TRANSPORT_PSN_MASK;
    if (qp->receive != NONE && (parts & PART_SEND || parts & PART_IMMEDIATE))
        complete_message(transport, qp, packet, parts);
}

/* ---- RC ---- */

static void refuse(struct transport *transport, struct qp *qp, enum outcome outcome)
{
    static const struct {
        uint8_t nak, event;
    } refusals[] = {
        [INVALID] = {NAK_INVALID_REQUEST, EVENT_QP_INVALID_REQUEST},
        [ACCESS_DENIED] = {NAK_REMOTE_ACCESS, EVENT_QP_ACCESS},
        [OPERATION_FAILED] = {NAK_REMOTE_OPERATIONAL, EVENT_QP_FATAL},
    };
    struct transport_counters *counters = &transport->counters;
    if (outcome == NOT_READY) {
        counters->rnr_naks++;
        qp->nak_sent = true;
        responses_owe(qp, OWED_NAK, SYNDROME_RNR_NAK | qp->attributes.rnr_timer);
        return;
    }
    counters->request_naks += outcome == INVALID;
    counters->access_naks += outcome == ACCESS_DENIED;
    counters->operation_naks += outcome == OPERATION_FAILED;
    responses_owe(qp, OWED_NAK, SYNDROME_NAK | refusals[outcome].nak);
    if (qp->attributes.state != STATE_ERROR)
        qp_fail_as_responder(transport, qp, refusals[outcome].event);
}

void transport_refuse_access(struct transport *transport, uint32_t number)
{
    struct qp *qp = qp_find(transport, number);
    if (!qp || qp->attributes.state == STATE_ERROR)
        return;
    if (qp->init.service != TRANSPORT_RC) {
        qp_enter_error(transport, qp, EVENT_QP_FATAL);
        return;
    }
    /* The NAK names the packet, which was accepted. */
    qp->expected_psn = (qp->expected_psn - 1) & TRANSPORT_PSN_MASK;
    responses_drop_since(transport, qp, qp->expected_psn);
    refuse(transport, qp, OPERATION_FAILED);
    qp_wake(transport, qp);
}

static void out_of_sequence(struct transport *transport, struct qp *qp,
                            const struct transport_packet *packet, unsigned parts, bool late)
{
    if (late) {
        transport->counters.duplicates++;
        if (!(parts & PART_PAYLOAD))
            responses_repeat(transport, qp, packet);
        else if (qp->owed == OWED_NOTHING)
            responses_owe(qp, OWED_ACK, 0);
        return;
    }
    transport->counters.out_of_order++;
    if (qp->nak_sent)
        return;
    qp->nak_sent = true;
    transport->counters.sequence_naks++;
    responses_owe(qp, OWED_NAK, SYNDROME_NAK | NAK_SEQUENCE);
}

static void reliable_receive(struct transport *transport, struct qp *qp,
                             const struct transport_packet *packet, unsigned parts)
{
    int32_t distance = transport_psn_distance(packet->psn, qp->expected_psn);
    uint32_t packets;
    if (distance != 0) {
        out_of_sequence(transport, qp, packet, parts, distance < 0);
        return;
    }
    if (qp->owed == OWED_NAK) /* of this packet, which is here now */
        responses_owe(qp, OWED_ACK, 0);
    enum outcome outcome = accept(transport, qp, packet, parts, &packets);
    if (outcome != ACCEPTED) {
        refuse(transport, qp, outcome);
        return;
    }
    qp->expected_psn = (qp->expected_psn + packets) & TRANSPORT_PSN_MASK;
    qp->nak_sent = false;
    if (packet->acknowledge && parts & PART_PAYLOAD)
        responses_owe(qp, OWED_ACK, 0);
    if (parts & (PART_LAST | PART_ONLY))
        end_message(transport, qp, packet, parts);
}

/* ---- UC ---- */

static void unreliable_receive(struct transport *transport, struct qp *qp,
                               const struct transport_packet *packet, unsigned parts)
{
    bool begins = parts & (PART_FIRST | PART_ONLY);
    bool inside = qp->message == MESSAGE_SEND || qp->message == MESSAGE_WRITE;
    uint32_t packets;
    if (transport_psn_distance(packet->psn, qp->expected_psn) < 0) {
        transport->counters.duplicates++;
        return;
    }
    if (inside && (begins || packet->psn != qp->expected_psn)) {
        transport->counters.messages_dropped++;
        qp->message = MESSAGE_DROPPED;
    }
    qp->expected_psn = (packet->psn + 1) & TRANSPORT_PSN_MASK;
    if (!begins && qp->message != MESSAGE_SEND && qp->message != MESSAGE_WRITE)
        return;
    enum outcome outcome = accept(transport, qp, packet, parts, &packets);
    if (qp->attributes.state == STATE_ERROR)
        return;
    if (outcome == OPERATION_FAILED) {
        qp_enter_error(transport, qp, EVENT_QP_FATAL);
    } else if (outcome != ACCEPTED) {
        transport->counters.messages_dropped++;
        transport->counters.no_receive += outcome == NOT_READY;
        qp->message = MESSAGE_DROPPED;
    } else if (parts & (PART_LAST | PART_ONLY)) {
        end_message(transport, qp, packet, parts);
    }
}

void responder_receive(struct transport *transport, struct qp *qp,
                       const struct transport_packet *packet)
{
    unsigned parts = transport_parts_of(packet->opcode);
    if (qp->init.service == TRANSPORT_RC)
        reliable_receive(transport, qp, packet, parts);
    else
        unreliable_receive(transport, qp, packet, parts);
}
