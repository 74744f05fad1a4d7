/* The event queue: FIFOs, a heap, and a tournament between them.
 *
 * Most events of a simulated network have one of a few fixed delays, so that those of one delay are
 * posted almost in the order of their times. They go to FIFOs, plain rings: posting and popping
 * touch one place at the end of an array, whatever the number of pending events. An event that
 * belongs at most some 100 places before the end is inserted there; another goes to the heap.
 *
 * The heap has four children for each entry (Johnson, "Priority queues with update and finding
 * minimum spanning trees", 1975), which makes it half as deep as a binary one; an entry has 24
 * bytes. It contains the key of an event and the number of a cell, which holds the rest. Cells do
 * not move: number and generation of a cell are the handle of its event. A cancelled event stays in
 * the heap until it is the first one, or until there are more of them than others and the heap is
 * made anew. The first event of the heap is never a cancelled one.
 *
 * The next event is the earliest of the first events of the FIFOs and of the heap. A tournament
 * finds it (Knuth, The Art of Computer Programming volume 3, section 5.4.1): when the first event
 * of one of these eight changes, only its three matches are played again.
 *
 * The fast paths are in des.h. */
#include "des/des.h"

#include "base/mem.h"

#include <string.h>

enum {
    CHILDREN = 4,
    DEAD_ALLOWED = 1024, /* cancelled events below which the heap is not made anew */
    INSERT_BEFORE = 128, /* places from the end of a FIFO up to which an event is inserted */
    FIRST_RING = 64,
};
#define NO_CELL UINT32_MAX

/* An event in the heap. The sequence number has 56 bits, of which `order` contains the upper 24,
 * below des_order(). */
struct queued_event {
    uint64_t time, order;
    uint32_t sequence;
    uint32_t cell;
};

struct cell {
    uint64_t b;
    uint32_t generation; /* even: cancelled, or free */
    uint32_t next_free;
};

struct des_heap {
    struct queued_event *nodes;
    struct cell *cells;
    size_t count, dead, room; /* of nodes; dead: cancelled */
    size_t cell_count, cell_room;
    uint32_t free_cell;
    uint64_t sequence;
};

struct des *des_new(void)
{
    struct des *des = mem_zalloc(1, sizeof *des);
    des->heap = mem_zalloc(1, sizeof *des->heap);
    des->heap->free_cell = NO_CELL;
    for (unsigned i = 0; i < 2 * DES_SOURCES; i++) {
        des->times[i] = TIME_NEVER;
        des->winners[i] = i % DES_SOURCES;
    }
    return des;
}

void des_free(struct des *des)
{
    if (!des)
        return;
    for (unsigned i = 0; i < DES_FIFOS; i++)
        mem_free(des->fifos[i].ring);
    mem_free(des->heap->nodes);
    mem_free(des->heap->cells);
    mem_free(des->heap);
    mem_free(des);
}

size_t des_pending(const struct des *des)
{
    size_t count = des->heap->count - des->heap->dead;
    for (unsigned i = 0; i < DES_FIFOS; i++)
        count += des->fifos[i].tail - des->fifos[i].head;
    return count;
}

void des_advance(struct des *des, uint64_t time)
{
    assert(des_next_time(des) >= time);
    if (time > des->now)
        des->now = time;
}

/* ---- cells and handles ---- */

/* Grows an array by a quarter: memory stays close to what is needed. */
static void *grow(void *items, size_t *room, size_t bytes)
{
    *room += *room / 4 + 64;
    return mem_realloc(items, *room, bytes);
}

static uint32_t cell_take(struct des_heap *heap, uint64_t b)
{
    uint32_t number = heap->free_cell;
    if (number == NO_CELL) {
        if (heap->cell_count == heap->cell_room)
            heap->cells = grow(heap->cells, &heap->cell_room, sizeof *heap->cells);
        number = (uint32_t)heap->cell_count++;
        assert(number != NO_CELL);
        heap->cells[number].generation = 0;
    } else {
        heap->free_cell = heap->cells[number].next_free;
    }
    heap->cells[number].b = b;
    heap->cells[number].generation++;
    return number;
}

