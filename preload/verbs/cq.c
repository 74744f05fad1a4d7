/* Completion queues of the stand-in for libibverbs: polling, notification, and asynchronous events.
 *
 * A poll that finds nothing for a while sleeps until the server makes a completion for this
 * process, 200 us at most: threads that spin would take the processor from the server. */
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

enum { EMPTY_POLLS = 20, SLEEP_NS = 200000 };

static struct verbs_cq_ring *ring_of(const struct cq *cq)
{
    return (struct verbs_cq_ring *)(void *)cq->ring.at;
}

/* ---- channels ---- */

WEFT_EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *of)
{
    struct verbs_request request = {.kind = VERBS_ADD_CHANNEL};
    struct verbs_answer answer;
    int descriptors[2];
    struct channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return fail(ENOMEM);
    if (verbs_call(context_of(of), &request, sizeof request, &answer, descriptors)) {
        free(channel);
        return NULL;
    }
    channel->channel.context = of;
    channel->channel.fd = descriptors[0];
    channel->object = answer.object;
    return &channel->channel;
}

WEFT_EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *of)
{
    struct channel *channel = CONTAINER(of, struct channel, channel);
    if (of->refcnt)
        return EBUSY;
    int result = verbs_remove(of->context, VERBS_REMOVE_CHANNEL, channel->object);
    if (result)
        return -result;
    close(of->fd);
    free(channel);
    return 0;
}

WEFT_EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **of,
                                 void **cq_context)
{
    struct context *context = context_of(channel->context);
    struct verbs_event event;
    for (;;) {
        ssize_t got = read(channel->fd, &event, sizeof event);
        if (got != sizeof event)
            return -1;
        pthread_mutex_lock(&context->lock);
        struct cq *cq = table_get(&context->cqs, event.object);
        if (cq)
            cq->events++;
        pthread_mutex_unlock(&context->lock);
        if (!cq)
            continue; /* it was destroyed */
        *of = (struct ibv_cq *)cq;
        *cq_context = cq->cq.cq_context;
        return 0;
    }
}

WEFT_EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned count)
{
    pthread_mutex_lock(&cq->mutex);
    cq->comp_events_completed += count;
    pthread_cond_signal(&cq->cond);
    pthread_mutex_unlock(&cq->mutex);
}

static int request_notification(struct ibv_cq *of, int solicited_only)
{
    struct cq *cq = cq_of(of);
    pthread_mutex_lock(&cq->lock); /* ibv_resize_cq() replaces the ring */
    struct verbs_cq_ring *ring = ring_of(cq);
    /* The weaker condition does not replace the stronger one. */
    if (!solicited_only)
        __atomic_store_n(&ring->armed, 1, __ATOMIC_SEQ_CST);
    else if (__atomic_load_n(&ring->armed, __ATOMIC_SEQ_CST) != 1)
        __atomic_store_n(&ring->armed, 2, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&cq->lock);
    return 0;
}

/* ---- polling ---- */

static void wait_a_while(struct context *context, struct cq *cq)
{
    struct timespec time = {.tv_nsec = SLEEP_NS};
    if (time_is_simulated()) {
        weft_time_spend(TIME_EMPTY_POLL);
        /* What came since this CQ was last seen empty is in another one. */
        if (cq->waiting == cq->empty)
            weft_time_wait_completion();
        cq->empty = cq->waiting;
        return;
    }
    if (++context->empty_polls < EMPTY_POLLS)
        return;
    struct verbs_page *page = context->page;
    __atomic_add_fetch(&page->waiters, 1, __ATOMIC_SEQ_CST);
    uint32_t count = __atomic_load_n(&page->completions, __ATOMIC_SEQ_CST);
    /* What came since the last empty poll of any CQ must not be slept over. */
    if (count == cq->waiting)
        syscall(SYS_futex, &page->completions, FUTEX_WAIT, count, &time, NULL, 0);
    __atomic_sub_fetch(&page->waiters, 1, __ATOMIC_SEQ_CST);
}

static void found(struct context *context)
{
    context->empty_polls = 0;
    if (!time_is_simulated())
        return;
    weft_time_spend(TIME_POLL);
    weft_time_found_completion();
}

/* The request is complete, and so are those before it in the same queue. */
static void retire(struct qp *qp, const struct verbs_completion *from)
{
    if (!(from->flags & VERBS_RECEIVED)) {
        __atomic_store_n(&qp->sends.tail, from->slot + 1, __ATOMIC_RELEASE);
    } else if (qp->qp.qp_base.srq) {
        struct srq *srq = srq_of(qp->qp.qp_base.srq);
        srq_give_slot(srq, from->slot);
    } else {
        __atomic_store_n(&qp->receives.tail, from->slot + 1, __ATOMIC_RELEASE);
    }
}

