/* Hash maps from a 64-bit key or a string to a 32-bit index.
 *
 * Open addressing, linear probing, power-of-two sizes. No code
 * iterates over a map, so that no result depends on hash order. Removal shifts the following run
 * back instead of leaving tombstones. */
#ifndef WEFT_BASE_MAP_H
#define WEFT_BASE_MAP_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MAP_NONE UINT32_MAX /* not a value that a map can hold */

struct map_slot {
    uint64_t key;
    uint32_t value;
};
struct map {
    struct map_slot *slots;
    size_t count, size;
};

uint32_t map_get(const struct map *map, uint64_t key); /* MAP_NONE if absent */
/* Adds the key unless it is present; returns its value. */
uint32_t map_add(struct map *map, uint64_t key, uint32_t value);
void map_set(struct map *map, uint64_t key, uint32_t value);
bool map_remove(struct map *map, uint64_t key);
void map_release(struct map *map);

/* A map from strings. It does not copy the keys: they must outlive the map. */
struct name_map {
    struct name_slot {
        const char *name;
        uint32_t value;
    } * slots;
    size_t count, size;
};
uint32_t name_map_get(const struct name_map *map, const char *name);
uint32_t name_map_add(struct name_map *map, const char *name, uint32_t value);
void name_map_release(struct name_map *map);

/* A good 64-bit mixer (the finaliser of SplitMix64), for hashes and seeds. */
static inline uint64_t hash_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline uint64_t hash_fnv1a(const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Faster; `count` must be a multiple of eight. */
static inline uint64_t hash_bytes(uint64_t hash, const uint8_t *bytes, size_t count)
{
    uint64_t word;
    assert(count % sizeof word == 0);
    for (size_t i = 0; i < count; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        hash = hash_mix(hash ^ word) + i;
    }
    return hash;
}

/* ---- sets of bits over dense indices; the caller owns the words ---- */

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
