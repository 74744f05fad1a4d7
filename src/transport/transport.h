/* The transport layer of an adapter: queue pairs, memory, completions (chapters 9 to 11).
 *
 * A `struct transport` is one channel adapter. It is fed and drained like the other protocol cores:
 * it has no clock, no descriptors, no callbacks, and the same inputs give the same outputs.
 *
 *   in                           out
 *   work requests                transport_next_packet()   packets for a port
 *   packets: transport_receive() transport_next_access()   what to do with memory
 *   the time: transport_expire() transport_poll()          completions of a CQ, in order
 *   ports: transport_set_port()  transport_next_event()    asynchronous events
 *                                transport_next_violation() for traps 257 and 258
 *
 * Its owner is a simulated adapter or a server that adapts programs to a simulated fabric. After
 * each call that feeds it, transport_ready() says on which SLs there are packets; the owner pulls
 * one when its port can send, so a packet is built as late as possible: acknowledgements that wait
 * for the link are coalesced by themselves. transport_deadline() is the time of the next
 * transport_expire().
 *
 * Memory. The core knows regions, keys and rights, but no bytes. A packet names its payload
 * (`struct transport_payload`): an offset in the message of a work request, or an address in a
 * region, with the `memory` that the owner gave to either. When a packet is accepted, the core asks
 * the owner to place the payload by an access, which names the target in the same way. A simulator
 * without bytes leaves `accesses` false and gets none; atomics return 0 then. Otherwise the owner
 * executes accesses in their order, before it reads completions, and answers each atomic access
 * with transport_answer_atomic(). For UD and UC a send completes when its last packet has been
 * pulled: an owner that moves bytes copies the payload then; for RC it can wait until the packet
 * arrives.
 *
 * Services: RC, UC, UD. Operations: SEND, SEND with immediate or invalidate, RDMA WRITE with and
 * without immediate, RDMA READ, compare and swap, fetch and add. Work requests and attributes
 * have the meaning of the verbs (chapter 11); byte order is the host's.
 *
 * Not modelled: reliable and raw datagrams, extended RC, memory windows, static
 * rates (the owner paces the link). weft-transport(7) explains why.
 *
 * Files: adapter.c creates and schedules, modify.c has the states of a QP, work.c posts and
 * flushes, requester.c sends messages and handles acknowledgements, responder.c receives messages
 * of RC and UC, responses.c sends acknowledgements and READ responses, datagram.c is UD,
 * migration.c moves QPs to their alternate path, memory.c checks keys, completion.c has CQs and
 * events. */
#ifndef WEFT_TRANSPORT_TRANSPORT_H
#define WEFT_TRANSPORT_TRANSPORT_H

#include "base/err.h"
#include "base/time.h"
#include "wire/transport_packet.h"

#define TRANSPORT_NONE UINT32_MAX

enum {
    TRANSPORT_PORTS_MAX = 2,
    TRANSPORT_GRH_ROOM = 40,
    TRANSPORT_FIRST_QP = 2,
    TRANSPORT_READS_MAX = 16, /* READs and atomics outstanding */
};

/* ---- the adapter ---- */

struct transport_config {
    uint8_t ports; /* 1 or 2, numbered from 1 */
    bool accesses; /* the owner moves bytes */
    /* RC: a requester asks for an acknowledgement after so many packets of a message (at its end it
     * always does), and stops at so many unacknowledged PSNs. */
    uint16_t packets_per_acknowledge;
    uint32_t window;
};
/* One port, no accesses, an acknowledgement every 64 packets, a window of 128 PSNs. */
void transport_config_init(struct transport_config *config);

struct transport;
struct transport *transport_new(const struct transport_config *config);
void transport_free(struct transport *transport); /* accepts NULL */

/* What the subnet manager has made of a port. While it is not active nothing is sent or received
 * there. When it ceases to be, it loses its link, too. */
struct transport_port {
    uint16_t lid, mtu; /* mtu: bytes; the longest message of a datagram */
    uint8_t lmc;
    bool active;
};
void transport_set_port(struct transport *transport, unsigned port,
                        const struct transport_port *state);
/* The link of a port went down: QPs that are Armed migrate to an alternate path on another port.
 * For owners that let an active port discard packets without a link. */
