/* The connection manager's messages: between the core of each port and the fabric, and from the
 * core to the programs.
 *
 * Calls of programs only feed the core; ipcm_run() sends what it has to say, so a port must have a
 * LID by then, or the message is lost and repeated as any other. */
#include "host/verbs/ipcm.h"

#include "host/verbs/addresses.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

struct ipcm *ipcm_new(struct verbs *verbs, struct mad_layer *mads,
                      const struct addresses *addresses)
{
    struct ipcm *ipcm = mem_zalloc(1, sizeof *ipcm);
    ipcm->verbs = verbs;
    ipcm->mads = mads;
    ipcm->addresses = addresses;
    ipcm->next_port = IPCM_FIRST_PORT;
    return ipcm;
}

void ipcm_free(struct ipcm *ipcm)
{
    if (!ipcm)
        return;
    for (size_t i = 0; i < ipcm->ports.count; i++) {
        mad_file_close(ipcm->ports.items[i]->file);
        cm_free(ipcm->ports.items[i]->cm);
        map_release(&ipcm->ports.items[i]->ids);
        mem_free(ipcm->ports.items[i]);
    }
    for (size_t i = 0; i < ipcm->ids.count; i++)
        vec_release(&ipcm->ids.items[i].groups);
    vec_release(&ipcm->ports);
    map_release(&ipcm->by_port);
    pool_release(&ipcm->ids);
    pool_release(&ipcm->queries);
    map_release(&ipcm->by_tid);
    mem_free(ipcm);
}

/* ---- ports ---- */

static struct ipcm_port *open_port(struct ipcm *ipcm, struct adapter *adapter, uint32_t port)
{
    struct registration wanted = {.class = CLASS_CM, .class_version = CM_CLASS_VERSION};
    struct registration queries = {.class = CLASS_SUBN_ADM, .class_version = 2};
    struct cm_config config;
    wanted.method_mask[METHOD_SEND / 32] |= UINT32_C(1) << METHOD_SEND % 32;
    struct mad_file *file = mad_file_open(ipcm->mads, port, NULL);
    int cm_agent = mad_file_register(file, &wanted);
    int sa_agent = mad_file_register(file, &queries);
    if (cm_agent < 0 || sa_agent < 0) { /* a program is the connection manager of this port */
        mad_file_close(file);
        return NULL;
    }
    struct ipcm_port *made = mem_zalloc(1, sizeof *made);
    cm_config_init(&config);
    config.ca_guid = fabric_topology(ipcm->verbs->fabric)->nodes.items[adapter->node].guid;
    /* The ranges of the ports of an adapter, which have one GUID, are apart. */
    config.first_id = (port - adapter->first_port + 1) << 24;
    *made = (struct ipcm_port){.port = port,
                               .adapter = adapter,
                               .file = file,
                               .cm_agent = (uint32_t)cm_agent,
                               .sa_agent = (uint32_t)sa_agent,
                               .cm = cm_new(&config)};
    map_set(&ipcm->by_port, port, (uint32_t)ipcm->ports.count);
    vec_push(&ipcm->ports, made);
    return made;
}

struct ipcm_port *ipcm_port_of(struct ipcm *ipcm, struct adapter *adapter, unsigned number)
{
    uint32_t port = adapter_port(adapter, number);
    uint32_t index = map_get(&ipcm->by_port, port);
    return index == MAP_NONE ? open_port(ipcm, adapter, port) : ipcm->ports.items[index];
}

struct ipcm_port *ipcm_port_of_id(struct ipcm *ipcm, const struct ipcm_id *id)
{
    return id->port ? ipcm_port_of(ipcm, id->client->adapter, id->port) : NULL;
}

void ipcm_gid_of(const struct verbs *verbs, uint32_t port, uint8_t gid[16])
{
    wire_set_bits(gid, 0, 64,
                  wire_get(fabric_port_info(verbs->fabric, port), PORT_INFO_GID_PREFIX));
    wire_set_bits(gid, 64, 64, fabric_port_guid(verbs->fabric, port, 0));
}

/* ---- IDs and their events ---- */

bool ipcm_is_datagram(const struct ipcm_id *id)
{
    return id->space != IPCM_SPACE_TCP;
}

uint64_t ipcm_service_id(const struct ipcm_id *id)
{
    uint16_t port = id->state == IPCM_LISTENING ? id->from.port : id->to.port;
    return (uint64_t)id->space << 16 | port;
}

