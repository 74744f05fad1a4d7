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
    /* Those of the run and of the recipe; "repetition", from 1 on; of runs "whole": yes, or no if
     * switches are, or before an addition were, on but cut off from the manager. */
    const struct result_parameter *parameters;
    size_t parameter_count;
    /* Observations of the same network have the same text: the repetition, and the parameter `seed`
     * if there is one. */
    const char *network;
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
/* Whether all conditions hold, and it is of that network (NULL: any). */
bool observation_matches(const struct observation *observation, const struct conditions *where,
                         const char *network);
/* Saturated or not steady: the latency depends on the length of the measurement. */
bool observation_is_saturated(const struct observation *observation);

/* The mean of a figure over the matching observations that have it, of one network or (NULL) of
 * all: the mean of the networks' means, with its 95 % confidence interval. */
struct quantity_mean evidence_mean(const struct evidence *evidence, const struct conditions *where,
                                   const char *network, const char *figure);
/* The different networks of the observations. The caller frees the array. */
size_t evidence_networks(const struct evidence *evidence, const char ***networks);

/* The different values of a parameter among the matching observations, sorted. The caller frees the
 * array. */
size_t evidence_values(const struct evidence *evidence, const struct conditions *where,
                       const char *parameter, const char ***values);

/* Adds the derived figures (derive.c). */
void derive_figures(struct observation *observation);
/* Adds the results of the computation of that name (computations.c), on the networks of a seed. */
int compute_evidence(struct evidence *evidence, const char *name, const struct recipe *recipe,
                     uint64_t seed, struct err *err);

#endif
