/* Private to the files of the MAD layer. */
#ifndef WEFT_HOST_MAD_MAD_INTERNAL_H
#define WEFT_HOST_MAD_MAD_INTERNAL_H

#include "base/map.h"
#include "base/pool.h"
#include "base/time.h"
#include "des/des.h"
#include "host/mad/mad_layer.h"

#define NONE UINT32_MAX /* no slot */

enum timer_kind { TIMER_REQUEST, TIMER_SENDER, TIMER_RECEIVER };

struct mad_agent {
    struct mad_file *file;
    struct mad_agent *next; /* of the same port */
    uint32_t number;        /* in its file */
    uint32_t high_tid;      /* upper half of its transaction IDs */
    struct registration registration;
};

/* State that all files of one port share. */
struct mad_port {
    struct mad_agent *agents;
    uint32_t files; /* open */
};

/* A request without an answer yet. */
struct mad_request {
    uint64_t tid;
    struct mad_agent *agent; /* NULL: a free slot */
    struct mad_head head;    /* as the program gave it */
    struct packet_header packet;
    uint8_t mad[MAD_BYTES];
    uint64_t timeout_ps;
    uint32_t retries;
    des_handle timer;
    uint32_t next; /* request with the same transaction ID, or the next free slot */
};

struct mad_file {
    struct mad_layer *layer;
    void *owner;
    uint32_t port;
    struct mad_agent *agents[FILE_AGENTS];
    struct mad_received *first, *last;
    uint64_t queued_bytes;
    uint32_t returned;     /* queued requests that timed out */
    struct map by_source;  /* LID → number of queued messages that are not answers */
    struct mad_file *next; /* of all files */
    bool ready;            /* is in the layer's `ready` */
    struct mad_file_status status;
};

struct mad_layer {
    struct fabric *fabric;
    struct mad_file *files;
    VEC(struct mad_file *) ready; /* files with new messages */
    VEC(struct mad_port) ports;
    struct map port_slots; /* fabric port to index in `ports` */
    VEC(struct mad_agent *) agents;
    struct map agent_slots; /* high_tid to index in `agents` */
    uint32_t last_high_tid;
    POOL(struct mad_request) requests;
    struct map request_slots; /* transaction ID to index in `requests` */
    struct des *timers;
    struct mad_rmpp {
        struct transfer *first;       /* most recently used */
        VEC(struct transfer *) slots; /* by number in a timer event; NULL: free */
    } rmpp;
};

/* mad_layer.c */
struct mad_port *mad_layer_port(struct mad_layer *layer, uint32_t port);
void mad_file_enqueue(struct mad_file *file, const struct mad_head *head, const uint8_t *data,
                      size_t bytes);
void mad_agent_give(struct mad_agent *agent, const struct fabric_delivery *delivery,
                    const uint8_t *message, size_t bytes);
/* The header of an answer to a packet. */
struct packet_header mad_answer_header(const struct packet_header *in);
bool mad_is_duplicate(const struct mad_layer *layer, const uint8_t *mad);

/* mad_agents.c */
struct mad_agent *mad_agent_by_tid(const struct mad_layer *layer, uint32_t port, uint64_t tid);
struct mad_agent *mad_agent_by_method(const struct mad_layer *layer, uint32_t port,
                                      const uint8_t *mad);
/* Whether the MAD belongs to an RMPP transfer that this layer handles for the agent. */
bool mad_agent_has_rmpp(const struct mad_agent *agent, const uint8_t *mad);
static inline bool mad_has_active_rmpp(const uint8_t *mad)
{
    /* Programs set only this flag; the sender fills in the rest of the RMPP header. */
    return mad_class_has_rmpp((unsigned)wire_get(mad, MAD_CLASS)) &&
           (wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_ACTIVE);
}
void mad_agent_drop(struct mad_agent *agent);

/* mad_requests.c */
void mad_request_add(struct mad_agent *agent, uint64_t now, const struct mad_head *head,
                     const struct packet_header *packet, const uint8_t mad[MAD_BYTES]);
uint32_t mad_request_find(const struct mad_layer *layer, uint64_t tid, unsigned class);
void mad_request_done(struct mad_layer *layer, uint32_t index);
void mad_request_expire(struct mad_layer *layer, uint64_t now, uint32_t index);
void mad_requests_drop(struct mad_agent *agent);

/* mad_rmpp.c */
int mad_rmpp_send(struct mad_agent *agent, uint64_t now, const struct mad_head *head,
                  const struct packet_header *packet, const uint8_t *message, size_t bytes);
/* A packet of an RMPP transfer of this agent. */
void mad_rmpp_receive(struct mad_agent *agent, uint64_t now,
                      const struct fabric_delivery *delivery);
void mad_rmpp_expire(struct mad_layer *layer, uint64_t now, const struct event *event);
void mad_rmpp_drop(struct mad_agent *agent);

#endif
