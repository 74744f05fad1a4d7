/* Charts as SVG, drawn by our own hand: no program, no font file, the same bytes everywhere.
 *
 * The pictures have no script. What a reader points at tells its values by itself: titles of points
 * and bars, and slices over the whole height for curves. Colours come from a style sheet, so that
 * a page can be light or dark; chart_svg_style() belongs into the page once. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_SVG_H
#define WEFT_EXPERIMENT_CHART_CHART_SVG_H

#include "base/text.h"
#include "experiment/chart/chart.h"

void chart_svg_style(struct text *out);

/* Appends one <svg> element. Several charts are panels above each other that share the first one's
 * x axis, bands and marks. */
void chart_svg_write(const struct chart *charts, size_t count, struct text *out);

#endif
