/* The requester of RC and UC: messages become packets, acknowledgements complete them (9.7
 * and 9.8).
 *
 * Recovery is go-back-N: after a NAK of a missing PSN, a time-out or a missing response, everything
 * from the oldest unacknowledged PSN is sent again; each costs one of retry_count attempts, which
 * are all there again with every progress. When they are used up, the QP migrates, if it is armed,
 * or fails. A READ is requested again from the first response that is missing. After an RNR NAK the
 * QP waits for the time that the responder names.
 *
 * The specification leaves open how often acknowledgements are requested and how many packets may
 * be outstanding; both are in `struct transport_config`. */
#include "transport/internal.h"

/* ---- which packet is next ---- */

static bool is_atomic(const struct work *work)
{
    return work->operation == WORK_COMPARE_SWAP || work->operation == WORK_FETCH_ADD;
}

/* Answered by responses, not by acknowledgements. */
static bool wants_response(const struct work *work)
{
    return work->operation == WORK_READ || is_atomic(work);
}

static bool takes_receive(const struct work *work)
{
    return work->operation <= WORK_SEND_INVALIDATE || work->operation == WORK_WRITE_IMMEDIATE;
}

static uint32_t end_psn(const struct work *work)
{
    return (work->first_psn + work->packets) & TRANSPORT_PSN_MASK;
}

/* With what the request fails before it is sent. */
static unsigned local_status(const struct transport *transport, const struct qp *qp,
                             const struct work *work)
{
    if (work->status != STATUS_SUCCESS)
        return work->status;
    if (wants_response(work) && qp->attributes.reads == 0)
        return STATUS_LOCAL_QP_OPERATION;
    unsigned rights = wants_response(work) ? RIGHT_LOCAL_WRITE : 0;
    if (!(work->flags & WORK_INLINE) &&
        !segments_allowed(transport, qp->init.domain, &work->segments, rights))
        return STATUS_LOCAL_PROTECTION;
    return STATUS_SUCCESS;
}

/* 9.7.7.2.5: one message more than there are credits may be sent: its acknowledgement tells of new
 * ones. Messages that take no receive request add the credit that they do not use. */
static bool credit_allows(struct qp *qp, const struct work *work)
{
    if (!qp->init.credits || !takes_receive(work))
        return true;
    return transport_psn_distance(qp->next_ssn, qp->limit_ssn + 1) <= 0;
}

static bool begin(struct transport *transport, struct qp *qp, struct work *work)
{
    if (qp->attributes.state != STATE_RTS || !credit_allows(qp, work) ||
        (work->flags & WORK_FENCE && qp->reads_outstanding))
        return false;
    unsigned status = local_status(transport, qp, work);
    if (status != STATUS_SUCCESS) { /* in its turn: when all before it are complete */
        if (qp->sends.head == qp->cursor)
            work_fail(transport, qp, status);
        return false;
    }
    work->begun = true;
    work->first_psn = qp->send_psn;
    work->packets =
        is_atomic(work) || work->bytes == 0 ? 1 : (work->bytes - 1) / qp->attributes.mtu + 1;
    work->ssn = qp->next_ssn;
    qp->next_ssn = (qp->next_ssn + 1) & TRANSPORT_PSN_MASK;
    if (!takes_receive(work))
        qp->limit_ssn = (qp->limit_ssn + 1) & TRANSPORT_PSN_MASK;
    return true;
}

static bool window_allows(const struct transport *transport, const struct qp *qp,
                          const struct work *work)
{
    if (qp->init.service == TRANSPORT_UC)
        return true;
    int32_t all = transport_psn_distance(qp->send_psn, qp->unacknowledged_psn);
    if (wants_response(work)) {
        uint32_t wanted = (end_psn(work) - qp->send_psn) & TRANSPORT_PSN_MASK;
        return all == 0 || (all > 0 && (uint32_t)all + wanted < TRANSPORT_WINDOW);
    }
    int32_t sent = transport_psn_distance(qp->send_psn, qp->window_psn);
    return (uint32_t)(sent >= 0 && sent < all ? sent : all) < transport->config.window &&
           all < TRANSPORT_WINDOW - 1;
}

/* ---- packets ---- */

