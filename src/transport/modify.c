/* The states of a QP and the attributes that each transition needs (10.3.1 and table 91
 * of 11.2.5.2).
 *
 * A row has the attributes that must and those that may be set, for each service. Transitions to
 * Reset and Error exist from every state and take no attributes; the core itself enters Error and
 * SQE.
 *
 * The attributes of the primary path are `path`, `port`, `p_key_index` and `timeout`; an alternate
 * path has its own in `alternate`. */
#include "transport/internal.h"

#include <errno.h>

const char *const transport_state_names[TRANSPORT_STATES] = {"Reset", "Init", "RTR",  "RTS",
                                                             "SQD",   "SQE",  "Error"};

enum { UD = 1, UC = 2, RC = 4, CONNECTED = UC | RC };

struct transition {
    uint8_t from, to, services;
    uint32_t required, optional;
};

#define ADDRESS (ATTRIBUTE_P_KEY_INDEX | ATTRIBUTE_PORT)
#define PEER    (ATTRIBUTE_PATH | ATTRIBUTE_MTU | ATTRIBUTE_DEST_QP | ATTRIBUTE_RECEIVE_PSN)
#define MOVE    (ATTRIBUTE_ALTERNATE | ATTRIBUTE_ACCESS | ATTRIBUTE_MIGRATION)

static const struct transition transitions[] = {
    {STATE_RESET, STATE_INIT, UD, ADDRESS | ATTRIBUTE_Q_KEY, 0},
    {STATE_RESET, STATE_INIT, CONNECTED, ADDRESS | ATTRIBUTE_ACCESS, 0},
    {STATE_INIT, STATE_INIT, UD, 0, ADDRESS | ATTRIBUTE_Q_KEY},
    {STATE_INIT, STATE_INIT, CONNECTED, 0, ADDRESS | ATTRIBUTE_ACCESS},
    {STATE_INIT, STATE_RTR, UD, 0, ATTRIBUTE_P_KEY_INDEX | ATTRIBUTE_Q_KEY},
    {STATE_INIT, STATE_RTR, UC, PEER,
     ATTRIBUTE_ALTERNATE | ATTRIBUTE_ACCESS | ATTRIBUTE_P_KEY_INDEX},
    {STATE_INIT, STATE_RTR, RC, PEER | ATTRIBUTE_READS_ACCEPTED | ATTRIBUTE_RNR_TIMER,
     ATTRIBUTE_ALTERNATE | ATTRIBUTE_ACCESS | ATTRIBUTE_P_KEY_INDEX},
    {STATE_RTR, STATE_RTS, UD, ATTRIBUTE_SEND_PSN, ATTRIBUTE_CURRENT_STATE | ATTRIBUTE_Q_KEY},
    {STATE_RTR, STATE_RTS, UC, ATTRIBUTE_SEND_PSN, ATTRIBUTE_CURRENT_STATE | MOVE},
    {STATE_RTR, STATE_RTS, RC,
     ATTRIBUTE_SEND_PSN | ATTRIBUTE_TIMEOUT | ATTRIBUTE_RETRY_COUNT | ATTRIBUTE_RNR_RETRY |
         ATTRIBUTE_READS,
     ATTRIBUTE_CURRENT_STATE | MOVE | ATTRIBUTE_RNR_TIMER},
    {STATE_RTS, STATE_RTS, UD, 0, ATTRIBUTE_CURRENT_STATE | ATTRIBUTE_Q_KEY},
    {STATE_RTS, STATE_RTS, UC, 0, ATTRIBUTE_CURRENT_STATE | MOVE},
    {STATE_RTS, STATE_RTS, RC, 0, ATTRIBUTE_CURRENT_STATE | MOVE | ATTRIBUTE_RNR_TIMER},
    {STATE_RTS, STATE_SQD, UD | CONNECTED, 0, ATTRIBUTE_DRAIN_EVENT},
    {STATE_SQD, STATE_RTS, UD, 0, ATTRIBUTE_CURRENT_STATE | ATTRIBUTE_Q_KEY},
    {STATE_SQD, STATE_RTS, UC, 0, ATTRIBUTE_CURRENT_STATE | MOVE},
    {STATE_SQD, STATE_RTS, RC, 0, ATTRIBUTE_CURRENT_STATE | MOVE | ATTRIBUTE_RNR_TIMER},
    {STATE_SQD, STATE_SQD, UD, 0, ATTRIBUTE_P_KEY_INDEX | ATTRIBUTE_Q_KEY},
    {STATE_SQD, STATE_SQD, UC, 0, ATTRIBUTE_PATH | ATTRIBUTE_P_KEY_INDEX | MOVE},
    {STATE_SQD, STATE_SQD, RC, 0,
     ATTRIBUTE_PATH | ADDRESS | ATTRIBUTE_TIMEOUT | ATTRIBUTE_RETRY_COUNT | ATTRIBUTE_RNR_RETRY |
         ATTRIBUTE_READS | ATTRIBUTE_READS_ACCEPTED | ATTRIBUTE_RNR_TIMER | MOVE},
    {STATE_SQE, STATE_RTS, UD, 0, ATTRIBUTE_CURRENT_STATE | ATTRIBUTE_Q_KEY},
    {STATE_SQE, STATE_RTS, UC, 0, ATTRIBUTE_CURRENT_STATE | ATTRIBUTE_ACCESS},
};

