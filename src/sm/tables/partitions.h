/* Plans partition tables. Planners of blocks are called after every input and return at once if
 * nothing changed. */
#ifndef WEFT_SM_TABLES_PARTITIONS_H
#define WEFT_SM_TABLES_PARTITIONS_H

#include "sm/sm.h"

void partitions_plan(struct sm *sm);
void partitions_forget(struct sm *sm); /* another manager may have written tables */
void partitions_rules_changed(struct sm *sm);
/* A function came up with the keys of its PF, and so did the switch port. */
void partitions_came_up(struct sm *sm, uint32_t vf_port);
void partitions_prepare(struct sm *sm, uint32_t vf_port);  /* writes keys before an attach */
bool partitions_are_settled(struct sm *sm, uint32_t port); /* the port may become Active */
void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info); /* PartitionEnforcement */

#endif