static unsigned packet_operation(const struct work *work, bool first, bool last)
{
    static const uint8_t last_of[] = {
        [WORK_SEND] = OP_SEND_LAST,
        [WORK_SEND_IMMEDIATE] = OP_SEND_LAST_IMMEDIATE,
        [WORK_SEND_INVALIDATE] = OP_SEND_LAST_INVALIDATE,
        [WORK_WRITE] = OP_WRITE_LAST,
        [WORK_WRITE_IMMEDIATE] = OP_WRITE_LAST_IMMEDIATE,
    };
    static const uint8_t only_of[] = {
        [WORK_SEND] = OP_SEND_ONLY,
        [WORK_SEND_IMMEDIATE] = OP_SEND_ONLY_IMMEDIATE,
        [WORK_SEND_INVALIDATE] = OP_SEND_ONLY_INVALIDATE,
        [WORK_WRITE] = OP_WRITE_ONLY,
        [WORK_WRITE_IMMEDIATE] = OP_WRITE_ONLY_IMMEDIATE,
    };
    bool write = work->operation == WORK_WRITE || work->operation == WORK_WRITE_IMMEDIATE;
    if (last)
        return first ? only_of[work->operation] : last_of[work->operation];
    if (first)
        return write ? OP_WRITE_FIRST : OP_SEND_FIRST;
    return write ? OP_WRITE_MIDDLE : OP_SEND_MIDDLE;
}

static uint32_t offset_of(const struct qp *qp, const struct work *work, uint32_t psn)
{
    return ((psn - work->first_psn) & TRANSPORT_PSN_MASK) * qp->attributes.mtu;
}

static void build_atomic(const struct work *work, struct transport_packet *packet)
{
    packet->opcode = TRANSPORT_OPCODE(
        TRANSPORT_RC, work->operation == WORK_FETCH_ADD ? OP_FETCH_ADD : OP_COMPARE_SWAP);
    packet->address = work->address;
    packet->r_key = work->r_key;
    packet->swap_or_add = work->swap_or_add;
    packet->compare = work->operation == WORK_FETCH_ADD ? 0 : work->compare;
}

static void build_part(struct qp *qp, const struct work *work, struct transport_packet *packet)
{
    uint32_t offset = offset_of(qp, work, qp->send_psn), left = work->bytes - offset;
    bool first = offset == 0, last = left <= qp->attributes.mtu;
    packet->opcode = TRANSPORT_OPCODE(qp->init.service, packet_operation(work, first, last));
    packet->payload = (struct transport_payload){
        .memory = work->memory,
        .offset = offset,
        .bytes = last ? left : qp->attributes.mtu,
        .source = PAYLOAD_WORK,
    };
    if (first && !(work->operation <= WORK_SEND_INVALIDATE)) {
        packet->address = work->address;
        packet->r_key = work->r_key;
        packet->dma_bytes = work->bytes;
    }
    if (last) {
        packet->immediate =
            work->operation == WORK_SEND || work->operation == WORK_WRITE ? 0 : work->immediate;
        packet->solicited = work->flags & WORK_SOLICITED;
    }
}

static bool asks_acknowledgement(const struct transport *transport, struct qp *qp,
                                 const struct work *work)
{
    bool full = (uint32_t)transport_psn_distance(qp->send_psn + 1, qp->unacknowledged_psn) >=
                transport->config.window;
    qp->unasked++;
    if (qp->unasked < transport->config.packets_per_acknowledge && !full &&
        ((qp->send_psn + 1) & TRANSPORT_PSN_MASK) != end_psn(work))
        return false;
    qp->unasked = 0;
    return true;
}

static void note_sent(struct transport *transport, struct qp *qp, uint64_t now, uint32_t next_psn)
{
    if (qp->send_psn == qp->high_psn) {
        qp->high_psn = next_psn & TRANSPORT_PSN_MASK;
    } else {
        qp->resent_packets++;
        transport->counters.resent_packets++;
    }
    qp->send_psn = next_psn & TRANSPORT_PSN_MASK;
    if (qp->init.service == TRANSPORT_RC && qp->timer == TIMER_OFF) {
        uint64_t timeout = transport_timeout_ps(qp->attributes.timeout);
        qp_set_timer(transport, qp, TIMER_RETRY,
                     timeout == TIME_NEVER ? TIME_NEVER : now + timeout);
    }
}

