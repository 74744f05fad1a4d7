/* Multicast groups and partitions of a subnet, for the live page. */
#ifndef WEFT_HOST_DAEMON_SUBNET_MEMBERS_H
#define WEFT_HOST_DAEMON_SUBNET_MEMBERS_H

#include "host/daemon/subnet_view.h"
#include "subnet/groups.h"
#include "subnet/partitions.h"

/* Groups with their members, and with the links of their trees by the tables that switches have
 * confirmed. */
void subnet_members_write_groups(const struct subnet_view *view, const struct subnet *subnet,
                                 const struct groups *groups, struct text *out);
/* Partitions by the P_Key tables that adapters have confirmed; `partitions` has their names. */
void subnet_members_write_partitions(const struct subnet_view *view, const struct subnet *subnet,
                                     const struct partitions *partitions, struct text *out);

#endif
