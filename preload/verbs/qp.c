/* Queue pairs and shared receive queues of the stand-in for libibverbs: creation and attributes. */
#include "internal.h"

#include <errno.h>
#include <string.h>

/* ---- shared receive queues ---- */

static struct ibv_srq *make_srq(struct ibv_pd *pd, void *srq_context, struct ibv_srq_attr *wanted)
{
    struct verbs_request request = {.kind = VERBS_ADD_SRQ};
    struct verbs_answer answer;
    int descriptors[2];
    struct context *context = context_of(pd->context);
    struct srq *srq = calloc(1, sizeof *srq);
    if (!srq)
        return fail(ENOMEM);
    request.srq.domain = pd_of(pd)->pd.handle;
    request.srq.capacity = wanted->max_wr;
    request.srq.segments = wanted->max_sge;
    request.srq.limit = wanted->srq_limit;
    int result = verbs_call(context, &request, sizeof request, &answer, descriptors);
    if (result == 0) {
        result = verbs_map(&srq->ring, descriptors[0]);
        srq->free_slots = calloc(answer.capacity, sizeof *srq->free_slots);
        if (result == 0 && !srq->free_slots)
            result = -ENOMEM;
        if (result == 0)
            result = table_set(context, &context->srqs, answer.object, srq);
        if (result)
            verbs_remove(pd->context, VERBS_REMOVE_SRQ, answer.object);
    }
    if (result) {
        verbs_unmap(&srq->ring);
        free(srq->free_slots);
        free(srq);
        return fail(-result);
    }
    uint32_t segments = wanted->max_sge ? wanted->max_sge : 1;
    srq->object = answer.object;
    srq->limit = wanted->srq_limit;
    srq->pd = pd_of(pd);
    srq->receives = (struct work_ring){.entries = srq->ring.at + VERBS_RING_HEAD,
                                       .posted = (uint32_t *)(void *)srq->ring.at + 1,
                                       .capacity = answer.capacity,
                                       .stride = verbs_receive_bytes(segments),
                                       .segments = segments};
    while (srq->free_count < answer.capacity) {
        srq->free_slots[srq->free_count] = srq->free_count;
        srq->free_count++;
    }
    srq->srq.context = pd->context;
    srq->srq.srq_context = srq_context;
    srq->srq.pd = pd;
    srq->srq.handle = answer.object;
    pthread_mutex_init(&srq->lock, NULL);
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    wanted->max_wr = answer.capacity;
    wanted->max_sge = segments;
    return &srq->srq;
}

WEFT_EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *init)
{
    return make_srq(pd, init->srq_context, &init->attr);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *init)
{
    const uint32_t known = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
    (void)context;
    if (init->comp_mask & ~known ||
        (init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && init->srq_type != IBV_SRQT_BASIC))
        return fail(EOPNOTSUPP);
    if (!(init->comp_mask & IBV_SRQ_INIT_ATTR_PD))
        return fail(EINVAL);
    return make_srq(init->pd, init->srq_context, &init->attr);
}

WEFT_EXPORT int ibv_modify_srq(struct ibv_srq *of, struct ibv_srq_attr *attributes, int mask)
{
    struct srq *srq = srq_of(of);
    struct verbs_request request = {.kind = VERBS_MODIFY_SRQ, .object = srq->object};
    struct verbs_answer answer;
    if (mask & ~IBV_SRQ_LIMIT)
        return EOPNOTSUPP;
    request.srq.limit = attributes->srq_limit;
    int result =
        mask ? verbs_call(context_of(of->context), &request, sizeof request, &answer, NULL) : 0;
    if (result == 0 && mask)
        srq->limit = attributes->srq_limit;
    return -result;
}

WEFT_EXPORT int ibv_query_srq(struct ibv_srq *of, struct ibv_srq_attr *attributes)
{
    const struct srq *srq = srq_of(of);
    *attributes = (struct ibv_srq_attr){.max_wr = srq->receives.capacity,
                                        .max_sge = srq->receives.segments,
                                        .srq_limit = srq->limit};
    return 0;
}

WEFT_EXPORT int ibv_destroy_srq(struct ibv_srq *of)
{
    struct srq *srq = srq_of(of);
    int result = verbs_remove(of->context, VERBS_REMOVE_SRQ, srq->object);
    if (result)
        return -result;
    table_clear(context_of(of->context), &context_of(of->context)->srqs, srq->object, srq);
    verbs_wait_for_events(&of->mutex, &of->cond, &of->events_completed, srq->events);
    verbs_unmap(&srq->ring);
    free(srq->free_slots);
    free(srq);
    return 0;
}

