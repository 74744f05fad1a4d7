/* The option `disjoint`: routes to the LIDs of a port that share as little as the cables permit.
 *
 * An engine balances the LIDs of a port over its own routes: on trees they are disjoint, elsewhere
 * shortest or up*-down* routes mostly are not. For each switch whose terminals do worse than two
 * independent trees (independent_trees.h), these trees become the routes to two of their LIDs: with
 * LMC 1 to both, with more LIDs to the second and the third one, so that the first keeps the routes
 * of the engine.
 *
 * A failure ends a connection's path if it hits either direction. In networks of up to 128 switches
 * the trees of each switch are therefore chosen, among those that end at each of its neighbours, so
 * that as many others as possible have trees back to it that share nothing with them.
 *
 * The trees ignore the directions of the engine. Their routes are assigned to VLs one pair of
 * switches after the other, in dependency graphs that contain all routes of the engine: a route
 * enters the first VL in which it closes no cycle. Both directions of a pair take one VL where
 * there is one for both; if some routes then fit into no VL, each route is assigned alone, which
 * takes fewer VLs. Where a route still fits into none, the LID of its destination keeps the
 * engine's routes. */
#ifndef WEFT_ROUTING_ENGINES_DISJOINT_H
#define WEFT_ROUTING_ENGINES_DISJOINT_H

#include "routing/engine/engine.h"

/* Changes the routes of an engine, which are free of deadlock. */
void disjoint_apply(const struct network *network, const struct engine_options *options,
                    struct routes *routes);

#endif
