/* Paths between two adapters, as the fabric has them now. */
#ifndef WEFT_EXPERIMENT_LIVE_PATH_H
#define WEFT_EXPERIMENT_LIVE_PATH_H

#include "experiment/live/watch.h"

/* Follows the tables in the switches, and lists other shortest paths. */
void path_write(const struct watch *watch, uint32_t from, uint32_t to, struct text *out);

#endif
