/* Other people's formats, written only. */
#ifndef WEFT_TOPOLOGY_EXPORT_H
#define WEFT_TOPOLOGY_EXPORT_H

#include "topology/graph.h"

/* {"nodes": [...], "links": [...]}; a link names its ends by node key and port. */
void topology_write_json(const struct topology *topology, struct text *out);

/* Slurm's topology.conf for the tree plugin. */
void topology_write_slurm(const struct topology *topology, const struct graph *graph,
                          struct text *out);

/* A drawing in graphviz's language; returns the program that should lay it out ("dot", "neato" or
 * "sfdp"). Hosts are drawn one by one up to `host_limit` of them, else counted in their switch;
 * beyond `switch_limit` switches are folded into groups where levels allow it, or into dots. */
struct drawing_limits {
    uint32_t host_limit, switch_limit;
};
#define DRAWING_LIMITS ((struct drawing_limits){.host_limit = 80, .switch_limit = 160})
const char *topology_write_dot(const struct topology *topology, const struct graph *graph,
                               struct drawing_limits limits, struct text *out);

#endif
