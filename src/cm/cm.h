/* Communication management of one port: connections are requested, accepted, refused and released
 * by messages between QP1s (chapter 12).
 *
 * A `struct cm` is fed and drained like the other protocol cores: no clock, no I/O, no callbacks.
 *
 *   in                                 out
 *   calls of its owner (cm_connect …)  cm_next_output()  messages, and where they go
 *   messages: cm_receive()             cm_next_event()   what its owner must do or know
 *   the time: cm_expire()              cm_deadline()     of the next cm_expire()
 *
 * It knows nothing of QPs but their numbers: on events its owner changes their states.
 *
 *   active end                         passive end
 *   cm_connect()          -- REQ -->   EVENT REQUEST
 *   EVENT REPLY           <-- REP --   QP to RTR; cm_accept() (or cm_reject(), cm_delay())
 *   QP to RTS; cm_confirm() -- RTU -->  EVENT ESTABLISHED: QP to RTS
 *
 * Both ends may then release the connection with cm_disconnect() (DREQ, DREP). Its identification
 * stays in use for the time that its packets may live, until EVENT RELEASED: only then may the QP
 * be used again.
 *
 * REQ, REP, DREQ, LAP and SIDR_REQ are repeated until they are answered, as often as REQ has said
 * (MaxCMRetries). Duplicates are answered again and make no second event.
 *
 * Files: message.c encodes and decodes, cm.c has connections and their timers, tables.c finds them,
 * calls.c is what the owner does, receive.c what messages do. */
#ifndef WEFT_CM_CM_H
#define WEFT_CM_CM_H

#include "cm/message.h"

struct cm_config {
    uint64_t ca_guid;
    uint32_t first_id;    /* communication IDs are counted from here */
    uint8_t response;     /* 4.096 us * 2^n: how long this end may take to answer */
    uint8_t packet_life;  /* 4.096 us * 2^n: of a message on its way */
    uint8_t cm_retries;   /* 0-15 */
    uint32_t connections; /* at most; further requests are refused */
};
void cm_config_init(struct cm_config *config); /* 268 ms, 67 ms, 7 retries, 65,536 connections */

/* The place of another end's QP1. The core passes it on: only its owner knows what it means. */
struct cm_address {
    uint16_t lid;
    uint8_t sl, path_bits;
    uint8_t port; /* of this end's adapter, by which the messages go */
    uint16_t p_key_index;
    bool global; /* packets have a GRH with this GID of the other end */
    uint8_t gid[16];
};

struct cm;
struct cm *cm_new(const struct cm_config *config);
void cm_free(struct cm *cm); /* accepts NULL */

/* Requests for this service make events; others are refused. -EEXIST. */
int cm_listen(struct cm *cm, uint64_t service_id);
int cm_unlisten(struct cm *cm, uint64_t service_id); /* -ENOENT */

enum cm_state {
    CM_FREE,
    CM_REQ_SENT,
    CM_REQ_DELAYED, /* the other end has sent MRA */
    CM_REP_RECEIVED,
    CM_REQ_RECEIVED,
    CM_REP_SENT,
    CM_REP_DELAYED,
    CM_ESTABLISHED,
    CM_DREQ_SENT,
    CM_TIME_WAIT,
    CM_SIDR_SENT,
    CM_SIDR_RECEIVED,
    CM_STATES,
};
extern const char *const cm_state_names[CM_STATES];
enum cm_state cm_state(const struct cm *cm, uint32_t id); /* CM_FREE: there is no such connection */

/* ---- what the owner does: 0, or -EINVAL if the connection's state does not allow it ---- */

/* Requests a connection. Of `request` the core sets communication ID, CA GUID, time-outs of
 * messages and their retries. Returns its ID, or 0: there are too many. */
uint32_t cm_connect(struct cm *cm, uint64_t now, const struct cm_message *request,
                    const struct cm_address *to);
