/* Answers to `check` statements, from the stage as it is now. */
#ifndef WEFT_EXPERIMENT_RUN_CHECK_EVAL_H
#define WEFT_EXPERIMENT_RUN_CHECK_EVAL_H

#include "experiment/run/setup.h"

/* Whether it holds; the complaint says what is wrong, or what was measured. */
bool check_evaluate(struct setup *setup, const struct check_statement *check_statement,
                    struct complaint *complaint);

#endif
