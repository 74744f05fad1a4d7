/* Unreliable datagrams and multicast (9.8.3, 10.5): one packet, no state between packets.
 *
 * A receive request has 40 bytes of room for a GRH before the payload, whether there is one or not.
 * A datagram that finds no receive request, or one that is too small, is dropped. */
#include "transport/internal.h"

#include <errno.h>

/* ---- sending ---- */

static unsigned local_status(const struct transport *transport, const struct qp *qp,
                             const struct work *work)
{
    if (work->status != STATUS_SUCCESS)
        return work->status;
    if (work->bytes > transport->ports[qp->attributes.port].state.mtu)
        return STATUS_LOCAL_LENGTH;
    if (!(work->flags & WORK_INLINE) &&
        !segments_allowed(transport, qp->init.domain, &work->segments, 0))
        return STATUS_LOCAL_PROTECTION;
    return STATUS_SUCCESS;
}

static void build(const struct transport *transport, const struct qp *qp, const struct work *work,
                  struct transport_packet *packet)
{
    const struct transport_path *path = &work->path;
    const struct transport_qp_attributes *attributes = &qp->attributes;
    bool immediate = work->operation == WORK_SEND_IMMEDIATE;
    *packet = (struct transport_packet){
        .slid = port_slid(transport, attributes->port, path),
        .dlid = path->dlid,
        .sl = path->sl,
        .global = path->global,
        .opcode = TRANSPORT_OPCODE(TRANSPORT_UD, immediate ? OP_SEND_ONLY_IMMEDIATE : OP_SEND_ONLY),
        .solicited = work->flags & WORK_SOLICITED,
        .migrated = true,
        .p_key = port_p_key(transport, attributes->port, attributes->p_key_index),
        .dest_qp = work->dest_qp & TRANSPORT_QP_MASK,
        .psn = qp->send_psn,
        .q_key = work->q_key & 0x80000000 ? attributes->q_key : work->q_key,
        .src_qp = qp_number(transport, qp),
        .immediate = immediate ? work->immediate : 0,
        .payload = {work->memory, 0, work->bytes, PAYLOAD_WORK},
    };
    if (path->global)
        packet->route = path->route;
}

bool datagram_next(struct transport *transport, struct qp *qp, struct transport_packet *packet)
{
    while (qp->attributes.state == STATE_RTS && qp->cursor != NONE) {
        const struct work *work = work_at(transport, qp->cursor);
        unsigned status = local_status(transport, qp, work);
        if (status != STATUS_SUCCESS) {
            work_fail(transport, qp, status);
            continue;
        }
        build(transport, qp, work, packet);
        qp->send_psn = qp->high_psn = qp->unacknowledged_psn =
            (qp->send_psn + 1) & TRANSPORT_PSN_MASK;
        work_complete(transport, qp, STATUS_SUCCESS);
        return true;
    }
    return false;
}

/* ---- receiving ---- */

static void place(struct transport *transport, struct qp *qp, uint32_t number,
                  const struct transport_packet *packet)
{
    uint64_t memory = transport->receives.items[number].memory;
    if (transport->config.accesses && packet->global) {
        struct transport_access access = {
            .kind = ACCESS_PLACE_ROUTE,
            .target = PAYLOAD_WORK,
            .qp = qp_number(transport, qp),
            .memory = memory,
            .route = packet->route,
        };
        vec_push(&transport->accesses, access);
    }
    access_place(transport, qp, PAYLOAD_WORK, 0, memory, TRANSPORT_GRH_ROOM, &packet->payload);
}

static bool fits(struct transport *transport, const struct qp *qp, uint32_t bytes)
{
    const struct queue *queue =
        qp->init.srq == NONE ? &qp->receives : &transport->srqs.items[qp->init.srq].receives;
    return queue->count && transport->receives.items[queue->head].bytes >= bytes;
}