static bool is_live(const struct des_heap *heap, uint32_t cell)
{
    return heap->cells[cell].generation % 2;
}

/* A cell whose generations are used up is not used again. */
static void cell_drop(struct des_heap *heap, uint32_t number)
{
    struct cell *cell = &heap->cells[number];
    cell->generation += is_live(heap, number);
    if (!cell->generation)
        return;
    cell->next_free = heap->free_cell;
    heap->free_cell = number;
}

/* ---- the heap ---- */

static inline bool is_before(const struct queued_event *a, const struct queued_event *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    return a->order != b->order ? a->order < b->order : a->sequence < b->sequence;
}

static void sift_up(struct queued_event *nodes, size_t at, struct queued_event node)
{
    while (at && is_before(&node, &nodes[(at - 1) / CHILDREN])) {
        nodes[at] = nodes[(at - 1) / CHILDREN];
        at = (at - 1) / CHILDREN;
    }
    nodes[at] = node;
}

static void sift_down(struct queued_event *nodes, size_t count, size_t at, struct queued_event node)
{
    for (size_t first; (first = at * CHILDREN + 1) < count;) {
        size_t end = first + CHILDREN < count ? first + CHILDREN : count, least = first;
        for (size_t child = first + 1; child < end; child++)
            if (is_before(&nodes[child], &nodes[least]))
                least = child;
        if (!is_before(&nodes[least], &node))
            break;
        nodes[at] = nodes[least];
        at = least;
    }
    nodes[at] = node;
}

/* Removes the first event, and the cancelled ones behind it. */
static void remove_first(struct des *des)
{
    struct des_heap *heap = des->heap;
    do {
        heap->dead -= !is_live(heap, heap->nodes[0].cell);
        cell_drop(heap, heap->nodes[0].cell);
        if (--heap->count)
            sift_down(heap->nodes, heap->count, 0, heap->nodes[heap->count]);
    } while (heap->count && heap->dead && !is_live(heap, heap->nodes[0].cell));
    des_replay(des, DES_HEAP, heap->count ? heap->nodes[0].time : TIME_NEVER);
}

static void heapify(struct des_heap *heap)
{
    for (size_t i = heap->count / CHILDREN + 1; i-- > 0;)
        if (i < heap->count)
            sift_down(heap->nodes, heap->count, i, heap->nodes[i]);
}

/* Makes the heap anew without its cancelled events. */
static void sweep(struct des_heap *heap)
{
    size_t kept = 0;
    for (size_t i = 0; i < heap->count; i++)
        if (is_live(heap, heap->nodes[i].cell))
            heap->nodes[kept++] = heap->nodes[i];
        else
            cell_drop(heap, heap->nodes[i].cell);
    heap->count = kept;
    heap->dead = 0;
    heapify(heap);
}

/* Adds an event with a given place in the order; its `cell` is set here. */
static uint32_t insert(struct des_heap *heap, struct queued_event node, uint64_t b)
{
    if (heap->count == heap->room)
        heap->nodes = grow(heap->nodes, &heap->room, sizeof *heap->nodes);
    node.cell = cell_take(heap, b);
    sift_up(heap->nodes, heap->count++, node);
    return node.cell;
}

des_handle des_schedule(struct des *des, uint64_t time, struct event event)
{
    struct des_heap *heap = des->heap;
    assert(time >= des->now && event.kind < DES_KINDS);
    if (time == TIME_NEVER)
        return 0;
    struct queued_event node = {
        .time = time,
        .order = des_order(time, event) << 24 | heap->sequence >> 32,
        .sequence = (uint32_t)heap->sequence,
    };
    heap->sequence++;
    uint32_t cell = insert(heap, node, event.b);
    if (heap->nodes[0].cell == cell)
        des_replay(des, DES_HEAP, time);
    return (uint64_t)heap->cells[cell].generation << 32 | cell;
}

void des_post(struct des *des, uint64_t time, struct event event)
{
    des_schedule(des, time, event);
}

static struct des_place place_of(const struct queued_event *node)
{
    struct event event = {(uint32_t)(node->order >> 56), 0, 0};
    return (struct des_place){event.kind,
                              (uint32_t)(node->order >> 24 ^ des_order(node->time, event))};
}

