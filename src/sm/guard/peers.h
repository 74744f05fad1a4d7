/* Which other managers are peers. */
#ifndef WEFT_SM_GUARD_PEERS_H
#define WEFT_SM_GUARD_PEERS_H

#include "sm/mastership/mastership_table.h"
#include "sm/sm.h"
#include "sm/transactions.h"

void peers_seal_request(struct sm *sm, struct request *request); /* of SMInfo */
bool peers_accept(struct sm *sm, const struct request *request); /* an answer of a peer */
void peers_seal_answer(struct sm *sm, const uint8_t *request, uint8_t *answer);
/* The sender of this Get(SMInfo) is a peer. */
bool peers_believe_request(const struct sm *sm, const struct sm_message *message);
/* The sender of this Set(SMInfo) may send it. */
bool peers_may_control(struct sm *sm, enum mastership_event event,
                       const struct sm_message *message);

#endif
