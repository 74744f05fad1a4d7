#include "base/sort.h"

#include <stdlib.h>

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
