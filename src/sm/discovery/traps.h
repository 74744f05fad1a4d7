/* Traps that report changes. */
#ifndef WEFT_SM_DISCOVERY_TRAPS_H
#define WEFT_SM_DISCOVERY_TRAPS_H

#include "sm/sm.h"

/* True if the trap should be reported to subscribers. */
bool change_trap(struct sm *sm, const struct sm_message *message);

#endif
