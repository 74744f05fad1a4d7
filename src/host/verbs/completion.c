/* Completions and asynchronous events, from the transport layer to the programs.
 *
 * A completion is written into the ring of its CQ. Then the server increments the count on which
 * the program's threads wait, and writes to the completion channel if the CQ was armed. */
#include "host/verbs/internal.h"

#include <infiniband/verbs.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const uint8_t statuses[TRANSPORT_STATUSES] = {
    [STATUS_SUCCESS] = IBV_WC_SUCCESS,
    [STATUS_LOCAL_LENGTH] = IBV_WC_LOC_LEN_ERR,
    [STATUS_LOCAL_QP_OPERATION] = IBV_WC_LOC_QP_OP_ERR,
    [STATUS_LOCAL_PROTECTION] = IBV_WC_LOC_PROT_ERR,
    [STATUS_FLUSHED] = IBV_WC_WR_FLUSH_ERR,
    [STATUS_BAD_RESPONSE] = IBV_WC_BAD_RESP_ERR,
    [STATUS_REMOTE_INVALID_REQUEST] = IBV_WC_REM_INV_REQ_ERR,
    [STATUS_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
    [STATUS_REMOTE_OPERATION] = IBV_WC_REM_OP_ERR,
    [STATUS_RETRY_EXCEEDED] = IBV_WC_RETRY_EXC_ERR,
    [STATUS_RNR_RETRY_EXCEEDED] = IBV_WC_RNR_RETRY_EXC_ERR,
};

static const uint8_t operations[] = {
    [WORK_SEND] = IBV_WC_SEND,
    [WORK_SEND_IMMEDIATE] = IBV_WC_SEND,
    [WORK_SEND_INVALIDATE] = IBV_WC_SEND,
    [WORK_WRITE] = IBV_WC_RDMA_WRITE,
    [WORK_WRITE_IMMEDIATE] = IBV_WC_RDMA_WRITE,
    [WORK_READ] = IBV_WC_RDMA_READ,
    [WORK_COMPARE_SWAP] = IBV_WC_COMP_SWAP,
    [WORK_FETCH_ADD] = IBV_WC_FETCH_ADD,
    [WORK_RECEIVE] = IBV_WC_RECV,
    [WORK_RECEIVE_WRITE_IMMEDIATE] = IBV_WC_RECV_RDMA_WITH_IMM,
};

/* ---- events ---- */

void event_send(struct verbs_client *client, uint32_t type, uint32_t object)
{
    struct verbs_event event = {type, object};
    verbs_notice(client->verbs);
    /* A program that never reads its events loses those that do not fit into the pipe. */
    ssize_t written = client->events >= 0 ? write(client->events, &event, sizeof event) : 0;
    (void)written;
}

void event_report(struct adapter *adapter, const struct transport_event *event)
{
    static const uint8_t types[] = {
        [EVENT_CQ_ERROR] = IBV_EVENT_CQ_ERR,
        [EVENT_QP_FATAL] = IBV_EVENT_QP_FATAL,
        [EVENT_QP_INVALID_REQUEST] = IBV_EVENT_QP_REQ_ERR,
        [EVENT_QP_ACCESS] = IBV_EVENT_QP_ACCESS_ERR,
        [EVENT_ESTABLISHED] = IBV_EVENT_COMM_EST,
        [EVENT_SEND_QUEUE_DRAINED] = IBV_EVENT_SQ_DRAINED,
        [EVENT_LAST_RECEIVE] = IBV_EVENT_QP_LAST_WQE_REACHED,
        [EVENT_MIGRATED] = IBV_EVENT_PATH_MIG,
        [EVENT_MIGRATION_FAILED] = IBV_EVENT_PATH_MIG_ERR,
        [EVENT_SRQ_LIMIT] = IBV_EVENT_SRQ_LIMIT_REACHED,
    };
    struct owner owner = {0};
    if (event->kind == EVENT_COMPLETION) {
        completion_drain(adapter, event->object);
        return;
    }
    if (event->kind == EVENT_CQ_ERROR && event->object < adapter->cqs.count)
        owner = adapter->cqs.items[event->object];
    else if (event->kind == EVENT_SRQ_LIMIT && event->object < adapter->srqs.count)
        owner = adapter->srqs.items[event->object];
    else if (event->kind != EVENT_CQ_ERROR && event->kind != EVENT_SRQ_LIMIT &&
             event->object < adapter->qps.count)
        owner = adapter->qps.items[event->object];
    if (owner.client)
        event_send(owner.client, types[event->kind], owner.object);
}

/* ---- completions ---- */

