/* Simulated time in a program: the clock of each thread, and waiting for the server.
 *
 * This library is loaded only by `weft fabric --time simulated`. host/socket/time_protocol.h
 * describes what it shares with the server. */
#ifndef WEFT_PRELOAD_TIME_GATE_H
#define WEFT_PRELOAD_TIME_GATE_H

#include "host/socket/time_protocol.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <time.h>

#define WEFT_EXPORT __attribute__((visibility("default")))

#define PS_PER_NS UINT64_C(1000)
#define PS_PER_S  UINT64_C(1000000000000)

/* Looks up the next definition of `name` after this library's. Two threads may do that at the same
 * time: both store the same pointer. */
#define NEXT(name)                                                                                 \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
    next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

extern struct time_page *gate_page; /* NULL: there is no simulated time */

/* The clock of this thread. */
uint64_t gate_local(void);
/* Adds the price of a call to it, and returns it. A thread that gets far ahead waits. */
uint64_t gate_spend(enum time_price price);
/* Whether this thread is ahead of the simulated time by more than some calls. */
bool gate_is_ahead(void);
/* Waits until the simulated time is that of this thread. */
void gate_sync(void);
/* Waits until the deadline. False: a signal has ended it before. */
bool gate_sleep(uint64_t deadline);
/* After a poll that found nothing: waits for a completion of this process, for some time at most.
 */
void gate_wait_completion(void);
void gate_found_completion(void);
/* After a look at descriptors, or a yield, that found nothing: who does nothing else waits, too. */
void gate_look_in_vain(void);
/* After a signal was sent, which may end waits. */
void gate_note_signal(void);
/* Makes the server look. */
void gate_kick(void);

/* Before and after a system call that the deadline ends. With a socket, the call must wait for that
 * socket too: its descriptor, or -1. */
int gate_begin_block(uint64_t deadline, bool with_socket);
bool gate_end_block(int socket); /* whether the deadline has passed */
/* After a call that may have waited in the kernel. */
void gate_woken(void);
/* The slot's futex, for waits on two futexes. */
uint32_t *gate_wake_word(uint32_t *value);
bool gate_expired(void);

struct time_slot *gate_alarm(void); /* of this process */

static inline bool gate_is_valid(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* Conversions. */
static inline uint64_t gate_from_timespec(const struct timespec *time)
{
    if (time->tv_sec < 0)
        return 0;
    if ((uint64_t)time->tv_sec >= TIME_FOREVER / PS_PER_S)
        return TIME_FOREVER;
    return (uint64_t)time->tv_sec * PS_PER_S + (uint64_t)time->tv_nsec * PS_PER_NS;
}
static inline struct timespec gate_to_timespec(uint64_t ps)
{
    return (struct timespec){(time_t)(ps / PS_PER_S), (long)(ps % PS_PER_S / PS_PER_NS)};
}
static inline uint64_t gate_after(uint64_t ps)
{
    uint64_t now = gate_local();
    return ps < TIME_FOREVER - now ? now + ps : TIME_FOREVER;
}
/* Seconds that a clock shows at the start. */
#define GATE_MONOTONIC_S 1000
static inline time_t gate_start_s(clockid_t clock)
{
    bool real = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    return real ? (time_t)gate_page->epoch : GATE_MONOTONIC_S;
}
static inline uint64_t gate_deadline(clockid_t clock, const struct timespec *time)
{
    struct timespec since = {time->tv_sec - gate_start_s(clock), time->tv_nsec};
    return gate_from_timespec(&since);
}

/* cycles.c */
void cycles_start(void); /* traps the time stamp counter in this thread */

#endif
