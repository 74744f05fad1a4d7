/* What an RC responder sends: READ responses, results of atomic operations, acknowledgements
 * (9.7.5).
 *
 * Responses leave in the order of their PSNs. An acknowledgement covers everything before it, so it
 * waits until the responses before it have been sent; only the latest one is owed, which coalesces
 * those that the link had no time for. */
#include "transport/internal.h"

uint32_t transport_credits(unsigned code)
{
    if (code < 4)
        return code;
    return code % 2 ? UINT32_C(3) << (code - 3) / 2 : UINT32_C(1) << code / 2;
}

unsigned transport_credit_code(uint32_t count)
{
    unsigned code = CREDITS_UNLIMITED - 1;
    while (transport_credits(code) > count)
        code--;
    return code;
}

static struct response *response_at(struct transport *transport, uint32_t number)
{
    return &transport->responses.items[number];
}

static void add_aeth(const struct transport *transport, const struct qp *qp, unsigned syndrome,
                     struct transport_packet *packet)
{
    if ((syndrome & SYNDROME_KIND) == SYNDROME_ACK)
        syndrome = SYNDROME_ACK | (qp->init.credits && qp->init.srq == NONE
                                       ? transport_credit_code(receives_waiting(transport, qp))
                                       : CREDITS_UNLIMITED);
    packet->syndrome = (uint8_t)syndrome;
    packet->msn = qp->msn;
}

/* ---- lists ---- */

/* Keeps the list in the order of PSNs; new requests go to its end. */
static void insert(struct transport *transport, struct queue *queue, uint32_t number)
{
    uint32_t psn = response_at(transport, number)->first_psn, before = NONE, at = queue->head;
    if (queue->count &&
        transport_psn_distance(psn, response_at(transport, queue->tail)->first_psn) > 0) {
        before = queue->tail;
        at = NONE;
    }
    for (; at != NONE && transport_psn_distance(psn, response_at(transport, at)->first_psn) > 0;
         at = response_at(transport, at)->next)
        before = at;
    response_at(transport, number)->next = at;
    if (before == NONE)
        queue->head = number;
    else
        response_at(transport, before)->next = number;
    if (at == NONE)
        queue->tail = number;
    queue->count++;
}

static uint32_t take_first(struct transport *transport, struct queue *queue)
{
    uint32_t number = queue->head;
    queue->head = response_at(transport, number)->next;
    queue->count--;
    return number;
}

static void drop_list(struct transport *transport, struct queue *queue)
{
    while (queue->count) {
        uint32_t number = take_first(transport, queue);
        pool_give(&transport->responses, number);
    }
}

void responses_drop(struct transport *transport, struct qp *qp)
{
    drop_list(transport, &qp->responses);
    drop_list(transport, &qp->history);
    qp->reads_waiting = 0;
    qp->owed = OWED_NOTHING;
}

void responses_drop_since(struct transport *transport, struct qp *qp, uint32_t psn)
{
    struct queue kept = QUEUE_EMPTY;
    while (qp->responses.count) {
        uint32_t number = take_first(transport, &qp->responses);
        const struct response *response = response_at(transport, number);
        if (transport_psn_distance(response->first_psn, psn) < 0) {
            insert(transport, &kept, number);
        } else {
            qp->reads_waiting -= !response->repeated;
            pool_give(&transport->responses, number);
        }
    }
    qp->responses = kept;
}

/* ---- requests ---- */

static void ask_atomic(struct transport *transport, const struct qp *qp,
                       const struct transport_packet *packet)
{
    const struct region *region = region_find(transport, qp->init.domain, packet->r_key,
                                              RIGHT_REMOTE_ATOMIC, packet->address, 8);
    bool add = transport_operation_of(packet->opcode) == OP_FETCH_ADD;
    struct transport_access access = {
        .kind = add ? ACCESS_FETCH_ADD : ACCESS_COMPARE_SWAP,
        .target = PAYLOAD_REGION,
        .qp = qp_number(transport, qp),
        .key = packet->r_key,
        .memory = region->public.memory,
        .offset = packet->address,
        .swap_or_add = packet->swap_or_add,
        .compare = packet->compare,
        .ticket = packet->psn,
    };
    vec_push(&transport->accesses, access);
}

