/* What programs ask the connection manager for. Every value is checked; an ID of another program
 * does not exist for this one. */
#include "host/verbs/ipcm.h"

#include "host/verbs/addresses.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct ipcm *manager_of(const struct verbs_client *client)
{
    return client->verbs->ipcm;
}

static uint64_t network_now(const struct verbs_client *client)
{
    return fabric_network_time(client->verbs->fabric);
}

/* ---- channels ---- */

static struct ipcm_channel *find_channel(struct verbs_client *client, uint32_t object)
{
    return OBJECT_FIND(&client->ipcm_channels, object);
}

static int add_channel(struct verbs_client *client)
{
    uint32_t object = 0;
    int ends[2];
    while (find_channel(client, object))
        object++;
    if (object >= IPCM_CHANNELS)
        return -ENOMEM;
    if (pipe2(ends, O_CLOEXEC) < 0)
        return -errno;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    *vec_at(&client->ipcm_channels, object) = (struct ipcm_channel){.used = true, .pipe = ends[1]};
    client->answer.object = object;
    answer_with(client, ends[0]);
    return 0;
}

static void release_channel(struct verbs_client *client, uint32_t object)
{
    struct ipcm *ipcm = manager_of(client);
    struct ipcm_channel *channel = &client->ipcm_channels.items[object];
    channel->events.count = channel->taken; /* they belong to IDs that are removed now */
    for (uint32_t i = 0; i < ipcm->ids.count && channel->users; i++)
        if (ipcm->ids.items[i].client == client && ipcm->ids.items[i].channel == object)
            ipcm_remove_id(ipcm, i);
    vec_release(&channel->events);
    close(channel->pipe);
    channel->used = false;
}

/* A pipe that was full has got room since. */
static void refill_pipe(struct ipcm_channel *channel)
{
    while (channel->tokens < channel->events.count - channel->taken &&
           write(channel->pipe, "", 1) == 1)
        channel->tokens++;
}

void ipcm_put_event(struct ipcm_channel *channel, const struct ipcm_event *event)
{
    vec_push(&channel->events, *event);
    refill_pipe(channel);
}

static struct ipcm_id *find_id(const struct verbs_client *client, uint32_t number)
{
    struct ipcm *ipcm = manager_of(client);
    return number < ipcm->ids.count && ipcm->ids.items[number].client == client
               ? &ipcm->ids.items[number]
               : NULL;
}

static int next_event(struct verbs_client *client, uint32_t object)
{
    struct ipcm_channel *channel = find_channel(client, object);
    if (!channel)
        return -EINVAL;
    channel->tokens -= channel->tokens > 0;
    if (channel->taken == channel->events.count)
        return -EAGAIN;
    const struct ipcm_event *event = &channel->events.items[channel->taken++];
    client->answer.event = *event;
    struct ipcm_id *listener =
        event->kind == IPCM_CONNECT_REQUEST ? find_id(client, event->listener) : NULL;
    if (listener && listener->waiting)
        listener->waiting--;
    channel->taken = vec_drop_taken(&channel->events, channel->taken);
    refill_pipe(channel);
    return 0;
}

static size_t pending_events(const struct ipcm_channel *channel)
{
    return channel->events.count - channel->taken;
}

static size_t events_of(const struct ipcm_channel *channel, uint32_t number)
{
    size_t count = 0;
    for (size_t i = channel->taken; i < channel->events.count; i++)
        count += channel->events.items[i].id == number;
    return count;
}

/* Moves the events of an ID, or drops them. */
static void move_events(struct ipcm_channel *from, uint32_t number, struct ipcm_channel *to)
{
    size_t kept = from->taken;
    for (size_t i = from->taken; i < from->events.count; i++) {
        const struct ipcm_event event = from->events.items[i];
        if (event.id != number)
            from->events.items[kept++] = event;
        else if (to)
            ipcm_put_event(to, &event);
    }
    from->events.count = kept;
}

/* ---- IDs ---- */

/* A program that does not read its events gets no further ones. */
static bool has_many_events(const struct verbs_client *client, const struct ipcm_id *id)
{
    return pending_events(&client->ipcm_channels.items[id->channel]) >= IPCM_EVENTS;
}

