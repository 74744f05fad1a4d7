/* Claims of the papers about their figures, in a form that can be tested.
 *
 * Each claim is a function over the evidence of one experiment, evaluated for the presets `paper`
 * and `today`. It writes the measured value as text and decides whether the claim holds. Without
 * the necessary evidence the outcome is `unknown`.
 *
 * experiments/expected lists the claims that are known not to hold, with reasons; all others must
 * hold. A claim with another outcome is reported as unexpected. */
#ifndef WEFT_REPRODUCE_CLAIMS_H
#define WEFT_REPRODUCE_CLAIMS_H

#include "reproduce/evidence.h"

enum outcome { OUTCOME_UNKNOWN, OUTCOME_HOLDS, OUTCOME_DIFFERS };
extern const char *const outcome_names[]; /* "unknown", "holds", "differs" */

struct finding {
    enum outcome outcome;
    char measured[96];
};

enum claim_preset { PRESET_PAPER, PRESET_TODAY, CLAIM_PRESETS };
extern const char *const claim_preset_names[CLAIM_PRESETS];

/* A claim under evaluation. */
struct claim_case {
    const struct evidence *evidence;
    const char *preset;
    const void *detail; /* detail of the claim */
    struct finding *finding;
};

struct claim {
    const char *experiment, *name; /* identified as EXPERIMENT/NAME */
    const char *text, *paper;      /* the claim in one line, and the value of the paper */
    void (*measure)(const struct claim_case *c);
    const void *detail; /* argument of `measure`; may be NULL */
};

extern const struct claim claims_000[], claims_001[], claims_002[],
    claims_004[]; /* the last has no name */
/* The i-th of all claims, or NULL. */
const struct claim *claim_at(size_t index);
struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset);

/* ---- for the claims ---- */

/* These functions use the observations with the preset of the case that also match `where`:
 * "switches=8". */
struct evidence_summary claim_summary(const struct claim_case *c, const char *figure,
                                      const char *where, ...) __attribute__((format(printf, 3, 4)));
#define claim_mean(...) (claim_summary(__VA_ARGS__).mean)
#define CLAIM_ALL       "%s", "" /* any observation */
/* As evidence_values(). */
size_t claim_values(const struct claim_case *c, const char *parameter, const char ***values,
                    const char *where);

/* Values of `value_of` for each value of the parameter "switches", in ascending order. */
struct claim_range {
    double least, most, mean, first, last;
    bool rising;         /* strictly increasing */
    size_t count, above; /* above: number of values above 1.02 */
};
struct claim_range claim_over_sizes(const struct claim_case *c,
                                    double (*value_of)(const struct claim_case *c, const char *size,
                                                       const void *context),
                                    const void *context);

/* The ratio of a figure under two conditions ("engine=fera fault=link"), for each size; 1 where
 * both are 0. */
struct claim_range claim_compare(const struct claim_case *c, const char *figure, const char *over,
                                 const char *under);
/* For claim_over_sizes(): the mean of the figure that `figure` names. */
double claim_figure_of_size(const struct claim_case *c, const char *size, const void *figure);

/* Sets the outcome and the measured text; unknown if a number in the text is NaN. */
void claim_finds(const struct claim_case *c, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether a value is within a share of another: near(9.8, 10, 0.2). "About" means within a third.
 */
bool claim_near(double measured, double value, double share);
#define CLAIM_ABOUT (1.0 / 3)

/* A claim that the mean of a figure lies between two values. */
struct claim_bounds {
    const char *figure;
    double above, below;
    bool is_time; /* shown in ms; else as a whole number */
};
void claim_measure_bounds(const struct claim_case *c);

/* ---- expectations ---- */

struct expectation {
    const char *experiment, *name;
    enum claim_preset preset;
    enum outcome outcome;
    bool quick, full; /* applies to quick runs, to full runs */
    const char *reason;
};
struct expectations {
    VEC(struct expectation) items;
    struct arena arena;
};
/* Each line is EXPERIMENT/NAME paper|today differs|unknown [quick|full] "REASON". */
int expectations_read(struct expectations *expectations, const char *path, struct err *err);
void expectations_release(struct expectations *expectations);
/* NULL: the claim should hold. */
const struct expectation *expectation_find(const struct expectations *expectations,
                                           const struct claim *claim, enum claim_preset preset,
                                           bool quick);

#endif
