/* Simulated time for programs: it stands still while a thread of any of them runs.
 *
 * The owner has the clock and the events. When lockstep_quiet() says that nobody runs, it either
 * wakes the next thread whose wait has ended, or advances its clock to the next event or deadline.
 * One thread is woken at a time, in the order of their start, so that threads which meet at the
 * same time always do so in the same order. host/socket/time_protocol.h has what the programs
 * share. */
#ifndef WEFT_HOST_LOCKSTEP_LOCKSTEP_H
#define WEFT_HOST_LOCKSTEP_LOCKSTEP_H

#include "base/err.h"
#include "host/socket/time_protocol.h"

#include <stdbool.h>

struct lockstep;

#define LOCKSTEP_PRICE_MOST UINT64_C(1000000000) /* 1 ms */

struct lockstep_options {
    uint64_t prices[TIME_PRICES]; /* ps */
    uint64_t charge;              /* simulated time for computing, in millionths */
    uint64_t silent_ns; /* processor time after which a program with a device may spin on memory */
};
void lockstep_options_init(struct lockstep_options *options);
/* The names of prices for users; NULL behind the last. */
extern const char *const lockstep_price_names[TIME_PRICES + 1];

int lockstep_new(struct lockstep **result, const struct lockstep_options *options, struct err *err);
void lockstep_free(struct lockstep *lockstep); /* accepts NULL */
/* The path of the page, for the environment of programs. */
const char *lockstep_path(const struct lockstep *lockstep);

/* Whether no thread runs. Messages that they sent before are there then. */
bool lockstep_quiet(struct lockstep *lockstep);
/* When it was quiet: whether a thread waits for messages of others, which the kernel may hold back
 * for a while. */
bool lockstep_waits_for_messages(const struct lockstep *lockstep);
/* Waits a short time of the wall clock for threads that run. */
void lockstep_pause(struct lockstep *lockstep);
/* Programs were given something to do: the next pauses are short. */
void lockstep_stir(struct lockstep *lockstep);

uint64_t lockstep_now(const struct lockstep *lockstep);
/* The earliest deadline of a wait; TIME_FOREVER: none. */
uint64_t lockstep_deadline(const struct lockstep *lockstep);
/* Not beyond lockstep_deadline(), nor beyond lockstep_limit(). */
void lockstep_advance(struct lockstep *lockstep, uint64_t now);
/* How far the clock may go while a silent thread runs; TIME_FOREVER: as far as there are events. */
uint64_t lockstep_limit(struct lockstep *lockstep);
/* Wakes a thread whose wait has ended. False: there is none. */
bool lockstep_wake(struct lockstep *lockstep);

/* A process opened a device: its threads may spin on memory that the fabric writes. */
void lockstep_add_device(struct lockstep *lockstep, uint32_t process);
void lockstep_completed(struct lockstep *lockstep, uint32_t process); /* a completion is there */
/* Its memory has changed. True: a thread runs now that has spun on it. */
bool lockstep_written(struct lockstep *lockstep, uint32_t process);

struct lockstep_counts {
    uint64_t wakes;   /* of threads that waited for simulated time */
    uint64_t spins;   /* threads that were found to spin on memory, and ended when it changed */
    uint64_t late;    /* threads that computed so long that time went on without them */
    uint64_t late_ps; /* by so much, in all */
};
void lockstep_counts(const struct lockstep *lockstep, struct lockstep_counts *counts);

#endif