static void wake_pollers(struct verbs_client *client)
{
    struct verbs_page *page = page_of(client);
    const struct verbs_listener *listener = &client->verbs->listener;
    if (listener->completed)
        listener->completed(listener->context, client->process);
    __atomic_add_fetch(&page->completions, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&page->waiters, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &page->completions, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void put_completion(struct verbs_client *client, uint32_t object,
                           const struct verbs_completion *completion, bool solicited)
{
    struct cq *cq = &client->cqs.items[object];
    struct verbs_cq_ring *ring = (void *)cq->ring.at;
    uint32_t consumed = __atomic_load_n(&ring->consumed, __ATOMIC_ACQUIRE);
    client->completions++;
    if (cq->produced - consumed >= cq->capacity) {
        if (!__atomic_exchange_n(&ring->overrun, 1, __ATOMIC_SEQ_CST))
            event_send(client, IBV_EVENT_CQ_ERR, object);
        return;
    }
    struct verbs_completion *entries = (void *)(cq->ring.at + VERBS_RING_HEAD);
    entries[cq->produced & (cq->capacity - 1)] = *completion;
    __atomic_store_n(&ring->produced, ++cq->produced, __ATOMIC_SEQ_CST);
    uint32_t armed = __atomic_load_n(&ring->armed, __ATOMIC_SEQ_CST);
    if (armed && cq->channel != VERBS_NONE &&
        (armed == 1 || solicited || completion->status != IBV_WC_SUCCESS)) {
        __atomic_store_n(&ring->armed, 0, __ATOMIC_SEQ_CST);
        struct verbs_event event = {0, object};
        verbs_notice(client->verbs);
        int pipe = client->channels.items[cq->channel].pipe;
        ssize_t written = write(pipe, &event, sizeof event);
        (void)written; /* it is full of events that the program has not read */
    }
}

static void fill_receive(struct verbs_client *client, const struct qp *qp,
                         const struct transport_completion *from, struct verbs_completion *to)
{
    struct work_queue *queue = qp->srq == VERBS_NONE ? (struct work_queue *)&qp->receives
                                                     : &client->srqs.items[qp->srq].receives;
    uint32_t slot = (uint32_t)from->id & (queue->capacity - 1);
    const struct verbs_receive *receive = (void *)(queue->copies + (size_t)slot * queue->stride);
    to->id = receive->id;
    to->slot = (uint32_t)from->id;
    to->flags =
        (uint8_t)(VERBS_RECEIVED | (from->has_immediate ? VERBS_HAS_IMMEDIATE : 0) |
                  (from->invalidated ? VERBS_INVALIDATED : 0) | (from->global ? VERBS_GLOBAL : 0));
    if (qp->srq != VERBS_NONE)
        client->srqs.items[qp->srq].busy[slot] = false;
}

static void deliver(struct adapter *adapter, const struct transport_completion *from)
{
    if (from->qp >= adapter->qps.count || !adapter->qps.items[from->qp].client)
        return; /* the QP was removed */
    struct verbs_client *client = adapter->qps.items[from->qp].client;
    uint32_t object = adapter->qps.items[from->qp].object;
    const struct qp *qp = &client->qps.items[object];
    bool received = from->operation >= WORK_RECEIVE;
    struct verbs_completion to = {
        .qp = object,
        .epoch = qp->epoch,
        .slot = (uint32_t)from->id,
        .bytes = from->bytes,
        .immediate = from->immediate,
        .source_qp = from->source_qp,
        .slid = from->slid,
        .p_key_index = from->p_key_index,
        .status = statuses[from->status],
        .operation = operations[from->operation],
        .sl = from->sl,
        .path_bits = from->path_bits,
    };
    if (qp->broken && from->status == STATUS_SUCCESS)
        to.status = IBV_WC_LOC_PROT_ERR;
    if (received) {
        fill_receive(client, qp, from, &to);
    } else {
        const struct verbs_send *send =
            (void *)(qp->sends.copies +
                     (size_t)((uint32_t)from->id & (qp->sends.capacity - 1)) * qp->sends.stride);
        to.id = send->id;
    }
    put_completion(client, received ? qp->receive_cq : qp->send_cq, &to, from->solicited);
}

void completion_drain(struct adapter *adapter, uint32_t number)
{
    struct transport_completion completion;
    while (transport_poll(adapter->transport, number, &completion))
        deliver(adapter, &completion);
    transport_arm_cq(adapter->transport, number, false);
    if (number < adapter->cqs.count && adapter->cqs.items[number].client)
        wake_pollers(adapter->cqs.items[number].client);
}

void completion_put_failed(struct verbs_client *client, const struct qp *qp, uint64_t id,
                           uint32_t count)
{
    struct verbs_completion completion = {.id = id,
                                          .qp = (uint32_t)(qp - client->qps.items),
                                          .epoch = qp->epoch,
                                          .slot = count,
                                          .status = IBV_WC_LOC_QP_OP_ERR,
                                          .operation = IBV_WC_SEND};
    put_completion(client, qp->send_cq, &completion, true);
    wake_pollers(client);
}