static int add_id(struct verbs_client *client, const struct ipcm_request *request)
{
    if (!find_channel(client, request->channel))
        return -EINVAL;
    if (request->space != IPCM_SPACE_TCP && request->space != IPCM_SPACE_UDP &&
        request->space != IPCM_SPACE_IPOIB)
        return -EOPNOTSUPP;
    if (client->ipcm_ids >= IPCM_IDS)
        return -ENOMEM;
    client->answer.object =
        ipcm_add_id(manager_of(client), client, request->channel, (uint16_t)request->space);
    return 0;
}

/* Listens, or ceases to listen, at the ports of the ID. */
static int for_ports(struct ipcm *ipcm, const struct ipcm_id *id,
                     int (*act)(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service))
{
    struct adapter *adapter = id->client->adapter;
    uint64_t service = ipcm_service_id(id);
    int result = 0;
    for (unsigned number = 1; number <= adapter->ports && result == 0; number++) {
        struct ipcm_port *port =
            id->port && id->port != number ? NULL : ipcm_port_of(ipcm, adapter, number);
        if (port)
            result = act(ipcm, port, service);
        else if (!id->port || id->port == number)
            result = -EBUSY;
    }
    return result;
}

static int begin_service(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service)
{
    (void)ipcm;
    int result = cm_listen(port->cm, service);
    return result == -EEXIST ? 0 : result;
}

static int end_service(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service)
{
    if (ipcm_find_listener(ipcm, port, service) == MAP_NONE)
        cm_unlisten(port->cm, service);
    return 0;
}

/* Ends what an ID has to do with other hosts. */
static void end_connection(struct ipcm *ipcm, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(ipcm, id);
    struct cm_message because = {.reason = CM_CONSUMER, .status = CM_RESOLVE_REJECTED};
    uint64_t now = fabric_network_time(ipcm->verbs->fabric);
    if (!port || !id->cm_id)
        return;
    if (id->state == IPCM_REQUESTED && ipcm_is_datagram(id))
        cm_answer_service(port->cm, now, id->cm_id, &because);
    else if (id->state == IPCM_REQUESTED || id->state == IPCM_REPLIED)
        cm_reject(port->cm, now, id->cm_id, &because);
    else
        cm_disconnect(port->cm, now, id->cm_id);
    map_remove(&port->ids, id->cm_id);
    id->cm_id = 0;
}

/* The program has not seen these requests of a listener, and never will. */
static void drop_requests(struct ipcm *ipcm, struct ipcm_channel *channel, uint32_t listener)
{
    for (size_t i = channel->taken; i < channel->events.count;)
        if (channel->events.items[i].kind == IPCM_CONNECT_REQUEST &&
            channel->events.items[i].listener == listener)
            ipcm_remove_id(ipcm, channel->events.items[i].id); /* its event, too */
        else
            i++;
}

void ipcm_remove_id(struct ipcm *ipcm, uint32_t number)
{
    struct ipcm_id *id = &ipcm->ids.items[number];
    struct verbs_client *client = id->client;
    struct ipcm_channel *channel = &client->ipcm_channels.items[id->channel];
    if (id->state == IPCM_LISTENING) {
        id->state = IPCM_ENDED;
        struct ipcm_id listener = *id;
        listener.state = IPCM_LISTENING;
        for_ports(ipcm, &listener, end_service);
        for (uint32_t i = 0; i < client->ipcm_channels.count; i++)
            drop_requests(ipcm, &client->ipcm_channels.items[i], number);
    }
    end_connection(ipcm, id);
    ipcm_leave_all(ipcm, id);
    move_events(channel, number, NULL);
    channel->users--;
    client->ipcm_ids--;
    vec_release(&id->groups);
    id->client = NULL;
    pool_give(&ipcm->ids, number);
}

void ipcm_release_client(struct verbs_client *client)
{
    struct ipcm *ipcm = manager_of(client);
    for (uint32_t i = 0; i < client->ipcm_channels.count; i++)
        if (client->ipcm_channels.items[i].used)
            release_channel(client, i);
    assert(!ipcm || client->ipcm_ids == 0);
    vec_release(&client->ipcm_channels);
}

