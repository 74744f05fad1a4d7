/* The link of the manager's own port is read from time to time. */
#ifndef WEFT_SM_DISCOVERY_OWN_LINK_H
#define WEFT_SM_DISCOVERY_OWN_LINK_H

#include "sm/sm.h"

void own_link_schedule(struct sm *sm);
/* The own port was read in this state; true: its link went down or came back. */
bool own_link_changes(struct sm *sm, unsigned state);
void own_link_was_down(struct sm *sm); /* and is up now */

#endif
