/* From distances to FERa's forwarding tables: of the shortest legal ways the lowest port. */
#ifndef WEFT_ROUTING_SEARCH_FERA_TABLES_H
#define WEFT_ROUTING_SEARCH_FERA_TABLES_H

#include "routing/engine/engine.h"
#include "routing/search/distance.h"

/* Fills the routes' tables, which must be empty. `gaps` tells what the directions leave without a
 * legal route: such entries lead to the nearest switch that has one. */
void fera_fill_tables(const struct network *network, const struct updown *updown,
                      const struct engine_options *options, struct routes *routes,
                      struct distance_gaps *gaps);

#endif
