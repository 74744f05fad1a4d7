/* Curves and bars of measured values: what has the same group and the same place on the x axis
 * becomes one point, their mean, with its confidence interval. */
#ifndef WEFT_EXPERIMENT_REPORT_CURVES_H
#define WEFT_EXPERIMENT_REPORT_CURVES_H

#include "experiment/chart/chart.h"

struct curve_place {
    size_t group;
    const char *key;
    VEC(double) x, y;
    size_t saturated;
    const char *run; /* the first one */
    bool mixed;      /* not repetitions of one run: how they scatter says nothing */
};

struct curves {
    struct chart *chart;
    enum chart_style style;
    bool x_is_figure; /* a place's x is the mean of what was measured, not its key */
    VEC(struct curve_place) places;
};

/* One value. Values share a place if they have the same group and key; the key is what x is, if
 * that is no figure. `run` tells repetitions from other runs. Texts must outlive the curves. */
struct curve_value {
    const char *key, *run;
    double x, y;
    bool saturated;
};
void curves_add(struct curves *curves, const char *group, const struct curve_value *value);
/* Whether every key is a number. */
bool curves_have_numbers(const struct curves *curves);
/* Adds the points to the chart, with keys as categories or as numbers, and releases the curves. */
void curves_finish(struct curves *curves, bool in_categories);

#endif
