/* A standby's copy of the subnet, takeover with it, and its audit. */
#ifndef WEFT_SM_MASTERSHIP_STANDBY_COPY_H
#define WEFT_SM_MASTERSHIP_STANDBY_COPY_H

#include "sm/sm.h"

void standby_copy_start(struct sm *sm);
uint32_t standby_copy_act_count_bits(const struct sm *sm); /* 0 if not master */
void standby_copy_begin_change(struct sm *sm);             /* the master is about to write */
void standby_copy_end_change(struct sm *sm);
void standby_copy_watch(struct sm *sm, uint64_t master);
bool standby_copy_master_answered(const struct sm *sm, bool *weft); /* `weft`: it is a weft SM */
void standby_copy_receive_info(struct sm *sm, const uint8_t *info); /* SMInfo of a master */
void standby_copy_advance(struct sm *sm);
void standby_copy_node_reading(struct sm *sm, uint32_t node); /* a read of the whole node begins */
void standby_copy_node_read(struct sm *sm, uint32_t node);    /* a read ended; perhaps the last */
void standby_copy_node_unread(struct sm *sm, uint32_t node);  /* a read was not answered */
/* Takes the job if it is the check of the copy; else returns false. */
bool standby_copy_checked(struct sm *sm, struct sm_job *job, bool right);
void standby_copy_discard_routes(struct sm *sm);
bool standby_copy_may_send(struct sm *sm); /* one more request without priority */
/* Reads what the copy lacks and queries other managers. Without a copy discovery starts again. */
void standby_copy_take_over(struct sm *sm);
/* How long discovery waits for a node after its first time-out: not long before the first plan of a
 * manager that takes over, and less if it has a copy; else TIME_NEVER: all tries. */
uint64_t standby_copy_patience_ns(const struct sm *sm);
/* Ends the copy. Returns the checked job if it fits the subnet, else NULL. */
struct sm_job *standby_copy_take_routes(struct sm *sm);
bool audit_begin(struct sm *sm); /* with a sweep; false: no audit is due */
void audit_advance(struct sm *sm);

#endif
