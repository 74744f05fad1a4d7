/* The event queue: events in the order of their times.
 *
 * Events are small values, not callbacks: the owner of the queue pops one and switches on its kind.
 * A handle lets its holder cancel an event.
 *
 * Events of the same time come out by kind, then by `a`, then in the order in which they were
 * scheduled. The order by `a` is not that of the numbers but another one at each time, so that no
 * place (a port, a node) precedes another one always: des_order(). The order thus depends neither
 * on what happened before at other places nor on the implementation of the queue.
 *
 * FIFOs are for events that mostly come in the order in which they are posted, such as those of one
 * fixed delay; they are much cheaper. Each FIFO has kinds of its own, lower ones than the FIFOs
 * behind it, and no two events with the same time, kind and `a`. */
#ifndef WEFT_DES_DES_H
#define WEFT_DES_DES_H

#include "base/time.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    uint32_t kind; /* below DES_KINDS; meaning is defined by the owner */
    uint32_t a;
    uint64_t b;
};
enum { DES_KINDS = 256, DES_FIFOS = 7 };

/* The order of events of one time with different kinds or `a`. */
static inline uint64_t des_order(uint64_t time, struct event event)
{
    uint32_t turn = (uint32_t)(time * 0x9e3779b97f4a7c15u >> 32);
    return (uint64_t)event.kind << 32 | (event.a ^ turn);
}

typedef uint64_t des_handle; /* 0 is not a handle */

struct des;

struct des *des_new(void);
void des_free(struct des *des);
/* The time of the last event popped, or set by des_advance(). */
static inline uint64_t des_now(const struct des *des);
size_t des_pending(const struct des *des);
/* `time` must not lie before des_now(). An event for TIME_NEVER is not stored, and its handle is
 * 0. */
des_handle des_schedule(struct des *des, uint64_t time, struct event event);
/* des_schedule() without a handle. */
void des_post(struct des *des, uint64_t time, struct event event);
/* des_post() into a FIFO, not for TIME_NEVER. An event that belongs far before the last one of the
 * FIFO is posted as by des_post(). */
static inline void des_post_fifo(struct des *des, unsigned fifo, uint64_t time, struct event event);
/* True if the event was pending; false if it was popped or cancelled before. */
bool des_cancel(struct des *des, des_handle handle);
static inline uint64_t des_next_time(const struct des *des); /* TIME_NEVER if the queue is empty */
/* Pops the next event not later than `until` and advances the clock to it. If there is none,
 * advances the clock to `until` (unless that is TIME_NEVER) and returns false. */
static inline bool des_pop(struct des *des, uint64_t until, struct event *event);
/* The event `ahead` places behind in the FIFO that was popped from last, or NULL: a hint for
 * prefetching. Valid until anything is scheduled or popped. */
static inline const struct event *des_upcoming(const struct des *des, unsigned ahead);
/* Kind and `a` of the first event that is in no FIFO; `behind` 1: of the one that follows it,
 * for a hint, which may name a cancelled event. Popping it is prefetched. False: there is none. */
struct des_place {
    uint32_t kind, a;
};
bool des_first_of_heap(const struct des *des, unsigned behind, struct des_place *place);
/* Advances the clock to `time`, which must not lie behind the next event. */
void des_advance(struct des *des, uint64_t time);

/* Moves events to other queues and back, for a simulation whose parts run on several threads; their
 * order stays. `choose` returns the queue for an event; `count`: it stays, which an event in a FIFO
 * must not. Handles of moved events become invalid. The queues of `to` must be empty; their clocks
 * are set to that of `from`. */
void des_divide(struct des *from, struct des *const *to, unsigned count,
                unsigned (*choose)(const void *context, const struct event *event),
                const void *context);
/* Events of the same time, kind and `a` must be in one queue. Clocks do not change. */
void des_unite(struct des *to, struct des *const *from, unsigned count);

/* ---- private ----
 *
 * The rest of this file is here because the simulator spends much of its time in these few
 * functions: they must be inlined. des.c describes the structure. */

