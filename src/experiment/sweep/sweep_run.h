/* Runs what a sweep's store lacks, each run in a process of its own, and watches over them. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_RUN_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_RUN_H

#include "experiment/sweep/sweep_plan.h"

struct sweep_counts {
    size_t total, there; /* runs of the plan, and those that the store had */
    size_t done, failed; /* now */
    size_t running;
    size_t left_failed;   /* failed earlier, and left at that */
    size_t broken;        /* done, now or earlier, but checks do not hold */
    double seconds, left; /* since it began, and until it will be through; < 0: nobody knows */
    bool interrupted;
};

struct sweep_options {
    const char *store;
    unsigned jobs;
    bool retry; /* what failed earlier, too */
    /* Both may be NULL. Progress comes with every change, and once a second. */
    void (*progress)(void *context, const struct sweep_counts *counts);
    void (*failure)(void *context, const struct sweep_run *run);
    void *context;
};

/* The plan's states must be known (sweep_plan_compare), and are kept up to date. An error if the
 * sweep cannot be run; runs that fail are counted. */
int sweep_run_plan(const struct sweep *sweep, struct sweep_plan *plan,
                   const struct sweep_options *options, struct sweep_counts *counts,
                   struct err *err);

#endif
