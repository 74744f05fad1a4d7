/* Takes work requests from the rings of programs and posts them.
 *
 * An entry is copied before it is checked. The copy gets its slot when the transport layer has
 * accepted the request, and stays there until the slot is used again, which is after its
 * completion: no more requests are accepted than a queue has slots. */
#include "host/verbs/internal.h"

#include "base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries that one pass takes from a client: other clients and the fabric must not wait longer. */
enum { PASS_ENTRIES = 4096 };

/* Room for an entry of any queue. */
union entry {
    struct verbs_send send;
    struct verbs_receive receive;
    uint8_t bytes[(sizeof(struct verbs_send) + VERBS_SEGMENTS * sizeof(struct verbs_segment) + 63) /
                  64 * 64];
};
_Static_assert(VERBS_SEGMENTS * sizeof(struct verbs_segment) >= VERBS_INLINE, "room of an entry");

int work_init(struct work_queue *queue, uint32_t capacity, uint32_t stride, uint32_t segments,
              uint64_t offset)
{
    *queue = (struct work_queue){
        .capacity = capacity, .stride = stride, .segments = segments, .offset = offset};
    if (capacity)
        queue->copies =
            calloc(capacity, stride); /* a client's wish, which must not end the server */
    return capacity && !queue->copies ? -ENOMEM : 0;
}

void work_release(struct work_queue *queue)
{
    free(queue->copies);
    *queue = (struct work_queue){0};
}

static const uint8_t *next_entry(const struct work_queue *queue, const struct mapping *ring)
{
    return ring->at + queue->offset +
           (size_t)(queue->taken & (queue->capacity - 1)) * queue->stride;
}

static void read_entry(const struct work_queue *queue, const struct mapping *ring,
                       union entry *entry)
{
    memcpy(entry, next_entry(queue, ring), queue->stride);
}

/* Keeps the entry until its request has completed. */
static void keep_entry(struct work_queue *queue, uint32_t slot, const union entry *entry)
{
    memcpy(queue->copies + (size_t)(slot & (queue->capacity - 1)) * queue->stride, entry,
           queue->stride);
}

/* How many entries were posted; UINT32_MAX: the client's count cannot be true. */
static uint32_t count_posted(const struct work_queue *queue, const uint32_t *counter)
{
    uint32_t posted = __atomic_load_n(counter, __ATOMIC_ACQUIRE) - queue->taken;
    return posted <= queue->capacity ? posted : UINT32_MAX;
}

/* ---- sends ---- */

bool path_to_transport(const struct verbs_client *client, const struct verbs_path *from,
                       unsigned port, struct transport_path *path)
{
    *path = (struct transport_path){.dlid = from->dlid,
                                    .sl = from->sl,
                                    .path_bits = from->path_bits,
                                    .global = from->global != 0,
                                    .p_key_index = from->p_key_index,
                                    .port = from->port,
                                    .timeout = from->timeout};
    path->route = (struct transport_global_route){.flow_label = from->flow_label & 0xFFFFF,
                                                  .traffic_class = from->traffic_class,
                                                  .hop_limit = from->hop_limit};
    memcpy(path->route.dgid, from->dgid, sizeof from->dgid);
    if (port >= 1 && port <= client->adapter->ports)
        adapter_gid(client->adapter, port, from->sgid_index, path->route.sgid);
    return from->dlid != 0 && from->dlid < LID_MULTICAST_FIRST && from->sl < 16 &&
           (!from->global || from->sgid_index < VERBS_GIDS);
}

static bool operation_of(uint8_t from, uint8_t *operation)
{
    static const int8_t operations[] = {
        [VERBS_WRITE] = WORK_WRITE,
        [VERBS_WRITE_IMMEDIATE] = WORK_WRITE_IMMEDIATE,
        [VERBS_SEND] = WORK_SEND,
        [VERBS_SEND_IMMEDIATE] = WORK_SEND_IMMEDIATE,
        [VERBS_READ] = WORK_READ,
        [VERBS_COMPARE_SWAP] = WORK_COMPARE_SWAP,
        [VERBS_FETCH_ADD] = WORK_FETCH_ADD,
        [7] = -1,
        [8] = -1,
        [VERBS_SEND_INVALIDATE] = WORK_SEND_INVALIDATE,
    };
    if (from >= sizeof operations || operations[from] < 0)
        return false;
    *operation = (uint8_t)operations[from];
    return true;
}