static void add(struct transport *transport, struct qp *qp, const struct transport_packet *packet,
                uint32_t packets, bool repeated)
{
    bool atomic = transport_parts_of(packet->opcode) & PART_ATOMIC_ETH;
    uint32_t number = pool_take(&transport->responses);
    *response_at(transport, number) = (struct response){
        .first_psn = packet->psn,
        .packets = packets,
        .r_key = packet->r_key,
        .bytes = packet->dma_bytes,
        .address = packet->address,
        .atomic = atomic,
        .answered = atomic && !transport->config.accesses,
        .repeated = repeated,
    };
    insert(transport, &qp->responses, number);
    qp->reads_waiting += !repeated;
}

void responses_add(struct transport *transport, struct qp *qp,
                   const struct transport_packet *packet, uint32_t packets)
{
    add(transport, qp, packet, packets, false);
    if (transport->config.accesses && transport_parts_of(packet->opcode) & PART_ATOMIC_ETH)
        ask_atomic(transport, qp, packet);
}

static struct response *answer_find(struct transport *transport, struct qp *qp, uint32_t ticket)
{
    for (uint32_t at = qp->responses.head; at != NONE; at = response_at(transport, at)->next) {
        struct response *response = response_at(transport, at);
        if (response->atomic && !response->answered && response->first_psn == ticket)
            return response;
    }
    return NULL;
}

void transport_answer_atomic(struct transport *transport, uint32_t number, uint32_t ticket,
                             uint64_t original)
{
    struct qp *qp = qp_find(transport, number);
    struct response *response = qp ? answer_find(transport, qp, ticket) : NULL;
    if (!response)
        return;
    response->answered = true;
    response->original = original;
    qp_wake(transport, qp);
}

/* ---- duplicates: 9.7.5.1.4 ---- */

/* A READ whose responses still wait continues where the requester misses them. */
static bool rewind_waiting(struct transport *transport, struct qp *qp, uint32_t psn)
{
    for (uint32_t at = qp->responses.head; at != NONE; at = response_at(transport, at)->next) {
        struct response *response = response_at(transport, at);
        int32_t wanted = transport_psn_distance(psn, response->first_psn);
        if (wanted < 0 || (uint32_t)wanted >= response->packets)
            continue;
        if ((uint32_t)wanted < response->sent)
            response->sent = (uint32_t)wanted;
        return true;
    }
    return false;
}

static void repeat_atomic(struct transport *transport, struct qp *qp, uint32_t psn)
{
    uint32_t before = NONE;
    for (uint32_t at = qp->history.head; at != NONE; at = response_at(transport, at)->next) {
        struct response *response = response_at(transport, at);
        if (response->first_psn != psn) {
            before = at;
            continue;
        }
        if (before == NONE)
            qp->history.head = response->next;
        else
            response_at(transport, before)->next = response->next;
        if (qp->history.tail == at)
            qp->history.tail = before;
        qp->history.count--;
        response->sent = 0;
        response->repeated = true;
        insert(transport, &qp->responses, at);
        return;
    }
}

static void repeat_read(struct transport *transport, struct qp *qp,
                        const struct transport_packet *packet)
{
    uint32_t packets = packet->dma_bytes ? (packet->dma_bytes - 1) / qp->attributes.mtu + 1 : 1;
    bool allowed = packet->dma_bytes == 0 ||
                   region_find(transport, qp->init.domain, packet->r_key, RIGHT_REMOTE_READ,
                               packet->address, packet->dma_bytes);
    if (!allowed || !(qp->attributes.access & RIGHT_REMOTE_READ) ||
        packet->dma_bytes > TRANSPORT_MESSAGE_MAX ||
        transport_psn_distance(packet->psn + packets, qp->expected_psn) > 0)
        return;
    add(transport, qp, packet, packets, true);
}

