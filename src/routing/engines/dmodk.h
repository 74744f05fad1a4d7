/* Balances terminals over equal next hops in a tree: in turn, by their numbers. */
#ifndef WEFT_ROUTING_ENGINES_DMODK_H
#define WEFT_ROUTING_ENGINES_DMODK_H

#include "routing/search/next_hops.h"
#include "routing/search/tree.h"

/* The order in which listed terminals are numbered, before all others. */
enum dmodk_order { DMODK_TREE, DMODK_LIST };

/* Fills the routes' tables, which must be reserved (routes_reserve) and may hold anything: along
 * minimal routes, or, if `updown` is not NULL, by the directions of the tree, which it fills in for
 * the caller (tree_directions()). `gaps` counts the pairs without a legal route: their entries lead
 * to the nearest switch that has one. */
void dmodk_tables(const struct network *network, const struct tree *tree, struct updown *updown,
                  const struct engine_options *options, enum dmodk_order order,
                  struct routes *routes, struct next_hops_gaps *gaps);

#endif
