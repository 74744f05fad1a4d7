/* Settings of links: ports keep what is not prescribed, and get only what they support. */
#include "subnet/link_settings.h"

#include "wire/codec.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { INFO = 64 };

static void make_port(uint8_t *info)
{
    wire_set(info, PORT_INFO_OPERATIONAL_VLS, 4);
    wire_set(info, PORT_INFO_HOQ_LIFE, 9);
    wire_set(info, PORT_INFO_VL_STALL_COUNT, 3);
    wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, 3);
    wire_set(info, PORT_INFO_LINK_SPEED_ENABLED, 3);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, 7);
    wire_set(info, PORT_INFO_LINK_SPEED_EXT_ENABLED, 7);
    wire_set(info, PORT_INFO_LINK_WIDTH_SUPPORTED, 3);
    wire_set(info, PORT_INFO_LINK_WIDTH_ENABLED, 3);
}

static void ports_keep_their_values_by_default(void **state)
{
    struct link_settings settings;
    uint8_t info[INFO] = {0}, before[INFO] = {0};
    make_port(info);
    make_port(before);
    link_settings_init(&settings);
    link_settings_apply(&settings, LINK_TRUNK, info);
    assert_memory_equal(info, before, INFO);
    assert_false(link_settings_force(&settings, LINK_TRUNK, info, NULL));
}

static void leaves_differ_from_trunks(void **state)
{
    struct link_settings settings;
    static const uint8_t lives[] = {[LINK_TRUNK] = 16, [LINK_LEAF] = 15, [LINK_ADAPTER] = 9};
    static const uint8_t stalls[] = {[LINK_TRUNK] = 6, [LINK_LEAF] = 5, [LINK_ADAPTER] = 3};
    link_settings_init(&settings);
    settings.queue_life = 16;
    settings.leaf_queue_life = 15;
    settings.stall_count = 6;
    settings.leaf_stall_count = 5;
    settings.vls = 2;
    for (enum link_place place = LINK_TRUNK; place <= LINK_ADAPTER; place++) {
        uint8_t info[INFO] = {0};
        make_port(info);
        link_settings_apply(&settings, place, info);
        assert_int_equal(wire_get(info, PORT_INFO_HOQ_LIFE), lives[place]);
        assert_int_equal(wire_get(info, PORT_INFO_VL_STALL_COUNT), stalls[place]);
        assert_int_equal(wire_get(info, PORT_INFO_OPERATIONAL_VLS), 2);
    }
}

static void forced_values_are_limited_to_supported_ones(void **state)
{
    static const struct {
        uint8_t speeds, ext, widths;    /* of the configuration */
        uint8_t set, set_ext, set_wide; /* in the Set; 0: no change */
    } cases[] = {
        {15, 31, 255, 0, 0, 0},                      /* as supported: nothing differs */
        {1, 2, 2, 1, 2, 2},     {7, 15, 3, 0, 0, 0}, /* QDR and NDR are not supported */
        {4, 8, 8, 0, 0, 0},                          /* nothing of it is supported */
        {0, 30, 0, 0, 30, 0},                        /* no extended speed */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct link_settings settings;
        uint8_t info[INFO] = {0}, set[INFO] = {0};
        make_port(info);
        link_settings_init(&settings);
        settings.speeds = cases[i].speeds;
        settings.speeds_ext = cases[i].ext;
        settings.widths = cases[i].widths;
        bool differs = cases[i].set || cases[i].set_ext || cases[i].set_wide;
        assert_int_equal(link_settings_force(&settings, LINK_LEAF, info, set), differs);
        assert_int_equal(wire_get(set, PORT_INFO_LINK_SPEED_ENABLED), cases[i].set);
        assert_int_equal(wire_get(set, PORT_INFO_LINK_SPEED_EXT_ENABLED), cases[i].set_ext);
        assert_int_equal(wire_get(set, PORT_INFO_LINK_WIDTH_ENABLED), cases[i].set_wide);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_keep_their_values_by_default),
        cmocka_unit_test(leaves_differ_from_trunks),
        cmocka_unit_test(forced_values_are_limited_to_supported_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
