/* What programs ask the connection manager for: connections, and the choice of the call. Every
 * value is checked. */
#include "host/verbs/ipcm.h"

#include <errno.h>
#include <string.h>

static uint64_t network_now(const struct verbs_client *client)
{
    return fabric_network_time(client->verbs->fabric);
}

static void view_id(struct verbs_client *client, const struct ipcm_id *id)
{
    struct ipcm_view *view = &client->answer.view;
    *view =
        (struct ipcm_view){.from = id->from, .to = id->to, .port = id->port, .routed = id->routed};
    if (id->port)
        adapter_gid(client->adapter, id->port, 0, view->sgid);
    if (id->port && id->to_port != MAP_NONE && id->to.family)
        ipcm_gid_of(client->verbs, id->to_port, view->dgid);
    uint16_t p_keys[1] = {0xFFFF};
    if (id->port)
        fabric_p_keys(client->verbs->fabric, adapter_port(client->adapter, id->port), p_keys, 1);
    view->p_key = p_keys[0];
    if (!id->routed)
        return;
    const uint8_t *record = id->record;
    view->sl = (uint8_t)wire_get(record, PATH_RECORD_SL);
    view->mtu = (uint8_t)wire_get(record, PATH_RECORD_MTU);
    view->rate = (uint8_t)wire_get(record, PATH_RECORD_RATE);
    view->packet_life = (uint8_t)wire_get(record, PATH_RECORD_PACKET_LIFE_TIME);
    view->hop_limit = (uint8_t)wire_get(record, PATH_RECORD_HOP_LIMIT);
    view->traffic_class = (uint8_t)wire_get(record, PATH_RECORD_TRAFFIC_CLASS);
    view->p_key = (uint16_t)wire_get(record, PATH_RECORD_P_KEY);
    view->slid = (uint16_t)wire_get(record, PATH_RECORD_SLID);
    view->dlid = (uint16_t)wire_get(record, PATH_RECORD_DLID);
    view->flow_label = (uint32_t)wire_get(record, PATH_RECORD_FLOW_LABEL);
}

/* ---- connections ---- */

/* Private data behind the head of the IP CM service. */
static int write_data(struct cm_message *message, unsigned kind, unsigned head,
                      const struct ipcm_parameters *parameters)
{
    unsigned room = cm_private_data_bytes(kind) - head;
    if (parameters->bytes > room)
        return -EINVAL;
    memcpy(message->private_data + head, parameters->data, parameters->bytes);
    return 0;
}

static void write_head(struct cm_message *message, const struct ipcm_id *id)
{
    uint8_t *head = message->private_data;
    head[1] = 4 << 4;
    wire_set_bits(head, 16, 16, id->from.port);
    wire_set_bits(head, 128, 32, id->from.address);
    wire_set_bits(head, 256, 32, id->to.address);
}

static uint8_t at_most(uint8_t value, uint8_t most)
{
    return value < most ? value : most;
}

