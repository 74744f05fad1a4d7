/* Sets connections up as programs do: a PathRecord of the subnet administration, then REQ, REP and
 * RTU between the QP1s of the hosts (src/cm), and DREQ and DREP at the end. UD needs no connection:
 * SIDR_REQ asks for the QP and its Q_Key. Each message is a packet of the fabric and may be lost.
 *
 * Requester and responder know of each other only what these messages have said: LIDs, SL, QP
 * numbers, PSNs, MTU, and the R_Key in the private data of REP. */
#include "host/sim/sim_connections_internal.h"
#include "wire/packet.h"

#include <arpa/inet.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    SERVICE = 0x1000000, /* + the number of the connection: every one is served apart */
    MTU_CODE_256 = 1,
    REQUESTER = 0,
    RESPONDER = 1,
};
static const uint64_t pause_without_path = 100 * TIME_MS;

struct host {
    uint32_t port;
    struct mad_file *file;
    uint32_t agent;
    struct cm *cm;
    struct map connections; /* number of the connection by communication ID */
};

/* There was no path: the next query is due then. */
struct pause {
    uint64_t until;
    uint32_t number;
};

struct sim_cm {
    struct sim_connections *connections;
    VEC(struct host) hosts;
    VEC(uint64_t) due; /* by host: when it has something to do, or earlier */
    struct map by_port;
    VEC(uint32_t) by_query;   /* the number of the connection + 1, or 0 */
    size_t queries_seen;      /* of the finished ones */
    VEC(struct pause) pauses; /* in the order of their ends */
    size_t pauses_taken;
};

/* ---- hosts ---- */

/* The pointer is valid until the next host is made. */
static struct host *host_at(struct sim_cm *cm, uint32_t port)
{
    struct sim *sim = cm->connections->sim;
    uint32_t index = map_get(&cm->by_port, port);
    if (index != MAP_NONE)
        return &cm->hosts.items[index];
    struct registration wanted = {.class = CLASS_CM, .class_version = CM_CLASS_VERSION};
    wanted.method_mask[METHOD_SEND / 32] |= UINT32_C(1) << METHOD_SEND % 32;
    struct host host = {.port = port};
    struct cm_config config;
    cm_config_init(&config);
    config.ca_guid = fabric_port_guid(cm->connections->fabric, port, 0);
    config.first_id = (port + 1) << 12;
    host.cm = cm_new(&config);
    host.file = mad_file_open(sim_mads(sim), port, cm);
    int agent = mad_file_register(host.file, &wanted);
    if (agent < 0)
        abort(); /* a second struct sim_cm */
    host.agent = (uint32_t)agent;
    index = (uint32_t)cm->hosts.count;
    vec_push(&cm->hosts, host);
    vec_push(&cm->due, TIME_NEVER);
    map_set(&cm->by_port, port, index);
    return &cm->hosts.items[index];
}

/* After each call of a host's CM. */
static void send_outputs(struct sim_cm *cm, struct host *host)
{
    struct cm_output output;
    cm->due.items[host - cm->hosts.items] = cm_deadline(host->cm);
    while (cm_next_output(host->cm, &output)) {
        struct mad_head head = {.agent = host->agent,
                                .qpn = htonl(QP_GSI),
                                .q_key = htonl(Q_KEY_GSI),
                                .lid = htons(output.to.lid),
                                .sl = output.to.sl,
                                .path_bits = output.to.path_bits,
                                .p_key_index = output.to.p_key_index};
        /* A port without LID sends nothing: the message counts as lost and is repeated. */
        mad_file_send(host->file, sim_now(cm->connections->sim), &head, output.mad, MAD_BYTES);
    }
}

/* ---- paths ---- */

static unsigned mtu_code(unsigned bytes)
{
    unsigned code = MTU_CODE_256;
    while (code < 5 && 256u << (code - MTU_CODE_256) < bytes)
        code++;
    return code;
}

