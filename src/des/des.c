/* The event queue, as a radix heap.
 *
 * Time never runs backwards here, and a queue that only ever moves forward can file its events by
 * digits instead of comparing them (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the
 * shortest path problem", 1990; kernel timers know the same idea as hierarchical wheels). A time
 * is written in digits of six bits. An event's level is the highest digit in which it differs
 * from `base`, a moment not later than anything that waits or can still be scheduled; its slot is
 * the value of that digit. Hence:
 *
 *  - the next event is in the lowest slot of the lowest level that has any: two bit scans;
 *  - a slot of level 0 holds one single time. Another slot, once its turn has come, is spread:
 *    base moves to its earliest time and each of its events falls by at least one level, so that
 *    an event moves eleven times in its life at the most. A slot with a few events only is not
 *    worth spreading: its next one is searched for and taken out. Thus an event usually moves once
 *    or twice;
 *  - events of the same time always share a slot, and both filing and spreading keep their order.
 *    First come, first served is thus a property of the structure and needs no sequence number.
 *
 * A slot is a list of arrays (chunks), because a million events linked one by one would cost a
 * cache miss for every step. Entries carry the whole event. Beside them lies one cell per event
 * that can be cancelled, named by its handle, whose generation tells whether the event still waits:
 * to cancel is to raise the generation. The entry stays behind as dead weight until its slot is
 * spread, or until more dead entries than live ones lie about and all slots are swept. Memory thus
 * follows the largest number of events that ever waited together, whatever is cancelled: some 40
 * bytes each, as much again for the dead, and at most one half-filled chunk in each of the 704
 * slots.
 *
 * Events that mostly come in the order in which they are posted need none of this: a fifo is a
 * plain ring, and the next event is the earliest of the rings' first ones and of the slots'.
 *
 * Each slot knows its earliest event, so that looking at the next time costs no search and moves
 * nothing: base must not pass the clock. Left out: who cancels that very event has the slot
 * searched for another one, which only a caller who does so and looks again, over and over, would
 * notice. */
#include "des/des.h"

#include "base/mem.h"

#include <assert.h>

enum {
    DIGIT_BITS = 6,
    SLOTS = 1 << DIGIT_BITS,
    LEVELS = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
    CHUNK_ENTRIES = 31,  /* a kilobyte: long enough for the prefetcher to help */
    LOOKAHEAD = 4,       /* entries of one time whose cells are fetched before their turn */
    FEW = 8,             /* entries that are searched for the next one instead of being spread */
    DEAD_ALLOWED = 1024, /* below this, sweeping costs more than it frees */
};

struct entry {
    uint64_t time;
    des_handle handle;
    struct event event;
};

struct chunk {
    struct chunk *next;
    uint32_t begin, end; /* entries in use; only the first chunk of a slot has begin > 0 */
    struct entry entries[CHUNK_ENTRIES];
};

/* All but the head means nothing while there is no head. */
struct slot {
    struct chunk *head, *tail;
    uint64_t earliest;         /* time of the next one here, */
    des_handle earliest_event; /* the first that was scheduled for it; may have died since */
};

/* An entry is live while its handle's generation is the cell's. */
struct cell {
    uint32_t generation;
    uint32_t next_free;
};

#define NO_CELL UINT32_MAX

/* A fifo: a ring of events in the order of their times. */
struct fifo_entry {
    uint64_t time;
    struct event event;
};
struct fifo {
    struct fifo_entry *ring;
    uint32_t head, count, size; /* a power of two */
    uint64_t last;              /* time of the one at the end */
};

struct des {
    uint64_t now;
    uint64_t base;
    size_t live, dead;
    uint32_t used_levels;
    uint32_t free_cell;
    uint64_t used_slots[LEVELS];
    struct slot slots[LEVELS][SLOTS];
    VEC(struct cell) cells;
    struct chunk *free_chunks;
    struct arena arena; /* of chunks */
    struct fifo fifos[DES_FIFOS];
    uint64_t fifo_next[DES_FIFOS]; /* time of the first one, or TIME_NEVER */
    unsigned fifo_popped;          /* the one that was popped from last */
    uint64_t slot_next;            /* time of the next event that is in no fifo, … */
    bool slot_known;               /* … if that is known */
};

struct des *des_new(void)
{
    struct des *des = mem_zalloc(1, sizeof *des);
    des->free_cell = NO_CELL;
    for (unsigned i = 0; i < DES_FIFOS; i++)
        des->fifo_next[i] = TIME_NEVER;
    return des;
}

