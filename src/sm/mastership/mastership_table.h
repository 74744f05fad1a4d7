/* The SMInfo state machine (14.4.1) as a table and a small core, independent of subnet, clock and
 * messages. mastership.c generates the events and sends the messages of the actions. The core has
 * no pointers: tests copy it and explore all its states. */
#ifndef WEFT_SM_MASTERSHIP_TABLE_H
#define WEFT_SM_MASTERSHIP_TABLE_H

#include "sm/sm.h"

enum { MASTERSHIP_STATES = SM_MASTER + 1 };

enum mastership_event {
    ON_NO_EVENT,
    /* From the owner. */
    ON_START,
    ON_START_AS_MASTER, /* there is no other manager, by configuration */
    ON_YIELD,           /* hand over to any standby and become one */
    ON_END,             /* hand over to any standby and become inactive */
    ON_NO_SUCCESSOR,    /* after ON_END: there is no other manager */
    /* Set(SMInfo) from another manager, by attribute modifier. */
    ON_HANDOVER,
    ON_ACKNOWLEDGE,
    ON_DISABLE,
    ON_STANDBY,
    ON_DISCOVER,
    /* Another manager answered a query of discovery or of a sweep: its state and rank. */
    ON_MET_LOWER_MASTER,
    ON_MET_HIGHER_MASTER,
    ON_MET_LOWER_STANDBY,
    ON_MET_YIELDED_STANDBY, /* higher by its GUID only, and it has yielded before */
    ON_MET_HIGHER_STANDBY,
    ON_MET_HIGHER_DISCOVERING,
    ON_RIVAL_GONE, /* another master became standby or vanished */
    /* Discovery is complete and found no master. */
    ON_DISCOVERED,
    ON_OUTRANKED, /* instead of it: a manager of higher rank is awaited */
    /* A standby's polls of its master. */
    ON_POLL_DUE,
    ON_MASTER_UNKNOWN, /* a poll is due, and no master is known */
    ON_POLL_ANSWERED,
    ON_POLL_DENIED, /* the polled manager is not master */
    ON_POLL_UNANSWERED,
    ON_MASTER_RESIGNED, /* too many polls were denied */
    ON_AWAITED_IN_VAIN, /* the same; the polled manager never was master */
    ON_MASTER_STALLED,  /* too many polls were unanswered */
    ON_MASTER_ENDED,    /* IsSM of its port is clear: its process has ended */
    ON_MASTER_LOST,     /* its port does not answer */
    /* A master's Set(SMInfo, HANDOVER). */
    ON_HANDOVER_ACCEPTED,
    ON_HANDOVER_FAILED, /* refused or unanswered */
    ON_SWEEP_BEGINS,
    ON_LINK_RESTORED,    /* of the manager's own port: other nodes may be behind it */
    ON_NEIGHBOR_ANSWERS, /* of a standby that could not read it (neighbor.c) */
    MASTERSHIP_EVENTS
};

enum mastership_action {
    DO_NOTHING, /* a Set is refused */
    DO_ACCEPT,  /* a Set has no effect */
    DO_MOVE,    /* to the next state, and nothing else */
    DO_SEEK_SUCCESSOR,
    DO_SEEK_SUCCESSOR_AND_YIELD,
    DO_SEND_HANDOVER,
    DO_FORGET_HANDOVER,
    DO_ACKNOWLEDGE_HANDOVER,
    DO_MERGE_SUBNETS, /* acknowledge a handover and discover everything again */
    DO_REDISCOVER,    /* another master may have overwritten settings */
    DO_PROMPT_RIVAL,  /* to look for other masters: it has to hand over */
    DO_WATCH,         /* the other manager is the master from now on */
    DO_AWAIT,         /* the other manager should become master */
    DO_WATCH_AWAITED, /* poll it until it does */
    DO_SEND_POLL,
    DO_RECORD_MASTER,
    DO_COUNT_DENIED_POLL,
    DO_COUNT_UNANSWERED_POLL, /* and read the port of the master */
    DO_GIVE_UP_MASTER,
    DO_GIVE_UP_AWAITING,
    MASTERSHIP_ACTIONS
};

/* A transition whose guard does not hold is ignored. */
enum mastership_guard {
    ALWAYS,
    UNLESS_SYNCING,
    UNLESS_ENDING,
    UNLESS_HANDING_OVER,
    IF_LEAVING,        /* ending or yielding, and not handing over yet */
    IF_FROM_SUCCESSOR, /* the manager that was sent HANDOVER */
    IF_FROM_MASTER,    /* the manager that this standby polls */
    UNLESS_IMPATIENT,
};

extern const char *const mastership_event_names[MASTERSHIP_EVENTS]; /* for debug lines */

struct mastership_transition {
    enum mastership_guard guard;
    enum mastership_action action;
    enum sm_state next;
    const char *why; /* NULL: the state stays */
};
extern const struct mastership_transition mastership_table[MASTERSHIP_STATES][MASTERSHIP_EVENTS];

#define MASTERSHIP_NOBODY UINT32_MAX

/* Other managers are opaque numbers; the other files use their ports. */
struct mastership_core {
    enum sm_state state;
    uint32_t master;    /* that a standby polls */
    uint32_t awaited;   /* that a discovering manager found: not master, but of higher rank */
    uint32_t successor; /* that was sent HANDOVER; the outcome is not known */
    uint8_t unanswered; /* polls in a row */
    uint8_t denied;     /* polls in a row */
    bool unconfirmed;   /* `master` has not been master since it is polled */
    bool impatient;     /* gave up waiting for a higher-ranked manager; do not wait again */
    bool syncing;       /* it refuses a handover: see sm_set_syncing() and neighbor_stands_by() */
    bool ending;        /* the owner ends this manager */
    bool yielding;      /* the owner requested a handover */
};
void mastership_core_init(struct mastership_core *core);

/* The number of polls after which a standby gives its master up. */
struct mastership_limits {
    unsigned unanswered; /* one more than this number, although IsSM is set */
    unsigned denied;     /* by a manager that was master */
    unsigned awaited;    /* by a manager that was not */
};

/* The transition of an event: DO_NOTHING and the same state if there is none. `who`: the other
 * manager, or MASTERSHIP_NOBODY. */
struct mastership_transition mastership_step(const struct mastership_core *core,
                                             enum mastership_event event, uint32_t who);
/* Takes a transition, without its messages. */
void mastership_take(struct mastership_core *core, struct mastership_transition step, uint32_t who);
/* The events that follow from the state of the core: when discovery is complete, when a poll is due
 * and after a poll. ON_NO_EVENT: none. */
enum mastership_event mastership_discovered(const struct mastership_core *core);
enum mastership_event mastership_poll(const struct mastership_core *core);
enum mastership_event mastership_polled(const struct mastership_core *core,
                                        const struct mastership_limits *limits);

/* Rank and state of a manager, from its SMInfo. */
struct mastership_peer {
    uint64_t guid;
    unsigned priority;
    enum sm_state state;
    bool yielded; /* a standby that handed over on request */
};
bool mastership_outranks(const struct mastership_peer *them, const struct mastership_peer *us);
enum mastership_event mastership_classify(const struct mastership_peer *us,
                                          const struct mastership_peer *them);

#endif
