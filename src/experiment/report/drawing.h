/* Text graphics: bars along a time axis, and curves one character high.
 *
 * For terminals of 80 columns. `plain` restricts them to ASCII. */
#ifndef WEFT_EXPERIMENT_REPORT_DRAWING_H
#define WEFT_EXPERIMENT_REPORT_DRAWING_H

#include "base/text.h"
#include "experiment/measure/results.h"

struct canvas {
    uint64_t from, to; /* ps; to > from */
    unsigned columns;
    bool plain;
};

/* A bar over [from, to), at least one character long. */
void drawing_bar(const struct canvas *canvas, uint64_t from, uint64_t to, struct text *out);
/* A series, one character a column; a value is valid until the next point. The height is the
 * largest value in the column, or for a running total its increase there. The largest column has
 * full height; zero is a blank, other values are visible. */
enum curve { CURVE_RATE, CURVE_TOTAL };
void drawing_curve(const struct canvas *canvas, const struct series *series, enum curve curve,
                   struct text *out);
/* The largest value on the canvas; for a running total its increase. */
double drawing_amount(const struct canvas *canvas, const struct series *series, enum curve curve);
/* The labels of both ends of the time axis. */
void drawing_axis(const struct canvas *canvas, struct text *out);

#endif
