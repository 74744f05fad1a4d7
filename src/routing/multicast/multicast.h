/* Trees of multicast groups: from a network and a group's members to port masks by switch.
 *
 * A tree that follows the up*-down* order of the unicast routes (its root above all else of it)
 * makes packets turn only in ways that the order allows, up and then down, whoever sends: together
 * with unicast by the same order it cannot deadlock. Of the switches from which all members can be
 * reached by going down, the root is the one with the least mean distance to them (paper 003,
 * section 6.4.6); equals are told apart by a hash of their GUID and the group's LID, so that groups
 * spread over them and none moves because another equal came or went.
 *
 * Where there is no such switch (a damaged network, switches without multicast), and where unicast
 * follows no order that is known, groups share one spanning tree that is grown link by link, each
 * refused if packets could then wait for each other in a circle, unicast's packets included.
 *
 * All of it is a function of the network, the routes, the members and the group's LID: whoever
 * computes it gets the same masks. Nothing here checks itself: verify_multicast.h does. */
#ifndef WEFT_ROUTING_MULTICAST_MULTICAST_H
#define WEFT_ROUTING_MULTICAST_MULTICAST_H

#include "routing/model/multicast_tree.h"
#include "routing/model/routes.h"

/* What all trees of a network have in common, on one lane and with one set of switches. */
struct multicast_base;

/* `usable` (by switch): whether it can carry these groups. `lane`: of service levels as the routes
 * have them; routes that use one lane only are on all of them, and on a lane that the routes do not
 * use there is nobody else. Network and routes must be there while trees are made. */
struct multicast_base *multicast_base_new(const struct network *network,
                                          const struct routes *routes, unsigned lane,
                                          const bool *usable);
void multicast_base_free(struct multicast_base *base); /* accepts NULL */

/* Each end point is there once. Replaces what is in `tree` (zeroed, or of an earlier call). */
void multicast_tree_make(struct multicast_base *base, unsigned mlid,
                         const struct multicast_member *members, size_t count,
                         struct multicast_tree *tree);

#endif