bool requester_next(struct transport *transport, struct qp *qp, uint64_t now,
                    struct transport_packet *packet)
{
    unsigned state = qp->attributes.state;
    if ((state != STATE_RTS && state != STATE_SQD) || qp->cursor == NONE || qp->timer == TIMER_RNR)
        return false;
    struct work *work = work_at(transport, qp->cursor);
    bool response = wants_response(work);
    if (!work->begun && !begin(transport, qp, work))
        return false;
    if ((response && qp->reads_outstanding >= qp->attributes.reads) ||
        !window_allows(transport, qp, work))
        return false;
    qp_address_packet(transport, qp, packet);
    packet->psn = qp->send_psn;
    uint32_t next_psn = response ? end_psn(work) : qp->send_psn + 1;
    if (response) {
        if (work->operation == WORK_READ) {
            uint32_t offset = offset_of(qp, work, qp->send_psn);
            packet->opcode = TRANSPORT_OPCODE(TRANSPORT_RC, OP_READ_REQUEST);
            packet->address = work->address + offset;
            packet->r_key = work->r_key;
            packet->dma_bytes = work->bytes - offset;
        } else
            build_atomic(work, packet);
        packet->acknowledge = true;
        work->issued = true;
        qp->reads_outstanding++;
        qp->unasked = 0;
        qp->window_psn = next_psn;
    } else {
        build_part(qp, work, packet);
        packet->acknowledge =
            qp->init.service == TRANSPORT_RC && asks_acknowledgement(transport, qp, work);
    }
    note_sent(transport, qp, now, next_psn);
    if (qp->send_psn == end_psn(work))
        qp->cursor = work->next;
    if (qp->init.service == TRANSPORT_UC && qp->send_psn == end_psn(work)) {
        qp->unacknowledged_psn = qp->send_psn;
        work_complete(transport, qp, STATUS_SUCCESS);
    }
    return true;
}

void requester_check_drained(struct transport *transport, struct qp *qp)
{
    if (qp->attributes.state != STATE_SQD || !qp->draining ||
        (qp->sends.count && work_at(transport, qp->sends.head)->begun))
        return;
    qp->draining = false;
    if (!qp->drain_reported)
        report_event(transport, EVENT_SEND_QUEUE_DRAINED, qp_number(transport, qp));
    qp->drain_reported = true;
}

/* ---- recovery ---- */

static void go_back(struct transport *transport, struct qp *qp)
{
    for (uint32_t at = qp->sends.head; at != NONE; at = work_at(transport, at)->next) {
        struct work *work = work_at(transport, at);
        if (!work->begun)
            break;
        qp->reads_outstanding -= work->issued;
        work->issued = false;
    }
    qp->send_psn = qp->window_psn = qp->unacknowledged_psn;
    qp->cursor = qp->sends.head;
    qp->unasked = 0;
    qp_set_timer(transport, qp, TIMER_OFF, TIME_NEVER);
}

static void retry(struct transport *transport, struct qp *qp)
{
    if (qp->timer == TIMER_RNR) /* everything is sent again after it anyway */
        return;
    if (qp->retries_left > 0) {
        qp->retries_left--;
    } else if (!migration_migrate(transport, qp)) {
        work_fail(transport, qp, STATUS_RETRY_EXCEEDED);
        return;
    }
    go_back(transport, qp);
    qp_wake(transport, qp);
}

/* A response is missing. Those that follow it say so, too: it is requested again once. */
static void ask_response_again(struct transport *transport, struct qp *qp)
{
    if (qp->response_asked)
        return;
    qp->response_asked = true;
    retry(transport, qp);
}

void requester_expire(struct transport *transport, struct qp *qp, uint64_t now)
{
    (void)now;
    unsigned timer = qp->timer;
    if (timer == TIMER_OFF)
        return;
    qp_set_timer(transport, qp, TIMER_OFF, TIME_NEVER);
    if (timer == TIMER_RETRY) {
        qp->timeouts++;
        transport->counters.timeouts++;
        qp->response_asked = false;
        retry(transport, qp);
    }
    qp_wake(transport, qp);
}

/* ---- acknowledgements ---- */

