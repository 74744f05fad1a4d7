/* The folder of one run: everything about it, in files that people and programs read.
 *
 *   report.html   the page to look at        run.json      everything
 *   timeline.txt  what happened              summary.txt   tables and pictures
 *   figures.csv   what was measured          series.csv    the same over time
 *   scenario.weft and topology.net           what was played
 *   run.db        the same as a result store */
#ifndef WEFT_EXPERIMENT_REPORT_RUN_FOLDER_H
#define WEFT_EXPERIMENT_REPORT_RUN_FOLDER_H

#include "base/err.h"
#include "experiment/measure/run_record.h"

struct run_folder {
    const struct run_record *record;
    const char *scenario; /* its text */
    const struct text *topology;
    const char *const *settings; /* of the command line: "key=value" */
    size_t setting_count;
    double wall_s; /* how long it took */
};

/* Made unless it is there; what it holds of an earlier run is replaced. */
int run_folder_make(const char *folder, struct err *err);
int run_folder_write(const char *folder, const struct run_folder *run, struct err *err);

#endif
