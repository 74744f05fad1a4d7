/* The tables of another engine beside those in force: loads, VLs, bisection bandwidth. */
#ifndef WEFT_EXPERIMENT_LIVE_ENGINE_VIEW_H
#define WEFT_EXPERIMENT_LIVE_ENGINE_VIEW_H

#include "experiment/live/watch.h"

/* An error if there is no such engine, or no master whose tables are in force. */
int engine_view_write(const struct live_watch *watch, const char *engine, struct text *out,
                      struct err *err);

#endif