static void note_progress(struct transport *transport, struct qp *qp, uint64_t now)
{
    uint64_t timeout = transport_timeout_ps(qp->attributes.timeout);
    if (qp->attributes.state == STATE_ERROR) /* the CQ overflowed */
        return;
    qp->progress_ps = now;
    qp->retries_left = qp->attributes.retry_count;
    qp->rnr_retries_left = qp->attributes.rnr_retry;
    if (transport_psn_distance(qp->send_psn, qp->unacknowledged_psn) < 0) {
        qp->send_psn = qp->unacknowledged_psn;
        qp->cursor = qp->sends.head;
    }
    if (qp->timer == TIMER_RNR)
        return;
    if (qp->send_psn == qp->unacknowledged_psn || timeout == TIME_NEVER)
        qp_set_timer(transport, qp, TIMER_OFF, TIME_NEVER);
    else
        qp_set_timer(transport, qp, TIMER_RETRY, now + timeout);
}

/* All requests before `end` are acknowledged. Completes them, up to the first one that wants a
 * response; false if that lies before `end` as a whole: its responses are lost. */
static bool acknowledge_before(struct transport *transport, struct qp *qp, uint64_t now,
                               uint32_t end)
{
    uint32_t before = qp->unacknowledged_psn;
    bool missing = false;
    while (qp->sends.count && work_at(transport, qp->sends.head)->begun) {
        const struct work *work = work_at(transport, qp->sends.head);
        uint32_t work_end = end_psn(work);
        if (transport_psn_distance(end, work->first_psn) <= 0)
            break;
        if (wants_response(work)) {
            missing = transport_psn_distance(end, work_end) >= 0;
            break;
        }
        if (transport_psn_distance(end, work_end) < 0) {
            if (transport_psn_distance(end, qp->unacknowledged_psn) > 0)
                qp->unacknowledged_psn = end & TRANSPORT_PSN_MASK;
            break;
        }
        qp->unacknowledged_psn = work_end;
        work_complete(transport, qp, STATUS_SUCCESS);
    }
    if (qp->unacknowledged_psn != before)
        note_progress(transport, qp, now);
    return !missing;
}

static void take_credits(struct qp *qp, const struct transport_packet *packet)
{
    if ((packet->syndrome & SYNDROME_KIND) != SYNDROME_ACK || !qp->init.credits)
        return;
    unsigned code = packet->syndrome & SYNDROME_VALUE;
    uint32_t credits = code == CREDITS_UNLIMITED ? TRANSPORT_WINDOW / 2 : transport_credits(code);
    uint32_t limit = (packet->msn + credits) & TRANSPORT_PSN_MASK;
    if (transport_psn_distance(limit, qp->limit_ssn) > 0)
        qp->limit_ssn = limit;
}

static void receive_rnr(struct transport *transport, struct qp *qp, uint64_t now, unsigned code)
{
    if (qp->timer == TIMER_RNR)
        return;
    qp->rnr_naks++;
    transport->counters.rnr_naks_received++;
    if (qp->attributes.rnr_retry != 7 && qp->rnr_retries_left-- == 0) {
        work_fail(transport, qp, STATUS_RNR_RETRY_EXCEEDED);
        return;
    }
    go_back(transport, qp);
    qp_set_timer(transport, qp, TIMER_RNR, now + transport_rnr_ps(code));
}

static void receive_nak(struct transport *transport, struct qp *qp, unsigned code)
{
    switch (code) {
    case NAK_SEQUENCE:
        qp->sequence_naks++;
        transport->counters.sequence_naks_received++;
        retry(transport, qp);
        break;
    case NAK_INVALID_REQUEST: work_fail(transport, qp, STATUS_REMOTE_INVALID_REQUEST); break;
    case NAK_REMOTE_ACCESS: work_fail(transport, qp, STATUS_REMOTE_ACCESS); break;
    case NAK_REMOTE_OPERATIONAL: work_fail(transport, qp, STATUS_REMOTE_OPERATION); break;
    default: transport->counters.discarded++; break;
    }
}

static void receive_acknowledge(struct transport *transport, struct qp *qp, uint64_t now,
                                const struct transport_packet *packet)
{
    unsigned kind = packet->syndrome & SYNDROME_KIND, value = packet->syndrome & SYNDROME_VALUE;
    if (kind != SYNDROME_ACK && kind != SYNDROME_RNR_NAK && kind != SYNDROME_NAK) {
        transport->counters.discarded++;
        return;
    }
    take_credits(qp, packet);
    if (!acknowledge_before(transport, qp, now,
                            kind == SYNDROME_ACK ? packet->psn + 1 : packet->psn))
        ask_response_again(transport, qp);
    else if (qp->attributes.state == STATE_ERROR) /* its CQ is full */
        return;
    else if (kind == SYNDROME_RNR_NAK)
        receive_rnr(transport, qp, now, value);
    else if (kind == SYNDROME_NAK)
        receive_nak(transport, qp, value);
}

