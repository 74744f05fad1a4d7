/* Work and receive requests: posting, completion, flushing (10.8 and 11.4).
 *
 * Requests of a queue complete in the order in which they were posted. When a QP fails, all that
 * wait complete with STATUS_FLUSHED, and so does what is posted later. */
#include "transport/internal.h"

#include <errno.h>

/* ---- queues of pool items ---- */

#define queue_push(pool, queue, number)                                                            \
    do {                                                                                           \
        (pool)->items[number].next = NONE;                                                         \
        if ((queue)->head == NONE)                                                                 \
            (queue)->head = (number);                                                              \
        else                                                                                       \
            (pool)->items[(queue)->tail].next = (number);                                          \
        (queue)->tail = (number);                                                                  \
        (queue)->count++;                                                                          \
    } while (0)

#define queue_pop(pool, queue) ((queue)->count--, (queue)->head = (pool)->items[(queue)->head].next)

/* ---- send queue ---- */

/* What the services offer (table 38 of 9.2.1). */
static bool service_has(unsigned service, unsigned operation)
{
    switch (service) {
    case TRANSPORT_UD: return operation == WORK_SEND || operation == WORK_SEND_IMMEDIATE;
    case TRANSPORT_UC:
        return operation == WORK_SEND || operation == WORK_SEND_IMMEDIATE ||
               operation == WORK_WRITE || operation == WORK_WRITE_IMMEDIATE;
    default: return operation <= WORK_FETCH_ADD;
    }
}

static void complete_send(struct transport *transport, struct qp *qp, uint64_t id,
                          unsigned operation, uint32_t bytes, unsigned status)
{
    struct transport_completion completion = {
        .id = id,
        .qp = qp_number(transport, qp),
        .bytes = bytes,
        .status = (uint8_t)status,
        .operation = (uint8_t)operation,
    };
    if (!complete(transport, qp->init.send_cq, &completion) && qp->attributes.state != STATE_ERROR)
        qp_enter_error(transport, qp, EVENT_QP_FATAL);
}

static unsigned length_status(const struct transport_work *work, uint64_t bytes)
{
    if (work->operation == WORK_COMPARE_SWAP || work->operation == WORK_FETCH_ADD)
        return bytes == 8 ? STATUS_SUCCESS : STATUS_LOCAL_LENGTH;
    return bytes <= TRANSPORT_MESSAGE_MAX ? STATUS_SUCCESS : STATUS_LOCAL_LENGTH;
}

/* Pools double when they grow. */
uint64_t transport_queue_bytes(uint32_t sends, uint32_t send_segments, uint32_t receives,
                               uint32_t receive_segments)
{
    uint64_t segments = (uint64_t)sends * (send_segments ? send_segments - 1 : 0) +
                        (uint64_t)receives * (receive_segments ? receive_segments - 1 : 0);
    return 2 * (sends * sizeof(struct work) + receives * sizeof(struct receive) +
                segments * sizeof(struct segment));
}

static void add_work(struct transport *transport, struct qp *qp, const struct transport_work *from)
{
    uint32_t number = pool_take(&transport->works);
    struct segments segments;
    uint64_t bytes = segments_copy(transport, &segments, from->segments, from->segment_count);
    struct work *work = work_at(transport, number);
    *work = (struct work){
        .id = from->id,
        .memory = from->memory,
        .segments = segments,
        .bytes = (uint32_t)bytes,
        .operation = from->operation,
        .flags = from->flags,
        .status = (uint8_t)(from->status ? from->status : length_status(from, bytes)),
        .immediate = from->immediate,
        .r_key = from->r_key,
    };
    if (qp->init.service == TRANSPORT_UD && from->path) {
        work->path = *from->path;
        work->dest_qp = from->dest_qp;
        work->q_key = from->q_key;
    } else {
        work->address = from->address;
        work->swap_or_add = from->swap_or_add;
        work->compare = from->compare;
    }
    queue_push(&transport->works, &qp->sends, number);
    if (qp->cursor == NONE)
        qp->cursor = number;
}

static bool work_valid(const struct qp *qp, const struct transport_work *work)
{
    if (work->segment_count > TRANSPORT_SEGMENTS_MAX)
        return false;
    if (work->status != STATUS_SUCCESS)
        return work->status < TRANSPORT_STATUSES;
    return service_has(qp->init.service, work->operation) &&
           (qp->init.service != TRANSPORT_UD || (work->path && work->path->sl < SERVICE_LEVELS));
}

int transport_post_send(struct transport *transport, uint32_t number,
                        const struct transport_work *work)
{
    struct qp *qp = qp_find(transport, number);
    if (!qp || !work_valid(qp, work))
        return -EINVAL;
    switch (qp->attributes.state) {
    case STATE_SQE:
    case STATE_ERROR:
        complete_send(transport, qp, work->id, work->operation, 0, STATUS_FLUSHED);
        return 0;
    case STATE_RTS:
    case STATE_SQD: break;
    default: return -EINVAL;
    }
    if (qp->sends.count >= qp->init.sends)
        return -ENOMEM;
    add_work(transport, qp, work);
    qp_wake(transport, qp);
    return 0;
}

