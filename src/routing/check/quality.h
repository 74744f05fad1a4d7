/* How good tables are for traffic.
 *
 * Effective bisection bandwidth (Hoefler, Schneider and Lumsdaine, "Multistage switches are not
 * crossbars", 2008): all terminals are paired at random and both of each pair send to the other; a
 * flow gets 1/n of the bandwidth of the busiest link on its path, which carries n flows; the mean
 * over all flows is the bandwidth of this pairing, as a part of full bandwidth. The result is the
 * mean and the fifth percentile over many pairings from a seed.
 *
 * Shift permutations: terminal i sends to terminal i + s, for every s, with terminals in the order
 * that is given (that of a tree's leaves: tree_shift_order() in search/tree.h), else of LIDs. A
 * link with one flow has no contention.
 *
 * Hops are compared with those of shortest paths. All figures are computed, not simulated: VLs,
 * packets and arbitration do not count. Flows that are not delivered have no bandwidth. */
#ifndef WEFT_ROUTING_CHECK_QUALITY_H
#define WEFT_ROUTING_CHECK_QUALITY_H

#include "base/workers.h"
#include "routing/model/routes.h"

struct quality_options {
    uint64_t seed;
    uint32_t pairings;     /* how many; 0: none */
    uint32_t shifts;       /* at most this many, evenly spaced; 0: none */
    const uint32_t *order; /* all terminals, as shifts number them; NULL: by LID */
    const struct workers *workers;
};

struct quality {
    double bandwidth_mean, bandwidth_low; /* of pairings: 1 is full; the 5th percentile */
    uint32_t shifts;                      /* tried */
    uint32_t shift_load_max;              /* most flows on one link in any of them */
    double shift_load_mean;               /* mean over the shifts of the most flows on one link */
    uint64_t pairs;                       /* of terminals that are delivered */
    uint64_t hops_sum, hops_least_sum;    /* over these; counted as verify.h counts them */
    uint32_t hops_over_max;               /* most hops above the fewest of one pair */
};

void quality_measure(const struct network *network, const struct routes *routes,
                     const struct quality_options *options, struct quality *quality);

#endif
