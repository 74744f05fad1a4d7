/* An independent check of multicast trees: shares no code with multicast.c.
 *
 * It looks at masks as switches do, who know of no trees: a packet leaves by every port of the mask
 * but the one by which it came. What must hold of a group:
 * - a packet of any member reaches every other member that receives, and no other port, once;
 * - it passes no switch twice, and none that cannot carry the group;
 * - members that are said to be missed are indeed not reached.
 * And of all groups together: on no lane can their packets and those of unicast wait for each other
 * in a circle. Lanes are as in multicast.h. */
#ifndef WEFT_ROUTING_CHECK_VERIFY_MULTICAST_H
#define WEFT_ROUTING_CHECK_VERIFY_MULTICAST_H

#include "routing/model/multicast_tree.h"
#include "routing/model/routes.h"

struct multicast_check;

/* Network and routes must be there while trees are checked. */
struct multicast_check *multicast_check_new(const struct network *network,
                                            const struct routes *routes);
void multicast_check_free(struct multicast_check *check); /* accepts NULL */

/* One group: 0, or -EINVAL and what is wrong with it. What its packets can wait for is added to
 * what is known of its lane. */
int multicast_check_tree(struct multicast_check *check, unsigned lane, const bool *usable,
                         const struct multicast_member *members, size_t count,
                         const struct multicast_tree *tree, struct err *err);
/* All groups so far, and unicast: -EDEADLK and the circle, if there is one that unicast does not
 * have already. */
int multicast_check_lanes(struct multicast_check *check, struct err *err);

#endif
