/* Results of a run: named figures, and series over time.
 *
 * Names are in lower case with parts joined by dots: "latency.mean", "lost.dead-switch",
 * "change.1.compute.time". Checks, sweeps, stores, reports and claims use the same names. Values
 * are doubles in the unit given; times are in seconds. */
#ifndef WEFT_EXPERIMENT_MEASURE_RESULTS_H
#define WEFT_EXPERIMENT_MEASURE_RESULTS_H

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdint.h>

struct figure {
    const char *name, *unit; /* unit: "s", "packets", "packets/s", "bits/s", "share", "" … */
    double value;
};
struct point {
    uint64_t time; /* ps */
    double value;
};
struct series {
    const char *name, *unit;
    VEC(struct point) points;
};
struct value_distribution;

/* What a `collect` statement gave, for texts: one figure of that name, or NAME.mean and so on. */
struct collected {
    const char *name;
    const char *group, *label; /* of a divided collection: "latency by sl", "3"; else NULL */
    enum collected_form { COLLECTED_FIGURE, COLLECTED_DISTRIBUTION, COLLECTED_RATE } form;
};
struct results {
    VEC(struct figure) figures; /* in the order in which they were added */
    VEC(struct series) series;
    VEC(struct collected) collected;
    struct name_map by_name; /* indices of figures */
    struct arena arena;
};

void results_release(struct results *results);
/* After figures were put into the array: makes them known by name. */
void results_index(struct results *results);
/* Adds a figure, or changes the one of that name. Texts are copied. */
void results_set(struct results *results, const char *name, double value, const char *unit);
/* NAME.mean, .ci, .deviation, .min, .p50, .p90, .p99, .p99.9 and .max of values with `scale`
 * counted integers for one unit. */
void results_set_distribution(struct results *results, const char *name,
                              const struct value_distribution *values, double scale,
                              const char *unit);
struct figure *results_find(const struct results *results, const char *name); /* or NULL */
double results_value(const struct results *results, const char *name); /* NaN if there is none */
const struct series *results_find_series(const struct results *results, const char *name);
/* Finds or makes a series. Its index is stable, its address is not. */
size_t results_series(struct results *results, const char *name, const char *unit);
void results_add_point(struct results *results, size_t series, uint64_t time, double value);

#endif
