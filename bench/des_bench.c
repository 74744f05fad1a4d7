/* The event queue under the hold model, compared with a binary heap.
 *
 * Hold (Jones, "An empirical comparison of priority-queue and event-set implementations", 1986):
 * with a fixed number of pending events, pop the next one and schedule another at its time plus a
 * random increment. Both queues get the same increments, and the heap orders by the same key (time,
 * sequence); the program checks that both end with the same event. The second table is without the
 * heap, which cannot cancel events: each hold also cancels a time-out and schedules a new one, as a
 * request and its response do. */
#include "base/mem.h"
#include "base/rng.h"
#include "des/des.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Increments, mean about one microsecond, in integers only. */

/* -ln u, with the logarithm's fraction taken as linear between powers of two. */
static uint64_t exponential(struct rng *rng)
{
    uint64_t x = rng_next(rng) | 1;
    unsigned zeros = (unsigned)__builtin_clzll(x);
    uint64_t fraction = x << zeros << 1 >> 44; /* 20 bits */
    return ((((uint64_t)zeros + 1) << 20) - fraction) * 693147 >> 20;
}

static uint64_t uniform(struct rng *rng)
{
    return (rng_next(rng) >> 32) * 2 * TIME_US >> 32;
}

/* Nine in ten are short, the others two hundred times as long. */
static uint64_t bimodal(struct rng *rng)
{
    uint64_t x = rng_next(rng);
    uint64_t length = (x & 0xffff) < 6554 ? 9500 * TIME_NS : 47 * TIME_NS;
    return (x >> 32) * 2 * length >> 32;
}

/* Packets of nanoseconds among timers of seconds. */
static uint64_t far_and_near(struct rng *rng)
{
    uint64_t x = rng_next(rng);
    uint64_t length = (x & 0xff) == 0 ? TIME_S : 10 * TIME_NS;
    return (x >> 32) * (length >> 4) >> 28;
}

/* A common clock: all times are whole microseconds, or equal. */
static uint64_t ticks(struct rng *rng)
{
    return (rng_next(rng) >> 62) * TIME_US;
}

static uint64_t constant(struct rng *rng)
{
    (void)rng;
    return TIME_US;
}

struct distribution {
    const char *name;
    uint64_t (*draw)(struct rng *rng);
};

static const struct distribution distributions[] = {
    {"exponential", exponential}, {"uniform", uniform}, {"bimodal", bimodal},
    {"far+near", far_and_near},   {"ticks", ticks},     {"constant", constant},
};

/* The peer */

struct heap_entry {
    uint64_t time, sequence;
    struct event event;
};
struct heap {
    VEC(struct heap_entry) entries;
    uint64_t sequence;
};

static bool before(const struct heap_entry *a, const struct heap_entry *b)
{
    return a->time < b->time || (a->time == b->time && a->sequence < b->sequence);
}

static void heap_push(struct heap *heap, uint64_t time, struct event event)
{
    struct heap_entry entry = {.time = time, .sequence = heap->sequence++, .event = event};
    size_t at = heap->entries.count;
    vec_push(&heap->entries, entry);
    struct heap_entry *entries = heap->entries.items;
    for (; at && before(&entry, &entries[(at - 1) / 2]); at = (at - 1) / 2)
        entries[at] = entries[(at - 1) / 2];
    entries[at] = entry;
}

static struct heap_entry heap_pop(struct heap *heap)
{
    struct heap_entry *entries = heap->entries.items;
    struct heap_entry top = entries[0], last = entries[--heap->entries.count];
    size_t at = 0, child;
    while ((child = 2 * at + 1) < heap->entries.count) {
        if (child + 1 < heap->entries.count && before(&entries[child + 1], &entries[child]))
            child++;
        if (!before(&entries[child], &last))
            break;
        entries[at] = entries[child];
        at = child;
    }
    entries[at] = last;
    return top;
}

/* Runs */

struct result {
    double ns;     /* for one hold */
    uint64_t last; /* time and identity of the last event, to compare */
};

/* The first lap warms up; the fastest of the others counts, because other load on the machine can
 * only slow a lap down. */
struct laps {
    size_t warm_up, holds; /* in the first lap, in each of the others */
    unsigned lap;
    double start, best; /* seconds */
};