/* The path of one end as a QP needs it. The end has the port whose LIDs include `own_lid`. */
static struct transport_path path_from(const struct sim_connections *connections,
                                       const struct adapter *adapter, uint16_t own_lid,
                                       uint16_t peer_lid, const struct cm_path *path)
{
    struct transport_path found = {
        .dlid = peer_lid, .sl = path->sl, .port = 1, .timeout = path->ack_timeout};
    for (unsigned i = 0; i < TRANSPORT_PORTS_MAX && adapter->ports[i] != MAP_NONE; i++) {
        const uint8_t *info = fabric_port_info(connections->fabric, adapter->ports[i]);
        unsigned lids = 1u << wire_get(info, PORT_INFO_LMC);
        if ((own_lid & ~(lids - 1)) != wire_get(info, PORT_INFO_LID))
            continue;
        found.port = (uint8_t)number_in_adapter(connections, adapter->ports[i]);
        found.path_bits = (uint8_t)(own_lid & (lids - 1));
    }
    return found;
}

/* The place of a partition in the table of a port that is a member of it, or was when the path was
 * resolved. */
static uint16_t p_key_index(const struct sim_connections *connections, uint32_t port,
                            unsigned p_key)
{
    unsigned index = connection_p_key_index(connections, port, p_key);
    return index == PORT_P_KEYS ? 0 : (uint16_t)index;
}

static void refuse(struct sim_cm *cm, uint32_t number, unsigned reason)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    connection->view.stage = CONNECTION_REFUSED;
    connection->view.reason = (uint16_t)reason;
    if (connections->listener.refused)
        connections->listener.refused(connections->listener.context, sim_now(connections->sim),
                                      number);
}

/* The path is known: asks for the connection. */
static void request(struct sim_cm *cm, uint32_t number, const uint8_t *record)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct connection_config *config = &connection->view.config;
    struct host *host = host_at(cm, config->from);
    struct cm_message message = {
        .service_id = SERVICE + (uint64_t)number,
        .service = config->service,
        .p_key = (uint16_t)wire_get(record, PATH_RECORD_P_KEY),
        .responder_resources = CONNECTION_READS,
        .initiator_depth = CONNECTION_READS,
        .retry_count = config->retry,
        .rnr_retry = 7,
        .starting_psn = connection->psns[REQUESTER],
        .primary = {.local_lid = (uint16_t)wire_get(record, PATH_RECORD_SLID),
                    .remote_lid = (uint16_t)wire_get(record, PATH_RECORD_DLID),
                    .rate = (uint8_t)wire_get(record, PATH_RECORD_RATE),
                    .sl = (uint8_t)wire_get(record, PATH_RECORD_SL),
                    .subnet_local = 1,
                    .ack_timeout = config->timeout}};
    connection->p_key_indexes[REQUESTER] = p_key_index(connections, config->from, message.p_key);
    struct cm_address to = {.lid = message.primary.remote_lid,
                            .sl = message.primary.sl,
                            .p_key_index = connection->p_key_indexes[REQUESTER]};
    memcpy(message.primary.local_gid, wire_bytes_const(record, PATH_RECORD_SGID), 16);
    memcpy(message.primary.remote_gid, wire_bytes_const(record, PATH_RECORD_DGID), 16);
    unsigned fits = mtu_code(fabric_transport_mtu(connections->fabric));
    message.mtu = (uint8_t)wire_get(record, PATH_RECORD_MTU);
    if (message.mtu > fits || message.mtu < MTU_CODE_256)
        message.mtu = (uint8_t)fits;
    connection->path =
        path_from(connections, &connections->adapters.items[connection->adapters[REQUESTER]],
                  message.primary.local_lid, message.primary.remote_lid, &message.primary);
    connection_add_qp(connections, connection, REQUESTER);
    message.qpn = connection->qps[REQUESTER];
    connection->view.stage = CONNECTION_REQUESTING;
    uint64_t now = sim_now(connections->sim);
    uint32_t id = config->service == TRANSPORT_UD ? cm_resolve(host->cm, now, &message, &to)
                                                  : cm_connect(host->cm, now, &message, &to);
    if (!id) {
        refuse(cm, number, CM_NO_RESOURCES);
        return;
    }
    connection->cm_ids[REQUESTER] = id;
    map_set(&host->connections, id, number);
    send_outputs(cm, host);
}