/* The path of the record, for the QP and for the message. */
static void take_record(struct verbs_client *client, struct ipcm_id *id, struct cm_message *request)
{
    const uint8_t *record = id->record;
    uint32_t port = adapter_port(client->adapter, id->port);
    const uint8_t *info = fabric_port_info(client->verbs->fabric, port);
    unsigned mask = (1u << wire_get(info, PORT_INFO_LMC)) - 1;
    unsigned life = (unsigned)wire_get(record, PATH_RECORD_PACKET_LIFE_TIME);
    unsigned mtu = (unsigned)wire_get(record, PATH_RECORD_MTU);
    unsigned hops = (unsigned)wire_get(record, PATH_RECORD_HOP_LIMIT);
    uint32_t own = adapter_mtu(client->adapter, id->port);
    request->p_key = (uint16_t)wire_get(record, PATH_RECORD_P_KEY);
    request->primary = (struct cm_path){
        .local_lid = (uint16_t)wire_get(record, PATH_RECORD_SLID),
        .remote_lid = (uint16_t)wire_get(record, PATH_RECORD_DLID),
        .flow_label = (uint32_t)wire_get(record, PATH_RECORD_FLOW_LABEL),
        .rate = (uint8_t)wire_get(record, PATH_RECORD_RATE),
        .traffic_class = (uint8_t)wire_get(record, PATH_RECORD_TRAFFIC_CLASS),
        .hop_limit = (uint8_t)hops,
        .sl = (uint8_t)wire_get(record, PATH_RECORD_SL),
        .subnet_local = hops <= 1,
        .ack_timeout = id->ack_timeout ? id->ack_timeout : (uint8_t)(life < 31 ? life + 1 : 31)};
    memcpy(request->primary.local_gid, wire_bytes_const(record, PATH_RECORD_SGID), 16);
    memcpy(request->primary.remote_gid, wire_bytes_const(record, PATH_RECORD_DGID), 16);
    request->mtu = (uint8_t)(mtu >= 1 && mtu <= 5 ? mtu : 1);
    while (request->mtu > 1 && 128u << request->mtu > own)
        request->mtu--;
    id->mtu = (uint16_t)(128u << request->mtu);
    id->path = (struct transport_path){
        .dlid = request->primary.remote_lid,
        .sl = request->primary.sl,
        .path_bits = (uint8_t)(request->primary.local_lid & mask),
        .global = hops > 1,
        .port = id->port,
        .p_key_index = (uint16_t)fabric_p_key_index(client->verbs->fabric, port, request->p_key),
        .timeout = request->primary.ack_timeout};
    id->path.route.flow_label = request->primary.flow_label;
    id->path.route.hop_limit = (uint8_t)hops;
    id->path.route.traffic_class = request->primary.traffic_class;
    memcpy(id->path.route.dgid, request->primary.remote_gid, 16);
}

static int connect_id(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                      const struct ipcm_parameters *parameters)
{
    bool datagram = ipcm_is_datagram(id);
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    struct cm_message request = {.service_id = ipcm_service_id(id),
                                 .service = parameters->service,
                                 .qpn = parameters->qp_number,
                                 .responder_resources = parameters->responder_resources,
                                 .initiator_depth = parameters->initiator_depth,
                                 .flow_control = 1,
                                 .retry_count = at_most(parameters->retry_count, 7),
                                 .rnr_retry = at_most(parameters->rnr_retry, 7),
                                 .srq = parameters->srq != 0};
    if (id->state != IPCM_RESOLVED_ROUTE || !id->routed || parameters->service > 1)
        return -EINVAL;
    if (!port)
        return -EBUSY;
    if (write_data(&request, datagram ? ATTRIBUTE_CM_SIDR_REQ : ATTRIBUTE_CM_REQ, IPCM_HEAD,
                   parameters))
        return -EINVAL;
    write_head(&request, id);
    take_record(client, id, &request);
    id->service = parameters->service;
    id->qp_number = parameters->qp_number;
    id->reads = parameters->initiator_depth;
    id->reads_accepted = parameters->responder_resources;
    id->retry_count = request.retry_count;
    request.starting_psn = id->psn;
    struct cm_address to = {.lid = id->path.dlid,
                            .sl = id->path.sl,
                            .path_bits = id->path.path_bits,
                            .p_key_index = id->path.p_key_index};
    uint64_t now = network_now(client);
    id->cm_id = datagram ? cm_resolve(port->cm, now, &request, &to)
                         : cm_connect(port->cm, now, &request, &to);
    if (!id->cm_id)
        return -ENOMEM;
    id->state = IPCM_CONNECTING;
    map_set(&port->ids, id->cm_id, number);
    return 0;
}

