/* Memory: checked allocation, growing arrays, and an arena that is freed as a whole.
 *
 * Running out of memory is not an input error: these functions end the program with one line on
 * standard error and never return NULL (but for zero bytes). Every size that comes from outside
 * must be bounded by the caller before it arrives here. */
#ifndef WEFT_BASE_MEM_H
#define WEFT_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A daemon's handler is called before the program ends, by whichever thread could not allocate. It
 * may leave a line in a log and end the process; it must not allocate. NULL: none. */
void mem_on_failure(void (*handler)(void));

void *mem_alloc(size_t bytes);
/* The same for what is large and written all over at once: of large pages, if there are any. */
void *mem_alloc_large(size_t bytes);
/* Pages straight from the system, zeroed, which go back there at once: for what is large and needed
 * for a while only. As many bytes must be given up as were asked for. */
void *mem_map(size_t bytes);
void mem_unmap(void *memory, size_t bytes);
void *mem_zalloc(size_t count, size_t bytes);
/* The same, beginning on a cache line. */
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
/* The address of the item at a place. It and all before it are made, zeroed, if there are fewer. */
#define vec_at(vec, place)                                                                         \
    (vec_reserve((vec), (size_t)(place) + 1),                                                      \
     mem_extend((vec)->items, &(vec)->count, (size_t)(place) + 1, sizeof *(vec)->items),           \
     (vec)->items + (place))
/* At a place; the others keep their order. */
#define vec_insert(vec, place, item)                                                               \
    (vec_reserve((vec), (vec)->count + 1),                                                         \
     mem_shift((vec)->items, &(vec)->count, (place), sizeof *(vec)->items, true),                  \
     (void)((vec)->items[place] = (item)))
#define vec_remove(vec, place)                                                                     \
    mem_shift((vec)->items, &(vec)->count, (place), sizeof *(vec)->items, false)
/* The least `at` below `count` for which `before`, a condition on `at`, does not hold; `count` if
 * it holds for all. It must hold for all before that one. */
#define lower_bound(at, count, before)                                                             \
    for (size_t low_ = 0, high_ = (count); (at) = low_ + (high_ - low_) / 2, low_ < high_;)        \
        if (before)                                                                                \
            low_ = (at) + 1;                                                                       \
        else                                                                                       \
            high_ = (at)
#define vec_release(vec)                                                                           \
    (mem_free((vec)->items), (vec)->items = NULL, (vec)->count = (vec)->capacity = 0)

/* Grow `items` so that it holds `wanted` elements; doubles, so that pushes cost O(1) each. */
void *mem_grow(void *items, size_t *capacity, size_t wanted, size_t bytes);
static inline void *mem_reserve(void *items, size_t *capacity, size_t wanted, size_t bytes)
{
    return wanted <= *capacity ? items : mem_grow(items, capacity, wanted, bytes);
}
/* Items from `count` to `wanted` become zero; there must be room for them. */
static inline void mem_extend(void *items, size_t *count, size_t wanted, size_t bytes)
{
    if (wanted <= *count)
        return;
    memset((char *)items + *count * bytes, 0, (wanted - *count) * bytes);
    *count = wanted;
}
/* Makes room for an item at a place, or takes the one there out. */
void mem_shift(void *items, size_t *count, size_t place, size_t bytes, bool insert);
/* Of what waits in an array, `taken` are through: gives their room back now and then. Returns how
 * many such there are then. */
size_t mem_drop_taken(void *items, size_t *count, size_t taken, size_t bytes);
#define vec_drop_taken(vec, taken)                                                                 \
    mem_drop_taken((vec)->items, &(vec)->count, (taken), sizeof *(vec)->items)
void mem_free(void *memory);

/* An arena: many small pieces with one owner and one end. */
struct arena {
    struct arena_block *head;
};
void *arena_alloc(struct arena *arena, size_t bytes); /* zeroed, aligned for any type */
char *arena_strndup(struct arena *arena, const char *text, size_t length);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_release(struct arena *arena);

#endif
