/* The commands "vm ..." of a manager's control socket. */
#ifndef WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H
#define WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H

#include "base/control_command.h"
#include "console/action.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct machine_access {
    struct vswitch *machines;
    const struct sm *sm;
};

/* vm list, vm show */
extern const struct control_command machine_report_commands[];
/* vm start, vm migrate, vm stop, vm ticket */
extern const struct control_command machine_commands[];
/* Submits an action on a machine. Its hypervisor is `node_word`, a name or GUID; text NULL: the
 * manager chooses. */
int machine_control_apply(const struct machine_access *access, uint64_t now,
                          const struct action *action, struct control_answer *answer,
                          struct err *err);
const char *machine_state_name(const struct vswitch_vm *machine);
/* "removed when H3 returns": what waits for its hypervisor. False: nothing does. */
bool machine_pending(const struct vswitch_vm *machine, char *text, size_t bytes);
/* "vm migrate web1: at H2, LID 9, …", of a request that has ended. */
void machine_control_put_cause(const struct vswitch *machines, const struct vswitch_result *result,
                               struct text *out);

#endif
