/* How good tables are for traffic.
 *
 * Effective bisection bandwidth (Hoefler, Schneider and Lumsdaine, "Multistage switches are not
 * crossbars", 2008): all terminals are paired at random and both of each pair send to the other; a
 * flow gets the share of the busiest link on its way that one over the number of flows there is;
 * the mean over all flows is the bandwidth of this pairing, as a part of full bandwidth. Given are
 * mean and fifth percentile over many pairings from a seed.
 *
 * Shift permutations: terminal i sends to terminal i + s, for every s, with terminals in the order
 * that is given (that of a tree's leaves: tree_shift_order() in search/tree.h), else of LIDs. A
 * link with one flow has no contention.
 *
 * Hops are compared with the fewest that any tables could give. All are computed, not simulated:
 * lanes, packets and arbitration play no part. Flows that are not delivered have no bandwidth. */
#ifndef WEFT_ROUTING_CHECK_QUALITY_H
#define WEFT_ROUTING_CHECK_QUALITY_H

#include "routing/model/routes.h"
#include "routing/model/workers.h"

struct quality_options {
    uint64_t seed;
    uint32_t pairings;     /* how many; 0: none */
    uint32_t shifts;       /* at most so many, evenly chosen; 0: none */
    const uint32_t *order; /* all terminals, as shifts number them; NULL: by LID */
    const struct workers *workers;
};

struct quality {
    double bandwidth_mean, bandwidth_low; /* of pairings: 1 is full; the 5th percentile */
    uint32_t shifts;                      /* tried */
    uint32_t shift_load_max;              /* most flows on one link in any of them */
    double shift_load_mean;               /* the same, mean over the shifts */
    uint64_t pairs;                       /* of terminals that are delivered */
    uint64_t hops_sum, hops_least_sum;    /* over these; counted as verify.h counts them */
    uint32_t hops_over_max;               /* most hops above the fewest of one pair */
};

void quality_measure(const struct network *network, const struct routes *routes,
                     const struct quality_options *options, struct quality *quality);

#endif
