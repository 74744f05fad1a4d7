#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/parse.h"

#include <string.h>

static const char *const words[] = {"reachable", "discovered", "run", "sm", "S1", "S10"};

static const char *near(const char *text)
{
    const char *word = nearest_word(text, words, sizeof words / sizeof words[0]);
    return word ? word : "(none)";
}

static void a_typing_error_is_corrected(void **state)
{
    assert_string_equal(near("reachble"), "reachable");   /* missing */
    assert_string_equal(near("reachabble"), "reachable"); /* too many */
    assert_string_equal(near("reechable"), "reachable");  /* wrong */
    assert_string_equal(near("raechable"), "reachable");  /* swapped */
    assert_string_equal(near("DISCOVERED"), "discovered");
    assert_string_equal(near("rnu"), "run");
}

static void the_nearest_wins_and_the_first_of_equals(void **state)
{
    assert_string_equal(near("S11"), "S1");
    assert_string_equal(near("S100"), "S10");
}

static void distant_words_do_not_match(void **state)
{
    char longest[200];
    assert_string_equal(near("banana"), "(none)");
    assert_string_equal(near(""), "(none)");
    assert_string_equal(near("xx"), "(none)");
    assert_string_equal(near("fun2"), "(none)"); /* two edits of four letters */
    assert_string_equal(near("rum"), "run");
    assert_string_equal(near("H77"), "(none)");
    assert_string_equal(near("recorded"), "(none)");
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_string_equal(near(longest), "(none)");
    assert_null(nearest_word("run", NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_typing_error_is_corrected),
        cmocka_unit_test(the_nearest_wins_and_the_first_of_equals),
        cmocka_unit_test(distant_words_do_not_match),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