void transport_lose_link(struct transport *transport, unsigned port);
/* An entry of the port's P_Key table; 0: none. QPs name the index, of the entries that have been
 * set. Entry 0 begins as 0xFFFF. */
void transport_set_p_key(struct transport *transport, unsigned port, unsigned index,
                         uint16_t p_key);

/* ---- memory ---- */

uint32_t transport_add_domain(struct transport *transport); /* a protection domain */
/* -EBUSY while regions, SRQs or QPs belong to it. */
int transport_remove_domain(struct transport *transport, uint32_t domain);

enum transport_rights {
    RIGHT_LOCAL_WRITE = 1,
    RIGHT_REMOTE_WRITE = 2, /* needs RIGHT_LOCAL_WRITE, as RIGHT_REMOTE_ATOMIC does */
    RIGHT_REMOTE_READ = 4,
    RIGHT_REMOTE_ATOMIC = 8,
};
struct transport_region {
    uint32_t domain;
    uint8_t rights;
    uint64_t start, bytes; /* virtual addresses */
    uint64_t memory;       /* the owner's name of it, in payloads and accesses */
};
/* Registers memory. *key is its L_Key and R_Key: all 32 bits are compared, and the key of a region
 * that was removed stays invalid for 255 more registrations of its slot. -EINVAL: wrong rights,
 * domain or range. */
int transport_add_region(struct transport *transport, const struct transport_region *region,
                         uint32_t *key);
int transport_remove_region(struct transport *transport, uint32_t key); /* -EINVAL: unknown */
/* Registers anew under the same key (10.6.6.3, Reregister). -EINVAL: as above, or unknown; then the
 * region stays as it was. */
int transport_replace_region(struct transport *transport, uint32_t key,
                             const struct transport_region *region);

/* What the owner has to do to memory. */
enum transport_access_kind {
    ACCESS_PLACE,        /* copy `payload` to `offset` of `memory` */
    ACCESS_PLACE_ROUTE,  /* write `route` as a GRH there: UD */
    ACCESS_PLACE_VALUE,  /* write the 8 bytes of `value` there: the result of an atomic operation */
    ACCESS_COMPARE_SWAP, /* 8 bytes, in the byte order of the memory's owner */
    ACCESS_FETCH_ADD,
};
struct transport_access {
    uint8_t kind;   /* enum transport_access_kind */
    uint8_t target; /* PAYLOAD_WORK: `memory` of a work or receive request, or PAYLOAD_REGION */
    uint32_t qp;    /* whose packet caused it */
    uint32_t key;   /* R_Key, for targets in a region by remote access; else 0 */
    uint64_t memory, offset;
    struct transport_payload payload;
    uint64_t value, swap_or_add, compare;
    uint32_t ticket; /* atomics: for transport_answer_atomic() */
    struct transport_global_route route;
};
bool transport_next_access(struct transport *transport, struct transport_access *access);
/* The value before the operation. An answer for a QP that has been reset since is ignored. */
void transport_answer_atomic(struct transport *transport, uint32_t qp, uint32_t ticket,
                             uint64_t original);

/* The owner cannot execute an access of a QP as responder or receiver. RC answers with the NAK
 * "remote operational error"; the QP fails. To be called before the next packet is received. */
void transport_refuse_access(struct transport *transport, uint32_t qp);

/* ---- completions and events ---- */

enum transport_status {
    STATUS_SUCCESS,
    STATUS_LOCAL_LENGTH,
    STATUS_LOCAL_QP_OPERATION,
    STATUS_LOCAL_PROTECTION,
    STATUS_FLUSHED,
    STATUS_BAD_RESPONSE,
    STATUS_REMOTE_INVALID_REQUEST,
    STATUS_REMOTE_ACCESS,
    STATUS_REMOTE_OPERATION,
    STATUS_RETRY_EXCEEDED,
    STATUS_RNR_RETRY_EXCEEDED,
    TRANSPORT_STATUSES,
};
extern const char *const transport_status_names[TRANSPORT_STATUSES];

enum transport_work_operation {
    WORK_SEND,
    WORK_SEND_IMMEDIATE,
    WORK_SEND_INVALIDATE,
    WORK_WRITE,
    WORK_WRITE_IMMEDIATE,
    WORK_READ,
    WORK_COMPARE_SWAP,
    WORK_FETCH_ADD,
    /* Only in completions: */
    WORK_RECEIVE,
    WORK_RECEIVE_WRITE_IMMEDIATE,
};

