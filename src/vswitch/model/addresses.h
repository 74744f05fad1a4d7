/* Addresses of virtual functions and machines: decisions that are pure functions over the subnet.
 *
 * LIDs: `prepopulated` every function gets one at bring-up, whether or not a virtual machine has
 * it; `dynamic` none has one until a machine is attached. A vSwitch shares the LID of its physical
 * function (PF). A machine keeps its LID wherever it goes.
 *
 * Which machine is where is read from the hypervisors (subnet/functions.h). A manager that takes
 * over may find a machine at two places, if the last one died between the two Sets of a move. Then
 * the place to which the tables lead counts; a place that was known before counts more than one
 * that turns up later. The other function is evicted: it is to be detached, and its address is
 * free. */
#ifndef WEFT_VSWITCH_MODEL_ADDRESSES_H
#define WEFT_VSWITCH_MODEL_ADDRESSES_H

#include "subnet/subnet.h"

/* Decides about machines that two functions show, before LIDs are given. Returns the socket of the
 * next function that is evicted; SUBNET_NONE when there is none left. */
uint32_t addresses_evict_next(struct subnet *subnet);
/* Every vSwitch gets the LID of its PF, after LIDs were given. */
void addresses_share(struct subnet *subnet);
/* The top LID that a switch is told. A LID beyond it needs SwitchInfo to be written before the
 * block is of any use. So that this does not happen with every machine, tables are made longer in
 * steps where LIDs come one by one. */
uint16_t addresses_table_top(const struct subnet *subnet, const struct subnet_node *node);

/* The next free LID (range) from *next on, which goes round so that LIDs are not used again soon;
 * 0: there is none. */
uint16_t addresses_next_free(const struct subnet *subnet, uint16_t *next);
/* A machine that will not come back: its address is free. */
void addresses_forget_machine(struct subnet *subnet, uint64_t guid);

#endif
