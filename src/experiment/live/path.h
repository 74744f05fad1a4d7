/* Paths between two adapters, as the fabric has them now. */
#ifndef WEFT_EXPERIMENT_LIVE_PATH_H
#define WEFT_EXPERIMENT_LIVE_PATH_H

#include "experiment/live/watch.h"

/* DLID and SL between two end ports, by the first manager whose paths have both; dlid 0: none. */
struct data_path path_look_up(const struct setup *setup, uint32_t source, uint32_t target);
/* Follows the tables in the switches, and lists other shortest paths. */
void path_write(const struct watch *watch, uint32_t from, uint32_t to, struct text *out);

#endif
