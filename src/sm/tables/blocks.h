/* Writes partition, SL to VL, arbitration, multicast and GUID tables. */
#ifndef WEFT_SM_TABLES_BLOCKS_H
#define WEFT_SM_TABLES_BLOCKS_H

#include "sm/sm.h"

void blocks_program(struct sm *sm);
bool blocks_are_written(const struct sm *sm); /* none is queued or under way */

#endif
