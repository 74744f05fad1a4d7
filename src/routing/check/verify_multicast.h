/* An independent check of multicast trees: shares no code with multicast.c.
 *
 * It reads masks as switches do: a packet leaves by every port of the mask except the one by which
 * it arrived. For a group it checks that:
 * - a packet of any member reaches every other member that receives, and no other port, once;
 * - it passes no switch twice, and no switch that cannot carry the group;
 * - missed members are not reached.
 *
 * For all groups together, it checks that on no VL their packets and those of unicast can wait for
 * each other in a cycle. */
#ifndef WEFT_ROUTING_CHECK_VERIFY_MULTICAST_H
#define WEFT_ROUTING_CHECK_VERIFY_MULTICAST_H

#include "routing/model/multicast_tree.h"
#include "routing/model/routes.h"

struct multicast_check;

/* Network and routes must outlive the check. */
struct multicast_check *multicast_check_new(const struct network *network,
                                            const struct routes *routes);
void multicast_check_free(struct multicast_check *check); /* accepts NULL */

/* Checks one group: 0, or -EINVAL with the reason. Adds the dependencies of its packets to the
 * graph of its VL. */
int multicast_check_tree(struct multicast_check *check, unsigned vl, const bool *usable,
                         const struct multicast_member *members, size_t count,
                         const struct multicast_tree *tree, struct err *err);
/* Checks all groups so far together with unicast: -EDEADLK and the cycle, if there is one that
 * unicast alone does not have. */
int multicast_check_vls(struct multicast_check *check, struct err *err);

#endif
