/* Where strays turn from down to up again (strays.c says what strays are).
 *
 * A packet may turn so without harm as long as all do it at the same place: take one switch at the
 * bottom, the turnabout, and all from which a way leads down to it. Packets that climb outside of
 * these, come down among them, turn at any of them, climb away from them and come down elsewhere
 * use channels in this order, and none twice: nobody waits for himself. In a tree where from each
 * switch there is one way down to another, as in all fat trees, that serves everybody who has a
 * legal route to the turnabout; so a lane for each of a few of them is enough. */
#ifndef WEFT_ROUTING_SEARCH_TURNABOUTS_H
#define WEFT_ROUTING_SEARCH_TURNABOUTS_H

#include "base/bitset.h"
#include "routing/model/network.h"

enum { TURNABOUTS_TOP = 7 };

struct turnabouts {
    unsigned count;
    uint64_t *above[TURNABOUTS_TOP]; /* bits by switch: the turnabout and those above it */
};

/* By ranks, lower is up. The first are those that most roots lead down to; none if every switch has
 * somebody below. */
void turnabouts_choose(struct turnabouts *turnabouts, const struct network *network,
                       const uint32_t *rank);
void turnabouts_release(struct turnabouts *turnabouts);

static inline bool turnabouts_has(const struct turnabouts *turnabouts, unsigned index, uint32_t at)
{
    return bitset_has(turnabouts->above[index], at);
}

#endif
