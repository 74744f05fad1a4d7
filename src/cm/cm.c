/* Connections and their timers, and what leaves the core.
 *
 * A connection has one timer: for the answer to the message that it has sent, for the end of a
 * delay that the other end has announced by MRA, or for the end of TIME_WAIT. */
#include "cm/internal.h"

#include <errno.h>

const char *const cm_state_names[CM_STATES] = {
    "free",         "REQ sent",  "REQ delayed",   "REP received",
    "REQ received", "REP sent",  "REP delayed",   "established",
    "DREQ sent",    "time wait", "SIDR_REQ sent", "SIDR_REQ received",
};

void cm_config_init(struct cm_config *config)
{
    *config = (struct cm_config){
        .first_id = 1, .response = 16, .packet_life = 14, .cm_retries = 7, .connections = 65536};
}

struct cm *cm_new(const struct cm_config *config)
{
    struct cm *cm = mem_zalloc(1, sizeof *cm);
    assert(config->cm_retries <= 15 && config->response <= 31 && config->packet_life <= 31);
    cm->config = *config;
    cm->next_id = config->first_id ? config->first_id : 1;
    return cm;
}

void cm_free(struct cm *cm)
{
    if (!cm)
        return;
    pool_release(&cm->connections);
    map_release(&cm->by_id);
    map_release(&cm->services);
    for (unsigned i = 0; i < CHAINS; i++)
        map_release(&cm->chains[i]);
    vec_release(&cm->deadlines);
    vec_release(&cm->outputs);
    vec_release(&cm->events);
    mem_free(cm);
}

/* ---- services ---- */

bool cm_serves(const struct cm *cm, uint64_t service_id)
{
    return map_get(&cm->services, service_id) != MAP_NONE;
}

int cm_listen(struct cm *cm, uint64_t service_id)
{
    if (cm_serves(cm, service_id))
        return -EEXIST;
    map_set(&cm->services, service_id, 0);
    return 0;
}

int cm_unlisten(struct cm *cm, uint64_t service_id)
{
    return map_remove(&cm->services, service_id) ? 0 : -ENOENT;
}

/* ---- connections ---- */

struct connection *connection_new(struct cm *cm)
{
    if (cm->used >= cm->config.connections)
        return NULL;
    while (cm->next_id == 0 || map_get(&cm->by_id, cm->next_id) != MAP_NONE)
        cm->next_id++;
    uint32_t number = pool_take(&cm->connections);
    struct connection *connection = &cm->connections.items[number];
    *connection = (struct connection){.id = cm->next_id++, .deadline = TIME_NEVER};
    map_set(&cm->by_id, connection->id, number);
    cm->used++;
    return connection;
}

struct connection *connection_of(const struct cm *cm, uint32_t id)
{
    uint32_t number = map_get(&cm->by_id, id);
    return number == MAP_NONE ? NULL : &cm->connections.items[number];
}

void connection_drop(struct cm *cm, struct connection *connection)
{
    map_remove(&cm->by_id, connection->id);
    chain_remove(cm, connection, BY_PEER);
    chain_remove(cm, connection, BY_QP);
    set_deadline(cm, connection, TIME_NEVER);
    connection->state = CM_FREE;
    cm->used--;
    pool_give(&cm->connections, (uint32_t)(connection - cm->connections.items));
}

void connection_wait(struct cm *cm, struct connection *connection, uint64_t now)
{
    connection->state = CM_TIME_WAIT;
    connection->load = LOAD_IDLE;
    set_deadline(cm, connection, now + cm_time_ps(connection->ack_timeout));
}

enum cm_state cm_state(const struct cm *cm, uint32_t id)
{
    const struct connection *connection = connection_of(cm, id);
    return connection ? connection->state : CM_FREE;
}

size_t cm_connections(const struct cm *cm)
{
    return cm->used;
}

const struct cm_counters *cm_counters(const struct cm *cm)
{
    return &cm->counters;
}

/* ---- out ---- */

static void push_output(struct cm *cm, const struct cm_address *to, const uint8_t *mad)
{
    struct cm_output output = {.to = *to};
    memcpy(output.mad, mad, MAD_BYTES);
    vec_push(&cm->outputs, output);
    cm->counters.sent++;
}

void cm_send(struct cm *cm, const struct cm_address *to, const struct cm_message *message)
{
    uint8_t mad[MAD_BYTES];
    cm_encode(message, mad);
    cm->counters.rejects_sent += message->kind == ATTRIBUTE_CM_REJ;
    push_output(cm, to, mad);
}

