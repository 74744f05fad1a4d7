/* A binary heap by deadline, and a map from IDs. */
#include "base/outstanding.h"

#include "base/time.h"

#include <assert.h>

static bool is_before(const struct outstanding_request *a, const struct outstanding_request *b)
{
    return a->deadline != b->deadline ? a->deadline < b->deadline : a->order < b->order;
}

static void place(struct outstanding *outstanding, size_t at, struct outstanding_request request)
{
    outstanding->heap[at] = request;
    outstanding->places.items[request.number] = (uint32_t)at + 1;
}

/* Puts a request where the heap has a hole. */
static void fill_hole(struct outstanding *outstanding, size_t hole,
                      struct outstanding_request request)
{
    struct outstanding_request *heap = outstanding->heap;
    for (; hole && is_before(&request, &heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
        place(outstanding, hole, heap[(hole - 1) / 2]);
    for (size_t below; (below = 2 * hole + 1) < outstanding->count; hole = below) {
        below += below + 1 < outstanding->count && is_before(&heap[below + 1], &heap[below]);
        if (!is_before(&heap[below], &request))
            break;
        place(outstanding, hole, heap[below]);
    }
    place(outstanding, hole, request);
}

void outstanding_add(struct outstanding *outstanding, uint32_t number, uint32_t id,
                     uint64_t deadline)
{
    uint32_t *at = vec_at(&outstanding->places, number);
    assert(!*at && map_get(&outstanding->by_id, id) == MAP_NONE);
    (void)at;
    map_set(&outstanding->by_id, id, number);
    outstanding->heap = mem_reserve(outstanding->heap, &outstanding->capacity,
                                    outstanding->count + 1, sizeof *outstanding->heap);
    fill_hole(outstanding, outstanding->count++,
              (struct outstanding_request){deadline, ++outstanding->order, number, id});
}

void outstanding_remove(struct outstanding *outstanding, uint32_t number)
{
    assert(outstanding_has(outstanding, number));
    size_t at = outstanding->places.items[number] - 1;
    map_remove(&outstanding->by_id, outstanding->heap[at].id);
    outstanding->places.items[number] = 0;
    if (at != --outstanding->count)
        fill_hole(outstanding, at, outstanding->heap[outstanding->count]);
}

bool outstanding_has(const struct outstanding *outstanding, uint32_t number)
{
    return number < outstanding->places.count && outstanding->places.items[number];
}

uint64_t outstanding_deadline(const struct outstanding *outstanding)
{
    return outstanding->count ? outstanding->heap->deadline : TIME_NEVER;
}

uint32_t outstanding_expire(struct outstanding *outstanding, uint64_t now)
{
    if (!outstanding->count || outstanding->heap->deadline > now)
        return OUTSTANDING_NONE;
    uint32_t number = outstanding->heap->number;
    outstanding_remove(outstanding, number);
    return number;
}

void outstanding_release(struct outstanding *outstanding)
{
    mem_free(outstanding->heap);
    vec_release(&outstanding->places);
    map_release(&outstanding->by_id);
    *outstanding = (struct outstanding){0};
}
