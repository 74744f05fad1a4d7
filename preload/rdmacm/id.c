/* IDs: what programs ask for about their end of a connection. */
#include "internal.h"

#include <string.h>

/* An ID without a channel gets one of its own, and its calls wait for their events. */
struct id *id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space space)
{
    struct id *id = calloc(1, sizeof *id);
    if (!id)
        return fail(ENOMEM);
    id->id.context = context;
    id->id.ps = space;
    id->id.qp_type = space == RDMA_PS_TCP ? IBV_QPT_RC : IBV_QPT_UD;
    id->own_channel = !channel;
    id->id.channel = channel ? channel : rdma_create_event_channel();
    if (id->id.channel)
        return id;
    free(id);
    return NULL;
}

static int call(struct id *id, struct ipcm_request *request, uint32_t kind)
{
    struct verbs_answer answer;
    request->kind = kind;
    request->object = id->object;
    return cm_call(request, &answer, NULL);
}

/* The call, and the view of the ID that answers it. */
static int call_and_view(struct id *id, struct ipcm_request *request, uint32_t kind)
{
    struct verbs_answer answer;
    request->kind = kind;
    request->object = id->object;
    if (cm_call(request, &answer, NULL))
        return -1;
    id_take_view(id, &answer.view);
    return 0;
}

static struct ibv_sa_path_rec *path_of(struct id *id)
{
    struct rdma_route *route = &id->id.route;
    if (!route->path_rec)
        route->path_rec = calloc(1, sizeof *route->path_rec);
    route->num_paths = route->path_rec != NULL;
    return route->path_rec;
}

void id_take_view(struct id *id, const struct ipcm_view *view)
{
    struct rdma_addr *address = &id->id.route.addr;
    address_from_server(&view->from, &address->src_storage);
    address_from_server(&view->to, &address->dst_storage);
    if (view->port && !id->id.verbs) {
        id->id.verbs = &cm_device()->verbs.context;
        id->id.pd = cm_domain();
    }
    id->id.port_num = view->port;
    memcpy(address->addr.ibaddr.sgid.raw, view->sgid, 16);
    memcpy(address->addr.ibaddr.dgid.raw, view->dgid, 16);
    address->addr.ibaddr.pkey = htobe16(view->p_key);
    struct ibv_sa_path_rec *path = view->routed ? path_of(id) : NULL;
    if (!path)
        return;
    *path = (struct ibv_sa_path_rec){.dlid = htobe16(view->dlid),
                                     .slid = htobe16(view->slid),
                                     .flow_label = htobe32(view->flow_label),
                                     .hop_limit = view->hop_limit,
                                     .traffic_class = view->traffic_class,
                                     .reversible = 1,
                                     .numb_path = 1,
                                     .pkey = htobe16(view->p_key),
                                     .sl = view->sl,
                                     .mtu_selector = 2,
                                     .mtu = view->mtu,
                                     .rate_selector = 2,
                                     .rate = view->rate,
                                     .packet_life_time_selector = 2,
                                     .packet_life_time = view->packet_life};
    memcpy(path->dgid.raw, view->dgid, 16);
    memcpy(path->sgid.raw, view->sgid, 16);
}

int id_refresh(struct id *id)
{
    struct ipcm_request request = {0};
    return call_and_view(id, &request, IPCM_VIEW);
}

/* The errors that calls of a synchronous ID return for events. */
static int error_of(const struct rdma_cm_event *event)
{
    if (event->event == RDMA_CM_EVENT_REJECTED)
        return ECONNREFUSED;
    return event->status < 0 ? -event->status : event->status;
}

int id_wait(struct id *id)
{
    if (!id->own_channel)
        return 0;
    if (id->id.event) {
        rdma_ack_cm_event(id->id.event);
        id->id.event = NULL;
    }
    if (rdma_get_cm_event(id->id.channel, &id->id.event))
        return -1;
    int error = id->id.event->status ? error_of(id->id.event) : 0;
    if (error)
        errno = error;
    return error ? -1 : 0;
}

/* ---- creation ---- */