/* The request that waits for this response, if it is the next one; else NULL. */
static struct work *awaited(struct transport *transport, struct qp *qp, uint64_t now,
                            const struct transport_packet *packet, bool atomic)
{
    bool complete = acknowledge_before(transport, qp, now, packet->psn);
    if (qp->attributes.state == STATE_ERROR)
        return NULL;
    struct work *work = qp->sends.count ? work_at(transport, qp->sends.head) : NULL;
    if (complete && work && work->begun && wants_response(work) && is_atomic(work) == atomic &&
        packet->psn == qp->unacknowledged_psn)
        return work;
    if (work && work->begun && wants_response(work))
        ask_response_again(transport, qp);
    else
        transport->counters.ghosts++;
    return NULL;
}

static void receive_read(struct transport *transport, struct qp *qp, uint64_t now,
                         const struct transport_packet *packet, unsigned parts)
{
    struct work *work = awaited(transport, qp, now, packet, false);
    if (!work)
        return;
    uint32_t offset = offset_of(qp, work, packet->psn), left = work->bytes - offset;
    bool last = left <= qp->attributes.mtu, ends = parts & (PART_LAST | PART_ONLY);
    if (ends != last || packet->payload.bytes != (last ? left : qp->attributes.mtu)) {
        work_fail(transport, qp, STATUS_BAD_RESPONSE);
        return;
    }
    access_place(transport, qp, PAYLOAD_WORK, 0, work->memory, offset, &packet->payload);
    qp->unacknowledged_psn = (packet->psn + 1) & TRANSPORT_PSN_MASK;
    qp->response_asked = false;
    if (last)
        work_complete(transport, qp, STATUS_SUCCESS);
    note_progress(transport, qp, now);
}

static void receive_atomic(struct transport *transport, struct qp *qp, uint64_t now,
                           const struct transport_packet *packet)
{
    const struct work *work = awaited(transport, qp, now, packet, true);
    if (!work)
        return;
    if (transport->config.accesses) {
        struct transport_access access = {
            .kind = ACCESS_PLACE_VALUE,
            .target = PAYLOAD_WORK,
            .qp = qp_number(transport, qp),
            .memory = work->memory,
            .value = packet->original,
        };
        vec_push(&transport->accesses, access);
    }
    qp->unacknowledged_psn = (packet->psn + 1) & TRANSPORT_PSN_MASK;
    qp->response_asked = false;
    work_complete(transport, qp, STATUS_SUCCESS);
    note_progress(transport, qp, now);
}

void requester_receive(struct transport *transport, struct qp *qp, uint64_t now,
                       const struct transport_packet *packet)
{
    unsigned state = qp->attributes.state, parts = transport_parts_of(packet->opcode);
    if (transport_psn_distance(packet->psn, qp->unacknowledged_psn) < 0)
        return; /* acknowledged before */
    if ((state != STATE_RTS && state != STATE_SQD) ||
        transport_psn_distance(packet->psn, qp->high_psn) >= 0) {
        transport->counters.ghosts++;
        return;
    }
    if (parts & PART_READ) {
        if (parts & PART_AETH)
            take_credits(qp, packet);
        receive_read(transport, qp, now, packet, parts);
    } else if (parts & PART_ATOMIC_ACK_ETH) {
        take_credits(qp, packet);
        receive_atomic(transport, qp, now, packet);
    } else {
        receive_acknowledge(transport, qp, now, packet);
    }
}

uint64_t transport_rnr_ps(unsigned code)
{
    /* Units of 10 us; code 0 is the longest. */
    static const uint32_t delays[32] = {65536, 1,    2,    3,     4,     6,     8,     12,
                                        16,    24,   32,   48,    64,    96,    128,   192,
                                        256,   384,  512,  768,   1024,  1536,  2048,  3072,
                                        4096,  6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return delays[code & 31] * 10 * TIME_US;
}
