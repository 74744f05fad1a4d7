/* Figures and series as JSON and CSV, with all digits. */
#ifndef WEFT_EXPERIMENT_REPORT_SERIES_TEXT_H
#define WEFT_EXPERIMENT_REPORT_SERIES_TEXT_H

#include "experiment/measure/results.h"

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
