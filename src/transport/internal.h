/* The private side of the transport layer.
 *
 * QPs, requests and responses are items of pools and name each other by number. A QP that has no
 * work owns nothing beside its `struct qp`. */
#ifndef WEFT_TRANSPORT_INTERNAL_H
#define WEFT_TRANSPORT_INTERNAL_H

#include "base/mem.h"
#include "base/pool.h"
#include "transport/transport.h"

#include <assert.h>

#define NONE TRANSPORT_NONE

enum { SERVICE_LEVELS = 16, KEY_GENERATIONS = 256 };

struct region {
    struct transport_region public;
    uint32_t next; /* of the pool */
    uint8_t generation;
    bool used;
};

/* The segments of a request after the first one are a chain. */
struct segment {
    struct transport_segment public;
    uint32_t next;
};
struct segments {
    struct transport_segment first;
    uint32_t more; /* or NONE */
    uint8_t count;
};

/* A work request. PSNs are assigned when it is first sent. */
struct work {
    uint64_t id, memory;
    struct segments segments;
    uint32_t next, bytes;
    uint32_t first_psn, packets; /* packets: PSNs that it takes */
    uint32_t ssn;                /* send sequence number: counts messages from 1 */
    uint8_t operation, flags;
    uint8_t status; /* STATUS_SUCCESS, or with what it completes when its turn comes */
    bool begun;     /* its PSNs are assigned */
    bool issued;    /* READ, atomic: counted in `reads_outstanding` */
    uint32_t immediate, r_key;
    union {
        struct {
            uint64_t address, swap_or_add, compare;
        };
        struct {
            struct transport_path path;
            uint32_t dest_qp, q_key;
        };
    };
};

struct receive {
    uint64_t id, memory;
    struct segments segments;
    uint32_t next, bytes;
};

struct queue {
    uint32_t head, tail, count;
};
#define QUEUE_EMPTY ((struct queue){NONE, NONE, 0})

/* Responder: a READ request whose responses wait, or an atomic operation. Atomic operations stay,
 * to answer duplicates, until reads_accepted later ones have come. */
struct response {
    uint32_t next;
    uint32_t first_psn, packets, sent; /* sent: of `packets` */
    uint32_t r_key, bytes;
    uint64_t address;
    uint64_t original; /* of an atomic operation */
    bool atomic, answered;
    bool repeated; /* answers a duplicate: not counted in reads_accepted */
};

enum timer {
    TIMER_OFF,
    TIMER_RETRY,
    TIMER_RNR, /* the requester sends nothing until it expires */
};

/* The acknowledgement that a responder owes. */
enum owed {
    OWED_NOTHING,
    OWED_ACK, /* of all that was received in order */
    OWED_NAK, /* `nak_syndrome` at `expected_psn` */
};

/* What the packets of an incomplete message are. */
enum message {
    MESSAGE_NONE,
    MESSAGE_SEND,
    MESSAGE_WRITE,
    MESSAGE_DROPPED, /* UC: ignore the rest */
};

struct qp {
    struct transport_qp_init init;
    struct transport_qp_attributes attributes;
    uint32_t next; /* in a ready list, or of the pool */
    bool used, ready;
    uint8_t ready_port, ready_sl; /* in which list */
    bool draining;                /* in state SQD: messages that were begun are not complete */
    bool drain_reported;          /* or not wanted */
    bool turn;                    /* responses were served last: requests are next */

    /* Requester. Requests before unacknowledged_psn are complete, those before high_psn have been
     * sent at least once, and send_psn, in request `cursor`, is next. */
    uint8_t timer, retries_left, rnr_retries_left, reads_outstanding;
    bool response_asked; /* a missing response was requested again and has not come */
    uint16_t unasked;    /* packets since one asked for an acknowledgement */
    struct queue sends;
    uint32_t cursor;
    uint32_t unacknowledged_psn, high_psn, send_psn;
    uint32_t window_psn; /* end of the last READ or atomic that was sent: the window begins there or
                            at unacknowledged_psn, whichever is later */
    uint32_t next_ssn, limit_ssn; /* messages up to limit_ssn have a receive request (LSN) */
    uint64_t deadline;            /* of the timer; TIME_NEVER */
    uint64_t scheduled;           /* when the heap has it; TIME_NEVER: not in the heap */
    uint32_t heap_index;

