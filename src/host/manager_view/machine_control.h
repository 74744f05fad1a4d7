/* The commands "vm ..." of a manager's control socket. */
#ifndef WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H
#define WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H

#include "base/control_command.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct machine_access {
    struct vswitch *machines;
    const struct sm *sm;
};

/* vm list, vm show */
extern const struct control_command machine_report_commands[];
/* vm create, vm migrate, vm destroy, vm ticket */
extern const struct control_command machine_commands[];
/* "vm migrate web1: at H2, LID 9, …", of a request that has ended. */
void machine_control_put_cause(const struct vswitch *machines, const struct vswitch_result *result,
                               struct text *out);

#endif
