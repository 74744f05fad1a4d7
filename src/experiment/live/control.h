/* Actions of the API on a session: numbers and names of a request become actions. */
#ifndef WEFT_EXPERIMENT_LIVE_CONTROL_H
#define WEFT_EXPERIMENT_LIVE_CONTROL_H

#include "experiment/live/watch.h"

struct control_actions {
    VEC(struct action);
};

/* Reads the actions of a request, of which `context` and `get` are set. -EINVAL and the reason;
 * -ENOENT: there is no such action. */
int control_read(const struct live_watch *watch, const struct action_request *request,
                 struct control_actions *out, struct err *err);
void control_actions_release(struct control_actions *actions);
/* A whole number; -EINVAL if it is missing or not below `end`. */
int control_number(const struct action_request *request, const char *name, uint64_t end,
                   uint64_t *value, struct err *err);

#endif