void cm_send_kept(struct cm *cm, struct connection *connection, const struct cm_message *message)
{
    cm_encode(message, connection->mad);
    push_output(cm, &connection->address, connection->mad);
}

void cm_send_request(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message)
{
    connection->tid = message->tid;
    connection->retries_left = connection->cm_retries;
    set_deadline(cm, connection, now + connection->answer_ps);
    cm_send_kept(cm, connection, message);
}

void cm_send_again(struct cm *cm, const struct connection *connection)
{
    cm->counters.repeated++;
    push_output(cm, &connection->address, connection->mad);
}

struct cm_message cm_begin(const struct connection *connection, unsigned kind)
{
    return (struct cm_message){.kind = (uint16_t)kind,
                               .tid = connection->tid,
                               .local_id = connection->id,
                               .remote_id = connection->remote_id};
}

void cm_send_delay(struct cm *cm, const struct connection *connection)
{
    struct cm_message delay = cm_begin(connection, ATTRIBUTE_CM_MRA);
    delay.answers = connection->load == LOAD_RECEIVED      ? CM_ANSWERS_OTHER
                    : connection->state == CM_REQ_RECEIVED ? CM_ANSWERS_REQ
                                                           : CM_ANSWERS_REP;
    delay.service_timeout = connection->service_timeout;
    cm_send(cm, &connection->address, &delay);
}

void cm_release(struct cm *cm, struct connection *connection, uint64_t now)
{
    struct cm_message message = cm_begin(connection, ATTRIBUTE_CM_DREQ);
    message.tid = ++cm->tid;
    message.remote_qpn = connection->remote_qpn;
    connection->state = CM_DREQ_SENT;
    connection->load = LOAD_IDLE;
    cm_send_request(cm, connection, now, &message);
}

bool cm_next_output(struct cm *cm, struct cm_output *output)
{
    if (cm->outputs_taken == cm->outputs.count) {
        cm->outputs_taken = cm->outputs.count = 0;
        return false;
    }
    *output = cm->outputs.items[cm->outputs_taken++];
    return true;
}

void cm_report(struct cm *cm, unsigned kind, const struct connection *connection,
               const struct cm_message *message)
{
    struct cm_event event = {
        .kind = (uint8_t)kind, .id = connection->id, .from = connection->address};
    if (message)
        event.message = *message;
    vec_push(&cm->events, event);
}

bool cm_next_event(struct cm *cm, struct cm_event *event)
{
    if (cm->events_taken == cm->events.count) {
        cm->events_taken = cm->events.count = 0;
        return false;
    }
    *event = cm->events.items[cm->events_taken++];
    return true;
}

/* ---- time ---- */

/* No answer has come to all transmissions of a message, or within an announced delay. */
static void give_up(struct cm *cm, struct connection *connection, uint64_t now)
{
    struct cm_message reject = cm_begin(connection, ATTRIBUTE_CM_REJ);
    switch (connection->state) {
    case CM_DREQ_SENT:
        cm_report(cm, CM_EVENT_DISCONNECTED, connection, NULL);
        connection_wait(cm, connection, now);
        return;
    case CM_ESTABLISHED: /* of LAP */
        connection->load = LOAD_IDLE;
        set_deadline(cm, connection, TIME_NEVER);
        cm_report(cm, CM_EVENT_ALTERNATE_ANSWERED, connection, NULL);
        return;
    case CM_SIDR_SENT: break;
    default:
        reject.reason = CM_TIMED_OUT;
        reject.answers = CM_ANSWERS_OTHER;
        reject.information_bytes = 8;
        wire_set_bits(reject.information, 0, 64, cm->config.ca_guid);
        cm_send(cm, &connection->address, &reject);
    }
    cm->counters.unreachable++;
    cm_report(cm, CM_EVENT_UNREACHABLE, connection, NULL);
    connection_drop(cm, connection);
}

static void expire(struct cm *cm, struct connection *connection, uint64_t now)
{
    bool delayed = connection->state == CM_REQ_DELAYED || connection->state == CM_REP_DELAYED;
    if (connection->state == CM_TIME_WAIT) {
        cm_report(cm, CM_EVENT_RELEASED, connection, NULL);
        connection_drop(cm, connection);
    } else if (delayed || connection->retries_left == 0) {
        give_up(cm, connection, now);
    } else {
        connection->retries_left--;
        set_deadline(cm, connection, now + connection->answer_ps);
        cm_send_again(cm, connection);
    }
}

void cm_expire(struct cm *cm, uint64_t now)
{
    for (struct connection *connection; (connection = connection_due(cm, now)) != NULL;)
        expire(cm, connection, now);
}
