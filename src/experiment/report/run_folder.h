/* The folder of one run.
 *
 *   report.html   the report                  run.json      all data
 *   timeline.txt  events                      summary.txt   tables and text graphics
 *   figures.csv   figures                     series.csv    series
 *   scenario.weft and topology.net            the input
 *   run.db        all data as a result store */
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
    double wall_s; /* wall-clock seconds */
};

/* Creates the folder if needed. Files of an earlier run are replaced. */
int run_folder_make(const char *folder, struct err *err);
int run_folder_write(const char *folder, const struct run_folder *run, struct err *err);

#endif
