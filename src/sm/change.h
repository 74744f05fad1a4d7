/* The phases of a change of the subnet, and the steps that figures and metrics sum them up to. The
 * header has no other dependency, so that the records of experiments use the same words. */
#ifndef WEFT_SM_CHANGE_H
#define WEFT_SM_CHANGE_H

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

#endif
