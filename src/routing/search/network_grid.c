/* Gives the links of a network to the recogniser of grids, and tells tori from hypercubes.
 *
 * A ring of four switches is the same graph as two by two. Cabling tells which is meant: a link
 * along a ring leads from the port that goes up to the port that goes down, so both lines of two
 * use the same pair of port numbers; the dimensions of a hypercube or mesh have ports of their own.
 */
#include "routing/search/network_grid.h"

#include <string.h>

enum { PORT_SET_BYTES = 32 };

/* The dimension in which two neighbours differ. */
unsigned network_grid_dimension(const struct grid *grid, uint32_t a, uint32_t b)
{
    unsigned d = 0;
    while (d + 1 < grid->dimensions && grid_place(grid, a, d) == grid_place(grid, b, d))
        d++;
    return d;
}

static void join_rings(struct grid *grid, const struct network *network, unsigned most_rings)
{
    uint8_t ports[GRID_DIMENSIONS][PORT_SET_BYTES] = {{0}};
    unsigned rings = 0;
    for (uint32_t at = 0; at < grid->switch_count; at++)
        for (uint32_t e = network->first_edge[at]; e < network->first_edge[at + 1]; e++) {
            const struct network_edge *edge = &network->edges[e];
            ports[network_grid_dimension(grid, at, edge->to)][edge->port / 8] |=
                (uint8_t)(1 << edge->port % 8);
        }
    for (unsigned d = 0; d < grid->dimensions; d++)
        rings += grid->dimension[d].shape == GRID_RING;
    for (unsigned a = 0; a < grid->dimensions; a++)
        for (unsigned b = a + 1; b < grid->dimensions && rings < most_rings; b++)
            if (grid->dimension[a].size == 2 && grid->dimension[b].size == 2 &&
                memcmp(ports[a], ports[b], PORT_SET_BYTES) == 0) {
                grid_join_twos(grid, a, b);
                memmove(ports[b], ports[b + 1], (grid->dimensions - b) * sizeof ports[b]);
                rings++;
            }
}

int network_grid(struct grid *grid, const struct network *network, unsigned vls, struct err *err)
{
    uint32_t switches = (uint32_t)network->switches.count, edges = network->first_edge[switches];
    uint32_t *neighbour = mem_alloc((edges + 1) * sizeof *neighbour);
    struct simple simple;
    for (uint32_t e = 0; e < edges; e++)
        neighbour[e] = network->edges[e].to;
    simple_init(&simple, switches, network->first_edge, neighbour);
    int rc = grid_recognise(grid, &simple, err);
    if (!rc)
        join_rings(grid, network, 31 - (unsigned)__builtin_clz(vls));
    simple_release(&simple);
    mem_free(neighbour);
    return rc;
}
