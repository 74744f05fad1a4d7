/* Log levels: words change them, and they are printed in the same form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/log_levels.h"

#include <errno.h>
#include <string.h>

static void assert_printed(const char *words, const char *expected)
{
    struct log_levels levels = {0};
    struct text text = {0};
    assert_int_equal(log_levels_change(&levels, words, NULL), 0);
    log_levels_print(&levels, &text);
    assert_string_equal(text.data, expected);
    text_release(&text);
}

static void levels_are_printed_as_they_are_written(void **unused)
{
    (void)unused;
    assert_printed("info", "info");
    assert_printed("debug", "debug");
    assert_printed("discovery:debug", "info,discovery:debug");
    assert_printed("error,sa:info,perf:debug", "error,sa:info,perf:debug");
    assert_printed("sa:debug,error", "error");
}

static void the_mask_has_the_parts_at_debug(void **unused)
{
    (void)unused;
    struct log_levels levels = {0};
    assert_int_equal(log_levels_debug_mask(&levels), 0);
    assert_int_equal(log_levels_change(&levels, "error,routing:debug", NULL), 0);
    assert_int_equal(log_levels_debug_mask(&levels), 1u << PART_ROUTING);
    assert_int_equal(levels.of[PART_WHOLE], LEVEL_DEBUG); /* the highest of all */
    assert_int_equal(levels.of[PART_SA], LEVEL_ERROR);
}

static void wrong_words_change_nothing(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "",       "loud",   "sa:",      "sa:loud",       "sea:debug",
        ":debug", "debug,", "debug,sa", "sa:debug,,info"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct log_levels levels = {0};
        struct err err = {0};
        assert_int_equal(log_levels_change(&levels, wrong[i], &err), -EINVAL);
        assert_true(err.message[0]);
        assert_memory_equal(&levels, &(struct log_levels){0}, sizeof levels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_are_printed_as_they_are_written),
        cmocka_unit_test(the_mask_has_the_parts_at_debug),
        cmocka_unit_test(wrong_words_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