bool transport_transition(unsigned service, unsigned from, unsigned to, uint32_t *required,
                          uint32_t *optional)
{
    static const uint8_t services[] = {
        [TRANSPORT_RC] = RC, [TRANSPORT_UC] = UC, [TRANSPORT_UD] = UD};
    *required = *optional = 0;
    if (service >= sizeof services || !services[service] || from >= TRANSPORT_STATES)
        return false;
    if (to == STATE_RESET || to == STATE_ERROR)
        return !(service == TRANSPORT_RC && from == STATE_SQE);
    for (size_t i = 0; i < sizeof transitions / sizeof *transitions; i++) {
        const struct transition *row = &transitions[i];
        if (row->from == from && row->to == to && row->services & services[service]) {
            *required = row->required;
            *optional = row->optional;
            return true;
        }
    }
    return false;
}

static const char *const attribute_names[] = {
    "state",       "current state", "drain event",    "access",    "P_Key index",
    "port",        "Q_Key",         "path",           "MTU",       "time-out",
    "retry count", "RNR retry",     "receive PSN",    "READs",     "alternate path",
    "RNR timer",   "send PSN",      "READs accepted", "migration", "destination QP",
};

static const char *first_name(uint32_t mask)
{
    unsigned bit = (unsigned)__builtin_ctz(mask);
    return bit < sizeof attribute_names / sizeof *attribute_names ? attribute_names[bit]
                                                                  : "unknown attribute";
}

static bool path_valid(const struct transport_path *path)
{
    return path->dlid != 0 && path->sl < SERVICE_LEVELS && path->path_bits < 128;
}

static bool is_port(const struct transport *transport, unsigned port)
{
    return port >= 1 && port <= transport->config.ports;
}

/* The table of the port has this entry. */
static bool is_p_key_index(const struct transport *transport, unsigned port, unsigned index)
{
    return is_port(transport, port) && index < transport->ports[port].p_keys.count;
}

static bool is_mtu(unsigned mtu)
{
    return mtu >= 256 && mtu <= TRANSPORT_MTU_MAX && (mtu & (mtu - 1)) == 0;
}

