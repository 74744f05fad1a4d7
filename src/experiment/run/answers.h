/* Answers to `check` statements, from the stage as it is now. */
#ifndef WEFT_EXPERIMENT_RUN_ANSWERS_H
#define WEFT_EXPERIMENT_RUN_ANSWERS_H

#include "experiment/run/stage.h"

/* Whether it holds; the complaint says what is wrong, or what was measured. */
bool answer_question(struct stage *stage, const struct question *question,
                     struct complaint *complaint);

#endif
