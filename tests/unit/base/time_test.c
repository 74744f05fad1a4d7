#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time.h"

static const char *text_of(uint64_t ps)
{
    static char buffer[TIME_TEXT_BYTES];
    return time_text(ps, buffer);
}

static void times_are_written_in_the_largest_unit_that_fits(void **state)
{
    (void)state;
    assert_string_equal(text_of(0), "0s");
    assert_string_equal(text_of(7), "7ps");
    assert_string_equal(text_of(1500), "1.5ns");
    assert_string_equal(text_of(145230 * TIME_NS), "145.23us");
    assert_string_equal(text_of(999999 * TIME_US), "999.999ms");
    assert_string_equal(text_of(TIME_S), "1s");
    assert_string_equal(text_of(60 * TIME_S + 100234 * TIME_US), "60.100234s");
    assert_string_equal(text_of(60 * TIME_S + 10 * TIME_MS), "60.01s");
    assert_string_equal(text_of(TIME_NEVER), "never");
    assert_string_equal(text_of(TIME_NEVER - 1), "18446744.073709s");
}

static void digits_beyond_are_cut_off(void **state)
{
    (void)state;
    assert_string_equal(text_of(TIME_S + 999), "1s");
    assert_string_equal(text_of(TIME_MS + 999), "1ms");
    assert_string_equal(text_of(TIME_US + 1999), "1.001us");
}

static void what_is_written_can_be_read(void **state)
{
    static const uint64_t times[] = {7, 1500, 145230 * TIME_NS, 60 * TIME_S + 100234 * TIME_US};
    (void)state;
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint64_t ps = 0;
        assert_true(time_parse(text_of(times[i]), &ps));
        assert_int_equal(ps, times[i]);
    }
}

static void times_have_a_unit_and_an_end(void **state)
{
    uint64_t ps;
    (void)state;
    assert_true(time_parse("8640000s", &ps));
    assert_int_equal(ps, TIME_LONGEST);
    assert_false(time_parse("8640001s", &ps));
    assert_false(time_parse("99999999s", &ps));
    assert_false(time_parse("5", &ps));
    assert_false(time_parse("-5s", &ps));
    assert_false(time_parse("5 s", &ps));
    assert_false(time_parse(".5s", &ps));
    assert_false(time_parse("5min", &ps));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_in_the_largest_unit_that_fits),
        cmocka_unit_test(digits_beyond_are_cut_off),
        cmocka_unit_test(what_is_written_can_be_read),
        cmocka_unit_test(times_have_a_unit_and_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
