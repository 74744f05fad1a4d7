/* Writes partition, SL to VL, arbitration, multicast and GUID tables. */
#ifndef WEFT_SM_TABLES_BLOCKS_H
#define WEFT_SM_TABLES_BLOCKS_H

#include "sm/sm.h"

void blocks_program(struct sm *sm);
void blocks_requests_dropped(struct sm *sm);
void blocks_list_problems(struct sm *sm, struct problems *problems);
bool blocks_are_written(const struct sm *sm); /* none is queued or under way */

#endif
