/* Shared by the files of `weft sweep`. */
#ifndef WEFT_CLI_SWEEP_H
#define WEFT_CLI_SWEEP_H

#include "cli/command.h"
#include "experiment/sweep/sweep_run.h"

struct sweep_arguments {
    const char *file, *store, *only, *skip, *replay, *folder;
    const char *seed_text;                                /* NULL: the seed of the file */
    uint64_t jobs, seed, repeat, task, tasks, repetition; /* repeat 0: of the file */
    bool retry, list, json, slurm, write_only;
    char **sbatch; /* options of sbatch, NULL-terminated */
};

/* The context of the callbacks. */
struct sweep_report {
    const struct sweep_arguments *arguments;
    const struct sweep *sweep;
    const struct sweep_plan *plan;
};

/* Hooks of struct sweep_options; the context is a struct sweep_report. */
void sweep_show_progress(void *context, const struct sweep_counts *counts);
void sweep_show_failure(void *context, const struct sweep_run *run);
/* Prints the last line, or the JSON object. Returns an exit status. */
int sweep_show_end(struct sweep_report *report, const struct sweep_counts *counts);
void sweep_show_list(const struct sweep_arguments *arguments, const struct sweep *sweep,
                     const struct sweep_plan *plan);

/* --slurm. Returns an exit status. */
int sweep_submit(const struct sweep_arguments *arguments, const struct sweep *sweep,
                 const struct sweep_plan *plan);
/* weft sweep merge. */
int sweep_merge(int argc, char **argv);

#endif