void des_free(struct des *des)
{
    if (!des)
        return;
    for (unsigned i = 0; i < DES_FIFOS; i++)
        mem_free(des->fifos[i].ring);
    vec_release(&des->cells);
    arena_release(&des->arena);
    mem_free(des);
}

uint64_t des_now(const struct des *des)
{
    return des->now;
}

size_t des_pending(const struct des *des)
{
    return des->live;
}

/* Handles: the generation above, the cell's index below. */

static uint32_t handle_index(des_handle handle)
{
    return (uint32_t)handle;
}

static uint32_t handle_generation(des_handle handle)
{
    return (uint32_t)(handle >> 32);
}

static bool handle_is_live(const struct des *des, des_handle handle)
{
    return des->cells.items[handle_index(handle)].generation == handle_generation(handle);
}

static des_handle handle_take(struct des *des)
{
    uint32_t index = des->free_cell;
    if (index == NO_CELL) {
        index = (uint32_t)des->cells.count;
        assert(index != NO_CELL);
        vec_push(&des->cells, ((struct cell){.generation = 1}));
    } else {
        des->free_cell = des->cells.items[index].next_free;
    }
    return (uint64_t)des->cells.items[index].generation << 32 | index;
}

/* From now on the handle is stale, and stays so: a cell whose generations are used up is never
 * taken again, which wastes eight bytes in four thousand million events. */
static void handle_drop(struct des *des, des_handle handle)
{
    uint32_t index = handle_index(handle);
    struct cell *cell = &des->cells.items[index];
    if (++cell->generation == 0)
        return;
    cell->next_free = des->free_cell;
    des->free_cell = index;
}

/* The cell will be wanted soon: with a million of them, waiting for it is a third of a pop. */
static void handle_expect(const struct des *des, des_handle handle)
{
    __builtin_prefetch(&des->cells.items[handle_index(handle)], 1);
}

/* Spares the look at the cell, a likely cache miss, as long as nothing was cancelled. What has no
 * handle cannot be. */
static bool handle_waits(const struct des *des, des_handle handle)
{
    return !des->dead || !handle || handle_is_live(des, handle);
}

/* Slots */

static struct chunk *chunk_take(struct des *des)
{
    struct chunk *chunk = des->free_chunks;
    if (chunk)
        des->free_chunks = chunk->next;
    else
        chunk = arena_alloc(&des->arena, sizeof *chunk);
    chunk->next = NULL;
    chunk->begin = chunk->end = 0;
    return chunk;
}

static struct chunk *chunk_drop(struct des *des, struct chunk *chunk)
{
    struct chunk *next = chunk->next;
    chunk->next = des->free_chunks;
    des->free_chunks = chunk;
    return next;
}

/* Room for one more entry in the slot of this time. */
static inline struct entry *file_event(struct des *des, uint64_t time, des_handle handle)
{
    unsigned level = (63 - (unsigned)__builtin_clzll((time ^ des->base) | 1)) / DIGIT_BITS;
    unsigned digit = time >> (level * DIGIT_BITS) & (SLOTS - 1);
    struct slot *slot = &des->slots[level][digit];
    if (!slot->head) {
        slot->head = slot->tail = chunk_take(des);
        slot->earliest = TIME_NEVER;
        des->used_slots[level] |= UINT64_C(1) << digit;
        des->used_levels |= 1u << level;
    } else if (slot->tail->end == CHUNK_ENTRIES) {
        slot->tail = slot->tail->next = chunk_take(des);
    }
    if (time < slot->earliest) {
        slot->earliest = time;
        slot->earliest_event = handle;
    }
    return &slot->tail->entries[slot->tail->end++];
}

/* Empties a slot; the caller disposes of the chunks. */
static struct chunk *detach_slot(struct des *des, unsigned level, unsigned digit)
{
    struct chunk *chunks = des->slots[level][digit].head;
    des->slots[level][digit].head = NULL;
    des->used_slots[level] &= ~(UINT64_C(1) << digit);
    if (!des->used_slots[level])
        des->used_levels &= ~(1u << level);
    return chunks;
}

/* Files the live ones of a detached slot again, in their order. */
static void refile_chunks(struct des *des, struct chunk *chunk)
{
    for (; chunk; chunk = chunk_drop(des, chunk)) {
        for (uint32_t i = chunk->begin; i < chunk->end; i++) {
            const struct entry *entry = &chunk->entries[i];
            handle_expect(des, entry->handle);
            if (handle_waits(des, entry->handle))
                *file_event(des, entry->time, entry->handle) = *entry;
            else
                des->dead--;
        }
    }
}

