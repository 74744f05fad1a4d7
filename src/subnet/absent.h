/* Nodes that were in a subnet and cannot be reached now, grouped by cause.
 *
 * A node that was connected to a present one is the root of a group: its own link or agent has
 * failed. Nodes that were reached through it are cut off and belong to its group. */
#ifndef WEFT_SUBNET_ABSENT_H
#define WEFT_SUBNET_ABSENT_H

#include "subnet/subnet.h"

struct absent_group {
    uint32_t root;         /* a node */
    VEC(uint32_t) entries; /* ports of present nodes that led to it; none: it has no such port */
    VEC(uint32_t) cut_off; /* the other nodes of the group */
};

struct absent {
    VEC(struct absent_group) groups;
    VEC(uint32_t) group_of; /* by node; SUBNET_NONE: it is present, or another took its place */
};

void absent_find(struct absent *absent, const struct subnet *subnet);
void absent_release(struct absent *absent);

#endif
