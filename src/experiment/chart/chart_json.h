/* Charts as JSON, the data of the plots in HTML pages (web/src/report/data.ts has the types).
 *
 * The ranges and titles of axes are those of gnuplot's plots. Values that are not finite are null.
 * Series with very many points are thinned out, so that a page stays small. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_JSON_H
#define WEFT_EXPERIMENT_CHART_CHART_JSON_H

#include "base/text.h"
#include "experiment/chart/chart.h"

/* Writes one object. Several charts become panels with the x axis, categories, bands and marks of
 * the first. `key` is NULL in an array. */
void chart_json_write(struct json *json, const char *key, const struct chart *charts, size_t count);

#endif
