/* What a run measures: its statements checked, collected, and published as results. */
#ifndef WEFT_EXPERIMENT_RUN_MEASURING_H
#define WEFT_EXPERIMENT_RUN_MEASURING_H

#include "experiment/run/stage.h"

/* An error if two statements collect something under the same name. */
int measuring_check_names(struct stage *stage, struct err *err);
void measuring_begin(struct stage *stage);
/* Brings the results up to date. */
void measuring_publish(struct stage *stage, uint64_t now);

#endif
