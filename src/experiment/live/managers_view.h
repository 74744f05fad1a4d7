/* The managers of a session and their changes, as the API and `weft ctl` show them. */
#ifndef WEFT_EXPERIMENT_LIVE_MANAGERS_VIEW_H
#define WEFT_EXPERIMENT_LIVE_MANAGERS_VIEW_H

#include "base/record.h"
#include "experiment/live/session.h"

/* The manager of this name, or the number of managers. */
uint32_t managers_view_find(const struct setup *setup, const char *who);
void managers_view_put(const struct setup *setup, struct record *record);
/* The last ones. */
void managers_view_put_changes(const struct setup *setup, struct record *record);
/* The master; else any manager that runs; else the number of managers. */
size_t managers_view_choose(const struct setup *setup);
/* Appends the present problems, sorted: those that masters know; without a master, those of the
 * chosen manager. */
void managers_view_list_problems(const struct setup *setup, struct problems *problems);

#endif
