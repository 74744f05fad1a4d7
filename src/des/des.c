/* The event queue, a radix heap.
 *
 * Time never runs backwards here, and a queue that only moves forward can sort its events by digits
 * instead of comparing them (Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest
 * path problem", 1990; kernel timers use the same idea as hierarchical wheels). A time is written
 * in digits of six bits. The level of an event is the highest digit in which it differs from
 * `base`, a time not later than any event that is pending or can still be scheduled; its slot is
 * the value of that digit. Hence:
 *
 *  - The next event is in the lowest slot of the lowest level in use: two bit scans.
 *  - A slot of level 0 holds a single time. When another slot becomes the next one, it is spread:
 *    base moves to its earliest time and each of its events falls by at least one level, so that an
 *    event moves at most eleven times. A slot with few events is not spread: its next event is
 *    searched and removed. An event thus usually moves once or twice.
 *  - Events of the same time share a slot, and insertion and spreading keep their order: there is
 *    no sequence number.
 *
 * A slot is a list of arrays (chunks), because a list of single events would cost a cache miss per
 * event. Entries carry the whole event. Each event that can be cancelled has a cell, whose index
 * and generation are its handle; des_cancel() increments the generation of the cell. The dead entry
 * stays until its slot is spread, or until there are more dead entries than live ones and all slots
 * are swept. Memory is proportional to the largest number of pending events: some 40 bytes each, as
 * much again for dead ones, and at most one half-filled chunk in each of the 704 slots.
 *
 * Events that mostly come in the order in which they are posted go to a FIFO, a plain ring; the
 * next event is the earliest of the first events of the rings and of the slots.
 *
 * Each slot stores its earliest event, so that reading the next time needs no search and moves no
 * event: base must not pass the clock. A caller that cancels the earliest event and reads the next
 * time, again and again, causes a search of the slot each time. */
#include "des/des.h"

#include "base/mem.h"

#include <assert.h>

