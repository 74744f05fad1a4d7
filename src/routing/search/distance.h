/* Distances to 64 destination switches at a time.
 *
 * The paper's engines start here. Destinations are the switches in order of
 * index, cut into tiles of 64 lanes; every switch has one row of 64 distances in a tile. Inner
 * loops run over the lanes of a row, which compilers turn into vector instructions, or over the
 * bits of one word. Tiles do not depend on each other and may be computed side by side. */
#ifndef WEFT_ROUTING_SEARCH_DISTANCE_H
#define WEFT_ROUTING_SEARCH_DISTANCE_H

#include "routing/model/workers.h"
#include "routing/search/updown.h"

/* A row of lanes counts as eight operations: one for every vector of 128 bits. */
enum { TILE_LANES = 64, ROW_OPERATIONS = 8, HOPS_NONE = 0xFFFE };

struct distances {
    const struct network *network;
    const struct updown *updown;
    uint32_t switch_count;
    uint32_t first_tile, tile_count; /* those that are in memory now */
    uint32_t tile_limit;             /* how many fit */
    uint16_t *hops;                  /* [(tile * switch_count + switch) * TILE_LANES + lane] */
    uint64_t operations;             /* of all tiles computed so far */

    /* One word of lanes a switch: [tile * switch_count + switch]. */
    uint64_t *descends; /* the route goes down all the way */
    uint64_t *strays; /* no legal route; then `hops` counts from the nearest switch that has one */
    struct distance_gaps {
        uint64_t terminal_pairs; /* pairs of terminals without a legal route */
        uint64_t other_pairs;    /* the same for a terminal and a switch without terminals */
        uint32_t from, to;       /* the first of the terminal pairs: their switches */
    } * gaps;                    /* by tile */
};

void distances_init(struct distances *distances, const struct network *network,
                    const struct updown *updown, const struct workers *workers);
void distances_release(struct distances *distances);
/* Computes the tiles from first_tile on, as many as fit. */
void distances_compute(struct distances *distances, const struct workers *workers,
                       uint32_t first_tile);

static inline uint16_t *distances_row(const struct distances *distances, uint32_t tile, uint32_t at)
{
    return distances->hops + ((size_t)tile * distances->switch_count + at) * TILE_LANES;
}

#endif