/* The attributes of `mask` that are out of range. */
static uint32_t bad_attributes(const struct transport *transport, const struct qp *qp,
                               const struct transport_qp_attributes *new, uint32_t mask)
{
    const struct transport_path *alternate = &new->alternate;
    const struct transport_qp_attributes *now = &qp->attributes;
    unsigned port = mask & ATTRIBUTE_PORT ? new->port : now->port;
    uint32_t bad = 0;
#define CHECK(bit, condition) (bad |= (mask & (bit)) && !(condition) ? (bit) : 0)
    CHECK(ATTRIBUTE_CURRENT_STATE, (new->current_state == now->state));
    CHECK(ATTRIBUTE_ACCESS, (new->access & ~(RIGHT_LOCAL_WRITE | RIGHT_REMOTE_WRITE |
                                             RIGHT_REMOTE_READ | RIGHT_REMOTE_ATOMIC)) == 0);
    CHECK(ATTRIBUTE_PORT, is_port(transport, new->port));
    CHECK(ATTRIBUTE_P_KEY_INDEX, is_p_key_index(transport, port, new->p_key_index));
    CHECK(ATTRIBUTE_PATH, path_valid(&new->path));
    CHECK(ATTRIBUTE_MTU, is_mtu(new->mtu));
    CHECK(ATTRIBUTE_TIMEOUT, new->timeout < 32);
    CHECK(ATTRIBUTE_RETRY_COUNT, new->retry_count < 8);
    CHECK(ATTRIBUTE_RNR_RETRY, new->rnr_retry < 8);
    CHECK(ATTRIBUTE_RNR_TIMER, new->rnr_timer < 32);
    CHECK(ATTRIBUTE_READS, new->reads <= TRANSPORT_READS_MAX);
    CHECK(ATTRIBUTE_READS_ACCEPTED, new->reads_accepted <= TRANSPORT_READS_MAX);
    CHECK(ATTRIBUTE_RECEIVE_PSN, new->receive_psn <= TRANSPORT_PSN_MASK);
    CHECK(ATTRIBUTE_SEND_PSN, new->send_psn <= TRANSPORT_PSN_MASK);
    CHECK(ATTRIBUTE_DEST_QP, new->dest_qp <= TRANSPORT_QP_MASK);
    CHECK(ATTRIBUTE_ALTERNATE,
          path_valid(alternate) && alternate->timeout < 32 &&
              is_p_key_index(transport, alternate->port, alternate->p_key_index));
    /* Rearm needs an alternate path; only the core enters Armed. Migrated from Armed migrates. */
    CHECK(ATTRIBUTE_MIGRATION, new->migration == MIGRATION_MIGRATED ||
                                   (new->migration == MIGRATION_REARM &&
                                    (mask & ATTRIBUTE_ALTERNATE || path_valid(&now->alternate))));
#undef CHECK
    return bad;
}

static void set_attributes(struct transport_qp_attributes *now,
                           const struct transport_qp_attributes *new, uint32_t mask)
{
#define SET(bit, member) ((mask & (bit)) ? (void)(now->member = new->member) : (void)0)
    SET(ATTRIBUTE_DRAIN_EVENT, drain_event);
    SET(ATTRIBUTE_ACCESS, access);
    SET(ATTRIBUTE_P_KEY_INDEX, p_key_index);
    SET(ATTRIBUTE_PORT, port);
    SET(ATTRIBUTE_Q_KEY, q_key);
    SET(ATTRIBUTE_PATH, path);
    SET(ATTRIBUTE_MTU, mtu);
    SET(ATTRIBUTE_TIMEOUT, timeout);
    SET(ATTRIBUTE_RETRY_COUNT, retry_count);
    SET(ATTRIBUTE_RNR_RETRY, rnr_retry);
    SET(ATTRIBUTE_RECEIVE_PSN, receive_psn);
    SET(ATTRIBUTE_READS, reads);
    SET(ATTRIBUTE_ALTERNATE, alternate);
    SET(ATTRIBUTE_RNR_TIMER, rnr_timer);
    SET(ATTRIBUTE_SEND_PSN, send_psn);
    SET(ATTRIBUTE_READS_ACCEPTED, reads_accepted);
    SET(ATTRIBUTE_DEST_QP, dest_qp);
#undef SET
}