WEFT_EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **created,
                               void *context, enum rdma_port_space space)
{
    struct ipcm_request request = {.kind = IPCM_ADD_ID, .space = (uint32_t)space};
    struct verbs_answer answer;
    struct id *id = id_new(channel, context, space);
    if (!id)
        return -1;
    request.channel = ((struct event_channel *)id->id.channel)->object;
    int result = cm_call(&request, &answer, NULL);
    if (result == 0) {
        id->object = answer.object;
        result = cm_keep(id->object, id);
    }
    if (result == 0) {
        *created = &id->id;
        return 0;
    }
    int error = errno;
    if (id->own_channel)
        rdma_destroy_event_channel(id->id.channel);
    free(id);
    errno = error;
    return -1;
}

static void free_groups(struct id *id)
{
    while (id->groups) {
        struct group *group = id->groups;
        id->groups = group->next;
        free(group);
    }
}

WEFT_EXPORT int rdma_destroy_id(struct rdma_cm_id *of)
{
    struct id *id = id_of(of);
    struct ipcm_request request = {0};
    if (of->event)
        rdma_ack_cm_event(of->event);
    of->event = NULL;
    int result = call(id, &request, IPCM_REMOVE_ID);
    if (result)
        return result;
    cm_forget(id->object, id);
    pthread_mutex_lock(&cm_events_lock);
    while (id->events_acked != id->events_given)
        pthread_cond_wait(&cm_events_acked, &cm_events_lock);
    pthread_mutex_unlock(&cm_events_lock);
    if (id->own_channel)
        rdma_destroy_event_channel(of->channel);
    free_groups(id);
    free(id->init);
    free(of->route.path_rec);
    free(id);
    return 0;
}

WEFT_EXPORT int rdma_migrate_id(struct rdma_cm_id *of, struct rdma_event_channel *channel)
{
    struct id *id = id_of(of);
    bool own = !channel;
    if (id->own_channel && own) {
        errno = EINVAL;
        return -1;
    }
    struct rdma_event_channel *to = channel ? channel : rdma_create_event_channel();
    if (!to)
        return -1;
    struct ipcm_request request = {.channel = ((struct event_channel *)to)->object};
    if (call(id, &request, IPCM_MIGRATE)) {
        if (own)
            rdma_destroy_event_channel(to);
        return -1;
    }
    if (id->own_channel) {
        if (of->event)
            rdma_ack_cm_event(of->event);
        of->event = NULL;
        rdma_destroy_event_channel(of->channel);
    }
    /* Events that the program has may belong to the old channel. */
    pthread_mutex_lock(&cm_events_lock);
    while (id->events_acked != id->events_given)
        pthread_cond_wait(&cm_events_acked, &cm_events_lock);
    pthread_mutex_unlock(&cm_events_lock);
    id->own_channel = own;
    of->channel = to;
    return 0;
}

/* ---- addresses ---- */

WEFT_EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    struct ipcm_request request = {0};
    if (address_to_server(address, &request.from))
        return -1;
    return call_and_view(id_of(id), &request, IPCM_BIND);
}

WEFT_EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to,
                                  int timeout_ms)
{
    struct ipcm_request request = {.timeout_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0};
    if (address_to_server(from, &request.from) || address_to_server(to, &request.to))
        return -1;
    return call_and_view(id_of(id), &request, IPCM_RESOLVE) ? -1 : id_wait(id_of(id));
}

WEFT_EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    struct ipcm_request request = {.timeout_ms = timeout_ms > 0 ? (uint32_t)timeout_ms : 0};
    return call(id_of(id), &request, IPCM_ROUTE) ? -1 : id_wait(id_of(id));
}

static __be16 port_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET
               ? ((const struct sockaddr_in *)(const void *)address)->sin_port
               : 0;
}

WEFT_EXPORT __be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    return port_of(&id->route.addr.src_addr);
}

WEFT_EXPORT __be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    return port_of(&id->route.addr.dst_addr);
}

WEFT_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    struct ipcm_request request = {.value = backlog > 0 ? (uint32_t)backlog : 0};
    return call_and_view(id_of(id), &request, IPCM_LISTEN);
}

