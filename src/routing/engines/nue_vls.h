/* Preparations of nue: the preferred VL of each switch, and the escape trees of VLs. */
#ifndef WEFT_ROUTING_ENGINES_NUE_VLS_H
#define WEFT_ROUTING_ENGINES_NUE_VLS_H

#include "routing/cdg/cdg.h"
#include "routing/engine/engine.h"

/* Chooses a VL for every switch: neighbours share one, and all VLs have about the same number of
 * terminals. */
void nue_divide(const struct network *network, unsigned vls, uint8_t *preferred);
/* Finds a spanning tree of each part for every VL, near to the switches that prefer it, and adds
 * all dependencies of the routes along it to the VL. `up` [vl * switches + switch] is the
 * channel to the parent, or NETWORK_NONE. Returns the operations that it took. */
uint64_t nue_add_escape_trees(struct cdg *cdg, const uint8_t *preferred, uint32_t *up);

#endif
