/* Coordinates: is the network a grid, and where in it is each switch?
 *
 * A grid here is any product of lines, rings and full meshes: meshes, tori, hypercubes, HyperX and
 * mixtures, with parallel links or not. Links may be missing, as long as the rest determines the
 * dimensions. A ring of four is recognised as the product of two lines of two; grid_join_twos()
 * makes a ring of them. */
#ifndef WEFT_TOPOLOGY_ANALYSIS_GRID_H
#define WEFT_TOPOLOGY_ANALYSIS_GRID_H

#include "topology/analysis/simple.h"

enum { GRID_DIMENSIONS = 16 };
enum grid_shape { GRID_LINE, GRID_RING, GRID_FULL };

struct grid {
    uint32_t switch_count;
    unsigned dimensions;
    struct grid_dimension {
        enum grid_shape shape;
        uint32_t size;
    } dimension[GRID_DIMENSIONS];
    uint32_t *place; /* [switch * dimensions + dimension] */
    char name[80];   /* "torus 8x8x8", … */
};

/* -EMEDIUMTYPE, with the reason, if it is none. */
int grid_recognise(struct grid *grid, const struct simple *simple, struct err *err);
/* Whether neither switches nor links are missing. */
bool grid_is_complete(const struct grid *grid, const struct simple *simple);
/* Makes a ring of four of two dimensions of size two, a < b; it takes the place of a. */
void grid_join_twos(struct grid *grid, unsigned a, unsigned b);
void grid_release(struct grid *grid);

static inline uint32_t grid_place(const struct grid *grid, uint32_t at, unsigned dimension)
{
    return grid->place[(size_t)at * grid->dimensions + dimension];
}

#endif
