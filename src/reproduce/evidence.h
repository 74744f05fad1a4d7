/* Evidence: what the runs of an experiment measured, in memory, for claims and plots to ask.
 *
 * An observation is a finished run: its parameters (those of the sweep, and what the recipe's
 * `sweep ... as` adds), its figures and its series. Beside the figures that runs report themselves
 * there are derived ones (derive.c), such as "fault.compute.time": of the change that answers the
 * scenario's fault, whatever its number. */
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
    size_t failed, broken; /* runs without an end, and runs whose checks do not hold */
    struct arena arena;
};

/* What lies in the stores under `folder`. With `quick` only what a quick look would have run,
 * whatever else there is. Stores that are not there hold nothing. */
int evidence_read(struct evidence *evidence, const struct recipe *recipe, const char *folder,
                  bool quick, struct err *err);
void evidence_release(struct evidence *evidence);
/* Something that was not found by a run: the caller fills in its results. Parameters as in
 * "engine=fera preset=paper". The address lasts until the next one. */
struct observation *evidence_add(struct evidence *evidence, const char *parameters);

/* "" if it has none of that name. */
const char *observation_value(const struct observation *observation, const char *parameter);
/* NaN if it has none of that name. */
double observation_figure(const struct observation *observation, const char *figure);
/* Or not steady for another reason: its latencies depend on how long was measured. */
bool observation_is_saturated(const struct observation *observation);

/* Over all observations that fit ("switches=8 change=removal"): mean and confidence interval of a
 * figure, its extremes and its sum. Those that have no such figure do not count; NaN if none has.
 */
struct evidence_summary {
    size_t count;
    double mean, half_width, least, most, sum;
};
struct evidence_summary evidence_summarize(const struct evidence *evidence, const char *where,
                                           const char *figure);

/* The different values of a parameter among those that fit, sorted as numbers are. The array is
 * the caller's to free. */
size_t evidence_values(const struct evidence *evidence, const char *where, const char *parameter,
                       const char ***values);

/* Adds the derived figures (derive.c). */
void derive_figures(struct observation *observation);
/* Adds what the computation of that name finds (computations.c). */
int compute_evidence(struct evidence *evidence, const char *name, const struct recipe *recipe,
                     struct err *err);

#endif
