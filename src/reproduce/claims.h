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

struct claim {
    const char *experiment, *name; /* known as EXPERIMENT/NAME */
    const char *text, *paper;      /* the claim in a line, and the paper's value */
    void (*measure)(const struct evidence *evidence, const char *preset, struct finding *finding);
};

extern const struct claim claims_000[], claims_001[], claims_002[], claims_004[]; /* end: no name */
/* The i-th of all claims, or NULL. */
const struct claim *claim_at(size_t index);
struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset);

/* ---- for the claims ---- */

/* "preset=paper switches=8": a preset and what else is asked for, in a buffer of the caller's. */
enum { WHERE_BYTES = 256 };
const char *claim_where(char buffer[WHERE_BYTES], const char *preset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
const char *claim_all(char buffer[WHERE_BYTES], const char *preset); /* nothing else */
bool claim_preset_is(const struct observation *observation, const char *preset);
/* Holds or not, unless any of the numbers that it rests on is none. */
void finding_set(struct finding *finding, bool holds, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Within a share of the value: near(9.8, 10, 0.2). */
bool claim_near(double measured, double value, double share);

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