void responses_repeat(struct transport *transport, struct qp *qp,
                      const struct transport_packet *packet)
{
    if (rewind_waiting(transport, qp, packet->psn) ||
        qp->responses.count >= 2u * qp->attributes.reads_accepted)
        return;
    if (transport_parts_of(packet->opcode) & PART_ATOMIC_ETH)
        repeat_atomic(transport, qp, packet->psn);
    else
        repeat_read(transport, qp, packet);
}

/* ---- packets ---- */

static unsigned read_operation(const struct response *response)
{
    bool last = response->sent + 1 == response->packets;
    if (response->sent == 0)
        return last ? OP_READ_RESPONSE_ONLY : OP_READ_RESPONSE_FIRST;
    return last ? OP_READ_RESPONSE_LAST : OP_READ_RESPONSE_MIDDLE;
}

/* False if the region is gone: the QP has failed. */
static bool build_read(struct transport *transport, struct qp *qp, const struct response *response,
                       struct transport_packet *packet)
{
    uint32_t mtu = qp->attributes.mtu, offset = response->sent * mtu;
    uint32_t left = response->bytes - offset, bytes = left < mtu ? left : mtu;
    uint64_t address = response->address + offset;
    const struct region *region =
        region_find(transport, qp->init.domain, response->r_key, RIGHT_REMOTE_READ, address, bytes);
    if (bytes && !region)
        return false;
    packet->opcode = TRANSPORT_OPCODE(TRANSPORT_RC, read_operation(response));
    packet->psn = (response->first_psn + response->sent) & TRANSPORT_PSN_MASK;
    if (bytes)
        packet->payload = (struct transport_payload){.memory = region->public.memory,
                                                     .offset = address,
                                                     .bytes = bytes,
                                                     .source = PAYLOAD_REGION};
    if (transport_parts_of(packet->opcode) & PART_AETH)
        add_aeth(transport, qp, SYNDROME_ACK, packet);
    return true;
}

static void remember_atomic(struct transport *transport, struct qp *qp, uint32_t number)
{
    insert(transport, &qp->history, number);
    if (qp->history.count > qp->attributes.reads_accepted) {
        uint32_t oldest = take_first(transport, &qp->history);
        pool_give(&transport->responses, oldest);
    }
}

static bool next_response(struct transport *transport, struct qp *qp,
                          struct transport_packet *packet)
{
    uint32_t number = qp->responses.head;
    struct response *response = response_at(transport, number);
    if (response->atomic && !response->answered)
        return false;
    if (response->atomic) {
        packet->opcode = TRANSPORT_OPCODE(TRANSPORT_RC, OP_ATOMIC_ACKNOWLEDGE);
        packet->psn = response->first_psn;
        packet->original = response->original;
        add_aeth(transport, qp, SYNDROME_ACK, packet);
    } else if (!build_read(transport, qp, response, packet)) {
        uint32_t psn = (response->first_psn + response->sent) & TRANSPORT_PSN_MASK;
        qp_enter_error(transport, qp, EVENT_QP_ACCESS);
        qp->expected_psn = psn;
        responses_owe(qp, OWED_NAK, SYNDROME_NAK | NAK_REMOTE_OPERATIONAL);
        transport->counters.operation_naks++;
        return responses_next(transport, qp, packet);
    }
    if (++response->sent < response->packets)
        return true;
    take_first(transport, &qp->responses);
    qp->reads_waiting -= !response->repeated;
    if (response->atomic)
        remember_atomic(transport, qp, number);
    else
        pool_give(&transport->responses, number);
    return true;
}

bool responses_next(struct transport *transport, struct qp *qp, struct transport_packet *packet)
{
    if (qp->responses.count == 0 && qp->owed == OWED_NOTHING)
        return false;
    qp_address_packet(transport, qp, packet);
    if (qp->responses.count)
        return next_response(transport, qp, packet);
    packet->opcode = TRANSPORT_OPCODE(TRANSPORT_RC, OP_ACKNOWLEDGE);
    packet->psn =
        (qp->owed == OWED_NAK ? qp->expected_psn : qp->expected_psn - 1) & TRANSPORT_PSN_MASK;
    add_aeth(transport, qp, qp->owed == OWED_NAK ? qp->nak_syndrome : SYNDROME_ACK, packet);
    qp->owed = OWED_NOTHING;
    return true;
}
