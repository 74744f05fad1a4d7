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

/* ---- figures and series, with all digits ---- */

/* "figures": [{"name", "unit", "value"} …] and "series": [{"name", "unit", "points": [[ps, value]
 * …]} …], into an open object. */
void figures_write_json(const struct results *results, struct json *json);
void series_write_json(const struct results *results, struct json *json);
/* name,value,unit and name,unit,time_s,value, one a line, with a line of headings. */
void figures_write_csv(const struct results *results, struct text *out);
void series_write_csv(const struct results *results, struct text *out);

/* A field, quoted if needed, or a number (nothing if it is not finite); then `end`. */
void csv_put(struct text *out, const char *field, const char *end);
void csv_put_number(struct text *out, double value, const char *end);

#endif
