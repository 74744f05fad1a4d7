/* One run of a sweep: its scenario played, its results chosen and put into a store. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_PLAY_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_PLAY_H

#include "experiment/sweep/sweep_plan.h"

/* Plays a run, here and now; the story's `tell` hears of it. Appends the fabric as the run began,
 * in ibnetdiscover's format; `topology` may be NULL. */
int sweep_play(const struct sweep *sweep, const struct sweep_run *run, struct run_record *record,
               struct text *topology, struct err *err);
/* Adds a run that was played or, without a record, one that failed for that reason. */
int sweep_keep(const struct sweep *sweep, const struct sweep_run *run,
               const struct run_record *record, const struct text *topology, const char *reason,
               double seconds, const char *store, struct err *err);

/* Reads a run's scenario and sets its stage, but lets nothing happen: is it one that can be played?
 */
int sweep_rehearse(const struct sweep *sweep, const struct sweep_run *run, struct err *err);

/* Appends the command that plays a run again. */
void sweep_replay_command(const struct sweep *sweep, const struct sweep_run *run, struct text *out);

#endif
