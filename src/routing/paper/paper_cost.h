/* The steps of the published algorithms on a network.
 *
 * The engines here are faster than the published algorithms, by orders of magnitude; the papers'
 * figures show the time of the latter. So each algorithm of paper 002 is executed as printed, and
 * its elementary steps are counted: a port examined by a flooding, a switch considered for an
 * entry, a switch of a path compared with a table. All steps have one price. */
#ifndef WEFT_ROUTING_PAPER_PAPER_COST_H
#define WEFT_ROUTING_PAPER_PAPER_COST_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

/* The steps of an engine's published algorithm, with directions from the root that the papers use:
 * the options' if they name any, else the manager's switch. */
uint64_t paper_steps(const struct network *network, const struct engine *engine,
                     const struct engine_options *options);

/* For the table of engines. */
uint64_t paper_steps_fera(const struct network *network, const struct updown *updown);
uint64_t paper_steps_pira(const struct network *network, const struct updown *updown);
uint64_t paper_steps_dr(const struct network *network, const struct updown *updown);
uint64_t paper_steps_minhop(const struct network *network, const struct updown *updown);

#endif
