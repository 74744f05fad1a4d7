/* Tables laid over lanes so that both directions of every pair share one.
 *
 * Whoever answers a packet takes its service level, and connection managers agree on one level for
 * both ways. Here the unit that goes to a layer is a pair of switches, with all routes from either
 * to the LIDs at the other: the level is a property of the unordered pair, and what was proved for
 * the way there holds for the way back. It takes more layers than routes by themselves, since two
 * (or, with several terminals at a switch, many) routes have to fit at once. */
#ifndef WEFT_ROUTING_ENGINES_LAYERS_PAIRS_H
#define WEFT_ROUTING_ENGINES_LAYERS_PAIRS_H

#include "routing/cdg/layers.h"

struct layers_pairs {
    const struct network *network;
    struct routes *routes;
    struct layers *layers; /* the first of them is the one that is being filled */
    uint8_t *level;        /* [a * switches + b], a <= b: the pair's layer */
    uint8_t *distance;     /* as `level`: hops; 0 if there are no cables */
    unsigned farthest;
    uint64_t weight[LAYERS_LIMIT]; /* by layer: pairs of terminals */
};

/* The routes may change later on. */
void layers_pairs_init(struct layers_pairs *pairs, struct layers *layers, struct routes *routes);
void layers_pairs_release(struct layers_pairs *pairs);

/* Deals all pairs out to at most `limit` layers. Returns how many it takes; more than the limit if
 * pairs are left over. The tables must have no loops. Pairs without terminals at either end are not
 * dealt out: what switches say to each other does not count as traffic. */
unsigned layers_pairs_deal(struct layers_pairs *pairs, unsigned limit);
/* Spreads the layers over the lanes, pair by pair, writes the service levels, and notes in the
 * routes that they hold for both directions. Once, at the end. A single layer need not have been
 * dealt out: all pairs are on it. */
void layers_pairs_spread(struct layers_pairs *pairs, unsigned layers, unsigned lanes);

#endif
