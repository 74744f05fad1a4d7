/* The estimate of the time that is left. */
#include "cli/progress_pace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void an_even_pace_gives_the_exact_time(void **state)
{
    struct progress_pace pace = {0};
    (void)state;
    assert_true(progress_pace_left(&pace, 100) < 0); /* not known */
    for (unsigned i = 0; i <= 20; i++)
        progress_pace_add(&pace, 1000 + i, 3.0 * i);
    assert_true(progress_pace_left(&pace, 90) == 10);
}

/* A bring-up of 100 in the first second does not count ten seconds later. */
static void only_the_last_seconds_count(void **state)
{
    struct progress_pace pace = {0};
    (void)state;
    progress_pace_add(&pace, 0, 0);
    for (unsigned i = 1; i <= 40; i++)
        progress_pace_add(&pace, 0.5 * i, 100 + 0.5 * i);
    assert_true(progress_pace_left(&pace, 130) == 10);
}

static void reports_in_quick_succession_are_one(void **state)
{
    struct progress_pace pace = {0};
    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        progress_pace_add(&pace, 0.001 * i, i);
    assert_int_equal(pace.count, 2);
    progress_pace_add(&pace, 2, 999); /* nothing was done */
    progress_pace_add(&pace, 3, 999);
    assert_true(progress_pace_left(&pace, 2000) > 0);
    for (unsigned i = 4; i < 30; i++)
        progress_pace_add(&pace, i, 999);
    assert_true(progress_pace_left(&pace, 2000) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_even_pace_gives_the_exact_time),
        cmocka_unit_test(only_the_last_seconds_count),
        cmocka_unit_test(reports_in_quick_succession_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
