/* Shared by the files of src/cm. */
#ifndef WEFT_CM_INTERNAL_H
#define WEFT_CM_INTERNAL_H

#include "base/map.h"
#include "base/pool.h"
#include "base/time.h"
#include "cm/cm.h"

/* Tables of connections by the other end's GUID and a number. */
enum chain {
    BY_PEER, /* by its communication ID: at the passive end */
    BY_QP,   /* by its QP */
    CHAINS,
};

enum load { LOAD_IDLE, LOAD_SENT, LOAD_RECEIVED, LOAD_ANSWERED };

struct connection {
    uint32_t next; /* of the pool */
    uint32_t chain_next[CHAINS];
    uint32_t heap_at; /* 1 + the place in `deadlines`; 0: none */
    uint32_t id, remote_id;
    uint32_t local_qpn, remote_qpn;
    uint64_t remote_guid;
    uint64_t tid; /* of the request that is answered or repeated */
    uint64_t deadline;
    uint64_t answer_ps; /* how long an answer may take, with both ways */
    struct cm_address address;
    uint8_t state;             /* enum cm_state */
    uint8_t load;              /* enum load */
    bool active, replied_late; /* replied_late: MRA was sent, and is sent again for duplicates */
    bool in_chain[CHAINS];
    uint8_t service_timeout;
    uint8_t cm_retries, retries_left, ack_timeout;
    uint8_t mad[MAD_BYTES]; /* the last message that duplicates or time-outs send again */
};

struct cm {
    struct cm_config config;
    POOL(struct connection) connections;
    size_t used;
    struct map by_id; /* number in the pool by communication ID */
    struct map chains[CHAINS];
    struct map services;
    VEC(uint32_t) deadlines; /* a heap of connections, by their deadlines */
    VEC(struct cm_output) outputs;
    VEC(struct cm_event) events;
    size_t outputs_taken, events_taken;
    const struct cm_address *from; /* of the message that cm_receive() has */
    uint64_t tid;
    uint32_t next_id;
    struct cm_counters counters;
};

/* cm.c. Pointers to connections are valid until the next connection_new(). */
struct connection *connection_new(struct cm *cm); /* NULL: too many */
struct connection *connection_of(const struct cm *cm, uint32_t id);
void connection_drop(struct cm *cm, struct connection *connection);
void connection_wait(struct cm *cm, struct connection *connection, uint64_t now); /* TIME_WAIT */
/* Sends a message once. */
void cm_send(struct cm *cm, const struct cm_address *to, const struct cm_message *message);
/* … and keeps it for duplicates. */
void cm_send_kept(struct cm *cm, struct connection *connection, const struct cm_message *message);
/* … and repeats it until it is answered. */
void cm_send_request(struct cm *cm, struct connection *connection, uint64_t now,
                     const struct cm_message *message);
void cm_send_again(struct cm *cm, const struct connection *connection);
/* A message of a connection with its IDs and the TID of the request that it answers. */
struct cm_message cm_begin(const struct connection *connection, unsigned kind);
void cm_send_delay(struct cm *cm, const struct connection *connection);
void cm_report(struct cm *cm, unsigned kind, const struct connection *connection,
               const struct cm_message *message);
bool cm_serves(const struct cm *cm, uint64_t service_id);
/* Begins the release: DREQ. */
void cm_release(struct cm *cm, struct connection *connection, uint64_t now);

/* tables.c. The members that make the key must not change while a connection is in the table. */
void chain_add(struct cm *cm, struct connection *connection, enum chain chain);
void chain_remove(struct cm *cm, struct connection *connection, enum chain chain);
/* By the peer's GUID: the connection whose REQ or SIDR_REQ had this ID, or the established one with
 * this QP. NULL: none. */
struct connection *connection_in_chain(const struct cm *cm, enum chain chain, uint64_t guid,
                                       uint32_t number);
/* Every change of a deadline; TIME_NEVER: none. */
void set_deadline(struct cm *cm, struct connection *connection, uint64_t deadline);
/* The next one whose deadline has come, which it has no more; or NULL. */
struct connection *connection_due(struct cm *cm, uint64_t now);

#endif
