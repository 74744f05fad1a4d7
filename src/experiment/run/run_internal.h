/* Shared by run.c, which executes a scenario, and run_by_hand.c, which adds actions to it. */
#ifndef WEFT_EXPERIMENT_RUN_RUN_INTERNAL_H
#define WEFT_EXPERIMENT_RUN_RUN_INTERNAL_H

#include "experiment/run/run.h"

struct due {
    uint64_t time;
    const struct statement *statement;
};

/* Stages of the current `run` statement. */
enum run_stage {
    STAGE_NONE,    /* no `run` statement has begun, or it has ended */
    STAGE_ACTIONS, /* actions are due; a `run` to a time has no other stage */
    STAGE_TRAIN,   /* `run until settled`: restored links train */
    STAGE_SETTLE,  /* `run until settled`: until the managers have settled, or the limit */
};

/* An action that is not in the scenario (scenario_run_act()). */
struct by_hand {
    uint64_t time;
    size_t next; /* scenario_run.next */
    bool in_run; /* a `run` statement was under way, or all statements were done */
    char *line;
};

struct scenario_run {
    struct setup setup;
    VEC(struct due) agenda; /* by time, then by line; the first `done` were applied */
    size_t done;
    size_t next;          /* statement to execute, or the current `run` statement */
    enum run_stage stage; /* of that statement */
    uint64_t end;         /* of that statement: its time, or its limit */
    bool in_step;         /* STAGE_SETTLE: a pause has interrupted a step, which ends at: */
    uint64_t step_end;
    uint64_t ran_to;  /* end of the last `run` statement */
    bool halted;      /* a deadlock or an interrupt ended the run */
    bool interrupted; /* no statement is executed any more */
    VEC(struct by_hand) by_hand;
    struct run_options options;
};

void by_hand_release(struct scenario_run *run);

#endif
