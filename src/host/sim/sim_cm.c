/* Sets connections up as programs do: paths of the subnet administration, then REQ, REP and RTU
 * between the QP1s of the hosts (src/cm), and DREQ and DREP at the end. UD needs no connection:
 * SIDR_REQ asks for the QP and its Q_Key. REQ and LAP carry an alternate path, which both ends
 * load. Each message is a packet of the fabric and may be lost.
 *
 * Requester and responder know of each other only what these messages have said: LIDs, GIDs, SL, QP
 * numbers, PSNs, MTU, and the R_Key in the private data of REP. */
#include "host/sim/sim_cm_internal.h"
#include "wire/link_rate.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVICE = 0x1000000,   /* + the number of the connection: every one is served apart */
    ID_BITS = 12,          /* communication IDs of an adapter begin at a multiple */
    FAILOVER_ACCEPTED = 0, /* of REP */
    FAILOVER_REJECTED = 2,
};

/* ---- hosts ---- */

static void open_ports(struct sim_cm *cm, struct cm_host *host)
{
    const struct adapter *adapter = &cm->connections->adapters.items[host->adapter];
    struct registration wanted = {.class = CLASS_CM, .class_version = CM_CLASS_VERSION};
    wanted.method_mask[METHOD_SEND / 32] |= UINT32_C(1) << METHOD_SEND % 32;
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && adapter->ports[i] != MAP_NONE; i++) {
        host->files[i] = mad_file_open(sim_mads(cm->connections->sim), adapter->ports[i], cm);
        int agent = mad_file_register(host->files[i], &wanted);
        if (agent < 0)
            abort(); /* a second struct sim_cm */
        host->agents[i] = (uint32_t)agent;
    }
}

/* The pointer is valid until the next host is made. */
static struct cm_host *host_at(struct sim_cm *cm, uint32_t adapter)
{
    uint32_t index = map_get(&cm->by_adapter, adapter);
    if (index != MAP_NONE)
        return &cm->hosts.items[index];
    struct cm_host host = {.adapter = adapter};
    uint32_t port = cm->connections->adapters.items[adapter].ports[0];
    struct cm_config config;
    cm_config_init(&config);
    config.ca_guid = fabric_port_guid(cm->connections->fabric, port, 0);
    config.first_id = (port + 1) << ID_BITS;
    host.cm = cm_new(&config);
    open_ports(cm, &host);
    index = (uint32_t)cm->hosts.count;
    vec_push(&cm->hosts, host);
    vec_push(&cm->due, TIME_NEVER);
    map_set(&cm->by_adapter, adapter, index);
    return &cm->hosts.items[index];
}

static struct cm_host *requester_of(struct sim_cm *cm, const struct connection *connection)
{
    return host_at(cm, connection->adapters[REQUESTER]);
}

/* After each call of a host's CM. */
static void send_outputs(struct sim_cm *cm, struct cm_host *host)
{
    struct cm_output output;
    cm->due.items[host - cm->hosts.items] = cm_deadline(host->cm);
    while (cm_next_output(host->cm, &output)) {
        unsigned port = output.to.port ? output.to.port - 1u : 0;
        struct mad_head head = {.agent = host->agents[port],
                                .qpn = htonl(QP_GSI),
                                .q_key = htonl(Q_KEY_GSI),
                                .lid = htons(output.to.lid),
                                .sl = output.to.sl,
                                .path_bits = output.to.path_bits,
                                .p_key_index = output.to.p_key_index,
                                .grh_present = output.to.global,
                                .hop_limit = UINT8_MAX};
        memcpy(head.gid, output.to.gid, sizeof head.gid);
        /* A port without LID sends nothing: the message counts as lost and is repeated. */
        mad_file_send(host->files[port], sim_now(cm->connections->sim), &head, output.mad,
                      MAD_BYTES);
    }
}

/* ---- paths ---- */