/* After EVENT REQUEST. */
int cm_accept(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *reply);
/* After EVENT REQUEST or EVENT REPLY. The ID is free then. `because` has reason, additional
 * information and private data. */
int cm_reject(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *because);
/* After EVENT REQUEST, REPLY or ALTERNATE: the answer takes at most 4.096 us * 2^service_timeout.
 */
int cm_delay(struct cm *cm, uint64_t now, uint32_t id, unsigned service_timeout);
/* After EVENT REPLY. */
int cm_confirm(struct cm *cm, uint64_t now, uint32_t id);
/* At the passive end, when a packet has arrived before RTU (EVENT_ESTABLISHED of the transport). */
int cm_established(struct cm *cm, uint64_t now, uint32_t id);
int cm_disconnect(struct cm *cm, uint64_t now, uint32_t id);
/* Further messages of a connection go there: its path has migrated. (LAP says by itself from where
 * it comes.) */
int cm_readdress(struct cm *cm, uint32_t id, const struct cm_address *to);
/* Active end: requests that the other end loads this alternate path. One at a time. */
int cm_load_alternate(struct cm *cm, uint64_t now, uint32_t id, const struct cm_path *path);
/* After EVENT ALTERNATE. */
int cm_answer_alternate(struct cm *cm, uint64_t now, uint32_t id, enum cm_load_status status);
/* Which QP serves a datagram service? Returns an ID, or 0. */
uint32_t cm_resolve(struct cm *cm, uint64_t now, const struct cm_message *request,
                    const struct cm_address *to);
/* After EVENT SERVICE_REQUEST. The ID is free then. `answer` has status, QP and Q_Key. */
int cm_answer_service(struct cm *cm, uint64_t now, uint32_t id, const struct cm_message *answer);

/* ---- what comes out ---- */

enum cm_event_kind {
    CM_EVENT_REQUEST, /* REQ */
    CM_EVENT_REPLY,   /* REP */
    CM_EVENT_ESTABLISHED,
    CM_EVENT_REJECTED,           /* REJ; the ID is free */
    CM_EVENT_UNREACHABLE,        /* no answer to REQ, REP or SIDR_REQ; the ID is free */
    CM_EVENT_DISCONNECTED,       /* by either end, or because the other end no longer knows it */
    CM_EVENT_RELEASED,           /* the ID is free */
    CM_EVENT_ALTERNATE,          /* LAP */
    CM_EVENT_ALTERNATE_ANSWERED, /* APR; without an answer its kind is 0 */
    CM_EVENT_SERVICE_REQUEST,    /* SIDR_REQ */
    CM_EVENT_SERVICE,            /* SIDR_REP; the ID is free */
};
struct cm_event {
    uint8_t kind; /* enum cm_event_kind */
    uint32_t id;
    struct cm_address from;
    struct cm_message message; /* kind 0: none */
};
bool cm_next_event(struct cm *cm, struct cm_event *event);

struct cm_output {
    struct cm_address to;
    uint8_t mad[MAD_BYTES];
};
bool cm_next_output(struct cm *cm, struct cm_output *output);

/* A MAD of class 0x07 that arrived; others and malformed ones are counted and ignored. */
void cm_receive(struct cm *cm, uint64_t now, const uint8_t mad[MAD_BYTES],
                const struct cm_address *from);
/* When cm_expire() must be called, or earlier; TIME_NEVER. */
uint64_t cm_deadline(const struct cm *cm);
void cm_expire(struct cm *cm, uint64_t now);

struct cm_counters {
    uint64_t sent, received, repeated; /* messages */
    uint64_t duplicates;               /* received, and answered again or ignored */
    uint64_t unexpected;               /* of no connection, or in a wrong state */
    uint64_t malformed;
    uint64_t rejects_sent, rejects_received, unreachable;
};
const struct cm_counters *cm_counters(const struct cm *cm);
size_t cm_connections(const struct cm *cm); /* in any state but CM_FREE */

#endif
