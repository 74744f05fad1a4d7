/* Charts as SVG: no other program and no font file, the same bytes on every host.
 *
 * The pictures have no script. Points and bars have hover titles, curves have hover slices over the
 * whole height. Colours come from a style sheet for light and dark pages; a page includes
 * chart_svg_style() once. */
#ifndef WEFT_EXPERIMENT_CHART_CHART_SVG_H
#define WEFT_EXPERIMENT_CHART_CHART_SVG_H

#include "base/text.h"
#include "experiment/chart/chart.h"

void chart_svg_style(struct text *out);

/* Appends one <svg> element. Several charts become panels with the x axis, bands and marks of the
 * first. */
void chart_svg_write(const struct chart *charts, size_t count, struct text *out);

#endif
