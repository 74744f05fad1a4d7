/* What two pairs of paths share.
 *
 * A pair of paths connects two end points in both directions. A failed cable or switch ends it if
 * either direction passes it. The overlap of two pairs is what ends both: an alternate path is the
 * better the less it shares with the primary one. Cables count with those of terminals; switches
 * count except those at which both pairs begin or end. */
#ifndef WEFT_ROUTING_CHECK_OVERLAP_H
#define WEFT_ROUTING_CHECK_OVERLAP_H

#include "routing/model/routes.h"

/* lids[i] is a LID of ends[i]: packets of either end go to the LID of the other one. */
struct route_pair {
    uint32_t ends[2];
    uint16_t lids[2];
};

struct route_overlap {
    uint32_t cables, switches;
    uint32_t hops; /* of the second pair, in both directions */
    bool delivers; /* the second pair, in both directions */
};
/* Every overlap of a pair that delivers is less. */
#define ROUTE_OVERLAP_NONE ((struct route_overlap){UINT32_MAX, UINT32_MAX, UINT32_MAX, false})

/* Of a primary pair that does not deliver, the part that packets pass counts. */
struct route_overlap route_pairs_overlap(const struct network *network, const struct routes *routes,
                                         const struct route_pair *primary,
                                         const struct route_pair *second);
/* By cables, then by switches, then by hops. */
bool route_overlap_less(const struct route_overlap *a, const struct route_overlap *b);

#endif
