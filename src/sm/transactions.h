/* Requests, and the window in which they are outstanding.
 *
 * A request is a Get or Set SMP that waits for its answer. Its kind says which attribute it asks
 * for or writes and who takes the outcome. Every part of the manager defines the kinds that it
 * sends as constants in its own file; transactions.c knows no kind by name. */
#ifndef WEFT_SM_TRANSACTIONS_H
#define WEFT_SM_TRANSACTIONS_H

#include "sm/sm.h"

#include <stddef.h>

struct request;

/* What follows from the end of a request. */
typedef void request_outcome(struct sm *sm, const struct request *request);

/* How long the next try of a request waits, and how many tries there are. */
struct request_effort {
    unsigned retries;
    uint64_t timeout_ns;
    bool ignores_loss; /* a time-out tells nothing about congestion */
};
typedef void request_adjust_effort(const struct sm *sm, const struct request *request,
                                   struct request_effort *effort);

/* What requests belong to; counted while they wait or are outstanding. */
enum request_group {
    GROUP_OTHER,
    GROUP_DISCOVERY, /* discovery is not complete before they end */
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
    request_outcome *ended;        /* called first, whatever the outcome; may be NULL */
    request_outcome *answered;     /* with status 0 */
    request_outcome *refused;      /* with another status; NULL: as if there were no answer */
    request_outcome *unanswered;   /* all tries timed out, or there is no path; may be NULL */
    bool loses_contact;            /* a target that does not answer is taken for gone */
    request_adjust_effort *effort; /* NULL: as configured */
};

/* What a request is about. Which member is valid follows from its kind. */
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
        uint32_t socket;
        uint32_t holds; /* quiesce_count() when it was sent */
    } function;         /* a virtual function, to be written */
    struct {
        uint32_t port, distribution;
    } state; /* of a port, set for the distribution of that number */
};

/* The order in which requests are sent. Pressing ones do not wait for room in the window: they are
 * few, and others wait for what they tell. */
enum request_priority { PRIORITY_NONE, PRIORITY_URGENT, PRIORITY_IMMEDIATE, PRIORITY_COUNT };

struct request {
    const struct request_kind *kind;
    union request_subject about;
    uint32_t target;  /* end port; SUBNET_NONE: the manager's own, before it is known */
    uint32_t through; /* the request goes one hop on, out of this port; else SUBNET_NONE */
    uint32_t modifier;
    uint8_t data[SMP_DATA_BYTES];
    const uint8_t *answer; /* for outcomes: the attribute in the answer … */
    uint16_t status;       /* … and its status */
    /* Private to transactions.c. */
    uint64_t deadline;
    uint32_t next;       /* in a queue or in the free list */
    uint32_t generation; /* of this slot; part of the transaction id */
    uint8_t tries, priority;
    bool outstanding;
};

/* A new request; valid until the next call of this function or of sm_submit(). */
struct request *sm_request(struct sm *sm, const struct request_kind *kind,
                           union request_subject about, uint32_t target);
void sm_submit(struct sm *sm, struct request *request, enum request_priority priority);
/* Both, without priority; `data` has SMP_DATA_BYTES, or is NULL: zeros. */
void sm_send(struct sm *sm, const struct request_kind *kind, union request_subject about,
             uint32_t target, uint32_t modifier, const uint8_t *data);
/* What follows if a request is not answered, for a refusal that is as good as that. */
void transactions_fail(struct sm *sm, const struct request *request);
bool transactions_next(struct sm *sm, struct sm_message *message);
void transactions_receive(struct sm *sm, const struct sm_message *message);
void transactions_expire(struct sm *sm);
uint64_t transactions_deadline(const struct sm *sm);
bool transactions_idle(const struct sm *sm);
uint32_t transactions_under_way(const struct sm *sm, enum request_group group);
/* Whether requests were dropped since the last call because there is no path to their targets. */
bool transactions_have_dropped(struct sm *sm);
uint64_t transactions_sent(const struct sm *sm);    /* SMPs, with those that were sent again */
uint32_t transactions_waiting(const struct sm *sm); /* without priority */
void transactions_drop_unreachable(struct sm *sm);  /* give up those that have no way any more */

#endif
