/* Addresses of virtual functions and virtual machines (VMs): pure functions over the subnet.
 *
 * With prepopulated LIDs every function has a LID from bring-up on; with dynamic LIDs a function
 * has one only while a VM is attached. A vSwitch shares the LID of its physical function (PF). A VM
 * keeps its LID when it migrates.
 *
 * Hypervisors report their VMs (subnet/functions.h). If a manager fails between the two Sets of a
 * migration, the next one finds the VM at two functions. The function to which the LFTs lead wins,
 * unless the other one was known before. The other function is evicted: the VM is detached from it,
 * and its LID is free. */
#ifndef WEFT_VSWITCH_MODEL_ADDRESSES_H
#define WEFT_VSWITCH_MODEL_ADDRESSES_H

#include "subnet/subnet.h"

/* Evicts one function of a VM at two functions, before LIDs are assigned. Returns the VF port of
 * the evicted function, or SUBNET_NONE if there is none left. */
uint32_t addresses_evict_next(struct subnet *subnet);
/* Assigns the LID of its PF to every vSwitch, after LIDs were assigned. */
void addresses_share(struct subnet *subnet);
/* LinearFDBTop of a switch. A new LID above it requires a write of SwitchInfo before the LFT block.
 * With dynamic LIDs the value grows in steps, so that few VMs require that. */
uint16_t addresses_table_top(const struct subnet *subnet, const struct subnet_node *node);

/* The next free LID range from *next on; 0: none. *next advances through all LIDs, so that a LID is
 * not reused soon. */
uint16_t addresses_next_free(const struct subnet *subnet, uint16_t *next);
/* Removes a VM and frees its LID. */
void addresses_remove_vm(struct subnet *subnet, uint64_t guid);

#endif