void srq_give_slot(struct srq *srq, uint32_t slot)
{
    pthread_mutex_lock(&srq->lock);
    if (srq->free_count < srq->receives.capacity)
        srq->free_slots[srq->free_count++] = slot;
    pthread_mutex_unlock(&srq->lock);
}

/* ---- creation of queue pairs ---- */

static bool service_of(enum ibv_qp_type type, uint32_t *service)
{
    switch (type) {
    case IBV_QPT_RC: *service = VERBS_RC; return true;
    case IBV_QPT_UC: *service = VERBS_UC; return true;
    case IBV_QPT_UD: *service = VERBS_UD; return true;
    default: return false;
    }
}

static void lay_out(struct qp *qp, const struct verbs_answer *answer)
{
    const struct ibv_qp_cap *cap = &qp->init.cap;
    uint32_t *posted = (uint32_t *)(void *)qp->ring.at;
    qp->sends = (struct work_ring){.entries = qp->ring.at + VERBS_RING_HEAD,
                                   .posted = posted,
                                   .capacity = answer->capacity,
                                   .stride = verbs_send_bytes(cap->max_send_sge, VERBS_INLINE),
                                   .segments = cap->max_send_sge};
    qp->receives = (struct work_ring){.entries = qp->sends.entries +
                                                 (size_t)qp->sends.capacity * qp->sends.stride,
                                      .posted = posted + 1,
                                      .capacity = answer->receives,
                                      .stride = verbs_receive_bytes(cap->max_recv_sge),
                                      .segments = cap->max_recv_sge};
}

static int request_qp(struct qp *qp, struct ibv_pd *pd, uint32_t service,
                      struct verbs_answer *answer)
{
    struct ibv_qp_init_attr *init = &qp->init;
    struct verbs_request request = {.kind = VERBS_ADD_QP};
    int descriptors[2];
    init->cap.max_send_sge = init->cap.max_send_sge ? init->cap.max_send_sge : 1;
    init->cap.max_recv_sge = init->cap.max_recv_sge ? init->cap.max_recv_sge : 1;
    request.qp_init.service = service;
    request.qp_init.domain = pd_of(pd)->pd.handle;
    request.qp_init.send_cq = cq_of(init->send_cq)->object;
    request.qp_init.receive_cq = cq_of(init->recv_cq)->object;
    request.qp_init.srq = init->srq ? srq_of(init->srq)->object : VERBS_NONE;
    request.qp_init.sends = init->cap.max_send_wr;
    request.qp_init.receives = init->cap.max_recv_wr;
    request.qp_init.send_segments = init->cap.max_send_sge;
    request.qp_init.receive_segments = init->cap.max_recv_sge;
    request.qp_init.inline_bytes = init->cap.max_inline_data;
    request.qp_init.signal_all = init->sq_sig_all != 0;
    int result = verbs_call(context_of(pd->context), &request, sizeof request, answer, descriptors);
    if (result)
        return result;
    result = verbs_map(&qp->ring, descriptors[0]);
    if (result)
        verbs_remove(pd->context, VERBS_REMOVE_QP, answer->object);
    return result;
}

static struct qp *make_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct verbs_answer answer;
    uint32_t service;
    if (!service_of(init->qp_type, &service))
        return fail(EOPNOTSUPP);
    if (!init->send_cq || !init->recv_cq)
        return fail(EINVAL);
    struct qp *qp = calloc(1, sizeof *qp);
    if (!qp)
        return fail(ENOMEM);
    qp->init = *init;
    int result = request_qp(qp, pd, service, &answer);
    if (result) {
        free(qp);
        return fail(-result);
    }
    qp->pd = pd_of(pd);
    qp->object = answer.object;
    qp->epoch = answer.epoch;
    lay_out(qp, &answer);
    qp->init.cap.max_send_wr = answer.capacity;
    qp->init.cap.max_recv_wr = answer.receives;
    qp->init.cap.max_inline_data = VERBS_INLINE;
    init->cap = qp->init.cap;
    struct ibv_qp *base = &qp->qp.qp_base;
    base->context = pd->context;
    base->qp_context = init->qp_context;
    base->pd = pd;
    base->send_cq = init->send_cq;
    base->recv_cq = init->recv_cq;
    base->srq = init->srq;
    base->handle = answer.object;
    base->qp_num = answer.qp_number;
    base->state = IBV_QPS_RESET;
    base->qp_type = init->qp_type;
    pthread_mutex_init(&qp->lock, NULL);
    pthread_mutex_init(&base->mutex, NULL);
    pthread_cond_init(&base->cond, NULL);
    result = table_set(context_of(pd->context), &context_of(pd->context)->qps, answer.object, qp);
    if (result == 0)
        return qp;
    verbs_remove(pd->context, VERBS_REMOVE_QP, answer.object);
    verbs_unmap(&qp->ring);
    free(qp);
    return fail(-result);
}

