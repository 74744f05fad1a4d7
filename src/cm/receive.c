/* What messages do.
 *
 * A message that belongs to a connection is looked up in a table by its kind and the state of the
 * connection; where the table has no entry, it is out of place and ignored. Requests of unknown
 * connections get the answer that lets the other end forget its half (12.9.8). */
#include "cm/internal.h"

enum {
    HERE = 1 << CM_ESTABLISHED,
    WAITING_FOR_REP = 1 << CM_REQ_SENT | 1 << CM_REQ_DELAYED,
    WAITING_FOR_RTU = 1 << CM_REP_SENT | 1 << CM_REP_DELAYED,
};

/* ---- requests ---- */

/* An answer to a request that has no connection here. */
static void refuse(struct cm *cm, const struct cm_address *to, const struct cm_message *request,
                   unsigned reason, unsigned answers)
{
    struct cm_message reject = {.kind = ATTRIBUTE_CM_REJ,
                                .tid = request->tid,
                                .local_id = request->remote_id,
                                .remote_id = request->local_id,
                                .answers = (uint8_t)answers,
                                .reason = (uint16_t)reason};
    cm_send(cm, to, &reject);
}

static void repeat_request(struct cm *cm, struct connection *connection)
{
    cm->counters.duplicates++;
    if (connection->state == CM_REQ_RECEIVED && connection->replied_late)
        cm_send_delay(cm, connection);
    else if (connection->state == CM_REP_SENT || connection->state == CM_REP_DELAYED)
        cm_send_again(cm, connection);
}

static void receive_req(struct cm *cm, uint64_t now, const struct cm_message *message,
                        const struct cm_address *from)
{
    struct connection *same = connection_in_chain(cm, BY_PEER, message->ca_guid, message->local_id);
    if (same) {
        if (same->remote_qpn != message->qpn)
            refuse(cm, from, message, CM_DUPLICATE_COMM_ID, CM_ANSWERS_REQ);
        else
            repeat_request(cm, same);
        return;
    }
    /* Its QP has a connection here: the other end has lost it, perhaps by a restart (12.9.8.3.1).
     */
    struct connection *stale = connection_in_chain(cm, BY_QP, message->ca_guid, message->qpn);
    if (stale) {
        refuse(cm, from, message, CM_STALE, CM_ANSWERS_REQ);
        cm_release(cm, stale, now);
        return;
    }
    if (!cm_serves(cm, message->service_id)) {
        refuse(cm, from, message, CM_INVALID_SERVICE_ID, CM_ANSWERS_REQ);
        return;
    }
    if (message->service > 1) { /* neither RC nor UC */
        refuse(cm, from, message, CM_INVALID_SERVICE_TYPE, CM_ANSWERS_REQ);
        return;
    }
    struct connection *connection = connection_new(cm);
    if (!connection) {
        refuse(cm, from, message, CM_NO_RESOURCES, CM_ANSWERS_REQ);
        return;
    }
    connection->state = CM_REQ_RECEIVED;
    connection->address = *from;
    connection->remote_id = message->local_id;
    connection->remote_guid = message->ca_guid;
    connection->remote_qpn = message->qpn;
    connection->tid = message->tid;
    connection->cm_retries = message->cm_retries;
    connection->ack_timeout = message->primary.ack_timeout;
    connection->answer_ps =
        cm_time_ps(message->local_timeout) + 2 * cm_time_ps(cm->config.packet_life);
    chain_add(cm, connection, BY_PEER);
    chain_add(cm, connection, BY_QP);
    cm_report(cm, CM_EVENT_REQUEST, connection, message);
}

static void receive_sidr_req(struct cm *cm, const struct cm_message *message,
                             const struct cm_address *from)
{
    struct cm_message answer = {.kind = ATTRIBUTE_CM_SIDR_REP,
                                .tid = message->tid,
                                .remote_id = message->local_id,
                                .service_id = message->service_id,
                                .status = CM_RESOLVE_UNSUPPORTED};
    /* All hosts of another subnet have the LID of a router. */
    uint64_t sender = from->global ? wire_get_bits(from->gid, 64, 64) : from->lid;
    struct connection *same = connection_in_chain(cm, BY_PEER, sender, message->local_id);
    if (same && same->state == CM_SIDR_RECEIVED) {
        cm->counters.duplicates++;
        return;
    }
    struct connection *connection = cm_serves(cm, message->service_id) ? connection_new(cm) : NULL;
    if (!connection) {
        cm_send(cm, from, &answer);
        return;
    }
    connection->state = CM_SIDR_RECEIVED;
    connection->address = *from;
    connection->remote_id = message->local_id;
    connection->remote_guid = sender;
    connection->tid = message->tid;
    chain_add(cm, connection, BY_PEER);
    cm_report(cm, CM_EVENT_SERVICE_REQUEST, connection, message);
}

