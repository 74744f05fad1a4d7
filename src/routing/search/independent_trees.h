/* Two trees to each switch whose paths meet only where they must.
 *
 * For a root switch, every other switch gets a path in a first and in a second tree. The two paths
 * share a switch only if it separates the source from the root, and a cable only if it is a bridge:
 * so for every source they are as disjoint as two paths can be. A. Itai and M. Rodeh, "The
 * multi-tree approach to reliability in distributed networks" (1988), build such trees for
 * biconnected networks from an st-numbering: one tree follows descending numbers to the root, the
 * other ascending numbers to a neighbour of the root. Here each biconnected block has its own
 * numbering, which begins at the switch that leads to the root. The numbering grows by ears, the
 * nearest switches and the shortest ears first, and each switch takes the shortest path that its
 * numbers allow, then the one with the least load. */
#ifndef WEFT_ROUTING_SEARCH_INDEPENDENT_TREES_H
#define WEFT_ROUTING_SEARCH_INDEPENDENT_TREES_H

#include "routing/model/network.h"

enum { INDEPENDENT_TREES = 2 };

struct independent_trees {
    const struct network *network;
    struct arena memory;
    uint32_t *reverse;                 /* by edge: the other direction */
    uint32_t *block;                   /* by edge */
    uint32_t *load[INDEPENDENT_TREES]; /* by edge: terminals that use it, added by the client */

    /* The result of independent_trees_grow(). */
    uint32_t root, count;
    uint32_t *order;                     /* switches that reach the root, which comes first */
    uint32_t *choice[INDEPENDENT_TREES]; /* by switch: the edge to follow; NETWORK_NONE: none */
    uint32_t *hops[INDEPENDENT_TREES];   /* by switch */
    uint64_t operations;

    /* Scratch. */
    uint32_t *next, *place, *queue, *members, *from, *seen;
    uint32_t stamp;
    uint8_t *placed;
};

void independent_trees_init(struct independent_trees *trees, const struct network *network);
void independent_trees_release(struct independent_trees *trees);
/* `variant` chooses the neighbour of the root at which its numbering ends: 0 is the one with the
 * least load, 1 its first cable and so on. */
void independent_trees_grow(struct independent_trees *trees, uint32_t root, uint32_t variant);
/* Adds the terminals of all switches to the edges that they use. */
void independent_trees_load(struct independent_trees *trees);

#endif
