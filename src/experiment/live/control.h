/* Actions of the API and of `weft ctl` as statements of the scenario language.
 *
 * A parameter of a request is a number or a name. Names are only compared with those of the
 * topology, and texts must be one line, so that no request can add statements of its own. */
#ifndef WEFT_EXPERIMENT_LIVE_CONTROL_H
#define WEFT_EXPERIMENT_LIVE_CONTROL_H

#include "experiment/live/watch.h"
#include "host/fabric_control/fabric_control.h"

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

/* A fault of `weft ctl` as a statement. */
void control_put_fault(const struct topology *topology, const struct fabric_command *fault,
                       struct text *out);
/* A manager's instance: "reroute H0". */
void control_put_reroute(const struct setup *setup, size_t instance, struct text *out);
/* The words after "vm" of a command that changes machines (host/manager_view/machine_control.h).
 * -EINVAL and the reason. */
int control_put_vm(const struct topology *topology, const char *const *words, unsigned count,
                   struct text *out, struct err *err);

#endif
