/* The thread pool of commands: each job runs once, in nested and in concurrent batches. */
#include "cli/workers.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 1000, INNER = 40, ROUNDS = 200 };

struct counts {
    atomic_uint of[MOST];
};

static void count_job(void *context, size_t index)
{
    atomic_fetch_add(&((struct counts *)context)->of[index], 1);
}

static void assert_each(const struct counts *counts, size_t jobs, unsigned times)
{
    for (size_t i = 0; i < MOST; i++)
        assert_int_equal(atomic_load(&counts->of[i]), i < jobs ? times : 0);
}

static void every_job_runs_once(void **state)
{
    static const size_t jobs[] = {0, 1, 2, 3, 64, 65, MOST};
    (void)state;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct workers workers = workers_of_threads(threads);
        for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
            struct counts counts = {0};
            for (unsigned round = 0; round < ROUNDS; round++)
                workers.run(&workers, jobs[i], count_job, &counts);
            assert_each(&counts, jobs[i], ROUNDS);
        }
    }
}

struct outer {
    const struct workers *workers;
    struct counts counts;
};

static void run_nested_batch(void *context, size_t index)
{
    struct outer *outer = context;
    (void)index;
    workers_run(outer->workers, MOST, count_job, &outer->counts);
}

static void a_job_may_run_a_batch(void **state)
{
    struct workers workers = workers_of_threads(3);
    struct outer outer = {.workers = &workers};
    (void)state;
    workers_run(&workers, INNER, run_nested_batch, &outer);
    assert_each(&outer.counts, MOST, INNER);
}

static void *run_rounds(void *context)
{
    struct outer *outer = context;
    for (unsigned round = 0; round < ROUNDS; round++)
        workers_run(outer->workers, MOST, count_job, &outer->counts);
    return NULL;
}

static void two_threads_may_run_batches_at_the_same_time(void **state)
{
    struct workers workers = workers_of_threads(2);
    static struct outer mine, other;
    pthread_t thread;
    (void)state;
    mine.workers = other.workers = &workers;
    assert_int_equal(pthread_create(&thread, NULL, run_rounds, &other), 0);
    run_rounds(&mine);
    pthread_join(thread, NULL);
    assert_each(&mine.counts, MOST, ROUNDS);
    assert_each(&other.counts, MOST, ROUNDS);
}

/* Needs two threads at the same time: each waits for the other. */
static void wait_for_the_other(void *context, size_t index)
{
    atomic_uint *there = context;
    (void)index;
    atomic_fetch_add(there, 1);
    while (atomic_load(there) < 2)
        pthread_testcancel();
}

static void a_batch_runs_on_two_threads(void **state)
{
    struct workers workers = workers_of_threads(2);
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        atomic_uint there = 0;
        workers_run(&workers, 2, wait_for_the_other, &there);
        assert_int_equal(atomic_load(&there), 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_job_runs_once),
        cmocka_unit_test(a_job_may_run_a_batch),
        cmocka_unit_test(two_threads_may_run_batches_at_the_same_time),
        cmocka_unit_test(a_batch_runs_on_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
