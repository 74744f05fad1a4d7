/* The job that computes tables: made, received, in force. */
#ifndef WEFT_SM_PLAN_H
#define WEFT_SM_PLAN_H

#include "sm/reconfigure.h"
#include "sm/sm.h"

/* The job whose tables are in force or being distributed; NULL: none. */
struct sm_job *plan_current(const struct sm *sm);
/* The last job whose tables were all acknowledged: sources use its paths. */
struct sm_job *plan_serving(const struct sm *sm);
struct sm_job *plan_next_job(struct sm *sm); /* for the host; NULL: none */
uint64_t plan_paths_generation(const struct sm *sm);
void plan_paths_changed(struct sm *sm); /* the result of sm_paths() changed */
void plan_use_first_levels(struct sm *sm);
/* Changes an entry of the routes in force: an address moves. */
void plan_edit_entry(struct sm *sm, uint32_t at, uint16_t lid, uint8_t port);
/* Queues a job for the host; returns its number. */
uint64_t plan_routes(struct sm *sm, const struct engine *engine, bool provisional,
                     enum plan_reason reason);
void plan_receive(struct sm *sm, struct sm_job *job); /* takes a computed job */
void plan_take_routes(struct sm *sm);                 /* makes the received job the current one */
void plan_break_off(struct sm *sm); /* the current tables will not all be written */
void plan_serve(struct sm *sm);     /* all current tables are acknowledged */
void plan_drop(struct sm *sm);      /* this manager is no longer master */
void plan_rebalance(struct sm *sm); /* starts a change if repairs have unbalanced links */
bool plan_is_improvement(struct sm *sm, const struct sm_job *job);

#endif
