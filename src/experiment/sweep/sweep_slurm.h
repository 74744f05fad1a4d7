/* A sweep as a Slurm job array: each task takes its share and writes a store of its own. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_SLURM_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_SLURM_H

#include "experiment/sweep/sweep.h"

/* Paths must be absolute: tasks may start anywhere. */
struct slurm_job {
    const char *program; /* weft */
    const char *sweep;   /* the file */
    const char *folder;  /* for stores and logs of tasks */
    const char *store;   /* what it holds already is left out; NULL: nothing */
    const char *only;    /* or NULL */
    uint64_t seed, repeat, tasks;
    const char *const *options; /* of sbatch */
    size_t option_count;
};

/* Appends the script that sbatch takes. It also works by hand, with SLURM_ARRAY_TASK_ID set. */
void slurm_write_script(const struct slurm_job *job, struct text *out);
/* Appends the command that joins what the tasks wrote. */
void slurm_write_merge(const struct slurm_job *job, const char *store, struct text *out);

#endif
