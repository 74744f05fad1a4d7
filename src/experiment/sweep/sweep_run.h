/* Executes runs of a sweep: one in this process, or all that are missing, each in a child process.
 */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_RUN_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_RUN_H

#include "experiment/sweep/sweep_plan.h"

/* ---- one run ---- */

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

/* ---- all that are missing ---- */

struct sweep_counts {
    size_t total, there; /* runs of the plan, and those found in the store */
    size_t done, failed; /* by this call */
    size_t running;
    size_t left_failed;   /* failed earlier and not retried */
    size_t broken;        /* finished runs whose checks do not hold */
    double seconds, left; /* elapsed and estimated remaining seconds; < 0: unknown */
    bool interrupted;
};

struct sweep_options {
    const char *store;
    unsigned jobs;
    bool retry; /* retry runs that failed earlier */
    /* Both may be NULL. progress() is called after every change and once a second. */
    void (*progress)(void *context, const struct sweep_counts *counts);
    void (*failure)(void *context, const struct sweep_run *run);
    void *context;
};

/* Needs the states of the plan (sweep_plan_compare) and updates them. An error if the sweep cannot
 * be executed; failed runs are counted. */
int sweep_run_plan(const struct sweep *sweep, struct sweep_plan *plan,
                   const struct sweep_options *options, struct sweep_counts *counts,
                   struct err *err);

#endif
