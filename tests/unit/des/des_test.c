/* The event queue against its promises. */
#include "assert_event.h"

#include "base/mem.h"
#include "base/rng.h"
#include "des/des.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* Events of one kind at one place: those of the same time come in the order of scheduling. */
static struct event numbered(uint64_t number)
{
    return (struct event){.kind = 0x5a, .a = 0xfffffff0, .b = number};
}

static void assert_pops(struct des *des, uint64_t time, uint64_t number)
{
    struct event event;
    assert_true(des_pop(des, TIME_NEVER, &event));
    assert_event(event, numbered(number));
    assert_int_equal(des_now(des), time);
}

/* Order */

static void an_empty_queue_has_nothing_next(void **state)
{
    struct des *des = des_new();
    struct event event;
    assert_int_equal(des_now(des), 0);
    assert_int_equal(des_pending(des), 0);
    assert_true(des_next_time(des) == TIME_NEVER);
    assert_false(des_pop(des, TIME_NEVER, &event));
    assert_int_equal(des_now(des), 0);
    des_free(des);
    des_free(NULL);
}

static void the_earliest_comes_first(void **state)
{
    static const uint64_t times[] = {5 * TIME_S, 1, TIME_NEVER - 1, 0, 63, 64, 4096, TIME_US};
    static const unsigned sorted[] = {3, 1, 4, 5, 6, 7, 0, 2};
    struct des *des = des_new();
    for (unsigned i = 0; i < 8; i++)
        assert_true(des_schedule(des, times[i], numbered(i)) != 0);
    assert_int_equal(des_pending(des), 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_true(des_next_time(des) == times[sorted[i]]);
        assert_pops(des, times[sorted[i]], sorted[i]);
    }
    assert_int_equal(des_pending(des), 0);
    des_free(des);
}

/* Some are filed while the time is far away, some when it is near, some when it has come. */
static void equal_times_come_in_the_order_of_scheduling(void **state)
{
    struct des *des = des_new();
    const uint64_t meeting = 123456789;
    for (uint64_t i = 0; i < 200; i++) {
        des_schedule(des, meeting, numbered(1000 + i));
        des_schedule(des, meeting * i / 200, numbered(i));
    }
    for (uint64_t i = 0; i < 200; i++) {
        assert_pops(des, meeting * i / 200, i);
        des_schedule(des, meeting, numbered(1200 + i));
    }
    for (uint64_t i = 0; i < 400; i++) {
        assert_pops(des, meeting, 1000 + i);
        des_schedule(des, meeting, numbered(1400 + i));
    }
    for (uint64_t i = 0; i < 400; i++)
        assert_pops(des, meeting, 1400 + i);
    assert_int_equal(des_pending(des), 0);
    des_free(des);
}

/* Whatever the order in which they are scheduled, in a FIFO or not. */
static void the_order_of_equal_times_does_not_depend_on_scheduling(void **state)
{
    static const struct event events[] = {
        {0, 3, 1}, {0, 4, 2}, {1, 0, 3}, {1, 9, 4}, {1, UINT32_MAX, 5}, {2, 0, 6}, {6, 0, 7},
    };
    enum { EVENTS = sizeof events / sizeof events[0] };
    struct rng rng;
    rng_seed(&rng, 11, 0);
    for (uint64_t time = 1; time < 50; time++) {
        uint64_t expected[EVENTS] = {0};
        for (unsigned round = 0; round < 20; round++) {
            struct des *des = des_new();
            struct event event;
            uint32_t order[EVENTS] = {0, 1, 2, 3, 4, 5, 6}, kind = 0;
            rng_shuffle(&rng, order, EVENTS);
            for (unsigned i = 0; i < EVENTS; i++)
                if (rng_below(&rng, 3))
                    des_post_fifo(des, events[order[i]].kind, time, events[order[i]]);
                else
                    des_post(des, time, events[order[i]]);
            for (unsigned i = 0; i < EVENTS; i++) {
                assert_true(des_pop(des, TIME_NEVER, &event));
                assert_event(event, events[event.b - 1]);
                assert_in_range(event.kind, kind, 6);
                kind = event.kind;
                if (round)
                    assert_int_equal(event.b, expected[i]);
                expected[i] = event.b;
            }
            des_free(des);
        }
    }
}