WEFT_EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct qp *qp = make_qp(pd, init);
    return qp ? &qp->qp.qp_base : NULL;
}

uint64_t qp_operations(enum ibv_qp_type type)
{
    uint64_t datagram = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    uint64_t writes = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
    uint64_t reliable = IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                        IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | IBV_QP_EX_WITH_SEND_WITH_INV;
    return datagram | (type == IBV_QPT_UD ? 0 : writes) | (type == IBV_QPT_RC ? reliable : 0);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *from)
{
    const uint32_t known =
        IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    bool extended = from->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    (void)context;
    if (from->comp_mask & ~known ||
        (from->comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS && from->create_flags) ||
        (extended && from->send_ops_flags & ~qp_operations(from->qp_type)))
        return fail(EOPNOTSUPP);
    if (!(from->comp_mask & IBV_QP_INIT_ATTR_PD))
        return fail(EINVAL);
    struct ibv_qp_init_attr init = {.qp_context = from->qp_context,
                                    .send_cq = from->send_cq,
                                    .recv_cq = from->recv_cq,
                                    .srq = from->srq,
                                    .cap = from->cap,
                                    .qp_type = from->qp_type,
                                    .sq_sig_all = from->sq_sig_all};
    struct qp *qp = make_qp(from->pd, &init);
    if (!qp)
        return NULL;
    from->cap = init.cap;
    if (extended)
        work_extend(qp);
    return &qp->qp.qp_base;
}

WEFT_EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *of)
{
    struct qp *qp = qp_of(of);
    return qp->qp.wr_start ? &qp->qp : NULL;
}

WEFT_EXPORT int ibv_destroy_qp(struct ibv_qp *of)
{
    struct qp *qp = qp_of(of);
    struct context *context = context_of(of->context);
    int result = verbs_remove(of->context, VERBS_REMOVE_QP, qp->object);
    if (result)
        return -result;
    table_clear(context, &context->qps, qp->object, qp);
    if (of->srq)
        cq_return_slots(cq_of(of->recv_cq), qp);
    verbs_wait_for_events(&of->mutex, &of->cond, &of->events_completed, qp->events);
    verbs_unmap(&qp->ring);
    free(qp);
    return 0;
}

/* ---- attributes ---- */

/* The last two bits of the masks have another order in libibverbs: it has the capacities between
 * them, which cannot be changed. */
static uint32_t mask_to_server(int mask)
{
    return ((uint32_t)mask & ((1u << 19) - 1)) | (mask & IBV_QP_DEST_QPN ? 1u << 19 : 0);
}

static int attributes_to_server(const struct ibv_qp_attr *from, int mask,
                                struct verbs_qp_attributes *to)
{
    *to = (struct verbs_qp_attributes){
        .state = (uint8_t)from->qp_state,
        .current_state = (uint8_t)from->cur_qp_state,
        .migration = (uint8_t)from->path_mig_state,
        .access = (uint8_t)from->qp_access_flags,
        .port = from->port_num,
        .retry_count = from->retry_cnt,
        .rnr_retry = from->rnr_retry,
        .timeout = from->timeout,
        .rnr_timer = from->min_rnr_timer,
        .reads = from->max_rd_atomic,
        .reads_accepted = from->max_dest_rd_atomic,
        .drain_event = from->en_sqd_async_notify,
        .p_key_index = from->pkey_index,
        .mtu = (uint16_t)(mask & IBV_QP_PATH_MTU ? mtu_bytes(from->path_mtu) : 0),
        .q_key = from->qkey,
        .dest_qp = from->dest_qp_num,
        .receive_psn = from->rq_psn & 0xFFFFFF,
        .send_psn = from->sq_psn & 0xFFFFFF,
    };
    if (mask & IBV_QP_ACCESS_FLAGS && from->qp_access_flags > 15)
        return -EINVAL;
    int result = mask & IBV_QP_AV ? address_to_path(&from->ah_attr, &to->path) : 0;
    if (result == 0 && mask & IBV_QP_ALT_PATH) {
        result = address_to_path(&from->alt_ah_attr, &to->alternate);
        to->alternate.port = from->alt_port_num;
        to->alternate.p_key_index = from->alt_pkey_index;
        to->alternate.timeout = from->alt_timeout;
    }
    return result;
}