uint32_t ipcm_add_id(struct ipcm *ipcm, struct verbs_client *client, uint32_t channel,
                     uint16_t space)
{
    uint32_t number = pool_take(&ipcm->ids);
    ipcm->ids.items[number] = (struct ipcm_id){.client = client,
                                               .serial = ++ipcm->serial,
                                               .channel = channel,
                                               .listener = VERBS_NONE,
                                               .space = space,
                                               .psn = (uint32_t)hash_mix(ipcm->serial) & 0xFFFFFF};
    client->ipcm_ids++;
    client->ipcm_channels.items[channel].users++;
    return number;
}

void ipcm_report(struct ipcm *ipcm, uint32_t number, struct ipcm_event *event)
{
    const struct ipcm_id *id = &ipcm->ids.items[number];
    struct ipcm_channel *channel = &id->client->ipcm_channels.items[id->channel];
    event->id = number;
    event->listener = id->listener;
    verbs_notice(ipcm->verbs);
    ipcm_put_event(channel, event);
}

void ipcm_report_status(struct ipcm *ipcm, uint32_t number, enum ipcm_event_kind kind, int status)
{
    struct ipcm_event event = {.kind = kind, .status = status};
    ipcm_report(ipcm, number, &event);
}

static void copy_data(struct ipcm_parameters *to, const struct cm_message *message, unsigned skip)
{
    unsigned bytes = cm_private_data_bytes(message->kind);
    to->bytes = (uint8_t)(bytes > skip ? bytes - skip : 0);
    memcpy(to->data, message->private_data + skip, to->bytes);
}

/* What the other end says of its connection: its resources are the limits of this end. */
static void copy_parameters(struct ipcm_parameters *to, const struct cm_message *message,
                            unsigned skip)
{
    copy_data(to, message, skip);
    to->qp_number = message->qpn;
    to->q_key = message->q_key;
    to->responder_resources = message->initiator_depth;
    to->initiator_depth = message->responder_resources;
    to->flow_control = message->flow_control;
    to->retry_count = message->retry_count;
    to->rnr_retry = message->rnr_retry;
    to->srq = message->srq;
    to->service = message->service;
}

/* ---- requests of other hosts ---- */

/* The listener for a service at a port; MAP_NONE. One of this address comes before one of all. */
uint32_t ipcm_find_listener(const struct ipcm *ipcm, const struct ipcm_port *port, uint64_t service)
{
    uint32_t found = MAP_NONE;
    for (uint32_t i = 0; i < ipcm->ids.count; i++) {
        const struct ipcm_id *id = &ipcm->ids.items[i];
        if (!id->client || id->state != IPCM_LISTENING || id->client->adapter != port->adapter ||
            ipcm_service_id(id) != service ||
            (id->port && adapter_port(port->adapter, id->port) != port->port))
            continue;
        if (found == MAP_NONE || id->port)
            found = i;
    }
    return found;
}

static void refuse(struct ipcm_port *port, uint64_t now, const struct cm_event *event,
                   unsigned reason)
{
    struct cm_message because = {.reason = (uint16_t)reason, .status = CM_RESOLVE_REJECTED};
    if (event->kind == CM_EVENT_SERVICE_REQUEST)
        cm_answer_service(port->cm, now, event->id, &because);
    else
        cm_reject(port->cm, now, event->id, &because);
}

/* The head of private data: version 0, IPv4. */
static bool read_head(const struct cm_message *message, struct ipcm_address *from,
                      struct ipcm_address *to)
{
    const uint8_t *head = message->private_data;
    if (head[0] != 0 || head[1] >> 4 != 4)
        return false;
    *from = (struct ipcm_address){.family = 4,
                                  .port = (uint16_t)wire_get_bits(head, 16, 16),
                                  .address = (uint32_t)wire_get_bits(head, 128, 32)};
    *to = (struct ipcm_address){.family = 4, .address = (uint32_t)wire_get_bits(head, 256, 32)};
    to->port = (uint16_t)message->service_id;
    return true;
}

static void take_path(const struct ipcm_port *port, struct ipcm_id *id,
                      const struct cm_event *event)
{
    const struct cm_message *request = &event->message;
    const uint8_t *info = fabric_port_info(id->client->verbs->fabric, port->port);
    unsigned mask = (1u << wire_get(info, PORT_INFO_LMC)) - 1;
    id->path = (struct transport_path){.dlid = event->from.lid,
                                       .sl = event->from.sl,
                                       .path_bits = event->from.path_bits,
                                       .p_key_index = event->from.p_key_index,
                                       .port = id->port};
    if (ipcm_is_datagram(id))
        return;
    if (request->primary.subnet_local) {
        id->path.dlid = request->primary.local_lid;
        id->path.path_bits = (uint8_t)(request->primary.remote_lid & mask);
    } else {
        id->path.global = true;
        id->path.route.hop_limit = request->primary.hop_limit;
        id->path.route.flow_label = request->primary.flow_label;
        id->path.route.traffic_class = request->primary.traffic_class;
        memcpy(id->path.route.dgid, request->primary.local_gid, 16);
    }
    id->path.sl = request->primary.sl;
    id->path.timeout = request->primary.ack_timeout;
    id->path.p_key_index =
        (uint16_t)fabric_p_key_index(id->client->verbs->fabric, port->port, request->p_key);
}

