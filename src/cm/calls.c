/* What the owner does with connections: each call checks the state, sends its message and enters
 * the next state. */
#include "cm/internal.h"

#include <errno.h>

static struct connection *in_state(const struct cm *cm, uint32_t id, unsigned state)
{
    struct connection *connection = connection_of(cm, id);
    return connection && connection->state == state ? connection : NULL;
}

/* A new connection, or a new query, which end in the same way if there is no answer. */
static uint32_t call(struct cm *cm, uint64_t now, const struct cm_message *request, unsigned kind,
                     unsigned state, const struct cm_address *to)
{
    struct connection *connection = connection_new(cm);
    struct cm_message message = *request;
    if (!connection)
        return 0;
    message.kind = (uint16_t)kind;
    message.tid = ++cm->tid;
    message.local_id = connection->id;
    message.ca_guid = cm->config.ca_guid;
    message.local_timeout = message.remote_timeout = cm->config.response;
    message.cm_retries = cm->config.cm_retries;
    connection->active = true;
    connection->state = (uint8_t)state;
    connection->address = *to;
    connection->local_qpn = request->qpn;
    connection->cm_retries = cm->config.cm_retries;
    connection->ack_timeout = request->primary.ack_timeout;
    connection->answer_ps =
        cm_time_ps(cm->config.response) + 2 * cm_time_ps(cm->config.packet_life);
    uint32_t id = connection->id;
    cm_send_request(cm, connection, now, &message);
    return id;
}

uint32_t cm_connect(struct cm *cm, uint64_t now, const struct cm_message *request,
                    const struct cm_address *to)
{
    return call(cm, now, request, ATTRIBUTE_CM_REQ, CM_REQ_SENT, to);
}

int cm_accept(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *reply)
{
    struct connection *connection = in_state(cm, id, CM_REQ_RECEIVED);
    struct cm_message message = *reply;
    if (!connection)
        return -EINVAL;
    message.kind = ATTRIBUTE_CM_REP;
    message.tid = connection->tid;
    message.local_id = id;
    message.remote_id = connection->remote_id;
    message.ca_guid = cm->config.ca_guid;
    connection->local_qpn = reply->qpn;
    connection->state = CM_REP_SENT;
    connection->replied_late = false;
    cm_send_request(cm, connection, now, &message);
    return 0;
}

int cm_reject(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *because)
{
    struct connection *connection = connection_of(cm, id);
    (void)now;
    if (!connection ||
        (connection->state != CM_REQ_RECEIVED && connection->state != CM_REP_RECEIVED))
        return -EINVAL;
    struct cm_message message = *because;
    message.kind = ATTRIBUTE_CM_REJ;
    message.tid = connection->tid;
    message.local_id = id;
    message.remote_id = connection->remote_id;
    message.answers = connection->state == CM_REQ_RECEIVED ? CM_ANSWERS_REQ : CM_ANSWERS_REP;
    cm_send(cm, &connection->address, &message);
    connection_drop(cm, connection);
    return 0;
}

int cm_delay(struct cm *cm, uint64_t now, uint32_t id, unsigned service_timeout)
{
    struct connection *connection = connection_of(cm, id);
    (void)now;
    if (!connection || service_timeout > 31 ||
        (connection->state != CM_REQ_RECEIVED && connection->state != CM_REP_RECEIVED &&
         !(connection->state == CM_ESTABLISHED && connection->load == LOAD_RECEIVED)))
        return -EINVAL;
    connection->replied_late = true;
    connection->service_timeout = (uint8_t)service_timeout;
    cm_send_delay(cm, connection);
    return 0;
}

int cm_confirm(struct cm *cm, uint64_t now, uint32_t id)
{
    struct connection *connection = in_state(cm, id, CM_REP_RECEIVED);
    (void)now;
    if (!connection)
        return -EINVAL;
    struct cm_message message = cm_begin(connection, ATTRIBUTE_CM_RTU);
    connection->state = CM_ESTABLISHED;
    connection->replied_late = false;
    cm_send(cm, &connection->address, &message);
    return 0;
}

int cm_established(struct cm *cm, uint64_t now, uint32_t id)
{
    struct connection *connection = connection_of(cm, id);
    (void)now;
    if (!connection || (connection->state != CM_REP_SENT && connection->state != CM_REP_DELAYED))
        return -EINVAL;
    connection->state = CM_ESTABLISHED;
    set_deadline(cm, connection, TIME_NEVER);
    cm_report(cm, CM_EVENT_ESTABLISHED, connection, NULL);
    return 0;
}

int cm_disconnect(struct cm *cm, uint64_t now, uint32_t id)
{
    struct connection *connection = in_state(cm, id, CM_ESTABLISHED);
    if (!connection)
        return -EINVAL;
    cm_release(cm, connection, now);
    return 0;
}

int cm_readdress(struct cm *cm, uint32_t id, const struct cm_address *to)
{
    struct connection *connection = connection_of(cm, id);
    if (!connection)
        return -EINVAL;
    connection->address = *to;
    return 0;
}

int cm_load_alternate(struct cm *cm, uint64_t now, uint32_t id, const struct cm_path *path)
{
    struct connection *connection = in_state(cm, id, CM_ESTABLISHED);
    if (!connection || !connection->active || connection->load != LOAD_IDLE)
        return -EINVAL;
    struct cm_message message = cm_begin(connection, ATTRIBUTE_CM_LAP);
    message.tid = ++cm->tid;
    message.remote_qpn = connection->remote_qpn;
    message.remote_timeout = cm->config.response;
    message.alternate = *path;
    connection->load = LOAD_SENT;
    cm_send_request(cm, connection, now, &message);
    return 0;
}

int cm_answer_alternate(struct cm *cm, uint64_t now, uint32_t id, enum cm_load_status status)
{
    struct connection *connection = in_state(cm, id, CM_ESTABLISHED);
    (void)now;
    if (!connection || connection->load != LOAD_RECEIVED)
        return -EINVAL;
    struct cm_message message = cm_begin(connection, ATTRIBUTE_CM_APR);
    message.status = (uint8_t)status;
    connection->load = LOAD_ANSWERED;
    connection->replied_late = false;
    cm_send_kept(cm, connection, &message);
    return 0;
}

uint32_t cm_resolve(struct cm *cm, uint64_t now, const struct cm_message *request,
                    const struct cm_address *to)
{
    return call(cm, now, request, ATTRIBUTE_CM_SIDR_REQ, CM_SIDR_SENT, to);
}

int cm_answer_service(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *answer)
{
    struct connection *connection = in_state(cm, id, CM_SIDR_RECEIVED);
    struct cm_message message = *answer;
    (void)now;
    if (!connection)
        return -EINVAL;
    message.kind = ATTRIBUTE_CM_SIDR_REP;
    message.tid = connection->tid;
    message.remote_id = connection->remote_id;
    cm_send(cm, &connection->address, &message);
    connection_drop(cm, connection);
    return 0;
}