static void deliver(struct transport *transport, struct qp *qp, unsigned port,
                    const struct transport_packet *packet)
{
    bool immediate = transport_parts_of(packet->opcode) & PART_IMMEDIATE;
    uint32_t bytes = packet->payload.bytes + TRANSPORT_GRH_ROOM;
    struct transport_completion completion = {
        .bytes = bytes,
        .operation = WORK_RECEIVE,
        .has_immediate = immediate,
        .global = packet->global,
        .solicited = packet->solicited,
        .immediate = immediate ? packet->immediate : 0,
        .source_qp = packet->src_qp,
        .slid = packet->slid,
        .p_key_index = qp->attributes.p_key_index,
        .sl = packet->sl,
        .path_bits = (uint8_t)(packet->dlid & ((1u << transport->ports[port].state.lmc) - 1)),
    };
    if (!fits(transport, qp, bytes)) {
        transport->counters.no_receive++;
        return;
    }
    uint32_t receive = receive_take(transport, qp);
    if (!segments_allowed(transport, qp->init.domain, &transport->receives.items[receive].segments,
                          RIGHT_LOCAL_WRITE)) {
        completion.status = STATUS_LOCAL_PROTECTION;
        receive_complete(transport, qp, receive, &completion);
        if (qp->attributes.state != STATE_ERROR)
            qp_enter_error(transport, qp, EVENT_QP_FATAL);
        return;
    }
    place(transport, qp, receive, packet);
    receive_complete(transport, qp, receive, &completion);
}

static bool may_receive(const struct qp *qp, unsigned port)
{
    unsigned state = qp->attributes.state;
    return qp->init.service == TRANSPORT_UD && qp->attributes.port == port &&
           (state == STATE_RTR || state == STATE_RTS || state == STATE_SQD || state == STATE_SQE);
}

/* Copies of a multicast packet that a QP may not have are dropped without a report. */
static void admit(struct transport *transport, uint32_t number, unsigned port,
                  const struct transport_packet *packet, bool multicast)
{
    struct qp *qp = qp_find(transport, number);
    if (!qp || !may_receive(qp, port)) {
        transport->counters.discarded += !multicast;
        return;
    }
    if (!p_key_matches(packet->p_key, port_p_key(transport, port, qp->attributes.p_key_index))) {
        if (!multicast)
            report_violation(transport, port, packet, false);
    } else if (packet->q_key != qp->attributes.q_key) {
        if (!multicast)
            report_violation(transport, port, packet, true);
    } else {
        deliver(transport, qp, port, packet);
    }
}

void datagram_receive(struct transport *transport, unsigned port,
                      const struct transport_packet *packet)
{
    if (packet->dest_qp != TRANSPORT_MULTICAST_QP) {
        admit(transport, packet->dest_qp, port, packet, false);
        return;
    }
    bool found = false;
    for (size_t i = 0; i < transport->attachments.count; i++) {
        const struct attachment *attachment = &transport->attachments.items[i];
        if (!packet->global || attachment->mlid != packet->dlid ||
            memcmp(attachment->mgid, packet->route.dgid, 16))
            continue;
        found = true;
        admit(transport, attachment->qp, port, packet, true);
    }
    transport->counters.discarded += !found;
}

/* ---- groups ---- */

static size_t attachment_find(const struct transport *transport, uint32_t qp,
                              const uint8_t mgid[16], uint16_t mlid)
{
    size_t at = 0;
    while (at < transport->attachments.count) {
        const struct attachment *attachment = &transport->attachments.items[at];
        if (attachment->qp == qp && attachment->mlid == mlid &&
            memcmp(attachment->mgid, mgid, 16) == 0)
            break;
        at++;
    }
    return at;
}

int transport_attach(struct transport *transport, uint32_t number, const uint8_t mgid[16],
                     uint16_t mlid)
{
    const struct qp *qp = qp_find(transport, number);
    struct attachment attachment = {.mlid = mlid, .qp = number};
    if (!qp || qp->init.service != TRANSPORT_UD || mgid[0] != 0xFF ||
        attachment_find(transport, number, mgid, mlid) < transport->attachments.count)
        return -EINVAL;
    memcpy(attachment.mgid, mgid, 16);
    vec_push(&transport->attachments, attachment);
    return 0;
}

int transport_detach(struct transport *transport, uint32_t number, const uint8_t mgid[16],
                     uint16_t mlid)
{
    size_t at = attachment_find(transport, number, mgid, mlid);
    if (at == transport->attachments.count)
        return -EINVAL;
    vec_remove(&transport->attachments, at);
    return 0;
}