static int accept_id(struct verbs_client *client, struct ipcm_id *id,
                     const struct ipcm_parameters *parameters)
{
    bool datagram = ipcm_is_datagram(id);
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    struct cm_message reply = {.qpn = parameters->qp_number,
                               .q_key = parameters->q_key,
                               .responder_resources = parameters->responder_resources,
                               .initiator_depth = parameters->initiator_depth,
                               .flow_control = parameters->flow_control != 0,
                               .rnr_retry = at_most(parameters->rnr_retry, 7),
                               .srq = parameters->srq != 0,
                               .status = CM_RESOLVED};
    if (id->state != IPCM_REQUESTED || !port ||
        write_data(&reply, datagram ? ATTRIBUTE_CM_SIDR_REP : ATTRIBUTE_CM_REP, 0, parameters))
        return -EINVAL;
    id->qp_number = parameters->qp_number;
    id->reads = parameters->initiator_depth;
    id->reads_accepted = parameters->responder_resources;
    if (datagram) {
        id->state = IPCM_ENDED;
        map_remove(&port->ids, id->cm_id);
        uint32_t cm_id = id->cm_id;
        id->cm_id = 0;
        return cm_answer_service(port->cm, network_now(client), cm_id, &reply);
    }
    reply.starting_psn = id->psn;
    int result = cm_accept(port->cm, network_now(client), id->cm_id, &reply);
    if (result == 0)
        id->state = IPCM_ACCEPTED;
    return result;
}

static int confirm_id(struct verbs_client *client, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    if (id->state != IPCM_REPLIED || !port)
        return -EINVAL;
    int result = cm_confirm(port->cm, network_now(client), id->cm_id);
    if (result == 0)
        id->state = IPCM_OPEN;
    return result;
}

static int reject_id(struct verbs_client *client, struct ipcm_id *id,
                     const struct ipcm_parameters *parameters)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    struct cm_message because = {.reason = CM_CONSUMER, .status = CM_RESOLVE_REJECTED};
    bool datagram = ipcm_is_datagram(id);
    if ((id->state != IPCM_REQUESTED && id->state != IPCM_REPLIED) || !port ||
        write_data(&because, datagram ? ATTRIBUTE_CM_SIDR_REP : ATTRIBUTE_CM_REJ, 0, parameters))
        return -EINVAL;
    uint32_t cm_id = id->cm_id;
    map_remove(&port->ids, cm_id);
    id->cm_id = 0;
    id->state = IPCM_ENDED;
    return datagram ? cm_answer_service(port->cm, network_now(client), cm_id, &because)
                    : cm_reject(port->cm, network_now(client), cm_id, &because);
}

static int disconnect_id(struct verbs_client *client, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    if (id->state == IPCM_CLOSED)
        return 0; /* the other end was first */
    if (!port || !id->cm_id)
        return -EINVAL;
    return cm_disconnect(port->cm, network_now(client), id->cm_id);
}

static int establish_id(struct verbs_client *client, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm_of(client), id);
    return port && id->cm_id ? cm_established(port->cm, network_now(client), id->cm_id) : -EINVAL;
}

/* What a change of the QP's state needs. Rights and READs are those that the program has named. */
static int qp_attributes(struct verbs_client *client, const struct ipcm_id *id, uint32_t state)
{
    struct verbs_qp_attributes *to = &client->answer.ipcm_qp.attributes;
    uint32_t mask = ATTRIBUTE_STATE;
    bool reliable = id->service == VERBS_RC;
    *to = (struct verbs_qp_attributes){.state = (uint8_t)state, .port = id->port};
    if (!id->port || state < STATE_INIT || state > STATE_RTS)
        return -EINVAL;
    if (state == STATE_INIT) {
        uint8_t reads = RIGHT_REMOTE_READ | RIGHT_REMOTE_ATOMIC;
        mask |= ATTRIBUTE_PORT | ATTRIBUTE_P_KEY_INDEX;
        mask |= ipcm_is_datagram(id) ? ATTRIBUTE_Q_KEY : ATTRIBUTE_ACCESS;
        to->p_key_index = id->path.p_key_index;
        to->q_key = IPCM_Q_KEY;
        to->access = (uint8_t)(RIGHT_REMOTE_WRITE | (reliable ? reads : 0));
    } else if (!ipcm_is_datagram(id) && state == STATE_RTR) {
        mask |= ATTRIBUTE_PATH | ATTRIBUTE_MTU | ATTRIBUTE_DEST_QP | ATTRIBUTE_RECEIVE_PSN;
        mask |= reliable ? ATTRIBUTE_READS_ACCEPTED | ATTRIBUTE_RNR_TIMER : 0;
        to->mtu = id->mtu;
        to->dest_qp = id->remote_qp;
        to->receive_psn = id->remote_psn;
        to->reads_accepted = id->reads_accepted;
        path_from_transport(&id->path, &to->path);
    } else if (!ipcm_is_datagram(id)) {
        mask |= ATTRIBUTE_SEND_PSN;
        mask |= reliable ? ATTRIBUTE_TIMEOUT | ATTRIBUTE_RETRY_COUNT | ATTRIBUTE_RNR_RETRY |
                               ATTRIBUTE_READS
                         : 0;
        to->send_psn = id->psn;
        to->timeout = id->path.timeout;
        to->retry_count = id->retry_count;
        to->rnr_retry = id->rnr_retry;
        to->reads = id->reads;
    } else if (state == STATE_RTS) {
        mask |= ATTRIBUTE_SEND_PSN;
    }
    client->answer.ipcm_qp.mask = mask;
    return 0;
}

