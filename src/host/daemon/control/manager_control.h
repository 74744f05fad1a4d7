/* The commands of `weft ctl` for a manager, at its control socket (host/control). */
#ifndef WEFT_HOST_DAEMON_CONTROL_MANAGER_CONTROL_H
#define WEFT_HOST_DAEMON_CONTROL_MANAGER_CONTROL_H

#include "base/err.h"
#include "host/daemon/control/manager_command.h"
#include "host/files/event_log.h"

struct manager_control;

int manager_control_open(struct manager_control **control, const char *path, struct err *err);
void manager_control_close(struct manager_control *control);   /* accepts NULL */
int manager_control_fd(const struct manager_control *control); /* readable: call ..._serve() */
/* As event_log.observe: keeps the event for clients that ask, and sends it to those that follow. */
void manager_control_note(void *control, const struct event_record *record);

/* When to call ..._serve() if the descriptor is not readable before: clients that send no request
 * are disconnected. Accepts NULL. */
uint64_t manager_control_deadline(const struct manager_control *control);
/* Serves pending requests. Returns true if the daemon has to write its dump. */
bool manager_control_serve(struct manager_control *control, uint64_t now,
                           struct manager_access *access);

/* events, events follow */
extern const struct control_command manager_event_commands[];

#endif
