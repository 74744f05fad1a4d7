/* Waits of threads for each other, with deadlines of simulated time.
 *
 * Waits without a deadline are left to the C library: the server sees the thread asleep. A wait
 * with a deadline uses two futexes, the slot's, which the server wakes at the deadline, and a count
 * in the shared page that signals and posts increment. Several objects may share a count: a wait
 * may then end without a reason, which POSIX allows for condition variables, and semaphores are
 * tried again. Locks and signals with deadlines, which are rare, are tried again and again. */
#include "preload/time/gate.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define TRY_LEAST (1000 * PS_PER_NS)
#define TRY_MOST  (1000 * 1000 * PS_PER_NS)
#define LOOK_NS   (20 * 1000 * 1000) /* where a thread cannot wait for two futexes */

struct two_waits {
    uint64_t value, address;
    uint32_t flags, reserved;
};
_Static_assert(sizeof(struct two_waits) == 24, "struct futex_waitv");

/* Processes that share an object may have it at different addresses, but at the same offset within
 * a page. */
static uint32_t *count_of(const void *object)
{
    return &gate_page->conditions[(uintptr_t)object / 4 & (TIME_CONDITIONS - 1)];
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
    /* A signal handler may have waited, too. */
    return gate_end_block(-1) && gate_local() >= deadline;
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

/* ---- locks ---- */

/* Before the next try. False: the deadline has passed. */
static bool wait_to_try(uint64_t *pause, uint64_t deadline)
{
    uint64_t now = gate_local();
    if (now >= deadline)
        return false;
    gate_sleep(deadline - now < *pause ? deadline : now + *pause);
    *pause = *pause < TRY_MOST ? 2 * *pause : TRY_MOST;
    return true;
}

#define DEFINE_LOCK(type, timed, clocked, try)                                                     \
    static int try##_until(type *lock, uint64_t deadline)                                          \
    {                                                                                              \
        uint64_t pause = TRY_LEAST;                                                                \
        gate_spend(TIME_CALL);                                                                     \
        for (;;) {                                                                                 \
            int result = try(lock);                                                                \
            if (result != EBUSY)                                                                   \
                return result;                                                                     \
            if (!wait_to_try(&pause, deadline))                                                    \
                return ETIMEDOUT;                                                                  \
        }                                                                                          \
    }                                                                                              \
    WEFT_EXPORT int timed(type *restrict lock, const struct timespec *restrict deadline)           \
    {                                                                                              \
        NEXT(timed);                                                                               \
        if (!gate_page)                                                                            \
            return next(lock, deadline);                                                           \
        return try##_until(lock, gate_deadline(CLOCK_REALTIME, deadline));                         \
    }                                                                                              \
    WEFT_EXPORT int clocked(type *restrict lock, clockid_t clock,                                  \
                            const struct timespec *restrict deadline)                              \
    {                                                                                              \
        NEXT(clocked);                                                                             \
        if (!gate_page)                                                                            \
            return next(lock, clock, deadline);                                                    \
        return try##_until(lock, gate_deadline(clock, deadline));                                  \
    }

DEFINE_LOCK(pthread_mutex_t, pthread_mutex_timedlock, pthread_mutex_clocklock,
            pthread_mutex_trylock)
DEFINE_LOCK(pthread_rwlock_t, pthread_rwlock_timedrdlock, pthread_rwlock_clockrdlock,
            pthread_rwlock_tryrdlock)
DEFINE_LOCK(pthread_rwlock_t, pthread_rwlock_timedwrlock, pthread_rwlock_clockwrlock,
            pthread_rwlock_trywrlock)

/* ---- signals ---- */

WEFT_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                             const struct timespec *restrict time)
{
    static const struct timespec none;
    NEXT(sigtimedwait);
    if (!gate_page || !time)
        return next(set, info, time);
    gate_spend(TIME_CALL);
    uint64_t pause = TRY_LEAST, deadline = gate_after(gate_from_timespec(time));
    for (;;) {
        int result = next(set, info, &none);
        if (result >= 0 || errno != EAGAIN)
            return result;
        if (!wait_to_try(&pause, deadline)) {
            errno = EAGAIN;
            return -1;
        }
    }
}
