/* One run of a sweep: its scenario played, its results chosen and put into a store. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_PLAY_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_PLAY_H

#include "experiment/sweep/sweep_plan.h"

/* Executes a run in this process. Appends the initial fabric in ibnetdiscover format; `topology`
 * may be NULL. */
int sweep_play(const struct sweep *sweep, const struct sweep_run *run, struct run_record *record,
               struct text *topology, struct err *err);
/* Stores a finished run or, without a record, a run that failed for that reason. */
int sweep_keep(const struct sweep *sweep, const struct sweep_run *run,
               const struct run_record *record, const struct text *topology, const char *reason,
               double seconds, const char *store, struct err *err);

/* Reads the scenario of a run and builds its setup, without running it. */
int sweep_check_run(const struct sweep *sweep, const struct sweep_run *run, struct err *err);

/* Appends the command that repeats a run. */
void sweep_replay_command(const struct sweep *sweep, const struct sweep_run *run, struct text *out);

#endif
