/* The queue pairs of a program: creation, states and attributes. */
#include "host/verbs/internal.h"

#include <errno.h>
#include <string.h>

/* The masks, states and rights of the protocol are those of the transport layer. */
_Static_assert(ATTRIBUTE_DEST_QP == 1 << 19 && STATE_ERROR == 6 && MIGRATION_ARMED == 2 &&
                   RIGHT_REMOTE_ATOMIC == 8,
               "values of libibverbs");

/* ---- creation ---- */

static int check_init(const struct verbs_client *client, const struct verbs_request *request)
{
    bool shared = request->qp_init.srq != VERBS_NONE;
    if (request->qp_init.service > VERBS_UD ||
        !OBJECT_EXISTS(&client->domains, request->qp_init.domain) ||
        !OBJECT_EXISTS(&client->cqs, request->qp_init.send_cq) ||
        !OBJECT_EXISTS(&client->cqs, request->qp_init.receive_cq) ||
        (shared && !OBJECT_EXISTS(&client->srqs, request->qp_init.srq)) ||
        request->qp_init.sends > VERBS_ENTRIES || request->qp_init.receives > VERBS_ENTRIES ||
        request->qp_init.send_segments > VERBS_SEGMENTS ||
        request->qp_init.receive_segments > VERBS_SEGMENTS ||
        request->qp_init.inline_bytes > VERBS_INLINE)
        return -EINVAL;
    return 0;
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value > least ? value : least;
}

/* The ring has the send queue first. */
static int make_queues(struct verbs_client *client, struct qp *qp,
                       const struct verbs_request *request)
{
    uint32_t sends = verbs_round_up(request->qp_init.sends);
    uint32_t segments = at_least(request->qp_init.send_segments, 1);
    uint32_t receives = qp->srq == VERBS_NONE ? verbs_round_up(request->qp_init.receives) : 0;
    uint32_t receive_segments = at_least(request->qp_init.receive_segments, 1);
    int result = work_init(&qp->sends, sends, verbs_send_bytes(segments, VERBS_INLINE), segments,
                           VERBS_RING_HEAD);
    if (result == 0)
        result = work_init(&qp->receives, receives, verbs_receive_bytes(receive_segments),
                           receive_segments, VERBS_RING_HEAD + (uint64_t)sends * qp->sends.stride);
    if (result)
        return result;
    return mapping_make(client, &qp->ring,
                        qp->receives.offset + (uint64_t)receives * qp->receives.stride,
                        transport_queue_bytes(sends, segments, receives, receive_segments));
}

int qp_add(struct verbs_client *client, const struct verbs_request *request)
{
    static const uint8_t services[] = {
        [VERBS_RC] = TRANSPORT_RC, [VERBS_UC] = TRANSPORT_UC, [VERBS_UD] = TRANSPORT_UD};
    int result = check_init(client, request);
    uint32_t object;
    if (result)
        return result;
    OBJECT_TAKE(&client->qps, object);
    if (object == VERBS_NONE)
        return -ENOMEM;
    struct qp *qp = &client->qps.items[object];
    *qp = (struct qp){.send_cq = request->qp_init.send_cq,
                      .receive_cq = request->qp_init.receive_cq,
                      .srq = request->qp_init.srq,
                      .service = services[request->qp_init.service]};
    result = make_queues(client, qp, request);
    struct transport_qp_init init = {
        .service = (uint8_t)qp->service,
        .signal_all = request->qp_init.signal_all != 0,
        .domain = client->domains.items[request->qp_init.domain].number,
        .send_cq = client->cqs.items[qp->send_cq].number,
        .receive_cq = client->cqs.items[qp->receive_cq].number,
        .srq = qp->srq == VERBS_NONE ? TRANSPORT_NONE : client->srqs.items[qp->srq].number,
        .sends = qp->sends.capacity,
        .receives = qp->receives.capacity};
    if (result == 0)
        result = transport_add_qp(client->adapter->transport, &init, &qp->number);
    if (result) {
        mapping_release(client, &qp->ring);
        work_release(&qp->sends);
        work_release(&qp->receives);
        return result;
    }
    qp->used = true;
    qp->epoch = ++client->verbs->epoch;
    *vec_at(&client->adapter->qps, qp->number) = (struct owner){client, object};
    client->answer.object = object;
    client->answer.qp_number = qp->number;
    client->answer.epoch = qp->epoch;
    client->answer.capacity = qp->sends.capacity;
    client->answer.receives = qp->receives.capacity;
    answer_with_mapping(client, &qp->ring);
    return 0;
}

int qp_remove(struct verbs_client *client, uint32_t object)
{
    struct qp *qp = OBJECT_FIND(&client->qps, object);
    if (!qp)
        return -EINVAL;
    struct adapter *adapter = client->adapter;
    transport_remove_qp(adapter->transport, qp->number);
    adapter->qps.items[qp->number] = (struct owner){0};
    mapping_release(client, &qp->ring);
    work_release(&qp->sends);
    work_release(&qp->receives);
    qp->used = false;
    return 0;
}

/* ---- attributes ---- */

void path_from_transport(const struct transport_path *from, struct verbs_path *path)
{
    path->dlid = from->dlid;
    path->sl = from->sl;
    path->path_bits = from->path_bits;
    path->global = from->global;
    path->traffic_class = from->route.traffic_class;
    path->hop_limit = from->route.hop_limit;
    path->flow_label = from->route.flow_label;
    path->p_key_index = from->p_key_index;
    path->port = from->port;
    path->timeout = from->timeout;
    memcpy(path->dgid, from->route.dgid, sizeof path->dgid);
}

