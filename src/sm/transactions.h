/* Requests, and the window of outstanding ones.
 *
 * A request is a Get or Set SMP and its answer. Its kind names the attribute and the functions that
 * handle the outcome. Every part of the manager defines the kinds that it sends as constants in its
 * own file; transactions.c does not depend on any of them. */
#ifndef WEFT_SM_TRANSACTIONS_H
#define WEFT_SM_TRANSACTIONS_H

#include "sm/sm.h"

#include <stddef.h>

struct request;

/* Handles the end of a request. */
typedef void request_outcome(struct sm *sm, const struct request *request);

/* Time-out of the next try of a request, and number of tries. */
struct request_effort {
    unsigned retries;
    uint64_t timeout_ns;
    bool ignores_loss; /* a time-out does not shrink the window */
    bool is_expected;  /* a time-out casts no suspicion on the path */
};
typedef void request_adjust_effort(const struct sm *sm, const struct request *request,
                                   struct request_effort *effort);
/* One try that says nothing about congestion: for requests that the next turn repeats. */
request_adjust_effort request_try_once;

/* transactions_under_way() counts requests by group while they are queued or outstanding. */
enum request_group {
    GROUP_OTHER,
    GROUP_DISCOVERY, /* discovery is complete when all have ended */
    GROUP_SWEEP,     /* of a light sweep */
    GROUP_TABLES,    /* Sets of SwitchInfo and of blocks of forwarding tables */
    GROUP_BLOCKS,    /* Sets of all other blocks (subnet/blocks.h) */
    GROUP_KEYS,      /* reads of partition tables */
    GROUP_AUDIT,     /* reads of forwarding tables for an audit */
    GROUP_COUNT
};

struct request_kind {
    const char *name; /* what it reads or writes; NULL: no log line names it */
    uint16_t attribute;
    bool writes; /* a Set; else a Get */
    enum request_group group;
    request_outcome *ended;        /* called before the other three; may be NULL */
    request_outcome *answered;     /* with status 0 */
    request_outcome *refused;      /* with another status; NULL: `unanswered` instead */
    request_outcome *unanswered;   /* all tries timed out, or there is no path; may be NULL */
    bool loses_contact;            /* a target that does not answer is removed */
    request_adjust_effort *effort; /* NULL: as configured */
};

/* The object of a request. Its kind determines which member is valid. */
union request_subject {
    uint32_t port;
    uint32_t node;
    uint32_t row; /* of the subnet's blocks */
    struct {
        uint32_t node, block;
    } table; /* a block of a switch's forwarding table */
    struct {
        uint32_t port, block;
    } keys; /* a block of an end port's partition table */
    struct {
        uint32_t vf_port;
        uint32_t holds; /* quiesce_count() when it was sent */
    } function;         /* a virtual function that is written */
    struct {
        uint32_t port, distribution;
    } state; /* of a port, set by the distribution with this number */
};

/* The order in which requests are sent. Immediate ones do not wait for room in the window: they are
 * few, and other requests depend on their answers. */
enum request_priority { PRIORITY_NONE, PRIORITY_URGENT, PRIORITY_IMMEDIATE, PRIORITY_COUNT };

struct request {
    const struct request_kind *kind;
    union request_subject about;
    uint32_t target;  /* end port; SUBNET_NONE: the manager's own, before it is known */
    uint32_t through; /* switch port of one more hop behind the target; else SUBNET_NONE */
    uint32_t modifier;
    uint8_t data[SMP_DATA_BYTES];
    const uint8_t *answer; /* in outcomes: the attribute in the answer */
    uint16_t status;       /* in outcomes: the status of the answer */
    uint64_t sent_at;      /* the last try */
    /* Private to transactions.c. */
    uint64_t path;           /* hash of the directed route of the last try; 0: routed by LID */
    uint32_t next;           /* in a queue, or in the free list of the pool */
    uint32_t id;             /* transaction ID, different in each request */
    uint8_t priority, tries; /* tries: so far; anybody may read them */
    uint8_t group; /* enum request_group: that of its kind, unless nothing waits for it any more */
    bool aside;    /* outstanding, but not in the window: its node is late */
};

/* A new request; valid until the next call of this function or of sm_submit(). */
struct request *sm_request(struct sm *sm, const struct request_kind *kind,
                           union request_subject about, uint32_t target);
void sm_submit(struct sm *sm, struct request *request, enum request_priority priority);
/* Creates and submits a request without priority. `data`: SMP_DATA_BYTES; NULL: zeros. */
void sm_send(struct sm *sm, const struct request_kind *kind, union request_subject about,
             uint32_t target, uint32_t modifier, const uint8_t *data);
/* Handles an unanswered request, or a refusal that has the same consequences. */
void transactions_fail(struct sm *sm, const struct request *request);
bool transactions_next(struct sm *sm, struct sm_message *message);
void transactions_receive(struct sm *sm, const struct sm_message *message);
bool transactions_idle(const struct sm *sm);
uint32_t transactions_under_way(const struct sm *sm, enum request_group group);
/* Whether requests without a path to their target were dropped since the last call. */
bool transactions_have_dropped(struct sm *sm);
uint32_t transactions_waiting(const struct sm *sm); /* queued without priority */
/* Directed routes have changed: ends outstanding requests whose target has no path any more, and
 * sends those that were sent by another path than the present one again. */
void transactions_follow_paths(struct sm *sm);

#endif
