/* FERa's tables, for the engines that build on them. */
#ifndef WEFT_ROUTING_PAPER_FERA_H
#define WEFT_ROUTING_PAPER_FERA_H

#include "routing/search/spread.h"

/* Fills initialised routes. -ENETUNREACH if several roots leave two terminals without a legal
 * route. *strays: some pair of a terminal and a switch has none, so the tables need a proof. */
int fera_tables(const struct network *network, const struct updown *updown,
                const struct engine_options *options, struct routes *routes, bool *strays,
                struct err *err);

#endif