static void sweep_dead(struct des *des)
{
    for (unsigned level = 0; level < LEVELS; level++)
        for (uint64_t used = des->used_slots[level]; used; used &= used - 1) {
            unsigned digit = (unsigned)__builtin_ctzll(used);
            refile_chunks(des, detach_slot(des, level, digit));
        }
}

/* The earliest one has died: who follows? False if nobody. */
static bool slot_search(const struct des *des, struct slot *slot)
{
    slot->earliest = TIME_NEVER;
    for (const struct chunk *chunk = slot->head; chunk; chunk = chunk->next) {
        for (uint32_t i = chunk->begin; i < chunk->end; i++) {
            const struct entry *entry = &chunk->entries[i];
            if (entry->time < slot->earliest && handle_waits(des, entry->handle)) {
                slot->earliest = entry->time;
                slot->earliest_event = entry->handle;
            }
        }
    }
    return slot->earliest != TIME_NEVER;
}

static bool slot_has_few(const struct slot *slot)
{
    return slot->head->end - slot->head->begin <= FEW && !slot->head->next;
}

static const struct entry *slot_first(const struct slot *slot)
{
    return &slot->head->entries[slot->head->begin];
}

/* Takes the first entry off a slot of level 0. */
static void drop_first(struct des *des, unsigned level, unsigned digit)
{
    struct slot *slot = &des->slots[level][digit];
    struct chunk *chunk = slot->head;
    if (++chunk->begin == chunk->end) {
        if (!chunk->next)
            detach_slot(des, level, digit);
        slot->head = chunk_drop(des, chunk);
    }
    if (slot->head)
        slot->earliest_event = slot_first(slot)->handle;
}

/* Takes the next event out of a slot with a few, and finds its successor. The others keep their
 * order. */
static struct entry take_earliest(struct des *des, unsigned level, unsigned digit)
{
    struct slot *slot = &des->slots[level][digit];
    struct chunk *chunk = slot->head;
    struct entry *first = &chunk->entries[chunk->begin], *last = &chunk->entries[chunk->end - 1];
    struct entry *at = first;
    while (at->time != slot->earliest || at->handle != slot->earliest_event)
        at++;
    struct entry taken = *at;
    for (; at < last; at++)
        *at = at[1];
    if (--chunk->end == chunk->begin) {
        chunk_drop(des, detach_slot(des, level, digit));
        return taken;
    }
    const struct entry *next = first;
    for (const struct entry *entry = first + 1; entry < last; entry++)
        if (entry->time < next->time)
            next = entry;
    slot->earliest = next->time;
    slot->earliest_event = next->handle;
    return taken;
}

/* Scheduling and popping */

void des_post(struct des *des, uint64_t time, struct event event)
{
    assert(time >= des->now);
    if (time == TIME_NEVER)
        return;
    *file_event(des, time, 0) = (struct entry){time, 0, event};
    des->live++;
    if (time < des->slot_next)
        des->slot_next = time;
}

static void fifo_grow(struct fifo *fifo)
{
    uint32_t size = fifo->size ? fifo->size * 2 : 64;
    struct fifo_entry *ring = mem_alloc(size * sizeof *ring);
    for (uint32_t i = 0; i < fifo->count; i++)
        ring[i] = fifo->ring[(fifo->head + i) & (fifo->size - 1)];
    mem_free(fifo->ring);
    fifo->ring = ring;
    fifo->size = size;
    fifo->head = 0;
}

void des_post_fifo(struct des *des, unsigned index, uint64_t time, struct event event)
{
    struct fifo *fifo = &des->fifos[index];
    assert(time >= des->now);
    if (time == TIME_NEVER)
        return;
    if (fifo->count && time < fifo->last) {
        des_post(des, time, event);
        return;
    }
    if (fifo->count == fifo->size)
        fifo_grow(fifo);
    if (!fifo->count++)
        des->fifo_next[index] = time;
    fifo->ring[(fifo->head + fifo->count - 1) & (fifo->size - 1)] =
        (struct fifo_entry){time, event};
    fifo->last = time;
    des->live++;
}

static void fifo_pop(struct des *des, unsigned index, struct event *event)
{
    struct fifo *fifo = &des->fifos[index];
    const struct fifo_entry *entry = &fifo->ring[fifo->head];
    *event = entry->event;
    des->now = entry->time;
    des->live--;
    des->fifo_popped = index;
    fifo->head = (fifo->head + 1) & (fifo->size - 1);
    des->fifo_next[index] = --fifo->count ? fifo->ring[fifo->head].time : TIME_NEVER;
}

