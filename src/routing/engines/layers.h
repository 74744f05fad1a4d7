/* What layered engines share: routes are assigned to layers, and layers to VLs.
 *
 * A layer is a set of routes whose dependencies have no cycle (cdg.h). An engine needs as many VLs
 * as layers; VLs that are left over are shared out, because a part of a layer has no cycle either.
 *
 * layers_pairs_deal() assigns routes so that both directions of every pair share a layer. Whoever
 * answers a packet takes its service level, and connection managers agree on one level for both
 * ways. So the unit is a pair of switches, with all routes from either to the LIDs at the other:
 * the level is a property of the unordered pair, and what was proved for the way there holds for
 * the way back. It takes more layers than routes by themselves, since two (or, with several
 * terminals at a switch, many) routes have to fit at once. */
#ifndef WEFT_ROUTING_ENGINES_LAYERS_H
#define WEFT_ROUTING_ENGINES_LAYERS_H

#include "routing/cdg/cdg.h"
#include "routing/engine/engine.h"

/* The VLs that the routes of a layer are spread over. */
struct layers_share {
    unsigned first, count;
};
/* Every layer gets a VL; of those that are left each goes where a VL has the most weight. */
void layers_share(struct layers_share *share, const uint64_t *weight, unsigned layers,
                  unsigned lanes);
/* The VL of a share with the least load. */
static inline unsigned layers_lightest(const struct layers_share *share, const uint64_t *load)
{
    unsigned best = share->first;
    for (unsigned lane = share->first + 1; lane < share->first + share->count; lane++)
        best = load[lane] < load[best] ? lane : best;
    return best;
}

/* "dfsssp: needs 9 lanes, has 8"; more than ENGINE_VLS_MAX means that nobody counted. */
int layers_refusal(const char *engine, unsigned layers, unsigned lanes, struct err *err);
/* Notes in the routes how many VLs they use, and why. */
void layers_describe(struct routes *routes, unsigned layers, unsigned lanes);
/* And that a pair's two directions may differ in them. */
void layers_describe_one_way(struct routes *routes);

struct layers_pairs {
    const struct network *network;
    struct routes *routes;
    struct cdg *cdg;   /* the first of them is the one that is being filled */
    uint8_t *level;    /* [a * switches + b], a <= b: the pair's layer */
    uint8_t *distance; /* as `level`: hops; 0 if there are no cables */
    unsigned farthest;
    uint64_t weight[ENGINE_VLS_MAX]; /* by layer: pairs of terminals */
};

/* The routes may change later on. */
void layers_pairs_init(struct layers_pairs *pairs, struct cdg *cdg, struct routes *routes);
void layers_pairs_release(struct layers_pairs *pairs);

/* Notes that a pair is in a layer. */
void layers_pairs_set(struct layers_pairs *pairs, uint32_t a, uint32_t b, unsigned layer);
/* Deals all pairs out to at most `limit` layers. Returns how many it takes; more than the limit if
 * pairs are left over. The tables must have no loops. Pairs without terminals at either end are not
 * dealt out: what switches say to each other does not count as traffic. */
unsigned layers_pairs_deal(struct layers_pairs *pairs, unsigned limit);
/* Spreads the layers over the lanes, pair by pair, writes the service levels, and notes in the
 * routes that they hold for both directions. Once, at the end. A single layer need not have been
 * dealt out: all pairs are on it. */
void layers_pairs_spread(struct layers_pairs *pairs, unsigned layers, unsigned lanes);

#endif
