/* Settings of simulated managers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/run/manager.h"

#include <errno.h>
#include <string.h>

static void keys_of_managers_exist_in_the_configuration(void **state)
{
    (void)state;
    for (size_t i = 0; config_key(i); i++) {
        if (!config_key_in_runs(config_key(i)))
            continue;
        struct config config;
        struct err err = {0};
        struct cursor cursor = {.file = "x", .err = &err};
        struct word key = {config_key(i), 1, 1}, value = {"?", 1, 9};
        config_init(&config);
        /* Options of QoS are checked when all are known. */
        bool is_set = manager_set(&config, &key, &value, &cursor) == 0;
        if (is_set)
            assert_true(manager_finish(&config, &err) < 0);
        if ((!is_set && err.column != 9) || strstr(err.message, "there is no key"))
            fail_msg("%s: %s", config_key(i), err.message);
        config_release(&config);
    }
}

static void settings_of_managers_are_accepted_or_refused(void **state)
{
    struct config config;
    struct err err = {0};
    struct cursor cursor = {.file = "x", .err = &err};
    struct word window = {"window", 1, 1}, mode = {"mode", 1, 1}, wrong = {"windwo", 1, 1};
    struct word seven = {"7", 1, 8}, ordered = {"naive", 1, 8};
    (void)state;
    config_init(&config);
    assert_int_equal(manager_set(&config, &window, &seven, &cursor), 0);
    assert_int_equal(config.sm.window, 7);
    assert_int_equal(manager_set(&config, &mode, &ordered, &cursor), 0);
    assert_int_equal(config.sm.mode, SM_NAIVE);
    assert_int_equal(manager_set(&config, &wrong, &seven, &cursor), -EINVAL);
    assert_non_null(strstr(err.message, "did you mean 'window'?"));
    config_release(&config);
}

static void the_papers_manager_refuses_levels_of_service(void **state)
{
    struct config config;
    struct err err = {0};
    struct cursor cursor = {.file = "x", .err = &err};
    struct word high = {"qos_high_limit", 1, 1}, paper = {"paper", 1, 1}, qos = {"qos", 1, 1};
    struct word four = {"4", 1, 8}, no = {"no", 1, 8}, yes = {"yes", 1, 8};
    (void)state;
    config_init(&config);
    manager_preset(&config, "paper");
    assert_int_equal(manager_set(&config, &high, &four, &cursor), 0);
    assert_int_equal(manager_finish(&config, &err), -EINVAL);
    assert_non_null(strstr(err.message, "set sm paper no"));
    assert_int_equal(manager_set(&config, &paper, &no, &cursor), 0);
    assert_int_equal(manager_finish(&config, &err), 0);
    assert_non_null(config.sm.qos);
    config_release(&config);
    config_init(&config);
    manager_preset(&config, "paper");
    assert_int_equal(manager_finish(&config, &err), 0);
    assert_int_equal(manager_reset(&config, &qos, &yes, &cursor), -EINVAL);
    assert_null(config.sm.qos);
    config_release(&config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_managers_exist_in_the_configuration),
        cmocka_unit_test(settings_of_managers_are_accepted_or_refused),
        cmocka_unit_test(the_papers_manager_refuses_levels_of_service),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