static void answer_request(struct ipcm *ipcm, struct ipcm_port *port, uint64_t now,
                           const struct cm_event *event)
{
    const struct cm_message *request = &event->message;
    struct ipcm_address from, to;
    uint32_t listener = ipcm_find_listener(ipcm, port, request->service_id);
    if (listener == MAP_NONE || !read_head(request, &from, &to)) {
        refuse(port, now, event, CM_INVALID_SERVICE_ID);
        return;
    }
    struct ipcm_id *listening = &ipcm->ids.items[listener];
    struct verbs_client *client = listening->client;
    const struct ipcm_channel *channel = &client->ipcm_channels.items[listening->channel];
    if (listening->waiting >= listening->backlog || client->ipcm_ids >= IPCM_IDS ||
        channel->events.count - channel->taken >= IPCM_EVENTS) {
        refuse(port, now, event, CM_NO_RESOURCES);
        return;
    }
    listening->waiting++;
    uint32_t number = ipcm_add_id(ipcm, client, listening->channel, listening->space);
    struct ipcm_id *id = &ipcm->ids.items[number];
    id->listener = listener;
    id->state = IPCM_REQUESTED;
    id->passive = true;
    id->port = (uint8_t)(port->port - port->adapter->first_port + 1);
    id->from = to;
    id->to = from;
    id->to_port = addresses_find(ipcm->addresses, from.address);
    id->cm_id = event->id;
    id->service = request->service;
    id->remote_qp = request->qpn;
    id->remote_psn = request->starting_psn;
    id->retry_count = request->retry_count;
    id->rnr_retry = request->rnr_retry;
    uint32_t mtu = adapter_mtu(port->adapter, id->port);
    id->mtu = (uint16_t)(request->mtu >= 1 && request->mtu <= 5 && 128u << request->mtu < mtu
                             ? 128u << request->mtu
                             : mtu);
    take_path(port, id, event);
    map_set(&port->ids, event->id, number);
    struct ipcm_event told = {.kind = IPCM_CONNECT_REQUEST};
    copy_parameters(&told.parameters, request, IPCM_HEAD);
    ipcm_report(ipcm, number, &told);
}

/* ---- answers of other hosts ---- */

static void take_reply(struct ipcm *ipcm, uint32_t number, const struct cm_message *reply)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    struct ipcm_event event = {.kind = IPCM_RESPONSE};
    id->state = IPCM_REPLIED;
    id->remote_qp = reply->qpn;
    id->remote_psn = reply->starting_psn;
    id->rnr_retry = reply->rnr_retry;
    if (reply->responder_resources < id->reads)
        id->reads = reply->responder_resources;
    copy_parameters(&event.parameters, reply, 0);
    ipcm_report(ipcm, number, &event);
}

static void take_service(struct ipcm *ipcm, uint32_t number, const struct cm_message *answer)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    id->state = IPCM_ENDED;
    if (answer->status != CM_RESOLVED) {
        struct ipcm_event event = {.kind = IPCM_UNREACHABLE, .status = answer->status};
        copy_data(&event.parameters, answer, 0);
        ipcm_report(ipcm, number, &event);
        return;
    }
    struct ipcm_event event = {.kind = IPCM_CONNECTED,
                               .dlid = id->path.dlid,
                               .sl = id->path.sl,
                               .port = id->port,
                               .path_bits = id->path.path_bits,
                               .global = id->path.global,
                               .traffic_class = id->path.route.traffic_class,
                               .hop_limit = id->path.route.hop_limit,
                               .flow_label = id->path.route.flow_label};
    memcpy(event.dgid, id->path.route.dgid, sizeof event.dgid);
    copy_parameters(&event.parameters, answer, 0);
    ipcm_report(ipcm, number, &event);
}

