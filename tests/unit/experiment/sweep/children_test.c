/* Child processes: their ends are reported and do not affect others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/time.h"
#include "experiment/sweep/children.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct child_limits no_limits = {0};

static int return_number(void *context)
{
    return *(int *)context;
}

static int complain(void *context)
{
    fprintf(stderr, "%s\nand more\n", (const char *)context);
    return 2;
}

static int die(void *context)
{
    signal(*(int *)context, SIG_DFL); /* a sanitizer may handle the signal */
    raise(*(int *)context);
    return 0;
}

static int interrupt_oneself(void *context)
{
    const int *numbers = context;
    raise(numbers[0]);
    raise(numbers[1]);
    return numbers[2];
}

static int hang(void *context)
{
    (void)context;
    while (pause() < 0) { /* always */
    }
    return 0;
}

static int talk_much(void *context)
{
    (void)context;
    for (int i = 0; i < 100000; i++)
        fprintf(stderr, "line %d\n", i);
    return 7;
}

static int want_memory(void *context)
{
    (void)context;
    mem_free(mem_zalloc(1u << 20, 1u << 10));
    return 0;
}

static struct child_end run_one(const struct child_limits *limits, int (*work)(void *),
                                void *context)
{
    struct children *children = children_new(limits);
    struct child_end end = {0};
    assert_int_equal(children_start(children, 5, work, context), 0);
    assert_int_equal(children_running(children), 1);
    assert_true(children_wait(children, 50000, &end));
    assert_int_equal(children_running(children), 0);
    assert_int_equal(end.job, 5);
    children_free(children);
    return end;
}

static void assert_told(const struct child_end *end, const struct child_limits *limits,
                        const char *expected)
{
    char text[2048];
    assert_string_equal(child_end_text(end, limits, text, sizeof text), expected);
}

static void the_exit_status_is_the_result_of_the_job(void **state)
{
    (void)state;
    int number = 3;
    struct child_end end = run_one(&no_limits, return_number, &number);
    assert_int_equal(end.exit_status, 3);
    assert_int_equal(end.signal, 0);
    assert_false(end.timed_out);
    assert_told(&end, &no_limits, "ended with status 3");
}

static void the_first_line_of_stderr_is_the_reason(void **state)
{
    (void)state;
    struct child_end end = run_one(&no_limits, complain, "x.weft:3: no such thing");
    assert_int_equal(end.exit_status, 2);
    assert_told(&end, &no_limits, "x.weft:3: no such thing");
}

static void a_crash_is_reported_with_its_signal(void **state)
{
    (void)state;
    int number = SIGSEGV;
    struct child_end end = run_one(&no_limits, die, &number);
    assert_int_equal(end.signal, SIGSEGV);
    assert_told(&end, &no_limits, "killed by signal 11 (Segmentation fault)");
}

static void a_child_is_killed_at_its_time_limit(void **state)
{
    (void)state;
    const struct child_limits limits = {.time = 5 * TIME_MS};
    struct child_end end = run_one(&limits, hang, NULL);
    assert_true(end.timed_out);
    assert_true(end.seconds >= 0.005);
    assert_told(&end, &limits, "took longer than 5ms");
}

static void excessive_memory_use_is_reported(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__
    skip(); /* the shadow memory of ASan exceeds the limit */
#endif
    const struct child_limits limits = {.memory = 256u << 20};
    struct child_end end = run_one(&limits, want_memory, NULL);
    assert_int_equal(end.exit_status, 2);
    assert_told(&end, &limits,
                "weft: out of memory (1048576 times 1024 bytes wanted); its limit is 256 MiB");
}

static void much_output_does_not_block_a_child(void **state)
{
    (void)state;
    struct child_end end = run_one(&no_limits, talk_much, NULL);
    assert_int_equal(end.exit_status, 7);
    assert_int_equal(strncmp(end.output, "line 0\nline 1\n", 14), 0);
    assert_int_equal(strlen(end.output), sizeof end.output - 1);
}

static void children_ignore_interrupts(void **state)
{
    (void)state;
    int signals[] = {SIGINT, SIGTERM, 9};
    struct child_end end = run_one(&no_limits, interrupt_oneself, signals);
    assert_int_equal(end.signal, 0);
    assert_int_equal(end.exit_status, 9);
}

static void a_crash_does_not_affect_other_children(void **state)
{
    (void)state;
    struct children *children = children_new(&no_limits);
    int numbers[] = {4, SIGABRT, 6};
    unsigned seen = 0;
    struct child_end end;
    assert_int_equal(children_start(children, 0, return_number, &numbers[0]), 0);
    assert_int_equal(children_start(children, 1, die, &numbers[1]), 0);
    assert_int_equal(children_start(children, 2, return_number, &numbers[2]), 0);
    while (children_running(children)) {
        assert_true(children_wait(children, 50000, &end));
        seen |= 1u << end.job;
        assert_int_equal(end.signal, end.job == 1 ? SIGABRT : 0);
        assert_int_equal(end.exit_status, end.job == 1 ? 0 : numbers[end.job]);
    }
    assert_int_equal(seen, 7);
    children_free(children);
}

static void waiting_times_out(void **state)
{
    (void)state;
    struct children *children = children_new(&no_limits);
    struct child_end end;
    assert_int_equal(children_start(children, 0, hang, NULL), 0);
    assert_false(children_wait(children, 1, &end));
    assert_int_equal(children_running(children), 1);
    assert_false(children_interrupted(children));
    children_free(children); /* also kills it */
}

static void an_interrupt_ends_only_the_wait(void **state)
{
    (void)state;
    struct children *children = children_new(&no_limits);
    struct child_end end;
    assert_int_equal(children_start(children, 0, hang, NULL), 0);
    raise(SIGINT); /* blocked until the wait */
    assert_false(children_wait(children, 50000, &end));
    assert_true(children_interrupted(children));
    children_free(children);
    children = children_new(&no_limits);
    assert_false(children_interrupted(children));
    children_free(children);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_status_is_the_result_of_the_job),
        cmocka_unit_test(the_first_line_of_stderr_is_the_reason),
        cmocka_unit_test(a_crash_is_reported_with_its_signal),
        cmocka_unit_test(a_child_is_killed_at_its_time_limit),
        cmocka_unit_test(excessive_memory_use_is_reported),
        cmocka_unit_test(much_output_does_not_block_a_child),
        cmocka_unit_test(children_ignore_interrupts),
        cmocka_unit_test(a_crash_does_not_affect_other_children),
        cmocka_unit_test(waiting_times_out),
        cmocka_unit_test(an_interrupt_ends_only_the_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
