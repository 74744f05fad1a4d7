/* The commands "vm ..." of a manager's control socket. */
#ifndef WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H
#define WEFT_HOST_MANAGER_VIEW_MACHINE_CONTROL_H

#include "base/text.h"
#include "vswitch/vswitch.h"

/* Runs the command whose `words` follow "vm". Returns 0, CTL_PENDING, or -errno with an error
 * message in `out`, in JSON {"error": …, "code": "ENOENT"}.
 *
 *   create NAME [on HYPERVISOR] [mode MODE]     list
 *   migrate NAME [to HYPERVISOR] [mode MODE]    show NAME
 *   destroy NAME                                ticket NUMBER
 *
 * HYPERVISOR is a name or GUID, or "auto", which is the default. */
int machine_control_answer(struct vswitch *machines, const struct sm *sm, uint64_t now,
                           const char *const *words, unsigned count, bool json, struct text *out);
/* "vm migrate web1: at H2, LID 9, …", of a request that has ended. */
void machine_control_put_cause(const struct vswitch *machines, const struct vswitch_result *result,
                               struct text *out);

#endif
