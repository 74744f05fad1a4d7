/* Charts by gnuplot, in the style of papers: points joined by lines, key outside the data. The
 * script contains the data, so that it can be kept and edited. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_GNUPLOT_H
#define WEFT_EXPERIMENT_CHART_CHART_GNUPLOT_H

#include "base/err.h"
#include "base/text.h"
#include "experiment/chart/chart.h"

enum chart_format { CHART_SVG, CHART_PNG };

/* By the file extension; false if it is neither .svg nor .png. */
bool chart_format_of(const char *path, enum chart_format *format);
/* Appends the script for `gnuplot SCRIPT >PICTURE`. Several charts become panels, one above the
 * other. */
void chart_gnuplot_script(const struct chart *charts, size_t count, enum chart_format format,
                          struct text *out);
/* Writes PATH (.svg or .png), and with `keep` the script PATH.gp. Without gnuplot the error names
 * the package, and no file is written. */
int chart_gnuplot(const struct chart *charts, size_t count, const char *path, bool keep,
                  struct err *err);

#endif
