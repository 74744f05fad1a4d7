/* Assignment of LIDs. */
#ifndef WEFT_SM_LIDS_H
#define WEFT_SM_LIDS_H

#include "sm/sm.h"

/* `after_another`: LIDs that another master assigned take precedence over remembered ones. */
void lids_assign(struct sm *sm, bool after_another);
void lids_assign_port(struct sm *sm, uint32_t port);
void lids_remember(struct sm *sm, uint32_t port); /* the port's LID, if it has one */

#endif
