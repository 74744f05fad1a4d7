/* Waits of threads for each other, with deadlines of simulated time.
 *
 * Waits without a deadline are left to the C library: the server sees the thread asleep. A wait
 * with a deadline uses two futexes, the slot's, which the server wakes at the deadline, and a count
 * in the shared page that signals and posts increment. Several objects may share a count: a wait
 * may then end without a reason, which POSIX allows for condition variables, and semaphores are
 * tried again. */
#include "preload/time/gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define LOOK_NS (20 * 1000 * 1000) /* where a thread cannot wait for two futexes */

struct two_waits {
    uint64_t value, address;
    uint32_t flags, reserved;
};
_Static_assert(sizeof(struct two_waits) == 24, "struct futex_waitv");

static uint32_t *count_of(const void *object)
{
    uint64_t hash = (uint64_t)(uintptr_t)object * UINT64_C(0x9E3779B97F4A7C15);
    return &gate_page->conditions[hash >> 32 & (TIME_CONDITIONS - 1)];
}

static void increment(const void *object)
{
    uint32_t *count = count_of(object);
    __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gate_page->condition_waiters, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, count, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until the count is not `seen`, or the deadline. */
static void wait_for_count(uint32_t *count, uint32_t seen)
{
    const struct timespec look = {.tv_nsec = LOOK_NS};
    uint32_t wake;
    struct two_waits waits[2] = {
        {.value = seen, .address = (uint64_t)(uintptr_t)count, .flags = 2}};
    uint32_t *word = gate_wake_word(&wake);
    waits[1] = (struct two_waits){.value = wake, .address = (uint64_t)(uintptr_t)word, .flags = 2};
    while (__atomic_load_n(count, __ATOMIC_SEQ_CST) == seen && !gate_expired()) {
        if (syscall(SYS_futex_waitv, waits, 2, 0, NULL, 0) < 0 && errno == ENOSYS)
            syscall(SYS_futex, count, FUTEX_WAIT, seen, &look, NULL, 0);
        if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != wake)
            break;
    }
}

/* True: the deadline has passed. */
static bool block(uint32_t *count, uint32_t seen, uint64_t deadline)
{
    __atomic_add_fetch(&gate_page->condition_waiters, 1, __ATOMIC_SEQ_CST);
    gate_begin_block(deadline, false);
    wait_for_count(count, seen);
    __atomic_sub_fetch(&gate_page->condition_waiters, 1, __ATOMIC_SEQ_CST);
    return gate_end_block(-1);
}

/* ---- condition variables ---- */

WEFT_EXPORT int pthread_cond_signal(pthread_cond_t *condition)
{
    NEXT(pthread_cond_signal);
    if (gate_page)
        increment(condition);
    return next(condition);
}

WEFT_EXPORT int pthread_cond_broadcast(pthread_cond_t *condition)
{
    NEXT(pthread_cond_broadcast);
    if (gate_page)
        increment(condition);
    return next(condition);
}

static int wait_until(pthread_cond_t *condition, pthread_mutex_t *mutex, uint64_t deadline)
{
    uint32_t *count = count_of(condition);
    uint32_t seen = __atomic_load_n(count, __ATOMIC_SEQ_CST);
    gate_spend(TIME_CALL);
    int result = pthread_mutex_unlock(mutex);
    if (result)
        return result;
    bool expired = gate_local() >= deadline || block(count, seen, deadline);
    result = pthread_mutex_lock(mutex);
    gate_woken();
    return result ? result : expired ? ETIMEDOUT : 0;
}

/* The attributes of a condition variable say which clock it uses. The calendar is so far from the
 * other clocks that the deadline says it, too. */
static clockid_t clock_of(const struct timespec *deadline)
{
    return (uint64_t)deadline->tv_sec >= gate_page->epoch / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

WEFT_EXPORT int pthread_cond_timedwait(pthread_cond_t *restrict condition,
                                       pthread_mutex_t *restrict mutex,
                                       const struct timespec *restrict deadline)
{
    NEXT(pthread_cond_timedwait);
    if (!gate_page)
        return next(condition, mutex, deadline);
    return wait_until(condition, mutex, gate_deadline(clock_of(deadline), deadline));
}

WEFT_EXPORT int pthread_cond_clockwait(pthread_cond_t *restrict condition,
                                       pthread_mutex_t *restrict mutex, clockid_t clock,
                                       const struct timespec *restrict deadline)
{
    NEXT(pthread_cond_clockwait);
    if (!gate_page)
        return next(condition, mutex, clock, deadline);
    return wait_until(condition, mutex, gate_deadline(clock, deadline));
}

/* ---- semaphores ---- */

WEFT_EXPORT int sem_post(sem_t *semaphore)
{
    NEXT(sem_post);
    int result = next(semaphore);
    if (gate_page)
        increment(semaphore);
    return result;
}

static int take_until(sem_t *semaphore, uint64_t deadline)
{
    uint32_t *count = count_of(semaphore);
    bool expired = false;
    gate_spend(TIME_CALL);
    for (;;) {
        uint32_t seen = __atomic_load_n(count, __ATOMIC_SEQ_CST);
        if (sem_trywait(semaphore) == 0)
            return 0;
        if (expired || gate_local() >= deadline) {
            errno = ETIMEDOUT;
            return -1;
        }
        expired = block(count, seen, deadline);
    }
}

WEFT_EXPORT int sem_timedwait(sem_t *restrict semaphore, const struct timespec *restrict deadline)
{
    NEXT(sem_timedwait);
    if (!gate_page)
        return next(semaphore, deadline);
    return take_until(semaphore, gate_deadline(CLOCK_REALTIME, deadline));
}

WEFT_EXPORT int sem_clockwait(sem_t *restrict semaphore, clockid_t clock,
                              const struct timespec *restrict deadline)
{
    NEXT(sem_clockwait);
    if (!gate_page)
        return next(semaphore, clock, deadline);
    return take_until(semaphore, gate_deadline(clock, deadline));
}
