/* From distances to forwarding tables: which of the shortest ways every entry takes. */
#ifndef WEFT_ROUTING_SPREAD_H
#define WEFT_ROUTING_SPREAD_H

#include "routing/distance.h"
#include "routing/engine.h"

enum spread_choice {
    SPREAD_LOWEST,   /* the lowest port, as the seeds have it */
    SPREAD_BALANCED, /* the port with the fewest terminals so far, then the lowest */
};

/* Fills the routes' tables along FERa's routes, or along minimal ones if `updown` is NULL. `gaps`
 * (may be NULL) tells what the directions leave without a legal route: such entries lead to the
 * nearest switch that has one. */
void spread_tables(const struct network *network, const struct updown *updown,
                   const struct engine_options *options, enum spread_choice choice,
                   struct routes *routes, struct distance_gaps *gaps);

#endif
