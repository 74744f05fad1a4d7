/* Arrays of numbers in ascending order. */
#ifndef WEFT_BASE_SORT_H
#define WEFT_BASE_SORT_H

#include <stddef.h>
#include <stdint.h>

/* For qsort() and bsearch(). */
int compare_u32(const void *a, const void *b);

/* The array may be NULL if it is empty. */
void sort_u32(uint32_t *items, size_t count);
void sort_u64(uint64_t *items, size_t count);

#endif
