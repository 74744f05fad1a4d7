/* For multicast.c: directions, distances and the shared tree that its trees are made of. */
#ifndef WEFT_ROUTING_MULTICAST_MULTICAST_BASE_H
#define WEFT_ROUTING_MULTICAST_MULTICAST_BASE_H

#include "routing/cdg/cdg.h"
#include "routing/multicast/multicast.h"

enum { MULTICAST_BASE_FAR = 0xFFFF };

struct multicast_base {
    const struct network *network;
    const struct routes *routes; /* NULL: no unicast on this VL */
    struct arena memory;
    unsigned vl;
    bool *usable;
    bool ordered; /* unicast and all turns of the rank's order have no cycle together */
    uint32_t *rank;
    uint16_t **climbs;  /* by switch, made on first use: see multicast_base_climb() */
    struct cdg cdg;     /* has a layer while a graph is needed */
    uint64_t *turns;    /* the dependencies of unicast, a set of cdg.h */
    bool shared_made;   /* the shared tree: */
    uint32_t *parent;   /* by switch; NETWORK_NONE: the top of its piece, or in none */
    uint8_t *up, *down; /* by switch: its port to the parent, and the parent's to it */
    uint32_t *piece;    /* by switch: number; NETWORK_NONE: cannot be used */
    uint32_t piece_count;
    VEC(uint32_t) order; /* switches, parents first */
    struct multicast_base_scratch {
        uint32_t *weight, *count, *sum, *depth, *queue; /* by switch */
        uint16_t *masks;                                /* [switch * positions + position] */
        VEC(uint32_t) places;                           /* switches with members */
        VEC(uint32_t) touched;                          /* switches with masks */
    } scratch;
};

/* By switch: links down from it to `to`; MULTICAST_BASE_FAR: `to` is not below it. */
const uint16_t *multicast_base_climb(struct multicast_base *base, uint32_t to);
/* Finds the switches below a root: fills the scratch `depth` and `queue`, breadth first. Returns
 * their number. */
uint32_t multicast_base_descend(struct multicast_base *base, uint32_t root);
/* Makes the shared tree, unless it exists. */
void multicast_base_share(struct multicast_base *base);

#endif