static int attributes_to_transport(struct verbs_client *client, const struct qp *qp,
                                   const struct verbs_qp_attributes *from, uint32_t mask,
                                   struct transport_qp_attributes *to)
{
    *to = (struct transport_qp_attributes){
        .state = from->state,
        .current_state = from->current_state,
        .migration = from->migration,
        .access = from->access,
        .port = from->port,
        .p_key_index = from->p_key_index,
        .mtu = from->mtu,
        .q_key = from->q_key,
        .dest_qp = from->dest_qp,
        .receive_psn = from->receive_psn,
        .send_psn = from->send_psn,
        .retry_count = from->retry_count,
        .rnr_retry = from->rnr_retry,
        .timeout = from->timeout,
        .rnr_timer = from->rnr_timer,
        .reads = from->reads,
        .reads_accepted = from->reads_accepted,
        .drain_event = from->drain_event != 0,
    };
    unsigned port = mask & ATTRIBUTE_PORT ? from->port : qp->attributes.port;
    if (mask & ATTRIBUTE_PATH && (from->path.port < 1 || from->path.port > client->adapter->ports))
        return -EINVAL;
    if (mask & ATTRIBUTE_PATH && !path_to_transport(client, &from->path, port, &to->path))
        return -EINVAL;
    if (mask & ATTRIBUTE_ALTERNATE &&
        !path_to_transport(client, &from->alternate, from->alternate.port, &to->alternate))
        return -EINVAL;
    if (mask & ATTRIBUTE_MTU && port >= 1 && port <= client->adapter->ports &&
        from->mtu > adapter_mtu(client->adapter, port))
        return -EINVAL;
    return 0;
}

int qp_modify(struct verbs_client *client, const struct verbs_request *request)
{
    struct qp *qp = OBJECT_FIND(&client->qps, request->object);
    const struct verbs_qp_attributes *from = &request->qp.attributes;
    struct transport_qp_attributes attributes;
    uint32_t mask = request->qp.mask;
    struct err err = {0};
    if (!qp || mask & ~(uint32_t)(2 * ATTRIBUTE_DEST_QP - 1))
        return -EINVAL;
    int result = attributes_to_transport(client, qp, from, mask, &attributes);
    if (result) {
        snprintf(client->answer.reason, sizeof client->answer.reason,
                 "an address, or the path MTU, is not possible at this port");
        return result;
    }
    result =
        transport_modify_qp(client->adapter->transport, fabric_network_time(client->verbs->fabric),
                            qp->number, &attributes, mask, &err);
    if (result) {
        snprintf(client->answer.reason, sizeof client->answer.reason, "%.150s", err.message);
        return result;
    }
    /* Keeps what a query returns beside the attributes of the transport layer. */
    if (mask & ATTRIBUTE_PORT)
        qp->attributes.port = from->port;
    if (mask & ATTRIBUTE_PATH)
        qp->attributes.path.sgid_index = from->path.sgid_index;
    if (mask & ATTRIBUTE_ALTERNATE)
        qp->attributes.alternate.sgid_index = from->alternate.sgid_index;
    if (mask & ATTRIBUTE_STATE && from->state == STATE_RESET) {
        const struct verbs_qp_ring *ring = (const void *)qp->ring.at;
        qp->sends.taken = __atomic_load_n(&ring->sends, __ATOMIC_ACQUIRE);
        qp->receives.taken = __atomic_load_n(&ring->receives, __ATOMIC_ACQUIRE);
        qp->epoch = ++client->verbs->epoch;
        qp->broken = false;
    }
    client->answer.epoch = qp->epoch;
    return 0;
}

int qp_query(struct verbs_client *client, const struct verbs_request *request)
{
    const struct qp *qp = OBJECT_FIND(&client->qps, request->object);
    struct transport_qp_view view;
    if (!qp || transport_query_qp(client->adapter->transport, qp->number, &view))
        return -EINVAL;
    const struct transport_qp_attributes *from = &view.attributes;
    struct verbs_qp_attributes *to = &client->answer.attributes;
    *to = (struct verbs_qp_attributes){
        .state = from->state,
        .current_state = from->state,
        .migration = from->migration,
        .access = from->access,
        .port = from->port,
        .retry_count = from->retry_count,
        .rnr_retry = from->rnr_retry,
        .timeout = from->timeout,
        .rnr_timer = from->rnr_timer,
        .reads = from->reads,
        .reads_accepted = from->reads_accepted,
        .p_key_index = from->p_key_index,
        .mtu = from->mtu,
        .q_key = from->q_key,
        .dest_qp = from->dest_qp,
        .receive_psn = from->receive_psn,
        .send_psn = from->send_psn,
        .draining = view.draining,
    };
    to->path.sgid_index = qp->attributes.path.sgid_index;
    to->alternate.sgid_index = qp->attributes.alternate.sgid_index;
    path_from_transport(&from->path, &to->path);
    path_from_transport(&from->alternate, &to->alternate);
    return 0;
}

/* Attaches a QP to a multicast group, or detaches it. The program has joined the group at the
 * administration, by librdmacm or by itself. */
int qp_join_group(struct verbs_client *client, const struct verbs_request *request)
{
    struct qp *qp = OBJECT_FIND(&client->qps, request->object);
    bool attaches = request->kind == VERBS_ATTACH_GROUP;
    if (!qp || qp->service != TRANSPORT_UD || request->group.mgid[0] != 0xFF)
        return -EINVAL;
    if (attaches && qp->groups >= VERBS_GROUPS)
        return -ENOMEM;
    int result = (attaches ? transport_attach : transport_detach)(
        client->adapter->transport, qp->number, request->group.mgid, request->group.mlid);
    if (result == 0)
        qp->groups = attaches ? qp->groups + 1 : qp->groups - 1;
    return result;
}
