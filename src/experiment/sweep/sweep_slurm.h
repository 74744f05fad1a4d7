/* A sweep as a Slurm job array: each task executes its share into a store of its own. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_SLURM_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_SLURM_H

#include "experiment/sweep/sweep.h"

/* Paths must be absolute: tasks may start in any directory. */
struct slurm_job {
    const char *program; /* weft */
    const char *sweep;   /* the file */
    const char *folder;  /* for stores and logs of tasks */
    const char *store;   /* its runs are skipped; NULL: none */
    const char *only;    /* or NULL */
    bool retry;          /* failed runs are repeated */
    uint64_t seed, repeat, tasks;
    const char *const *options; /* of sbatch */
    size_t option_count;
};

/* Appends the script for sbatch. It also runs without Slurm, with SLURM_ARRAY_TASK_ID set. */
void slurm_write_script(const struct slurm_job *job, struct text *out);
/* Appends the command that merges the stores of the tasks. */
void slurm_write_merge(const struct slurm_job *job, const char *store, struct text *out);

#endif
