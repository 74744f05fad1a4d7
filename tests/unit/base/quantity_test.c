/* Numbers for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantity.h"
#include "base/time.h"

#include <math.h>

static void assert_quantity(double value, const char *unit, const char *expected)
{
    char buffer[QUANTITY_BYTES];
    assert_string_equal(quantity_text(value, unit, buffer), expected);
}

static void numbers_have_three_digits_and_a_prefix(void **state)
{
    assert_quantity(0.00125, "s", "1.25 ms");
    assert_quantity(0.0009999, "s", "1.00 ms");
    assert_quantity(0.00095, "s", "950 µs");
    assert_quantity(4.2e-6, "s", "4.20 µs");
    assert_quantity(0, "s", "0 s");
    assert_quantity(61, "s", "61.0 s");
    assert_quantity(12345, "s", "12,345 s");
    assert_quantity(41234, "packets/s", "41.2 k packets/s");
    assert_quantity(0.5, "packets/s", "0.500 packets/s");
    assert_quantity(2e9, "bits/s", "2.00 Gbit/s");
    assert_quantity(-0.25, "s", "−250 ms");
}

static void counts_keep_their_digits(void **state)
{
    assert_quantity(75123, "packets", "75,123 packets");
    assert_quantity(1234567, "", "1,234,567");
    assert_quantity(12345678, "packets", "12.3 M packets");
    assert_quantity(7.333, "packets", "7.33 packets");
    assert_quantity(4096, "bytes", "4096 B");
    assert_quantity(617976, "bytes", "618 kB");
    assert_quantity(644123.5, "bytes", "644 kB");
}

static void shares_are_percent(void **state)
{
    assert_quantity(0.412, "share", "41.2 %");
    assert_quantity(1, "share", "100 %");
    assert_quantity(0.000502, "share", "0.0502 %");
}

static void nan_is_a_dash(void **state)
{
    assert_quantity(NAN, "s", "–");
    assert_quantity(INFINITY, "packets", "∞");
    assert_quantity(-INFINITY, "", "−∞");
}

static void moments_have_all_their_digits(void **state)
{
    char buffer[QUANTITY_BYTES];
    assert_string_equal(quantity_moment(60181200 * TIME_US, buffer), "60.1812 s");
    assert_string_equal(quantity_moment(5 * TIME_US, buffer), "5 µs");
    assert_string_equal(quantity_moment(TIME_NEVER, buffer), "never");
}

static void means_on_a_scale_share_its_unit(void **state)
{
    char buffer[QUANTITY_BYTES];
    struct quantity_scale scale = quantity_scale(353e-6, "s");
    assert_string_equal(scale.name, "µs");
    assert_string_equal(quantity_mean_on(&scale, 4.02e-6, 0.0058e-6, buffer), "4.020 ± 0.006");
    assert_string_equal(quantity_mean_on(&scale, 353e-6, 2.2e-6, buffer), "353.0 ± 2.2");
    assert_string_equal(quantity_mean_on(&scale, 4.02e-6, NAN, buffer), "4.02");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_three_digits_and_a_prefix),
        cmocka_unit_test(counts_keep_their_digits),
        cmocka_unit_test(shares_are_percent),
        cmocka_unit_test(nan_is_a_dash),
        cmocka_unit_test(moments_have_all_their_digits),
        cmocka_unit_test(means_on_a_scale_share_its_unit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
