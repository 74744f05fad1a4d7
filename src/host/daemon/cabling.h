/* Compares the cables of the subnet with a plan (topology/diff.h). */
#ifndef WEFT_HOST_DAEMON_CABLING_H
#define WEFT_HOST_DAEMON_CABLING_H

#include "host/daemon/event_log.h"
#include "subnet/problems.h"
#include "subnet/subnet.h"
#include "topology/topology.h"

struct cabling {
    VEC(char *) logged; /* differences at the last comparison */
};

/* Appends every difference as a problem; `plan` may be NULL. */
void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems);
/* Logs differences that the last call did not find. */
void cabling_log(struct cabling *cabling, const struct topology *plan, const struct subnet *subnet,
                 struct event_log *log);
void cabling_release(struct cabling *cabling);

#endif
