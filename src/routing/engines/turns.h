/* Which of several ways a terminal takes in a tree: one after the other, by its number. */
#ifndef WEFT_ROUTING_ENGINES_TURNS_H
#define WEFT_ROUTING_ENGINES_TURNS_H

#include "routing/search/tree.h"
#include "routing/search/ways.h"

/* In which order terminals that the options list are numbered, before all others. */
enum turns_order { TURNS_TREE, TURNS_LIST };

/* Fills the routes' tables, which must be reserved (routes_reserve) and may hold anything: along
 * minimal routes, or, if `updown` is not NULL, by the directions of the tree, which are left there
 * for the caller (tree_directions()). `gaps` tells what the
 * directions leave without a legal route: such entries lead to the nearest switch that has one. */
void turns_tables(const struct network *network, const struct tree *tree, struct updown *updown,
                  const struct engine_options *options, enum turns_order order,
                  struct routes *routes, struct ways_gaps *gaps);

#endif
