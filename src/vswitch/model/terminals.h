/* Virtual functions in a routing network.
 *
 * A vSwitch is not a switch of the network: its functions are terminals that share the port of the
 * leaf switch to which the vSwitch is connected. */
#ifndef WEFT_VSWITCH_MODEL_TERMINALS_H
#define WEFT_VSWITCH_MODEL_TERMINALS_H

#include "routing/model/network.h"
#include "subnet/subnet.h"

/* Adds the functions behind a port of a leaf switch to a new network. False if the port at the
 * other end does not belong to a vSwitch. */
bool terminals_add(struct network *network, const struct subnet *subnet, uint32_t at,
                   unsigned number, uint32_t uplink);

/* Moves the terminal with the LID of this port to the port of the PF. If there is no such terminal,
 * `missing` determines whether it is added. */
enum terminals_missing { TERMINALS_MAKE, TERMINALS_LEAVE };
void terminals_place(struct network *network, const struct subnet *subnet, uint32_t port,
                     enum terminals_missing missing);
void terminals_drop(struct network *network, unsigned lid);

#endif
