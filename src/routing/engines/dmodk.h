/* Which of several ways a terminal takes in a tree: one after the other, by its number. */
#ifndef WEFT_ROUTING_ENGINES_DMODK_H
#define WEFT_ROUTING_ENGINES_DMODK_H

#include "routing/search/next_hops.h"
#include "routing/search/tree.h"

/* In which order terminals that the options list are numbered, before all others. */
enum dmodk_order { DMODK_TREE, DMODK_LIST };

/* Fills the routes' tables, which must be reserved (routes_reserve) and may hold anything: along
 * minimal routes, or, if `updown` is not NULL, by the directions of the tree, which are left there
 * for the caller (tree_directions()). `gaps` tells what the
 * directions leave without a legal route: such entries lead to the nearest switch that has one. */
void dmodk_tables(const struct network *network, const struct tree *tree, struct updown *updown,
                  const struct engine_options *options, enum dmodk_order order,
                  struct routes *routes, struct next_hops_gaps *gaps);

#endif
