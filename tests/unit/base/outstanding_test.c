/* Requests that wait for a response (base/outstanding.h). */
#include "base/outstanding.h"

#include "base/rng.h"
#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void requests_expire_by_deadline_and_then_by_age(void **state)
{
    static const uint64_t deadlines[] = {30, 10, 20, 10, 30};
    static const uint32_t expected[] = {1, 3, 2, 0, 4};
    struct outstanding outstanding = {0};
    assert_true(outstanding_deadline(&outstanding) == TIME_NEVER);
    for (uint32_t i = 0; i < 5; i++)
        outstanding_add(&outstanding, i, 100 + i, deadlines[i]);
    assert_true(outstanding_deadline(&outstanding) == 10);
    assert_int_equal(outstanding_expire(&outstanding, 9), OUTSTANDING_NONE);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(outstanding_expire(&outstanding, 30), expected[i]);
    assert_int_equal(outstanding_expire(&outstanding, TIME_NEVER), OUTSTANDING_NONE);
    outstanding_release(&outstanding);
}

static void a_response_is_found_by_its_id_once(void **state)
{
    struct outstanding outstanding = {0};
    outstanding_add(&outstanding, 7, 0xabc, 50);
    assert_int_equal(outstanding_find(&outstanding, 0xabc), 7);
    assert_int_equal(outstanding_find(&outstanding, 7), OUTSTANDING_NONE);
    assert_true(outstanding_has(&outstanding, 7));
    outstanding_remove(&outstanding, 7);
    assert_int_equal(outstanding_find(&outstanding, 0xabc), OUTSTANDING_NONE);
    assert_false(outstanding_has(&outstanding, 7));
    outstanding_release(&outstanding);
}

static void any_order_of_calls_keeps_the_earliest_deadline(void **state)
{
    enum { NUMBERS = 64, STEPS = 20000 };
    struct outstanding outstanding = {0};
    uint64_t deadlines[NUMBERS] = {0}; /* 0: not outstanding */
    struct rng rng;
    rng_seed(&rng, 1, 1);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t number = (uint32_t)rng_below(&rng, NUMBERS);
        uint64_t earliest = TIME_NEVER;
        if (deadlines[number]) {
            outstanding_remove(&outstanding, number);
            deadlines[number] = 0;
        } else {
            deadlines[number] = 1 + rng_below(&rng, 1000);
            outstanding_add(&outstanding, number, step, deadlines[number]);
        }
        for (uint32_t i = 0; i < NUMBERS; i++)
            if (deadlines[i] && deadlines[i] < earliest)
                earliest = deadlines[i];
        assert_true(outstanding_deadline(&outstanding) == earliest);
    }
    outstanding_release(&outstanding);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_expire_by_deadline_and_then_by_age),
        cmocka_unit_test(a_response_is_found_by_its_id_once),
        cmocka_unit_test(any_order_of_calls_keeps_the_earliest_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
