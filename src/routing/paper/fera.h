/* Shared by the paper's engines: FERa's tables, and the steps from roots to proved routes. */
#ifndef WEFT_ROUTING_PAPER_FERA_H
#define WEFT_ROUTING_PAPER_FERA_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

enum { HOPS_NONE = 0xFFFE }; /* a distance: there is no route */

/* Fills initialised routes. -ENETUNREACH if several roots leave two terminals without a legal
 * route. *unproved: some pair of a terminal and a switch has none, so the tables need a proof. */
typedef int paper_tables(const struct network *network, const struct updown *updown,
                         const struct engine_options *options, struct routes *routes,
                         bool *unproved, struct err *err);
paper_tables fera_tables;

/* Chooses the roots (default: the manager's switch), directs the links, calls `tables` with
 * initialised routes and settles them. `tables` is as fera_tables(). */
int paper_compute(const struct network *network, const struct engine_options *options,
                  const char *engine, paper_tables *tables, struct routes *routes, struct err *err);

/* For the engines and their hybrids. */
int fera_compute(const struct network *network, const struct engine_options *options,
                 struct routes *routes, struct err *err);
int dr_compute(const struct network *network, const struct engine_options *options,
               struct routes *routes, struct err *err);

#endif
