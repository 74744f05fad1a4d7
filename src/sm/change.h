/* A change of the subnet: its cause, phases, steps, costs and outcome. The header has no other
 * dependency, so that the records of experiments use the same words. */
#ifndef WEFT_SM_CHANGE_H
#define WEFT_SM_CHANGE_H

#include <stdint.h>

enum sm_phase {
    SM_PHASE_IDLE,     /* no change is under way, or this manager is not master */
    SM_PHASE_DISCOVER, /* a change was reported; discovery is not complete */
    SM_PHASE_PLAN,     /* new tables are needed; Sets of the old ones are under way */
    SM_PHASE_COMPUTE,  /* the host computes and checks new tables */
    /* Distribution: tables are being written; no port that depends on them becomes Active. */
    SM_PHASE_WAVES,    /* ordered: the plan's waves are written one after the other */
    SM_PHASE_DROP,     /* ordered: entries without a safe order drop packets; the fabric drains */
    SM_PHASE_QUIESCE,  /* ordered: sources are stopped; the fabric drains */
    SM_PHASE_QUIESCED, /* all tables are written while sources are stopped */
    SM_PHASE_STOP,     /* static: the ports of switches are set to Init */
    SM_PHASE_WRITE,    /* static: all tables are written */
    SM_PHASE_START,    /* static: the ports of switches are set to Active */
    SM_PHASE_SETTLE,   /* everything wanted is sent; some requests are unanswered */
    SM_PHASE_MOVE,     /* at rest, but for entries of addresses that move */
    SM_PHASES
};

/* The word for a phase; phases that differ only inside the manager share one. */
static inline const char *sm_phase_name(enum sm_phase phase)
{
    static const char *const names[SM_PHASES] = {
        "idle",    "discover", "plan",  "compute", "waves",  "waves", "quiesce",
        "quiesce", "quiesce",  "waves", "waves",   "settle", "move",
    };
    return names[phase];
}

/* A change has at most four steps. The first ends with the first sign that the manager noticed a
 * fault, the second when routes are computed, the third when they are there. */
enum sm_step {
    SM_STEP_DETECT,     /* only where the time of the fault is known, in a simulation */
    SM_STEP_DISCOVER,   /* SM_PHASE_DISCOVER and SM_PHASE_PLAN */
    SM_STEP_COMPUTE,    /* SM_PHASE_COMPUTE */
    SM_STEP_DISTRIBUTE, /* SM_PHASE_WAVES to SM_PHASE_SETTLE */
    SM_STEPS
};

static inline const char *sm_step_name(enum sm_step step)
{
    static const char *const names[SM_STEPS] = {"detect", "discover", "compute", "distribute"};
    return names[step];
}

/* Why a change began. Comments name the values of struct sm_cause that the cause has. */
enum sm_cause_kind {
    SM_CAUSE_MASTERSHIP,      /* why: this manager discovers or is master for this reason */
    SM_CAUSE_TOPOLOGY,        /* seen by the manager before anything reported it */
    SM_CAUSE_REROUTE,         /* an operator requested it */
    SM_CAUSE_REDISCOVERY,     /* the same */
    SM_CAUSE_CONFIGURATION,   /* settings of routes changed */
    SM_CAUSE_MOVE,            /* a virtual machine moved to a place without routes */
    SM_CAUSE_BALANCE,         /* repairs have overloaded some links */
    SM_CAUSE_CONFUSED_GUIDS,  /* nodes with the same GUID were confused */
    SM_CAUSE_OWN_LINK,        /* the link of the manager's own port was down */
    SM_CAUSE_OWN_PORT,        /* at: another port of its adapter does not answer */
    SM_CAUSE_OTHER_TABLE,     /* at: a switch differs from the last master's copy */
    SM_CAUSE_SWEEP,           /* at: a switch that reports a change */
    SM_CAUSE_TRAP,            /* at: the same, by trap 128 */
    SM_CAUSE_NODE_BACK,       /* at */
    SM_CAUSE_PORT_UP,         /* at */
    SM_CAUSE_LINK_SEEN_DOWN,  /* at: the second port that shows a loss */
    SM_CAUSES_LOGGED,         /* those from here on have a line in the log in any case */
    SM_CAUSE_LINK_DOWN,       /* at, number: of losses in the last minutes */
    SM_CAUSE_LINK_WAS_DOWN,   /* at, number */
    SM_CAUSE_LINK_UP,         /* at */
    SM_CAUSE_NODE_SILENT,     /* at, via: the port behind which it is, or UINT32_MAX */
    SM_CAUSE_OTHER_NEIGHBOUR, /* at, guid, number: the port that the link leads to */
    SM_CAUSE_GUID_CHANGED,    /* at, guid: the present one */
};
struct sm_cause {
    enum sm_cause_kind kind;
    unsigned number;
    uint32_t at;  /* a port of the subnet, the port 0 of a node, or UINT32_MAX: nowhere */
    uint32_t via; /* a port of the subnet */
    uint64_t guid;
    const char *why; /* a constant */
};
#define SM_CAUSE(what, place, ...)                                                                 \
    (struct sm_cause)                                                                              \
    {                                                                                              \
        .kind = (what), .at = (place), __VA_ARGS__                                                 \
    }

/* Requests sent, by attribute. */
struct sm_counts {
    uint64_t sent, answered, timeouts, gave_up;
    uint64_t gets, sets;
    uint64_t node_info, port_info_get, port_info_set, switch_info, tables, tables_read, functions,
        other;
};

enum sm_outcome {
    SM_UNDER_WAY,
    SM_FINISHED,  /* everything wanted is in force */
    SM_NO_ROUTES, /* the previous tables stay in force */
    SM_ABANDONED, /* this manager is not master any more */
};

/* Times are those of the manager, in ns; 0: not yet, or never. */
struct sm_change {
    uint64_t number; /* from 0 */
    struct sm_cause cause;
    const char *text; /* the cause in words */
    enum sm_outcome outcome;
    uint64_t begin, end;
    uint64_t routing, routed;  /* begin of the first computation of tables; end of the last */
    uint64_t computing;        /* time of all computations */
    struct sm_counts requests; /* that were sent for it */
    uint64_t waves, drains;    /* of the distributions */
    uint64_t drained_ns;       /* time of the drains */
    uint64_t stopped;          /* when all sources were stopped, the last time */
    const char *refusal;       /* why an engine or the check refused; NULL: none did */
};

#endif
