/* What a manager shows to `weft ctl`, as text or as JSON: state, problems, end ports, tables,
 * partitions and multicast groups. Used by `weft sm` and by the managers of `weft live`. */
#ifndef WEFT_HOST_MANAGER_VIEW_MANAGER_VIEW_H
#define WEFT_HOST_MANAGER_VIEW_MANAGER_VIEW_H

#include "base/text.h"
#include "host/control/control_reply.h"
#include "sm/sm.h"

struct manager_view {
    const struct sm *sm;
    const char *engine, *place;
    const struct problems *problems;     /* sorted */
    bool virtual_time;                   /* times of problems are virtual nanoseconds */
    const struct partitions *partitions; /* NULL: the manager writes no partition tables */
    const struct groups *groups;         /* NULL: none */
};

extern const char *const manager_state_names[]; /* by enum sm_state */

void manager_view_status(const struct manager_view *view, bool json, struct text *out);
void manager_view_problems(const struct manager_view *view, bool json, struct text *out);
void manager_view_end_ports(const struct sm *sm, bool json, struct text *out);
/* The members that the rules give to each partition, of the end ports of the subnet. */
void manager_view_partitions(const struct manager_view *view, bool json, struct text *out);
void manager_view_groups(const struct manager_view *view, bool json, struct text *out);
/* The thread of the reply prints the acknowledged tables, from a copy. */
void manager_view_tables(const struct sm *sm, struct control_reply *reply);
/* "2026-01-31 12:50:49" of the local time, in a format of strftime(3). */
const char *manager_view_clock(time_t when, const char *format, char text[32]);

#endif