static struct event event_of(const struct des_heap *heap, const struct queued_event *node)
{
    struct des_place place = place_of(node);
    return (struct event){place.kind, place.a, heap->cells[node->cell].b};
}

void des_pop_heap(struct des *des, struct event *event)
{
    assert(des->heap->count);
    *event = event_of(des->heap, &des->heap->nodes[0]);
    remove_first(des);
}

bool des_first_of_heap(const struct des *des, unsigned behind, struct des_place *place)
{
    const struct des_heap *heap = des->heap;
    size_t at = behind;
    assert(behind <= 1);
    if (heap->count <= behind)
        return false;
    for (size_t child = 2; behind && child <= CHILDREN && child < heap->count; child++)
        if (is_before(&heap->nodes[child], &heap->nodes[at]))
            at = child;
    __builtin_prefetch(&heap->cells[heap->nodes[at].cell]);
    *place = place_of(&heap->nodes[at]);
    return true;
}

bool des_cancel(struct des *des, des_handle handle)
{
    struct des_heap *heap = des->heap;
    uint32_t cell = (uint32_t)handle, generation = (uint32_t)(handle >> 32);
    if (generation % 2 == 0 || cell >= heap->cell_count ||
        heap->cells[cell].generation != generation)
        return false;
    if (cell == heap->nodes[0].cell) {
        remove_first(des);
        return true;
    }
    heap->cells[cell].generation++;
    heap->dead++;
    if (heap->dead > heap->count - heap->dead + DEAD_ALLOWED)
        sweep(heap);
    return true;
}

/* ---- FIFOs ---- */

/* Whether the first event of the heap precedes that of a FIFO, which has the same time. */
static bool heap_is_first(const struct des *des, unsigned index)
{
    const struct des_fifo *fifo = &des->fifos[index];
    const struct queued_event *first = &des->heap->nodes[0];
    return first->order >> 24 <
           des_order(first->time, fifo->ring[fifo->head & (fifo->size - 1)].event);
}

/* Whether the first event of `source` precedes that of `other`, which has the same time. FIFOs are
 * in the order of their kinds. */
bool des_wins_tie(const struct des *des, unsigned source, unsigned other)
{
    if (source == DES_HEAP)
        return heap_is_first(des, other);
    return other == DES_HEAP ? !heap_is_first(des, source) : source < other;
}

static void fifo_grow(struct des_fifo *fifo)
{
    uint32_t size = fifo->size ? fifo->size * 2 : FIRST_RING, count = fifo->tail - fifo->head;
    struct des_entry *ring = mem_alloc(size * sizeof *ring);
    for (uint32_t i = 0; i < count; i++)
        ring[i] = fifo->ring[(fifo->head + i) & (fifo->size - 1)];
    mem_free(fifo->ring);
    *fifo = (struct des_fifo){ring, 0, count, size, fifo->last};
}