static void fill(const struct qp *qp, const struct verbs_completion *from, struct ibv_wc *wc)
{
    *wc = (struct ibv_wc){
        .wr_id = from->id,
        .status = (enum ibv_wc_status)from->status,
        .opcode = (enum ibv_wc_opcode)from->operation,
        .byte_len = from->bytes,
        .qp_num = qp->qp.qp_base.qp_num,
        .src_qp = from->source_qp,
        .pkey_index = from->p_key_index,
        .slid = from->slid,
        .sl = from->sl,
        .dlid_path_bits = from->path_bits,
    };
    if (from->flags & VERBS_HAS_IMMEDIATE) {
        wc->wc_flags |= IBV_WC_WITH_IMM;
        wc->imm_data = htonl(from->immediate);
    } else if (from->flags & VERBS_INVALIDATED) {
        wc->wc_flags |= IBV_WC_WITH_INV;
        wc->invalidated_rkey = from->immediate;
    }
    if (from->flags & VERBS_GLOBAL)
        wc->wc_flags |= IBV_WC_GRH;
}

/* Takes the next completion of a QP that exists. The CQ is locked. */
static bool take(struct context *context, struct cq *cq, struct ibv_wc *wc)
{
    struct verbs_cq_ring *ring = ring_of(cq);
    struct verbs_completion *entries = (void *)(cq->ring.at + VERBS_RING_HEAD);
    bool found = false;
    while (!found && __atomic_load_n(&ring->produced, __ATOMIC_ACQUIRE) != cq->consumed) {
        struct verbs_completion from = entries[cq->consumed & (cq->capacity - 1)];
        __atomic_store_n(&ring->consumed, ++cq->consumed, __ATOMIC_RELEASE);
        pthread_mutex_lock(&context->lock);
        struct qp *qp = table_get(&context->qps, from.qp);
        found = qp && qp->epoch == from.epoch;
        if (found) {
            retire(qp, &from);
            fill(qp, &from, wc);
        }
        pthread_mutex_unlock(&context->lock);
    }
    return found;
}

/* Without the QP, take() cannot know to which SRQ their requests belong. */
void cq_return_slots(struct cq *cq, const struct qp *qp)
{
    const struct verbs_completion *entries = (void *)(cq->ring.at + VERBS_RING_HEAD);
    pthread_mutex_lock(&cq->lock);
    uint32_t produced = __atomic_load_n(&ring_of(cq)->produced, __ATOMIC_ACQUIRE);
    for (uint32_t i = cq->consumed; i != produced; i++) {
        const struct verbs_completion *from = &entries[i & (cq->capacity - 1)];
        if (from->qp == qp->object && from->epoch == qp->epoch && from->flags & VERBS_RECEIVED)
            srq_give_slot(srq_of(qp->qp.qp_base.srq), from->slot);
    }
    pthread_mutex_unlock(&cq->lock);
}

static int poll_cq(struct ibv_cq *of, int room, struct ibv_wc *wc)
{
    struct context *context = context_of(of->context);
    struct cq *cq = cq_of(of);
    int count = 0;
    uint32_t seen = __atomic_load_n(&context->page->completions, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&cq->lock);
    while (count < room && take(context, cq, &wc[count]))
        count++;
    bool overrun = count == 0 && __atomic_load_n(&ring_of(cq)->overrun, __ATOMIC_RELAXED);
    cq->waiting = seen;
    pthread_mutex_unlock(&cq->lock);
    if (count)
        found(context);
    else if (room > 0 && !overrun)
        wait_a_while(context, cq);
    return overrun ? -1 : count;
}

/* ---- the extended interface ---- */

static int start_poll(struct ibv_cq_ex *of, struct ibv_poll_cq_attr *attributes)
{
    struct cq *cq = (struct cq *)of;
    struct context *context = context_of(of->context);
    if (attributes && attributes->comp_mask)
        return EINVAL;
    uint32_t seen = __atomic_load_n(&context->page->completions, __ATOMIC_SEQ_CST);
    pthread_mutex_lock(&cq->lock);
    if (take(context, cq, &cq->now)) {
        of->status = cq->now.status;
        of->wr_id = cq->now.wr_id;
        found(context);
        return 0;
    }
    cq->waiting = seen;
    pthread_mutex_unlock(&cq->lock);
    wait_a_while(context, cq);
    return ENOENT;
}