/* Removes the first request and tells what is needed for its completion. */
static void drop_first_work(struct transport *transport, struct qp *qp)
{
    uint32_t number = qp->sends.head;
    struct work *work = work_at(transport, number);
    segments_drop(transport, &work->segments);
    if (work->issued)
        qp->reads_outstanding--;
    if (qp->cursor == number)
        qp->cursor = work->next;
    queue_pop(&transport->works, &qp->sends);
    pool_give(&transport->works, number);
}

void work_complete(struct transport *transport, struct qp *qp, unsigned status)
{
    const struct work *work = work_at(transport, qp->sends.head);
    bool tell = status != STATUS_SUCCESS || work->flags & WORK_SIGNALED || qp->init.signal_all;
    uint64_t id = work->id;
    uint32_t bytes = work->bytes;
    unsigned operation = work->operation;
    drop_first_work(transport, qp);
    if (tell)
        complete_send(transport, qp, id, operation, bytes, status);
    requester_check_drained(transport, qp);
}

static void flush_sends(struct transport *transport, struct qp *qp)
{
    while (qp->sends.count) {
        uint64_t id = work_at(transport, qp->sends.head)->id;
        unsigned operation = work_at(transport, qp->sends.head)->operation;
        drop_first_work(transport, qp);
        complete_send(transport, qp, id, operation, 0, STATUS_FLUSHED);
    }
}

void work_fail(struct transport *transport, struct qp *qp, unsigned status)
{
    work_complete(transport, qp, status);
    if (qp->init.service == TRANSPORT_RC) {
        if (qp->attributes.state != STATE_ERROR)
            qp_enter_error(transport, qp, EVENT_SILENT);
    } else if (qp->attributes.state != STATE_ERROR) {
        qp->attributes.state = STATE_SQE;
        qp->draining = false;
        flush_sends(transport, qp);
    }
}

/* ---- receive queues ---- */

static void add_receive(struct transport *transport, struct queue *queue,
                        const struct transport_receive_work *from)
{
    uint32_t number = pool_take(&transport->receives);
    struct segments segments;
    uint64_t bytes = segments_copy(transport, &segments, from->segments, from->segment_count);
    transport->receives.items[number] = (struct receive){
        .id = from->id,
        .memory = from->memory,
        .segments = segments,
        .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX,
    };
    queue_push(&transport->receives, queue, number);
}

static void complete_receive(struct transport *transport, struct qp *qp,
                             const struct transport_completion *completion)
{
    if (!complete(transport, qp->init.receive_cq, completion) &&
        qp->attributes.state != STATE_ERROR)
        qp_enter_error(transport, qp, EVENT_QP_FATAL);
}

static void flush_receive(struct transport *transport, struct qp *qp, uint64_t id)
{
    complete_receive(transport, qp,
                     &(struct transport_completion){.id = id,
                                                    .qp = qp_number(transport, qp),
                                                    .status = STATUS_FLUSHED,
                                                    .operation = WORK_RECEIVE});
}

int transport_post_receive(struct transport *transport, uint32_t number,
                           const struct transport_receive_work *work)
{
    struct qp *qp = qp_find(transport, number);
    if (!qp || qp->init.srq != NONE || qp->attributes.state == STATE_RESET ||
        work->segment_count > TRANSPORT_SEGMENTS_MAX)
        return -EINVAL;
    if (qp->attributes.state == STATE_ERROR) {
        flush_receive(transport, qp, work->id);
        return 0;
    }
    if (qp->receives.count >= qp->init.receives)
        return -ENOMEM;
    add_receive(transport, &qp->receives, work);
    return 0;
}

static struct srq *srq_find(const struct transport *transport, uint32_t number)
{
    return number < transport->srqs.count && transport->srqs.items[number].used
               ? &transport->srqs.items[number]
               : NULL;
}

int srq_use(struct transport *transport, uint32_t number, int change)
{
    struct srq *srq = srq_find(transport, number);
    if (!srq)
        return -EINVAL;
    srq->users += (uint32_t)change;
    return 0;
}

int transport_add_srq(struct transport *transport, uint32_t domain, uint32_t capacity,
                      uint32_t *srq)
{
    if (capacity == 0 || domain_use(transport, domain, 1))
        return -EINVAL;
    *srq = pool_take(&transport->srqs);
    transport->srqs.items[*srq] =
        (struct srq){.receives = QUEUE_EMPTY, .domain = domain, .capacity = capacity, .used = true};
    return 0;
}

