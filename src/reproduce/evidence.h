/* Evidence: the results of the runs of an experiment, in memory.
 *
 * An observation is a finished run: its parameters (of the sweep, and of `sweep ... as` in the
 * recipe), figures and series. derive.c adds figures such as "fault.compute.time": of the change
 * that a fault caused, whatever its number. */
#ifndef WEFT_REPRODUCE_EVIDENCE_H
#define WEFT_REPRODUCE_EVIDENCE_H

#include "base/quantity.h"
#include "experiment/measure/results.h"
#include "experiment/measure/statistics.h"
#include "reproduce/recipe.h"

struct observation {
    const struct result_parameter *parameters;
    size_t parameter_count;
    uint32_t repetition;
    struct results results;
};

struct evidence {
    VEC(struct observation) items;
    size_t failed, broken; /* failed runs, and runs whose checks do not hold */
    struct arena arena;
};

/* Reads the stores under `folder`; missing stores are empty. `quick` ignores runs that are not part
 * of a quick run. */
int evidence_read(struct evidence *evidence, const struct recipe *recipe, const char *folder,
                  bool quick, struct err *err);
void evidence_release(struct evidence *evidence);
/* Adds an observation that is not a run; the caller fills in its results. Parameters as in
 * "engine=fera preset=paper". The address is valid until the next call. */
struct observation *evidence_add(struct evidence *evidence, const char *parameters);

/* "" if there is none. */
const char *observation_value(const struct observation *observation, const char *parameter);
/* NaN if there is none. */
double observation_figure(const struct observation *observation, const char *figure);
/* Saturated or not steady: the latency depends on the length of the measurement. */
bool observation_is_saturated(const struct observation *observation);

/* Mean, confidence interval, extremes and sum of a figure over the matching observations
 * ("switches=8 change=removal") that have it; NaN if none has. */
struct evidence_summary {
    size_t count;
    double mean, half_width, least, most, sum;
};
struct evidence_summary evidence_summarize(const struct evidence *evidence, const char *where,
                                           const char *figure);

/* The different values of a parameter among the matching observations, sorted. The caller frees the
 * array. */
size_t evidence_values(const struct evidence *evidence, const char *where, const char *parameter,
                       const char ***values);

/* Adds the derived figures (derive.c). */
void derive_figures(struct observation *observation);
/* Adds the results of the computation of that name (computations.c). */
int compute_evidence(struct evidence *evidence, const char *name, const struct recipe *recipe,
                     struct err *err);

#endif