static int post_send(struct verbs_client *client, const struct qp *qp,
                     const struct verbs_send *send)
{
    struct transport_segment segments[VERBS_SEGMENTS];
    const struct verbs_segment *from = (const void *)(send + 1);
    struct transport_path path;
    struct transport_work work = {
        .id = qp->sends.taken,
        .memory = memory_name(MEMORY_SEND, qp->number, qp->sends.taken),
        .flags = (uint8_t)((send->flags & VERBS_SIGNALED ? WORK_SIGNALED : 0) |
                           (send->flags & VERBS_FENCE ? WORK_FENCE : 0) |
                           (send->flags & VERBS_SOLICITED ? WORK_SOLICITED : 0)),
        .segments = segments,
        .immediate = send->immediate,
        .r_key = send->r_key,
        .address = send->address,
        .swap_or_add = send->swap_or_add,
        .compare = send->compare,
        .path = &path,
        .dest_qp = send->dest_qp & TRANSPORT_QP_MASK,
        .q_key = send->q_key,
    };
    if (!operation_of(send->operation, &work.operation))
        return -EINVAL;
    if (qp->service == TRANSPORT_UD &&
        !path_to_transport(client, &send->path, qp->attributes.port, &path))
        return -EINVAL;
    if (send->flags & VERBS_INLINED) {
        if (send->inline_bytes > VERBS_INLINE || work.operation > WORK_WRITE_IMMEDIATE)
            return -EINVAL;
        work.flags |= WORK_INLINE;
        segments[0] = (struct transport_segment){.bytes = send->inline_bytes};
        work.segment_count = 1;
    } else {
        if (send->segments > qp->sends.segments)
            return -EINVAL;
        for (unsigned i = 0; i < send->segments; i++)
            segments[i] = (struct transport_segment){from[i].address, from[i].bytes, from[i].key};
        work.segment_count = (uint8_t)send->segments;
    }
    return transport_post_send(client->adapter->transport, qp->number, &work);
}

/* A request that the adapter cannot execute fails in its turn, after those before it. */
static int post_refused(struct verbs_client *client, const struct qp *qp)
{
    struct transport_work work = {
        .id = qp->sends.taken, .operation = WORK_SEND, .status = STATUS_LOCAL_QP_OPERATION};
    return transport_post_send(client->adapter->transport, qp->number, &work);
}

/* The state of the QP takes no request, so none waits before it. */
static void refuse_send(struct verbs_client *client, struct qp *qp, const struct verbs_send *send)
{
    completion_put_failed(client, qp, send->id, qp->sends.taken);
    adapter_break_qp(client->adapter, qp->number);
}

static bool take_sends(struct verbs_client *client, struct qp *qp, uint32_t *budget)
{
    const struct verbs_qp_ring *ring = (const void *)qp->ring.at;
    uint32_t posted = count_posted(&qp->sends, &ring->sends);
    if (posted == UINT32_MAX)
        return false;
    for (; posted && *budget; posted--, (*budget)--) {
        union entry entry;
        read_entry(&qp->sends, &qp->ring, &entry);
        if (entry.send.time > client->verbs->until)
            break;
        int result = post_send(client, qp, &entry.send);
        if (result == -EINVAL)
            result = post_refused(client, qp);
        if (result == -ENOMEM)
            return false; /* more than the queue holds: the slot of a request that is in use */
        if (result)
            refuse_send(client, qp, &entry.send);
        else
            keep_entry(&qp->sends, qp->sends.taken, &entry);
        qp->sends.taken++;
        client->sends_taken++;
    }
    return true;
}

/* ---- receives ---- */

/* False: it has more segments than the queue was created with. */
static bool read_receive(const struct work_queue *queue, const struct verbs_receive *receive,
                         struct transport_segment *segments)
{
    const struct verbs_segment *from = (const void *)(receive + 1);
    if (receive->segments > queue->segments)
        return false;
    for (unsigned i = 0; i < receive->segments; i++)
        segments[i] = (struct transport_segment){from[i].address, from[i].bytes, from[i].key};
    return true;
}

