/* Internal to reports on sweeps: points, figures and the choice. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_SWEEP_H
#define WEFT_EXPERIMENT_REPORT_REPORT_SWEEP_H

#include "experiment/chart/chart.h"
#include "experiment/measure/statistics.h"
#include "experiment/report/report.h"

#define SWEEP_NONE SIZE_MAX

struct sweep_column {
    const char *name, *unit; /* of a figure; a parameter has no unit */
    size_t values;           /* of a parameter: number of different values */
    bool numbers;            /* all of them are numbers */
};
struct sweep_columns {
    VEC(struct sweep_column);
};
struct sweep_point {
    size_t first, count; /* in `finished` */
    const struct result_run *run;
};

struct report_sweep {
    const struct result_runs *runs;
    const char *store;
    struct sweep_columns parameters, figures;
    VEC(const struct result_run *) finished;
    VEC(struct sweep_point) points;
    double *values; /* by finished run, then by figure; NaN: not measured */
    size_t failed, broken;
    /* the choice */
    size_t x_parameter, x_figure; /* at most one is not SWEEP_NONE */
    VEC(size_t) by;               /* parameters */
    VEC(size_t) pooled;           /* parameters that vary and are averaged over */
    VEC(size_t) y;                /* figures */
    size_t saturated;             /* index of the figure "saturated", or SWEEP_NONE */
    struct arena arena;
};

struct quantity_mean sweep_mean(const struct report_sweep *sweep, const struct sweep_point *point,
                                size_t figure);
/* The value of a parameter; "" if the run has no such parameter. */
const char *sweep_value_of(const struct report_sweep *sweep, const struct result_run *run,
                           size_t parameter);
/* The curves of one figure over what was chosen. */
void sweep_chart(const struct report_sweep *sweep, size_t figure, struct chart *chart);

#endif
