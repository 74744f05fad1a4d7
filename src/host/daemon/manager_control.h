/* The manager's control socket: `weft ctl` asks a running `weft sm`.
 *
 * One connection a question, as with a fabric server (host/socket/protocol.h). The socket is for
 * its owner only. Questions are taken without waiting; answers, which can be long, are written by a
 * thread of their own, so that no reader can hold the manager up. */
#ifndef WEFT_HOST_DAEMON_MANAGER_CONTROL_H
#define WEFT_HOST_DAEMON_MANAGER_CONTROL_H

#include "base/err.h"
#include "base/text.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct manager_control;

int manager_control_open(struct manager_control **control, const char *path, struct err *err);
void manager_control_close(struct manager_control *control);   /* accepts NULL */
int manager_control_fd(const struct manager_control *control); /* readable: call serve */
void manager_control_note(struct manager_control *control, const char *event, const char *text);

/* Serves what came in. True: the daemon shall write its dump, for which it has a directory if
 * `can_dump`. */
bool manager_control_serve(struct manager_control *control, uint64_t now, struct sm *sm,
                           struct vswitch *machines, const char *engine, const char *place,
                           bool can_dump);

#endif
