/* The commands of `weft ctl` for a manager, which its page uses too. */
#ifndef WEFT_HOST_DAEMON_CONTROL_MANAGER_COMMAND_H
#define WEFT_HOST_DAEMON_CONTROL_MANAGER_COMMAND_H

#include "host/control/control_reply.h"
#include "host/files/event_log.h"
#include "host/manager_view/manager_view.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

/* What the daemon lets clients see and change. */
struct manager_access {
    struct manager_view view; /* view.sm: as below */
    struct sm *sm;            /* NULL: the manager has no port yet, and most requests are refused */
    struct vswitch *machines;
    const struct perf *perf;
    struct manager_control *control; /* NULL: none */
    struct event_log *log;
    bool can_dump; /* it has a directory for dumps */
    bool dump;     /* result: the daemon shall write its dump */
    /* The URL of the live page, with the token; -errno: there is none. */
    int (*page_url)(void *daemon, char *url, size_t size, struct err *err);
    void *daemon;
};

/* All commands of `weft sm`. */
extern const struct control_command *const manager_control_tables[];

/* Returns 0, CTL_PENDING (host/socket/protocol.h), or -errno; the answer has the text or the
 * reason. `client` is its connection, which `events follow` replaces by -1; -1: it has none. */
int manager_command_run(struct manager_access *access, uint64_t now, const char *const *words,
                        unsigned count, struct control_answer *answer, int *client);

#endif
