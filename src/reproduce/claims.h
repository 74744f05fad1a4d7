/* Claims: what a paper says of a figure, put so that it can hold or not.
 *
 * Each is a function over the evidence of one experiment, evaluated once for the preset `paper` and
 * once for `today`. It fills in what was measured, in words that stand beside the paper's, and says
 * whether the claim holds. Where the evidence lacks something the outcome is `unknown`.
 *
 * Which claims are known not to hold, and why, stands in experiments/expected; every other one must
 * hold. A claim whose outcome is not the expected one is a finding. */
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

/* A claim with what it is evaluated on. */
struct claim_case {
    const struct evidence *evidence;
    const char *preset;
    const void *detail; /* the claim's own */
    struct finding *finding;
};

struct claim {
    const char *experiment, *name; /* known as EXPERIMENT/NAME */
    const char *text, *paper;      /* the claim in a line, and the paper's value */
    void (*measure)(const struct claim_case *c);
    const void *detail; /* what tells claims with the same function apart; may be NULL */
};

extern const struct claim claims_000[], claims_001[], claims_002[], claims_004[]; /* end: no name */
/* The i-th of all claims, or NULL. */
const struct claim *claim_at(size_t index);
struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset);

/* ---- for the claims ---- */

/* All of these look at the case's preset and at what else `where` asks for: "switches=8". */
struct evidence_summary claim_summary(const struct claim_case *c, const char *figure,
                                      const char *where, ...) __attribute__((format(printf, 3, 4)));
#define claim_mean(...) (claim_summary(__VA_ARGS__).mean)
#define CLAIM_ALL       "%s", "" /* where: anywhere */
/* As evidence_values(). */
size_t claim_values(const struct claim_case *c, const char *parameter, const char ***values,
                    const char *where);

/* What `look` finds for each value of the parameter "switches", from the smallest up. */
struct claim_range {
    double least, most, mean, first, last;
    bool rising;         /* each is more than the one before */
    size_t count, above; /* above: sizes with more than 1.02 */
};
struct claim_range claim_over_sizes(const struct claim_case *c,
                                    double (*look)(const struct claim_case *c, const char *size,
                                                   const void *context),
                                    const void *context);

/* The ratio of a figure under two conditions ("engine=fera fault=link"), for each size; 1 where
 * both are 0. */
struct claim_range claim_compare(const struct claim_case *c, const char *figure, const char *over,
                                 const char *under);
/* For claim_over_sizes: the mean of a figure, whose name is the context. */
double claim_figure_of_size(const struct claim_case *c, const char *size, const void *figure);

/* Holds or not, unless any of the numbers that it rests on is none. */
void claim_finds(const struct claim_case *c, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Within a share of the value: near(9.8, 10, 0.2). "About" is a third more or less. */
bool claim_near(double measured, double value, double share);
#define CLAIM_ABOUT (1.0 / 3)

/* A claim about the mean of one figure: it lies between two values. */
struct claim_bounds {
    const char *figure;
    double above, below;
    bool is_time; /* it is shown in ms; else as a whole number */
};
void claim_measure_bounds(const struct claim_case *c);

/* ---- expectations ---- */

struct expectation {
    const char *experiment, *name;
    enum claim_preset preset;
    enum outcome outcome;
    bool quick, full; /* when it is meant */
    const char *reason;
};
struct expectations {
    VEC(struct expectation) items;
    struct arena arena;
};
/* EXPERIMENT/NAME paper|today differs|unknown [quick|full] "REASON" a line. */
int expectations_read(struct expectations *expectations, const char *path, struct err *err);
void expectations_release(struct expectations *expectations);
/* NULL: it should hold. */
const struct expectation *expectation_find(const struct expectations *expectations,
                                           const struct claim *claim, enum claim_preset preset,
                                           bool quick);

#endif
