/* FERa's forwarding tables: of the shortest legal routes the one by the lowest port. */
#ifndef WEFT_ROUTING_PAPER_FERA_TABLES_H
#define WEFT_ROUTING_PAPER_FERA_TABLES_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

enum { HOPS_NONE = 0xFFFE }; /* a distance: there is no route */

/* Fills the routes' tables, which must be empty. `gaps` counts the pairs that have no legal route:
 * their entries lead to the nearest switch that has one. */
void fera_fill_tables(const struct network *network, const struct updown *updown,
                      const struct engine_options *options, struct routes *routes,
                      struct updown_gaps *gaps);

#endif