static int next_poll(struct ibv_cq_ex *of)
{
    struct cq *cq = (struct cq *)of;
    if (!take(context_of(of->context), cq, &cq->now))
        return ENOENT;
    of->status = cq->now.status;
    of->wr_id = cq->now.wr_id;
    return 0;
}

static void end_poll(struct ibv_cq_ex *of)
{
    pthread_mutex_unlock(&((struct cq *)of)->lock);
}

#define DEFINE_READ(type, name, member)                                                            \
    static type name(struct ibv_cq_ex *of)                                                         \
    {                                                                                              \
        return ((struct cq *)of)->now.member;                                                      \
    }
DEFINE_READ(enum ibv_wc_opcode, read_opcode, opcode)
DEFINE_READ(uint32_t, read_vendor_err, vendor_err)
DEFINE_READ(uint32_t, read_byte_len, byte_len)
DEFINE_READ(__be32, read_imm_data, imm_data)
DEFINE_READ(uint32_t, read_qp_num, qp_num)
DEFINE_READ(uint32_t, read_src_qp, src_qp)
DEFINE_READ(unsigned, read_wc_flags, wc_flags)
DEFINE_READ(uint32_t, read_slid, slid)
DEFINE_READ(uint8_t, read_sl, sl)
DEFINE_READ(uint8_t, read_path_bits, dlid_path_bits)

static void extend(struct cq *cq)
{
    cq->cq.start_poll = start_poll;
    cq->cq.next_poll = next_poll;
    cq->cq.end_poll = end_poll;
    cq->cq.read_opcode = read_opcode;
    cq->cq.read_vendor_err = read_vendor_err;
    cq->cq.read_byte_len = read_byte_len;
    cq->cq.read_imm_data = read_imm_data;
    cq->cq.read_qp_num = read_qp_num;
    cq->cq.read_src_qp = read_src_qp;
    cq->cq.read_wc_flags = read_wc_flags;
    cq->cq.read_slid = read_slid;
    cq->cq.read_sl = read_sl;
    cq->cq.read_dlid_path_bits = read_path_bits;
}

/* ---- creation ---- */

/* A thread may arm the CQ between start_poll() and end_poll(), which hold the lock. */
static void init_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

static struct cq *make_cq(struct ibv_context *of, uint32_t capacity, void *cq_context,
                          struct ibv_comp_channel *channel)
{
    struct verbs_request request = {.kind = VERBS_ADD_CQ};
    struct verbs_answer answer;
    int descriptors[2];
    struct cq *cq = calloc(1, sizeof *cq);
    if (!cq)
        return fail(ENOMEM);
    request.cq.capacity = capacity;
    request.cq.channel = channel ? CONTAINER(channel, struct channel, channel)->object : VERBS_NONE;
    int result = verbs_call(context_of(of), &request, sizeof request, &answer, descriptors);
    if (result == 0) {
        result = verbs_map(&cq->ring, descriptors[0]);
        if (result == 0)
            result = table_set(context_of(of), &context_of(of)->cqs, answer.object, cq);
        if (result)
            verbs_remove(of, VERBS_REMOVE_CQ, answer.object);
    }
    if (result) {
        verbs_unmap(&cq->ring);
        free(cq);
        return fail(-result);
    }
    cq->object = answer.object;
    cq->capacity = answer.capacity;
    cq->cq.context = of;
    cq->cq.channel = channel;
    cq->cq.cq_context = cq_context;
    cq->cq.handle = answer.object;
    cq->cq.cqe = (int)answer.capacity;
    init_lock(&cq->lock);
    pthread_mutex_init(&cq->cq.mutex, NULL);
    pthread_cond_init(&cq->cq.cond, NULL);
    if (channel)
        channel->refcnt++;
    return cq;
}

