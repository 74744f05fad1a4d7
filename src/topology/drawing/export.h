/* Formats of other programs (write only). */
#ifndef WEFT_TOPOLOGY_EXPORT_H
#define WEFT_TOPOLOGY_EXPORT_H

#include "topology/graph.h"

/* {"nodes": [...], "links": [...]}; a link names its ends by node key and port. */
void topology_write_json(const struct topology *topology, struct text *out);

/* Slurm's topology.conf for the tree plugin. */
void topology_write_slurm(const struct topology *topology, const struct graph *graph,
                          struct text *out);

/* A drawing for Graphviz; returns the program that lays it out ("dot", "neato" or "sfdp"). Up to
 * `host_limit` hosts are drawn one by one, more as a number in their switch. More than
 * `switch_limit` switches are drawn as groups, if the network has levels, or as points. With
 * `by_rooms`, NULL is returned if the names of the switches have no rooms (rooms.h). */
struct drawing_limits {
    uint32_t host_limit, switch_limit;
    bool by_rooms; /* by rooms whatever structure the network has; else only if it has none */
};
#define DRAWING_LIMITS ((struct drawing_limits){.host_limit = 80, .switch_limit = 160})
const char *topology_write_dot(const struct topology *topology, const struct graph *graph,
                               struct drawing_limits limits, struct text *out);

#endif
