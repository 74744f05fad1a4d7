/* Claims of the papers about their figures, in a form that can be tested.
 *
 * The file `figure` of an experiment states each claim: the value as printed, its place in the
 * paper, the bounds within which a measured value counts as the same, and why (recipe.h); and how
 * it is measured (measure.h). A measure is evaluated for the presets `paper` and `today`.
 * claim_evaluate() compares its value with the bounds: the claim holds if both ends of a range are
 * within them. Without the necessary evidence the outcome is `unknown`.
 *
 * experiments/expected lists the claims that are known not to hold, with reasons; all others must
 * hold. A claim with another outcome is reported as unexpected. */
#ifndef WEFT_REPRODUCE_CLAIMS_H
#define WEFT_REPRODUCE_CLAIMS_H

#include "reproduce/measure.h"

enum outcome {
    OUTCOME_UNKNOWN,
    OUTCOME_HOLDS,
    OUTCOME_DIFFERS,
    OUTCOME_EITHER, /* only as an expectation: it depends on the machine */
    OUTCOMES,
};
extern const char *const outcome_names[OUTCOMES]; /* "unknown", "holds", "differs", "either" */

enum { FINDING_BYTES = 256 };

struct finding {
    enum outcome outcome;
    struct measured measured;
    char shown[FINDING_BYTES]; /* "4.92 ± 0.13 ms", "4.9 to 5.3 ms", "not measured" */
};

enum claim_preset { PRESET_PAPER, PRESET_TODAY, CLAIM_PRESETS };
extern const char *const claim_preset_names[CLAIM_PRESETS];

struct finding claim_evaluate(const struct claim *claim, const struct evidence *evidence,
                              enum claim_preset preset);
/* Compares a measured value with the bounds of a claim, and makes the shown text. */
struct finding claim_judge(const struct claim *claim, const struct measured *measured);
/* The bounds in words: "from 4 to 6 ms", "more than 600 packets", "exactly 360 SMPs". Returns
 * buffer. */
enum { TOLERANCE_BYTES = 160 };
const char *claim_tolerance(const struct claim *claim, char buffer[TOLERANCE_BYTES]);

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
