/* What a manager shows to `weft ctl`, as text or as JSON: state, problems, end ports, tables,
 * partitions and multicast groups. Used by `weft sm` and by the managers of `weft live`. */
#ifndef WEFT_HOST_MANAGER_VIEW_MANAGER_VIEW_H
#define WEFT_HOST_MANAGER_VIEW_MANAGER_VIEW_H

#include "base/control_command.h"
#include "sm/sm.h"

#include <time.h>

struct manager_view_copy {
    uint64_t lag;    /* changes of registrations that the standby has not confirmed */
    uint64_t age_ns; /* since it asked last */
};

struct manager_view {
    const struct sm *sm;
    const char *engine, *place;
    void (*list_problems)(void *context, uint64_t now, struct problems *problems); /* sorted */
    void *context;
    bool virtual_time;                   /* the clock of the manager is the time of a simulation */
    const struct partitions *partitions; /* NULL: the manager writes no partition tables */
    const struct groups *groups;         /* NULL: none */
    /* What the standby at the port with this GUID has of the registrations; false: nothing. NULL:
     * the view knows none. */
    bool (*find_copy)(void *context, uint64_t now, uint64_t guid, struct manager_view_copy *copy);
};

/* status, problems, topology, routes, partitions, groups */
extern const struct control_command manager_view_commands[];
/* "2026-01-31 12:50:49" of the local time, in a format of strftime(3). */
const char *manager_view_clock(time_t when, const char *format, char text[32]);

#endif
