/* Error messages with file, line and column. */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void assert_reads(const struct err *err, const char *expected)
{
    char buffer[1024];
    assert_string_equal(err_text(err, buffer, sizeof buffer), expected);
}

static void an_error_returns_its_code_negated(void **state)
{
    struct err err;
    assert_int_equal(err_set(&err, EINVAL, "no"), -EINVAL);
    assert_int_equal(err_at(&err, ENOENT, "a.net", 1, "no"), -ENOENT);
}

static void observers_are_optional(void **state)
{
    assert_int_equal(err_set(NULL, EINVAL, "%s", "lost"), -EINVAL);
    assert_int_equal(err_at(NULL, EIO, "a.net", 3, "%s", "lost"), -EIO);
}

static void a_message_without_a_file_has_no_prefix(void **state)
{
    struct err err;
    err_set(&err, EINVAL, "%d ports, at most %d", 300, 254);
    assert_reads(&err, "300 ports, at most 254");
}

static void an_editor_can_jump_to_the_line(void **state)
{
    struct err err;
    err_at(&err, EINVAL, "dir/a.net", 17, "expected a port, not '%c'", '?');
    assert_reads(&err, "dir/a.net:17: expected a port, not '?'");
    err_at(&err, EINVAL, "dir/a.net", 0, "empty");
    assert_reads(&err, "dir/a.net: empty");
}

static void a_later_error_replaces_file_and_line(void **state)
{
    struct err err;
    err_at(&err, EINVAL, "a.net", 17, "first");
    err_set(&err, EINVAL, "second");
    assert_reads(&err, "second");
}

static void long_names_and_messages_are_cut_not_overrun(void **state)
{
    char lengthy[2000], buffer[4096], tiny[8];
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    struct err err;
    err_at(&err, EINVAL, lengthy, 1, "%s", lengthy);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strlen(err_text(&err, buffer, sizeof buffer)),
                     sizeof err.file - 1 + strlen(":1: ") + sizeof err.message - 1);
    assert_string_equal(err_text(&err, tiny, sizeof tiny), "xxxxxxx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_returns_its_code_negated),
        cmocka_unit_test(observers_are_optional),
        cmocka_unit_test(a_message_without_a_file_has_no_prefix),
        cmocka_unit_test(an_editor_can_jump_to_the_line),
        cmocka_unit_test(a_later_error_replaces_file_and_line),
        cmocka_unit_test(long_names_and_messages_are_cut_not_overrun),
    };
    return cmocka_run_group_tests_name("err", tests, NULL, NULL);
}
