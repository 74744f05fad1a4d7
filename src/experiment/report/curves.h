/* Curves and bars of measured values. Values of the same group and x become one point: their mean,
 * with its confidence interval. */
#ifndef WEFT_EXPERIMENT_REPORT_CURVES_H
#define WEFT_EXPERIMENT_REPORT_CURVES_H

#include "experiment/chart/chart.h"

struct curve_place {
    size_t group;
    const char *key;
    VEC(double) x, y;
    size_t saturated;
};

struct curves {
    struct chart *chart;
    enum chart_style style;
    bool x_is_figure; /* x is the mean of a figure, not the key */
    VEC(struct curve_place) places;
};

/* One value. Values with the same group and key become one point; the key is the value of x unless
 * x is a figure. Texts must outlive the curves. */
struct curve_value {
    const char *key;
    double x, y;
    bool saturated;
};
void curves_add(struct curves *curves, const char *group, const struct curve_value *value);
/* Adds the points to the chart, with keys as categories or as numbers, and releases the curves. */
void curves_finish(struct curves *curves, bool in_categories);

#endif
