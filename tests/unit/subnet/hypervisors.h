/* A small subnet without a manager: one switch, the adapter of the manager, and hypervisors with
 * virtual functions. */
#ifndef WEFT_TESTS_HYPERVISORS_H
#define WEFT_TESTS_HYPERVISORS_H

#include "subnet/subnet.h"

enum {
    HYPERVISORS = 3,
    VFS = 2,
    SWITCH_LID = 1,
    MANAGER_LID = 2,
    PF_LID = 10,                  /* of the first hypervisor */
    MANAGER_AT = HYPERVISORS + 1, /* port of the switch */
};

void hypervisors_init(struct subnet *subnet, bool dynamic);
uint32_t hypervisors_switch(const struct subnet *subnet); /* node */
uint32_t hypervisors_node(const struct subnet *subnet, unsigned host);
uint32_t hypervisors_vf_port(const struct subnet *subnet, unsigned host, unsigned vf); /* vf: 1 … */
uint64_t hypervisors_guid(unsigned host, unsigned vf); /* the initial GUID of a function */
/* The answer of a vSwitch: LID (0: none) and VM (0: none) of a function. */
bool hypervisors_answer(struct subnet *subnet, unsigned host, unsigned vf, uint16_t lid,
                        uint64_t machine);
/* All functions have LIDs: PF_LID + HYPERVISORS for the first, and so on. */
void hypervisors_populate(struct subnet *subnet);
uint16_t hypervisors_lid(unsigned host, unsigned vf);

#endif
