/* What nue does before it looks for routes: who uses which lane, and the lanes' escape trees. */
#ifndef WEFT_ROUTING_ENGINES_NUE_LANES_H
#define WEFT_ROUTING_ENGINES_NUE_LANES_H

#include "routing/cdg/cdg.h"
#include "routing/engine/engine.h"

/* A lane for every switch: neighbours share one, and lanes have about as many terminals each. */
void nue_divide(const struct network *network, unsigned lanes, uint8_t *home);
/* Finds a spanning tree of each part for every lane, near to those at home on it, and adds all
 * dependencies of the routes along it to the lane. `up` [lane * switches + switch] is the channel
 * to the parent, or NETWORK_NONE. Returns the operations that it took. */
uint64_t nue_plant(struct cdg *cdg, const uint8_t *home, uint32_t *up);

#endif
