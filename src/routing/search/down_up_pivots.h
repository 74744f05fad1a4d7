/* Where strays turn from down to up again (no_legal_route.c says what strays are).
 *
 * A packet may turn so without harm as long as all do it at the same place: take one switch at the
 * bottom, the turnabout, and all from which a way leads down to it. Packets that climb outside of
 * these, come down among them, turn at any of them, climb away from them and come down elsewhere
 * use channels in this order, and none twice: nobody waits for himself. In a tree where from each
 * switch there is one way down to another, as in all fat trees, that serves everybody who has a
 * legal route to the turnabout; so a lane for each of a few of them is enough. */
#ifndef WEFT_ROUTING_SEARCH_DOWN_UP_PIVOTS_H
#define WEFT_ROUTING_SEARCH_DOWN_UP_PIVOTS_H

#include "base/bitset.h"
#include "routing/model/network.h"

enum { DOWN_UP_PIVOTS_TOP = 7 };

struct down_up_pivots {
    unsigned count;
    uint64_t *above[DOWN_UP_PIVOTS_TOP]; /* bits by switch: the turnabout and those above it */
};

/* By ranks, lower is up. The first are those that most roots lead down to; none if every switch has
 * somebody below. */
void down_up_pivots_choose(struct down_up_pivots *down_up_pivots, const struct network *network,
                           const uint32_t *rank);
void down_up_pivots_release(struct down_up_pivots *down_up_pivots);

static inline bool down_up_pivots_has(const struct down_up_pivots *down_up_pivots, unsigned index,
                                      uint32_t at)
{
    return bitset_has(down_up_pivots->above[index], at);
}

#endif