    /* Responder */
    uint8_t owed, nak_syndrome, message;
    bool nak_sent;    /* packets out of order are dropped without another NAK */
    bool established; /* EVENT_ESTABLISHED has been reported */
    struct queue receives;
    uint32_t receive; /* the request that the message goes to, or NONE */
    uint32_t expected_psn, msn;
    uint32_t message_bytes; /* received of the message */
    uint32_t write_bytes;   /* of the whole RDMA WRITE */
    uint32_t write_key;
    uint64_t write_address;
    struct queue responses, history; /* waiting, by PSN; atomic operations that were answered */
    uint32_t reads_waiting;          /* of `responses`, without repeated ones */

    uint64_t progress_ps;
    uint32_t resent_packets, timeouts, sequence_naks, rnr_naks, migrations;
};
_Static_assert(sizeof(struct qp) <= 512, "an idle QP costs at most 512 bytes");

struct cq {
    struct transport_completion *ring; /* grows up to `capacity` */
    uint32_t next;                     /* of the pool */
    uint32_t capacity, size, first, count;
    uint32_t users;
    bool used, armed, solicited_only, overrun;
};

struct srq {
    struct queue receives;
    uint32_t next;
    uint32_t domain, capacity, limit, users;
    bool used;
};

struct domain {
    uint32_t next, users;
    bool used;
};

struct port {
    struct transport_port state;
    VEC(uint16_t) p_keys;
    uint16_t ready;  /* bit per SL */
    uint8_t last_sl; /* that was served: SLs take turns, too */
    struct {
        uint32_t first, last;
    } lists[SERVICE_LEVELS];
};

struct attachment {
    uint8_t mgid[16];
    uint16_t mlid;
    uint32_t qp;
};

struct timer_item {
    uint64_t time;
    uint32_t qp;
};

struct transport {
    struct transport_config config;
    struct port ports[TRANSPORT_PORTS_MAX + 1]; /* from 1 */
    POOL(struct qp) qps;                        /* by number - TRANSPORT_FIRST_QP */
    POOL(struct region) regions;
    POOL(struct domain) domains;
    POOL(struct cq) cqs;
    POOL(struct srq) srqs;
    POOL(struct work) works;
    POOL(struct receive) receives;
    POOL(struct segment) segments;
    POOL(struct response) responses;
    VEC(struct timer_item) timers; /* a heap by time and QP */
    VEC(struct attachment) attachments;
    VEC(struct transport_access) accesses;
    VEC(struct transport_event) events;
    VEC(struct transport_violation) violations;
    size_t accesses_taken, events_taken, violations_taken;
    struct transport_counters counters;
};

/* adapter.c */
/* Path bits beyond the LMC do not count: they would be the address of another port. */
static inline uint16_t port_slid(const struct transport *transport, unsigned port,
                                 const struct transport_path *path)
{
    const struct transport_port *state = &transport->ports[port].state;
    return (uint16_t)(state->lid | (path->path_bits & ((1u << state->lmc) - 1)));
}
static inline uint32_t qp_number(const struct transport *transport, const struct qp *qp)
{
    return (uint32_t)(qp - transport->qps.items) + TRANSPORT_FIRST_QP;
}
struct qp *qp_find(const struct transport *transport, uint32_t number); /* NULL: none */
void qp_wake(struct transport *transport, struct qp *qp); /* it may have a packet to send */
void qp_set_timer(struct transport *transport, struct qp *qp, enum timer timer, uint64_t deadline);
/* LRH, GRH and BTH of a packet on the QP's path; the rest is zero. */
void qp_address_packet(const struct transport *transport, const struct qp *qp,
                       struct transport_packet *packet);
uint16_t port_p_key(const struct transport *transport, unsigned port, unsigned index);
static inline bool p_key_matches(uint16_t a, uint16_t b)
{
    return a && b && ((a ^ b) & 0x7FFF) == 0 && (a | b) & 0x8000;
}

/* memory.c, completion.c, work.c: counts a user (1) or its end (-1); -EINVAL: no such object. */
int domain_use(struct transport *transport, uint32_t number, int change);
int cq_use(struct transport *transport, uint32_t number, int change);
int srq_use(struct transport *transport, uint32_t number, int change);

/* memory.c */
/* The region, if the key is valid in this domain, has these rights and covers the range; or NULL.
 */
