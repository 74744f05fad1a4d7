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
    assert_string_equal(text_of(TIME_S + 999), "1s");
    assert_string_equal(text_of(TIME_MS + 999), "1ms");
    assert_string_equal(text_of(TIME_US + 1999), "1.001us");
}

static void a_written_file_can_be_read(void **state)
{
    static const uint64_t times[] = {7, 1500, 145230 * TIME_NS, 60 * TIME_S + 100234 * TIME_US};
    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        uint64_t ps = 0;
        assert_true(time_parse(text_of(times[i]), &ps));
        assert_int_equal(ps, times[i]);
    }
}

static void times_have_a_unit_and_an_end(void **state)
{
    uint64_t ps;
    assert_true(time_parse("8640000s", &ps));
    assert_int_equal(ps, TIME_LONGEST);
    assert_true(time_parse("120002906us", &ps));
    assert_int_equal(ps, 120002906 * TIME_US);
    assert_true(time_parse("8640000000000000000ps", &ps));
    assert_int_equal(ps, 8640000 * TIME_S);
    assert_false(time_parse("8640000000000000001ps", &ps));
    assert_false(time_parse("18446744073709551617ps", &ps));
    assert_true(time_parse("120002906us", &ps));
    assert_int_equal(ps, 120002906 * TIME_US);
    assert_true(time_parse("8640000000000000000ps", &ps));
    assert_false(time_parse("8640000000000000001ps", &ps));
    assert_false(time_parse("18446744073709551617ps", &ps));
    assert_false(time_parse("8640001s", &ps));
    assert_false(time_parse("99999999s", &ps));
    assert_false(time_parse("5", &ps));
    assert_false(time_parse("-5s", &ps));
    assert_false(time_parse("5 s", &ps));
    assert_false(time_parse(".5s", &ps));
    assert_false(time_parse("5min", &ps));
}

static void nanoseconds_are_read_by_the_same_rules_and_rounded_up(void **state)
{
    uint64_t ns = 0;
    assert_true(time_parse_ns("1.5ms", &ns));
    assert_int_equal(ns, 1500 * NS_PER_US);
    assert_true(time_parse_ns("1ps", &ns));
    assert_int_equal(ns, 1);
    assert_true(time_parse_ns("2.001ns", &ns));
    assert_int_equal(ns, 3);
    assert_true(time_parse_ns("0s", &ns));
    assert_int_equal(ns, 0);
    assert_true(time_parse_ns("8640000s", &ns));
    assert_int_equal(ns, TIME_LONGEST / TIME_NS);
    assert_false(time_parse_ns("8640001s", &ns));
    assert_false(time_parse_ns("5", &ns));
}

static void the_current_time_is_rounded_down_and_a_time_to_wait_for_up(void **state)
{
    assert_int_equal(time_ns_floor(0), 0);
    assert_int_equal(time_ns_floor(999), 0);
    assert_int_equal(time_ns_floor(1000), 1);
    assert_int_equal(time_ns_floor(1999), 1);
    assert_int_equal(time_ns_ceil(0), 0);
    assert_int_equal(time_ns_ceil(1), 1);
    assert_int_equal(time_ns_ceil(1000), 1);
    assert_int_equal(time_ns_ceil(1001), 2);
    assert_int_equal(time_ns_floor(TIME_NEVER - 1), TIME_NEVER / 1000);
    assert_int_equal(time_ns_ceil(TIME_NEVER - 1), TIME_NEVER / 1000 + 1);
}

static void never_and_overflowing_times_stay_never(void **state)
{
    uint64_t last = TIME_NEVER / TIME_NS; /* nanosecond that has a picosecond */
    assert_int_equal(time_ns_floor(TIME_NEVER), TIME_NEVER);
    assert_int_equal(time_ns_ceil(TIME_NEVER), TIME_NEVER);
    assert_int_equal(time_ns_to_ps(TIME_NEVER), TIME_NEVER);
    assert_int_equal(time_ns_to_ps(last + 1), TIME_NEVER);
    assert_int_equal(time_ns_to_ps(last), last * 1000);
    assert_int_equal(time_ns_floor(time_ns_to_ps(last)), last);
    assert_int_equal(time_ns_to_ps(TIME_LONGEST / TIME_NS), TIME_LONGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_written_in_the_largest_unit_that_fits),
        cmocka_unit_test(digits_beyond_are_cut_off),
        cmocka_unit_test(a_written_file_can_be_read),
        cmocka_unit_test(times_have_a_unit_and_an_end),
        cmocka_unit_test(nanoseconds_are_read_by_the_same_rules_and_rounded_up),
        cmocka_unit_test(the_current_time_is_rounded_down_and_a_time_to_wait_for_up),
        cmocka_unit_test(never_and_overflowing_times_stay_never),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
