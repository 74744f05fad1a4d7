/* Rates of links of every width and speed, and the best rate of two ends. */
#include "wire/link_rate.h"

#include "wire/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void set_active(uint8_t info[64], unsigned width, unsigned base, unsigned ext, unsigned ext2)
{
    memset(info, 0, 64);
    wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, width);
    wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, base);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, ext);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_ACTIVE, ext2);
}

static uint32_t rate(unsigned width, unsigned base, unsigned ext, unsigned ext2)
{
    uint8_t info[64];
    set_active(info, width, base, ext, ext2);
    return link_rate(info);
}

static void every_width_and_speed_has_its_rate(void **state)
{
    assert_int_equal(rate(1, 1, 0, 0), 2500);
    assert_int_equal(rate(2, 1, 0, 0), 10000);
    assert_int_equal(rate(8, 4, 0, 0), 120000);
    assert_int_equal(rate(16, 4, 1, 0), 28000);
    assert_int_equal(rate(2, 4, 2, 0), 100000);
    assert_int_equal(rate(2, 4, 4, 0), 200000);
    assert_int_equal(rate(2, 4, 8, 0), 400000);
    assert_int_equal(rate(16, 4, 8, 0), 200000);
    assert_int_equal(rate(1, 4, 0, 1), 200000);
    assert_int_equal(rate(16, 4, 0, 1), 400000);
    assert_int_equal(rate(2, 4, 0, 1), 800000);
    assert_int_equal(rate(4, 4, 0, 1), 1600000);
}

static void a_port_without_link_has_no_rate(void **state)
{
    assert_int_equal(rate(0, 1, 0, 0), 0);
    assert_int_equal(rate(2, 0, 0, 0), 0);
}

static void set_supported(uint8_t info[64], unsigned width, unsigned base, unsigned ext,
                          unsigned ext2)
{
    memset(info, 0, 64);
    wire_set(info, PORT_INFO_LINK_WIDTH_SUPPORTED, width);
    wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, base);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, ext);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED, ext2);
}

static void the_best_rate_is_that_of_both_ends(void **state)
{
    uint8_t near[64], far[64];
    set_supported(near, 1 | 2 | 16, 7, 15, 1);
    set_supported(far, 1 | 2 | 16, 7, 15, 1);
    assert_int_equal(link_best_rate(near, far), 800000);
    set_supported(far, 1 | 16, 7, 15, 1);
    assert_int_equal(link_best_rate(near, far), 400000);
    set_supported(far, 1 | 2, 7, 3, 0);
    assert_int_equal(link_best_rate(near, far), 100000);
    set_supported(far, 1 | 2, 1, 0, 0);
    assert_int_equal(link_best_rate(near, far), 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_width_and_speed_has_its_rate),
        cmocka_unit_test(a_port_without_link_has_no_rate),
        cmocka_unit_test(the_best_rate_is_that_of_both_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
