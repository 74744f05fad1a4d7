/* Which of several ways a terminal takes in any network: that over the least loaded links. */
#ifndef WEFT_ROUTING_SEARCH_WEIGH_H
#define WEFT_ROUTING_SEARCH_WEIGH_H

#include "routing/engine/engine.h"
#include "routing/search/ways.h"

/* As turns_tables() in turns.h. */
void weigh_tables(const struct network *network, const struct updown *updown,
                  const struct engine_options *options, struct routes *routes,
                  struct ways_gaps *gaps);

/* True if the options ask for what only this can do: weights, or load before the start. */
bool weigh_is_wanted(const struct engine_options *options);

#endif
