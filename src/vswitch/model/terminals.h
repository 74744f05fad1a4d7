/* Virtual functions in a routing network.
 *
 * To routes a vSwitch is no switch: its functions are terminals that share the port of the leaf
 * switch which the vSwitch is plugged into. Pure functions over the subnet and a network. */
#ifndef WEFT_VSWITCH_MODEL_TERMINALS_H
#define WEFT_VSWITCH_MODEL_TERMINALS_H

#include "routing/model/network.h"
#include "subnet/subnet.h"

/* The functions behind a leaf switch's port become terminals of a network that is being made; false
 * if the port at the other end is not a vSwitch's. */
bool terminals_add(struct network *network, const struct subnet *subnet, uint32_t at,
                   unsigned number, uint32_t uplink);

/* The terminal with the LID of this function's port is moved to where the function's PF is; if
 * there is none, it is made, or left so. */
enum terminals_missing { TERMINALS_MAKE, TERMINALS_LEAVE };
void terminals_place(struct network *network, const struct subnet *subnet, uint32_t port,
                     enum terminals_missing missing);
void terminals_drop(struct network *network, unsigned lid);

#endif
