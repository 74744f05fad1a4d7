/* Memory: checked allocation, growing and sorted arrays, and an arena that is freed as a whole.
 *
 * Running out of memory is not an input error: these functions end the program with one line on
 * standard error and never return NULL (but for zero bytes). Every size that comes from outside
 * must be bounded by the caller before it arrives here. */
#ifndef WEFT_BASE_MEM_H
#define WEFT_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Sets a handler that the failing thread calls before the program ends. The handler may write to a
 * log and exit; it must not allocate. NULL: no handler. */
void mem_on_failure(void (*handler)(void));

/* Ends the program as a failed allocation does; for resources of libraries (threads). */
_Noreturn void mem_fail(const char *wanted);

void *mem_alloc(size_t bytes);
/* For large memory that is written completely at once: in huge pages, if the kernel has any. */
void *mem_alloc_large(size_t bytes);
/* Zeroed pages of the kernel, which mem_unmap() returns to it: for large memory with a short life.
 * Both calls must have the same size. */
void *mem_map(size_t bytes);
/* The same for address space of which most is never used: it reserves no memory. */
void *mem_map_sparse(size_t bytes);
void mem_unmap(void *memory, size_t bytes);
void *mem_zalloc(size_t count, size_t bytes);
/* mem_zalloc(), aligned to a cache line; large memory is in huge pages, if the kernel has any. */
void *mem_zalloc_lines(size_t count, size_t bytes);
void *mem_realloc(void *old, size_t count, size_t bytes);
char *mem_strdup(const char *text);

/* A growing array: `VEC(struct node) nodes = {0};`, then vec_push(&nodes, node). */
#define VEC(type)                                                                                  \
    struct {                                                                                       \
        type *items;                                                                               \
        size_t count, capacity;                                                                    \
    }
#define vec_reserve(vec, wanted)                                                                   \
    ((vec)->items = mem_reserve((vec)->items, &(vec)->capacity, (wanted), sizeof *(vec)->items))
#define vec_push(vec, item)                                                                        \
    (vec_reserve((vec), (vec)->count + 1), (void)((vec)->items[(vec)->count++] = (item)))
/* The address of the item at an index. Extends the array by zeroed items up to that index. */
#define vec_at(vec, index)                                                                         \
    ((size_t)(index) < (vec)->count                                                                \
         ? (vec)->items + (index)                                                                  \
         : (vec_reserve((vec), (size_t)(index) + 1),                                               \
            mem_extend((vec)->items, &(vec)->count, (size_t)(index) + 1, sizeof *(vec)->items),    \
            (vec)->items + (index)))
/* Insertion and removal keep the order of the other items. */
#define vec_insert(vec, index, item)                                                               \
    (vec_reserve((vec), (vec)->count + 1),                                                         \
     mem_shift((vec)->items, &(vec)->count, (index), sizeof *(vec)->items, true),                  \
     (void)((vec)->items[index] = (item)))
#define vec_remove(vec, index)                                                                     \
    mem_shift((vec)->items, &(vec)->count, (index), sizeof *(vec)->items, false)
/* Binary search: sets `at` to the least index below `count` for which the condition `before` does
 * not hold, or to `count`. `before` must hold for all lower indices. */
#define lower_bound(at, count, before)                                                             \
    for (size_t low_ = 0, high_ = (count); (at) = low_ + (high_ - low_) / 2, low_ < high_;)        \
        if (before)                                                                                \
            low_ = (at) + 1;                                                                       \
        else                                                                                       \
            high_ = (at)
#define vec_release(vec)                                                                           \
    (mem_free((vec)->items), (vec)->items = NULL, (vec)->count = (vec)->capacity = 0)

/* Grows `items` to hold `wanted` elements; doubles the size, so that a push costs O(1). */
void *mem_grow(void *items, size_t *capacity, size_t wanted, size_t bytes);
static inline void *mem_reserve(void *items, size_t *capacity, size_t wanted, size_t bytes)
{
    return wanted <= *capacity ? items : mem_grow(items, capacity, wanted, bytes);
}
/* Zeroes the items from `count` to `wanted`; there must be room for them. */
static inline void mem_extend(void *items, size_t *count, size_t wanted, size_t bytes)
{
    if (wanted <= *count)
        return;
    memset((char *)items + *count * bytes, 0, (wanted - *count) * bytes);
    *count = wanted;
}
/* Makes room for an item at an index, or removes the item there. */
void mem_shift(void *items, size_t *count, size_t index, size_t bytes, bool insert);
/* For an array used as a queue, whose first `taken` items are consumed: removes them when they are
 * many, or all. Returns the number of consumed items that are left. */
size_t mem_drop_taken(void *items, size_t *count, size_t taken, size_t bytes);
#define vec_drop_taken(vec, taken)                                                                 \
    mem_drop_taken((vec)->items, &(vec)->count, (taken), sizeof *(vec)->items)
void mem_free(void *memory);

/* Arrays of numbers in ascending order; compare_u32() is for qsort() and bsearch(). */
int compare_u32(const void *a, const void *b);
/* The array may be NULL if it is empty. */
void sort_u32(uint32_t *items, size_t count);
void sort_u64(uint64_t *items, size_t count);

/* An arena: many allocations that are released together. */
struct arena {
    struct arena_block *head;
};
void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, aligned for any type */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
    __attribute__((format(printf, 2, 0)));
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *arena);

#endif
