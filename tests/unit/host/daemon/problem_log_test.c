/* Each problem is logged once when it appears and once when it is over, and keeps its time. */
#include "host/daemon/problems/problem_log.h"

#include "base/time.h"
#include "test.h"

#include <string.h>

static uint64_t now_ns = NS_PER_S;

static void write_line(void *context, const char *event, const char *text)
{
    text_printf(context, "%s %s\n", event, text);
}

static bool only_files(enum problem_kind kind)
{
    return kind == PROBLEM_FILES;
}

/* The lines that the log gets for this list. */
static struct text lines_for(struct problems *log, struct problems problems,
                             bool (*is_over)(enum problem_kind kind))
{
    struct text lines = {0};
    problem_log_update(log, &problems, now_ns, NULL, is_over, write_line, &lines);
    text_putc(&lines, '\n'); /* never empty */
    return lines;
}

static void assert_lines(struct text lines, const char *expected)
{
    assert_string_equal(lines.data, expected);
    text_release(&lines);
}

static struct problems list(const char *const *places, size_t count, enum problem_kind kind)
{
    struct problems problems = {0};
    for (size_t i = 0; i < count; i++)
        problems_add_object(&problems, kind, places[i], "it is wrong at %zu", i);
    return problems;
}

static void a_problem_is_logged_when_it_appears_and_when_it_is_over(void **state)
{
    (void)state;
    struct problems log = {0};
    const char *const places[] = {"leaf1", "leaf2"}, *const second[] = {"leaf2"};
    assert_lines(lines_for(&log, list(places, 1, PROBLEM_DEAD_AGENT), NULL),
                 "warning dead agent: leaf1: it is wrong at 0\n\n");
    now_ns += 200 * NS_PER_S;
    assert_lines(lines_for(&log, list(places, 2, PROBLEM_DEAD_AGENT), NULL),
                 "warning dead agent: leaf2: it is wrong at 1\n\n");
    assert_int_equal(log.items.items[0].since_ns, now_ns - 200 * NS_PER_S);
    assert_int_equal(log.items.items[1].since_ns, now_ns);
    /* The text of a known problem may change. */
    assert_lines(lines_for(&log, list(second, 1, PROBLEM_DEAD_AGENT), NULL),
                 "solved dead agent: leaf1 (after 3 min)\n\n");
    problems_release(&log);
}

static void serious_problems_come_first_and_notes_are_no_warnings(void **state)
{
    (void)state;
    struct problems log = {0};
    struct problems problems = {0};
    problems_add_object(&problems, PROBLEM_SLOW_LINK, "a", "slow");
    problems_add(&problems, PROBLEM_NO_ROUTES, (struct subnet_place){0}, "none");
    problems_add_object(&problems, PROBLEM_NODE_GONE, "b", "gone");
    problems_add_object(&problems, PROBLEM_HOST_GONE, "c", "off");
    assert_lines(lines_for(&log, problems, NULL),
                 "warning no routes: none\nwarning node gone: b: gone\nwarning slow link: a: "
                 "slow\nnote host gone: c: off\n\n");
    problems_release(&log);
}

static void a_standby_does_not_call_problems_solved_that_it_cannot_see(void **state)
{
    (void)state;
    struct problems log = {0};
    const char *const places[] = {"leaf1"};
    struct text lines = lines_for(&log, list(places, 1, PROBLEM_NODE_GONE), NULL);
    text_release(&lines);
    assert_lines(lines_for(&log, (struct problems){0}, only_files), "\n");
    problems_release(&log);
}

static void of_many_problems_the_first_are_logged_one_by_one(void **state)
{
    (void)state;
    enum { MANY = 25 };
    struct problems log = {0};
    struct problems problems = {0};
    for (unsigned i = 0; i < MANY; i++) {
        char place[16];
        snprintf(place, sizeof place, "leaf%u", i);
        problems_add_object(&problems, PROBLEM_SLOW_LINK, place, "slow");
    }
    struct text lines = lines_for(&log, problems, NULL);
    assert_non_null(strstr(lines.data, "leaf19: slow\nwarning 5 more problems: "));
    assert_null(strstr(lines.data, "leaf20: "));
    text_release(&lines);
    problems_release(&log);
}

static void places_and_texts_of_any_length_are_whole(void **state)
{
    (void)state;
    enum { LONG = 4000 };
    struct problems log = {0};
    struct problems problems = {0};
    struct text path = {0}, expected = {0};
    for (unsigned i = 0; i < LONG; i++)
        text_putc(&path, i % 100 ? 'a' : '/');
    problems_add_object(&problems, PROBLEM_FILES, path.data, "%s cannot be written", path.data);
    text_printf(&expected, "warning file not written: %s: %s cannot be written\n\n", path.data,
                path.data);
    assert_lines(lines_for(&log, problems, NULL), expected.data);
    text_release(&path);
    text_release(&expected);
    problems_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_is_logged_when_it_appears_and_when_it_is_over),
        cmocka_unit_test(serious_problems_come_first_and_notes_are_no_warnings),
        cmocka_unit_test(a_standby_does_not_call_problems_solved_that_it_cannot_see),
        cmocka_unit_test(places_and_texts_of_any_length_are_whole),
        cmocka_unit_test(of_many_problems_the_first_are_logged_one_by_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
