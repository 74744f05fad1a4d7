/* Shared by the files of traffic: destinations (patterns.c) and times (arrivals.c) of packets. */
#ifndef WEFT_FABRIC_TRAFFIC_INTERNAL_H
#define WEFT_FABRIC_TRAFFIC_INTERNAL_H

#include "fabric/traffic/traffic.h"

/* Senders and receivers must be one list: the pattern is a mapping of its members. */
bool pattern_maps_members(enum traffic_pattern pattern);
/* Initialises the pattern fields of a source; false if this sender has no receiver. */
bool pattern_prepare(const struct traffic *traffic, struct traffic_source *source);
uint32_t pattern_draw_receiver(const struct traffic *traffic, struct traffic_source *source);

/* Advances source->time to the next packet; TIME_NEVER if 64 bits do not hold it. */
void arrival_draw_time(const struct traffic *traffic, struct traffic_source *source);

/* An interval of the density, with this mean. */
uint64_t density_draw(const struct traffic *traffic, struct rng *rng, uint64_t mean);

/* rng_below() for small bounds, without its two divisions (Lemire, "Fast random integer generation
 * in an interval", 2019): the upper half of a 64-bit product, drawn again in the rare case that
 * would bias it. */
static inline uint32_t draw_below(struct rng *rng, uint32_t bound)
{
    uint64_t product = (rng_next(rng) >> 32) * bound;
    if ((uint32_t)product < bound) {
        uint32_t floor = -bound % bound;
        while ((uint32_t)product < floor)
            product = (rng_next(rng) >> 32) * bound;
    }
    return (uint32_t)(product >> 32);
}

#endif