static void no_place_is_always_first(void **state)
{
    enum { PLACES = 12, TIMES = 4000 };
    struct des *des = des_new();
    unsigned before[PLACES][PLACES] = {0};
    for (uint64_t time = 1; time <= TIMES; time++) {
        unsigned popped[PLACES];
        for (uint32_t place = 0; place < PLACES; place++)
            des_post(des, time * 4000, (struct event){1, place, 0});
        for (unsigned i = 0; i < PLACES; i++) {
            struct event event;
            assert_true(des_pop(des, TIME_NEVER, &event));
            popped[i] = event.a;
            for (unsigned j = 0; j < i; j++)
                before[popped[j]][event.a]++;
        }
    }
    for (unsigned i = 0; i < PLACES; i++)
        for (unsigned j = 0; j < PLACES; j++)
            if (i != j)
                assert_in_range(before[i][j], TIMES * 2 / 5, TIMES * 3 / 5);
    des_free(des);
}

static void an_event_without_delay_comes_after_those_of_the_same_time_only(void **state)
{
    struct des *des = des_new();
    des_schedule(des, 100, numbered(1));
    des_schedule(des, 100, numbered(2));
    des_schedule(des, 101, numbered(4));
    assert_pops(des, 100, 1);
    des_schedule(des, des_now(des), numbered(3));
    assert_true(des_next_time(des) == 100);
    assert_pops(des, 100, 2);
    assert_pops(des, 100, 3);
    des_schedule(des, des_now(des), numbered(5));
    assert_pops(des, 100, 5);
    assert_pops(des, 101, 4);
    des_free(des);
}

/* A million at one moment: anything quadratic would not end. */
static void many_events_of_one_time_come_in_order(void **state)
{
    struct des *des = des_new();
    for (uint64_t i = 0; i < 1000000; i++)
        des_schedule(des, 7 * TIME_S, numbered(i));
    for (uint64_t i = 0; i < 1000000; i++) {
        struct event event;
        if (i % 3 == 0 && des_next_time(des) != 7 * TIME_S)
            fail();
        if (!des_pop(des, 7 * TIME_S, &event) || event.b != i)
            fail();
    }
    assert_int_equal(des_pending(des), 0);
    des_free(des);
}

/* Clock */

static void the_clock_moves_to_the_limit_without_an_earlier_event(void **state)
{
    struct des *des = des_new();
    struct event event;
    des_schedule(des, 1000, numbered(1));
    assert_false(des_pop(des, 999, &event));
    assert_int_equal(des_now(des), 999);
    assert_int_equal(des_pending(des), 1);
    assert_true(des_pop(des, 1000, &event));
    assert_int_equal(des_now(des), 1000);
    assert_false(des_pop(des, TIME_S, &event));
    assert_int_equal(des_now(des), TIME_S);
    assert_false(des_pop(des, TIME_NEVER, &event));
    assert_int_equal(des_now(des), TIME_S);
    des_free(des);
}

static void the_clock_never_moves_back(void **state)
{
    struct des *des = des_new();
    struct event event;
    assert_false(des_pop(des, 500, &event));
    assert_false(des_pop(des, 400, &event));
    assert_int_equal(des_now(des), 500);
    des_schedule(des, 500, numbered(1));
    assert_false(des_pop(des, 499, &event));
    assert_int_equal(des_now(des), 500);
    assert_pops(des, 500, 1);
    des_free(des);
}

/* Looking ahead must not commit the queue to the time it saw. */
static void an_event_before_the_next_time_read_comes_first(void **state)
{
    struct des *des = des_new();
    struct event event;
    for (uint64_t i = 0; i < 100; i++)
        des_schedule(des, TIME_S + i, numbered(100 + i));
    assert_true(des_next_time(des) == TIME_S);
    assert_false(des_pop(des, TIME_MS, &event));
    for (uint64_t i = 0; i < 100; i++) {
        des_schedule(des, TIME_S - 1 - i, numbered(99 - i));
        assert_true(des_next_time(des) == TIME_S - 1 - i);
    }
    for (uint64_t i = 0; i < 200; i++)
        assert_pops(des, TIME_S - 100 + i, i);
    des_free(des);
}

static void events_for_never_are_not_stored(void **state)
{
    struct des *des = des_new();
    struct event event;
    assert_true(des_schedule(des, TIME_NEVER, numbered(1)) == 0);
    assert_int_equal(des_pending(des), 0);
    assert_false(des_pop(des, TIME_NEVER, &event));
    des_free(des);
}

/* Cancelling */

static void a_cancelled_event_never_comes(void **state)
{
    struct des *des = des_new();
    des_handle handles[64];
    for (uint64_t i = 0; i < 64; i++)
        handles[i] = des_schedule(des, 1000 * (i / 4), numbered(i));
    for (uint64_t i = 0; i < 64; i++)
        if (i % 3)
            assert_true(des_cancel(des, handles[i]));
    assert_int_equal(des_pending(des), 22);
    for (uint64_t i = 0; i < 64; i += 3) {
        assert_true(des_next_time(des) == 1000 * (i / 4));
        assert_pops(des, 1000 * (i / 4), i);
    }
    assert_true(des_next_time(des) == TIME_NEVER);
    des_free(des);
}

