/* Balances terminals over equal next hops in any network: by the load of links. */
#ifndef WEFT_ROUTING_SEARCH_LEAST_LOADED_H
#define WEFT_ROUTING_SEARCH_LEAST_LOADED_H

#include "routing/engine/engine.h"
#include "routing/search/next_hops.h"

/* As dmodk_tables() in engines/dmodk.h. */
void least_loaded_tables(const struct network *network, const struct updown *updown,
                         const struct engine_options *options, struct routes *routes,
                         struct next_hops_gaps *gaps);

/* Whether the options need this file: weights, or user routes as load. */
bool least_loaded_is_wanted(const struct engine_options *options);

#endif
