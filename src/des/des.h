/* The event queue: who is next, in (time, sequence) order.
 *
 * Events are small values, not callbacks: the owner of the queue pops one and switches on its
 * kind. Two events at the same time come out in the order in which they were scheduled, so that
 * a run never depends on the queue's inside. A handle lets its holder take an event back.
 *
 * FIFOs are for events that mostly come in the order in which they are posted, such as those of one
 * fixed delay: they cost a fraction of the others. At the same time, what was scheduled comes
 * before what was posted to fifos, and lower fifos before higher ones. */
#ifndef WEFT_DES_DES_H
#define WEFT_DES_DES_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint32_t kind; /* what to do: the owner's business */
    uint32_t a;    /* and to what */
    uint64_t b;
};

typedef uint64_t des_handle; /* 0 is never a handle */

struct des;

struct des *des_new(void);
void des_free(struct des *des);
uint64_t des_now(const struct des *des); /* time of the last event popped, or as advanced */
size_t des_pending(const struct des *des);
/* `time` must not lie before des_now(). What is scheduled for TIME_NEVER never comes: nothing is
 * kept, and the handle is 0. */
des_handle des_schedule(struct des *des, uint64_t time, struct event event);
/* The same for an event that nobody will take back: cheaper. */
void des_post(struct des *des, uint64_t time, struct event event);
/* The same for a fifo. One that comes before the last one of its fifo is posted as any other. */
enum { DES_FIFOS = 8 };
void des_post_fifo(struct des *des, unsigned fifo, uint64_t time, struct event event);
/* True if the event was still waiting; false (and no harm) if it has come up or was cancelled. */
bool des_cancel(struct des *des, des_handle handle);
uint64_t des_next_time(struct des *des); /* TIME_NEVER when nothing waits */
/* Pops the next event not later than `until` and moves the clock to it. When there is none, moves
 * the clock to `until` (unless that is TIME_NEVER) and returns false. */
bool des_pop(struct des *des, uint64_t until, struct event *event);
/* The event `ahead` places behind in the fifo that was popped from last, or NULL: a hint, for those
 * who want to have its things at hand. Holds until anything is scheduled or popped. */
const struct event *des_upcoming(const struct des *des, unsigned ahead);
/* Moves the clock on to `time`, which must not lie behind the next event. */
void des_advance(struct des *des, uint64_t time);

#endif
