/* Placeholders in a scenario's text: {NAME}, anywhere but in remarks. */
#ifndef WEFT_EXPERIMENT_SWEEP_SWEEP_TEMPLATE_H
#define WEFT_EXPERIMENT_SWEEP_SWEEP_TEMPLATE_H

#include "experiment/sweep/sweep.h"

/* Finds out which parameters are placeholders; an error if the text has one that nothing varies. */
int template_bind(struct sweep *sweep, struct err *err);

#endif