/* Enough to sweep all slots, that of the equal times included. */
static void cancelling_many_keeps_the_order_of_a_half_popped_slot(void **state)
{
    enum { CROWD = 100, SERVED = 45, FAR = 5000 };
    struct des *des = des_new();
    des_handle far[FAR];
    for (uint64_t i = 0; i < CROWD; i++)
        des_schedule(des, 1000, numbered(i));
    for (uint64_t i = 0; i < FAR; i++)
        far[i] = des_schedule(des, TIME_MS * (i + 1), numbered(CROWD + i));
    for (uint64_t i = 0; i < SERVED; i++)
        assert_pops(des, 1000, i);
    for (uint64_t i = 0; i < FAR; i++)
        assert_true(des_cancel(des, far[i]));
    assert_int_equal(des_pending(des), CROWD - SERVED);
    for (uint64_t i = SERVED; i < CROWD; i++)
        assert_pops(des, 1000, i);
    assert_true(des_next_time(des) == TIME_NEVER);
    des_free(des);
}

static void the_next_time_follows_cancelling(void **state)
{
    struct des *des = des_new();
    des_handle first = des_schedule(des, 5000, numbered(1));
    des_handle second = des_schedule(des, 5001, numbered(2));
    des_handle third = des_schedule(des, 9 * TIME_S, numbered(3));
    assert_true(des_next_time(des) == 5000);
    assert_true(des_cancel(des, first));
    assert_true(des_next_time(des) == 5001);
    assert_true(des_cancel(des, second));
    assert_true(des_next_time(des) == 9 * TIME_S);
    assert_true(des_cancel(des, third));
    assert_true(des_next_time(des) == TIME_NEVER);
    assert_int_equal(des_pending(des), 0);
    des_free(des);
}

static void a_stale_handle_is_harmless(void **state)
{
    struct des *des = des_new();
    assert_false(des_cancel(des, 0));
    assert_false(des_cancel(des, UINT64_MAX));
    des_handle popped = des_schedule(des, 1, numbered(1));
    assert_false(des_cancel(des, popped + 1));
    assert_pops(des, 1, 1);
    assert_false(des_cancel(des, popped));
    des_handle cancelled = des_schedule(des, 2, numbered(2));
    assert_true(des_cancel(des, cancelled));
    assert_false(des_cancel(des, cancelled));
    des_handle waiting = des_schedule(des, 3, numbered(3));
    assert_true(waiting != popped && waiting != cancelled);
    assert_false(des_cancel(des, popped));
    assert_false(des_cancel(des, cancelled));
    assert_int_equal(des_pending(des), 1);
    assert_pops(des, 3, 3);
    des_free(des);
}

/* Dividing */

enum { PARTS = 3, STAYING = 0x5b };

static unsigned by_place(const void *context, const struct event *event)
{
    (void)context;
    return event->kind == STAYING ? PARTS : event->a % PARTS;
}

/* The same event in a queue and in a divided one. FIFO `kind`, or the heap. */
static void post_twice(struct des *whole, struct des *divided, struct des *const *parts,
                       uint64_t time, struct event event)
{
    struct des *ends[] = {whole, parts && event.kind != STAYING ? parts[event.a % PARTS] : divided};
    for (unsigned i = 0; i < 2; i++)
        if (event.kind < DES_FIFOS)
            des_post_fifo(ends[i], event.kind, time, event);
        else
            des_post(ends[i], time, event);
}

static void dividing_and_uniting_keep_the_order(void **state)
{
    enum { ROUNDS = 400, POSTS = 60, SPAN = 500 };
    struct rng rng;
    rng_seed(&rng, 17, 0);
    struct des *whole = des_new(), *divided = des_new(), *parts[PARTS];
    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = des_new();
    uint64_t number = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        des_handle timer =
            des_schedule(divided, des_now(whole) + SPAN, (struct event){STAYING, 0, 0});
        for (unsigned i = 0; i < POSTS; i++) {
            if (i == POSTS / 2)
                des_divide(divided, parts, PARTS, by_place, NULL);
            /* In FIFOs no two events have the same time, kind and `a`. */
            unsigned kind = (unsigned)rng_below(&rng, DES_FIFOS + 3);
            uint64_t time = des_now(whole) + rng_below(&rng, SPAN);
            struct event event = {
                kind < DES_FIFOS ? kind : 0x59 + kind % 3,
                kind < DES_FIFOS ? (uint32_t)number : (uint32_t)rng_below(&rng, 4), number};
            number++;
            post_twice(whole, divided, i < POSTS / 2 ? NULL : parts, time, event);
        }
        des_unite(divided, parts, PARTS);
        assert_true(des_cancel(divided, timer)); /* its event has stayed */
        for (unsigned i = 0; i < PARTS; i++)
            assert_int_equal(des_pending(parts[i]), 0);
        assert_int_equal(des_pending(divided), des_pending(whole));
        for (unsigned left = round + 1 == ROUNDS ? (unsigned)des_pending(whole) : POSTS - 1; left;
             left--) {
            struct event event, expected;
            assert_true(des_pop(whole, TIME_NEVER, &expected));
            assert_true(des_pop(divided, TIME_NEVER, &event));
            assert_int_equal(des_now(divided), des_now(whole));
            assert_event(event, expected);
        }
    }
    for (unsigned i = 0; i < PARTS; i++)
        des_free(parts[i]);
    des_free(whole);
    des_free(divided);
}