enum { LAPS = 4 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* How many holds to run now; 0 at the end. */
static size_t laps_next(struct laps *laps)
{
    double now = seconds(), time = now - laps->start;
    if (laps->lap == 2 || (laps->lap > 2 && time < laps->best))
        laps->best = time;
    laps->start = now;
    if (laps->lap > LAPS)
        return 0;
    return laps->lap++ ? laps->holds : laps->warm_up;
}

static double laps_ns(const struct laps *laps)
{
    return laps->best * 1e9 / (double)laps->holds;
}

static struct result run_des(const struct distribution *d, size_t pending, size_t holds)
{
    struct rng rng;
    rng_seed(&rng, 1, pending);
    struct des *des = des_new();
    for (size_t i = 0; i < pending; i++)
        des_schedule(des, d->draw(&rng), (struct event){.b = i});
    struct event event = {0};
    struct laps laps = {.warm_up = 2 * pending, .holds = holds};
    for (size_t left = laps_next(&laps); left; left = --left ? left : laps_next(&laps)) {
        des_pop(des, TIME_NEVER, &event);
        des_schedule(des, des_now(des) + d->draw(&rng), event);
    }
    struct result result = {.ns = laps_ns(&laps), .last = des_now(des) ^ event.b << 40};
    des_free(des);
    return result;
}

/* `pending` owners, each with a packet in flight and a time-out that rarely expires. */
static double run_timeouts(size_t pending, size_t holds)
{
    struct rng rng;
    rng_seed(&rng, 1, pending);
    struct des *des = des_new();
    des_handle *timeouts = mem_zalloc(pending, sizeof *timeouts);
    for (size_t i = 0; i < pending; i++)
        des_schedule(des, exponential(&rng), (struct event){.b = i});
    struct event event = {0};
    struct laps laps = {.warm_up = 2 * pending, .holds = holds};
    for (size_t left = laps_next(&laps); left; left = --left ? left : laps_next(&laps)) {
        while (des_pop(des, TIME_NEVER, &event) && event.kind)
            continue;
        des_cancel(des, timeouts[event.b]);
        timeouts[event.b] =
            des_schedule(des, des_now(des) + 200 * TIME_MS, (struct event){.kind = 1});
        des_schedule(des, des_now(des) + exponential(&rng), event);
    }
    double ns = laps_ns(&laps);
    mem_free(timeouts);
    des_free(des);
    return ns;
}

static struct result run_heap(const struct distribution *d, size_t pending, size_t holds)
{
    struct rng rng;
    rng_seed(&rng, 1, pending);
    struct heap heap = {0};
    for (size_t i = 0; i < pending; i++)
        heap_push(&heap, d->draw(&rng), (struct event){.b = i});
    struct heap_entry next = {0};
    struct laps laps = {.warm_up = 2 * pending, .holds = holds};
    for (size_t left = laps_next(&laps); left; left = --left ? left : laps_next(&laps)) {
        next = heap_pop(&heap);
        heap_push(&heap, next.time + d->draw(&rng), next.event);
    }
    struct result result = {.ns = laps_ns(&laps), .last = next.time ^ next.event.b << 40};
    vec_release(&heap.entries);
    return result;
}

/* False if the two queues disagree. */
static bool compare(const struct distribution *d, size_t holds)
{
    double des_first = 0, heap_first = 0;
    bool same = true;
    for (size_t pending = 1000; pending <= 1000000; pending *= 10) {
        struct result des = run_des(d, pending, holds);
        struct result heap = run_heap(d, pending, holds);
        if (pending == 1000) {
            des_first = des.ns;
            heap_first = heap.ns;
        }
        same = same && des.last == heap.last;
        printf("%-12s %8zu | %10.0f %8.1f %8.2f | %10.0f %8.1f %8.2f | %6.1fx%s\n", d->name,
               pending, 1e9 / des.ns, des.ns, des.ns / des_first, 1e9 / heap.ns, heap.ns,
               heap.ns / heap_first, heap.ns / des.ns,
               des.last == heap.last ? "" : "  DIFFERENT ORDER");
        fflush(stdout);
    }
    return same;
}

int main(int argc, char **argv)
{
    size_t holds = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000000;
    if (!holds || argc > 2) {
        fprintf(stderr, "usage: %s [HOLDS]\n", argv[0]);
        return 2;
    }
    bool same = true;
    printf("hold model, fastest of %d laps of %zu holds\n", LAPS, holds);
    printf("%-12s %8s | %10s %8s %8s | %10s %8s %8s | %7s\n", "increments", "pending", "weft ev/s",
           "ns", "to 10^3", "heap ev/s", "ns", "to 10^3", "speedup");
    for (size_t i = 0; i < sizeof distributions / sizeof *distributions; i++)
        same = compare(&distributions[i], holds) && same;

    printf("\nhold with a time-out taken back and set again, exponential increments\n");
    printf("%8s %10s %8s %8s\n", "pending", "holds/s", "ns", "to 10^3");
    double first = 0;
    for (size_t pending = 1000; pending <= 1000000; pending *= 10) {
        double ns = run_timeouts(pending, holds);
        if (pending == 1000)
            first = ns;
        printf("%8zu %10.0f %8.1f %8.2f\n", 2 * pending, 1e9 / ns, ns, ns / first);
    }
    return same ? 0 : 1;
}
