/* A switch and two adapters, for targets that need a fabric. */
#ifndef WEFT_FUZZ_SMALL_FABRIC_H
#define WEFT_FUZZ_SMALL_FABRIC_H

#include "topology/topology.h"

enum { S, A, B };

/* Made once: no input changes it. */
static inline const struct topology *small_topology(void)
{
    static struct topology topology;
    if (topology.nodes.count)
        return &topology;
    topology_init(&topology);
    topology_add_node(&topology, NODE_SWITCH, "S", 4, 0, NULL, NULL);
    topology_add_node(&topology, NODE_ADAPTER, "A", 2, 0, NULL, NULL);
    topology_add_node(&topology, NODE_ADAPTER, "B", 1, 0, NULL, NULL);
    topology_link(&topology, topology_port_index(&topology, A, 1),
                  topology_port_index(&topology, S, 1), NULL);
    topology_link(&topology, topology_port_index(&topology, B, 1),
                  topology_port_index(&topology, S, 2), NULL);
    return &topology;
}

#endif
