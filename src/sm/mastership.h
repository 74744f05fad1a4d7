/* Who is master: this manager's part in it. mastership_table.h has the state machine. */
#ifndef WEFT_SM_MASTERSHIP_H
#define WEFT_SM_MASTERSHIP_H

#include "sm/sm.h"

struct mastership *mastership_new(void);
void mastership_free(struct mastership *mastership);

void mastership_start(struct sm *sm, uint64_t now);
void mastership_receive(struct sm *sm, uint64_t now, const struct sm_message *message);
void mastership_expire(struct sm *sm, uint64_t now);
uint64_t mastership_deadline(const struct sm *sm); /* of a standby: the next poll */
void mastership_count_smp(struct sm *sm);          /* another SMP arrived */

/* Asks the manager at a port for its SMInfo; discovery is not complete before it answers. */
void mastership_ask(struct sm *sm, uint32_t port);
/* The same when a sweep asks: nothing waits for the answer. */
void mastership_ask_again(struct sm *sm, uint32_t port);
/* Tells another manager that the master is about to write. */
void mastership_notify(struct sm *sm, uint32_t port);

/* Discovery is complete, and found no manager to stand by for. */
void mastership_discovered(struct sm *sm, uint64_t now);
void mastership_sweep_begins(struct sm *sm, uint64_t now);
/* The other master that was at this port is not there any more. */
void mastership_rival_gone(struct sm *sm, uint64_t now, uint32_t port);

/* What was known of this port is out of date. */
void mastership_forget_rival(struct sm *sm, uint32_t port);

uint32_t mastership_number(const struct sm *sm); /* counts the times that this one was master */

#endif
