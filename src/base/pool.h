/* A pool: things that come and go, known by number, in one array that grows.
 *
 * `POOL(struct packet) packets = {0};`, then `number = pool_take(&packets)` and
 * `pool_give(&packets, number)`. Things need a field `uint32_t next`, which is the pool's while
 * nobody has them. The array moves when it grows: a pointer into it holds until the next is taken.
 * What is taken has what it had when it was given back, or zeros. */
#ifndef WEFT_BASE_POOL_H
#define WEFT_BASE_POOL_H

#include "base/mem.h"

#include <assert.h>
#include <string.h>

#define POOL(type)                                                                                 \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
        uint32_t free; /* 1 + the number of the first free one; 0: there is none */                \
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