/* The path of one end as a QP needs it. The end has the port whose LIDs include `own_lid`; port 0:
 * it has none. `active`: the end is the one that wrote `path`. */
static struct transport_path path_from(const struct sim_connections *connections,
                                       const struct adapter *adapter, uint16_t own_lid,
                                       uint16_t peer_lid, const struct cm_path *path, bool active)
{
    struct transport_path found = {.dlid = peer_lid,
                                   .sl = path->sl,
                                   .timeout = path->ack_timeout,
                                   .global = !path->subnet_local};
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && adapter->ports[i] != MAP_NONE; i++) {
        const uint8_t *info = fabric_port_info(connections->fabric, adapter->ports[i]);
        unsigned lids = 1u << wire_get(info, PORT_INFO_LMC);
        if (!own_lid || (own_lid & ~(lids - 1)) != wire_get(info, PORT_INFO_LID))
            continue;
        found.port = (uint8_t)number_in_adapter(connections, adapter->ports[i]);
        found.path_bits = (uint8_t)(own_lid & (lids - 1));
    }
    if (found.global) {
        found.route.hop_limit = path->hop_limit;
        memcpy(found.route.sgid, active ? path->local_gid : path->remote_gid, 16);
        memcpy(found.route.dgid, active ? path->remote_gid : path->local_gid, 16);
    }
    return found;
}

/* The place of a partition in the table of a port that is a member of it, or was when the path was
 * resolved. */
static uint16_t p_key_index(const struct sim_connections *connections,
                            const struct adapter *adapter, const struct transport_path *path,
                            unsigned p_key)
{
    unsigned index = connection_p_key_index(
        connections, adapter->ports[path->port ? path->port - 1u : 0], p_key);
    return index == PORT_P_KEYS ? 0 : (uint16_t)index;
}

/* Where the messages for the other end of a path go. */
static struct cm_address address_of(const struct transport_path *path, uint16_t index)
{
    struct cm_address to = {.lid = path->dlid,
                            .sl = path->sl,
                            .path_bits = path->path_bits,
                            .port = path->port,
                            .p_key_index = index,
                            .global = path->global};
    memcpy(to.gid, path->route.dgid, sizeof to.gid);
    return to;
}

static uint16_t lid_in(const uint8_t *record, bool source)
{
    return (uint16_t)wire_get(record, source ? PATH_RECORD_SLID : PATH_RECORD_DLID);
}

static struct cm_path path_of_record(const uint8_t *record, uint8_t timeout)
{
    struct cm_path path = {.local_lid = lid_in(record, true),
                           .remote_lid = lid_in(record, false),
                           .flow_label = (uint32_t)wire_get(record, PATH_RECORD_FLOW_LABEL),
                           .rate = (uint8_t)wire_get(record, PATH_RECORD_RATE),
                           .traffic_class = (uint8_t)wire_get(record, PATH_RECORD_TRAFFIC_CLASS),
                           .hop_limit = (uint8_t)wire_get(record, PATH_RECORD_HOP_LIMIT),
                           .sl = (uint8_t)wire_get(record, PATH_RECORD_SL),
                           .ack_timeout = timeout};
    memcpy(path.local_gid, wire_bytes_const(record, PATH_RECORD_SGID), 16);
    memcpy(path.remote_gid, wire_bytes_const(record, PATH_RECORD_DGID), 16);
    path.subnet_local = memcmp(path.local_gid, path.remote_gid, 8) == 0; /* the prefixes */
    return path;
}

/* What the present routes say about two paths: figures only. */
static void note_shared(struct sim_connections *connections, struct connection *connection,
                        struct sim_path_pair *primary, const struct cm_path *alternate)
{
    struct route_overlap overlap;
    const uint16_t lids[] = {alternate->local_lid, alternate->remote_lid};
    if (!connection_compare(connections, primary, lids, &connection->alternate, &overlap))
        return;
    connection->view.shared_cables = overlap.cables;
    connection->view.shared_switches = overlap.switches;
}

