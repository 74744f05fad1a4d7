/* The runs of a sweep, and those that its store lacks. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_PLAN_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_PLAN_H

#include "experiment/sweep/sweep.h"

enum sweep_state { SWEEP_MISSING, SWEEP_DONE, SWEEP_FAILED };

struct sweep_run {
    size_t point;
    const char *name; /* of the point, see result_point() */
    uint32_t repetition;
    uint64_t seed;
    enum sweep_state state;
    bool broken;       /* finished, but checks do not hold */
    const char *error; /* why it failed */
};

struct sweep_plan {
    VEC(struct sweep_run) runs; /* by point, then by repetition */
    struct arena arena;
};

/* The part of a sweep to execute. */
struct sweep_choice {
    /* "rate=2*,4* repetition=1": patterns that these parameters must match; NULL: all runs */
    const char *only;
    uint64_t task, tasks; /* every `tasks`-th run, beginning with the `task`-th; 0: all */
};

/* On error nothing needs to be released. */
int sweep_plan_make(struct sweep_plan *plan, const struct sweep *sweep,
                    const struct sweep_choice *choice, struct err *err);
void sweep_plan_release(struct sweep_plan *plan);

/* Marks the runs that a store has; a store that does not exist has none. An error if its runs have
 * another template or other seeds. May be called for several stores. */
int sweep_plan_compare(struct sweep_plan *plan, const struct sweep *sweep, const char *store,
                       struct err *err);

/* The seed of a repetition, the same for all points; the first has the seed of the sweep. */
uint64_t sweep_seed(uint64_t seed, uint32_t repetition);

#endif
