/* Event channels, the events of IDs, and groups that IDs have joined. */
#include "internal.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* The numbers of the server are those of the library. */
_Static_assert((int)IPCM_ADDRESS_RESOLVED == RDMA_CM_EVENT_ADDR_RESOLVED &&
                   (int)IPCM_RESPONSE == RDMA_CM_EVENT_CONNECT_RESPONSE &&
                   (int)IPCM_CONNECTED == RDMA_CM_EVENT_ESTABLISHED &&
                   (int)IPCM_TIMEWAIT_EXIT == RDMA_CM_EVENT_TIMEWAIT_EXIT,
               "values of librdmacm");

WEFT_EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
    struct ipcm_request request = {.kind = IPCM_ADD_CHANNEL};
    struct verbs_answer answer;
    int descriptors[2] = {-1, -1};
    struct event_channel *channel = calloc(1, sizeof *channel);
    if (!channel)
        return fail(ENOMEM);
    if (cm_call(&request, &answer, descriptors)) {
        free(channel);
        return NULL;
    }
    channel->object = answer.object;
    channel->channel.fd = descriptors[0];
    return &channel->channel;
}

WEFT_EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *of)
{
    struct event_channel *channel = (struct event_channel *)of;
    struct ipcm_request request = {.kind = IPCM_REMOVE_CHANNEL, .object = channel->object};
    struct verbs_answer answer;
    pthread_mutex_lock(&cm_events_lock);
    channel->destroyed = true;
    bool used = channel->readers > 0;
    pthread_mutex_unlock(&cm_events_lock);
    cm_call(&request, &answer, NULL);
    close(of->fd);
    if (!used)
        free(channel);
}

/* Reads a byte. A thread that waits at a channel which another thread destroys waits forever, as
 * it does in the kernel: programs end so. */
static ssize_t wait_for_event(struct event_channel *channel)
{
    char byte;
    pthread_mutex_lock(&cm_events_lock);
    channel->readers++;
    pthread_mutex_unlock(&cm_events_lock);
    ssize_t got = read(channel->channel.fd, &byte, 1);
    int error = errno;
    pthread_mutex_lock(&cm_events_lock);
    channel->readers--;
    bool destroyed = channel->destroyed;
    pthread_mutex_unlock(&cm_events_lock);
    if (destroyed)
        for (;;)
            pause();
    errno = error;
    return got;
}

/* ---- what events do ---- */

static void fill_datagram(struct event *event, const struct ipcm_event *from)
{
    struct rdma_ud_param *to = &event->event.param.ud;
    *to = (struct rdma_ud_param){.private_data = from->parameters.bytes ? event->data : NULL,
                                 .private_data_len = from->parameters.bytes,
                                 .qp_num = from->parameters.qp_number,
                                 .qkey = from->parameters.q_key,
                                 .ah_attr = {.dlid = from->dlid,
                                             .sl = from->sl,
                                             .src_path_bits = from->path_bits,
                                             .is_global = from->global,
                                             .port_num = from->port}};
    to->ah_attr.grh.flow_label = from->flow_label;
    to->ah_attr.grh.hop_limit = from->hop_limit;
    to->ah_attr.grh.traffic_class = from->traffic_class;
    memcpy(to->ah_attr.grh.dgid.raw, from->dgid, 16);
}

static void fill_connection(struct event *event, const struct ipcm_parameters *from)
{
    event->event.param.conn =
        (struct rdma_conn_param){.private_data = from->bytes ? event->data : NULL,
                                 .private_data_len = from->bytes,
                                 .responder_resources = from->responder_resources,
                                 .initiator_depth = from->initiator_depth,
                                 .flow_control = from->flow_control,
                                 .retry_count = from->retry_count,
                                 .rnr_retry_count = from->rnr_retry,
                                 .srq = from->srq,
                                 .qp_num = from->qp_number};
}

