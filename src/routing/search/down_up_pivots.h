/* Switches where packets of unroutable pairs turn from down to up again (see no_legal_route.c).
 *
 * Such turns are safe if all packets of a VL turn at the same place: take one switch at the bottom,
 * the pivot, and all switches from which a path leads down to it. Packets that go up outside of
 * these, come down among them, turn at any of them, go up again and come down elsewhere use
 * channels in this order, so there is no cycle. In a tree with one path down from each switch to
 * another, as in all fat trees, that serves every switch with a legal route to the pivot; so one VL
 * for each of a few pivots is enough. */
#ifndef WEFT_ROUTING_SEARCH_DOWN_UP_PIVOTS_H
#define WEFT_ROUTING_SEARCH_DOWN_UP_PIVOTS_H

#include "base/map.h"
#include "routing/model/network.h"

enum { DOWN_UP_PIVOTS_TOP = 7 };

struct down_up_pivots {
    unsigned count;
    uint64_t *above[DOWN_UP_PIVOTS_TOP]; /* bits by switch: the pivot and the switches above it */
};

/* By ranks, lower is up. Pivots that most roots lead down to come first; there is none if every
 * switch has another one below it. */
void down_up_pivots_choose(struct down_up_pivots *down_up_pivots, const struct network *network,
                           const uint32_t *rank);
void down_up_pivots_release(struct down_up_pivots *down_up_pivots);

static inline bool down_up_pivots_has(const struct down_up_pivots *down_up_pivots, unsigned index,
                                      uint32_t at)
{
    return bitset_has(down_up_pivots->above[index], at);
}

#endif
