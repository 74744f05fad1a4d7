/* Requests to nodes that do not answer. */
#ifndef WEFT_SM_GUARD_RECHECK_H
#define WEFT_SM_GUARD_RECHECK_H

#include "sm/sm.h"

void recheck_schedule(struct sm *sm); /* a port is avoided, or GUIDs are in doubt */
void recheck_resume(struct sm *sm);   /* a manager becomes master */

#endif