/* ---- messages of connections ---- */

typedef void action(struct cm *cm, struct connection *connection, uint64_t now,
                    const struct cm_message *message);

static void take_rep(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    (void)now;
    connection->state = CM_REP_RECEIVED;
    connection->remote_id = message->local_id;
    connection->remote_guid = message->ca_guid;
    connection->remote_qpn = message->qpn;
    set_deadline(cm, connection, TIME_NEVER);
    chain_add(cm, connection, BY_QP);
    cm_report(cm, CM_EVENT_REPLY, connection, message);
}

static void repeat_rep(struct cm *cm, struct connection *connection, uint64_t now,
                       const struct cm_message *message)
{
    (void)now;
    cm->counters.duplicates++;
    if (connection->state == CM_REP_RECEIVED && connection->replied_late)
        cm_send_delay(cm, connection);
    if (connection->state != CM_ESTABLISHED || !connection->active)
        return;
    struct cm_message confirmation = cm_begin(connection, ATTRIBUTE_CM_RTU);
    confirmation.tid = message->tid;
    cm->counters.repeated++;
    cm_send(cm, &connection->address, &confirmation);
}

static void take_rtu(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    (void)now;
    connection->state = CM_ESTABLISHED;
    set_deadline(cm, connection, TIME_NEVER);
    cm_report(cm, CM_EVENT_ESTABLISHED, connection, message);
}

static void take_mra(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    uint64_t until =
        now + cm_time_ps(message->service_timeout) + 2 * cm_time_ps(cm->config.packet_life);
    unsigned expected = connection->state == CM_ESTABLISHED ? CM_ANSWERS_OTHER
                        : connection->active                ? CM_ANSWERS_REQ
                                                            : CM_ANSWERS_REP;
    if (message->answers != expected ||
        (expected == CM_ANSWERS_OTHER && connection->load != LOAD_SENT)) {
        cm->counters.unexpected++;
        return;
    }
    if (connection->state == CM_REQ_SENT) {
        connection->state = CM_REQ_DELAYED;
        connection->remote_id = message->local_id;
    } else if (connection->state == CM_REP_SENT) {
        connection->state = CM_REP_DELAYED;
    }
    connection->retries_left = 0;
    set_deadline(cm, connection, until);
}

static void take_rej(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    cm->counters.rejects_received++;
    if (connection->state == CM_DREQ_SENT || connection->state == CM_ESTABLISHED) {
        cm_report(cm, CM_EVENT_DISCONNECTED, connection, message);
        connection_wait(cm, connection, now);
        return;
    }
    cm_report(cm, CM_EVENT_REJECTED, connection, message);
    connection_drop(cm, connection);
}

static void take_dreq(struct cm *cm, struct connection *connection, uint64_t now,
                      const struct cm_message *message)
{
    if (message->remote_qpn != connection->local_qpn) {
        cm->counters.unexpected++;
        return;
    }
    struct cm_message answer = cm_begin(connection, ATTRIBUTE_CM_DREP);
    answer.tid = message->tid;
    cm_send(cm, &connection->address, &answer);
    if (connection->state == CM_TIME_WAIT) {
        cm->counters.duplicates++;
        return;
    }
    cm_report(cm, CM_EVENT_DISCONNECTED, connection, message);
    connection_wait(cm, connection, now);
}

static void take_drep(struct cm *cm, struct connection *connection, uint64_t now,
                      const struct cm_message *message)
{
    cm_report(cm, CM_EVENT_DISCONNECTED, connection, message);
    connection_wait(cm, connection, now);
}

static void take_lap(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    (void)now;
    if (connection->active || message->remote_qpn != connection->local_qpn) {
        cm->counters.unexpected++;
        return;
    }
    if (connection->load != LOAD_IDLE && connection->tid == message->tid) {
        cm->counters.duplicates++;
        if (connection->load == LOAD_ANSWERED)
            cm_send_again(cm, connection);
        else if (connection->replied_late)
            cm_send_delay(cm, connection);
        return;
    }
    connection->load = LOAD_RECEIVED;
    connection->tid = message->tid;
    connection->address = *cm->from; /* the primary path may be dead */
    cm_report(cm, CM_EVENT_ALTERNATE, connection, message);
}