void sim_cm_refuse(struct sim_cm *cm, uint32_t number, unsigned reason)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    connection->view.stage = CONNECTION_REFUSED;
    connection->view.reason = (uint16_t)reason;
    if (connections->listener.refused)
        connections->listener.refused(connections->listener.context, sim_now(connections->sim),
                                      number);
}

/* ---- requests ---- */

/* Of the records, the primary path and the alternate one; NULL: there is none, or none is wanted.
 * The administration has put the two that share least first. */
static const uint8_t *choose_records(const struct connection_config *config,
                                     const struct path_answer *answer, const uint8_t **primary)
{
    const uint8_t *alternate = NULL;
    *primary = path_answer_at(answer, 0);
    for (size_t i = 0; i < answer->count && config->has_alternate && !alternate; i++) {
        const uint8_t *record = path_answer_at(answer, i);
        if (config->alternate_lid ? lid_in(record, false) == config->alternate_lid : i == 1)
            alternate = record;
    }
    if (alternate == *primary)
        *primary = path_answer_at(answer, answer->count > 1);
    return alternate == *primary ? NULL : alternate;
}

/* The alternate path of REQ, within the subnet. */
static void offer(struct sim_connections *connections, struct connection *connection,
                  const uint8_t *record, struct cm_message *request)
{
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[REQUESTER]];
    struct cm_path path = path_of_record(record, connection->view.config.timeout);
    if (!path.subnet_local || !request->primary.subnet_local)
        return;
    request->alternate = path;
    connection->offered[REQUESTER] =
        path_from(connections, adapter, path.local_lid, path.remote_lid, &path, true);
    const struct adapter *there = &connections->adapters.items[connection->adapters[RESPONDER]];
    uint16_t lid = request->primary.remote_lid;
    struct transport_path back = path_from(connections, there, lid, 0, &path, false);
    if (!back.port)
        return;
    struct sim_path_pair primary = {
        .ports = {adapter->ports[connection->path.port - 1], there->ports[back.port - 1]},
        .paths = {{.dlid = request->primary.remote_lid}, {.dlid = request->primary.local_lid}}};
    note_shared(connections, connection, &primary, &path);
}

void sim_cm_request(struct sim_cm *cm, uint32_t number, const struct path_answer *answer)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct connection_config *config = &connection->view.config;
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[REQUESTER]];
    struct cm_host *host = requester_of(cm, connection);
    const uint8_t *record, *alternate = choose_records(config, answer, &record);
    struct cm_message message = {.service_id = SERVICE + (uint64_t)number,
                                 .service = config->service,
                                 .p_key = (uint16_t)wire_get(record, PATH_RECORD_P_KEY),
                                 .responder_resources = CONNECTION_READS,
                                 .initiator_depth = CONNECTION_READS,
                                 .retry_count = config->retry,
                                 .rnr_retry = 7,
                                 .starting_psn = connection->psns[REQUESTER],
                                 .primary = path_of_record(record, config->timeout),
                                 .mtu = (uint8_t)wire_get(record, PATH_RECORD_MTU)};
    unsigned fits = mtu_code(fabric_transport_mtu(connections->fabric));
    if (message.mtu > fits || message.mtu < 1)
        message.mtu = (uint8_t)fits;
    connection->path = path_from(connections, adapter, message.primary.local_lid,
                                 message.primary.remote_lid, &message.primary, true);
    if (!connection->path.port) { /* its LID has changed since */
        sim_cm_ask(cm, number);
        return;
    }
    connection->p_key_indexes[REQUESTER] =
        p_key_index(connections, adapter, &connection->path, message.p_key);
    if (alternate)
        offer(connections, connection, alternate, &message);
    struct cm_address to = address_of(&connection->path, connection->p_key_indexes[REQUESTER]);
    if (!message.primary.subnet_local) /* the other end has other LIDs (12.7.11) */
        message.primary.local_lid = message.primary.remote_lid = LID_PERMISSIVE;
    connection_add_qp(connections, connection, REQUESTER);
    message.qpn = connection->qps[REQUESTER];
    connection->view.stage = CONNECTION_REQUESTING;
    uint64_t now = sim_now(connections->sim);
    uint32_t id = config->service == TRANSPORT_UD ? cm_resolve(host->cm, now, &message, &to)
                                                  : cm_connect(host->cm, now, &message, &to);
    if (!id) {
        sim_cm_refuse(cm, number, CM_NO_RESOURCES);
        return;
    }
    connection->cm_ids[REQUESTER] = id;
    map_set(&host->connections, id, number);
    send_outputs(cm, host);
}