struct transport_completion {
    uint64_t id; /* of the work or receive request */
    uint32_t qp, bytes;
    uint8_t status;    /* enum transport_status; unless 0 only id, qp, status and operation count */
    uint8_t operation; /* enum transport_work_operation */
    bool has_immediate, invalidated, global; /* global: the first 40 bytes are a GRH */
    bool solicited;
    uint32_t immediate; /* or the R_Key that the sender asked to invalidate */
    /* UD receives: */
    uint32_t source_qp;
    uint16_t slid, p_key_index;
    uint8_t sl, path_bits;
};

/* -EINVAL: capacity is 0. A completion that finds its CQ full is lost: EVENT_CQ_ERROR, and the QP
 * fails. */
int transport_add_cq(struct transport *transport, uint32_t capacity, uint32_t *cq);
/* -EINVAL: capacity is 0, or less than the completions that wait. */
int transport_resize_cq(struct transport *transport, uint32_t cq, uint32_t capacity);
int transport_remove_cq(struct transport *transport, uint32_t cq); /* -EBUSY: in use by QPs */
bool transport_poll(struct transport *transport, uint32_t cq,
                    struct transport_completion *completion);
/* The next completion (or the next solicited or failed one) makes one EVENT_COMPLETION. */
void transport_arm_cq(struct transport *transport, uint32_t cq, bool solicited_only);

enum transport_event_kind {
    EVENT_COMPLETION, /* `object` is a CQ */
    EVENT_CQ_ERROR,
    EVENT_QP_FATAL, /* `object` is a QP, here and below */
    EVENT_QP_INVALID_REQUEST,
    EVENT_QP_ACCESS,
    EVENT_ESTABLISHED, /* a packet arrived in state RTR */
    EVENT_SEND_QUEUE_DRAINED,
    EVENT_LAST_RECEIVE, /* a QP on an SRQ failed and takes nothing more from it */
    EVENT_MIGRATED,
    EVENT_MIGRATION_FAILED,
    EVENT_SRQ_LIMIT, /* `object` is an SRQ */
};
struct transport_event {
    uint8_t kind; /* enum transport_event_kind */
    uint32_t object;
};
bool transport_next_event(struct transport *transport, struct transport_event *event);

/* A packet with a wrong key, from which the owner makes trap 257 or 258. It has been counted and
 * dropped. */
struct transport_violation {
    bool q_key; /* else a P_Key */
    uint8_t port, sl;
    uint16_t slid, dlid;
    uint32_t key;                /* that the packet had */
    uint32_t source_qp, dest_qp; /* source_qp is known of datagrams only, else 0 */
    bool global;
    uint8_t sgid[16], dgid[16];
};
bool transport_next_violation(struct transport *transport, struct transport_violation *violation);

/* ---- queue pairs ---- */

enum transport_state { /* 10.3.1 */
                       STATE_RESET,
                       STATE_INIT,
                       STATE_RTR, /* ready to receive */
                       STATE_RTS, /* ready to send */
                       STATE_SQD, /* send queue drained, or draining */
                       STATE_SQE, /* send queue error: UC and UD */
                       STATE_ERROR,
                       TRANSPORT_STATES,
};
extern const char *const transport_state_names[TRANSPORT_STATES]; /* "Reset" … */

enum transport_migration { /* 17.2.8: by itself MIGRATED; a new alternate path makes it REARM */
                           MIGRATION_MIGRATED,
                           MIGRATION_REARM,
                           MIGRATION_ARMED, /* both ends have shown that they are ready */
};

/* An address vector. The last three members are those of an alternate path; of the primary path
 * they are attributes of the QP. */
struct transport_path {
    uint16_t dlid;
    uint8_t sl, path_bits;
    bool global;
    struct transport_global_route route;
    uint16_t p_key_index;
    uint8_t port, timeout;
};

