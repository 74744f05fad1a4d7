#include "base/mem.h"
#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void numbers_come_in_ascending_order(void **state)
{
    uint64_t large[50];
    uint32_t small[50];
    struct rng rng;
    rng_seed(&rng, 1, 1);
    for (int i = 0; i < 50; i++) {
        large[i] = rng_next(&rng);
        small[i] = (uint32_t)rng_next(&rng);
    }
    sort_u64(large, 50);
    sort_u32(small, 50);
    for (int i = 1; i < 50; i++) {
        assert_true(large[i - 1] <= large[i]);
        assert_true(small[i - 1] <= small[i]);
    }
    sort_u64(NULL, 0);
    sort_u32(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_in_ascending_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