void sim_cm_connect(struct sim_cm *cm, uint32_t number)
{
    const struct connection *connection = &cm->connections->connections.items[number];
    host_at(cm, connection->adapters[REQUESTER]);
    cm_listen(host_at(cm, connection->adapters[RESPONDER])->cm, SERVICE + (uint64_t)number);
    sim_cm_ask(cm, number);
}

/* ---- alternate paths ---- */

int sim_cm_load(struct sim_cm *cm, uint32_t number, struct err *err)
{
    const struct connection *connection = &cm->connections->connections.items[number];
    if (cm_state(requester_of(cm, connection)->cm, connection->cm_ids[REQUESTER]) != CM_ESTABLISHED)
        return err_set(err, EINVAL, "the connection is being released");
    sim_cm_ask(cm, number);
    return 0;
}

void sim_cm_not_loaded(struct sim_cm *cm, uint32_t number)
{
    struct sim_connections *connections = cm->connections;
    if (connections->listener.not_loaded)
        connections->listener.not_loaded(connections->listener.context, sim_now(connections->sim),
                                         number);
}

/* Of the records with the wanted LIDs, the one whose path shares least with the present one. */
static const uint8_t *choose_alternate(struct sim_connections *connections,
                                       struct connection *connection,
                                       const struct path_answer *answer)
{
    struct sim_path_pair present = connection_present_pair(connections, connection);
    struct route_overlap least = ROUTE_OVERLAP_NONE;
    const uint16_t *wanted = connection->wanted_lids;
    const uint8_t *best = NULL;
    for (size_t i = 0; i < answer->count; i++) {
        const uint8_t *record = path_answer_at(answer, i);
        const uint16_t lids[] = {lid_in(record, true), lid_in(record, false)};
        struct sim_path_pair alternate;
        struct route_overlap overlap;
        if ((wanted[0] && wanted[0] != lids[0]) || (wanted[1] && wanted[1] != lids[1]) ||
            (lids[0] == present.paths[RESPONDER].dlid &&
             lids[1] == present.paths[REQUESTER].dlid) ||
            !connection_compare(connections, &present, lids, &alternate, &overlap) ||
            !route_overlap_less(&overlap, &least))
            continue;
        least = overlap;
        best = record;
        connection->alternate = alternate;
        connection->view.shared_cables = overlap.cables;
        connection->view.shared_switches = overlap.switches;
    }
    return best;
}

void sim_cm_request_load(struct sim_cm *cm, uint32_t number, const struct path_answer *answer)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[REQUESTER]];
    struct cm_host *host = requester_of(cm, connection);
    const uint8_t *record = choose_alternate(connections, connection, answer);
    struct cm_path path = {0};
    struct transport_path own = {0};
    if (record) {
        path = path_of_record(record, connection->view.config.timeout);
        own = path_from(connections, adapter, path.local_lid, path.remote_lid, &path, true);
    }
    if (!own.port || cm_load_alternate(host->cm, sim_now(connections->sim),
                                       connection->cm_ids[REQUESTER], &path)) {
        sim_cm_not_loaded(cm, number);
        return;
    }
    connection->offered[REQUESTER] = own;
    send_outputs(cm, host);
}

