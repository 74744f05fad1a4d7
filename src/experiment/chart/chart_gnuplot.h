/* Charts by gnuplot, in the style of papers: points joined by lines, the key outside of the data,
 * nothing that is not needed. The script holds the data, so that it can be kept and changed. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_GNUPLOT_H
#define WEFT_EXPERIMENT_CHART_CHART_GNUPLOT_H

#include "base/err.h"
#include "base/text.h"
#include "experiment/chart/chart.h"

enum chart_format { CHART_SVG, CHART_PNG };

/* By the name's end; false if it is neither .svg nor .png. */
bool chart_format_of(const char *path, enum chart_format *format);
/* gnuplot prints the picture to its standard output: `gnuplot SCRIPT >PICTURE`. Several charts are
 * panels above each other. */
void chart_gnuplot_script(const struct chart *charts, size_t count, enum chart_format format,
                          struct text *out);
/* Writes PATH (.svg or .png); with `keep` the script beside it, as PATH.gp. Without gnuplot the
 * error names the package, and nothing is written. */
int chart_gnuplot(const struct chart *charts, size_t count, const char *path, bool keep,
                  struct err *err);

#endif
