/* A network of switches without parallel links, for recognising its structure. */
#ifndef WEFT_TOPOLOGY_ANALYSIS_SIMPLE_H
#define WEFT_TOPOLOGY_ANALYSIS_SIMPLE_H

#include "topology/graph.h"

/* Neighbours ascend. A link has one number from both ends. */
struct simple {
    uint32_t count, link_count;
    uint32_t *first, *neighbour, *link;
    uint32_t degree_least, degree_most;
    uint32_t copies; /* links between two adjacent switches; 0 if that varies */
    struct arena memory;
};

/* `neighbour` has the rows of `count` switches, with the bounds `first_edge`. */
void simple_init(struct simple *simple, uint32_t count, const uint32_t *first_edge,
                 const uint32_t *neighbour);
void simple_release(struct simple *simple);
/* The number of a link, or TOPOLOGY_NONE. */
uint32_t simple_find_link(const struct simple *simple, uint32_t a, uint32_t b);
/* Numbers the parts that are connected by links of another kind than `without`; `kind` by link,
 * NULL: by all links. Returns their number. */
uint32_t simple_find_parts(const struct simple *simple, const uint32_t *kind, uint32_t without,
                           uint32_t *part);
/* Connected parts. */
uint32_t simple_count_parts(const struct simple *simple);

#endif
