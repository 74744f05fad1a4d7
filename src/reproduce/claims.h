/* Claims of the papers about their figures, in a form that can be tested.
 *
 * The file `figure` of an experiment states each claim: the value as printed, its place in the
 * paper, the bounds within which a measured value counts as the same, and why (recipe.h). The C
 * side only measures. A measure is a function over the evidence of one experiment; it is called
 * for the presets `paper` and `today` and yields a value or a range. claim_evaluate() is the one
 * place that compares it with the bounds: the claim holds if both ends of the range are within
 * them. Without the necessary evidence the outcome is `unknown`.
 *
 * experiments/expected lists the claims that are known not to hold, with reasons; all others must
 * hold. A claim with another outcome is reported as unexpected. */
#ifndef WEFT_REPRODUCE_CLAIMS_H
#define WEFT_REPRODUCE_CLAIMS_H

#include "reproduce/evidence.h"

enum outcome {
    OUTCOME_UNKNOWN,
    OUTCOME_HOLDS,
    OUTCOME_DIFFERS,
    OUTCOME_EITHER, /* only as an expectation: it depends on the machine */
    OUTCOMES,
};
extern const char *const outcome_names[OUTCOMES]; /* "unknown", "holds", "differs", "either" */

enum { MEASURED_BYTES = 96, FINDING_BYTES = 256 };

/* What a measure yields, in the units of figures: seconds, shares, bits/s, counts. */
struct measured {
    double least, most;        /* equal for a single value; NaN: not measured */
    double half_width;         /* of the 95 % confidence interval of a mean; NaN: none */
    char text[MEASURED_BYTES]; /* an explanation that is shown in brackets; may be "" */
};

struct finding {
    enum outcome outcome;
    struct measured measured;
    char shown[FINDING_BYTES]; /* "4.92 ± 0.13 ms", "4.9 to 5.3 ms", "not measured" */
};

enum claim_preset { PRESET_PAPER, PRESET_TODAY, CLAIM_PRESETS };
extern const char *const claim_preset_names[CLAIM_PRESETS];

/* What a measure gets. */
struct claim_case {
    const struct evidence *evidence;
    const char *preset;
    const char *network; /* only observations of this network; NULL: of all */
    const void *detail;  /* of the measure */
};

struct measure {
    const char *experiment, *name; /* of the claim */
    struct measured (*measure)(const struct claim_case *c);
    const void *detail; /* argument of `measure`; may be NULL */
};

extern const struct measure measures_000[], measures_001[], measures_002[], measures_003[],
    measures_004[]; /* the last has no name */
/* The i-th of all measures, or NULL. */
const struct measure *measure_at(size_t index);

/* An error if a claim of the recipes has no measure, or a measure of one of their experiments has
 * no claim. */
int claims_check(const struct recipes *recipes, struct err *err);
struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset);
/* Compares a measured value with the bounds of a claim, and makes the shown text. */
struct finding claim_judge(const struct claim *claim, const struct measured *measured);
/* The bounds in words: "from 4 to 6 ms", "more than 600 packets", "exactly 360 SMPs". Returns
 * buffer. */
enum { TOLERANCE_BYTES = 160 };
const char *claim_tolerance(const struct claim *claim, char buffer[TOLERANCE_BYTES]);

/* ---- for measures: results ---- */

struct measured measured_value(double value);
/* From the smaller to the larger of two values; not measured if one is NaN. */
struct measured measured_range(double one, double other);
/* The range of both. */
struct measured measured_both(struct measured one, struct measured other);
/* A mean with its confidence interval. */
struct measured measured_mean(struct evidence_summary summary);
/* Adds the explanation. */
struct measured measured_explain(struct measured measured, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- for measures: evidence ---- */

/* These functions use the observations with the preset and the network of the case that also match
 * `where`: "switches=8". The mean is over networks: the mean of each network first. */
struct evidence_summary claim_summary(const struct claim_case *c, const char *figure,
                                      const char *where, ...) __attribute__((format(printf, 3, 4)));
#define claim_mean(...) (claim_summary(__VA_ARGS__).mean)
#define CLAIM_ALL       "%s", "" /* any observation */
/* As evidence_values(). */
size_t claim_values(const struct claim_case *c, const char *parameter, const char ***values,
                    const char *where);

/* Calls `value_of` for each network, with a case that only has its observations. The summary is
 * over those values that are not NaN. */
struct evidence_summary claim_over_networks(const struct claim_case *c,
                                            double (*value_of)(const struct claim_case *c,
                                                               const void *context),
                                            const void *context);
/* The ratio of the means of a figure under two conditions ("engine=fera", "engine=pira"), for each
 * network. */
struct evidence_summary claim_ratio(const struct claim_case *c, const char *figure,
                                    const char *over, const char *under);

/* A least squares fit of a line; points that are not finite are left out. */
struct claim_fit {
    double n, x, y, xx, xy, yy; /* number and sums */
};
void claim_fit_add(struct claim_fit *fit, double x, double y);
/* The coefficient of determination, R^2; NaN with fewer than three points. */
double claim_fit_quality(const struct claim_fit *fit);

/* Values of `value_of` for each value of a parameter ("switches"), in ascending order. Those that
 * are NaN do not count. */
struct claim_range {
    double least, most, mean, first, last;
    double least_step, most_step; /* ratios of successive values; NaN with fewer than two */
    double power;     /* exponent b of the fit value = a * parameter^b; NaN with one value */
    double fit;       /* R^2 of that fit; NaN with fewer than three values */
    double geometric; /* mean */
    double rank;      /* correlation of ranks with the size; NaN with fewer than three sizes */
    size_t count;
};
typedef double claim_of_size(const struct claim_case *c, const char *size, const void *context);
struct claim_range claim_over_values(const struct claim_case *c, const char *parameter,
                                     claim_of_size *value_of, const void *context);
/* The same for the parameter "switches". */
struct claim_range claim_over_sizes(const struct claim_case *c, claim_of_size *value_of,
                                    const void *context);

/* The ratio of a figure under two conditions ("engine=fera fault=link"), for each size; 1 where
 * both are 0. */
struct claim_range claim_compare(const struct claim_case *c, const char *figure, const char *over,
                                 const char *under);
/* The mean of a figure for each size. */
struct claim_range claim_figure_over_sizes(const struct claim_case *c, const char *figure,
                                           const char *where);

/* ---- measures that several papers use ---- */

/* The mean of the figure that `detail` names, over all observations. */
struct measured measure_mean(const struct claim_case *c);
/* The ratio of each size to the next smaller one: a struct claim_figure in `detail`. */
struct claim_figure {
    const char *figure, *where;
};
struct measured measure_growth(const struct claim_case *c);

/* ---- expectations ---- */

struct expectation {
    const struct claim *claim;
    enum claim_preset preset;
    enum outcome outcome;
    bool quick, full; /* applies to quick runs, to full runs */
    const char *reason;
};
struct expectations {
    VEC(struct expectation) items;
    struct arena arena;
};
/* Each line is EXPERIMENT/NAME paper|today differs|unknown|either [quick|full] "REASON". */
int expectations_read(struct expectations *expectations, const struct recipes *recipes,
                      const char *path, struct err *err);
void expectations_release(struct expectations *expectations);
/* NULL: the claim should hold. */
const struct expectation *expectation_find(const struct expectations *expectations,
                                           const struct claim *claim, enum claim_preset preset,
                                           bool quick);

#endif
