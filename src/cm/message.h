/* Messages of communication management, decoded (12.6, 12.8, 12.11).
 *
 * A message is a MAD of class 0x07 that is sent from QP1 to QP1. Its members are those of the
 * specification by the names of wire/cm.def; what a kind of message does not have is 0. */
#ifndef WEFT_CM_MESSAGE_H
#define WEFT_CM_MESSAGE_H

#include "wire/mad.h"

enum {
    CM_CLASS_VERSION = 2,
    CM_INFORMATION_BYTES = 72,   /* of REJ, APR and SIDR_REP */
    CM_PRIVATE_DATA_BYTES = 224, /* at most; each kind of message has its own limit */
};

/* Kinds are the AttributeIDs: ATTRIBUTE_CM_REQ … ATTRIBUTE_CM_APR. "REQ" …, "?" if unknown. */
const char *cm_message_name(unsigned kind);

/* Of a path: as REQ and LAP carry it, "local" is the sender's end. */
struct cm_path {
    uint16_t local_lid, remote_lid; /* local_lid 0: there is no such path */
    uint8_t local_gid[16], remote_gid[16];
    uint32_t flow_label;
    uint8_t rate, traffic_class, hop_limit, sl;
    uint8_t subnet_local; /* 1: packets have no GRH */
    uint8_t ack_timeout;  /* of the QP: 4.096 us * 2^n */
};

/* Which message an MRA or a REJ answers (tables 107 and 108). */
enum cm_answered { CM_ANSWERS_REQ, CM_ANSWERS_REP, CM_ANSWERS_OTHER /* REJ: none; MRA: LAP */ };

/* Why a connection was refused (table 109). */
enum cm_reason {
    CM_NO_QP = 1,
    CM_NO_RESOURCES = 3,
    CM_TIMED_OUT = 4,
    CM_UNSUPPORTED = 5,
    CM_INVALID_COMM_ID = 6,
    CM_INVALID_SERVICE_ID = 8,
    CM_INVALID_SERVICE_TYPE = 9,
    CM_STALE = 10,
    CM_NO_RDC = 11,
    CM_PRIMARY_GID_REJECTED = 12,
    CM_PRIMARY_LID_REJECTED = 13,
    CM_INVALID_PRIMARY_SL = 14,
    CM_CONSUMER = 28,
    CM_DUPLICATE_COMM_ID = 30,
};
const char *cm_reason_text(unsigned reason);

/* Of APR (table 117), and of SIDR_REP (table 121). */
enum cm_load_status { CM_LOADED, CM_LOAD_INVALID_COMM_ID, CM_LOAD_UNSUPPORTED, CM_LOAD_REJECTED };
enum cm_resolve_status {
    CM_RESOLVED,
    CM_RESOLVE_UNSUPPORTED,
    CM_RESOLVE_REJECTED,
    CM_RESOLVE_NO_QP,
    CM_RESOLVE_REDIRECT,
    CM_RESOLVE_BAD_VERSION,
};

struct cm_message {
    uint16_t kind; /* AttributeID */
    uint64_t tid;
    uint32_t local_id, remote_id; /* communication IDs of the sender and of the receiver; in
                                     SIDR_REQ and SIDR_REP the request ID is that of its sender */
    uint64_t service_id, ca_guid;
    uint32_t q_key, qpn, starting_psn;
    uint32_t remote_qpn; /* DREQ, LAP: of the receiver */
    uint16_t p_key;
    uint8_t service;                            /* 0 RC, 1 UC */
    uint8_t extended_service;                   /* 0, unless service is 3 */
    uint8_t responder_resources;                /* READs and atomics that the sender accepts */
    uint8_t initiator_depth;                    /* … and that it has outstanding */
    uint8_t remote_timeout, local_timeout;      /* 4.096 us * 2^n to answer a message */
    uint8_t retry_count, rnr_retry, cm_retries; /* of the QP, and of messages */
    uint8_t flow_control, srq;
    uint8_t mtu;       /* code: 1 is 256 bytes, 5 is 4096 */
    uint8_t ack_delay; /* REP: 4.096 us * 2^n */
    uint8_t failover;  /* REP: 0 the alternate path was accepted, 1 and 2 not */
    uint8_t answers;   /* MRA, REJ: enum cm_answered */
    uint8_t service_timeout;
    uint16_t reason; /* REJ */
    uint8_t status;  /* APR, SIDR_REP */
    uint8_t information_bytes;
    uint8_t information[CM_INFORMATION_BYTES];
    struct cm_path primary, alternate;
    uint8_t private_data[CM_PRIVATE_DATA_BYTES];
};

/* Bytes of private data that a kind of message has. */
unsigned cm_private_data_bytes(unsigned kind);

void cm_encode(const struct cm_message *message, uint8_t mad[MAD_BYTES]);
/* 0, or -EPROTO: another class, version or method, an unknown AttributeID, or lengths beyond the
 * field. Reserved bits are ignored. */
int cm_decode(struct cm_message *message, const uint8_t mad[MAD_BYTES]);

/* The time of an exponent: 4.096 us * 2^n. */
uint64_t cm_time_ps(unsigned exponent);

#endif
