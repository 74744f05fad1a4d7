/* Requests that were sent and are not answered yet: each has a transaction ID and a deadline.
 *
 * The caller numbers its requests, for example as items of a pool (pool.h), and keeps what it must
 * know to repeat or to end them. A response is matched by its ID; of equal deadlines the one that
 * was added first expires first. The requests are a list by deadline: adding one costs as many
 * steps as there are later deadlines, which only longer time-outs have; all else is O(1). */
#ifndef WEFT_BASE_OUTSTANDING_H
#define WEFT_BASE_OUTSTANDING_H

#include "base/map.h"
#include "base/mem.h"

#define OUTSTANDING_NONE MAP_NONE

struct outstanding_request {
    uint64_t deadline;          /* 0: not outstanding */
    uint32_t id, before, after; /* neighbours in the list, or OUTSTANDING_NONE */
};
struct outstanding {
    VEC(struct outstanding_request) requests; /* by number */
    uint32_t first, last;                     /* if there are any */
    size_t count;
    struct map by_id; /* → number */
};

/* The request must not be outstanding, and no other one may have this ID. */
void outstanding_add(struct outstanding *outstanding, uint32_t number, uint32_t id,
                     uint64_t deadline);
void outstanding_remove(struct outstanding *outstanding, uint32_t number);
/* The number of the request with this ID; OUTSTANDING_NONE: there is none. */
static inline uint32_t outstanding_find(const struct outstanding *outstanding, uint32_t id)
{
    return map_get(&outstanding->by_id, id);
}
bool outstanding_has(const struct outstanding *outstanding, uint32_t number);
uint64_t outstanding_deadline(const struct outstanding *outstanding); /* TIME_NEVER: none */
/* Removes a request whose deadline has passed; OUTSTANDING_NONE: there is none. */
uint32_t outstanding_expire(struct outstanding *outstanding, uint64_t now);
void outstanding_release(struct outstanding *outstanding);

#endif
