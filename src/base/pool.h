/* A pool of items, identified by number, in one growing array.
 *
 * `POOL(struct packet) packets = {0};`, then `number = pool_take(&packets)` and
 * `pool_give(&packets, number)`. Items need a field `uint32_t next`, which the pool uses while they
 * are free. The array moves when it grows: a pointer to an item is valid until the next
 * pool_take(). A taken item is zeroed, or has the contents with which it was given back. */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "base/mem.h"

#include <assert.h>
#include <string.h>

#define POOL(type)                                                                                 \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
        uint32_t free; /* 1 + the number of the first free item; 0: none is free */                \
    }
#define pool_take(pool)                                                                            \
    ((pool)->free ? pool_reuse(&(pool)->free, &(pool)->items[(pool)->free - 1].next)               \
                  : (vec_reserve((pool), (pool)->count + 1),                                       \
                     memset(&(pool)->items[(pool)->count], 0, sizeof *(pool)->items),              \
                     (uint32_t)(pool)->count++))
#define pool_give(pool, number)                                                                    \
    (assert((number) < (pool)->count), (void)((pool)->items[number].next = (pool)->free),          \
     (void)((pool)->free = (number) + 1))
#define pool_release(pool) (vec_release(pool), (void)((pool)->free = 0))

static inline uint32_t pool_reuse(uint32_t *free, const uint32_t *next)
{
    uint32_t number = *free - 1;
    *free = *next;
    return number;
}

#endif
