/* What the verdict on a run is made of. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_VERDICT_H
#define WEFT_EXPERIMENT_REPORT_REPORT_VERDICT_H

#include "experiment/report/report.h"

/* What "lost.CAUSE" figures add up to, or else "lost"; NaN if there are none. */
double report_lost(const struct report_run *report);
/* The longest time from an action to the end of the change that answers it; *answered counts
 * these. */
uint64_t report_healing(const struct report_run *report, size_t *answered);

#endif
