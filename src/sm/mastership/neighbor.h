/* A manager whose port another manager has configured, and whose neighbor it cannot read. */
#ifndef WEFT_SM_MASTERSHIP_NEIGHBOR_H
#define WEFT_SM_MASTERSHIP_NEIGHBOR_H

#include "sm/transactions.h"

/* Discovery is complete and found no master. Whether this manager cannot read its neighbor and must
 * not become master. */
bool neighbor_prevents_mastership(struct sm *sm);
bool neighbor_waits(const struct sm *sm);     /* discovering, until the next attempt */
bool neighbor_stands_by(const struct sm *sm); /* standby of a master that it reaches by LID only */
/* The LID to which a request is routed instead of by a directed route, and its M_Key; 0: it is not.
 */
uint16_t neighbor_lid(const struct sm *sm, const struct request *request, uint64_t *m_key);

#endif
