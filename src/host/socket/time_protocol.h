/* The protocol between a fabric server with simulated time and the programs that it runs.
 *
 * The server shares one page of memory with all programs. It has the simulated time, which stands
 * still while a thread of any program runs, and a slot for each thread that has called a clock, a
 * timed wait or libibverbs. A thread that must wait for simulated time writes into its slot what
 * for, and sleeps; the server looks at the threads of all its descendants, and when none runs, it
 * advances the time and wakes the thread that is next (host/lockstep).
 *
 * A thread has a clock of its own, which is ahead of the simulated time by the prices of the calls
 * that it has made since it was woken. All times are in picoseconds since the server's start. */
#ifndef WEFT_HOST_SOCKET_TIME_PROTOCOL_H
#define WEFT_HOST_SOCKET_TIME_PROTOCOL_H

#include <stdint.h>

/* Path of the page: a file of the server in /proc. */
#define WEFT_TIME_VARIABLE "WEFT_TIME"

enum {
    TIME_VERSION = 1,
    TIME_SLOTS = 8192,      /* threads */
    TIME_CONDITIONS = 1024, /* counts that condition variables share */
};
#define TIME_FOREVER UINT64_MAX

/* Calls that cost simulated time. */
enum time_price {
    TIME_CLOCK,        /* a clock is read */
    TIME_CYCLES,       /* the time stamp counter is read */
    TIME_POLL,         /* a poll that finds completions */
    TIME_EMPTY_POLL,   /* a poll that finds none */
    TIME_POST_SEND,    /* a work request */
    TIME_POST_RECEIVE, /* a receive request */
    TIME_CALL,         /* a system call that does not wait: poll(2) without a time-out */
    TIME_PRICES,
};

enum time_state {
    TIME_RUNS,
    TIME_WAITS,  /* on `wake` */
    TIME_BLOCKS, /* in a system call, which a datagram to `address` ends at the deadline */
    TIME_ALARM,  /* no thread: SIGALRM for a process */
};

struct time_slot {
    uint32_t thread;  /* ID; 0: the slot is free */
    uint32_t process; /* ID */
    uint32_t state;
    uint32_t wake;       /* futex: incremented by the server */
    uint32_t completion; /* a completion for the process ends the wait, too */
    uint32_t expired;    /* by the server: the deadline has passed */
    uint32_t calls;      /* counts calls */
    uint32_t address;    /* endpoint_handle() of the thread's socket */
    uint64_t deadline;
    uint64_t interval; /* of an alarm; 0: it is not repeated */
    uint64_t pad[2];
};
_Static_assert(sizeof(struct time_slot) == 64, "layout");

struct time_page {
    uint32_t version;
    uint32_t cycles_mhz; /* of the simulated time stamp counter */
    uint64_t now;
    uint64_t process_namespace; /* of the server: thread IDs are its */
    uint64_t prices[TIME_PRICES];
    uint64_t charge; /* simulated time for computing, in millionths of the processor time */
    uint64_t epoch;  /* CLOCK_REALTIME at the start, seconds */
    uint32_t server; /* process ID */
    uint32_t kicks;  /* futex: incremented by clients when the server should look */
    uint32_t sleeping;
    uint32_t signals;    /* by clients: counts signals that they have sent */
    uint32_t slot_count; /* those behind were never used */
    uint32_t condition_waiters;
    uint32_t conditions[TIME_CONDITIONS]; /* futexes */
    struct time_slot slots[TIME_SLOTS];
};

#endif