static int set_option(struct ipcm_id *id, const struct ipcm_request *request)
{
    switch ((enum ipcm_option)request->option) {
    case IPCM_OPTION_TOS: id->traffic_class = (uint8_t)request->value; return 0;
    case IPCM_OPTION_REUSE: id->reuse = request->value != 0; return 0;
    case IPCM_OPTION_AF_ONLY: return 0; /* there is one address family */
    case IPCM_OPTION_ACK_TIMEOUT:
        if (request->value > 31)
            return -EINVAL;
        id->ack_timeout = (uint8_t)request->value;
        return 0;
    }
    return -ENOSYS;
}

int ipcm_request(struct verbs_client *client, const struct ipcm_request *request)
{
    uint32_t number = request->object;
    struct ipcm *ipcm = ipcm_of(client);
    struct ipcm_id *id;
    if (!ipcm)
        return -EOPNOTSUPP;
    switch (request->kind) {
    case IPCM_ADD_CHANNEL: return ipcm_add_channel(client);
    case IPCM_REMOVE_CHANNEL:
        if (!ipcm_find_channel(client, number))
            return -EINVAL;
        ipcm_release_channel(client, number);
        return 0;
    case IPCM_NEXT_EVENT: return ipcm_next_event(client, number);
    case IPCM_ADD_ID: return ipcm_open_id(client, request);
    case IPCM_FIND_HOST: return ipcm_find_host(client, request);
    default: break;
    }
    if ((id = ipcm_find_id(client, number)) == NULL)
        return -EINVAL;
    if (ipcm_has_many_events(client, id) &&
        (request->kind == IPCM_RESOLVE || request->kind == IPCM_ROUTE ||
         request->kind == IPCM_CONNECT || request->kind == IPCM_JOIN))
        return -ENOBUFS;
    int result;
    switch (request->kind) {
    case IPCM_REMOVE_ID: ipcm_remove_id(ipcm, number); return 0;
    case IPCM_VIEW: result = 0; break;
    case IPCM_BIND: result = ipcm_bind(client, id, &request->from); break;
    case IPCM_RESOLVE: result = ipcm_resolve(client, number, id, request); break;
    case IPCM_LISTEN: result = ipcm_listen(client, id, request->value); break;
    case IPCM_ROUTE: return ipcm_ask_path(ipcm, number, request->timeout_ms);
    case IPCM_CONNECT: return connect_id(client, number, id, &request->parameters);
    case IPCM_ACCEPT: return accept_id(client, id, &request->parameters);
    case IPCM_CONFIRM: return confirm_id(client, id);
    case IPCM_REJECT: return reject_id(client, id, &request->parameters);
    case IPCM_ESTABLISHED: return establish_id(client, id);
    case IPCM_DISCONNECT: return disconnect_id(client, id);
    case IPCM_QP_ATTRIBUTES: return qp_attributes(client, id, request->value);
    case IPCM_MIGRATE: return ipcm_migrate_id(client, number, id, request->channel);
    case IPCM_SET_OPTION: return set_option(id, request);
    case IPCM_JOIN: return ipcm_join(ipcm, number, request);
    case IPCM_LEAVE: return ipcm_leave(ipcm, number, request);
    default: return -EPROTO;
    }
    if (result == 0)
        view_id(client, id);
    return result;
}
