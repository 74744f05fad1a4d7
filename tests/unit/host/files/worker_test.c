/* A worker thread: all tasks are returned in order, and its descriptor is readable when one is
 * finished. */
#include "host/files/worker.h"
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

static void tasks_are_finished_in_order(void **state)
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
    assert_int_equal(poll(&descriptor, 1, 0), 0); /* no finished task is left */
    worker_free(worker);
}

/* After the last finished task is taken, the descriptor is not readable. */
static void the_descriptor_is_readable_only_with_finished_tasks(void **state)
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

static void given_tasks_are_finished_before_the_end(void **state)
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
        cmocka_unit_test(tasks_are_finished_in_order),
        cmocka_unit_test(it_sleeps_and_wakes_again),
        cmocka_unit_test(the_descriptor_is_readable_only_with_finished_tasks),
        cmocka_unit_test(given_tasks_are_finished_before_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
