/* Wrappers of malloc() and mmap() that end the program when memory runs out, the functions behind
 * the macros of growing arrays, and an arena that cuts its pieces from blocks of at least 64 KiB.
 */
#include "base/mem.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ARENA_BLOCK_BYTES = 64 * 1024, ARENA_ALIGNMENT = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ARENA_ALIGNMENT) unsigned char data[];
};

static void (*failure_handler)(void);

void mem_on_failure(void (*handler)(void))
{
    failure_handler = handler;
}

void mem_fail(const char *wanted)
{
    fprintf(stderr, "weft: out of memory (%s wanted)\n", wanted);
    if (failure_handler)
        failure_handler();
    exit(2);
}

static void *checked(void *memory, size_t count, size_t bytes)
{
    if (memory || !count || !bytes)
        return memory;
    char wanted[64];
    snprintf(wanted, sizeof wanted, "%zu times %zu bytes", count, bytes);
    mem_fail(wanted);
}

void *mem_alloc(size_t bytes)
{
    return checked(malloc(bytes), 1, bytes);
}

/* A page fault can take microseconds: with small pages, longer than writing the page. Aligned
 * memory would have no small pages at its ends, but malloc() does not reuse freed aligned blocks.
 */
void *mem_alloc_large(size_t bytes)
{
    const uintptr_t page = (uintptr_t)2 << 20;
    void *memory = mem_alloc(bytes);
    uintptr_t first = ((uintptr_t)memory + page - 1) & ~(page - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (first < end) /* a hint: its result does not matter */
        madvise((void *)first, end - first, MADV_HUGEPAGE);
    return memory;
}

void *mem_map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return checked(memory == MAP_FAILED ? NULL : memory, 1, bytes);
}

void *mem_map_sparse(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return checked(memory == MAP_FAILED ? NULL : memory, 1, bytes);
}

void mem_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

void *mem_zalloc(size_t count, size_t bytes)
{
    return checked(calloc(count, bytes), count, bytes);
}

void *mem_zalloc_lines(size_t count, size_t bytes)
{
    enum { LINE = 64, HUGE_PAGE = 2 << 20 };
    assert(bytes == 0 || count <= (SIZE_MAX - HUGE_PAGE) / bytes);
    size_t size = count * bytes, unit = size >= HUGE_PAGE ? HUGE_PAGE : LINE;
    void *lines = checked(aligned_alloc(unit, (size + unit - 1) / unit * unit), count, bytes);
    if (unit == HUGE_PAGE) /* random access to small pages misses the TLB; a hint */
        madvise(lines, size - size % HUGE_PAGE, MADV_HUGEPAGE);
    return memset(lines, 0, size);
}

void *mem_realloc(void *old, size_t count, size_t bytes)
{
    return checked(reallocarray(old, count, bytes), count, bytes);
}

char *mem_strdup(const char *text)
{
    return checked(strdup(text), 1, strlen(text) + 1);
}

void mem_free(void *memory)
{
    free(memory);
}

void *mem_grow(void *items, size_t *capacity, size_t wanted, size_t bytes)
{
    size_t grown = *capacity * 2 > wanted ? *capacity * 2 : wanted;
    if (grown < 8)
        grown = 8;
    assert(grown >= wanted && bytes);
    *capacity = grown;
    return mem_realloc(items, grown, bytes);
}

void mem_shift(void *items, size_t *count, size_t index, size_t bytes, bool insert)
{
    assert(index < *count + insert);
    char *at = (char *)items + index * bytes;
    if (insert)
        memmove(at + bytes, at, (*count - index) * bytes);
    else
        memmove(at, at + bytes, (*count - index - 1) * bytes);
    *count += insert ? 1 : (size_t)-1;
}

size_t mem_drop_taken(void *items, size_t *count, size_t taken, size_t bytes)
{
    enum { FEW = 1024 };
    assert(taken <= *count);
    if (taken < *count && (taken < FEW || taken < *count / 2))
        return taken;
    *count -= taken;
    if (*count)
        memmove(items, (char *)items + taken * bytes, *count * bytes);
    return 0;
}

int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void sort_u32(uint32_t *items, size_t count)
{
    if (count)
        qsort(items, count, sizeof *items, compare_u32);
}

void sort_u64(uint64_t *items, size_t count)
{
    if (count)
        qsort(items, count, sizeof *items, compare_u64);
}

/* Not zeroed. */
static void *arena_take(struct arena *arena, size_t bytes)
{
    assert(bytes <= SIZE_MAX - ARENA_BLOCK_BYTES);
    size_t need = (bytes + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
    struct arena_block *block = arena->head;
    if (!block || block->size - block->used < need) {
        size_t size = need > ARENA_BLOCK_BYTES ? need : ARENA_BLOCK_BYTES;
        block = mem_alloc(sizeof *block + size);
        *block = (struct arena_block){.size = size, .next = arena->head};
        arena->head = block;
    }
    void *piece = block->data + block->used;
    block->used += need;
    return piece;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
    return memset(arena_take(arena, bytes), 0, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_take(arena, length + 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_vprintf(struct arena *arena, const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    char *text = arena_take(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = arena_vprintf(arena, format, arguments);
    va_end(arguments);
    return text;
}

void arena_release(struct arena *arena)
{
    for (struct arena_block *block = arena->head, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    arena->head = NULL;
}
