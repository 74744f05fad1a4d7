/* The event queue: events in (time, sequence) order.
 *
 * Events are small values, not callbacks: the owner of the queue pops one and switches on its kind.
 * Two events of the same time come out in the order in which they were scheduled, so that a run
 * never depends on the implementation of the queue. A handle lets its holder cancel an event.
 *
 * FIFOs are for events that mostly come in the order in which they are posted, such as those of one
 * fixed delay; they are much cheaper. Among events of the same time, scheduled events precede those
 * in FIFOs, and lower FIFOs precede higher ones. */
#ifndef WEFT_DES_DES_H
#define WEFT_DES_DES_H

#include "base/time.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint32_t kind; /* meaning is defined by the owner */
    uint32_t a;
    uint64_t b;
};

typedef uint64_t des_handle; /* 0 is not a handle */

struct des;

struct des *des_new(void);
void des_free(struct des *des);
/* The time of the last event popped, or set by des_advance(). */
uint64_t des_now(const struct des *des);
size_t des_pending(const struct des *des);
/* `time` must not lie before des_now(). An event for TIME_NEVER is not stored, and its handle is
 * 0. */
des_handle des_schedule(struct des *des, uint64_t time, struct event event);
/* des_schedule() without a handle, which is cheaper. */
void des_post(struct des *des, uint64_t time, struct event event);
/* des_post() into a FIFO. An event earlier than the last one of the FIFO goes to the slots. */
enum { DES_FIFOS = 8 };
void des_post_fifo(struct des *des, unsigned fifo, uint64_t time, struct event event);
/* True if the event was pending; false if it was popped or cancelled before. */
bool des_cancel(struct des *des, des_handle handle);
uint64_t des_next_time(struct des *des); /* TIME_NEVER if the queue is empty */
/* Pops the next event not later than `until` and advances the clock to it. If there is none,
 * advances the clock to `until` (unless that is TIME_NEVER) and returns false. */
bool des_pop(struct des *des, uint64_t until, struct event *event);
/* The event `ahead` places behind in the FIFO that was popped from last, or NULL: a hint for
 * prefetching. Valid until anything is scheduled or popped. */
const struct event *des_upcoming(const struct des *des, unsigned ahead);
/* Advances the clock to `time`, which must not lie behind the next event. */
void des_advance(struct des *des, uint64_t time);

#endif
