/* What the three files of mastership share: mastership.c (states), sm_info.c (messages), polls.c.
 */
#ifndef WEFT_SM_MASTERSHIP_INTERNAL_H
#define WEFT_SM_MASTERSHIP_INTERNAL_H

#include "sm/internal.h"
#include "sm/mastership/mastership.h"
#include "sm/transactions.h"

struct other {
    uint8_t unanswered;    /* queries in a row */
    uint8_t skipped;       /* polls by a master */
    bool polled;           /* by a master; the answer is outstanding */
    uint64_t silent_since; /* the first of them; 0: it answered */
    uint64_t no_hint_before;
    uint64_t
        offer_at; /* when a master offers it a handover; 0: it is not a standby; TIME_NEVER: done */
    uint64_t prompt_at; /* time of the next mastership_prompt_rival(); 0: it is not master */
};

struct mastership {
    struct mastership_core core; /* managers are known by their ports */
    uint32_t given_up;           /* port of a master that was given up; SUBNET_NONE: none */
    uint64_t next_poll;          /* of its master by a standby, of other managers by a master */
    bool syncing;                /* see sm_set_syncing() */
    uint64_t refuses_until;      /* limit for that; 0: no handover was refused */
    bool has_yielded;            /* the manager yielded once: its priority is 0 */
    uint32_t last_successor;     /* port that got the last HANDOVER, or SUBNET_NONE */
    bool refused;                /* it did not take over; `refusal` is the status of its answer */
    unsigned refusal;            /* 0: it did not answer */
    bool has_candidates;         /* other managers were queried for a handover */
    bool reading_port;           /* of the master */
    uint32_t smps;               /* SMPs received */
    uint32_t number;             /* of masterships of this manager */
    VEC(struct other) others;    /* by port of another manager */
    VEC(uint32_t) known;         /* ports at which another manager was found */
};

struct event_details {
    uint32_t port;                    /* of the other manager, or SUBNET_NONE */
    const uint8_t *info;              /* its SMInfo, or NULL */
    const struct sm_message *message; /* the Set that it sent, or NULL */
};

static inline struct other *other_at(struct sm *sm, uint32_t port)
{
    return vec_at(&sm->mastership->others, port);
}

/* mastership.c. Returns false if the state ignores the event. */
bool mastership_handle_from(struct sm *sm, enum mastership_event event,
                            const struct event_details *details);

/* polls.c. The manager there has not answered for 10 s. */
bool mastership_is_silent(struct sm *sm, uint32_t port);

/* sm_info.c */
struct mastership_peer mastership_rank(const struct sm *sm); /* of this manager */
struct mastership_peer mastership_read_info(const uint8_t *info);
/* Sends a Get or Set that carries this manager's SMInfo. */
void mastership_send_info(struct sm *sm, const struct request_kind *kind, uint32_t port,
                          uint32_t modifier, enum request_priority priority);
void mastership_send_handover(struct sm *sm, const struct event_details *details);
void mastership_acknowledge(struct sm *sm, const struct event_details *details);
void mastership_send_rank_trap(struct sm *sm, uint32_t port);

/* polls.c */
request_outcome mastership_is_alive;
bool mastership_has_manager(const struct sm *sm, uint32_t port);
void mastership_poll_other(struct sm *sm, uint32_t port);
void mastership_poll_master(struct sm *sm);
void mastership_read_master_port(struct sm *sm);
void mastership_prompt_rival(struct sm *sm, uint32_t port);
void mastership_expire(struct sm *sm);
uint64_t mastership_deadline(const struct sm *sm);

#endif
