/* The record of a run as text and as JSON. */
#ifndef WEFT_EXPERIMENT_REPORT_RUN_TEXT_H
#define WEFT_EXPERIMENT_REPORT_RUN_TEXT_H

#include "experiment/measure/run_record.h"

/* As text: one event wrapped at 80 columns, and the summary after the last one. */
void run_record_write_event(const struct run_record_event *event, struct text *out);
void run_record_write_summary(const struct run_record *record, struct text *out);
/* All data as one JSON object. */
void run_record_write_json(const struct run_record *record, struct text *out);
/* Its members "timeline", "changes" and "checks" alone. After `most` events only actions and alarms
 * are written. */
void run_record_json_events(const struct run_record *record, size_t most, struct json *json);
void run_record_json_changes(const struct run_record *record, size_t most, struct json *json);
void run_record_json_checks(const struct run_record *record, struct json *json);

#endif
