/* Differences between a plan and the links that are up. */
#ifndef WEFT_EXPERIMENT_LIVE_CABLING_VIEW_H
#define WEFT_EXPERIMENT_LIVE_CABLING_VIEW_H

#include "experiment/live/watch.h"

/* `plan` NULL: the network of the session. */
void cabling_write(const struct watch *watch, const struct topology *plan, struct text *out);

#endif
