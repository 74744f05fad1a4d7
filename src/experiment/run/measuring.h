/* What a run measures: its statements checked, collected, and published as results. */
#ifndef WEFT_EXPERIMENT_RUN_MEASURING_H
#define WEFT_EXPERIMENT_RUN_MEASURING_H

#include "experiment/run/setup.h"

/* An error if two statements collect something under the same name. */
int measuring_check_names(struct setup *setup, struct err *err);
void measuring_begin(struct setup *setup);
/* Brings the results up to date. */
void measuring_publish(struct setup *setup, uint64_t now);

#endif
