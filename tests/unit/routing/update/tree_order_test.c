/* The steps from one multicast tree to another. */
#include "routing/update/tree_order.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct tree_arms arms_of(const struct multicast_arm *items, size_t count)
{
    struct tree_arms arms = {0};
    for (size_t i = 0; i < count; i++)
        vec_push(&arms.items, items[i]);
    return arms;
}

static enum tree_order order(const struct multicast_arm held[2], const struct multicast_arm goal[2],
                             struct tree_arms *common)
{
    struct tree_arms from = arms_of(held, 2), to = arms_of(goal, 2);
    *common = (struct tree_arms){0};
    enum tree_order result = tree_order_plan(&from, &to, common);
    vec_release(&from.items);
    vec_release(&to.items);
    return result;
}

static void only_a_tree_that_moves_waits_for_a_drain(void **state)
{
    static const struct multicast_arm small[2] = {{1, 0, 0x3}, {2, 1, 0x4}};
    static const struct multicast_arm large[2] = {{1, 0, 0x7}, {2, 1, 0x4}};
    static const struct multicast_arm other[2] = {{1, 0, 0x3}, {3, 0, 0x4}};
    static const struct multicast_arm position[2] = {{1, 0, 0x3}, {2, 0, 0x4}};
    struct tree_arms common;
    assert_int_equal(order(small, small, &common), TREE_AT_ONCE);
    vec_release(&common.items);
    assert_int_equal(order(small, large, &common), TREE_AT_ONCE);
    vec_release(&common.items);
    assert_int_equal(order(large, small, &common), TREE_IN_TWO_STEPS);
    assert_int_equal(common.items.count, 2);
    assert_int_equal(common.items.items[0].mask, 0x3);
    vec_release(&common.items);
    assert_int_equal(order(small, other, &common), TREE_AFTER_DRAIN);
    assert_int_equal(common.items.count, 1);
    assert_int_equal(common.items.items[0].at, 1);
    vec_release(&common.items);
    assert_int_equal(order(small, position, &common), TREE_AFTER_DRAIN);
    vec_release(&common.items);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_tree_that_moves_waits_for_a_drain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
