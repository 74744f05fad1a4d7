/* The switches of a fabric as a graph in compressed rows, for algorithms.
 *
 * Switches are numbered densely, in file order. Each switch has a row of edges, one for each port
 * that leads to another switch, in port order; parallel links are edges of their own, and each link
 * is in two rows. End nodes are not vertices: each switch has a row of the adapter and router ports
 * attached to it, in port order. Cables from a switch to itself and between two adapters are left
 * out. The arrays do not change once built. */
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
    uint8_t *host_port;   /* the port of the switch to which it is attached */
    struct arena memory;  /* of the arrays */
};

void graph_init(struct graph *graph, const struct topology *topology);
void graph_release(struct graph *graph);

#define GRAPH_FAR UINT32_MAX /* the distance of unreachable switches */

/* Hops from a set of switches, by breadth-first search. `queue` has room for all switches; it
 * receives the reachable ones in the order of the search. Returns their number. */
uint32_t graph_distances(const struct graph *graph, const uint32_t *sources, uint32_t source_count,
                         uint32_t *distance, uint32_t *queue);

/* Numbers the connected components of the switches whose level is below `end` (`level` NULL: of
 * all), in the order of their first switches; the others get TOPOLOGY_NONE. Returns the number of
 * components. */
uint32_t graph_components(const struct graph *graph, const uint32_t *level, uint32_t end,
                          uint32_t *part);

#endif
