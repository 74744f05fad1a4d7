/* The connection manager of programs that use librdmacm, on the core of src/cm.
 *
 * Each port that programs use has a `struct ipcm_port`: the part of the core that belongs to it,
 * and its access to general services. An `struct ipcm_id` belongs to a program.
 *
 * Files: ipcm.c exchanges messages and MADs, ipcm_channels.c keeps channels and IDs,
 * ipcm_addresses.c binds and resolves addresses, ipcm_calls.c does what programs ask for,
 * ipcm_paths.c asks the subnet administration. */
#ifndef WEFT_HOST_VERBS_IPCM_H
#define WEFT_HOST_VERBS_IPCM_H

#include "cm/cm.h"
#include "host/mad/mad_layer.h"
#include "host/verbs/internal.h"

enum {
    IPCM_HEAD = 36,           /* bytes of private data that the IP CM service uses */
    IPCM_Q_KEY = 0x01234567,  /* of datagram services */
    IPCM_FIRST_PORT = 0x8000, /* of those that programs leave open */
};

enum ipcm_state {
    IPCM_IDLE,
    IPCM_BOUND,
    IPCM_RESOLVED_ADDRESS,
    IPCM_RESOLVED_ROUTE,
    IPCM_LISTENING,
    IPCM_CONNECTING, /* REQ or SIDR_REQ was sent */
    IPCM_REPLIED,    /* REP was received */
    IPCM_REQUESTED,  /* REQ or SIDR_REQ was received */
    IPCM_ACCEPTED,   /* REP was sent */
    IPCM_ENDED,      /* refused, unreachable, or a datagram service that was answered */
    IPCM_OPEN,
    IPCM_CLOSED,
};

struct ipcm_group {
    uint8_t mgid[16], join_state;
    bool joined;
    uint64_t number;
};

struct ipcm_id {
    uint32_t next;               /* of the pool */
    struct verbs_client *client; /* NULL: free */
    uint32_t serial;             /* answers for an earlier ID of this number are ignored */
    uint32_t channel, listener, backlog, waiting; /* waiting: requests that were not answered */
    uint16_t space;
    uint8_t state; /* enum ipcm_state */
    uint8_t port;  /* of the adapter; 0: none, or all */
    uint8_t service, ack_timeout, traffic_class;
    bool passive, reuse;
    bool routed; /* `record` is a path */
    bool asking; /* for it */
    struct ipcm_address from, to;
    uint32_t to_port; /* in the fabric */
    uint8_t record[WIRE_BYTES_PATH_RECORD];
    uint32_t cm_id; /* communication ID; 0: none */
    /* The connection, for the attributes of its QP: */
    struct transport_path path;
    uint32_t qp_number, psn, remote_qp, remote_psn;
    uint16_t mtu;
    uint8_t reads, reads_accepted, retry_count, rnr_retry;
    VEC(struct ipcm_group) groups;
};

/* A request to the subnet administration. */
struct ipcm_query {
    uint32_t next; /* of the pool */
    bool used;
    uint32_t id, serial;
    uint64_t group; /* of a join; 0: a path */
    uint32_t port;  /* in the fabric */
    uint8_t mad[MAD_BYTES];
    uint32_t timeout_ms;
    bool sent;
    uint64_t next_try, deadline; /* in network time; the deadline is that of the first try */
};

struct ipcm_port {
    uint32_t port; /* in the fabric */
    struct adapter *adapter;
    struct mad_file *file;
    uint32_t cm_agent, sa_agent;
    struct cm *cm;
    struct map ids;   /* by communication ID */
    uint32_t queries; /* without an answer */
};

struct ipcm {
    struct verbs *verbs;
    struct mad_layer *mads;
    const struct addresses *addresses;
    VEC(struct ipcm_port *) ports;
    struct map by_port; /* in the fabric: index of `ports` */
    POOL(struct ipcm_id) ids;
    POOL(struct ipcm_query) queries;
    struct map by_tid; /* index of `queries` */
    uint32_t serial, queries_open, last_tid;
    uint64_t groups;
    uint16_t next_port;
};

