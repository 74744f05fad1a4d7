/* The switches of a fabric as a graph in compressed rows, for algorithms.
 *
 * Switches are numbered densely, in file order. Each switch has a row of edges, one for each port
 * that leads to another switch, in port order; parallel links are edges of their own, and each link
 * is in two rows. End nodes are not vertices but hang on their switch: a row of the adapter and
 * router ports attached to it, in port order, because the end point of every algorithm is a port.
 * Cables from a switch to itself and between two adapters are left out.
 *
 * The arrays are read-only once built; algorithms keep their scratch beside them. */
#ifndef WEFT_TOPOLOGY_GRAPH_H
#define WEFT_TOPOLOGY_GRAPH_H

#include "topology/topology.h"

struct graph {
    uint32_t switch_count;
    uint32_t edge_count; /* twice the links between switches */
    uint32_t host_count; /* attached end ports */
    uint32_t *node;      /* by switch: its node in the topology */
    uint32_t *switch_of; /* by node: its switch, or TOPOLOGY_NONE */

    uint32_t *first_edge; /* by switch, and the end of the last row */
    uint32_t *neighbour;  /* by edge: the switch it leads to */
    uint8_t *port;        /* by edge: the port it leaves by */
    uint8_t *peer_port;   /* by edge: the port it arrives at */

    uint32_t *first_host; /* by switch, and the end of the last row */
    uint32_t *host;       /* the end port, as an index of the topology's ports */
    uint8_t *host_port;   /* the switch's port that it hangs on */
    struct arena memory;  /* of all of these */
};

void graph_init(struct graph *graph, const struct topology *topology);
void graph_release(struct graph *graph);

#define GRAPH_FAR UINT32_MAX /* the distance of what cannot be reached */

/* Hops from a set of switches, breadth first. `queue` has room for all switches; the switches
 * reached are left in it in the order of reaching. Returns how many they are. */
uint32_t graph_distances(const struct graph *graph, const uint32_t *sources, uint32_t source_count,
                         uint32_t *distance, uint32_t *queue);

/* Numbers the connected parts of the switches whose level is below `end` (`level` NULL: of all), in
 * the order of their first switches; the others are in part TOPOLOGY_NONE. Returns how many there
 * are. */
uint32_t graph_parts(const struct graph *graph, const uint32_t *level, uint32_t end,
                     uint32_t *part);

#endif