static void request_path(struct sim_cm *cm, uint32_t number)
{
    const struct connection_config *config =
        &cm->connections->connections.items[number].view.config;
    uint32_t query =
        sim_clients_path(cm->connections->clients, config->from, config->to, config->p_key);
    *vec_at(&cm->by_query, query) = number + 1;
}

void sim_cm_connect(struct sim_cm *cm, uint32_t number)
{
    const struct connection_config *config =
        &cm->connections->connections.items[number].view.config;
    host_at(cm, config->from);
    cm_listen(host_at(cm, config->to)->cm, SERVICE + (uint64_t)number);
    request_path(cm, number);
}

/* There is no path at present; STATUS_SA_BAD_GID: the host is not in the subnet. */
static bool may_come_later(unsigned status)
{
    return status == STATUS_SA_NO_RECORDS || status == STATUS_SA_BAD_GID;
}

static void take_answer(struct sim_cm *cm, uint32_t number, const struct sim_query *query)
{
    if (query->state == SIM_ANSWERED && query->status == STATUS_OK &&
        query->bytes >= SA_DATA_OFFSET + WIRE_BYTES_PATH_RECORD)
        request(cm, number, query->answer + SA_DATA_OFFSET);
    else if (query->state == SIM_ANSWERED && may_come_later(query->status))
        vec_push(&cm->pauses, ((struct pause){query->answered + pause_without_path, number}));
    else
        refuse(cm, number, 0);
}

/* Goes through the answers of the administration. Returns when to ask again. */
static uint64_t resolve(struct sim_cm *cm, uint64_t now)
{
    const struct sim_clients *clients = cm->connections->clients;
    for (uint32_t query; (query = sim_clients_finished(clients, cm->queries_seen)) != UINT32_MAX;
         cm->queries_seen++)
        if (query < cm->by_query.count && cm->by_query.items[query])
            take_answer(cm, cm->by_query.items[query] - 1, sim_clients_query(clients, query));
    while (cm->pauses_taken < cm->pauses.count && cm->pauses.items[cm->pauses_taken].until <= now)
        request_path(cm, cm->pauses.items[cm->pauses_taken++].number);
    cm->pauses_taken = vec_drop_taken(&cm->pauses, cm->pauses_taken);
    return cm->pauses_taken < cm->pauses.count ? cm->pauses.items[cm->pauses_taken].until
                                               : TIME_NEVER;
}

/* ---- events ---- */

