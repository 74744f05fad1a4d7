/* The last step of engines whose directions leave a terminal and a switch without a legal route. */
#ifndef WEFT_ROUTING_SEARCH_STRAYS_H
#define WEFT_ROUTING_SEARCH_STRAYS_H

#include "routing/engine/engine.h"
#include "routing/search/ways.h"

/* As engine_settle(), for tables that are legal but for the strays of `gaps`; routes->ranks has the
 * directions. */
int strays_settle(const struct network *network, const struct engine_options *options,
                  const struct ways_gaps *gaps, struct routes *routes, struct err *err);

#endif
