/* The protocol between a fabric server and a program that uses libibverbs.
 *
 * The connection of REQUEST_VERBS (protocol.h) stays open: it is one opened device. The client then
 * sends a `struct verbs_request` for each object that it creates, changes or removes, and waits for
 * the `struct verbs_answer`; there is never more than one request without an answer. Objects have
 * numbers per connection and kind. When the connection closes, the server removes all objects.
 *
 * Work does not use the connection. Work requests and completions are in rings of shared memory,
 * which the server creates and seals, so that no client can shrink it under the server. The server
 * copies an entry before it checks it, and keeps its own counters: what a client writes into a ring
 * can only harm the client. A ring's producer counts entries modulo 2^32; the entry of count n is
 * in slot n modulo the capacity, which is a power of two.
 *
 * A client that has posted work sets `posted` in its page; if `sleeping` is set then, it wakes the
 * server by VERBS_DOORBELL, which has no answer. Both sides write, and then read what the other
 * side writes, in sequentially consistent order.
 *
 * The server reads and writes registered memory through the client's /proc/self/mem, whose
 * descriptor the client passes with VERBS_MEMORY: it stays bound to the address space of the
 * process that opened it, whatever that process executes later, needs no ptrace permission and no
 * common PID namespace.
 *
 * States, attribute masks, rights and migration states have the values of libibverbs. */
#ifndef WEFT_HOST_SOCKET_VERBS_PROTOCOL_H
#define WEFT_HOST_SOCKET_VERBS_PROTOCOL_H

#include "host/socket/ipcm_protocol.h"
#include "host/socket/protocol.h"

#define VERBS_NONE UINT32_MAX

enum {
    VERBS_VERSION = 2,
    VERBS_SEGMENTS = 16,   /* of a work request, at most */
    VERBS_INLINE = 256,    /* bytes of a message in the work request, at most */
    VERBS_ENTRIES = 16384, /* of a work queue, at most */
    VERBS_CQ_ENTRIES = 1 << 20,
    VERBS_OBJECTS = 1 << 16, /* of a kind and connection, at most */
    VERBS_RINGS = 4096,      /* QPs, SRQs and CQs of a connection */
    VERBS_CHANNELS = 256,    /* completion channels of a connection */
    VERBS_GIDS = 8,
    VERBS_READS = 16,  /* READs and atomics outstanding, at most */
    VERBS_GROUPS = 64, /* that a QP may be attached to */
};

enum verbs_kind {
    VERBS_MEMORY = 1, /* `object`: process ID; + descriptor of /proc/self/mem → + shared page, +
                       * pipe of async events */
    VERBS_PORT,       /* `port` → port_view */
    VERBS_ADD_DOMAIN, /* → object */
    VERBS_REMOVE_DOMAIN,
    VERBS_ADD_REGION, /* region → object, key */
    VERBS_REMOVE_REGION,
    VERBS_REPLACE_REGION, /* region, which keeps its key */
    VERBS_ADD_CHANNEL,    /* → object, + pipe */
    VERBS_REMOVE_CHANNEL,
    VERBS_ADD_CQ,    /* cq → object, capacity, + ring */
    VERBS_RESIZE_CQ, /* cq → capacity, + ring */
    VERBS_REMOVE_CQ,
    VERBS_ADD_SRQ,    /* srq → object, capacity, + ring */
    VERBS_MODIFY_SRQ, /* srq.limit */
    VERBS_REMOVE_SRQ,
    VERBS_ADD_QP,    /* qp_init → object, qp_number, epoch, capacities, + ring */
    VERBS_MODIFY_QP, /* mask, attributes → epoch */
    VERBS_QUERY_QP,  /* → attributes */
    VERBS_REMOVE_QP,
    VERBS_DOORBELL,     /* no answer */
    VERBS_ATTACH_GROUP, /* group */
    VERBS_DETACH_GROUP, /* group */
    VERBS_IPCM = 64,    /* these and further kinds: host/socket/ipcm_protocol.h */
};

enum verbs_service { VERBS_RC, VERBS_UC, VERBS_UD };

struct verbs_path {
    uint16_t dlid;
    uint8_t sl, path_bits, global, sgid_index, traffic_class, hop_limit;
    uint32_t flow_label;
    uint16_t p_key_index; /* this and the next two: of an alternate path */
    uint8_t port, timeout;
    uint8_t dgid[16];
};

struct verbs_qp_attributes {
    uint8_t state, current_state, migration, access;
    uint8_t port, retry_count, rnr_retry, timeout;
    uint8_t rnr_timer, reads, reads_accepted, drain_event;
    uint16_t p_key_index, mtu; /* mtu: bytes */
    uint32_t q_key, dest_qp, receive_psn, send_psn;
    struct verbs_path path, alternate;
    uint32_t draining;
};

struct verbs_request {
    uint32_t kind;   /* enum verbs_kind */
    uint32_t object; /* its number, or that of the port */
    union {
        struct {
            uint32_t domain, rights;
            uint64_t start, bytes; /* addresses that keys use */
            uint64_t memory;       /* address in the program */
        } region;
        struct {
            uint32_t capacity, channel; /* channel: or VERBS_NONE */
        } cq;
        struct {
            uint32_t domain, capacity, segments, limit;
        } srq;
        struct {
            uint32_t service, domain, send_cq, receive_cq, srq; /* srq: or VERBS_NONE */
            uint32_t sends, receives, send_segments, receive_segments, inline_bytes, signal_all;
        } qp_init;
        struct {
            uint32_t mask;
            struct verbs_qp_attributes attributes;
        } qp;
        struct {
            uint16_t mlid;
            uint8_t mgid[16];
        } group;
    };
};

