/* Which of several ways a terminal takes in any network: that over the least loaded links. */
#ifndef WEFT_ROUTING_SEARCH_LEAST_LOADED_H
#define WEFT_ROUTING_SEARCH_LEAST_LOADED_H

#include "routing/engine/engine.h"
#include "routing/search/next_hops.h"

/* As dmodk_tables() in turns.h. */
void least_loaded_tables(const struct network *network, const struct updown *updown,
                         const struct engine_options *options, struct routes *routes,
                         struct next_hops_gaps *gaps);

/* True if the options ask for what only this can do: weights, or load before the start. */
bool least_loaded_is_wanted(const struct engine_options *options);

#endif
