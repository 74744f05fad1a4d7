/* Light and full sweeps, and reads of all switches during a storm of traps. */
#ifndef WEFT_SM_DISCOVERY_SWEEPS_H
#define WEFT_SM_DISCOVERY_SWEEPS_H

#include "sm/sm.h"

uint64_t sweep_next(const struct sm *sm); /* the time of the next sweep */
void sweep_schedule(struct sm *sm);
void sweep_stop(struct sm *sm);
/* Somebody else writes MasterSMLID. A full sweep finds the link of that master: it has read, and so
 * cleared, the PortStateChange of the switch. */
void sweep_for_unknown_master(struct sm *sm);
/* Explores the ports of a switch, or the whole subnet if so configured. */
void sweep_explore(struct sm *sm, uint32_t node);
void storm_suspect(struct sm *sm); /* traps were ignored: all switches are read soon */

#endif