struct verbs_port {
    struct answer_port port;
    uint32_t mtu, max_mtu; /* bytes */
    uint32_t max_message, gid_count, p_key_violations, q_key_violations;
    uint8_t vls, subnet_timeout, init_reply, width, speed, reserved[3];
    uint8_t gids[VERBS_GIDS][16];
};

struct verbs_answer {
    int32_t result; /* 0, or -errno */
    uint32_t object, key, epoch;
    uint32_t qp_number, capacity, receives; /* capacity: of sends, of a QP */
    uint32_t descriptors;                   /* that came with it */
    union {
        struct verbs_port port;
        struct verbs_qp_attributes attributes;
        char reason[160]; /* of -EINVAL */
        struct ipcm_view view;
        struct ipcm_event event;
        struct {
            uint32_t mask;
            struct verbs_qp_attributes attributes;
        } ipcm_qp;
    };
};

/* ---- shared memory ---- */

/* The page of an opened device. */
struct verbs_page {
    uint32_t version;
    uint32_t posted;      /* by the client: there is work; the server clears it */
    uint32_t sleeping;    /* by the server */
    uint32_t completions; /* by the server: counts; a futex */
    uint32_t waiters;     /* by the client: threads that wait for it to change */
};

enum { VERBS_RING_HEAD = 128 }; /* bytes before the first entry */

struct verbs_cq_ring {
    uint32_t produced; /* by the server */
    uint32_t overrun;  /* by the server: completions were lost */
    uint32_t pad[14];
    uint32_t consumed; /* by the client, here and below */
    uint32_t armed;    /* 1: by any completion, 2: by a solicited or failed one */
};

enum verbs_status { /* of a completion, as ibv_wc_status */
                    VERBS_SUCCESS = 0,
};

enum verbs_completion_flag {
    VERBS_HAS_IMMEDIATE = 1,
    VERBS_GLOBAL = 2,
    VERBS_INVALIDATED = 4,
    VERBS_RECEIVED = 8, /* of a receive request */
};
struct verbs_completion {
    uint64_t id;
    uint32_t qp, epoch; /* object number; those of another epoch are not delivered */
    uint32_t slot;      /* count of the work request, or slot of an SRQ */
    uint32_t bytes, immediate, source_qp;
    uint16_t slid, p_key_index;
    uint8_t status;    /* as ibv_wc_status */
    uint8_t operation; /* as ibv_wc_opcode; 128: receive, 129: with RDMA immediate */
    uint8_t flags;     /* enum verbs_completion_flag */
    uint8_t sl, path_bits, pad[7];
};
_Static_assert(sizeof(struct verbs_completion) == 48, "layout");

struct verbs_qp_ring {
    uint32_t sends;    /* by the client: count of posted entries */
    uint32_t receives; /* of an SRQ, too */
};

struct verbs_segment {
    uint64_t address;
    uint32_t bytes, key;
};

enum verbs_operation { /* as ibv_wr_opcode */
                       VERBS_WRITE = 0,
                       VERBS_WRITE_IMMEDIATE,
                       VERBS_SEND,
                       VERBS_SEND_IMMEDIATE,
                       VERBS_READ,
                       VERBS_COMPARE_SWAP,
                       VERBS_FETCH_ADD,
                       VERBS_SEND_INVALIDATE = 9,
};
enum verbs_work_flag { /* as ibv_send_flags */
                       VERBS_FENCE = 1,
                       VERBS_SIGNALED = 2,
                       VERBS_SOLICITED = 4,
                       VERBS_INLINED = 8,
};
/* An entry of a send queue. Segments, or the bytes of an inline message, follow. */
struct verbs_send {
    uint64_t time; /* simulated time of the call, here and below; else 0 */
    uint64_t id, address, compare, swap_or_add;
    uint32_t r_key, immediate, dest_qp, q_key;
    uint8_t operation, flags;
    uint16_t segments;     /* count */
    uint32_t inline_bytes; /* with VERBS_INLINED */
    struct verbs_path path;
};
/* An entry of a receive queue; segments follow. */
struct verbs_receive {
    uint64_t time, id;
    uint32_t slot; /* of an SRQ: names the request in its completion */
    uint32_t segments;
};

static inline uint32_t verbs_send_bytes(uint32_t segments, uint32_t inline_bytes)
{
    uint32_t more = segments * (uint32_t)sizeof(struct verbs_segment);
    more = more > inline_bytes ? more : inline_bytes;
    return ((uint32_t)sizeof(struct verbs_send) + more + 63) / 64 * 64;
}
static inline uint32_t verbs_receive_bytes(uint32_t segments)
{
    return ((uint32_t)sizeof(struct verbs_receive) +
            segments * (uint32_t)sizeof(struct verbs_segment) + 15) /
           16 * 16;
}
/* The least power of two that is not less. */
static inline uint32_t verbs_round_up(uint32_t count)
{
    uint32_t power = 1;
    while (power < count)
        power *= 2;
    return power;
}

/* What the pipe of asynchronous events carries. */
struct verbs_event {
    uint32_t type;   /* as ibv_event_type */
    uint32_t object; /* number of the QP, CQ, SRQ or port */
};

#endif
