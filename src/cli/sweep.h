/* What the parts of `weft sweep` share. */
#ifndef WEFT_CLI_SWEEP_H
#define WEFT_CLI_SWEEP_H

#include "cli/command.h"
#include "experiment/sweep/sweep_run.h"

struct sweep_arguments {
    const char *file, *store, *only, *skip, *replay, *folder;
    const char *seed_text;                                /* NULL: as the file says */
    uint64_t jobs, seed, repeat, task, tasks, repetition; /* repeat: 0 if the file says */
    bool retry, list, json, slurm, write_only;
    char **sbatch; /* its options, ended by NULL */
};

/* All that was said about one sweep. */
struct sweep_report {
    const struct sweep_arguments *arguments;
    const struct sweep *sweep;
    const struct sweep_plan *plan;
};

/* Hooks of struct sweep_options; the context is a struct sweep_report. */
void sweep_show_progress(void *context, const struct sweep_counts *counts);
void sweep_show_failure(void *context, const struct sweep_run *run);
/* The last line, or the JSON object; an exit status. */
int sweep_show_end(struct sweep_report *report, const struct sweep_counts *counts);
void sweep_show_list(const struct sweep_arguments *arguments, const struct sweep *sweep,
                     const struct sweep_plan *plan);

/* --slurm. An exit status. */
int sweep_submit(const struct sweep_arguments *arguments, const struct sweep *sweep,
                 const struct sweep_plan *plan);
/* weft sweep merge. */
int sweep_merge(int argc, char **argv);

#endif
