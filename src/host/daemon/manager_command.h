/* The commands of a manager: those of `weft ctl`, which the live page offers too. */
#ifndef WEFT_HOST_DAEMON_MANAGER_COMMAND_H
#define WEFT_HOST_DAEMON_MANAGER_COMMAND_H

#include "base/err.h"
#include "base/text.h"
#include "host/control/control_reply.h"
#include "perf/perf.h"
#include "sm/sm.h"
#include "vswitch/vswitch.h"

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

struct manager_command {
    const struct manager_access *access;
    struct sm *sm; /* that of `access` */
    uint64_t now;
    bool json;
    const char *const *words;
    unsigned count;
    /* Of the control socket, for tables and counters, which its thread prints. */
    struct control_reply *reply;
    bool dump; /* result: the daemon shall write its dump */
};

/* Returns 0, CTL_PENDING (host/socket/protocol.h), or -errno with the reason in `out`. */
int manager_command_run(struct manager_command *command, struct text *out);

#endif
