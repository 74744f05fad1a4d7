/* Files of permutations and traffic matrices.
 *
 * A permutation has lines "SENDER RECEIVER", a matrix "SENDER RECEIVER WEIGHT". Members are given
 * by number from 0, as in traces, or as NODE[:PORT] or the name of a virtual machine. A pair
 * without a line has weight 0, a sender without a line sends nothing. '#' starts a comment.
 *
 * The weights of a sender are the probabilities of its receivers. Its rate is proportional to their
 * sum: the sender with the largest sum has the rate or load of the statement. */
#ifndef WEFT_EXPERIMENT_SCENARIO_TRAFFIC_PAIRS_H
#define WEFT_EXPERIMENT_SCENARIO_TRAFFIC_PAIRS_H

#include "experiment/scenario/traffic_spec.h"

/* Fills traffic->pairs; the members must be known. */
int traffic_pairs_read(struct traffic *traffic, const struct traffic_spec_world *world,
                       const char *path, struct err *err);
/* Sets the mean interval of each sender by the sum of its weights. */
void traffic_pairs_scale(struct traffic *traffic);

#endif
