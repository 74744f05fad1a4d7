/* Reads and writes virtual functions of vSwitches. */
#ifndef WEFT_SM_TABLES_FUNCTIONS_H
#define WEFT_SM_TABLES_FUNCTIONS_H

#include "sm/sm.h"
#include "sm/transactions.h"

request_outcome functions_read;
void functions_prepare(struct sm *sm); /* before LIDs are assigned */
void functions_program(struct sm *sm, uint32_t vf_port);
void functions_program_all(struct sm *sm, uint32_t vswitch);
/* Writes what is ordered of a function, or reads the function if nothing is. */
void functions_program_order(struct sm *sm, uint32_t vf_port);
bool functions_is_held(struct sm *sm, uint32_t port); /* its address is about to change */
/* The outcome of an order to write keys, if there is one for this port's function. */
void functions_end_keys(struct sm *sm, uint32_t port, enum function_outcome outcome);

#endif