WEFT_EXPORT int ibv_modify_qp(struct ibv_qp *of, struct ibv_qp_attr *attributes, int mask)
{
    struct qp *qp = qp_of(of);
    struct verbs_request request = {.kind = VERBS_MODIFY_QP, .object = qp->object};
    struct verbs_answer answer;
    if (mask & ~((IBV_QP_DEST_QPN << 1) - 1) || mask & IBV_QP_CAP)
        return EINVAL;
    request.qp.mask = mask_to_server(mask);
    int result = attributes_to_server(attributes, mask, &request.qp.attributes);
    pthread_mutex_lock(&qp->lock);
    if (result == 0)
        result = verbs_call(context_of(of->context), &request, sizeof request, &answer, NULL);
    if (result == 0) {
        if (mask & IBV_QP_STATE)
            of->state = attributes->qp_state;
        pthread_mutex_lock(&context_of(of->context)->lock);
        qp->epoch = answer.epoch;
        pthread_mutex_unlock(&context_of(of->context)->lock);
    }
    if (result == 0 && mask & IBV_QP_STATE && attributes->qp_state == IBV_QPS_RESET) {
        qp->sends.tail = qp->sends.head;
        qp->receives.tail = qp->receives.head;
    }
    pthread_mutex_unlock(&qp->lock);
    if (result)
        errno = -result;
    return -result;
}

int qp_mask_from_server(uint32_t mask)
{
    return (int)((mask & ((1u << 19) - 1)) | (mask & 1u << 19 ? (uint32_t)IBV_QP_DEST_QPN : 0));
}

void qp_attributes_from_server(const struct verbs_qp_attributes *from, struct ibv_qp_attr *to)
{
    *to = (struct ibv_qp_attr){
        .qp_state = (enum ibv_qp_state)from->state,
        .cur_qp_state = (enum ibv_qp_state)from->current_state,
        .path_mtu = from->mtu ? mtu_code(from->mtu) : 0,
        .path_mig_state = (enum ibv_mig_state)from->migration,
        .qkey = from->q_key,
        .rq_psn = from->receive_psn,
        .sq_psn = from->send_psn,
        .dest_qp_num = from->dest_qp,
        .qp_access_flags = from->access,
        .pkey_index = from->p_key_index,
        .alt_pkey_index = from->alternate.p_key_index,
        .sq_draining = (uint8_t)(from->draining != 0),
        .max_rd_atomic = from->reads,
        .max_dest_rd_atomic = from->reads_accepted,
        .min_rnr_timer = from->rnr_timer,
        .port_num = from->port,
        .timeout = from->timeout,
        .retry_cnt = from->retry_count,
        .rnr_retry = from->rnr_retry,
        .alt_port_num = from->alternate.port,
        .alt_timeout = from->alternate.timeout,
    };
    address_from_path(&from->path, from->port, &to->ah_attr);
    address_from_path(&from->alternate, from->alternate.port, &to->alt_ah_attr);
}

WEFT_EXPORT int ibv_query_qp(struct ibv_qp *of, struct ibv_qp_attr *to, int mask,
                             struct ibv_qp_init_attr *init)
{
    struct qp *qp = qp_of(of);
    struct verbs_request request = {.kind = VERBS_QUERY_QP, .object = qp->object};
    struct verbs_answer answer;
    (void)mask; /* all attributes are returned */
    int result = verbs_call(context_of(of->context), &request, sizeof request, &answer, NULL);
    if (result)
        return -result;
    qp_attributes_from_server(&answer.attributes, to);
    to->cap = qp->init.cap;
    of->state = to->qp_state;
    if (init)
        *init = qp->init;
    return 0;
}

WEFT_EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    *ece = (struct ibv_ece){0};
    return EOPNOTSUPP;
}

WEFT_EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    return ece->vendor_id || ece->options || ece->comp_mask ? EOPNOTSUPP : 0;
}

/* A message is placed in order, but not seen byte by byte in order. */
WEFT_EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    (void)qp, (void)op, (void)flags;
    return 0;
}

/* ---- parent domains ---- */

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *init)
{
    if (init->comp_mask)
        return fail(EINVAL);
    struct ibv_td *td = calloc(1, sizeof *td);
    if (td)
        td->context = context;
    return td;
}

static int dealloc_td(struct ibv_td *td)
{
    free(td);
    return 0;
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *init)
{
    if (!init->pd)
        return fail(EINVAL);
    if (init->comp_mask) /* allocators of the program are not used */
        return fail(EOPNOTSUPP);
    struct pd *pd = calloc(1, sizeof *pd);
    if (!pd)
        return NULL;
    pd->parent = pd_of(init->pd);
    pd->pd = (struct ibv_pd){.context = context, .handle = pd->parent->pd.handle};
    return &pd->pd;
}

void qp_offer(struct verbs_context *verbs)
{
    verbs->create_qp_ex = create_qp_ex;
    verbs->create_srq_ex = create_srq_ex;
    verbs->alloc_td = alloc_td;
    verbs->dealloc_td = dealloc_td;
    verbs->alloc_parent_domain = alloc_parent_domain;
}