struct transport_qp_attributes {
    uint8_t state, current_state;
    uint8_t migration;
    uint8_t access; /* remote rights that the QP grants: enum transport_rights */
    uint8_t port;
    uint16_t p_key_index, mtu; /* mtu: bytes */
    uint32_t q_key;
    uint32_t dest_qp, receive_psn, send_psn;
    struct transport_path path, alternate;
    uint8_t retry_count, rnr_retry; /* 0-7; rnr_retry 7: without end */
    uint8_t timeout;                /* RC: 4.096 us * 2^n; 0: never */
    uint8_t rnr_timer;              /* code 0-31 that RNR NAKs of this QP carry */
    uint8_t reads,
        reads_accepted; /* READs and atomics outstanding, as requester and as responder */
    bool drain_event;   /* RTS to SQD: report EVENT_SEND_QUEUE_DRAINED */
};
/* Which attributes a call sets. */
enum transport_attribute {
    ATTRIBUTE_STATE = 1 << 0,
    ATTRIBUTE_CURRENT_STATE = 1 << 1,
    ATTRIBUTE_DRAIN_EVENT = 1 << 2,
    ATTRIBUTE_ACCESS = 1 << 3,
    ATTRIBUTE_P_KEY_INDEX = 1 << 4,
    ATTRIBUTE_PORT = 1 << 5,
    ATTRIBUTE_Q_KEY = 1 << 6,
    ATTRIBUTE_PATH = 1 << 7,
    ATTRIBUTE_MTU = 1 << 8,
    ATTRIBUTE_TIMEOUT = 1 << 9,
    ATTRIBUTE_RETRY_COUNT = 1 << 10,
    ATTRIBUTE_RNR_RETRY = 1 << 11,
    ATTRIBUTE_RECEIVE_PSN = 1 << 12,
    ATTRIBUTE_READS = 1 << 13,
    ATTRIBUTE_ALTERNATE = 1 << 14,
    ATTRIBUTE_RNR_TIMER = 1 << 15,
    ATTRIBUTE_SEND_PSN = 1 << 16,
    ATTRIBUTE_READS_ACCEPTED = 1 << 17,
    ATTRIBUTE_MIGRATION = 1 << 18,
    ATTRIBUTE_DEST_QP = 1 << 19,
};

struct transport_qp_init {
    uint8_t service; /* enum transport_service */
    bool signal_all; /* every work request makes a completion */
    bool credits; /* RC: give and obey end-to-end credits (the flag of the CM); not with an SRQ */
    uint32_t domain, send_cq, receive_cq;
    uint32_t srq;             /* or TRANSPORT_NONE */
    uint32_t sends, receives; /* capacities */
};
int transport_add_qp(struct transport *transport, const struct transport_qp_init *init,
                     uint32_t *qp);
int transport_remove_qp(struct transport *transport, uint32_t qp); /* its completions stay */

/* Changes the state and the attributes of `mask`, or nothing: -EINVAL and the reason if the table
 * of modify.c has no such transition, or an attribute is missing, not allowed or out of range.
 * Without ATTRIBUTE_STATE the state stays as it is. */
int transport_modify_qp(struct transport *transport, uint64_t now, uint32_t qp,
                        const struct transport_qp_attributes *attributes, uint32_t mask,
                        struct err *err);
/* The rows of that table: false if there is no transition. */
bool transport_transition(unsigned service, unsigned from, unsigned to, uint32_t *required,
                          uint32_t *optional);

struct transport_qp_view {
    struct transport_qp_attributes attributes; /* as they are now */
    struct transport_qp_init init;
    uint32_t sends_pending, receives_pending;
    uint32_t next_psn, unacknowledged_psn, expected_psn;
    bool draining;
    /* Since it was created: */
    uint64_t progress_ps; /* when the oldest outstanding request was last acknowledged */
    uint32_t resent_packets, timeouts, sequence_naks, rnr_naks; /* as requester */
    uint32_t migrations;
};
int transport_query_qp(const struct transport *transport, uint32_t qp,
                       struct transport_qp_view *view);

/* UD: the group is an MGID and its LID. -EINVAL: not a UD QP, or attached already, or not attached.
 */
int transport_attach(struct transport *transport, uint32_t qp, const uint8_t mgid[16],
                     uint16_t mlid);
int transport_detach(struct transport *transport, uint32_t qp, const uint8_t mgid[16],
                     uint16_t mlid);

/* ---- shared receive queues ---- */

int transport_add_srq(struct transport *transport, uint32_t domain, uint32_t capacity,
                      uint32_t *srq);
int transport_remove_srq(struct transport *transport, uint32_t srq); /* -EBUSY */
/* EVENT_SRQ_LIMIT once, when fewer requests are left; 0: none. */
int transport_set_srq_limit(struct transport *transport, uint32_t srq, uint32_t limit);

