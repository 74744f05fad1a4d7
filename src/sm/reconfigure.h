/* Reconfiguration: the phases from a change of the subnet to new tables in force, the events that
 * cause transitions, and the reasons for a new plan. reconfigure.c has the transition table. */
#ifndef WEFT_SM_RECONFIGURE_H
#define WEFT_SM_RECONFIGURE_H

#include "sm/sm.h"

enum reconfigure_event {
    EVENT_NONE,
    EVENT_CHANGE_REPORTED,    /* by a trap, a sweep, a time-out, an operator, a new mastership */
    EVENT_DISCOVERY_COMPLETE, /* discovery is complete, and the tables fit the subnet */
    EVENT_PLAN_OUTDATED,      /* discovery is complete, and there is a reason for a new plan */
    EVENT_PLAN_DUE,           /* the same, and no Set of a table is under way */
    EVENT_TABLES_COMPUTED,
    EVENT_TABLES_REFUSED,       /* no engine computes tables that pass the check */
    EVENT_TABLES_NOT_BETTER,    /* computed for balance only, and not worth writing */
    EVENT_DECIDED_WAVES,        /* write the new tables in the waves of the plan */
    EVENT_DECIDED_STOP,         /* write them while the ports of switches are stopped */
    EVENT_DECIDED_QUIESCE,      /* write them while sources are stopped */
    EVENT_DECIDED_DROP,         /* write them after entries without a safe order drop packets */
    EVENT_DECIDED_ALL,          /* write all that is left at once: it is safe now */
    EVENT_DECIDED_REST,         /* the same, and sources are to be started then */
    EVENT_CONFIRMED,            /* all Sets of this phase were answered */
    EVENT_DRAIN_OVER,           /* the same, and the fabric has drained */
    EVENT_PROVISIONAL_IN_FORCE, /* provisional tables are in force (see sm_job) */
    EVENT_ALL_ANSWERED,         /* no request of any kind is under way */
    EVENT_MOVES_DUE,            /* addresses move: entries are to be planned or written */
    EVENT_MOVES_OVER,           /* the entries of all moves are acknowledged */
    EVENT_REQUESTS_DROPPED,     /* all requests were forgotten; discovery restarts */
    EVENT_MASTERSHIP_LOST,
    EVENT_COUNT
};

/* Why new tables are needed. A later reason takes precedence over an earlier one. */
enum plan_reason {
    REASON_NONE,
    REASON_BALANCE,   /* repairs have overloaded some links */
    REASON_TOPOLOGY,  /* the subnet differs from the one that the tables were computed for */
    REASON_POLICY,    /* the configuration changed */
    REASON_OPERATOR,  /* an operator requested new tables */
    REASON_START,     /* a new mastership; no previous master is known */
    REASON_TAKE_OVER, /* the switches hold the tables of another master, perhaps correct ones */
};

/* The action of a transition. Returns the next event, or EVENT_NONE. */
typedef enum reconfigure_event reconfigure_action(struct sm *sm);

/* Begins a change with this cause. A change that is under way includes the new one. */
void sm_begin_change(struct sm *sm, struct sm_cause cause);
/* Requests new tables as soon as discovery is complete, even if the topology did not change. */
void reconfigure_request(struct sm *sm, enum plan_reason reason);
/* Advances as far as possible without further input. Called when discovery is complete. */
void reconfigure_advance(struct sm *sm);
/* Plans and writes entries of addresses that move, if the manager is quiet. */
void reconfigure_write_moves(struct sm *sm);
/* Takes a job that the host has run; false: it is obsolete. */
bool reconfigure_computed(struct sm *sm, struct sm_job *job, const struct err *refusal);
/* Another manager becomes master: the switches will hold its tables. */
void reconfigure_stand_by(struct sm *sm);
void reconfigure_stop(struct sm *sm); /* this manager becomes inactive */

enum sm_phase reconfigure_phase(const struct sm *sm);
bool reconfigure_is_distributing(const struct sm *sm); /* SM_PHASE_WAVES … SM_PHASE_START */
/* SM_PHASE_IDLE or SM_PHASE_MOVE: no change of the subnet is under way. */
bool reconfigure_is_idle(const struct sm *sm);
/* All tables in force fit the subnet. Virtual machines that move may change entries, but none for
 * the LID of a switch. */
bool reconfigure_is_at_rest(const struct sm *sm);
/* There is a reason for a new plan. */
bool reconfigure_is_outdated(const struct sm *sm);
/* The tables in force already include the last change of the topology (virtual machines). */
void reconfigure_accept_topology(struct sm *sm);

/* Plans tables other than routes and multicast; after every input. */
void plan_services(struct sm *sm);

#endif
