/* Packets that ports refused because of their P_Key or Q_Key (traps 257 to 259). */
#ifndef WEFT_SM_GUARD_DATA_KEYS_H
#define WEFT_SM_GUARD_DATA_KEYS_H

#include "sm/sm.h"

/* A port reports a refused packet by a notice with this trap number. */
void data_keys_refused(struct sm *sm, uint32_t reporter, unsigned trap, const uint8_t *details);
/* An operator clears the reports about packets from this port. Returns whether there were any. */
bool data_keys_forget(struct sm *sm, uint32_t port);

#endif
