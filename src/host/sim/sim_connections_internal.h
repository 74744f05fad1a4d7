/* Shared by sim_connections.c, which moves messages, sim_connections_paths.c, which finds their
 * paths, and sim_cm.c, which sets connections up by messages. */
#ifndef WEFT_HOST_SIM_SIM_CONNECTIONS_INTERNAL_H
#define WEFT_HOST_SIM_SIM_CONNECTIONS_INTERNAL_H

#include "base/map.h"
#include "base/time.h"
#include "cm/cm.h"
#include "host/mad/mad_layer.h"
#include "host/sim/sim_connections.h"

enum { CONNECTION_Q_KEY = 0x11111111 };

struct adapter {
    struct transport *transport;
    uint32_t ports[TRANSPORT_PORTS_MAX]; /* of the fabric; the second may be MAP_NONE */
    uint32_t domain, key, send_cq, receive_cq;
    uint32_t sends, receives;             /* capacities of the CQs */
    uint16_t p_keys[TRANSPORT_PORTS_MAX]; /* entries of the transport layer's table */
    uint64_t wake;            /* the earliest call that was asked for; TIME_NEVER: none */
    VEC(uint32_t) requesters; /* RC connections by number of the QP; MAP_NONE: none */
    VEC(uint32_t) paced;      /* connections from here whose messages have a pace */
    VEC(uint32_t) broken;     /* those that will begin anew */
};

struct connection {
    struct connection_view view;
    uint32_t adapters[2], qps[2];     /* requester, responder */
    struct transport_path path;       /* of the requester */
    struct sim_path_pair alternate;   /* the last one that was loaded */
    uint64_t sent;                    /* messages whose work request is complete */
    uint64_t expected;                /* UC, UD: the number of the next message */
    uint64_t progress_ps;             /* the last progress, or when messages became outstanding */
    uint32_t r_key, q_key;            /* of the responder */
    uint16_t p_key_indexes[2];        /* in the tables of its ports */
    uint32_t psns[2];                 /* first ones, of requester and responder */
    uint32_t cm_ids[2];               /* 0: none */
    uint16_t wanted_lids[2];          /* of an alternate path that is loaded by messages; 0: any */
    struct transport_path offered[2]; /* … and what both ends load then; port 0: none */
    uint64_t next_ps;                 /* not before: the next message of a paced connection */
    uint64_t retry_ps;                /* when a broken one begins anew */
    bool resumes;                     /* it has begun anew, and nothing was completed since */
    uint64_t *posted_ps;              /* ring, by number of the message */
    uint32_t ring;
};

struct sim_connections {
    struct sim *sim;
    struct fabric *fabric;
    struct sim_paths *paths;
    struct connection_listener listener;
    VEC(struct adapter) adapters;
    VEC(struct connection) connections;
    uint32_t *adapter_of; /* by port; MAP_NONE: none */
    struct sim_clients *clients;
    struct sim_cm *cm; /* NULL: no connection is set up by messages */
};

/* sim_connections.c */
unsigned number_in_adapter(const struct sim_connections *connections, uint32_t port);
/* The ports of the adapter that a port belongs to. */
void connection_find_ports(const struct sim_connections *connections, uint32_t port,
                           uint32_t ports[TRANSPORT_PORTS_MAX]);
/* The adapter of a port, which is made if it has none. */
uint32_t find_adapter(struct sim_connections *connections, uint32_t port);
void connection_add_qp(struct sim_connections *connections, struct connection *connection,
                       unsigned end);
/* Brings the QP of an end from a state to another one on the way from Reset to RTS. */
int connection_bring_up(struct sim_connections *connections, const struct connection *connection,
                        unsigned end, const struct transport_path *path, unsigned from, unsigned to,
                        struct err *err);
/* The responder is ready to receive. */
void connection_post_receives(struct sim_connections *connections, uint32_t number);
/* Both ends are ready. */
void connection_begin(struct sim_connections *connections, uint32_t number);

/* sim_connections_paths.c */
/* Where a partition is in the table of a port: the full membership if it has both. PORT_P_KEYS: the
 * port is not a member. */
unsigned connection_p_key_index(const struct sim_connections *connections, uint32_t port,
                                unsigned p_key);
/* Paths of both directions now, the partition, and the alternate path if one is wanted.
 * -EHOSTUNREACH: there is none. */
int connection_find_paths(struct sim_connections *connections, struct connection *connection,
                          struct sim_path_pair *pair, struct err *err);
/* The path that one end takes: to another subnet by a router, with a global route header. */
struct transport_path connection_path(const struct sim_connections *connections,
                                      const struct sim_path_pair *pair, unsigned end,
                                      uint8_t timeout);
/* The path that a connection has now, as its requester sees it. */
struct sim_path_pair connection_present_pair(const struct sim_connections *connections,
                                             const struct connection *connection);
/* The alternate path between these LIDs (0: any) of the adapters that shares least with another
 * one, and what it shares. False: there is none. */
bool connection_compare(struct sim_connections *connections, struct sim_path_pair *with,
                        const uint16_t lids[2], struct sim_path_pair *alternate,
                        struct route_overlap *overlap);
/* An end gets an alternate path. */
int connection_load_path(struct sim_connections *connections, const struct connection *connection,
                         unsigned end, const struct transport_path *path, struct err *err);
/* Both ends get the alternate path that was found. */
int connection_load_alternate(struct sim_connections *connections,
                              const struct connection *connection, struct err *err);

/* sim_cm.c */
struct sim_cm *sim_cm_new(struct sim_connections *connections);
void sim_cm_free(struct sim_cm *cm); /* accepts NULL */
/* Requests the path and then the connection. */
void sim_cm_connect(struct sim_cm *cm, uint32_t number);
/* Requests paths and then that the other end loads one as alternate path (wanted_lids). */
int sim_cm_load(struct sim_cm *cm, uint32_t number, struct err *err);
/* The requester has migrated: messages follow. */
void sim_cm_migrated(struct sim_cm *cm, uint32_t number);
/* All messages are complete, or the connection is broken. */
void sim_cm_release(struct sim_cm *cm, uint32_t number);

#endif
