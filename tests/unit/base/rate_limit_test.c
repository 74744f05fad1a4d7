/* Windows and flows of base/rate_limit.h. */
#include "base/rate_limit.h"

#include "base/time.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void window_begins_with_its_first_event(void **state)
{
    struct rate_window window = {0};
    assert_true(rate_window_is_over(&window, 0, 10));
    assert_int_equal(rate_window_add(&window, 100, 10), 1);
    assert_int_equal(rate_window_add(&window, 109, 10), 2);
    assert_int_equal(window.last, 109);
    assert_false(rate_window_is_over(&window, 109, 10));
    assert_true(rate_window_is_over(&window, 110, 10));
    assert_int_equal(rate_window_add(&window, 110, 10), 1);
    assert_int_equal(rate_window_end(&window, 10), 120);
}

static void window_does_not_wrap_around(void **state)
{
    struct rate_window window = {.since = 5, .count = UINT32_MAX};
    assert_int_equal(rate_window_add(&window, 6, 10), UINT32_MAX);
}

static unsigned admitted(struct rate_flow *flow, uint64_t now, uint64_t cost, uint64_t burst)
{
    unsigned count = 0;
    for (; rate_flow_is_open(flow, now); count++)
        rate_flow_add(flow, now, cost, burst);
    return count;
}

static void flow_has_a_burst_and_then_its_rate(void **state)
{
    const uint64_t cost = NS_PER_S / 100, burst = 2 * NS_PER_S - cost;
    struct rate_flow flow = {0};
    uint64_t now = NS_PER_S; /* less than the burst */
    assert_int_equal(admitted(&flow, now, cost, burst), 200);
    for (unsigned second = 1; second < 5; second++)
        assert_int_equal(admitted(&flow, now + second * NS_PER_S, cost, burst), 100);
    assert_int_equal(admitted(&flow, now + 100 * NS_PER_S, cost, burst), 200);
}

static void flow_without_burst_is_evenly_spaced(void **state)
{
    struct rate_flow flow = {0};
    unsigned count = 0;
    for (uint64_t now = 1000; now < 2000; now++)
        count += admitted(&flow, now, 10, 0);
    assert_int_equal(count, 100);
}

static void backlog_decreases_with_time(void **state)
{
    struct rate_flow flow = {0};
    assert_int_equal(rate_flow_backlog(&flow, 7), 0);
    rate_flow_add(&flow, 7, 30, 0);
    assert_int_equal(rate_flow_backlog(&flow, 7), 30);
    rate_flow_add(&flow, 17, 5, 0);
    assert_int_equal(rate_flow_backlog(&flow, 17), 25);
    assert_int_equal(rate_flow_backlog(&flow, 100), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_begins_with_its_first_event),
        cmocka_unit_test(window_does_not_wrap_around),
        cmocka_unit_test(flow_has_a_burst_and_then_its_rate),
        cmocka_unit_test(flow_without_burst_is_evenly_spaced),
        cmocka_unit_test(backlog_decreases_with_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