WEFT_EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value,
                                size_t bytes)
{
    struct ipcm_request request = {.option = (uint32_t)option};
    bool byte = option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT;
    if (level != RDMA_OPTION_ID || option > RDMA_OPTION_ID_ACK_TIMEOUT) {
        errno = ENOSYS;
        return -1;
    }
    if (bytes != (byte ? sizeof(uint8_t) : sizeof(int))) {
        errno = EINVAL;
        return -1;
    }
    request.value = byte ? *(const uint8_t *)value : (uint32_t) * (const int *)value;
    return call(id_of(id), &request, IPCM_SET_OPTION);
}

/* ---- connections ---- */

static int put_data(struct ipcm_parameters *to, const void *data, uint8_t bytes)
{
    to->bytes = data ? bytes : 0;
    if (data)
        memcpy(to->data, data, bytes);
    return 0;
}

static uint8_t offered(uint8_t wanted)
{
    return wanted == RDMA_MAX_RESP_RES ? VERBS_READS : wanted;
}

static void put_parameters(const struct rdma_cm_id *id, const struct rdma_conn_param *from,
                           struct ipcm_parameters *to)
{
    static const struct rdma_conn_param standard = {.responder_resources = RDMA_MAX_RESP_RES,
                                                    .initiator_depth = RDMA_MAX_INIT_DEPTH,
                                                    .retry_count = 7,
                                                    .rnr_retry_count = 7};
    from = from ? from : &standard;
    put_data(to, from->private_data, from->private_data_len);
    to->responder_resources = offered(from->responder_resources);
    to->initiator_depth = offered(from->initiator_depth);
    to->flow_control = from->flow_control;
    to->retry_count = from->retry_count;
    to->rnr_retry = from->rnr_retry_count;
    to->qp_number = id->qp ? id->qp->qp_num : from->qp_num;
    to->srq = id->qp ? id->qp->srq != NULL : from->srq;
    to->service = id->qp_type == IBV_QPT_UC ? VERBS_UC : VERBS_RC;
    to->q_key = RDMA_UDP_QKEY;
}

WEFT_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *parameters)
{
    struct ipcm_request request = {0};
    put_parameters(id, parameters, &request.parameters);
    if (request.parameters.responder_resources > VERBS_READS ||
        request.parameters.initiator_depth > VERBS_READS) {
        errno = EINVAL;
        return -1;
    }
    return call(id_of(id), &request, IPCM_CONNECT) ? -1 : id_wait(id_of(id));
}

/* What the other end has offered is the limit. */
static uint8_t agreed(uint8_t wanted, bool given, uint8_t peer)
{
    if (given && wanted != RDMA_MAX_RESP_RES)
        return wanted;
    return peer < VERBS_READS ? peer : VERBS_READS;
}

WEFT_EXPORT int rdma_accept(struct rdma_cm_id *of, struct rdma_conn_param *parameters)
{
    struct id *id = id_of(of);
    struct ipcm_request request = {0};
    bool datagram = of->qp_type == IBV_QPT_UD;
    put_parameters(of, parameters, &request.parameters);
    request.parameters.responder_resources = agreed(
        parameters ? parameters->responder_resources : 0, parameters, id->responder_resources);
    request.parameters.initiator_depth =
        agreed(parameters ? parameters->initiator_depth : 0, parameters, id->initiator_depth);
    if (of->qp && !datagram &&
        queue_pair_connect(id, request.parameters.responder_resources,
                           request.parameters.initiator_depth))
        return -1;
    if (call(id, &request, IPCM_ACCEPT)) {
        int error = errno;
        if (!datagram)
            queue_pair_fail(id);
        errno = error;
        return -1;
    }
    return datagram ? 0 : id_wait(id);
}

WEFT_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
    struct ipcm_request request = {0};
    if (id->qp) { /* the library does it when the answer comes */
        errno = EINVAL;
        return -1;
    }
    return call(id_of(id), &request, IPCM_CONFIRM);
}

WEFT_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t bytes)
{
    struct ipcm_request request = {0};
    put_data(&request.parameters, data, bytes);
    return call(id_of(id), &request, IPCM_REJECT);
}

