/* A list by deadline, and a map from IDs. */
#include "base/outstanding.h"

#include "base/time.h"

#include <assert.h>

void outstanding_add(struct outstanding *outstanding, uint32_t number, uint32_t id,
                     uint64_t deadline)
{
    struct outstanding_request *added = vec_at(&outstanding->requests, number);
    struct outstanding_request *requests = outstanding->requests.items;
    uint32_t before = outstanding->count ? outstanding->last : OUTSTANDING_NONE;
    uint32_t after = OUTSTANDING_NONE;
    assert(deadline && !added->deadline && map_get(&outstanding->by_id, id) == MAP_NONE);
    for (; before != OUTSTANDING_NONE && requests[before].deadline > deadline;
         before = requests[before].before)
        after = before;
    *added = (struct outstanding_request){deadline, id, before, after};
    *(before == OUTSTANDING_NONE ? &outstanding->first : &requests[before].after) = number;
    *(after == OUTSTANDING_NONE ? &outstanding->last : &requests[after].before) = number;
    outstanding->count++;
    map_set(&outstanding->by_id, id, number);
}

void outstanding_remove(struct outstanding *outstanding, uint32_t number)
{
    struct outstanding_request *requests = outstanding->requests.items;
    assert(outstanding_has(outstanding, number));
    uint32_t before = requests[number].before, after = requests[number].after;
    *(before == OUTSTANDING_NONE ? &outstanding->first : &requests[before].after) = after;
    *(after == OUTSTANDING_NONE ? &outstanding->last : &requests[after].before) = before;
    requests[number].deadline = 0;
    outstanding->count--;
    map_remove(&outstanding->by_id, requests[number].id);
}

bool outstanding_has(const struct outstanding *outstanding, uint32_t number)
{
    return number < outstanding->requests.count && outstanding->requests.items[number].deadline;
}

uint64_t outstanding_deadline(const struct outstanding *outstanding)
{
    return outstanding->count ? outstanding->requests.items[outstanding->first].deadline
                              : TIME_NEVER;
}

uint32_t outstanding_expire(struct outstanding *outstanding, uint64_t now)
{
    uint32_t number = outstanding->first;
    if (!outstanding->count || outstanding_deadline(outstanding) > now)
        return OUTSTANDING_NONE;
    outstanding_remove(outstanding, number);
    return number;
}

void outstanding_release(struct outstanding *outstanding)
{
    vec_release(&outstanding->requests);
    map_release(&outstanding->by_id);
    *outstanding = (struct outstanding){0};
}
