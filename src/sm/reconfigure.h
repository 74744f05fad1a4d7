/* Reconfiguration: the phases from a change of the subnet to tables that are in force, the events
 * that move between them, and the reasons of a new plan. See reconfigure.c for the table. */
#ifndef WEFT_SM_RECONFIGURE_H
#define WEFT_SM_RECONFIGURE_H

#include "sm/sm.h"

enum phase {
    PHASE_IDLE,     /* no change is under way, or this manager is not master */
    PHASE_DISCOVER, /* a change was reported; answers of discovery are awaited */
    PHASE_PLAN,     /* the subnet is known and needs new tables; Sets under way are awaited */
    PHASE_COMPUTE,  /* the host computes and checks new tables */
    /* Distribution. Tables are on their way to the switches, and no port is made Active that
     * depends on them. */
    PHASE_WAVES,    /* ordered: the plan's waves are written one after the other */
    PHASE_DROP,     /* ordered: entries without a safe order drop their packets, or … */
    PHASE_QUIESCE,  /* … sources are stopped; the fabric drains */
    PHASE_QUIESCED, /* all tables are written while sources are stopped */
    PHASE_STOP,     /* static: the ports of switches are set to Init */
    PHASE_WRITE,    /* static: all tables are written */
    PHASE_START,    /* static: the ports of switches are set to Active */
    PHASE_SETTLE,   /* everything wanted was sent; answers are awaited */
    PHASE_COUNT
};

enum reconfigure_event {
    EVENT_NONE,
    EVENT_CHANGE_REPORTED,   /* by a trap, a sweep, silence, an operator, a new mastership */
    EVENT_ANSWERS_EXHAUSTED, /* discovery is complete, and the tables fit what it found */
    EVENT_PLAN_OUTDATED,     /* discovery is complete, and there is a reason for a new plan */
    EVENT_PLAN_DUE,          /* the same, and no Set of a table is under way any more */
    EVENT_TABLES_COMPUTED,
    EVENT_TABLES_REFUSED,    /* no engine gives tables that pass the check */
    EVENT_TABLES_NOT_BETTER, /* computed for balance only, and not worth writing */
    EVENT_TO_WAVES,          /* the new tables go out in the order of the plan */
    EVENT_TO_STOP,           /* … while traffic is stopped at the switches' ports */
    EVENT_TO_QUIESCE,        /* … while sources are stopped */
    EVENT_TO_DROP,           /* … after packets without a safe order have been dropped */
    EVENT_TO_ALL,            /* … all at once, because nothing needs protection any more */
    EVENT_CONFIRMED,         /* all Sets of this phase were answered */
    EVENT_DRAIN_OVER,        /* the same, and packets under way have arrived or died */
    EVENT_QUICK_IN_FORCE,    /* all requests were answered; a hybrid's final tables follow */
    EVENT_ALL_ANSWERED,      /* no request of any kind is under way */
    EVENT_REQUESTS_DROPPED,  /* all requests were forgotten; discovery starts again */
    EVENT_MASTERSHIP_LOST,
    EVENT_COUNT
};

/* Why new tables are needed. If there are several reasons the last in this list counts. */
enum plan_reason {
    REASON_NONE,
    REASON_BALANCE,   /* repairs have made some links carry too much; there is no hurry */
    REASON_TOPOLOGY,  /* the subnet is another one than the tables were computed for */
    REASON_POLICY,    /* other settings */
    REASON_OPERATOR,  /* somebody asked for it */
    REASON_START,     /* mastership, and nobody is known to have been master before */
    REASON_TAKE_OVER, /* another master's tables are in the switches, and may be right */
};

/* What a transition does. Returns the event that follows from it at once, or EVENT_NONE. */
typedef enum reconfigure_event reconfigure_action(struct sm *sm);

/* Opens a change with this cause, unless one is open already: then the two are one. */
void sm_begin_change(struct sm *sm, const char *cause, ...) __attribute__((format(printf, 2, 3)));
/* New tables are needed as soon as discovery is complete, whether the topology changed or not. */
void reconfigure_request(struct sm *sm, enum plan_reason reason);
/* Goes as far as it can without another answer. Called when discovery is complete. */
void reconfigure_advance(struct sm *sm);
/* The host is done with a job. Takes the job; false if nobody waits for it any more. */
bool reconfigure_computed(struct sm *sm, struct sm_job *job, const struct err *refusal);
/* Another manager is master, or about to be; its tables will be in the switches. */
void reconfigure_stand_by(struct sm *sm);
void reconfigure_stop(struct sm *sm); /* not active */

enum phase reconfigure_phase(const struct sm *sm);
bool reconfigure_is_distributing(const struct sm *sm); /* PHASE_WAVES … PHASE_START */
/* The tables in force are those of the subnet as it is. Virtual machines that move may change
 * entries, but none that leads to a switch. */
bool reconfigure_is_at_rest(const struct sm *sm);
/* There is a reason for a new plan. */
bool reconfigure_is_outdated(const struct sm *sm);
/* The topology changed in a way that the tables in force were changed for (virtual machines). */
void reconfigure_accept_topology(struct sm *sm);

#endif
