/* The private side of host/verbs. */
#ifndef WEFT_HOST_VERBS_INTERNAL_H
#define WEFT_HOST_VERBS_INTERNAL_H

#include "base/map.h"
#include "base/mem.h"
#include "base/pool.h"
#include "fabric/data.h"
#include "host/verbs/verbs.h"
#include "transport/transport.h"

/* ---- adapters ---- */

/* An object of a client that an object of a transport layer belongs to. */
struct owner {
    struct verbs_client *client; /* NULL: none */
    uint32_t object;
};

/* A packet from an adapter to itself does not use the fabric. */
struct looped {
    uint64_t time;
    uint8_t port;
    struct transport_packet packet;
};

/* What programs were last told of a port. */
struct port_memory {
    uint16_t lid, sm_lid;
    bool active;
    uint64_t gid, p_keys; /* p_keys: a hash */
};

struct adapter {
    struct verbs *verbs;
    struct transport *transport;
    uint32_t node, first_port; /* first_port: index in the fabric of port 1 */
    unsigned ports;
    uint64_t wake;      /* the earliest call that was asked for; TIME_NEVER: none */
    struct map regions; /* by key: number in verbs->regions */
    VEC(struct owner) qps;
    VEC(struct owner) cqs;
    VEC(struct owner) srqs;
    VEC(struct looped) looped;
    size_t looped_taken;
    uint64_t loop_free; /* when the next packet to the adapter itself can begin */
    struct port_memory memory[TRANSPORT_PORTS_MAX + 1];
};

/* ---- objects of clients ---- */

struct region {
    uint32_t next; /* of the pool */
    uint32_t generation;
    struct verbs_client *client; /* NULL: free */
    uint32_t key;
    uint64_t start, bytes, memory;
};

/* Memory that clients have made the server take: shared memory, the copies of its entries, and what
 * these take in the transport layer.
 * There is a limit for each client and one for all. */
struct budget {
    uint64_t bytes;
    uint32_t rings;
};

struct mapping { /* shared memory */
    uint8_t *at;
    size_t bytes;
    uint64_t charged; /* with what belongs to it elsewhere */
    int descriptor;   /* until it has been sent */
};

struct channel {
    bool used;
    uint32_t users;
    int pipe;
};

struct cq {
    bool used;
    uint32_t number, capacity, channel, users;
    uint32_t produced;
    struct mapping ring;
};

/* One direction of a ring with work, and the server's copy of the entries. */
struct work_queue {
    uint32_t capacity, stride, taken, segments;
    uint64_t offset; /* in the mapping */
    uint8_t *copies;
};

struct srq {
    bool used;
    uint32_t number;
    struct mapping ring;
    struct work_queue receives;
    bool *busy; /* by slot */
};

struct qp {
    bool used, broken; /* broken: memory that it needed is gone */
    uint32_t number, epoch, send_cq, receive_cq, srq, service;
    uint32_t groups; /* that it is attached to */
    struct mapping ring;
    struct work_queue sends, receives;
    struct verbs_qp_attributes attributes; /* GID indices of paths */
};

struct domain {
    bool used;
    uint32_t number;
};

/* Where events of librdmacm wait: the pipe has a byte for each of them, as far as there is room. */
struct ipcm_channel {
    bool used;
    uint32_t users;
    int pipe;
    VEC(struct ipcm_event) events;
    size_t taken, tokens; /* tokens: bytes in the pipe */
};

/* What a program had done at a time (of the wall clock). */
struct sample {
    uint64_t at, messages, bytes;
};

struct verbs_client {
    struct verbs *verbs;
    struct adapter *adapter;
    void *owner;
    int memory; /* descriptor of the program's address space, or -1 */
    bool dead;  /* that address space is gone */
    int events; /* pipe of asynchronous events, or -1 */
    struct mapping page;
    uint32_t process;   /* as the program says: whom to wake in simulated time */
    uint64_t next_work; /* simulated time of the first request that was not taken */
    bool failed;
    struct budget used;
    size_t next_qp; /* the first one of the next pass over its work */
    VEC(struct domain) domains;
    VEC(uint32_t) regions; /* number in verbs->regions, or VERBS_NONE */
    VEC(struct channel) channels;
    VEC(struct cq) cqs;
    VEC(struct srq) srqs;
    VEC(struct qp) qps;
    VEC(struct ipcm_channel) ipcm_channels;
    uint32_t ipcm_ids;
    struct verbs_answer answer;
    int descriptors[2];
    bool answering;
    uint64_t sends_taken, receives_taken, completions, read_bytes, written_bytes;
    struct sample samples[2]; /* the older one, and one that is a second younger or more */
};

/* The object of this number, if it exists; or NULL. */
#define OBJECT_FIND(list, number)   (OBJECT_EXISTS(list, number) ? &(list)->items[number] : NULL)
#define OBJECT_EXISTS(list, number) ((number) < (list)->count && (list)->items[number].used)

/* The number of an unused item, of at most VERBS_OBJECTS; VERBS_NONE: there is none. */
#define OBJECT_TAKE(list, number)                                                                  \
    do {                                                                                           \
        (number) = 0;                                                                              \
        while ((number) < (list)->count && (list)->items[number].used)                             \
            (number)++;                                                                            \
        if ((number) >= VERBS_OBJECTS)                                                             \
            (number) = VERBS_NONE;                                                                 \
        else                                                                                       \
            (void)vec_at((list), (number));                                                        \
    } while (0)