/* The fifo whose turn it is: the lowest of those with the earliest event. */
static unsigned fifo_first(const struct des *des)
{
    unsigned first = 0;
    for (unsigned i = 1; i < DES_FIFOS; i++)
        if (des->fifo_next[i] < des->fifo_next[first])
            first = i;
    return first;
}

des_handle des_schedule(struct des *des, uint64_t time, struct event event)
{
    assert(time >= des->now);
    if (time == TIME_NEVER)
        return 0;
    des_handle handle = handle_take(des);
    *file_event(des, time, handle) = (struct entry){time, handle, event};
    des->live++;
    if (time < des->slot_next)
        des->slot_next = time;
    return handle;
}

bool des_cancel(struct des *des, des_handle handle)
{
    if (handle_generation(handle) == 0 || handle_index(handle) >= des->cells.count ||
        !handle_is_live(des, handle))
        return false;
    handle_drop(des, handle);
    des->live--;
    des->dead++;
    des->slot_known = false; /* it may have been the next one */
    if (des->dead > des->live + DEAD_ALLOWED)
        sweep_dead(des);
    return true;
}

/* The slot of the next event, which is its earliest; NULL if nothing waits. Dead entries on the
 * way go. */
static struct slot *find_next(struct des *des, unsigned *level, unsigned *digit)
{
    while (des->used_levels) {
        *level = (unsigned)__builtin_ctz(des->used_levels);
        *digit = (unsigned)__builtin_ctzll(des->used_slots[*level]);
        struct slot *slot = &des->slots[*level][*digit];
        if (handle_waits(des, slot->earliest_event))
            return slot;
        if (*level == 0) {
            drop_first(des, *level, *digit);
            des->dead--;
        } else if (!slot_search(des, slot)) {
            refile_chunks(des, detach_slot(des, *level, *digit));
        }
    }
    return NULL;
}

/* Of those in no fifo. */
static uint64_t slots_next(struct des *des)
{
    if (!des->slot_known) {
        unsigned level, digit;
        const struct slot *slot = find_next(des, &level, &digit);
        des->slot_next = slot ? slot->earliest : TIME_NEVER;
        des->slot_known = true;
    }
    return des->slot_next;
}

uint64_t des_next_time(struct des *des)
{
    uint64_t slots = slots_next(des), fifos = des->fifo_next[fifo_first(des)];
    return slots <= fifos ? slots : fifos;
}

/* The next one of those in no fifo, if it is not later than `until`. */
static bool slots_pop(struct des *des, uint64_t until, struct event *event)
{
    unsigned level, digit;
    const struct slot *slot;
    while ((slot = find_next(des, &level, &digit)) && slot->earliest <= until) {
        if (level == 0 || slot_has_few(slot)) {
            struct entry entry = level == 0 ? *slot_first(slot) : take_earliest(des, level, digit);
            if (level == 0) {
                if (slot->head->end - slot->head->begin > LOOKAHEAD)
                    handle_expect(des, slot_first(slot)[LOOKAHEAD].handle);
                drop_first(des, level, digit);
            }
            *event = entry.event;
            des->now = entry.time;
            des->live--;
            des->slot_known = false;
            if (entry.handle)
                handle_drop(des, entry.handle);
            return true;
        }
        des->base = slot->earliest; /* and the clock follows: this event is popped next round */
        refile_chunks(des, detach_slot(des, level, digit));
    }
    return false;
}

bool des_pop(struct des *des, uint64_t until, struct event *event)
{
    unsigned fifo = fifo_first(des);
    if (slots_next(des) <= des->fifo_next[fifo]) {
        if (slots_pop(des, until, event))
            return true;
    } else if (des->fifo_next[fifo] <= until) {
        fifo_pop(des, fifo, event);
        return true;
    }
    if (until != TIME_NEVER && until > des->now)
        des->now = until;
    return false;
}

const struct event *des_upcoming(const struct des *des, unsigned ahead)
{
    const struct fifo *fifo = &des->fifos[des->fifo_popped];
    return ahead < fifo->count ? &fifo->ring[(fifo->head + ahead) & (fifo->size - 1)].event : NULL;
}

void des_advance(struct des *des, uint64_t time)
{
    assert(des_next_time(des) >= time);
    if (time > des->now)
        des->now = time;
}