enum {
    DIGIT_BITS = 6,
    SLOTS = 1 << DIGIT_BITS,
    LEVELS = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
    CHUNK_ENTRIES = 31,  /* a kilobyte: long enough for the prefetcher to help */
    LOOKAHEAD = 4,       /* entries of one time whose cells are prefetched */
    FEW = 8,             /* slots up to this size are searched instead of spread */
    DEAD_ALLOWED = 1024, /* dead entries below which no sweep starts */
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

/* The other fields are undefined while head is NULL. */
struct slot {
    struct chunk *head, *tail;
    uint64_t earliest;         /* time of the next event here */
    des_handle earliest_event; /* the first event scheduled for it; may be cancelled */
};

/* An entry is live while its handle's generation is the cell's. */
struct cell {
    uint32_t generation;
    uint32_t next_free;
};

#define NO_CELL UINT32_MAX

/* A FIFO: a ring of events in the order of their times. */
struct fifo_entry {
    uint64_t time;
    struct event event;
};
struct fifo {
    struct fifo_entry *ring;
    uint32_t head, count, size; /* a power of two */
    uint64_t last;              /* time of the last event */
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
    uint64_t fifo_next[DES_FIFOS]; /* time of the first event, or TIME_NEVER */
    unsigned fifo_popped;          /* the FIFO that was popped from last */
    uint64_t slot_next;            /* time of the next event in the slots, if slot_known */
    bool slot_known;
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

static inline des_handle handle_take(struct des *des)
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

/* Invalidates the handle. A cell whose generations are used up is not used again, which wastes
 * eight bytes in 2^32 events. */
static void handle_drop(struct des *des, des_handle handle)
{
    uint32_t index = handle_index(handle);
    struct cell *cell = &des->cells.items[index];
    if (++cell->generation == 0)
        return;
    cell->next_free = des->free_cell;
    des->free_cell = index;
}

/* Prefetches the cell: with a million cells, the miss is a third of a pop. */
static void handle_prefetch(const struct des *des, des_handle handle)
{
    __builtin_prefetch(&des->cells.items[handle_index(handle)], 1);
}

/* Skips the read of the cell, a likely cache miss, as long as nothing was cancelled. An event
 * without a handle cannot be cancelled. */
static bool handle_is_pending(const struct des *des, des_handle handle)
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

/* Returns the place for one more entry in the slot of this time. */
static inline struct entry *insert_event(struct des *des, uint64_t time, des_handle handle)
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

/* Inserts the live entries of a detached slot again, in their order. */
static void reinsert_chunks(struct des *des, struct chunk *chunk)
{
    for (; chunk; chunk = chunk_drop(des, chunk)) {
        for (uint32_t i = chunk->begin; i < chunk->end; i++) {
            const struct entry *entry = &chunk->entries[i];
            handle_prefetch(des, entry->handle);
            if (handle_is_pending(des, entry->handle))
                *insert_event(des, entry->time, entry->handle) = *entry;
            else
                des->dead--;
        }
    }
}

/* Finds the next event after the earliest one was cancelled; false if there is none. */
static bool slot_search(const struct des *des, struct slot *slot)
{
    slot->earliest = TIME_NEVER;
    for (const struct chunk *chunk = slot->head; chunk; chunk = chunk->next) {
        for (uint32_t i = chunk->begin; i < chunk->end; i++) {
            const struct entry *entry = &chunk->entries[i];
            if (entry->time < slot->earliest && handle_is_pending(des, entry->handle)) {
                slot->earliest = entry->time;
                slot->earliest_event = entry->handle;
            }
        }
    }
    return slot->earliest != TIME_NEVER;
}

static const struct entry *slot_first(const struct slot *slot)
{
    return &slot->head->entries[slot->head->begin];
}

/* Removes the first entry of a slot of level 0. */
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

/* Removes the next event of a slot with few events, and finds its successor. The others keep their
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

static inline des_handle schedule_event(struct des *des, uint64_t time, struct event event,
                                        bool with_handle)
{
    assert(time >= des->now);
    if (time == TIME_NEVER)
        return 0;
    des_handle handle = with_handle ? handle_take(des) : 0;
    *insert_event(des, time, handle) = (struct entry){time, handle, event};
    des->live++;
    if (time < des->slot_next)
        des->slot_next = time;
    return handle;
}

void des_post(struct des *des, uint64_t time, struct event event)
{
    schedule_event(des, time, event, false);
}

static void fifo_grow(struct fifo *fifo)
{
    assert(fifo->count == fifo->size);
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

/* The lowest FIFO with the earliest event. */
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
    return schedule_event(des, time, event, true);
}

bool des_cancel(struct des *des, des_handle handle)
{
    if (handle_generation(handle) == 0 || handle_index(handle) >= des->cells.count ||
        !handle_is_live(des, handle))
        return false;
    assert(des->live > 0);
    handle_drop(des, handle);
    des->live--;
    des->dead++;
    des->slot_known = false; /* the cancelled event may have been the next one */
    if (des->dead <= des->live + DEAD_ALLOWED)
        return true;
    for (unsigned level = 0; level < LEVELS; level++) /* sweeps all slots */
        for (uint64_t used = des->used_slots[level]; used; used &= used - 1)
            reinsert_chunks(des, detach_slot(des, level, (unsigned)__builtin_ctzll(used)));
    return true;
}

/* The slot of the next event, which is its earliest; NULL if there is none. Removes dead entries on
 * the way. */
static struct slot *find_next(struct des *des, unsigned *level, unsigned *digit)
{
    while (des->used_levels) {
        *level = (unsigned)__builtin_ctz(des->used_levels);
        *digit = (unsigned)__builtin_ctzll(des->used_slots[*level]);
        struct slot *slot = &des->slots[*level][*digit];
        if (handle_is_pending(des, slot->earliest_event))
            return slot;
        if (*level == 0) {
            drop_first(des, *level, *digit);
            des->dead--;
        } else if (!slot_search(des, slot)) {
            reinsert_chunks(des, detach_slot(des, *level, *digit));
        }
    }
    return NULL;
}

/* The time of the next event in the slots. */
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

/* Pops the next event in the slots, if it is not later than `until`. */
static bool slots_pop(struct des *des, uint64_t until, struct event *event)
{
    unsigned level, digit;
    const struct slot *slot;
    while ((slot = find_next(des, &level, &digit)) && slot->earliest <= until) {
        uint32_t count = slot->head->end - slot->head->begin;
        if (level == 0 || (count <= FEW && !slot->head->next)) {
            struct entry entry = level == 0 ? *slot_first(slot) : take_earliest(des, level, digit);
            if (level == 0) {
                if (count > LOOKAHEAD)
                    handle_prefetch(des, slot_first(slot)[LOOKAHEAD].handle);
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
        des->base = slot->earliest; /* the clock follows: the next iteration pops this event */
        reinsert_chunks(des, detach_slot(des, level, digit));
    }
    return false;
}

bool des_pop(struct des *des, uint64_t until, struct event *event)
{
    unsigned index = fifo_first(des);
    if (slots_next(des) <= des->fifo_next[index]) {
        if (slots_pop(des, until, event))
            return true;
    } else if (des->fifo_next[index] <= until) {
        struct fifo *fifo = &des->fifos[index];
        *event = fifo->ring[fifo->head].event;
        des->now = des->fifo_next[index];
        des->live--;
        des->fifo_popped = index;
        fifo->head = (fifo->head + 1) & (fifo->size - 1);
        des->fifo_next[index] = --fifo->count ? fifo->ring[fifo->head].time : TIME_NEVER;
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
