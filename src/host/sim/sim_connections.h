/* Connections: pairs of queue pairs on simulated adapters that exchange messages.
 *
 * Each port that has a connection is an adapter of src/transport, whose packets the data plane of
 * the fabric carries. A connection is set up as given, with the path that the manager's routes have
 * at that time, or as programs do: by a PathRecord of the subnet administration and messages of
 * communication management, which the fabric may lose. The requester keeps a number of messages
 * posted. */
#ifndef WEFT_HOST_SIM_SIM_CONNECTIONS_H
#define WEFT_HOST_SIM_SIM_CONNECTIONS_H

#include "cm/message.h"
#include "host/sim/sim_clients.h"
#include "host/sim/sim_paths.h"
#include "transport/transport.h"

enum connection_operation {
    CONNECTION_SEND,
    CONNECTION_WRITE,
    CONNECTION_READ,
    CONNECTION_SEND_IMMEDIATE,
    CONNECTION_WRITE_IMMEDIATE,
    CONNECTION_COMPARE_SWAP, /* atomic operations have 8 bytes */
    CONNECTION_FETCH_ADD,
    CONNECTION_OPERATIONS,
};

enum {
    CONNECTION_OUTSTANDING_MOST = 1024,
    CONNECTION_READS = 16, /* outstanding at most */
};

struct connection_config {
    uint32_t from, to;      /* end ports: requester and responder */
    uint8_t service;        /* enum transport_service */
    uint8_t operation;      /* enum connection_operation */
    uint32_t message_bytes; /* UD: at most the MTU */
    uint64_t messages;      /* TIME_NEVER: without end */
    uint32_t outstanding;   /* messages posted at a time */
    uint64_t every_ps;      /* between two messages at least; 0: as soon as possible */
    bool keeps_rate;        /* messages are due at that interval: late ones follow at once */
    uint8_t timeout, retry; /* RC: 4.096 us * 2^timeout; 0-7 */
    /* RC: begin with an alternate path to a LID of the responder; 0: the primary and the alternate
     * path that share least. */
    bool has_alternate;
    uint16_t alternate_lid;
    uint16_t p_key;        /* the partition; 0: one that both ports share */
    uint32_t q_key;        /* UD: that datagrams carry; 0: that of the receiver */
    bool by_cm;            /* set up by messages: needs sim_connections_use_clients() */
    uint64_t reconnect_ps; /* RC: after it broke, it begins anew with the path of then, tried again
                              after each such time; 0: it stays broken */
};

/* How far a connection has been set up. */
enum connection_stage {
    CONNECTION_RESOLVING,  /* waits for its PathRecord */
    CONNECTION_REQUESTING, /* waits for REP, or SIDR_REP */
    CONNECTION_ESTABLISHED,
    CONNECTION_RELEASING, /* waits for DREP, or for its packets to die */
    CONNECTION_RELEASED,
    CONNECTION_REFUSED, /* or nobody has answered */
    CONNECTION_STAGES,
};
extern const char *const connection_stage_names[CONNECTION_STAGES];

/* Times without progress: between two acknowledgements of an RC requester, or two messages at the
 * receiver of a UC or UD connection, while messages are outstanding. */
struct connection_view {
    struct connection_config config;
    uint8_t stage;                            /* enum connection_stage */
    uint64_t requested_ps, begun_ps, last_ps; /* begun_ps: established, or 0; last_ps: completion */
    uint16_t reason; /* of a refusal: enum cm_reason; 0: no path is known */
    uint64_t posted, completed, completed_bytes;
    uint64_t lost;       /* messages of UC and UD */
    uint64_t longest_ps; /* the longest time without progress */
    bool broken;
    uint8_t status; /* enum transport_status: why it broke */
    uint64_t broken_ps;
    uint32_t timeouts, sequence_naks, rnr_naks, resent_packets;
    uint32_t migrations; /* of the requester, to an alternate path */
    uint64_t migrated_ps;
    uint32_t shared_cables, shared_switches; /* by its alternate and its primary path */
    uint8_t migration;                       /* of the requester: enum transport_migration */
    uint32_t reconnections;
};
/* It had to repeat requests or lost messages. */
bool connection_stood_still(const struct connection_view *view);
/* It lost nothing, but made no progress for a millisecond and ten times as long as it needs for a
 * message in the mean: a manager has stopped its source, or its links were jammed. */
bool connection_waited(const struct connection_view *view);

struct sim_connections;
struct sim_connections *sim_connections_new(struct sim *sim, struct fabric *fabric,
                                            struct sim_paths *paths);
void sim_connections_free(struct sim_connections *connections); /* accepts NULL */

/* Called when a message is complete: at the requester (RC), or at the receiver (UC, UD). */
struct connection_listener {
    void *context;
    void (*completed)(void *context, uint64_t now, uint32_t connection, uint64_t latency_ps);
    void (*migrated)(void *context, uint64_t now, uint32_t connection); /* the requester has */
    void (*refused)(void *context, uint64_t now, uint32_t connection);  /* it was not set up */
    /* The other end has not loaded an alternate path. */
    void (*not_loaded)(void *context, uint64_t now, uint32_t connection);
    /* It broke at that time, and begins anew. */
    void (*reconnected)(void *context, uint64_t now, uint32_t connection, uint64_t broken_ps);
};
void sim_connections_listen(struct sim_connections *connections,
                            const struct connection_listener *listener);

/* The hosts that request paths for connections that are set up by messages. */
void sim_connections_use_clients(struct sim_connections *connections, struct sim_clients *clients);

/* What a message and its headers take on the link that carries its bytes, without GRHs. */
uint64_t sim_connections_wire_bytes(const struct fabric *fabric,
                                    const struct connection_config *config);
/* What does not depend on the fabric's state. */
int sim_connections_check(const struct fabric *fabric, const struct connection_config *config,
                          struct err *err);
/* Begins a connection now. -EHOSTUNREACH: there is no path. */
int sim_connections_add(struct sim_connections *connections, const struct connection_config *config,
                        struct err *err);
/* Loads an alternate path into both ends: to LID lids[1] of the responder from LID lids[0] of the
 * requester, on either port of their adapters. 0: whichever shares least with the present path.
 * Ends that were set up by messages get it by LAP and APR, later. The connection is armed once
 * packets have passed in both directions. -EHOSTUNREACH: there is none. */
int sim_connections_set_alternate(struct sim_connections *connections, size_t number,
                                  const uint16_t lids[2], struct err *err);
size_t sim_connections_count(const struct sim_connections *connections);
void sim_connections_view(const struct sim_connections *connections, size_t number,
                          struct connection_view *view);

#endif