/* The responder has got a request: makes its QP and answers. */
static void answer_request(struct sim_cm *cm, struct host *host, uint64_t now,
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
                                .failover = request->alternate.local_lid != 0 ? 2 : 0,
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
    struct transport_path path = path_from(connections, adapter, request->primary.remote_lid,
                                           request->primary.local_lid, &request->primary);
    if (datagram)
        path = (struct transport_path){.dlid = event->from.lid, .port = 1};
    if (!datagram)
        connection->qps[REQUESTER] = request->qpn;
    connection->p_key_indexes[RESPONDER] = p_key_index(connections, host->port, request->p_key);
    if (first && connection_bring_up(connections, connection, RESPONDER, &path, STATE_RESET,
                                     datagram ? STATE_RTS : STATE_RTR, NULL)) {
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
static void confirm(struct sim_cm *cm, struct host *host, uint32_t number, uint64_t now,
                    const struct cm_event *event)
{
    struct sim_connections *connections = cm->connections;
    struct connection *connection = &connections->connections.items[number];
    const struct cm_message *reply = &event->message;
    bool datagram = event->kind == CM_EVENT_SERVICE;
    if (datagram && reply->status != CM_RESOLVED) {
        refuse(cm, number, CM_INVALID_SERVICE_ID);
        return;
    }
    connection->qps[RESPONDER] = reply->qpn;
    connection->q_key =
        connection->view.config.q_key ? connection->view.config.q_key : reply->q_key;
    connection->r_key = (uint32_t)wire_get_bits(reply->private_data, 0, 32);
    connection->psns[RESPONDER] = datagram ? 0 : reply->starting_psn;
    if (connection_bring_up(connections, connection, REQUESTER, &connection->path, STATE_RESET,
                            STATE_RTS, NULL)) {
        refuse(cm, number, CM_UNSUPPORTED);
        if (!datagram)
            cm_reject(host->cm, now, event->id, &(struct cm_message){.reason = CM_UNSUPPORTED});
        return;
    }
    if (datagram)
        connection->cm_ids[REQUESTER] = 0;
    else
        cm_confirm(host->cm, now, event->id);
    connection_begin(connections, number);
}

static void take_event(struct sim_cm *cm, struct host *host, uint64_t now,
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
    bool requester = host->port == connection->view.config.from;
    switch (event->kind) {
    case CM_EVENT_REPLY:
    case CM_EVENT_SERVICE: confirm(cm, host, number, now, event); break;
    case CM_EVENT_ESTABLISHED: /* RTU */
        connection_bring_up(connections, connection, RESPONDER, &(struct transport_path){.port = 1},
                            STATE_RTR, STATE_RTS, NULL);
        break;
    case CM_EVENT_REJECTED:
        if (requester)
            refuse(cm, number, event->message.reason);
        break;
    case CM_EVENT_UNREACHABLE:
        if (requester)
            refuse(cm, number, CM_TIMED_OUT);
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
    struct host *host = host_at(cm, connection->view.config.from);
    if (cm_disconnect(host->cm, sim_now(cm->connections->sim), connection->cm_ids[REQUESTER]) == 0)
        connection->view.stage = CONNECTION_RELEASING;
    send_outputs(cm, host);
}

/* ---- time ---- */

static void receive(struct host *host, uint64_t now)
{
    for (const struct mad_received *received; (received = mad_file_next(host->file)) != NULL;) {
        struct cm_address from = {.lid = ntohs(received->head.lid),
                                  .sl = received->head.sl,
                                  .path_bits = received->head.path_bits,
                                  .p_key_index = received->head.p_key_index};
        if (!received->head.status && received->head.length >= sizeof received->head + MAD_BYTES)
            cm_receive(host->cm, now, received->data, &from);
        mad_file_taken(host->file);
    }
}

static void note_ready(void *context, struct mad_file *file)
{
    struct sim_cm *cm = context;
    cm->due.items[map_get(&cm->by_port, mad_file_port(file))] = 0;
}

static void run_host(struct sim_cm *cm, struct host *host, uint64_t now)
{
    struct cm_event event;
    receive(host, now);
    if (cm_deadline(host->cm) <= now)
        cm_expire(host->cm, now);
    while (cm_next_event(host->cm, &event))
        take_event(cm, host, now, &event);
    send_outputs(cm, host);
}

static uint64_t attend(void *context, uint64_t now)
{
    struct sim_cm *cm = context;
    uint64_t next = resolve(cm, now);
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
        mad_file_close(cm->hosts.items[i].file);
        cm_free(cm->hosts.items[i].cm);
        map_release(&cm->hosts.items[i].connections);
    }
    vec_release(&cm->hosts);
    vec_release(&cm->due);
    vec_release(&cm->by_query);
    vec_release(&cm->pauses);
    map_release(&cm->by_port);
    mem_free(cm);
}
