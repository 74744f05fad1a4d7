/* Internal to reports on sweeps: points, figures and the choice. */
#ifndef WEFT_EXPERIMENT_REPORT_REPORT_SWEEP_H
#define WEFT_EXPERIMENT_REPORT_REPORT_SWEEP_H

#include "base/quantity.h"
#include "experiment/chart/chart.h"
#include "experiment/measure/statistics.h"
#include "experiment/report/report.h"

#define SWEEP_NONE SIZE_MAX

struct sweep_figure {
    const char *name, *unit;
};
struct sweep_parameter {
    const char *name;
    size_t values; /* number of different values */
    bool numbers;  /* all values are numbers */
};
struct sweep_point {
    size_t first, count; /* in `finished` */
    const struct result_run *run;
};

struct report_sweep {
    const struct result_runs *runs;
    const char *store;
    VEC(struct sweep_parameter) parameters;
    VEC(struct sweep_figure) figures;
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

size_t sweep_find_figure(const struct report_sweep *sweep, const char *name);
size_t sweep_find_parameter(const struct report_sweep *sweep, const char *name);
struct quantity_mean sweep_mean(const struct report_sweep *sweep, const struct sweep_point *point,
                                size_t figure);
/* One scale for all points of a column. */
struct quantity_scale sweep_scale(const struct report_sweep *sweep, size_t figure);
/* "12.5 ± 0.3", on that scale. */
const char *sweep_mean_text(const struct report_sweep *sweep, const struct sweep_point *point,
                            size_t figure, const struct quantity_scale *scale,
                            char buffer[QUANTITY_BYTES]);
/* "" if the run has no such parameter. */
const char *sweep_value_of(const struct result_run *run, const char *parameter);

/* The choice (report_choice.c). */
int sweep_choose(struct report_sweep *sweep, const struct report_choice *choice, struct err *err);
/* The curves of one figure over what was chosen (report_curves.c). */
void sweep_chart(const struct report_sweep *sweep, size_t figure, struct chart *chart);

#endif
