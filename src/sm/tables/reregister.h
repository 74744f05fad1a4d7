/* Requests clients to register again. */
#ifndef WEFT_SM_TABLES_REREGISTER_H
#define WEFT_SM_TABLES_REREGISTER_H

#include "sm/sm.h"

void reregister_set_port(struct sm *sm, uint32_t port, uint8_t *info); /* ClientReregister */
void reregister_sent(struct sm *sm, uint32_t port); /* the port accepted ClientReregister */
bool reregister_all(struct sm *sm);                 /* false: done in this mastership */
void reregister_port(struct sm *sm, uint64_t guid);
void reregister_doubt(struct sm *sm); /* another master was in the subnet */

#endif
