/* Gives the links of a network to the recogniser of grids. */
#include "routing/search/network_grid.h"

int network_grid(struct grid *grid, const struct network *network, struct err *err)
{
    uint32_t switches = (uint32_t)network->switches.count, edges = network->first_edge[switches];
    uint32_t *neighbour = mem_alloc((edges + 1) * sizeof *neighbour);
    struct simple simple;
    for (uint32_t e = 0; e < edges; e++)
        neighbour[e] = network->edges[e].to;
    simple_init(&simple, switches, network->first_edge, neighbour);
    int rc = grid_recognise(grid, &simple, err);
    simple_release(&simple);
    mem_free(neighbour);
    return rc;
}
