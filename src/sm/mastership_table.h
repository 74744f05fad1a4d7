/* The SMInfo state machine (14.4.1) as a table, independent of subnet, clock and messages.
 * mastership.c generates the events and performs the actions. */
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
    /* Discovery found no manager to stand by for. */
    ON_DISCOVERED,
    /* A standby's polls of its master. */
    ON_POLL_DUE,
    ON_MASTER_UNKNOWN, /* a poll is due, and no master is known */
    ON_POLL_ANSWERED,
    ON_POLL_DENIED, /* the polled manager is not master */
    ON_POLL_UNANSWERED,
    ON_MASTER_RESIGNED, /* too many polls failed, the last one denied */
    ON_MASTER_LOST,     /* too many polls failed, the last one unanswered */
    /* A master's Set(SMInfo, HANDOVER). */
    ON_HANDOVER_ACCEPTED,
    ON_HANDOVER_FAILED, /* refused or unanswered */
    ON_SWEEP_BEGINS,
    MASTERSHIP_EVENTS
};

enum mastership_action {
    DO_NOTHING, /* a Set is refused */
    DO_MOVE,    /* to the next state, and nothing else */
    DO_SEEK_SUCCESSOR,
    DO_SEEK_SUCCESSOR_AND_YIELD,
    DO_SEND_HANDOVER,
    DO_FORGET_HANDOVER,
    DO_ACKNOWLEDGE_HANDOVER,
    DO_MERGE_SUBNETS, /* acknowledge a handover and discover everything again */
    DO_REDISCOVER,    /* another master may have overwritten settings */
    DO_WATCH,         /* the other manager is the master from now on */
    DO_SEND_POLL,
    DO_RECORD_MASTER,
    DO_COUNT_FAILED_POLL,
    DO_COUNT_FAILED_POLL_AND_REPEAT, /* the next poll is due soon */
    DO_GIVE_UP_MASTER,
    MASTERSHIP_ACTIONS
};

/* A transition whose guard does not hold is ignored. */
enum mastership_guard {
    ALWAYS,
    UNLESS_SYNCING,
    UNLESS_ENDING,
    IF_HANDING_OVER,
    UNLESS_HANDING_OVER,
    IF_LEAVING, /* ending or yielding, and not handing over yet */
};

struct mastership_transition {
    enum mastership_guard guard;
    enum mastership_action action;
    enum sm_state next;
    const char *why; /* NULL: the state stays */
};
extern const struct mastership_transition mastership_table[MASTERSHIP_STATES][MASTERSHIP_EVENTS];

/* The conditions that guards test. */
struct mastership_facts {
    bool syncing;      /* registrations of clients are being copied from the master */
    bool ending;       /* the owner ends this manager */
    bool yielding;     /* the owner requested a handover */
    bool handing_over; /* Set(SMInfo, HANDOVER) was sent; its outcome is not known */
};

/* The transition of an event: DO_NOTHING and the same state if there is none. */
struct mastership_transition mastership_step(enum sm_state state, enum mastership_event event,
                                             struct mastership_facts facts);

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
