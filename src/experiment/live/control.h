/* Actions of the API as statements of the scenario language.
 *
 * A parameter of a request is a number or a name. Names are only compared with those of the
 * topology, and texts must be one line, so that no request can add statements of its own. */
#ifndef WEFT_EXPERIMENT_LIVE_CONTROL_H
#define WEFT_EXPERIMENT_LIVE_CONTROL_H

#include "experiment/live/watch.h"

/* The parameters of a request by name; NULL: not given. */
struct control_parameters {
    void *context;
    const char *(*get)(void *context, const char *name);
};

/* Writes the statements for an action, one a line. -EINVAL and the reason; -ENOENT: the action is
 * none of these. */
int control_statements(const struct watch *watch, const struct control_parameters *parameters,
                       struct text *out, struct err *err);
/* A whole number; -EINVAL if it is missing or not below `end`. */
int control_number(const struct control_parameters *parameters, const char *name, uint64_t end,
                   uint64_t *value, struct err *err);

#endif
