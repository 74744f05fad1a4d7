/* Compares the cables of the subnet with a plan (topology/diff.h). */
#ifndef WEFT_HOST_DAEMON_CABLING_H
#define WEFT_HOST_DAEMON_CABLING_H

#include "subnet/problems.h"
#include "subnet/subnet.h"
#include "topology/topology.h"

/* Appends every difference as a problem, except those that follow from a listed problem. */
void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems);

/* Width and speed of the link at a port of the subnet. */
void cabling_set_rate(struct topology_port *port, const struct subnet_port *from);

#endif