/* A request makes an ID. False: the event is not for the program. */
static bool take_request(struct event *event, struct id *listener, const struct ipcm_event *from)
{
    struct id *id = id_new(listener->id.channel, listener->id.context, listener->id.ps);
    struct ipcm_request refuse = {.kind = IPCM_REMOVE_ID, .object = from->id};
    struct verbs_answer answer;
    if (id) {
        id->object = from->id;
        id->id.qp_type = listener->id.qp_type;
        id->responder_resources = from->parameters.responder_resources;
        id->initiator_depth = from->parameters.initiator_depth;
    }
    if (!id || cm_keep(from->id, id) || id_refresh(id) ||
        (listener->own_channel && rdma_migrate_id(&id->id, NULL))) {
        cm_call(&refuse, &answer, NULL);
        if (id)
            cm_forget(from->id, id);
        free(id);
        return false;
    }
    event->event.id = &id->id;
    event->event.listen_id = &listener->id;
    event->owner = listener;
    return true;
}

/* The other end has accepted: the QP becomes ready, and the connection is confirmed. */
static void take_response(struct event *event, struct id *id, const struct ipcm_event *from)
{
    struct ipcm_request request = {.kind = IPCM_CONFIRM, .object = id->object};
    struct verbs_answer answer;
    if (!id->id.qp)
        return; /* the program does that: rdma_establish() */
    if (queue_pair_connect(id, from->parameters.responder_resources,
                           from->parameters.initiator_depth) == 0 &&
        cm_call(&request, &answer, NULL) == 0) {
        event->event.event = RDMA_CM_EVENT_ESTABLISHED;
        return;
    }
    event->event.status = -errno;
    event->event.event = RDMA_CM_EVENT_CONNECT_ERROR;
    id->failed = true;
    request = (struct ipcm_request){.kind = IPCM_REJECT, .object = id->object};
    cm_call(&request, &answer, NULL);
}

static void take_join(struct event *event, struct id *id, const struct ipcm_event *from)
{
    pthread_mutex_lock(&cm_events_lock);
    struct group *group = id->groups;
    while (group && group->number != from->group)
        group = group->next;
    event->group = group;
    if (group)
        group->events_given++;
    pthread_mutex_unlock(&cm_events_lock);
    if (!group)
        return;
    fill_datagram(event, from);
    event->event.param.ud.private_data = group->context;
    memcpy(group->mgid, from->dgid, 16);
    group->mlid = from->dlid;
    if (event->event.status || !id->id.qp)
        return;
    union ibv_gid mgid;
    memcpy(mgid.raw, group->mgid, 16);
    int result = ibv_attach_mcast(id->id.qp, &mgid, group->mlid);
    group->attached = result == 0;
    if (result) {
        event->event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
        event->event.status = -result;
    }
}

static void explain_route_error(const struct ipcm_event *from)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (from->status == -ENETUNREACH && !atomic_flag_test_and_set(&told))
        fprintf(stderr, "weft: nobody answers queries for paths: a manager must keep running "
                        "('weft sm' without --once)\n");
}

/* False: the event is not for the program. */
static bool take_event(struct event *event, struct id *id, const struct ipcm_event *from)
{
    event->owner = id;
    event->event.id = &id->id;
    event->event.event = (enum rdma_cm_event_type)from->kind;
    event->event.status = from->status;
    memcpy(event->data, from->parameters.data, sizeof event->data);
    if (id->id.qp_type == IBV_QPT_UD)
        fill_datagram(event, from);
    else
        fill_connection(event, &from->parameters);
    switch ((enum ipcm_event_kind)from->kind) {
    case IPCM_ADDRESS_RESOLVED:
    case IPCM_ROUTE_RESOLVED: return id_refresh(id) == 0;
    case IPCM_RESPONSE: take_response(event, id, from); return true;
    case IPCM_REJECTED: queue_pair_fail(id); return !id->failed;
    case IPCM_DISCONNECTED: return !id->failed;
    case IPCM_JOINED:
    case IPCM_JOIN_ERROR: take_join(event, id, from); return event->group != NULL;
    case IPCM_ROUTE_ERROR: explain_route_error(from); return true;
    default: return true;
    }
}

/* Another thread that destroys the ID waits until this event has been acknowledged. */
static struct id *hold_id(uint32_t object)
{
    pthread_mutex_lock(&cm_events_lock);
    struct id *id = cm_find(object);
    if (id)
        id->events_given++;
    pthread_mutex_unlock(&cm_events_lock);
    return id;
}

