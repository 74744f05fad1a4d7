/* What a manager's control socket says about virtual machines: the words behind "vm". */
#ifndef WEFT_HOST_DAEMON_MACHINE_CONTROL_H
#define WEFT_HOST_DAEMON_MACHINE_CONTROL_H

#include "base/text.h"
#include "vswitch/vswitch.h"

enum { MACHINE_PENDING = 1 }; /* not over yet: the answer names a ticket to ask for again */

/* `words` follow "vm". Returns 0, MACHINE_PENDING, or -errno with the reason in `out`,
 * with `json` as {"error": …, "code": "ENOENT"}:
 *   create NAME [on HYPERVISOR] [mode MODE]     list
 *   migrate NAME [to HYPERVISOR] [mode MODE]    show NAME
 *   destroy NAME                                ticket NUMBER
 * HYPERVISOR is a name or GUID, or "auto", as if none were given. */
int machine_control_answer(struct vswitch *machines, const struct sm *sm, uint64_t now,
                           const char *const *words, unsigned count, bool json, struct text *out);

#endif
