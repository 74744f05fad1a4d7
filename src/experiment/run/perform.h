/* Carries an action out, now. */
#ifndef WEFT_EXPERIMENT_RUN_PERFORM_H
#define WEFT_EXPERIMENT_RUN_PERFORM_H

#include "experiment/run/stage.h"

int perform_action(struct stage *stage, const struct statement *statement, struct err *err);

#endif