WEFT_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *data, uint8_t bytes)
{
    return rdma_reject(id, data, bytes);
}

WEFT_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    struct ipcm_request request = {0};
    return event == IBV_EVENT_COMM_EST ? call(id_of(id), &request, IPCM_ESTABLISHED) : 0;
}

WEFT_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
    struct ipcm_request request = {0};
    queue_pair_fail(id_of(id));
    return call(id_of(id), &request, IPCM_DISCONNECT) ? -1 : id_wait(id_of(id));
}

WEFT_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    (void)id;
    if (!ece->vendor_id && !ece->options)
        return 0;
    errno = EOPNOTSUPP;
    return -1;
}

WEFT_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
    (void)id;
    *ece = (struct ibv_ece){0};
    return 0;
}

/* ---- end points ---- */

static int resolve_end(struct rdma_cm_id *id, const struct rdma_addrinfo *info)
{
    enum { TIMEOUT_MS = 2000 };
    if (info->ai_flags & RAI_PASSIVE)
        return rdma_bind_addr(id, info->ai_src_addr);
    return rdma_resolve_addr(id, info->ai_src_addr, info->ai_dst_addr, TIMEOUT_MS) ||
                   rdma_resolve_route(id, TIMEOUT_MS)
               ? -1
               : 0;
}

WEFT_EXPORT int rdma_create_ep(struct rdma_cm_id **created, struct rdma_addrinfo *info,
                               struct ibv_pd *pd, struct ibv_qp_init_attr *init)
{
    struct rdma_cm_id *id;
    if (rdma_create_id(NULL, &id, NULL, (enum rdma_port_space)info->ai_port_space))
        return -1;
    id->qp_type = (enum ibv_qp_type)info->ai_qp_type;
    int result = resolve_end(id, info);
    if (result == 0 && info->ai_flags & RAI_PASSIVE) { /* for the QPs of requests */
        id_of(id)->requests_pd = pd;
        id_of(id)->init = init ? malloc(sizeof *init) : NULL;
        if (id_of(id)->init)
            *id_of(id)->init = *init;
    } else if (result == 0 && init) {
        init->qp_type = (enum ibv_qp_type)info->ai_qp_type;
        result = rdma_create_qp(id, pd, init);
    }
    if (result == 0) {
        *created = id;
        return 0;
    }
    int error = errno;
    rdma_destroy_ep(id);
    errno = error;
    return -1;
}

WEFT_EXPORT void rdma_destroy_ep(struct rdma_cm_id *id)
{
    if (id->qp)
        rdma_destroy_qp(id);
    if (id->srq)
        rdma_destroy_srq(id);
    rdma_destroy_id(id);
}

WEFT_EXPORT int rdma_get_request(struct rdma_cm_id *of, struct rdma_cm_id **requested)
{
    struct id *listener = id_of(of);
    struct rdma_cm_event *event;
    if (!listener->own_channel) {
        errno = EINVAL;
        return -1;
    }
    if (of->event)
        rdma_ack_cm_event(of->event);
    of->event = NULL;
    if (rdma_get_cm_event(of->channel, &event))
        return -1;
    struct rdma_cm_id *id = event->id;
    if (event->status || event->event != RDMA_CM_EVENT_CONNECT_REQUEST) {
        errno = event->status ? abs(event->status) : EINVAL;
        rdma_ack_cm_event(event);
        return -1;
    }
    if (listener->init) {
        struct ibv_qp_init_attr init = *listener->init;
        init.qp_type = of->qp_type;
        if (rdma_create_qp(id, listener->requests_pd, &init)) {
            int error = errno;
            rdma_ack_cm_event(event);
            rdma_destroy_id(id);
            errno = error;
            return -1;
        }
    }
    id->event = event;
    *requested = id;
    return 0;
}

/* ---- rsockets ---- */

/* They use inner structures of the real library. */
int rsocket(int domain, int type, int protocol);
WEFT_EXPORT int rsocket(int domain, int type, int protocol)
{
    (void)domain, (void)type, (void)protocol;
    fprintf(stderr, "weft: rsockets are not available on a simulated fabric\n");
    errno = EOPNOTSUPP;
    return -1;
}
