/* Budgets of traps and of requests from other ports. */
#ifndef WEFT_SM_ADMISSION_H
#define WEFT_SM_ADMISSION_H

#include "sm/sm.h"

enum admission_kind { ADMIT_TRAP, ADMIT_VIOLATION, ADMIT_FORGED, ADMIT_SM_INFO, ADMIT_KINDS };
/* The end port that a message came from; SUBNET_NONE: not known. */
uint32_t admission_origin(const struct sm *sm, const struct sm_message *message);
/* Counts an SMP of that port. False if it is beyond the port's budget and must be ignored. */
bool admission_take(struct sm *sm, uint32_t origin, enum admission_kind kind);

#endif