/* An end loads what was offered. */
static int load(struct sim_connections *connections, const struct connection *connection,
                unsigned end)
{
    const struct transport_path *path = &connection->offered[end];
    return path->port ? connection_load_path(connections, connection, end, path, NULL) : -EINVAL;
}

/* LAP */
static void answer_alternate(struct sim_cm *cm, struct cm_host *host, uint32_t number, uint64_t now,
                             const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct cm_path *path = &event->message.alternate;
    connection->offered[RESPONDER] =
        path_from(connections, &connections->adapters.items[host->adapter], path->remote_lid,
                  path->local_lid, path, false);
    int status = load(connections, connection, RESPONDER);
    cm_answer_alternate(host->cm, now, event->id, status ? CM_LOAD_REJECTED : CM_LOADED);
}

/* APR, or none has come */
static void take_alternate(struct sim_cm *cm, uint32_t number, const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    if (!event->message.kind || event->message.status != CM_LOADED ||
        load(connections, &connections->connections.items[number], REQUESTER))
        sim_cm_not_loaded(cm, number);
}

void sim_cm_migrated(struct sim_cm *cm, uint32_t number)
{
    const struct connection *connection = &cm->connections->connections.items[number];
    const struct adapter *adapter =
        &cm->connections->adapters.items[connection->adapters[REQUESTER]];
    struct transport_qp_view qp;
    transport_query_qp(adapter->transport, connection->qps[REQUESTER], &qp);
    struct cm_address to = address_of(&qp.attributes.path, qp.attributes.p_key_index);
    to.port = qp.attributes.port;
    cm_readdress(requester_of(cm, connection)->cm, connection->cm_ids[REQUESTER], &to);
}

/* ---- events ---- */

/* The path of REQ back to the requester. Of another subnet, the LIDs are those of the packet. */
static struct transport_path path_back(const struct sim_connections *connections,
                                       const struct adapter *adapter, const struct cm_event *event)
{
    const struct cm_path *path = &event->message.primary;
    if (path->subnet_local)
        return path_from(connections, adapter, path->remote_lid, path->local_lid, path, false);
    uint32_t port = adapter->ports[event->from.port - 1u];
    const uint8_t *info = fabric_port_info(connections->fabric, port);
    struct cm_path routed = *path;
    routed.sl = event->from.sl;
    return path_from(connections, adapter,
                     (uint16_t)(wire_get(info, PORT_INFO_LID) | event->from.path_bits),
                     event->from.lid, &routed, false);
}

/* The responder has got a request: makes its QP and answers. */
static void answer_request(struct sim_cm *cm, struct cm_host *host, uint64_t now,
                           const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    const struct cm_message *request = &event->message;
    uint32_t number = (uint32_t)(request->service_id - SERVICE);
    struct connection *connection = &connections->connections.items[number];
    const struct adapter *adapter = &connections->adapters.items[connection->adapters[RESPONDER]];
    struct cm_message answer = {.service_id = request->service_id,
                                .starting_psn = connection->psns[RESPONDER],
                                .responder_resources = CONNECTION_READS,
                                .initiator_depth = CONNECTION_READS,
                                .rnr_retry = 7,
                                .failover = FAILOVER_ACCEPTED,
                                .reason = CM_UNSUPPORTED,
                                .q_key = CONNECTION_Q_KEY};
    bool datagram = event->kind == CM_EVENT_SERVICE_REQUEST;
    bool first = connection->qps[RESPONDER] == 0;
    if (first) {
        connection_add_qp(connections, connection, RESPONDER);
    } else if (!datagram) { /* the requester has given up an earlier one and was not heard */
        answer.reason = CM_NO_QP;
        cm_reject(host->cm, now, event->id, &answer);
        return;
    }
    struct transport_path path = {.dlid = event->from.lid, .port = event->from.port};
    if (!datagram) {
        path = path_back(connections, adapter, event);
        connection->qps[REQUESTER] = request->qpn;
    }
    if (!datagram && request->alternate.local_lid) {
        connection->offered[RESPONDER] =
            path_from(connections, adapter, request->alternate.remote_lid,
                      request->alternate.local_lid, &request->alternate, false);
        if (!connection->offered[RESPONDER].port)
            answer.failover = FAILOVER_REJECTED;
    }
    connection->p_key_indexes[RESPONDER] = p_key_index(connections, adapter, &path, request->p_key);
    if (!path.port ||
        (first && connection_bring_up(connections, connection, RESPONDER, &path, STATE_RESET,
                                      datagram ? STATE_RTS : STATE_RTR, NULL))) {
        if (!datagram)
            cm_reject(host->cm, now, event->id, &answer);
        return;
    }
    if (first)
        connection_post_receives(connections, number);
    answer.qpn = connection->qps[RESPONDER];
    wire_set_bits(answer.private_data, 0, 32, adapter->key);
    if (datagram) {
        cm_answer_service(host->cm, now, event->id, &answer);
        return;
    }
    connection->cm_ids[RESPONDER] = event->id;
    map_set(&host->connections, event->id, number);
    cm_accept(host->cm, now, event->id, &answer);
}