static void drop_receives(struct transport *transport, struct queue *queue)
{
    while (queue->count) {
        uint32_t number = queue->head;
        segments_drop(transport, &transport->receives.items[number].segments);
        queue_pop(&transport->receives, queue);
        pool_give(&transport->receives, number);
    }
}

int transport_remove_srq(struct transport *transport, uint32_t number)
{
    struct srq *srq = srq_find(transport, number);
    if (!srq)
        return -EINVAL;
    if (srq->users)
        return -EBUSY;
    drop_receives(transport, &srq->receives);
    domain_use(transport, srq->domain, -1);
    srq->used = false;
    pool_give(&transport->srqs, number);
    return 0;
}

int transport_set_srq_limit(struct transport *transport, uint32_t number, uint32_t limit)
{
    struct srq *srq = srq_find(transport, number);
    if (!srq || limit > srq->capacity)
        return -EINVAL;
    srq->limit = limit;
    return 0;
}

int transport_post_shared(struct transport *transport, uint32_t number,
                          const struct transport_receive_work *work)
{
    struct srq *srq = srq_find(transport, number);
    if (!srq || work->segment_count > TRANSPORT_SEGMENTS_MAX)
        return -EINVAL;
    if (srq->receives.count >= srq->capacity)
        return -ENOMEM;
    add_receive(transport, &srq->receives, work);
    return 0;
}

/* The request that a QP took, and will not complete, is the SRQ's next one again. */
static void return_receive(struct transport *transport, struct queue *queue, uint32_t number)
{
    transport->receives.items[number].next = queue->head;
    if (queue->head == NONE)
        queue->tail = number;
    queue->head = number;
    queue->count++;
}

uint32_t receives_waiting(const struct transport *transport, const struct qp *qp)
{
    return qp->init.srq == NONE ? qp->receives.count
                                : transport->srqs.items[qp->init.srq].receives.count;
}

uint32_t receive_take(struct transport *transport, struct qp *qp)
{
    struct srq *srq = qp->init.srq == NONE ? NULL : &transport->srqs.items[qp->init.srq];
    struct queue *queue = srq ? &srq->receives : &qp->receives;
    uint32_t number = queue->head;
    if (number == NONE)
        return NONE;
    queue_pop(&transport->receives, queue);
    if (srq && srq->receives.count < srq->limit) {
        srq->limit = 0;
        report_event(transport, EVENT_SRQ_LIMIT, qp->init.srq);
    }
    return number;
}

void receive_complete(struct transport *transport, struct qp *qp, uint32_t number,
                      const struct transport_completion *from)
{
    struct receive *receive = &transport->receives.items[number];
    struct transport_completion completion = *from;
    completion.id = receive->id;
    completion.qp = qp_number(transport, qp);
    segments_drop(transport, &receive->segments);
    pool_give(&transport->receives, number);
    complete_receive(transport, qp, &completion);
}

/* ---- failure ---- */

static void flush_receives(struct transport *transport, struct qp *qp)
{
    if (qp->receive != NONE) {
        uint32_t receive = qp->receive;
        qp->receive = NONE;
        receive_complete(
            transport, qp, receive,
            &(struct transport_completion){.status = STATUS_FLUSHED, .operation = WORK_RECEIVE});
    }
    while (qp->receives.count) {
        uint64_t id = transport->receives.items[qp->receives.head].id;
        uint32_t number = qp->receives.head;
        segments_drop(transport, &transport->receives.items[number].segments);
        queue_pop(&transport->receives, &qp->receives);
        pool_give(&transport->receives, number);
        flush_receive(transport, qp, id);
    }
}

void qp_fail_as_responder(struct transport *transport, struct qp *qp, unsigned event)
{
    qp->attributes.state = STATE_ERROR;
    qp->message = MESSAGE_NONE;
    qp->draining = false;
    qp_set_timer(transport, qp, TIMER_OFF, TIME_NEVER);
    if (event != EVENT_SILENT)
        report_event(transport, event, qp_number(transport, qp));
    flush_sends(transport, qp);
    flush_receives(transport, qp);
    if (qp->init.srq != NONE)
        report_event(transport, EVENT_LAST_RECEIVE, qp_number(transport, qp));
}

void qp_enter_error(struct transport *transport, struct qp *qp, unsigned event)
{
    responses_drop(transport, qp);
    qp_fail_as_responder(transport, qp, event);
}

void qp_drop_work(struct transport *transport, struct qp *qp)
{
    responses_drop(transport, qp);
    while (qp->sends.count)
        drop_first_work(transport, qp);
    if (qp->receive != NONE && qp->init.srq != NONE) {
        return_receive(transport, &transport->srqs.items[qp->init.srq].receives, qp->receive);
    } else if (qp->receive != NONE) {
        segments_drop(transport, &transport->receives.items[qp->receive].segments);
        pool_give(&transport->receives, qp->receive);
    }
    qp->receive = NONE;
    drop_receives(transport, &qp->receives);
}
