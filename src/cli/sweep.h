/* weft sweep on a cluster. */
#ifndef WEFT_CLI_SWEEP_H
#define WEFT_CLI_SWEEP_H

#include "cli/command.h"
#include "experiment/sweep/sweep_plan.h"

struct sweep_arguments {
    const char *file, *store, *only;
    const char *folder, *output; /* --dir, --out; NULL: not given */
    uint64_t tasks;              /* 0: not given */
    bool json, write_only, retry;
    const char *const *sbatch; /* options of sbatch, NULL-terminated */
};

/* --slurm: writes the job array, and submits it. */
int sweep_submit(const struct sweep_arguments *given, const struct sweep *sweep,
                 const struct sweep_plan *plan, struct err *err);
/* weft sweep merge STORE ... */
int sweep_merge(const struct sweep_arguments *given, int count, char **stores, struct err *err);

#endif
