/* Formats of other programs (write only). */
#ifndef WEFT_TOPOLOGY_EXPORT_H
#define WEFT_TOPOLOGY_EXPORT_H

#include "topology/graph.h"

/* {"nodes": [...], "links": [...]}; a link names its ends by node key and port. */
void topology_write_json(const struct topology *topology, struct text *out);

/* Slurm's topology.conf for the tree plugin. */
void topology_write_slurm(const struct topology *topology, const struct graph *graph,
                          struct text *out);

/* A picture, as SVG or for Graphviz. Up to `host_limit` hosts are drawn one by one, more as a
 * number in their switch. More than `switch_limit` switches are drawn as groups, if the network has
 * levels, or as points. Names are hover titles of the SVG; there are no ids, so that several can be
 * in a page. False: `by_rooms`, and the names of the switches have no rooms (rooms.h). */
struct drawing_limits {
    uint32_t host_limit, switch_limit;
    bool by_rooms; /* by rooms whatever structure the network has; else only if it has none */
    const bool *nodes, *ports; /* marked with data-touched="yes"; may be NULL */
};
#define DRAWING_LIMITS ((struct drawing_limits){.host_limit = 80, .switch_limit = 160})
enum drawing_format { DRAWING_SVG, DRAWING_DOT };
bool topology_draw(const struct topology *topology, const struct graph *graph,
                   struct drawing_limits limits, enum drawing_format format, struct text *out);

#endif