static void take_apr(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    (void)now;
    if (connection->load != LOAD_SENT ||
        (uint32_t)message->tid != (uint32_t)connection->tid) { /* the rest is of MAD layers */
        cm->counters.unexpected++;
        return;
    }
    connection->load = LOAD_IDLE;
    set_deadline(cm, connection, TIME_NEVER);
    cm_report(cm, CM_EVENT_ALTERNATE_ANSWERED, connection, message);
}

static void take_sidr_rep(struct cm *cm, struct connection *connection, uint64_t now,
                          const struct cm_message *message)
{
    (void)now;
    cm_report(cm, CM_EVENT_SERVICE, connection, message);
    connection_drop(cm, connection);
}

static const struct row {
    uint16_t kind, states; /* states: bit per enum cm_state */
    action *act;
} table[] = {
    {ATTRIBUTE_CM_REP, WAITING_FOR_REP, take_rep},
    {ATTRIBUTE_CM_REP, HERE | 1 << CM_REP_RECEIVED, repeat_rep},
    {ATTRIBUTE_CM_RTU, WAITING_FOR_RTU, take_rtu},
    {ATTRIBUTE_CM_MRA, 1 << CM_REQ_SENT | 1 << CM_REP_SENT | HERE, take_mra},
    {ATTRIBUTE_CM_REJ,
     WAITING_FOR_REP | WAITING_FOR_RTU | HERE | 1 << CM_REQ_RECEIVED | 1 << CM_REP_RECEIVED |
         1 << CM_DREQ_SENT,
     take_rej},
    {ATTRIBUTE_CM_DREQ, HERE | WAITING_FOR_RTU | 1 << CM_DREQ_SENT | 1 << CM_TIME_WAIT, take_dreq},
    {ATTRIBUTE_CM_DREP, 1 << CM_DREQ_SENT, take_drep},
    {ATTRIBUTE_CM_LAP, HERE, take_lap},
    {ATTRIBUTE_CM_APR, HERE, take_apr},
    {ATTRIBUTE_CM_SIDR_REP, 1 << CM_SIDR_SENT, take_sidr_rep},
};

/* ---- in ---- */

/* The connection of a message. The other end must be the known one. */
static struct connection *find(const struct cm *cm, const struct cm_message *message)
{
    struct connection *connection = connection_of(cm, message->remote_id);
    if (message->kind == ATTRIBUTE_CM_REJ && !connection && message->reason == CM_TIMED_OUT &&
        message->information_bytes == 8) /* its sender has never learnt our ID */
        return connection_in_chain(cm, BY_PEER, wire_get_bits(message->information, 0, 64),
                                   message->local_id);
    if (!connection || message->kind == ATTRIBUTE_CM_SIDR_REP)
        return connection;
    bool learns = connection->state == CM_REQ_SENT &&
                  (message->kind == ATTRIBUTE_CM_REP || message->kind == ATTRIBUTE_CM_MRA ||
                   message->kind == ATTRIBUTE_CM_REJ);
    return learns || connection->remote_id == message->local_id ? connection : NULL;
}

/* Requests of connections that are unknown here. */
static void receive_unknown(struct cm *cm, const struct cm_message *message,
                            const struct cm_address *from)
{
    struct cm_message answer = {
        .tid = message->tid, .local_id = message->remote_id, .remote_id = message->local_id};
    cm->counters.unexpected++;
    if (message->kind == ATTRIBUTE_CM_REP) {
        refuse(cm, from, message, CM_INVALID_COMM_ID, CM_ANSWERS_REP);
    } else if (message->kind == ATTRIBUTE_CM_DREQ) {
        answer.kind = ATTRIBUTE_CM_DREP;
        cm_send(cm, from, &answer);
    } else if (message->kind == ATTRIBUTE_CM_LAP) {
        answer.kind = ATTRIBUTE_CM_APR;
        answer.status = CM_LOAD_INVALID_COMM_ID;
        cm_send(cm, from, &answer);
    }
}

void cm_receive(struct cm *cm, uint64_t now, const uint8_t mad[MAD_BYTES],
                const struct cm_address *from)
{
    struct cm_message message;
    cm->from = from;
    cm->counters.received++;
    if (cm_decode(&message, mad)) {
        cm->counters.malformed++;
        return;
    }
    if (message.kind == ATTRIBUTE_CM_REQ) {
        receive_req(cm, now, &message, from);
        return;
    }
    if (message.kind == ATTRIBUTE_CM_SIDR_REQ) {
        receive_sidr_req(cm, &message, from);
        return;
    }
    struct connection *connection = find(cm, &message);
    if (!connection) {
        receive_unknown(cm, &message, from);
        return;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].kind == message.kind && table[i].states >> connection->state & 1) {
            table[i].act(cm, connection, now, &message);
            return;
        }
    cm->counters.unexpected++;
}