/* The requester has got its answer. */
static void confirm(struct sim_cm *cm, struct cm_host *host, uint32_t number, uint64_t now,
                    const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct cm_message *reply = &event->message;
    bool datagram = event->kind == CM_EVENT_SERVICE;
    if (datagram && reply->status != CM_RESOLVED) {
        sim_cm_refuse(cm, number, CM_INVALID_SERVICE_ID);
        return;
    }
    connection->qps[RESPONDER] = reply->qpn;
    connection->q_key =
        connection->view.config.q_key ? connection->view.config.q_key : reply->q_key;
    connection->r_key = (uint32_t)wire_get_bits(reply->private_data, 0, 32);
    connection->psns[RESPONDER] = datagram ? 0 : reply->starting_psn;
    if (connection_bring_up(connections, connection, REQUESTER, &connection->path, STATE_RESET,
                            STATE_RTS, NULL)) {
        sim_cm_refuse(cm, number, CM_UNSUPPORTED);
        if (!datagram)
            cm_reject(host->cm, now, event->id, &(struct cm_message){.reason = CM_UNSUPPORTED});
        return;
    }
    if (datagram)
        connection->cm_ids[REQUESTER] = 0;
    else
        cm_confirm(host->cm, now, event->id);
    if (!datagram && reply->failover == FAILOVER_ACCEPTED)
        load(connections, connection, REQUESTER);
    connection_begin(connections, number);
}

static void take_event(struct sim_cm *cm, struct cm_host *host, uint64_t now,
                       const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    if (event->kind == CM_EVENT_REQUEST || event->kind == CM_EVENT_SERVICE_REQUEST) {
        answer_request(cm, host, now, event);
        return;
    }
    uint32_t number = map_get(&host->connections, event->id);
    if (number == MAP_NONE)
        return;
    struct connection *connection = &connections->connections.items[number];
    bool requester = host->adapter == connection->adapters[REQUESTER] &&
                     event->id == connection->cm_ids[REQUESTER];
    switch (event->kind) {
    case CM_EVENT_REPLY:
    case CM_EVENT_SERVICE: confirm(cm, host, number, now, event); break;
    case CM_EVENT_ESTABLISHED: /* RTU */
        connection_bring_up(connections, connection, RESPONDER, &(struct transport_path){.port = 1},
                            STATE_RTR, STATE_RTS, NULL);
        load(connections, connection, RESPONDER);
        break;
    case CM_EVENT_ALTERNATE: answer_alternate(cm, host, number, now, event); break;
    case CM_EVENT_ALTERNATE_ANSWERED: take_alternate(cm, number, event); break;
    case CM_EVENT_REJECTED:
        if (requester)
            sim_cm_refuse(cm, number, event->message.reason);
        break;
    case CM_EVENT_UNREACHABLE:
        if (requester)
            sim_cm_refuse(cm, number, CM_TIMED_OUT);
        break;
    case CM_EVENT_RELEASED:
        if (requester)
            connection->view.stage = CONNECTION_RELEASED;
        break;
    default: break;
    }
    if (cm_state(host->cm, event->id) == CM_FREE) {
        map_remove(&host->connections, event->id);
        connection->cm_ids[requester ? REQUESTER : RESPONDER] = 0;
    }
}

