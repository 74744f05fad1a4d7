/* Plans multicast tables (see partitions.h on planners). */
#ifndef WEFT_SM_TABLES_MULTICAST_H
#define WEFT_SM_TABLES_MULTICAST_H

#include "sm/sm.h"

void multicast_plan(struct sm *sm);
void multicast_forget(struct sm *sm); /* another manager may have written tables */
bool multicast_wants_vl(const struct sm *sm, unsigned vls);
bool multicast_is_settled(const struct sm *sm);
uint16_t multicast_top(const struct sm *sm); /* the highest MLID that is used; 0: none */

#endif
