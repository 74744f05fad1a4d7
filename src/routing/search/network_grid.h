/* The coordinates of a network's switches in a grid (topology/analysis/grid.h). */
#ifndef WEFT_ROUTING_SEARCH_NETWORK_GRID_H
#define WEFT_ROUTING_SEARCH_NETWORK_GRID_H

#include "routing/model/network.h"
#include "topology/analysis/grid.h"

/* As grid_recognise(), with rings of four where the ports of cables tell that they are meant, as
 * long as there are two VLs for each ring (`vls`: at least 1). */
int network_grid(struct grid *grid, const struct network *network, unsigned vls, struct err *err);
/* The dimension in which two neighbours differ. */
unsigned network_grid_dimension(const struct grid *grid, uint32_t a, uint32_t b);

#endif
