/* Compares the entries of two trees. */
#include "routing/update/tree_order.h"

static unsigned count_ports(const struct tree_arms *arms)
{
    unsigned count = 0;
    for (size_t i = 0; i < arms->items.count; i++)
        count += (unsigned)__builtin_popcount(arms->items.items[i].mask);
    return count;
}

enum tree_order tree_order_plan(const struct tree_arms *held, const struct tree_arms *goal,
                                struct tree_arms *common)
{
    size_t j = 0;
    common->items.count = 0;
    for (size_t i = 0; i < held->items.count; i++) {
        struct multicast_arm arm = held->items.items[i];
        while (j < goal->items.count && tree_arm_precedes(&goal->items.items[j], &arm))
            j++;
        bool same = j < goal->items.count && !tree_arm_precedes(&arm, &goal->items.items[j]);
        arm.mask &= same ? goal->items.items[j].mask : 0;
        if (arm.mask)
            vec_push(&common->items, arm);
    }
    unsigned ports = count_ports(common);
    if (ports == count_ports(held))
        return TREE_AT_ONCE;
    return ports == count_ports(goal) ? TREE_IN_TWO_STEPS : TREE_AFTER_DRAIN;
}