/* ---- work ---- */

struct transport_segment {
    uint64_t address;
    uint32_t bytes, key;
};
enum { TRANSPORT_SEGMENTS_MAX = 32 };

enum transport_work_flag {
    WORK_SIGNALED = 1,
    WORK_FENCE = 2, /* wait for earlier READs and atomics */
    WORK_SOLICITED = 4,
    WORK_INLINE = 8, /* the owner has copied the bytes: keys of segments are not checked */
};
struct transport_work {
    uint64_t id;
    uint64_t memory;   /* the owner's name of the message */
    uint8_t operation; /* enum transport_work_operation */
    uint8_t flags;
    uint8_t segment_count;
    uint8_t status; /* not STATUS_SUCCESS: the owner refuses it, and it completes so in its turn */
    const struct transport_segment *segments; /* gathered, or scattered by READ and atomics */
    uint32_t immediate;                       /* or the R_Key to invalidate */
    /* RDMA and atomics: */
    uint32_t r_key;
    uint64_t address, swap_or_add, compare;
    /* UD: */
    const struct transport_path *path;
    uint32_t dest_qp, q_key; /* with bit 31 set the Q_Key is that of the QP */
};
/* The memory that the entries of queues take here at most, while they are outstanding. */
uint64_t transport_queue_bytes(uint32_t sends, uint32_t send_segments, uint32_t receives,
                               uint32_t receive_segments);
/* -EINVAL: wrong state or contents; -ENOMEM: the queue is full. Wrong keys and lengths complete in
 * order with their status. */
int transport_post_send(struct transport *transport, uint32_t qp,
                        const struct transport_work *work);

struct transport_receive_work {
    uint64_t id, memory;
    uint8_t segment_count;
    const struct transport_segment *segments;
};
int transport_post_receive(struct transport *transport, uint32_t qp,
                           const struct transport_receive_work *work);
int transport_post_shared(struct transport *transport, uint32_t srq,
                          const struct transport_receive_work *work);

/* ---- packets and time ---- */

/* A packet that arrived at a port, without CRC or link errors. The owner of the fabric also loops
 * packets back to members of a multicast group, or to QPs, of the adapter that sent them. */
void transport_receive(struct transport *transport, uint64_t now, unsigned port,
                       const struct transport_packet *packet);
/* The SLs (bit per SL) on which packets may wait at a port. */
uint16_t transport_ready(const struct transport *transport, unsigned port);
/* Builds the next packet of these SLs; QPs take turns. False if there is none. */
bool transport_next_packet(struct transport *transport, uint64_t now, unsigned port,
                           uint16_t service_levels, struct transport_packet *packet);
/* Builds the packets of a port that is not active, and discards them, as a port without a link
 * does: requests time out. Without it they wait until the port is active. */
void transport_discard(struct transport *transport, uint64_t now, unsigned port);
/* When transport_expire() must be called, or earlier; TIME_NEVER. */
uint64_t transport_deadline(const struct transport *transport);
void transport_expire(struct transport *transport, uint64_t now);

/* 4.096 us * 2^n; TIME_NEVER for 0 (9.7.6.1.3). */
uint64_t transport_timeout_ps(unsigned n);
/* The delay of an RNR NAK with this code (table 45 of 9.7.5.2.8). */
uint64_t transport_rnr_ps(unsigned code);
/* The count of receive requests that a credit code announces, and the code for a count (table 46).
 */
uint32_t transport_credits(unsigned code);
unsigned transport_credit_code(uint32_t count);

/* ---- counters ---- */

struct transport_counters {
    uint64_t sent_packets, received_packets;
    uint64_t resent_packets, timeouts;
    uint64_t sequence_naks, rnr_naks, access_naks, request_naks, operation_naks; /* sent */
    uint64_t sequence_naks_received, rnr_naks_received;
    uint64_t duplicates, out_of_order,
        ghosts;                /* received; ghosts: acknowledge what is not outstanding */
    uint64_t messages_dropped; /* UC */
    uint64_t p_key_violations, q_key_violations;
    uint64_t no_receive; /* UD and UC: dropped for want of a receive request */
    uint64_t discarded;  /* no such QP, wrong service, state, source or form */
    uint64_t migrations;
};
const struct transport_counters *transport_counters(const struct transport *transport);

#endif