void sim_cm_release(struct sim_cm *cm, uint32_t number)
{
    struct connection *connection = &cm->connections->connections.items[number];
    struct cm_host *host = requester_of(cm, connection);
    if (cm_disconnect(host->cm, sim_now(cm->connections->sim), connection->cm_ids[REQUESTER]) == 0)
        connection->view.stage = CONNECTION_RELEASING;
    send_outputs(cm, host);
}

/* ---- time ---- */

static void receive(struct cm_host *host, unsigned port, uint64_t now)
{
    struct mad_file *file = host->files[port];
    for (const struct mad_received *received; (received = mad_file_next(file)) != NULL;) {
        const struct mad_head *head = &received->head;
        struct cm_address from = {.lid = ntohs(head->lid),
                                  .sl = head->sl,
                                  .path_bits = head->path_bits,
                                  .port = (uint8_t)(port + 1),
                                  .p_key_index = head->p_key_index,
                                  .global = head->grh_present != 0};
        memcpy(from.gid, head->gid, sizeof from.gid);
        if (!head->status && head->length >= sizeof *head + MAD_BYTES)
            cm_receive(host->cm, now, received->data, &from);
        mad_file_taken(file);
    }
}

static void note_ready(void *context, struct mad_file *file)
{
    struct sim_cm *cm = context;
    cm->due.items[map_get(&cm->by_adapter, cm->connections->adapter_of[mad_file_port(file)])] = 0;
}

static void run_host(struct sim_cm *cm, struct cm_host *host, uint64_t now)
{
    struct cm_event event;
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && host->files[i]; i++)
        receive(host, i, now);
    if (cm_deadline(host->cm) <= now)
        cm_expire(host->cm, now);
    while (cm_next_event(host->cm, &event))
        take_event(cm, host, now, &event);
    send_outputs(cm, host);
}

static uint64_t attend(void *context, uint64_t now)
{
    struct sim_cm *cm = context;
    uint64_t next = sim_cm_resolve(cm, now);
    for (size_t i = 0; i < cm->hosts.count; i++) {
        if (cm->due.items[i] <= now)
            run_host(cm, &cm->hosts.items[i], now);
        next = cm->due.items[i] < next ? cm->due.items[i] : next;
    }
    return next;
}

struct sim_cm *sim_cm_new(struct sim_connections *connections)
{
    struct sim_cm *cm = mem_zalloc(1, sizeof *cm);
    assert(connections->clients && sim_mads(connections->sim));
    cm->connections = connections;
    sim_add_hook(connections->sim, &(struct sim_hook){cm, attend, note_ready});
    return cm;
}

void sim_cm_free(struct sim_cm *cm)
{
    if (!cm)
        return;
    sim_remove_hook(cm->connections->sim, cm);
    for (size_t i = 0; i < cm->hosts.count; i++) {
        for (unsigned j = 0; j < TRANSPORT_PORTS_MAX; j++)
            if (cm->hosts.items[i].files[j])
                mad_file_close(cm->hosts.items[i].files[j]);
        cm_free(cm->hosts.items[i].cm);
        map_release(&cm->hosts.items[i].connections);
    }
    vec_release(&cm->hosts);
    vec_release(&cm->due);
    vec_release(&cm->by_query);
    vec_release(&cm->pauses);
    map_release(&cm->by_adapter);
    mem_free(cm);
}
