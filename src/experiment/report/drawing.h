/* Pictures in text: bars along a line of time, and curves one character high.
 *
 * For terminals of 80 columns. With `plain`, nothing but ASCII is used. */
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
/* A series of which each value holds until the next, one character a column. Of a rate the height
 * is the largest value within the column, of a running total what came to it there. The largest
 * column has full height; nothing at all is a blank, anything else shows. */
enum curve { CURVE_RATE, CURVE_TOTAL };
void drawing_curve(const struct canvas *canvas, const struct series *series, enum curve curve,
                   struct text *out);
/* The largest value that the canvas shows; of a running total what came to it. */
double drawing_amount(const struct canvas *canvas, const struct series *series, enum curve curve);
/* The ends of the line of time, under the rest. */
void drawing_axis(const struct canvas *canvas, struct text *out);

#endif