/* From a queue of a QP, or of an SRQ, which names its slots itself. */
static bool take_receives(struct verbs_client *client, struct work_queue *queue,
                          const struct mapping *mapping, uint32_t number, struct srq *srq,
                          uint32_t *budget)
{
    const struct verbs_qp_ring *ring = (const void *)mapping->at;
    uint32_t posted = count_posted(queue, &ring->receives);
    if (posted == UINT32_MAX)
        return false;
    for (; posted && *budget; posted--, (*budget)--) {
        struct transport_segment segments[VERBS_SEGMENTS];
        union entry entry;
        read_entry(queue, mapping, &entry);
        if (entry.receive.time > client->verbs->until)
            break;
        uint32_t slot = srq ? entry.receive.slot : queue->taken;
        if (srq && (slot >= queue->capacity || srq->busy[slot]))
            return false;
        struct transport_receive_work work = {
            .id = slot,
            .memory = memory_name(srq ? MEMORY_SHARED : MEMORY_RECEIVE, number, slot),
            .segments = segments};
        if (!read_receive(queue, &entry.receive, segments))
            return false;
        work.segment_count = (uint8_t)entry.receive.segments;
        if (srq ? transport_post_shared(client->adapter->transport, number, &work)
                : transport_post_receive(client->adapter->transport, number, &work))
            return false; /* posted in Reset, or more than the queue holds */
        keep_entry(queue, slot, &entry);
        if (srq)
            srq->busy[slot] = true;
        queue->taken++;
        client->receives_taken++;
    }
    return true;
}

static bool take_queues(struct verbs_client *client, struct qp *qp, uint32_t *budget)
{
    return (!qp->receives.capacity ||
            take_receives(client, &qp->receives, &qp->ring, qp->number, NULL, budget)) &&
           take_sends(client, qp, budget);
}

/* An entry begins with its time. */
static uint64_t next_time(const struct work_queue *queue, const struct mapping *ring,
                          const uint32_t *counter)
{
    uint64_t time;
    uint32_t posted = count_posted(queue, counter);
    if (posted == 0 || posted == UINT32_MAX)
        return posted ? 0 : TIME_NEVER;
    memcpy(&time, next_entry(queue, ring), sizeof time);
    return time;
}

uint64_t work_next_time(const struct verbs_client *client)
{
    uint64_t next = TIME_NEVER;
    for (size_t i = 0; i < client->srqs.count; i++) {
        const struct srq *srq = &client->srqs.items[i];
        const struct verbs_qp_ring *ring = (const void *)srq->ring.at;
        if (srq->used)
            next = time_first(next, next_time(&srq->receives, &srq->ring, &ring->receives));
    }
    for (size_t i = 0; i < client->qps.count; i++) {
        const struct qp *qp = &client->qps.items[i];
        const struct verbs_qp_ring *ring = (const void *)qp->ring.at;
        if (!qp->used)
            continue;
        next = time_first(next, next_time(&qp->sends, &qp->ring, &ring->sends));
        if (qp->receives.capacity)
            next = time_first(next, next_time(&qp->receives, &qp->ring, &ring->receives));
    }
    return next;
}

/* QPs take turns: a pass that ends early goes on behind the QP at which it ended. */
void work_take(struct verbs_client *client)
{
    uint32_t budget = PASS_ENTRIES;
    bool valid = true;
    for (size_t i = 0; i < client->srqs.count && valid; i++) {
        struct srq *srq = &client->srqs.items[i];
        if (srq->used)
            valid = take_receives(client, &srq->receives, &srq->ring, srq->number, srq, &budget);
    }
    size_t count = client->qps.count, first = client->next_qp < count ? client->next_qp : 0;
    for (size_t i = 0; i < count && valid && budget; i++) {
        size_t at = (first + i) % count;
        if (client->qps.items[at].used)
            valid = take_queues(client, &client->qps.items[at], &budget);
        client->next_qp = at + 1;
    }
    if (!valid) {
        client->failed = true; /* nothing more is sent for it */
        return;
    }
    if (budget == 0) /* there may be more */
        __atomic_store_n(&page_of(client)->posted, 1, __ATOMIC_SEQ_CST);
    adapter_serve(client->adapter);
}
