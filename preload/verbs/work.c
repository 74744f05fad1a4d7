/* Posting of work requests in the stand-in for libibverbs.
 *
 * A request is written into its slot of the ring in shared memory; the bytes of short messages go
 * along, as those of IBV_SEND_INLINE do. When all requests of a call are written, one count makes
 * them visible, and the server is woken if it sleeps. */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static const unsigned send_flags =
    IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

static uint32_t in_use(const struct work_ring *ring)
{
    return ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
}

static void *slot_of(const struct work_ring *ring, uint32_t count)
{
    return ring->entries + (size_t)(count & (ring->capacity - 1)) * ring->stride;
}

static void publish(struct ibv_context *context, struct work_ring *ring, uint32_t count)
{
    if (count == 0)
        return;
    ring->head += count;
    __atomic_store_n(ring->posted, ring->head, __ATOMIC_SEQ_CST);
    verbs_ring_doorbell(context_of(context));
}

/* ---- send requests ---- */

static bool carries_bytes(unsigned operation)
{
    return operation != IBV_WR_RDMA_READ && operation != IBV_WR_ATOMIC_CMP_AND_SWP &&
           operation != IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static bool may_send(const struct ibv_qp *qp)
{
    return qp->state >= IBV_QPS_RTS;
}

/* Copies the message into the request if it is short and all of it is registered. */
static bool copy_short(struct qp *qp, struct verbs_send *send, const struct ibv_sge *list,
                       int count)
{
    struct context *context = context_of(qp->qp.qp_base.context);
    uint64_t bytes = 0;
    for (int i = 0; i < count; i++)
        bytes += list[i].length;
    if (bytes > VERBS_INLINE || !carries_bytes(send->operation))
        return false;
    for (int i = 0; i < count; i++)
        if (!memory_covers(context, qp->pd, list[i].lkey, list[i].addr, list[i].length))
            return false;
    uint8_t *to = (uint8_t *)(send + 1);
    for (int i = 0; i < count; i++) {
        memcpy(to, (const void *)(uintptr_t)list[i].addr, list[i].length);
        to += list[i].length;
    }
    send->flags |= VERBS_INLINED;
    send->inline_bytes = (uint32_t)bytes;
    return true;
}

static void put_segments(struct verbs_send *send, const struct ibv_sge *list, int count)
{
    struct verbs_segment *to = (struct verbs_segment *)(void *)(send + 1);
    send->segments = (uint16_t)count;
    for (int i = 0; i < count; i++)
        to[i] = (struct verbs_segment){list[i].addr, list[i].length, list[i].lkey};
}

static int put_inline(struct verbs_send *send, const struct ibv_sge *list, int count)
{
    uint8_t *to = (uint8_t *)(send + 1);
    uint64_t bytes = 0;
    if (!carries_bytes(send->operation))
        return EINVAL;
    for (int i = 0; i < count; i++) {
        if (bytes + list[i].length > VERBS_INLINE)
            return EINVAL;
        memcpy(to + bytes, (const void *)(uintptr_t)list[i].addr, list[i].length);
        bytes += list[i].length;
    }
    send->flags |= VERBS_INLINED;
    send->inline_bytes = (uint32_t)bytes;
    return 0;
}

static uint32_t immediate_of(const struct ibv_send_wr *work)
{
    if (work->opcode == IBV_WR_SEND_WITH_INV)
        return work->invalidate_rkey;
    return ntohl(work->imm_data);
}

static int put_send(struct qp *qp, struct verbs_send *send, const struct ibv_send_wr *work)
{
    enum ibv_qp_type type = qp->qp.qp_base.qp_type;
    if (work->opcode > IBV_WR_SEND_WITH_INV || !(qp_operations(type) >> work->opcode & 1) ||
        work->send_flags & ~send_flags || work->num_sge < 0 ||
        (uint32_t)work->num_sge > qp->sends.segments)
        return EINVAL;
    *send = (struct verbs_send){
        .id = work->wr_id,
        .operation = (uint8_t)work->opcode,
        .flags = (uint8_t)(work->send_flags & ~(unsigned)IBV_SEND_INLINE),
        .immediate = immediate_of(work),
        .time = time_spend(TIME_POST_SEND),
    };
    if (type == IBV_QPT_UD) {
        if (!work->wr.ud.ah)
            return EINVAL;
        send->path = CONTAINER(work->wr.ud.ah, struct ah, ah)->path;
        send->dest_qp = work->wr.ud.remote_qpn;
        send->q_key = work->wr.ud.remote_qkey;
    } else if (work->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
               work->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        bool swap = work->opcode == IBV_WR_ATOMIC_CMP_AND_SWP;
        send->address = work->wr.atomic.remote_addr;
        send->r_key = work->wr.atomic.rkey;
        send->compare = swap ? work->wr.atomic.compare_add : 0;
        send->swap_or_add = swap ? work->wr.atomic.swap : work->wr.atomic.compare_add;
    } else {
        send->address = work->wr.rdma.remote_addr;
        send->r_key = work->wr.rdma.rkey;
    }
    if (work->send_flags & IBV_SEND_INLINE)
        return put_inline(send, work->sg_list, work->num_sge);
    if (!copy_short(qp, send, work->sg_list, work->num_sge))
        put_segments(send, work->sg_list, work->num_sge);
    return 0;
}

static int post_send(struct ibv_qp *of, struct ibv_send_wr *work, struct ibv_send_wr **bad)
{
    struct qp *qp = qp_of(of);
    uint32_t count = 0;
    int error = 0;
    pthread_mutex_lock(&qp->lock);
    for (; work && !error; work = work->next) {
        *bad = work;
        if (!may_send(of))
            error = EINVAL;
        else if (in_use(&qp->sends) + count >= qp->sends.capacity)
            error = ENOMEM;
        else
            error = put_send(qp, slot_of(&qp->sends, qp->sends.head + count), work);
        count += !error;
    }
    publish(of->context, &qp->sends, count);
    pthread_mutex_unlock(&qp->lock);
    return error;
}

/* ---- receive requests ---- */

static int put_receive(struct work_ring *ring, struct verbs_receive *receive,
                       const struct ibv_recv_wr *work, uint32_t slot)
{
    struct verbs_segment *to = (struct verbs_segment *)(void *)(receive + 1);
    if (work->num_sge < 0 || (uint32_t)work->num_sge > ring->segments)
        return EINVAL;
    *receive = (struct verbs_receive){.time = time_spend(TIME_POST_RECEIVE),
                                      .id = work->wr_id,
                                      .slot = slot,
                                      .segments = (uint32_t)work->num_sge};
    for (int i = 0; i < work->num_sge; i++)
        to[i] = (struct verbs_segment){work->sg_list[i].addr, work->sg_list[i].length,
                                       work->sg_list[i].lkey};
    return 0;
}

static int post_receive(struct ibv_qp *of, struct ibv_recv_wr *work, struct ibv_recv_wr **bad)
{
    struct qp *qp = qp_of(of);
    uint32_t count = 0;
    int error = 0;
    pthread_mutex_lock(&qp->lock);
    for (; work && !error; work = work->next) {
        *bad = work;
        if (of->srq || of->state == IBV_QPS_RESET)
            error = EINVAL;
        else if (in_use(&qp->receives) + count >= qp->receives.capacity)
            error = ENOMEM;
        else
            error = put_receive(&qp->receives, slot_of(&qp->receives, qp->receives.head + count),
                                work, 0);
        count += !error;
    }
    publish(of->context, &qp->receives, count);
    pthread_mutex_unlock(&qp->lock);
    return error;
}

static int post_shared(struct ibv_srq *of, struct ibv_recv_wr *work, struct ibv_recv_wr **bad)
{
    struct srq *srq = srq_of(of);
    uint32_t count = 0;
    int error = 0;
    pthread_mutex_lock(&srq->lock);
    for (; work && !error; work = work->next) {
        *bad = work;
        if (srq->free_count == 0) {
            error = ENOMEM;
            break;
        }
        uint32_t slot = srq->free_slots[srq->free_count - 1];
        error = put_receive(&srq->receives, slot_of(&srq->receives, srq->receives.head + count),
                            work, slot);
        srq->free_count -= !error;
        count += !error;
    }
    publish(of->context, &srq->receives, count);
    pthread_mutex_unlock(&srq->lock);
    return error;
}

/* ---- the extended interface ---- */

static struct qp *extended(struct ibv_qp_ex *of)
{
    return CONTAINER(of, struct qp, qp);
}

static void wr_start(struct ibv_qp_ex *of)
{
    struct qp *qp = extended(of);
    pthread_mutex_lock(&qp->lock);
    qp->building = NULL;
    qp->built = 0;
    qp->build_error = may_send(&of->qp_base) ? 0 : EINVAL;
}

/* Long messages have segments; short ones that are registered are copied when all is known. */
static int wr_complete(struct ibv_qp_ex *of)
{
    struct qp *qp = extended(of);
    int error = qp->build_error;
    if (!error)
        publish(of->qp_base.context, &qp->sends, qp->built);
    pthread_mutex_unlock(&qp->lock);
    return error;
}

static void wr_abort(struct ibv_qp_ex *of)
{
    pthread_mutex_unlock(&extended(of)->lock);
}

static struct verbs_send *build(struct ibv_qp_ex *of, unsigned operation)
{
    struct qp *qp = extended(of);
    static __thread struct verbs_send unused;
    qp->building = &unused;
    if (!qp->build_error && in_use(&qp->sends) + qp->built >= qp->sends.capacity)
        qp->build_error = ENOMEM;
    if (!qp->build_error && of->wr_flags & ~send_flags)
        qp->build_error = EINVAL;
    if (!qp->build_error)
        qp->building = slot_of(&qp->sends, qp->sends.head + qp->built++);
    *qp->building =
        (struct verbs_send){.time = time_spend(TIME_POST_SEND),
                            .id = of->wr_id,
                            .operation = (uint8_t)operation,
                            .flags = (uint8_t)(of->wr_flags & ~(unsigned)IBV_SEND_INLINE)};
    return qp->building;
}

static void wr_send(struct ibv_qp_ex *of)
{
    build(of, IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *of, __be32 immediate)
{
    build(of, IBV_WR_SEND_WITH_IMM)->immediate = ntohl(immediate);
}

static void wr_send_inv(struct ibv_qp_ex *of, uint32_t key)
{
    build(of, IBV_WR_SEND_WITH_INV)->immediate = key;
}

static void build_rdma(struct ibv_qp_ex *of, unsigned operation, uint32_t key, uint64_t address)
{
    struct verbs_send *send = build(of, operation);
    send->r_key = key;
    send->address = address;
}

static void wr_rdma_write(struct ibv_qp_ex *of, uint32_t key, uint64_t address)
{
    build_rdma(of, IBV_WR_RDMA_WRITE, key, address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *of, uint32_t key, uint64_t address,
                              __be32 immediate)
{
    build_rdma(of, IBV_WR_RDMA_WRITE_WITH_IMM, key, address);
    extended(of)->building->immediate = ntohl(immediate);
}

static void wr_rdma_read(struct ibv_qp_ex *of, uint32_t key, uint64_t address)
{
    build_rdma(of, IBV_WR_RDMA_READ, key, address);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *of, uint32_t key, uint64_t address,
                              uint64_t compare, uint64_t swap)
{
    build_rdma(of, IBV_WR_ATOMIC_CMP_AND_SWP, key, address);
    extended(of)->building->compare = compare;
    extended(of)->building->swap_or_add = swap;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *of, uint32_t key, uint64_t address, uint64_t add)
{
    build_rdma(of, IBV_WR_ATOMIC_FETCH_AND_ADD, key, address);
    extended(of)->building->swap_or_add = add;
}

static void wr_set_ud_addr(struct ibv_qp_ex *of, struct ibv_ah *ah, uint32_t qp_number,
                           uint32_t q_key)
{
    struct verbs_send *send = extended(of)->building;
    send->path = CONTAINER(ah, struct ah, ah)->path;
    send->dest_qp = qp_number;
    send->q_key = q_key;
}

static void wr_set_sge_list(struct ibv_qp_ex *of, size_t count, const struct ibv_sge *list)
{
    struct qp *qp = extended(of);
    if (qp->build_error)
        return;
    if (count > qp->sends.segments)
        qp->build_error = EINVAL;
    else if (of->wr_flags & IBV_SEND_INLINE)
        qp->build_error = put_inline(qp->building, list, (int)count);
    else if (!copy_short(qp, qp->building, list, (int)count))
        put_segments(qp->building, list, (int)count);
}

static void wr_set_sge(struct ibv_qp_ex *of, uint32_t key, uint64_t address, uint32_t bytes)
{
    struct ibv_sge segment = {.addr = address, .length = bytes, .lkey = key};
    wr_set_sge_list(of, 1, &segment);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *of, size_t count,
                                    const struct ibv_data_buf *list)
{
    struct qp *qp = extended(of);
    uint64_t bytes = 0;
    for (size_t i = 0; i < count && !qp->build_error; i++) {
        if (list[i].length > VERBS_INLINE - bytes || !carries_bytes(qp->building->operation)) {
            qp->build_error = EINVAL;
            return;
        }
        memcpy((uint8_t *)(qp->building + 1) + bytes, list[i].addr, list[i].length);
        bytes += list[i].length;
    }
    if (qp->build_error)
        return;
    qp->building->flags |= VERBS_INLINED;
    qp->building->inline_bytes = (uint32_t)bytes;
}

static void wr_set_inline_data(struct ibv_qp_ex *of, void *address, size_t length)
{
    struct ibv_data_buf data = {address, length};
    wr_set_inline_data_list(of, 1, &data);
}

void work_extend(struct qp *qp)
{
    struct ibv_qp_ex *of = &qp->qp;
    of->wr_start = wr_start;
    of->wr_complete = wr_complete;
    of->wr_abort = wr_abort;
    of->wr_send = wr_send;
    of->wr_send_imm = wr_send_imm;
    of->wr_send_inv = wr_send_inv;
    of->wr_rdma_write = wr_rdma_write;
    of->wr_rdma_write_imm = wr_rdma_write_imm;
    of->wr_rdma_read = wr_rdma_read;
    of->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    of->wr_atomic_fetch_add = wr_atomic_fetch_add;
    of->wr_set_ud_addr = wr_set_ud_addr;
    of->wr_set_sge = wr_set_sge;
    of->wr_set_sge_list = wr_set_sge_list;
    of->wr_set_inline_data = wr_set_inline_data;
    of->wr_set_inline_data_list = wr_set_inline_data_list;
}

void work_offer(struct verbs_context *verbs)
{
    verbs->context.ops.post_send = post_send;
    verbs->context.ops.post_recv = post_receive;
    verbs->context.ops.post_srq_recv = post_shared;
}