static void reset(struct transport *transport, struct qp *qp)
{
    qp_drop_work(transport, qp);
    qp_set_timer(transport, qp, TIMER_OFF, TIME_NEVER);
    qp->attributes = (struct transport_qp_attributes){.state = STATE_RESET};
    qp->next_ssn = 1;
    qp->limit_ssn = 0;
    qp->reads_outstanding = 0;
    qp->response_asked = qp->nak_sent = qp->established = false;
    qp->draining = qp->drain_reported = qp->turn = false;
    qp->unasked = 0;
    qp->owed = OWED_NOTHING;
    qp->message = MESSAGE_NONE;
    qp->msn = 0;
    qp->message_bytes = qp->write_bytes = 0;
}

static void enter(struct transport *transport, struct qp *qp, unsigned state)
{
    struct transport_qp_attributes *attributes = &qp->attributes;
    unsigned from = attributes->state;
    attributes->state = (uint8_t)state;
    switch (state) {
    case STATE_RTR: qp->expected_psn = attributes->receive_psn; break;
    case STATE_RTS:
        if (from == STATE_RTR) {
            qp->unacknowledged_psn = qp->high_psn = qp->send_psn = attributes->send_psn;
            qp->retries_left = attributes->retry_count;
            qp->rnr_retries_left = attributes->rnr_retry;
        }
        qp->draining = false;
        break;
    case STATE_SQD:
        if (from == STATE_RTS) {
            qp->draining = true;
            qp->drain_reported = !attributes->drain_event;
            requester_check_drained(transport, qp);
        }
        break;
    default: break;
    }
    qp_wake(transport, qp);
}

int transport_modify_qp(struct transport *transport, uint64_t now, uint32_t number,
                        const struct transport_qp_attributes *attributes, uint32_t mask,
                        struct err *err)
{
    struct qp *qp = qp_find(transport, number);
    uint32_t required, optional, bad;
    if (!qp)
        return err_set(err, EINVAL, "there is no QP %u", number);
    unsigned from = qp->attributes.state, to = mask & ATTRIBUTE_STATE ? attributes->state : from;
    mask &= ~(uint32_t)ATTRIBUTE_STATE;
    if (to >= TRANSPORT_STATES ||
        !transport_transition(qp->init.service, from, to, &required, &optional))
        return err_set(err, EINVAL, "a QP cannot change from %s to %s", transport_state_names[from],
                       to < TRANSPORT_STATES ? transport_state_names[to] : "an unknown state");
    if (to == STATE_ERROR) {
        if (from != STATE_ERROR)
            qp_enter_error(transport, qp, EVENT_SILENT);
        return 0;
    }
    if (to == STATE_RESET) {
        reset(transport, qp);
        return 0;
    }
    if ((bad = required & ~mask) != 0)
        return err_set(err, EINVAL, "%s to %s needs %s", transport_state_names[from],
                       transport_state_names[to], first_name(bad));
    if ((bad = mask & ~(required | optional)) != 0)
        return err_set(err, EINVAL, "%s to %s cannot set %s", transport_state_names[from],
                       transport_state_names[to], first_name(bad));
    if ((bad = bad_attributes(transport, qp, attributes, mask)) != 0)
        return err_set(err, EINVAL, "%s is out of range", first_name(bad));
    if (mask & ATTRIBUTE_MIGRATION && attributes->migration == MIGRATION_MIGRATED)
        migration_migrate(transport, qp);
    set_attributes(&qp->attributes, attributes, mask);
    if (mask & ATTRIBUTE_MIGRATION)
        qp->attributes.migration = attributes->migration;
    if (from == STATE_INIT && to == STATE_RTR)
        qp->progress_ps = now;
    enter(transport, qp, to);
    return 0;
}
