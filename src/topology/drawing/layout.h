/* Positions of the switches in drawings of direct networks.
 *
 * Each layout recognises its structure in the graph alone, so that it works with any names and any
 * order of the switches. Positions are in inches; `box` is the size of the largest label. */
#ifndef WEFT_TOPOLOGY_LAYOUT_H
#define WEFT_TOPOLOGY_LAYOUT_H

#include "topology/graph.h"

struct layout_point {
    double x, y;
};

/* Mesh, torus, hypercube and HyperX: rows and columns, further dimensions along a diagonal. False:
 * the network is no grid of two or more dimensions. layout_grid.c */
bool layout_grid(const struct graph *graph, struct layout_point box, struct layout_point *places);

/* Dragonfly: groups on a ring, the switches of a group on a smaller ring. False: the network has no
 * such groups. layout_ring.c */
bool layout_dragonfly(const struct graph *graph, struct layout_point box,
                      struct layout_point *places);
/* All switches on one ring, in the order of the links if the network is a ring, else in file order.
 * layout_ring.c */
void layout_ring(const struct graph *graph, struct layout_point box, struct layout_point *places);

#endif
