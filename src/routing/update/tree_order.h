/* The order in which switches change from one tree of a multicast group to another.
 *
 * During an update no packet may be duplicated or loop. A tree that only grows is written at once:
 * any mixture of old and new entries is a part of the new tree. Any other update takes two steps.
 * The first one removes entries that the new tree does not have: any mixture is a part of the old
 * tree. The second one writes the new tree; if it adds entries, packets on the old tree must be
 * gone before. */
#ifndef WEFT_ROUTING_UPDATE_TREE_ORDER_H
#define WEFT_ROUTING_UPDATE_TREE_ORDER_H

#include "base/mem.h"
#include "routing/model/multicast_tree.h"

struct tree_arms {
    VEC(struct multicast_arm) items; /* by switch, then position; no empty masks */
};
enum tree_order { TREE_AT_ONCE, TREE_IN_TWO_STEPS, TREE_AFTER_DRAIN };
/* `common` becomes what both trees have: the first of two steps. */
enum tree_order tree_order_plan(const struct tree_arms *held, const struct tree_arms *goal,
                                struct tree_arms *common);

static inline bool tree_arm_precedes(const struct multicast_arm *a, const struct multicast_arm *b)
{
    return a->at != b->at ? a->at < b->at : a->position < b->position;
}

#endif
