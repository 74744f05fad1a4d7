/* Seeded random numbers: xoshiro256** (Blackman and Vigna), one stream per entity.
 *
 * Integer arithmetic only, so that a seed gives the same run on every machine and compiler. */
#ifndef WEFT_BASE_RNG_H
#define WEFT_BASE_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* Streams of the same seed are independent: give each entity its own number. */
void rng_seed(struct rng *rng, uint64_t seed, uint64_t stream);
uint64_t rng_next(struct rng *rng);
/* Uniform in 0 … bound-1, without bias; bound must not be 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);
/* Every order of the items is equally likely. */
void rng_shuffle(struct rng *rng, uint32_t *items, size_t count);
/* True with probability parts / 2^32. */
bool rng_chance(struct rng *rng, uint64_t parts);

#define RNG_CERTAIN (UINT64_C(1) << 32) /* parts of a sure event */

#endif