WEFT_EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int capacity,
                                         void *cq_context, struct ibv_comp_channel *channel,
                                         int vector)
{
    if (capacity < 1 || vector < 0 || vector >= context->num_comp_vectors)
        return fail(EINVAL);
    return (struct ibv_cq *)make_cq(context, (uint32_t)capacity, cq_context, channel);
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *init)
{
    const uint64_t known = IBV_WC_STANDARD_FLAGS;
    const uint32_t flags = init->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS ? init->flags : 0;
    if (init->cqe < 1 || init->comp_vector >= (uint32_t)context->num_comp_vectors)
        return fail(EINVAL);
    if (init->wc_flags & ~known ||
        init->comp_mask & ~(uint32_t)(IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD) ||
        flags & ~(uint32_t)IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
        return fail(EOPNOTSUPP);
    struct cq *cq = make_cq(context, init->cqe, init->cq_context, init->channel);
    if (!cq)
        return NULL;
    extend(cq);
    return &cq->cq;
}

WEFT_EXPORT int ibv_resize_cq(struct ibv_cq *of, int capacity)
{
    struct cq *cq = cq_of(of);
    struct verbs_request request = {.kind = VERBS_RESIZE_CQ, .object = cq->object};
    struct verbs_answer answer;
    struct ring ring;
    int descriptors[2];
    if (capacity < 1)
        return EINVAL;
    request.cq.capacity = (uint32_t)capacity;
    pthread_mutex_lock(&cq->lock);
    int result =
        verbs_call(context_of(of->context), &request, sizeof request, &answer, descriptors);
    if (result == 0)
        result = verbs_map(&ring, descriptors[0]);
    if (result == 0) {
        verbs_unmap(&cq->ring);
        cq->ring = ring;
        cq->capacity = answer.capacity;
        of->cqe = (int)answer.capacity;
    }
    pthread_mutex_unlock(&cq->lock);
    return -result;
}

WEFT_EXPORT int ibv_destroy_cq(struct ibv_cq *of)
{
    struct cq *cq = cq_of(of);
    int result = verbs_remove(of->context, VERBS_REMOVE_CQ, cq->object);
    if (result)
        return -result;
    table_clear(context_of(of->context), &context_of(of->context)->cqs, cq->object, cq);
    if (of->channel)
        of->channel->refcnt--;
    verbs_wait_for_events(&of->mutex, &of->cond, &of->comp_events_completed, cq->events);
    verbs_wait_for_events(&of->mutex, &of->cond, &of->async_events_completed, cq->async_events);
    verbs_unmap(&cq->ring);
    free(cq);
    return 0;
}

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attributes)
{
    (void)cq;
    return attributes->attr_mask ? EOPNOTSUPP : 0; /* there is no moderation */
}

/* ---- asynchronous events ---- */

WEFT_EXPORT int ibv_get_async_event(struct ibv_context *of, struct ibv_async_event *event)
{
    struct context *context = context_of(of);
    struct verbs_event from;
    for (;;) {
        if (read(of->async_fd, &from, sizeof from) != sizeof from)
            return -1;
        bool known = true;
        event->event_type = (enum ibv_event_type)from.type;
        pthread_mutex_lock(&context->lock);
        if (from.type == IBV_EVENT_CQ_ERR) {
            struct cq *cq = table_get(&context->cqs, from.object);
            known = cq != NULL;
            if (known)
                cq->async_events++;
            event->element.cq = (struct ibv_cq *)cq;
        } else if (from.type == IBV_EVENT_SRQ_LIMIT_REACHED || from.type == IBV_EVENT_SRQ_ERR) {
            struct srq *srq = table_get(&context->srqs, from.object);
            known = srq != NULL;
            if (known)
                srq->events++;
            event->element.srq = (struct ibv_srq *)srq;
        } else if (from.type <= IBV_EVENT_PATH_MIG_ERR ||
                   from.type == IBV_EVENT_QP_LAST_WQE_REACHED) {
            struct qp *qp = table_get(&context->qps, from.object);
            known = qp != NULL;
            if (known)
                qp->events++;
            event->element.qp = (struct ibv_qp *)qp;
        } else {
            event->element.port_num = (int)from.object;
        }
        pthread_mutex_unlock(&context->lock);
        if (known)
            return 0;
    }
}

WEFT_EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    pthread_mutex_t *mutex;
    pthread_cond_t *cond;
    uint32_t *count;
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
        mutex = &event->element.cq->mutex;
        cond = &event->element.cq->cond;
        count = &event->element.cq->async_events_completed;
        break;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
        mutex = &event->element.srq->mutex;
        cond = &event->element.srq->cond;
        count = &event->element.srq->events_completed;
        break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        mutex = &event->element.qp->mutex;
        cond = &event->element.qp->cond;
        count = &event->element.qp->events_completed;
        break;
    default: return;
    }
    pthread_mutex_lock(mutex);
    ++*count;
    pthread_cond_signal(cond);
    pthread_mutex_unlock(mutex);
}

void cq_offer(struct verbs_context *verbs)
{
    verbs->context.ops.poll_cq = poll_cq;
    verbs->context.ops.req_notify_cq = request_notification;
    verbs->create_cq_ex = create_cq_ex;
    verbs->modify_cq = modify_cq;
}
