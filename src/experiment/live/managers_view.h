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
/* Appends the present problems, sorted: those that masters know, else those of this manager, which
 * may be NULL. */
void managers_view_list_problems(const struct setup *setup, struct sm *sm,
                                 struct problems *problems);

#endif
