/* The generator, seeded by SplitMix64 from seed and stream, and the draws that the simulator needs:
 * bounded integers by rejection, shuffles (Fisher-Yates) and events of a given probability. */
#include "base/rng.h"

#include "base/map.h"

#include <assert.h>

static uint64_t rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t x = hash_mix(seed) ^ hash_mix(stream * 0xd1342543de82ef95u + 1);
    for (int i = 0; i < 4; i++) {
        x += 0x9e3779b97f4a7c15u;
        rng->state[i] = hash_mix(x);
    }
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    assert(bound > 0);
    uint64_t floor = -bound % bound; /* 2^64 mod bound: values below it would bias the rest */
    uint64_t x;
    do
        x = rng_next(rng);
    while (x < floor);
    return x % bound;
}

void rng_shuffle(struct rng *rng, uint32_t *items, size_t count)
{
    for (size_t i = count; i > 1; i--) {
        size_t other = rng_below(rng, i);
        uint32_t item = items[i - 1];
        items[i - 1] = items[other];
        items[other] = item;
    }
}

bool rng_chance(struct rng *rng, uint64_t parts)
{
    assert(parts <= RNG_CERTAIN);
    return (rng_next(rng) >> 32) < parts;
}
