/* The commands of `weft ctl` for a manager, at its control socket (host/control). */
#ifndef WEFT_HOST_DAEMON_MANAGER_CONTROL_H
#define WEFT_HOST_DAEMON_MANAGER_CONTROL_H

#include "base/err.h"
#include "base/text.h"
#include "host/files/event_log.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

struct manager_control;

int manager_control_open(struct manager_control **control, const char *path, struct err *err);
void manager_control_close(struct manager_control *control);   /* accepts NULL */
int manager_control_fd(const struct manager_control *control); /* readable: call ..._serve() */
/* As event_log.observe: keeps the event for clients that ask, and sends it to those that follow. */
void manager_control_note(void *control, const struct event_record *record);

/* What the daemon lets clients see and change. */
struct manager_access {
    struct sm *sm; /* NULL: the manager has no port yet, and every request is refused */
    struct vswitch *machines;
    const struct perf *perf;
    const char *engine, *place;
    const struct partitions *partitions; /* NULL: none are written */
    const struct groups *groups;
    bool can_dump; /* it has a directory for dumps */
    void (*list_problems)(void *daemon, uint64_t now, struct problems *problems);
    /* The URL of the live page, with the token; -errno: there is none. */
    int (*page_url)(void *daemon, char *url, size_t size, struct err *err);
    void *daemon;
};

/* When to call ..._serve() if the descriptor is not readable before: clients that send no request
 * are disconnected. Accepts NULL. */
uint64_t manager_control_deadline(const struct manager_control *control);
/* Serves pending requests. Returns true if the daemon has to write its dump. */
bool manager_control_serve(struct manager_control *control, uint64_t now,
                           const struct manager_access *access);

#endif
