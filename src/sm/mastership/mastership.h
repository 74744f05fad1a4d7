/* SMInfo, polls, handover; mastership_table.h has the state machine. */
#ifndef WEFT_SM_MASTERSHIP_MASTERSHIP_H
#define WEFT_SM_MASTERSHIP_MASTERSHIP_H

#include "sm/mastership/mastership_table.h"
#include "sm/sm.h"

bool mastership_handle(struct sm *sm, enum mastership_event event); /* false: it is ignored */
void mastership_complete_discovery(struct sm *sm);                  /* of a discovering manager */
bool mastership_yield(struct sm *sm); /* hand over; false: there is no other manager */
void mastership_end(struct sm *sm);   /* hand over if possible, and become inactive */
void mastership_receive(struct sm *sm, const struct sm_message *message);
void mastership_count_smp(struct sm *sm);
/* Reads SMInfo of the manager at a port; discovery is not complete before it answers. */
void mastership_query(struct sm *sm, uint32_t port);
void mastership_query_in_sweep(struct sm *sm, uint32_t port); /* nothing waits for the answer */
void mastership_notify(struct sm *sm, uint32_t port);         /* the master is about to write */
void mastership_rival_gone(struct sm *sm, uint32_t port);     /* it is not master, or not there */
uint32_t mastership_number(const struct sm *sm); /* counts the masterships of this manager */

#endif
