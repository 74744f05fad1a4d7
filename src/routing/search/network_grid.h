/* The coordinates of a network's switches in a grid (topology/analysis/grid.h). */
#ifndef WEFT_ROUTING_SEARCH_NETWORK_GRID_H
#define WEFT_ROUTING_SEARCH_NETWORK_GRID_H

#include "routing/model/network.h"
#include "topology/analysis/grid.h"

/* As grid_recognise(). */
int network_grid(struct grid *grid, const struct network *network, struct err *err);

#endif
