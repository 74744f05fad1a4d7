/* Inside the drawing code: where the boxes of a network with levels go. Not for other folders. */
#ifndef WEFT_TOPOLOGY_DRAW_H
#define WEFT_TOPOLOGY_DRAW_H

#include "topology/graph.h"

/* Appends positions for all switches ("s3") and, if wanted, hosts ("h17", by node). */
void drawing_place_rows(const struct topology *topology, const struct graph *graph,
                        const uint32_t *level, uint32_t level_count, bool hosts, struct text *out);

#endif