static void take_event(struct ipcm *ipcm, struct ipcm_port *port, uint64_t now,
                       const struct cm_event *event)
{
    if (event->kind == CM_EVENT_REQUEST || event->kind == CM_EVENT_SERVICE_REQUEST) {
        answer_request(ipcm, port, now, event);
        return;
    }
    if (event->kind == CM_EVENT_ALTERNATE)
        cm_answer_alternate(port->cm, now, event->id, CM_LOAD_UNSUPPORTED);
    uint32_t number = map_get(&port->ids, event->id);
    if (number == MAP_NONE) { /* its program no longer wants it */
        struct cm_message because = {.reason = CM_CONSUMER};
        if (event->kind == CM_EVENT_REPLY)
            cm_reject(port->cm, now, event->id, &because);
        else if (event->kind == CM_EVENT_ESTABLISHED)
            cm_disconnect(port->cm, now, event->id);
        return;
    }
    struct ipcm_id *id = &ipcm->ids.items[number];
    struct ipcm_event told = {0};
    if (event->message.kind)
        copy_data(&told.parameters, &event->message, 0);
    switch (event->kind) {
    case CM_EVENT_REPLY: take_reply(ipcm, number, &event->message); break;
    case CM_EVENT_SERVICE: take_service(ipcm, number, &event->message); break;
    case CM_EVENT_ESTABLISHED:
        id->state = IPCM_OPEN;
        told.kind = IPCM_CONNECTED;
        ipcm_report(ipcm, number, &told);
        break;
    case CM_EVENT_REJECTED:
        id->state = IPCM_ENDED;
        told.kind = IPCM_REJECTED;
        told.status = event->message.reason;
        ipcm_report(ipcm, number, &told);
        break;
    case CM_EVENT_UNREACHABLE:
        id->state = IPCM_ENDED;
        ipcm_report_status(ipcm, number, IPCM_UNREACHABLE, -ETIMEDOUT);
        break;
    case CM_EVENT_DISCONNECTED:
        id->state = IPCM_CLOSED;
        told.kind = IPCM_DISCONNECTED;
        ipcm_report(ipcm, number, &told);
        break;
    case CM_EVENT_RELEASED: ipcm_report_status(ipcm, number, IPCM_TIMEWAIT_EXIT, 0); break;
    default: break;
    }
    if (cm_state(port->cm, event->id) == CM_FREE) {
        map_remove(&port->ids, event->id);
        id->cm_id = 0;
    }
}

/* ---- MADs ---- */

static void send_outputs(struct ipcm_port *port, uint64_t now)
{
    struct cm_output output;
    while (cm_next_output(port->cm, &output)) {
        struct mad_head head = {.agent = port->cm_agent,
                                .qpn = htonl(QP_GSI),
                                .q_key = htonl(Q_KEY_GSI),
                                .lid = htons(output.to.lid),
                                .sl = output.to.sl,
                                .path_bits = output.to.path_bits,
                                .p_key_index = output.to.p_key_index};
        mad_file_send(port->file, now, &head, output.mad, MAD_BYTES);
    }
}

static void receive(struct ipcm *ipcm, struct ipcm_port *port, uint64_t network_now)
{
    for (const struct mad_received *received; (received = mad_file_next(port->file)) != NULL;) {
        struct cm_address from = {.lid = ntohs(received->head.lid),
                                  .sl = received->head.sl,
                                  .path_bits = received->head.path_bits,
                                  .p_key_index = received->head.p_key_index};
        if (received->head.agent == port->sa_agent)
            ipcm_take_answer(ipcm, received);
        else if (!received->head.status &&
                 received->head.length >= sizeof received->head + MAD_BYTES)
            cm_receive(port->cm, network_now, received->data, &from);
        mad_file_taken(port->file);
    }
}

static void take_events(struct ipcm *ipcm, struct ipcm_port *port, uint64_t network_now)
{
    struct cm_event event;
    while (cm_next_event(port->cm, &event))
        take_event(ipcm, port, network_now, &event);
}

void ipcm_run(struct ipcm *ipcm, uint64_t now)
{
    uint64_t network_now = fabric_network_time(ipcm->verbs->fabric);
    for (size_t i = 0; i < ipcm->ports.count; i++) {
        struct ipcm_port *port = ipcm->ports.items[i];
        receive(ipcm, port, network_now);
        take_events(ipcm, port, network_now);
        send_outputs(port, now);
    }
    ipcm_send_queries(ipcm, now);
    for (size_t i = 0; i < ipcm->ports.count; i++)
        adapter_call_at(ipcm->ports.items[i]->adapter, cm_deadline(ipcm->ports.items[i]->cm));
}

void ipcm_expire(struct ipcm *ipcm, struct adapter *adapter, uint64_t network_now)
{
    for (size_t i = 0; i < ipcm->ports.count; i++)
        if (ipcm->ports.items[i]->adapter == adapter &&
            cm_deadline(ipcm->ports.items[i]->cm) <= network_now)
            cm_expire(ipcm->ports.items[i]->cm, network_now);
}