const struct region *region_find(const struct transport *transport, uint32_t domain, uint32_t key,
                                 unsigned rights, uint64_t address, uint64_t bytes);
bool region_revoke(struct transport *transport, uint32_t domain, uint32_t key); /* remote rights */
/* Copies at most TRANSPORT_SEGMENTS_MAX segments, and adds their bytes. */
uint64_t segments_copy(struct transport *transport, struct segments *segments,
                       const struct transport_segment *from, unsigned count);
void segments_drop(struct transport *transport, struct segments *segments);
bool segments_allowed(const struct transport *transport, uint32_t domain,
                      const struct segments *segments, unsigned rights);
/* Places a packet's payload, if the owner moves bytes. */
void access_place(struct transport *transport, const struct qp *qp, uint8_t target, uint32_t key,
                  uint64_t memory, uint64_t offset, const struct transport_payload *payload);

/* completion.c */
/* False: the CQ is full, and the completion lost. */
bool complete(struct transport *transport, uint32_t cq, const struct transport_completion *from);
void report_event(struct transport *transport, unsigned kind, uint32_t object);
void report_violation(struct transport *transport, unsigned port,
                      const struct transport_packet *packet, bool q_key);

/* work.c */
static inline struct work *work_at(struct transport *transport, uint32_t number)
{
    return &transport->works.items[number];
}
/* Completes the first work request, if it is signaled or has failed, and removes it. */
void work_complete(struct transport *transport, struct qp *qp, unsigned status);
/* The first work request fails: RC enters Error, UC and UD enter SQE; the others are flushed. */
void work_fail(struct transport *transport, struct qp *qp, unsigned status);
/* Takes a receive request, from the SRQ if the QP has one: its number, or NONE. */
uint32_t receive_take(struct transport *transport, struct qp *qp);
/* Completes and removes a taken request. */
void receive_complete(struct transport *transport, struct qp *qp, uint32_t receive,
                      const struct transport_completion *completion);
uint32_t receives_waiting(const struct transport *transport, const struct qp *qp);
enum { EVENT_SILENT = 255 }; /* no event: the owner asked for it, or a completion says it */
void qp_enter_error(struct transport *transport, struct qp *qp, unsigned event);
/* The same, but responses and the NAK that are owed are still sent. */
void qp_fail_as_responder(struct transport *transport, struct qp *qp, unsigned event);
/* Forgets all requests, without completions. One that was taken from an SRQ goes back to it. */
void qp_drop_work(struct transport *transport, struct qp *qp);

/* requester.c: RC and UC */
bool requester_next(struct transport *transport, struct qp *qp, uint64_t now,
                    struct transport_packet *packet);
void requester_receive(struct transport *transport, struct qp *qp, uint64_t now,
                       const struct transport_packet *packet);
void requester_expire(struct transport *transport, struct qp *qp, uint64_t now);
void requester_check_drained(struct transport *transport, struct qp *qp);

/* responder.c: RC and UC */
void responder_receive(struct transport *transport, struct qp *qp,
                       const struct transport_packet *packet);

/* responses.c */
bool responses_next(struct transport *transport, struct qp *qp, struct transport_packet *packet);
static inline void responses_owe(struct qp *qp, enum owed owed, unsigned syndrome)
{
    qp->owed = (uint8_t)owed;
    qp->nak_syndrome = (uint8_t)syndrome;
}
/* A READ or atomic request that was accepted. */
void responses_add(struct transport *transport, struct qp *qp,
                   const struct transport_packet *packet, uint32_t packets);
void responses_repeat(struct transport *transport, struct qp *qp,
                      const struct transport_packet *packet);
void responses_drop(struct transport *transport, struct qp *qp);
void responses_drop_since(struct transport *transport, struct qp *qp, uint32_t psn);

/* datagram.c */
bool datagram_next(struct transport *transport, struct qp *qp, struct transport_packet *packet);
void datagram_receive(struct transport *transport, unsigned port,
                      const struct transport_packet *packet);

/* migration.c */
/* To the alternate path, if the QP is armed. */
bool migration_migrate(struct transport *transport, struct qp *qp);
/* Whether a packet comes from where it should; follows the other end's migration. */
bool migration_admit(struct transport *transport, struct qp *qp, unsigned port,
                     const struct transport_packet *packet);

#endif