/* The place of an event in a FIFO: in front of all that come later. */
static uint32_t find_place(const struct des_fifo *fifo, uint64_t time, struct event event)
{
    uint32_t low = fifo->head, high = fifo->tail, mask = fifo->size - 1;
    if (high - low > INSERT_BEFORE)
        low = high - INSERT_BEFORE;
    for (uint32_t step = 1; low != high; step *= 2) { /* most belong near the end */
        uint32_t middle = step < high - low ? high - step : low + (high - low) / 2;
        const struct des_entry *entry = &fifo->ring[middle & mask];
        if (entry->time < time ||
            (entry->time == time && des_order(time, entry->event) < des_order(time, event)))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* When the ring is full, or the event does not belong behind all others. */
void des_post_slowly(struct des *des, unsigned index, uint64_t time, const struct event *event)
{
    struct des_fifo *fifo = &des->fifos[index];
    assert(time != TIME_NEVER);
    if (fifo->tail - fifo->head == fifo->size)
        fifo_grow(fifo);
    uint32_t at = find_place(fifo, time, *event), mask = fifo->size - 1;
    if (fifo->tail - at == INSERT_BEFORE) {
        des_post(des, time, *event);
        return;
    }
    uint32_t end = fifo->tail++;
    if ((at & mask) <= (end & mask)) {
        memmove(&fifo->ring[(at & mask) + 1], &fifo->ring[at & mask],
                (end - at) * sizeof *fifo->ring);
    } else { /* around the end of the ring */
        for (uint32_t i = end; i != at; i--)
            fifo->ring[i & mask] = fifo->ring[(i - 1) & mask];
    }
    fifo->ring[at & mask] = (struct des_entry){time, *event};
    fifo->last = fifo->ring[end & mask].time;
    if (at == fifo->head)
        des_replay(des, index, time);
}

/* ---- moving events between queues ---- */

/* The next event of a FIFO, or NULL. */
static const struct des_entry *front(const struct des_fifo *fifo)
{
    return fifo->head == fifo->tail ? NULL : &fifo->ring[fifo->head & (fifo->size - 1)];
}

static bool precedes(const struct des_entry *a, const struct des_entry *b)
{
    return a->time != b->time ? a->time < b->time
                              : des_order(a->time, a->event) < des_order(b->time, b->event);
}

/* A moved event keeps its sequence number; those scheduled later get higher ones. */
static void move_node(struct des *to, struct des_heap *from, const struct queued_event *node)
{
    insert(to->heap, *node, from->cells[node->cell].b);
    if (to->heap->sequence < from->sequence)
        to->heap->sequence = from->sequence;
    cell_drop(from, node->cell);
}

static void replay_heap(struct des *des)
{
    const struct des_heap *heap = des->heap;
    des_replay(des, DES_HEAP, heap->count ? heap->nodes[0].time : TIME_NEVER);
}

void des_divide(struct des *from, struct des *const *to, unsigned count,
                unsigned (*choose)(const void *context, const struct event *event),
                const void *context)
{
    struct des_heap *heap = from->heap;
    size_t kept = 0;
    for (unsigned i = 0; i < count; i++)
        to[i]->now = from->now;
    for (unsigned i = 0; i < DES_FIFOS; i++) {
        for (const struct des_entry *entry; (entry = front(&from->fifos[i])) != NULL;
             from->fifos[i].head++)
            des_post_fifo(to[choose(context, &entry->event)], i, entry->time, entry->event);
        des_replay(from, i, TIME_NEVER);
    }
    for (size_t i = 0; i < heap->count; i++) {
        const struct queued_event *node = &heap->nodes[i];
        if (!is_live(heap, node->cell)) {
            cell_drop(heap, node->cell);
            continue;
        }
        struct event event = event_of(heap, node);
        unsigned part = choose(context, &event);
        if (part < count)
            move_node(to[part], heap, node);
        else
            heap->nodes[kept++] = *node;
    }
    heap->count = kept;
    heap->dead = 0;
    heapify(heap);
    replay_heap(from);
    for (unsigned i = 0; i < count; i++)
        replay_heap(to[i]);
}

void des_unite(struct des *to, struct des *const *from, unsigned count)
{
    for (unsigned i = 0; i < DES_FIFOS; i++) {
        struct des_fifo *first = NULL;
        do {
            first = NULL;
            for (unsigned part = 0; part < count; part++) {
                struct des_fifo *fifo = &from[part]->fifos[i];
                if (front(fifo) && (!first || precedes(front(fifo), front(first))))
                    first = fifo;
            }
            if (first) {
                des_post_fifo(to, i, front(first)->time, front(first)->event);
                first->head++;
            }
        } while (first);
        for (unsigned part = 0; part < count; part++)
            des_replay(from[part], i, TIME_NEVER);
    }
    for (unsigned part = 0; part < count; part++) {
        struct des_heap *heap = from[part]->heap;
        for (size_t i = 0; i < heap->count; i++)
            if (is_live(heap, heap->nodes[i].cell))
                move_node(to, heap, &heap->nodes[i]);
            else
                cell_drop(heap, heap->nodes[i].cell);
        heap->count = heap->dead = 0;
        replay_heap(from[part]);
    }
    replay_heap(to);
}
