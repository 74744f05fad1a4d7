/* A worker thread: everything given comes back, in order, and its descriptor says when. */
#include "host/daemon/worker.h"
#include "test.h"

#include <poll.h>

enum { TASKS = 1000 };

static void square(void *task)
{
    int *number = task;
    *number *= *number;
}

static int *await(struct worker *worker)
{
    struct pollfd descriptor = {.fd = worker_fd(worker), .events = POLLIN};
    int *task;
    while ((task = worker_take(worker)) == NULL)
        assert_int_equal(poll(&descriptor, 1, 10000), 1);
    return task;
}

static void tasks_come_back_done_and_in_order(void **state)
{
    static int numbers[TASKS];
    struct worker *worker = worker_new();
    (void)state;
    for (int i = 0; i < TASKS; i++) {
        numbers[i] = i;
        worker_give(worker, square, &numbers[i]);
    }
    for (int i = 0; i < TASKS; i++) {
        assert_true(worker_is_busy(worker));
        assert_ptr_equal(await(worker), &numbers[i]);
        assert_int_equal(numbers[i], i * i);
    }
    assert_false(worker_is_busy(worker));
    assert_null(worker_take(worker));
    worker_free(worker);
}

static void it_sleeps_and_wakes_again(void **state)
{
    struct worker *worker = worker_new();
    int number;
    (void)state;
    for (number = 2; number < 20; number = number == 4 ? 20 : number) {
        worker_give(worker, square, &number);
        await(worker);
    }
    struct pollfd descriptor = {.fd = worker_fd(worker), .events = POLLIN};
    assert_int_equal(poll(&descriptor, 1, 0), 0); /* nothing is left to take */
    worker_free(worker);
}

/* Whoever takes it the moment it is done leaves nothing behind that says that there is more. */
static void one_who_does_not_sleep_is_not_woken_for_nothing(void **state)
{
    struct worker *worker = worker_new();
    struct pollfd descriptor = {.fd = worker_fd(worker), .events = POLLIN};
    int number = 1;
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        worker_give(worker, square, &number);
        while (!worker_take(worker))
            ;
        assert_int_equal(poll(&descriptor, 1, 0), 0);
    }
    worker_free(worker);
}

static void what_was_given_is_finished_before_the_end(void **state)
{
    int numbers[] = {3, 4, 5};
    struct worker *worker = worker_new();
    (void)state;
    for (int i = 0; i < 3; i++)
        worker_give(worker, square, &numbers[i]);
    worker_free(worker);
    assert_int_equal(numbers[2], 25);
    worker_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_come_back_done_and_in_order),
        cmocka_unit_test(it_sleeps_and_wakes_again),
        cmocka_unit_test(one_who_does_not_sleep_is_not_woken_for_nothing),
        cmocka_unit_test(what_was_given_is_finished_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
