/* Clocks and sleeps show and take simulated time.
 *
 * The calendar begins at a fixed second, so that what a program prints or derives from it repeats.
 * Clocks of processor time stay those of the machine. */
#undef _FILE_OFFSET_BITS
#include "preload/time/gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static bool is_simulated(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
    case CLOCK_TAI: return gate_page != NULL;
    default: return false;
    }
}

static struct timespec read_clock(clockid_t clock)
{
    struct timespec time = gate_to_timespec(gate_spend(TIME_CLOCK));
    time.tv_sec += gate_start_s(clock);
    return time;
}

WEFT_EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
    if (!is_simulated(clock))
        return (int)syscall(SYS_clock_gettime, clock, time);
    *time = read_clock(clock);
    return 0;
}

int __clock_gettime(clockid_t clock, struct timespec *time);
WEFT_EXPORT int __clock_gettime(clockid_t clock, struct timespec *time)
{
    return clock_gettime(clock, time);
}

WEFT_EXPORT int timespec_get(struct timespec *time, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, time) == 0 ? base : 0;
}

WEFT_EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
    struct timeval *volatile to = time; /* the header claims that it is never NULL */
    struct timespec now;
    if (zone)
        *(struct timezone *)zone = (struct timezone){0};
    int result = clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return result;
}

WEFT_EXPORT time_t time(time_t *to)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (to)
        *to = now.tv_sec;
    return now.tv_sec;
}

/* ---- sleeps ---- */

static int sleep_until(uint64_t deadline, bool relative, struct timespec *left)
{
    gate_spend(TIME_CALL);
    if (gate_sleep(deadline))
        return 0;
    uint64_t now = gate_local();
    if (relative && left)
        *left = gate_to_timespec(deadline > now ? deadline - now : 0);
    return EINTR;
}

WEFT_EXPORT int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time,
                                struct timespec *left)
{
    if (!is_simulated(clock))
        return syscall(SYS_clock_nanosleep, clock, flags, time, left) < 0 ? errno : 0;
    if (!gate_is_valid(time))
        return EINVAL;
    if (flags & TIMER_ABSTIME)
        return sleep_until(gate_deadline(clock, time), false, left);
    return sleep_until(gate_after(gate_from_timespec(time)), true, left);
}

WEFT_EXPORT int nanosleep(const struct timespec *time, struct timespec *left)
{
    int error = gate_page ? clock_nanosleep(CLOCK_MONOTONIC, 0, time, left)
                : syscall(SYS_nanosleep, time, left) < 0 ? errno
                                                         : 0;
    if (error)
        errno = error;
    return error ? -1 : 0;
}

WEFT_EXPORT int usleep(useconds_t us)
{
    struct timespec time = {us / 1000000, (long)(us % 1000000) * 1000};
    return nanosleep(&time, NULL);
}

WEFT_EXPORT unsigned sleep(unsigned seconds)
{
    struct timespec time = {.tv_sec = (time_t)seconds}, left = {0};
    if (nanosleep(&time, &left) == 0)
        return 0;
    return (unsigned)left.tv_sec + (left.tv_nsec >= 500000000);
}

WEFT_EXPORT int sched_yield(void)
{
    if (gate_page)
        gate_look_in_vain();
    return (int)syscall(SYS_sched_yield);
}

/* ---- alarms ---- */

static uint64_t from_timeval(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * PS_PER_S + (uint64_t)time->tv_usec * 1000 * PS_PER_NS;
}

static struct timeval to_timeval(uint64_t ps)
{
    return (struct timeval){(time_t)(ps / PS_PER_S), (suseconds_t)(ps % PS_PER_S / 1000000)};
}

static void read_alarm(struct itimerval *to)
{
    const struct time_slot *slot = gate_alarm();
    uint64_t deadline = __atomic_load_n(&slot->deadline, __ATOMIC_SEQ_CST), now = gate_local();
    uint64_t left = deadline == TIME_FOREVER ? 0 : deadline > now ? deadline - now : 1000000;
    *to =
        (struct itimerval){.it_interval = to_timeval(slot->interval), .it_value = to_timeval(left)};
}

static int set_alarm(const struct itimerval *wanted, struct itimerval *before)
{
    struct time_slot *slot = gate_alarm();
    if (before)
        read_alarm(before);
    if (!wanted)
        return 0;
    uint64_t first = from_timeval(&wanted->it_value);
    slot->interval = from_timeval(&wanted->it_interval);
    __atomic_store_n(&slot->deadline, first ? gate_after(first) : TIME_FOREVER, __ATOMIC_SEQ_CST);
    gate_spend(TIME_CALL);
    gate_kick();
    return 0;
}

/* glibc declares the first argument as an enum. */
WEFT_EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict wanted,
                          struct itimerval *restrict before)
{
    if (gate_page && which == ITIMER_REAL)
        return set_alarm(wanted, before);
    return (int)syscall(SYS_setitimer, which, wanted, before);
}

WEFT_EXPORT int getitimer(__itimer_which_t which, struct itimerval *to)
{
    if (!gate_page || which != ITIMER_REAL)
        return (int)syscall(SYS_getitimer, which, to);
    read_alarm(to);
    return 0;
}

WEFT_EXPORT unsigned alarm(unsigned seconds)
{
    struct itimerval wanted = {.it_value = {.tv_sec = (time_t)seconds}}, before = {0};
    setitimer(ITIMER_REAL, &wanted, &before);
    if (before.it_value.tv_sec == 0)
        return before.it_value.tv_usec != 0;
    return (unsigned)before.it_value.tv_sec + (before.it_value.tv_usec >= 500000);
}

/* ---- signals ---- */

/* A thread that waits for simulated time may run when it gets a signal. */
#define DEFINE_KILL(name, parameters, ...)                                                         \
    WEFT_EXPORT int name parameters                                                                \
    {                                                                                              \
        NEXT(name);                                                                                \
        int result = next(__VA_ARGS__);                                                            \
        if (gate_page)                                                                             \
            gate_note_signal();                                                                    \
        return result;                                                                             \
    }

DEFINE_KILL(kill, (pid_t process, int signal), process, signal)
DEFINE_KILL(killpg, (pid_t group, int signal), group, signal)
DEFINE_KILL(pthread_kill, (pthread_t thread, int signal), thread, signal)
DEFINE_KILL(raise, (int signal), signal)
DEFINE_KILL(sigqueue, (pid_t process, int signal, const union sigval value), process, signal, value)
DEFINE_KILL(pthread_sigqueue, (pthread_t thread, int signal, const union sigval value), thread,
            signal, value)