struct des_entry {
    uint64_t time;
    struct event event;
};
struct des_fifo {
    struct des_entry *ring;
    uint32_t head, tail; /* run freely; the index is the number modulo `size` */
    uint32_t size;       /* a power of two, or 0 */
    uint64_t last;       /* time of the last event */
};
enum { DES_HEAP = DES_FIFOS, DES_SOURCES = DES_FIFOS + 1 };
struct des {
    /* The tournament. Match n is between the winners of 2n and 2n + 1; for each match the winner,
     * and the time of its first event. The FIFOs and the heap are the "winners" of matches 8 to 15;
     * the next event is that of the winner of match 1. */
    uint64_t times[2 * DES_SOURCES];
    uint8_t winners[2 * DES_SOURCES];
    uint64_t now;
    struct des_fifo fifos[DES_FIFOS];
    unsigned popped; /* the FIFO that was popped from last */
    struct des_heap *heap;
};
_Static_assert(DES_SOURCES == 8, "the tournament has three rounds");

bool des_wins_tie(const struct des *des, unsigned source, unsigned other);
void des_post_slowly(struct des *des, unsigned fifo, uint64_t time, const struct event *event);
void des_pop_heap(struct des *des, struct event *event);

/* Plays the three matches of a source again after its first event has changed. */
static inline void des_replay(struct des *des, unsigned source, uint64_t time)
{
    unsigned at = DES_SOURCES + source;
    des->times[at] = time;
#pragma GCC unroll 3
    for (unsigned round = 0; round < 3; round++, at /= 2) {
        uint64_t other_time = des->times[at ^ 1];
        unsigned other = des->winners[at ^ 1];
        bool loses = other_time < time;
        if (__builtin_expect(other_time == time && time != TIME_NEVER, 0))
            loses = !des_wins_tie(des, source, other);
        /* A branch would be mispredicted half of the time. */
        uint64_t mask = -(uint64_t)loses;
        source ^= (source ^ other) & (unsigned)mask;
        time ^= (time ^ other_time) & mask;
        des->times[at / 2] = time;
        des->winners[at / 2] = (uint8_t)source;
    }
}

static inline uint64_t des_now(const struct des *des)
{
    return des->now;
}

static inline uint64_t des_next_time(const struct des *des)
{
    return des->times[1];
}

static inline void des_post_fifo(struct des *des, unsigned index, uint64_t time, struct event event)
{
    struct des_fifo *fifo = &des->fifos[index];
    assert(time >= des->now && event.kind < DES_KINDS);
    if (__builtin_expect(time <= fifo->last || fifo->tail - fifo->head == fifo->size, 0)) {
        des_post_slowly(des, index, time, &event);
        return;
    }
    fifo->ring[fifo->tail++ & (fifo->size - 1)] = (struct des_entry){time, event};
    fifo->last = time;
    if (fifo->tail - fifo->head == 1)
        des_replay(des, index, time);
}

static inline bool des_pop(struct des *des, uint64_t until, struct event *event)
{
    unsigned source = des->winners[1];
    uint64_t time = des->times[1];
    if (time > until || time == TIME_NEVER) {
        if (until != TIME_NEVER && until > des->now)
            des->now = until;
        return false;
    }
    des->now = time;
    if (source == DES_HEAP) {
        des_pop_heap(des, event);
        return true;
    }
    struct des_fifo *fifo = &des->fifos[source];
    *event = fifo->ring[fifo->head++ & (fifo->size - 1)].event;
    des->popped = source;
    bool empty = fifo->head == fifo->tail;
    des_replay(des, source, empty ? TIME_NEVER : fifo->ring[fifo->head & (fifo->size - 1)].time);
    return true;
}

static inline const struct event *des_upcoming(const struct des *des, unsigned ahead)
{
    const struct des_fifo *fifo = &des->fifos[des->popped];
    return ahead < fifo->tail - fifo->head
               ? &fifo->ring[(fifo->head + ahead) & (fifo->size - 1)].event
               : NULL;
}

#endif