static size_t memory_in_use(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Sanitizers replace the allocator, so that mallinfo2() does not count. */
static bool memory_is_counted(void)
{
    size_t before = memory_in_use();
    void *probe = mem_alloc(1 << 20);
    memset(probe, 1, 1 << 20);
    bool counted = memory_in_use() > before;
    mem_free(probe);
    return counted;
}

/* Were the dead ones miscounted, each of the million would cost a walk through the waiting. */
static void timers_set_and_cancelled_leave_memory_flat(void **state)
{
    if (!memory_is_counted())
        skip();
    enum { WAITING = 20000, TIMERS = 1000000, SLACK = 2 << 20 };
    struct des *des = des_new();
    for (uint64_t i = 0; i < WAITING; i++)
        des_schedule(des, TIME_S + i, numbered(i));
    size_t before = memory_in_use();
    for (uint64_t i = 0; i < TIMERS; i++) {
        uint64_t time = i % 2 ? i % 64 : 10 * TIME_S + i * TIME_US;
        assert_true(des_cancel(des, des_schedule(des, time, numbered(i))));
        if (i % 2)
            assert_true(des_next_time(des) == TIME_S);
    }
    assert_in_range(memory_in_use() - before, 0, SLACK);
    assert_int_equal(des_pending(des), WAITING);
    for (uint64_t i = 0; i < WAITING; i++)
        assert_pops(des, TIME_S + i, i);
    assert_true(des_next_time(des) == TIME_NEVER);
    des_free(des);
}

static void a_waiting_event_takes_at_most_64_bytes(void **state)
{
    if (!memory_is_counted())
        skip();
    enum { EVENTS = 300000, SLACK = 1 << 20 };
    struct rng rng;
    rng_seed(&rng, 3, 0);
    size_t before = memory_in_use();
    struct des *des = des_new();
    for (unsigned i = 0; i < EVENTS; i++)
        des_schedule(des, rng_below(&rng, TIME_MS), numbered(i));
    struct event event;
    for (unsigned i = 0; i < EVENTS; i++) {
        assert_true(des_pop(des, TIME_NEVER, &event));
        des_schedule(des, des_now(des) + rng_below(&rng, TIME_MS), event);
    }
    assert_in_range(memory_in_use() - before, 0, EVENTS * 64 + SLACK);
    des_free(des);
    assert_in_range(memory_in_use(), 0, before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_queue_has_nothing_next),
        cmocka_unit_test(the_earliest_comes_first),
        cmocka_unit_test(equal_times_come_in_the_order_of_scheduling),
        cmocka_unit_test(the_order_of_equal_times_does_not_depend_on_scheduling),
        cmocka_unit_test(no_place_is_always_first),
        cmocka_unit_test(an_event_without_delay_comes_after_those_of_the_same_time_only),
        cmocka_unit_test(many_events_of_one_time_come_in_order),
        cmocka_unit_test(the_clock_moves_to_the_limit_without_an_earlier_event),
        cmocka_unit_test(the_clock_never_moves_back),
        cmocka_unit_test(an_event_before_the_next_time_read_comes_first),
        cmocka_unit_test(events_for_never_are_not_stored),
        cmocka_unit_test(a_cancelled_event_never_comes),
        cmocka_unit_test(cancelling_many_keeps_the_order_of_a_half_popped_slot),
        cmocka_unit_test(the_next_time_follows_cancelling),
        cmocka_unit_test(a_stale_handle_is_harmless),
        cmocka_unit_test(dividing_and_uniting_keep_the_order),
        cmocka_unit_test(timers_set_and_cancelled_leave_memory_flat),
        cmocka_unit_test(a_waiting_event_takes_at_most_64_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
