/* The private side of the stand-in for librdmacm.
 *
 * The server is the connection manager (host/socket/ipcm_protocol.h). This library keeps what
 * belongs to the program: event channels, IDs with their QPs, and the device, which it opens once
 * and which all IDs share. As the real library does, it changes the states of a QP that it has
 * created for an ID. */
#ifndef WEFT_PRELOAD_RDMACM_INTERNAL_H
#define WEFT_PRELOAD_RDMACM_INTERNAL_H

#include "preload/verbs/internal.h"

#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>

struct event_channel {
    struct rdma_event_channel channel;
    uint32_t object;
    unsigned readers; /* threads that wait for an event */
    bool destroyed;
};

struct group {
    struct group *next;
    uint64_t number;
    struct sockaddr_storage address;
    void *context;
    uint8_t mgid[16];
    uint16_t mlid;
    bool attached;
    uint32_t events_given, events_acked;
};

struct id {
    struct rdma_cm_id id;
    uint32_t object;
    bool own_channel; /* a synchronous ID */
    bool failed;      /* its QP could not be made ready: later events say nothing new */
    uint32_t events_given, events_acked;
    uint8_t responder_resources, initiator_depth; /* what the other end has offered */
    struct ibv_qp_init_attr *init;                /* of QPs for requests: rdma_create_ep() */
    struct ibv_pd *requests_pd;
    struct group *groups;
};

struct event {
    struct rdma_cm_event event; /* first */
    struct id *owner;           /* is not freed before the event has been acknowledged */
    struct group *group;
    uint8_t data[IPCM_DATA];
};

static inline struct id *id_of(struct rdma_cm_id *id)
{
    return (struct id *)id;
}

/* device.c: the device that all IDs use, opened at the first call. NULL: there is none. */
struct context *cm_device(void);
struct ibv_pd *cm_domain(void);
/* Sends a request about an object. 0, or -1 and errno. */
int cm_call(struct ipcm_request *request, struct verbs_answer *answer, int descriptors[2]);
struct id *cm_find(uint32_t object);
int cm_keep(uint32_t object, struct id *id);
void cm_forget(uint32_t object, const struct id *id);
/* Events are acknowledged under this lock. */
extern pthread_mutex_t cm_events_lock;
extern pthread_cond_t cm_events_acked;

/* id.c */
struct id *id_new(struct rdma_event_channel *channel, void *context, enum rdma_port_space space);
void id_take_view(struct id *id, const struct ipcm_view *view);
int id_refresh(struct id *id); /* asks the server for what it has resolved */
int id_wait(struct id *id);    /* a synchronous ID: for the event of its last call */

/* address.c: only IPv4. -1 and EAFNOSUPPORT. */
int address_to_server(const struct sockaddr *from, struct ipcm_address *to);
void address_from_server(const struct ipcm_address *from, struct sockaddr_storage *to);

/* queue_pair.c */
int queue_pair_connect(struct id *id, uint8_t reads_accepted, uint8_t reads); /* to RTS */
void queue_pair_fail(struct id *id);

#endif
