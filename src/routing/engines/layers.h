/* Shared by layered engines: routes are assigned to layers, and layers to VLs.
 *
 * A layer is a set of routes whose dependencies have no cycle (cdg.h). An engine needs as many VLs
 * as layers; spare VLs are divided among the layers, because a part of a layer has no cycle either.
 *
 * layers_pairs_deal() assigns routes so that both directions of every pair share a layer. A reply
 * to a packet uses its SL, and connection managers agree on one SL for both directions. So the unit
 * is a pair of switches, with all routes from either to the LIDs at the other: the level is a
 * property of the unordered pair, and the proof holds for both directions. It takes more layers
 * than single routes, since two (or, with several terminals at a switch, many) routes have to fit
 * at once. */
#ifndef WEFT_ROUTING_ENGINES_LAYERS_H
#define WEFT_ROUTING_ENGINES_LAYERS_H

#include "routing/cdg/cdg.h"
#include "routing/engine/engine.h"

/* The VLs that the routes of a layer are spread over. */
struct layers_share {
    unsigned first, count;
};
/* Every layer gets a VL; each VL that is left goes to the layer with the most weight per VL. */
void layers_share(struct layers_share *share, const uint64_t *weight, unsigned layers,
                  unsigned vls);
/* The VL of a share with the least load. */
static inline unsigned layers_lightest(const struct layers_share *share, const uint64_t *load)
{
    unsigned best = share->first;
    for (unsigned vl = share->first + 1; vl < share->first + share->count; vl++)
        best = load[vl] < load[best] ? vl : best;
    return best;
}

/* "dfsssp: needs 9 VLs, has 8"; above ENGINE_VLS_MAX the number is not exact. */
int layers_refusal(const char *engine, unsigned layers, unsigned vls, struct err *err);
/* Adds to the note how many VLs the routes use, and why. */
void layers_describe(struct routes *routes, unsigned layers, unsigned vls);
/* Adds to the note that a pair's two directions may have different VLs. */
void layers_describe_one_way(struct routes *routes);

struct layers_pairs {
    const struct network *network;
    struct routes *routes;
    struct cdg *cdg;   /* its first layer is the one that is filled */
    uint8_t *level;    /* [a * switches + b], a <= b: the pair's layer */
    uint8_t *distance; /* as `level`: hops; 0 if there are no cables */
    unsigned farthest;
    uint64_t weight[ENGINE_VLS_MAX]; /* by layer: pairs of terminals */
};

/* `routes` may be filled later. */
void layers_pairs_init(struct layers_pairs *pairs, struct cdg *cdg, struct routes *routes);
void layers_pairs_release(struct layers_pairs *pairs);

/* Stores the layer of a pair. */
void layers_pairs_set(struct layers_pairs *pairs, uint32_t a, uint32_t b, unsigned layer);
/* Assigns all pairs to at most `limit` layers. Returns how many it takes; more than the limit if
 * pairs are left over. The tables must have no loops. Pairs without terminals at either end are not
 * assigned: packets between switches are management. */
unsigned layers_pairs_deal(struct layers_pairs *pairs, unsigned limit);
/* Spreads the layers over the VLs, pair by pair, writes the service levels, and marks the routes as
 * reversible. Called once, at the end. A single layer need not have been assigned: all pairs are on
 * it. */
void layers_pairs_spread(struct layers_pairs *pairs, unsigned layers, unsigned vls);

#endif