static struct event *make_event(const struct ipcm_event *from)
{
    struct event *event = calloc(1, sizeof *event);
    bool request = from->kind == IPCM_CONNECT_REQUEST;
    struct id *id = event ? hold_id(request ? from->listener : from->id) : NULL;
    if (!id) {
        free(event);
        return fail(ENOMEM);
    }
    bool wanted = take_event(event, id, from);
    if (wanted && request)
        wanted = take_request(event, id, from);
    if (wanted)
        return event;
    rdma_ack_cm_event(&event->event);
    return NULL;
}

WEFT_EXPORT int rdma_get_cm_event(struct rdma_event_channel *of, struct rdma_cm_event **result)
{
    struct event_channel *channel = (struct event_channel *)of;
    for (;;) {
        ssize_t got = wait_for_event(channel);
        if (got == 0)
            errno = EIO; /* the server has ended */
        if (got != 1)
            return -1;
        struct ipcm_request request = {.kind = IPCM_NEXT_EVENT, .object = channel->object};
        struct verbs_answer answer;
        if (cm_call(&request, &answer, NULL)) {
            if (errno == EAGAIN) /* the ID of the event was destroyed */
                continue;
            return -1;
        }
        struct event *event = make_event(&answer.event);
        if (event) {
            *result = &event->event;
            return 0;
        }
    }
}

WEFT_EXPORT int rdma_ack_cm_event(struct rdma_cm_event *of)
{
    struct event *event = (struct event *)of;
    if (!of) {
        errno = EINVAL;
        return -1;
    }
    pthread_mutex_lock(&cm_events_lock);
    event->owner->events_acked++;
    if (event->group)
        event->group->events_acked++;
    pthread_cond_broadcast(&cm_events_acked);
    pthread_mutex_unlock(&cm_events_lock);
    free(event);
    return 0;
}

/* ---- groups ---- */

/* Addresses of InfiniBand name the MGID. */
static int put_group(const struct sockaddr *address, struct ipcm_request *request)
{
    if (address->sa_family != AF_INET6)
        return address_to_server(address, &request->to);
    memcpy(request->mgid, ((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr,
           16);
    return 0;
}

static size_t address_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

static int join(struct rdma_cm_id *of, const struct sockaddr *address, uint32_t state,
                void *context)
{
    struct id *id = id_of(of);
    struct ipcm_request request = {.kind = IPCM_JOIN, .object = id->object, .value = state};
    struct verbs_answer answer;
    if (put_group(address, &request))
        return -1;
    struct group *group = calloc(1, sizeof *group);
    if (!group)
        return -1;
    group->context = context;
    memcpy(&group->address, address, address_bytes(address));
    pthread_mutex_lock(&cm_events_lock); /* another thread may get the event at once */
    int result = cm_call(&request, &answer, NULL);
    if (result == 0) {
        group->number = answer.key;
        group->next = id->groups;
        id->groups = group;
    }
    pthread_mutex_unlock(&cm_events_lock);
    if (result == 0)
        return id_wait(id);
    free(group);
    return -1;
}

WEFT_EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *address, void *context)
{
    return join(id, address, 1, context);
}

WEFT_EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *how,
                                       void *context)
{
    const uint32_t needed = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
    if (how->comp_mask != needed || how->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
        errno = EINVAL;
        return -1;
    }
    return join(id, how->addr, how->join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER ? 8 : 1,
                context);
}

WEFT_EXPORT int rdma_leave_multicast(struct rdma_cm_id *of, struct sockaddr *address)
{
    struct id *id = id_of(of);
    struct ipcm_request request = {.kind = IPCM_LEAVE, .object = id->object};
    struct verbs_answer answer;
    pthread_mutex_lock(&cm_events_lock);
    struct group **at = &id->groups;
    while (*at && memcmp(&(*at)->address, address, address_bytes(address)) != 0)
        at = &(*at)->next;
    struct group *group = *at;
    if (group)
        *at = group->next;
    pthread_mutex_unlock(&cm_events_lock);
    if (!group) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    union ibv_gid mgid;
    memcpy(mgid.raw, group->mgid, 16);
    if (group->attached && of->qp)
        ibv_detach_mcast(of->qp, &mgid, group->mlid);
    if (put_group(address, &request) == 0)
        cm_call(&request, &answer, NULL);
    pthread_mutex_lock(&cm_events_lock);
    while (group->events_acked != group->events_given)
        pthread_cond_wait(&cm_events_acked, &cm_events_lock);
    pthread_mutex_unlock(&cm_events_lock);
    free(group);
    return 0;
}