/* The payload of a packet in the fabric. */
struct buffer {
    uint32_t next; /* of the pool */
    uint8_t data[TRANSPORT_MTU_MAX];
};

struct verbs {
    struct fabric *fabric;
    struct ipcm *ipcm; /* NULL: there is no connection manager */
    bool started;
    uint64_t until; /* later work is not taken */
    struct verbs_listener listener;
    struct budget used; /* by all clients */
    uint64_t now;       /* the wall clock, as ipcm_run() has it */
    uint32_t epoch;
    uint32_t packets; /* in buffers or on the way */
    VEC(struct adapter *) adapters;
    VEC(struct verbs_client *) clients;
    uint32_t *adapter_of; /* by port: index of `adapters`, or MAP_NONE */
    POOL(struct region) regions;
    POOL(struct buffer) buffers;
};

/* Before something is written to a pipe of a program. */
static inline void verbs_notice(const struct verbs *verbs)
{
    if (verbs->listener.notified)
        verbs->listener.notified(verbs->listener.context);
}

static inline struct verbs_page *page_of(const struct verbs_client *client)
{
    return (struct verbs_page *)(void *)client->page.at;
}

/* adapter.c */
struct adapter *adapter_find(struct verbs *verbs, uint32_t node); /* made if there is none */
void adapter_serve(struct adapter *adapter);                      /* after its transport was fed */
void adapter_release(struct adapter *adapter);
void adapter_call_at(struct adapter *adapter, uint64_t time); /* network time; TIME_NEVER: no */
uint32_t adapter_mtu(const struct adapter *adapter, unsigned port); /* of packets, bytes */
static inline uint32_t adapter_port(const struct adapter *adapter, unsigned number)
{
    return adapter->first_port + number - 1;
}
void adapter_gid(const struct adapter *adapter, unsigned port, unsigned index, uint8_t gid[16]);
unsigned adapter_gid_count(const struct adapter *adapter, unsigned port);
void adapter_break_qp(struct adapter *adapter, uint32_t number); /* its memory is gone */

/* memory.c: how payloads and accesses name a program's memory */
enum memory_kind { MEMORY_SEND, MEMORY_RECEIVE, MEMORY_SHARED };
static inline uint64_t memory_name(enum memory_kind kind, uint32_t object, uint32_t slot)
{
    return (uint64_t)kind << 62 | (uint64_t)object << 32 | slot;
}
static inline uint32_t memory_object(uint64_t name)
{
    return (uint32_t)(name >> 32) & 0x3FFFFFFF;
}
static inline uint64_t region_name(const struct region *region, uint32_t number)
{
    return (uint64_t)region->generation << 32 | number;
}
/* Copies the payload of a packet that leaves. */
bool memory_read_payload(struct adapter *adapter, const struct transport_payload *payload,
                         uint8_t *data);
/* Does what the transport layer asks for. `data`: the payload of the packet. */
bool memory_execute(struct adapter *adapter, const struct transport_access *access,
                    const uint8_t *data);
/* Whether the access is to the memory of a send request: what a READ or an atomic brought. */
bool memory_is_requester(const struct transport_access *access);

/* completion.c */
void completion_drain(struct adapter *adapter, uint32_t number); /* of this CQ */
void completion_put_failed(struct verbs_client *client, const struct qp *qp, uint64_t id,
                           uint32_t count);
void event_report(struct adapter *adapter, const struct transport_event *event);
void event_send(struct verbs_client *client, uint32_t type, uint32_t object);

/* queue_pair.c, objects.c: requests. They fill the answer and return its result. */
int qp_add(struct verbs_client *client, const struct verbs_request *request);
int qp_modify(struct verbs_client *client, const struct verbs_request *request);
int qp_query(struct verbs_client *client, const struct verbs_request *request);
int qp_join_group(struct verbs_client *client, const struct verbs_request *request);
void path_from_transport(const struct transport_path *from, struct verbs_path *path);
int qp_remove(struct verbs_client *client, uint32_t object);
int object_request(struct verbs_client *client, const struct verbs_request *request);
void objects_release(struct verbs_client *client);
/* `more`: bytes of memory that its entries may take elsewhere. -ENOMEM: over a limit. */
int mapping_make(struct verbs_client *client, struct mapping *mapping, size_t bytes, uint64_t more);
void mapping_release(struct verbs_client *client, struct mapping *mapping);
/* Passes a descriptor along with the answer, which owns it from now on. */
void answer_with(struct verbs_client *client, int descriptor);
void answer_with_mapping(struct verbs_client *client, struct mapping *mapping);

/* work.c */
void work_take(struct verbs_client *client);                /* a part, if much was posted */
uint64_t work_next_time(const struct verbs_client *client); /* of what was not taken */
/* -ENOMEM: there is no memory for the copies. */
int work_init(struct work_queue *queue, uint32_t capacity, uint32_t stride, uint32_t segments,
              uint64_t offset);
void work_release(struct work_queue *queue);
bool path_to_transport(const struct verbs_client *client, const struct verbs_path *from,
                       unsigned port, struct transport_path *path);

#endif