/* ipcm.c */
struct ipcm *ipcm_new(struct verbs *verbs, struct mad_layer *mads,
                      const struct addresses *addresses);
void ipcm_free(struct ipcm *ipcm); /* accepts NULL */
/* The manager of a port; NULL: general services of the port are not available. */
struct ipcm_port *ipcm_port_of(struct ipcm *ipcm, struct adapter *adapter, unsigned number);
/* Sends and receives what waits. `now`: of the MAD layer. */
void ipcm_run(struct ipcm *ipcm, uint64_t now);
void ipcm_expire(struct ipcm *ipcm, struct adapter *adapter, uint64_t network_now);
struct ipcm_port *ipcm_port_of_id(struct ipcm *ipcm, const struct ipcm_id *id);
uint32_t ipcm_add_id(struct ipcm *ipcm, struct verbs_client *client, uint32_t channel,
                     uint16_t space);
/* The event has its kind, status and parameters. */
void ipcm_report(struct ipcm *ipcm, uint32_t number, struct ipcm_event *event);
void ipcm_report_status(struct ipcm *ipcm, uint32_t number, enum ipcm_event_kind kind, int status);
uint64_t ipcm_service_id(const struct ipcm_id *id);
bool ipcm_is_datagram(const struct ipcm_id *id);

/* The listener for a service at a port; MAP_NONE. One of this address comes before one of all. */
uint32_t ipcm_find_listener(const struct ipcm *ipcm, const struct ipcm_port *port,
                            uint64_t service);
void ipcm_gid_of(const struct verbs *verbs, uint32_t port, uint8_t gid[16]);

/* ipcm_channels.c */
static inline struct ipcm *ipcm_of(const struct verbs_client *client)
{
    return client->verbs->ipcm;
}
void ipcm_put_event(struct ipcm_channel *channel, const struct ipcm_event *event);
struct ipcm_channel *ipcm_find_channel(struct verbs_client *client, uint32_t object);
int ipcm_add_channel(struct verbs_client *client);
void ipcm_release_channel(struct verbs_client *client, uint32_t object);
int ipcm_next_event(struct verbs_client *client, uint32_t object);
struct ipcm_id *ipcm_find_id(const struct verbs_client *client, uint32_t number);
bool ipcm_has_many_events(const struct verbs_client *client, const struct ipcm_id *id);
int ipcm_open_id(struct verbs_client *client, const struct ipcm_request *request);
int ipcm_migrate_id(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                    uint32_t object);
/* Listens, or ceases to listen, at the ports of the ID. */
int ipcm_for_ports(struct ipcm *ipcm, const struct ipcm_id *id,
                   int (*act)(struct ipcm *ipcm, struct ipcm_port *port, uint64_t service));
void ipcm_count(const struct verbs_client *client, uint32_t *listening, uint32_t *connections);
void ipcm_release_client(struct verbs_client *client);
void ipcm_remove_id(struct ipcm *ipcm, uint32_t number);

/* ipcm_addresses.c */
int ipcm_bind(struct verbs_client *client, struct ipcm_id *id, const struct ipcm_address *from);
int ipcm_resolve(struct verbs_client *client, uint32_t number, struct ipcm_id *id,
                 const struct ipcm_request *request);
int ipcm_listen(struct verbs_client *client, struct ipcm_id *id, uint32_t backlog);
int ipcm_find_host(struct verbs_client *client, const struct ipcm_request *request);

/* ipcm_calls.c */
int ipcm_request(struct verbs_client *client, const struct ipcm_request *request);

/* ipcm_paths.c */
int ipcm_ask_path(struct ipcm *ipcm, uint32_t number, uint32_t timeout_ms);
int ipcm_join(struct ipcm *ipcm, uint32_t number, const struct ipcm_request *request);
int ipcm_leave(struct ipcm *ipcm, uint32_t number, const struct ipcm_request *request);
void ipcm_send_queries(struct ipcm *ipcm, uint64_t now);
void ipcm_take_answer(struct ipcm *ipcm, const struct mad_received *received);
void ipcm_leave_all(struct ipcm *ipcm, struct ipcm_id *id);

#endif
