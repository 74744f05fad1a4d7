/* Carries an action out, now. */
#ifndef WEFT_EXPERIMENT_RUN_APPLY_H
#define WEFT_EXPERIMENT_RUN_APPLY_H

#include "experiment/run/setup.h"

int apply_action(struct setup *setup, const struct statement *statement, struct err *err);

#endif
