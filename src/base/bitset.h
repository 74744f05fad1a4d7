/* Fixed-size bit sets over dense indices; the caller owns the words. */
#ifndef WEFT_BASE_BITSET_H
#define WEFT_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BITSET_WORDS(bits) (((bits) + 63) / 64)

static inline bool bitset_has(const uint64_t *words, size_t bit)
{
    return words[bit / 64] >> (bit % 64) & 1;
}

static inline void bitset_add(uint64_t *words, size_t bit)
{
    words[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static inline void bitset_drop(uint64_t *words, size_t bit)
{
    words[bit / 64] &= ~(UINT64_C(1) << (bit % 64));
}

#endif
