/* The record of a run as text and as JSON. */
#ifndef WEFT_EXPERIMENT_REPORT_RUN_TEXT_H
#define WEFT_EXPERIMENT_REPORT_RUN_TEXT_H

#include "experiment/measure/run_record.h"

/* As text: one event wrapped at 80 columns, and the summary after the last one. */
void run_record_write_event(const struct run_record_event *event, struct text *out);
void run_record_write_summary(const struct run_record *record, struct text *out);
/* All data as one JSON object. */
void run_record_write_json(const struct run_record *record, struct text *out);

#endif
