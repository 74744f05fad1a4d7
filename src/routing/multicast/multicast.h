/* Trees of multicast groups: from a network and a group's members to port masks by switch.
 *
 * A tree that follows the up*-down* order of the unicast routes (with its root at the top) lets
 * packets turn only from up to down, from any sender: together with unicast by the same order it
 * cannot deadlock. Of the switches from which all members can be reached by going down, the root is
 * the one with the least mean distance to them (Villar 2004, section 6.4.6); a hash of GUID and
 * group LID decides between equals, so that groups are balanced over them and a group does not move
 * when another equal appears or disappears.
 *
 * Where there is no such switch (a damaged network, switches without multicast), and where unicast
 * has no known order, groups share one spanning tree. It grows link by link; a link is refused if
 * packets, those of unicast included, could then wait for each other in a cycle.
 *
 * The masks are a function of the network, the routes, the members and the group's LID.
 * verify_multicast.h checks them. */
#ifndef WEFT_ROUTING_MULTICAST_MULTICAST_H
#define WEFT_ROUTING_MULTICAST_MULTICAST_H

#include "routing/model/multicast_tree.h"
#include "routing/model/routes.h"

/* State that all trees of a network share, for one VL and one set of switches. */
struct multicast_base;

/* `usable` (by switch): whether it can carry these groups. `vl`: the VL of the groups, by the
 * routes' service levels. Routes with one VL count on every VL; a VL that the routes do not use has
 * no unicast. Network and routes must outlive the result. */
struct multicast_base *multicast_base_new(const struct network *network,
                                          const struct routes *routes, unsigned vl,
                                          const bool *usable);
void multicast_base_free(struct multicast_base *base); /* accepts NULL */

/* Each end point is listed once. Replaces the contents of `tree` (zeroed, or of an earlier
 * call). */
void multicast_tree_make(struct multicast_base *base, unsigned mlid,
                         const struct multicast_member *members, size_t count,
                         struct multicast_tree *tree);

#endif
