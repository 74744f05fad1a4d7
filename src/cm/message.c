/* Encodes and decodes messages of communication management, by one table that says which field of
 * a message is which member of `struct cm_message`. */
#include "cm/message.h"

#include "base/time.h"
#include "wire/member.h"

#include <errno.h>

#define MEMBER(field, member) WIRE_MEMBER(field, struct cm_message, member)
/* NOLINTBEGIN(bugprone-macro-parentheses): a member's name cannot have parentheses. */
#define PATH_MEMBERS(field, path)                                                                  \
    MEMBER(field##_LOCAL_LID, path.local_lid), MEMBER(field##_REMOTE_LID, path.remote_lid),        \
        MEMBER(field##_LOCAL_GID, path.local_gid), MEMBER(field##_REMOTE_GID, path.remote_gid),    \
        MEMBER(field##_FLOW_LABEL, path.flow_label), MEMBER(field##_RATE, path.rate),              \
        MEMBER(field##_TRAFFIC_CLASS, path.traffic_class),                                         \
        MEMBER(field##_HOP_LIMIT, path.hop_limit), MEMBER(field##_SL, path.sl),                    \
        MEMBER(field##_SUBNET_LOCAL, path.subnet_local),                                           \
        MEMBER(field##_ACK_TIMEOUT, path.ack_timeout)
/* NOLINTEND(bugprone-macro-parentheses) */
#define ID_MEMBERS(kind)                                                                           \
    MEMBER(kind##_LOCAL_ID, local_id), MEMBER(kind##_REMOTE_ID, remote_id),                        \
        MEMBER(kind##_PRIVATE_DATA, private_data)
#define INFORMATION_MEMBERS(kind)                                                                  \
    MEMBER(kind##_INFORMATION_BYTES, information_bytes), MEMBER(kind##_INFORMATION, information)

static const struct wire_member members[] = {
    MEMBER(CM_REQ_LOCAL_ID, local_id),
    MEMBER(CM_REQ_SERVICE_ID, service_id),
    MEMBER(CM_REQ_CA_GUID, ca_guid),
    MEMBER(CM_REQ_Q_KEY, q_key),
    MEMBER(CM_REQ_QPN, qpn),
    MEMBER(CM_REQ_RESPONDER_RESOURCES, responder_resources),
    MEMBER(CM_REQ_INITIATOR_DEPTH, initiator_depth),
    MEMBER(CM_REQ_REMOTE_RESPONSE_TIMEOUT, remote_timeout),
    MEMBER(CM_REQ_SERVICE, service),
    MEMBER(CM_REQ_FLOW_CONTROL, flow_control),
    MEMBER(CM_REQ_STARTING_PSN, starting_psn),
    MEMBER(CM_REQ_LOCAL_RESPONSE_TIMEOUT, local_timeout),
    MEMBER(CM_REQ_RETRY_COUNT, retry_count),
    MEMBER(CM_REQ_P_KEY, p_key),
    MEMBER(CM_REQ_MTU, mtu),
    MEMBER(CM_REQ_RNR_RETRY, rnr_retry),
    MEMBER(CM_REQ_CM_RETRIES, cm_retries),
    MEMBER(CM_REQ_SRQ, srq),
    MEMBER(CM_REQ_EXTENDED_SERVICE, extended_service),
    PATH_MEMBERS(CM_REQ_PRIMARY, primary),
    PATH_MEMBERS(CM_REQ_ALTERNATE, alternate),
    MEMBER(CM_REQ_PRIVATE_DATA, private_data),
    ID_MEMBERS(CM_MRA),
    MEMBER(CM_MRA_MESSAGE, answers),
    MEMBER(CM_MRA_SERVICE_TIMEOUT, service_timeout),
    ID_MEMBERS(CM_REJ),
    MEMBER(CM_REJ_MESSAGE, answers),
    MEMBER(CM_REJ_REASON, reason),
    INFORMATION_MEMBERS(CM_REJ),
    ID_MEMBERS(CM_REP),
    MEMBER(CM_REP_Q_KEY, q_key),
    MEMBER(CM_REP_QPN, qpn),
    MEMBER(CM_REP_STARTING_PSN, starting_psn),
    MEMBER(CM_REP_RESPONDER_RESOURCES, responder_resources),
    MEMBER(CM_REP_INITIATOR_DEPTH, initiator_depth),
    MEMBER(CM_REP_ACK_DELAY, ack_delay),
    MEMBER(CM_REP_FAILOVER, failover),
    MEMBER(CM_REP_FLOW_CONTROL, flow_control),
    MEMBER(CM_REP_RNR_RETRY, rnr_retry),
    MEMBER(CM_REP_SRQ, srq),
    MEMBER(CM_REP_CA_GUID, ca_guid),
    ID_MEMBERS(CM_RTU),
    ID_MEMBERS(CM_DREQ),
    MEMBER(CM_DREQ_REMOTE_QPN, remote_qpn),
    ID_MEMBERS(CM_DREP),
    MEMBER(CM_SIDR_REQ_LOCAL_ID, local_id),
    MEMBER(CM_SIDR_REQ_P_KEY, p_key),
    MEMBER(CM_SIDR_REQ_SERVICE_ID, service_id),
    MEMBER(CM_SIDR_REQ_PRIVATE_DATA, private_data),
    MEMBER(CM_SIDR_REP_REMOTE_ID, remote_id),
    MEMBER(CM_SIDR_REP_STATUS, status),
    MEMBER(CM_SIDR_REP_QPN, qpn),
    MEMBER(CM_SIDR_REP_SERVICE_ID, service_id),
    MEMBER(CM_SIDR_REP_Q_KEY, q_key),
    INFORMATION_MEMBERS(CM_SIDR_REP),
    MEMBER(CM_SIDR_REP_PRIVATE_DATA, private_data),
    ID_MEMBERS(CM_LAP),
    MEMBER(CM_LAP_REMOTE_QPN, remote_qpn),
    MEMBER(CM_LAP_REMOTE_RESPONSE_TIMEOUT, remote_timeout),
    PATH_MEMBERS(CM_LAP_ALTERNATE, alternate),
    ID_MEMBERS(CM_APR),
    MEMBER(CM_APR_STATUS, status),
    INFORMATION_MEMBERS(CM_APR),
};
enum { MEMBERS = sizeof members / sizeof *members };

static const struct {
    uint8_t attribute; /* enum wire_attribute */
    uint16_t private_data;
} kinds[] = {
    [ATTRIBUTE_CM_REQ] = {WIRE_CM_REQ, CM_REQ_PRIVATE_DATA},
    [ATTRIBUTE_CM_MRA] = {WIRE_CM_MRA, CM_MRA_PRIVATE_DATA},
    [ATTRIBUTE_CM_REJ] = {WIRE_CM_REJ, CM_REJ_PRIVATE_DATA},
    [ATTRIBUTE_CM_REP] = {WIRE_CM_REP, CM_REP_PRIVATE_DATA},
    [ATTRIBUTE_CM_RTU] = {WIRE_CM_RTU, CM_RTU_PRIVATE_DATA},
    [ATTRIBUTE_CM_DREQ] = {WIRE_CM_DREQ, CM_DREQ_PRIVATE_DATA},
    [ATTRIBUTE_CM_DREP] = {WIRE_CM_DREP, CM_DREP_PRIVATE_DATA},
    [ATTRIBUTE_CM_SIDR_REQ] = {WIRE_CM_SIDR_REQ, CM_SIDR_REQ_PRIVATE_DATA},
    [ATTRIBUTE_CM_SIDR_REP] = {WIRE_CM_SIDR_REP, CM_SIDR_REP_PRIVATE_DATA},
    [ATTRIBUTE_CM_LAP] = {WIRE_CM_LAP, CM_LAP_PRIVATE_DATA},
    [ATTRIBUTE_CM_APR] = {WIRE_CM_APR, CM_APR_PRIVATE_DATA},
};

static bool is_known(unsigned kind)
{
    return kind >= ATTRIBUTE_CM_REQ && kind < sizeof kinds / sizeof *kinds;
}

const char *cm_message_name(unsigned kind)
{
    return is_known(kind) ? wire_attributes[kinds[kind].attribute].name : "?";
}

const char *cm_reason_text(unsigned reason)
{
    static const char *const texts[] = {
        [CM_NO_QP] = "no queue pair available",
        [CM_NO_RESOURCES] = "no resources available",
        [CM_TIMED_OUT] = "no answer in time",
        [CM_UNSUPPORTED] = "unsupported request",
        [CM_INVALID_COMM_ID] = "invalid communication ID",
        [CM_INVALID_SERVICE_ID] = "invalid service ID",
        [CM_INVALID_SERVICE_TYPE] = "invalid transport service type",
        [CM_STALE] = "stale connection",
        [CM_NO_RDC] = "no reliable datagram channel",
        [CM_PRIMARY_GID_REJECTED] = "primary GID rejected",
        [CM_PRIMARY_LID_REJECTED] = "primary LID rejected",
        [CM_INVALID_PRIMARY_SL] = "invalid primary SL",
        [CM_CONSUMER] = "consumer reject",
        [CM_DUPLICATE_COMM_ID] = "duplicate local communication ID",
    };
    const char *text = reason < sizeof texts / sizeof *texts ? texts[reason] : NULL;
    return text ? text : "unknown reason";
}

unsigned cm_private_data_bytes(unsigned kind)
{
    return is_known(kind) ? wire_fields[kinds[kind].private_data].count : 0;
}

void cm_encode(const struct cm_message *message, uint8_t mad[MAD_BYTES])
{
    uint8_t *data = mad + MAD_HEADER_BYTES;
    assert(is_known(message->kind));
    memset(mad, 0, MAD_BYTES);
    wire_set(mad, MAD_BASE_VERSION, 1);
    wire_set(mad, MAD_CLASS, CLASS_CM);
    wire_set(mad, MAD_CLASS_VERSION, CM_CLASS_VERSION);
    wire_set(mad, MAD_METHOD, METHOD_SEND);
    wire_set(mad, MAD_TID, message->tid);
    wire_set(mad, MAD_ATTRIBUTE_ID, message->kind);
    wire_put_members(members, MEMBERS, kinds[message->kind].attribute, message, data);
}

int cm_decode(struct cm_message *message, const uint8_t mad[MAD_BYTES])
{
    const uint8_t *data = mad + MAD_HEADER_BYTES;
    unsigned kind = (unsigned)wire_get(mad, MAD_ATTRIBUTE_ID);
    if (wire_get(mad, MAD_CLASS) != CLASS_CM || wire_get(mad, MAD_BASE_VERSION) != 1 ||
        wire_get(mad, MAD_CLASS_VERSION) != CM_CLASS_VERSION ||
        wire_get(mad, MAD_METHOD) != METHOD_SEND || !is_known(kind))
        return -EPROTO;
    *message = (struct cm_message){.kind = (uint16_t)kind, .tid = wire_get(mad, MAD_TID)};
    wire_get_members(members, MEMBERS, kinds[kind].attribute, message, data);
    return message->information_bytes > CM_INFORMATION_BYTES ? -EPROTO : 0;
}

uint64_t cm_time_ps(unsigned exponent)
{
    return UINT64_C(4096) * TIME_NS << (exponent & 31);
}
