/* The queue pairs of IDs, and the completion queues that the library makes for them. */
#include "internal.h"

#include <string.h>

static int change_state(struct rdma_cm_id *id, enum ibv_qp_state state, const uint8_t *reads)
{
    struct ibv_qp_attr attributes = {.qp_state = state};
    int mask;
    if (rdma_init_qp_attr(id, &attributes, &mask))
        return -1;
    if (reads && mask & IBV_QP_MAX_DEST_RD_ATOMIC)
        attributes.max_dest_rd_atomic = *reads;
    if (reads && mask & IBV_QP_MAX_QP_RD_ATOMIC)
        attributes.max_rd_atomic = *reads;
    int result = ibv_modify_qp(id->qp, &attributes, mask);
    if (result)
        errno = result;
    return result ? -1 : 0;
}

int queue_pair_connect(struct id *id, uint8_t reads_accepted, uint8_t reads)
{
    struct rdma_cm_id *public = &id->id;
    return change_state(public, IBV_QPS_INIT, NULL) ||
                   change_state(public, IBV_QPS_RTR, &reads_accepted) ||
                   change_state(public, IBV_QPS_RTS, &reads)
               ? -1
               : 0;
}

void queue_pair_fail(struct id *id)
{
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};
    if (id->id.qp)
        ibv_modify_qp(id->id.qp, &attributes, IBV_QP_STATE);
}

WEFT_EXPORT int rdma_init_qp_attr(struct rdma_cm_id *of, struct ibv_qp_attr *attributes, int *mask)
{
    struct ipcm_request request = {.kind = IPCM_QP_ATTRIBUTES,
                                   .object = id_of(of)->object,
                                   .value = (uint32_t)attributes->qp_state};
    struct verbs_answer answer;
    if (cm_call(&request, &answer, NULL))
        return -1;
    qp_attributes_from_server(&answer.ipcm_qp.attributes, attributes);
    *mask = qp_mask_from_server(answer.ipcm_qp.mask);
    return 0;
}

/* ---- completion queues ---- */

static void destroy_queues(struct rdma_cm_id *id)
{
    if (id->recv_cq) {
        ibv_destroy_cq(id->recv_cq);
        if (id->send_cq && id->send_cq != id->recv_cq)
            ibv_destroy_cq(id->send_cq);
        id->recv_cq = id->send_cq = NULL;
    }
    if (id->recv_cq_channel) {
        ibv_destroy_comp_channel(id->recv_cq_channel);
        if (id->send_cq_channel && id->send_cq_channel != id->recv_cq_channel)
            ibv_destroy_comp_channel(id->send_cq_channel);
        id->recv_cq_channel = id->send_cq_channel = NULL;
    }
}

static bool make_queue(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **channel,
                       struct ibv_cq **cq)
{
    *channel = ibv_create_comp_channel(id->verbs);
    if (*channel)
        *cq = ibv_create_cq(id->verbs, entries ? (int)entries : 1, id, *channel, 0);
    return *cq != NULL;
}

/* Queues that the program has not named are made by the library, for rdma_get_send_comp() and
 * rdma_get_recv_comp(). */
static int complete_queues(struct rdma_cm_id *id, struct ibv_qp_init_attr *init)
{
    bool made = true;
    if (!init->recv_cq)
        made = make_queue(id, init->cap.max_recv_wr, &id->recv_cq_channel, &id->recv_cq);
    if (made && !init->send_cq)
        made = make_queue(id, init->cap.max_send_wr, &id->send_cq_channel, &id->send_cq);
    if (!made) {
        destroy_queues(id);
        return -1;
    }
    init->recv_cq = init->recv_cq ? init->recv_cq : id->recv_cq;
    init->send_cq = init->send_cq ? init->send_cq : id->send_cq;
    return 0;
}

/* ---- queue pairs ---- */

static int start_qp(struct rdma_cm_id *id)
{
    struct ibv_qp_attr ready = {.qp_state = IBV_QPS_RTR};
    if (change_state(id, IBV_QPS_INIT, NULL))
        return -1;
    if (id->qp->qp_type != IBV_QPT_UD)
        return 0;
    int result = ibv_modify_qp(id->qp, &ready, IBV_QP_STATE);
    ready.qp_state = IBV_QPS_RTS;
    if (result == 0)
        result = ibv_modify_qp(id->qp, &ready, IBV_QP_STATE | IBV_QP_SQ_PSN);
    if (result)
        errno = result;
    return result ? -1 : 0;
}

WEFT_EXPORT int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *init)
{
    struct ibv_qp_init_attr base;
    if (id->qp || !id->verbs) {
        errno = EINVAL;
        return -1;
    }
    if (!(init->comp_mask & IBV_QP_INIT_ATTR_PD) || !init->pd) {
        init->comp_mask |= IBV_QP_INIT_ATTR_PD;
        init->pd = id->pd;
    }
    if (!init->pd || init->pd->context != id->verbs) {
        errno = EINVAL;
        return -1;
    }
    memcpy(&base, init, sizeof base); /* the extended structure begins with it */
    if (!base.srq && id->srq)
        base.srq = init->srq = id->srq;
    if (complete_queues(id, &base))
        return -1;
    init->send_cq = base.send_cq;
    init->recv_cq = base.recv_cq;
    id->qp = ibv_create_qp_ex(id->verbs, init);
    if (!id->qp) {
        destroy_queues(id);
        return -1;
    }
    id->pd = init->pd;
    if (start_qp(id) == 0)
        return 0;
    int error = errno;
    rdma_destroy_qp(id);
    errno = error;
    return -1;
}

WEFT_EXPORT int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd,
                               struct ibv_qp_init_attr *init)
{
    struct ibv_qp_init_attr_ex extended = {0};
    memcpy(&extended, init, sizeof *init);
    extended.comp_mask = IBV_QP_INIT_ATTR_PD;
    extended.pd = pd ? pd : id->pd;
    int result = rdma_create_qp_ex(id, &extended);
    memcpy(init, &extended, sizeof *init);
    return result;
}

WEFT_EXPORT void rdma_destroy_qp(struct rdma_cm_id *id)
{
    if (id->qp)
        ibv_destroy_qp(id->qp);
    id->qp = NULL;
    destroy_queues(id);
}

WEFT_EXPORT int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd,
                                struct ibv_srq_init_attr *init)
{
    struct ibv_pd *of = pd ? pd : id->pd;
    if (id->srq || !of || !id->verbs || of->context != id->verbs) {
        errno = EINVAL;
        return -1;
    }
    id->srq = ibv_create_srq(of, init);
    if (id->srq)
        id->pd = of;
    return id->srq ? 0 : -1;
}

WEFT_EXPORT int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *init)
{
    if (init->comp_mask & IBV_SRQ_INIT_ATTR_TYPE && init->srq_type != IBV_SRQT_BASIC) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return rdma_create_srq(id, init->comp_mask & IBV_SRQ_INIT_ATTR_PD ? init->pd : NULL,
                           (struct ibv_srq_init_attr *)init);
}

WEFT_EXPORT void rdma_destroy_srq(struct rdma_cm_id *id)
{
    if (id->srq)
        ibv_destroy_srq(id->srq);
    id->srq = NULL;
}
