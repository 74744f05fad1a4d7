/* Routers of the subnet: what they announce, and what this manager writes to them. */
#ifndef WEFT_SM_TABLES_ROUTERS_H
#define WEFT_SM_TABLES_ROUTERS_H

#include "sm/sm.h"

/* The agent of a router reports a change: its tables are read again. */
void routers_note_change(struct sm *sm, uint32_t node);

#endif
