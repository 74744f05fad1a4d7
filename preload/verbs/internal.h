/* The private side of the stand-in for libibverbs: what is behind the structures that programs see.
 *
 * A context is a connection to the fabric server (host/socket/verbs_protocol.h). Objects of the
 * server have numbers, by which completions and events name them; the tables of a context find them
 * again. `lock` guards the tables and the requests, and each queue has a lock of its own. */
#ifndef WEFT_PRELOAD_VERBS_INTERNAL_H
#define WEFT_PRELOAD_VERBS_INTERNAL_H

#include "host/socket/verbs_protocol.h"
#include "preload/client.h"

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
#undef ibv_get_device_list

#define CONTAINER(pointer, type, member)                                                           \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct table {
    void **items;
    uint32_t count;
};

struct context {
    struct verbs_context verbs; /* first; its last member is the struct ibv_context */
    int socket;
    bool forked;
    pthread_mutex_t lock, request_lock;
    struct verbs_page *page;
    struct context *next; /* of all that are open */
    uint32_t ports;
    struct answer_ca ca;
    struct table qps, cqs, srqs;
    struct table regions; /* by key >> 8 */
    uint32_t empty_polls; /* since one found something */
};

struct ring {
    uint8_t *at;
    size_t bytes;
};

struct work_ring {
    uint8_t *entries;
    uint32_t *posted; /* shared */
    uint32_t capacity, stride, segments;
    uint32_t head, tail; /* posted; known to be complete */
};

struct pd {
    struct ibv_pd pd;
    struct pd *parent; /* of a parent domain, or NULL */
};

struct mr {
    struct ibv_mr mr;
    uint64_t start;
    unsigned access;
};

struct channel {
    struct ibv_comp_channel channel;
    uint32_t object;
};

struct cq {
    struct ibv_cq_ex cq;
    pthread_mutex_t lock;
    struct ring ring;
    uint32_t object, capacity, consumed;
    uint32_t events, async_events; /* that programs were given */
    uint32_t waiting;              /* the count of completions when the CQ was seen empty */
    uint32_t empty;                /* the same, the time before */
    struct ibv_wc now;             /* the extended interface: the current completion */
};

struct srq {
    struct ibv_srq srq;
    pthread_mutex_t lock;
    struct ring ring;
    struct work_ring receives;
    uint32_t *free_slots, free_count;
    uint32_t object, limit, events;
    struct pd *pd;
};

struct qp {
    struct ibv_qp_ex qp; /* its first member is the struct ibv_qp */
    pthread_mutex_t lock;
    struct ring ring;
    struct work_ring sends, receives;
    struct pd *pd;
    uint32_t object, epoch, events;
    struct ibv_qp_init_attr init;
    struct verbs_send *building; /* extended interface */
    uint32_t built;
    int build_error;
};

struct ah {
    struct ibv_ah ah;
    struct verbs_path path;
};

static inline struct context *context_of(struct ibv_context *context)
{
    return CONTAINER(context, struct context, verbs.context);
}
static inline struct cq *cq_of(struct ibv_cq *cq)
{
    return (struct cq *)cq;
}
static inline struct qp *qp_of(struct ibv_qp *qp)
{
    return (struct qp *)qp;
}
static inline struct srq *srq_of(struct ibv_srq *srq)
{
    return (struct srq *)srq;
}
static inline struct pd *pd_of(struct ibv_pd *pd)
{
    struct pd *of = (struct pd *)pd;
    return of->parent ? of->parent : of;
}

/* device.c. Sends a request (struct verbs_request or ipcm_request) and reads the answer: 0, or
 * -errno, which errno has, too. */
int verbs_call(struct context *context, const void *request, size_t bytes,
               struct verbs_answer *answer, int descriptors[2]);
int verbs_map(struct ring *ring, int descriptor); /* closes the descriptor */
void verbs_unmap(struct ring *ring);
void verbs_ring_doorbell(struct context *context); /* after work was posted */
int verbs_query_port(struct ibv_context *context, uint32_t number, struct verbs_port *port);
/* A call that only names an object. */
int verbs_remove(struct ibv_context *context, enum verbs_kind kind, uint32_t object);
/* Programs acknowledge the events that they were given; others may wait for that. */
void verbs_wait_for_events(pthread_mutex_t *mutex, pthread_cond_t *cond,
                           const uint32_t *acknowledged, uint32_t given);
int table_set(struct context *context, struct table *table, uint32_t index, void *item);
/* After the server has removed the object. Another thread may have got its number since: the entry
 * of a newer object stays. */
void table_clear(struct context *context, struct table *table, uint32_t index, const void *item);
static inline void *table_get(const struct table *table, uint32_t index)
{
    return index < table->count ? table->items[index] : NULL;
}
static inline void *fail(int error)
{
    errno = error;
    return NULL;
}

/* memory.c: whether a region of the domain covers it. */
bool memory_covers(struct context *context, const struct pd *pd, uint32_t key, uint64_t address,
                   uint32_t bytes);

/* address.c */
int address_to_path(const struct ibv_ah_attr *from, struct verbs_path *path);
void address_from_path(const struct verbs_path *from, unsigned port, struct ibv_ah_attr *to);
uint32_t mtu_bytes(enum ibv_mtu mtu);
enum ibv_mtu mtu_code(uint32_t bytes);

/* qp.c: the operations of a service, bits IBV_QP_EX_WITH_..., which are 1 << IBV_WR_.... */
uint64_t qp_operations(enum ibv_qp_type type);
void qp_attributes_from_server(const struct verbs_qp_attributes *from, struct ibv_qp_attr *to);
int qp_mask_from_server(uint32_t mask);

/* cq.c, qp.c, work.c: what a context offers */
void cq_offer(struct verbs_context *verbs);
void qp_offer(struct verbs_context *verbs);
void work_offer(struct verbs_context *verbs);
void device_offer(struct verbs_context *verbs);
void work_extend(struct qp *qp); /* the functions of the extended interface */
void srq_give_slot(struct srq *srq, uint32_t slot);
/* Gives back what the completions that wait have taken from the SRQ of a QP which is gone. */
void cq_return_slots(struct cq *cq, const struct qp *qp);

#endif
