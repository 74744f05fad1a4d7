/* The last step of engines whose directions leave a terminal and a switch without a legal route. */
#ifndef WEFT_ROUTING_SEARCH_NO_LEGAL_ROUTE_H
#define WEFT_ROUTING_SEARCH_NO_LEGAL_ROUTE_H

#include "routing/engine/engine.h"
#include "routing/search/next_hops.h"

/* As engine_settle(), for tables that are legal except for the unroutable pairs of `gaps`;
 * routes->ranks has the directions. */
int no_legal_route_settle(const struct network *network, const struct engine_options *options,
                          const struct next_hops_gaps *gaps, struct routes *routes,
                          struct err *err);

#endif