void ipcm_count(const struct verbs_client *client, uint32_t *listening, uint32_t *connections)
{
    const struct ipcm *ipcm = manager_of(client);
    for (size_t i = 0; i < ipcm->ids.count; i++) {
        const struct ipcm_id *id = &ipcm->ids.items[i];
        *listening += id->client == client && id->state == IPCM_LISTENING;
        *connections += id->client == client && id->state == IPCM_OPEN;
    }
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

/* ---- addresses ---- */

static bool is_loopback(uint32_t address)
{
    return address >> 24 == 127;
}

static bool is_group(uint32_t address)
{
    return address >> 28 == 14;
}

/* Whether another ID of the node has this port number, at an address that overlaps. */
static bool is_taken(const struct ipcm *ipcm, const struct ipcm_id *id, uint32_t address,
                     uint16_t port)
{
    for (size_t i = 0; i < ipcm->ids.count; i++) {
        const struct ipcm_id *other = &ipcm->ids.items[i];
        if (other->client && other != id && !other->passive && other->space == id->space &&
            other->from.port == port && other->client->adapter == id->client->adapter &&
            (!other->from.address || !address || other->from.address == address) &&
            !(other->reuse && id->reuse && other->state != IPCM_LISTENING))
            return true;
    }
    return false;
}

static int take_port(struct ipcm *ipcm, struct ipcm_id *id, uint32_t address, uint16_t wanted)
{
    if (wanted && is_taken(ipcm, id, address, wanted))
        return -EADDRINUSE;
    for (unsigned tries = 0; !wanted && tries < IPCM_IDS; tries++) {
        uint16_t port = ipcm->next_port;
        ipcm->next_port = port == UINT16_MAX ? IPCM_FIRST_PORT : (uint16_t)(port + 1);
        if (!is_taken(ipcm, id, address, port))
            wanted = port;
    }
    if (!wanted)
        return -EADDRINUSE;
    id->from.port = wanted;
    return 0;
}

/* The port of the client's adapter with an address; 0: none. Without an address: the first active
 * one. */
static uint8_t own_port(const struct verbs_client *client, uint32_t address)
{
    const struct adapter *adapter = client->adapter;
    const struct addresses *addresses = manager_of(client)->addresses;
    uint8_t found = 0;
    for (unsigned number = 1; number <= adapter->ports; number++) {
        uint32_t own = addresses_of_port(addresses, adapter_port(adapter, number));
        if (!own || (address && own != address))
            continue;
        if (adapter->memory[number].active)
            return (uint8_t)number;
        found = found ? found : (uint8_t)number;
    }
    return found;
}

static void take_address(struct ipcm_id *id, uint8_t port)
{
    id->port = port;
    id->from.family = 4;
    id->from.address = addresses_of_port(manager_of(id->client)->addresses,
                                         adapter_port(id->client->adapter, port));
}

static int bind_id(struct verbs_client *client, struct ipcm_id *id, const struct ipcm_address *from)
{
    uint32_t address = is_loopback(from->address) ? 0 : from->address;
    uint8_t port = own_port(client, address);
    if (id->state != IPCM_IDLE)
        return -EINVAL;
    if (!port)
        return -ENODEV; /* as for an address of another interface */
    int result = take_port(manager_of(client), id, address, from->port);
    if (result)
        return result;
    id->from.family = 4;
    if (from->address)
        take_address(id, port);
    id->state = IPCM_BOUND;
    return 0;
}

static int resolve(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                   const struct ipcm_request *request)
{
    struct ipcm *ipcm = manager_of(client);
    struct ipcm_address to = request->to;
    if (id->state == IPCM_IDLE) {
        int result = bind_id(client, id, &request->from);
        if (result)
            return result;
    }
    if (id->state != IPCM_BOUND || !to.address)
        return -EINVAL;
    if (!id->port)
        take_address(id, own_port(client, 0));
    if (is_loopback(to.address))
        to.address = id->from.address;
    id->to = to;
    id->to_port = is_group(to.address) ? MAP_NONE : addresses_find(ipcm->addresses, to.address);
    bool found = is_group(to.address) || id->to_port != MAP_NONE;
    if (found)
        id->state = IPCM_RESOLVED_ADDRESS;
    ipcm_report_status(ipcm, number, found ? IPCM_ADDRESS_RESOLVED : IPCM_ADDRESS_ERROR,
                       found ? 0 : -EHOSTUNREACH);
    return 0;
}

static int listen_id(struct verbs_client *client, struct ipcm_id *id, uint32_t backlog)
{
    if (id->state == IPCM_IDLE) {
        int result = bind_id(client, id, &(struct ipcm_address){0});
        if (result)
            return result;
    }
    if (id->state != IPCM_BOUND)
        return -EINVAL;
    id->state = IPCM_LISTENING;
    id->backlog = backlog >= 1 && backlog <= 1024 ? backlog : 1024;
    int result = for_ports(manager_of(client), id, begin_service);
    if (result)
        id->state = IPCM_BOUND;
    return result;
}

static int find_host(struct verbs_client *client, const struct ipcm_request *request)
{
    const struct topology *topology = fabric_topology(client->verbs->fabric);
    char name[sizeof request->name];
    memcpy(name, request->name, sizeof name);
    name[sizeof name - 1] = 0;
    uint32_t node = topology_find(topology, name);
    if (node == TOPOLOGY_NONE)
        return -ENOENT;
    const struct topology_node *place = &topology->nodes.items[node];
    for (uint32_t port = 1; port <= place->port_count; port++) {
        uint32_t address =
            addresses_of_port(manager_of(client)->addresses, place->first_port + port);
        if (!address)
            continue;
        client->answer.view.to = (struct ipcm_address){.address = address, .family = 4};
        return 0;
    }
    return -ENOENT;
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
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
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
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
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
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
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
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
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
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
    if (id->state == IPCM_CLOSED)
        return 0; /* the other end was first */
    if (!port || !id->cm_id)
        return -EINVAL;
    return cm_disconnect(port->cm, network_now(client), id->cm_id);
}

static int establish_id(struct verbs_client *client, struct ipcm_id *id)
{
    struct ipcm_port *port = ipcm_port_of_id(manager_of(client), id);
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

static int migrate_id(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                      uint32_t object)
{
    struct ipcm_channel *to = find_channel(client, object);
    struct ipcm_channel *from = &client->ipcm_channels.items[id->channel];
    if (!to)
        return -EINVAL;
    if (to == from)
        return 0;
    if (pending_events(to) + events_of(from, number) > IPCM_EVENTS)
        return -ENOBUFS;
    move_events(from, number, to);
    from->users--;
    to->users++;
    id->channel = object;
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
    struct ipcm *ipcm = manager_of(client);
    struct ipcm_id *id;
    if (!ipcm)
        return -EOPNOTSUPP;
    switch (request->kind) {
    case IPCM_ADD_CHANNEL: return add_channel(client);
    case IPCM_REMOVE_CHANNEL:
        if (!find_channel(client, number))
            return -EINVAL;
        release_channel(client, number);
        return 0;
    case IPCM_NEXT_EVENT: return next_event(client, number);
    case IPCM_ADD_ID: return add_id(client, request);
    case IPCM_FIND_HOST: return find_host(client, request);
    default: break;
    }
    if ((id = find_id(client, number)) == NULL)
        return -EINVAL;
    if (has_many_events(client, id) &&
        (request->kind == IPCM_RESOLVE || request->kind == IPCM_ROUTE ||
         request->kind == IPCM_CONNECT || request->kind == IPCM_JOIN))
        return -ENOBUFS;
    int result;
    switch (request->kind) {
    case IPCM_REMOVE_ID: ipcm_remove_id(ipcm, number); return 0;
    case IPCM_VIEW: result = 0; break;
    case IPCM_BIND: result = bind_id(client, id, &request->from); break;
    case IPCM_RESOLVE: result = resolve(client, number, id, request); break;
    case IPCM_LISTEN: result = listen_id(client, id, request->value); break;
    case IPCM_ROUTE: return ipcm_ask_path(ipcm, number, request->timeout_ms);
    case IPCM_CONNECT: return connect_id(client, number, id, &request->parameters);
    case IPCM_ACCEPT: return accept_id(client, id, &request->parameters);
    case IPCM_CONFIRM: return confirm_id(client, id);
    case IPCM_REJECT: return reject_id(client, id, &request->parameters);
    case IPCM_ESTABLISHED: return establish_id(client, id);
    case IPCM_DISCONNECT: return disconnect_id(client, id);
    case IPCM_QP_ATTRIBUTES: return qp_attributes(client, id, request->value);
    case IPCM_MIGRATE: return migrate_id(client, number, id, request->channel);
    case IPCM_SET_OPTION: return set_option(id, request);
    case IPCM_JOIN: return ipcm_join(ipcm, number, request);
    case IPCM_LEAVE: return ipcm_leave(ipcm, number, request);
    default: return -EPROTO;
    }
    if (result == 0)
        view_id(client, id);
    return result;
}
