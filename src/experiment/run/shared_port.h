/* Shared port: machines that share the port of the adapter of their hypervisor, for comparison.
 *
 * All machines of a hypervisor have the LID of its adapter, and a virtual function with a GUID of
 * its own each (fabric/shared_port.c). The manager sees one adapter with one LID. A move needs no
 * manager, but the LID changes: every sender must query the subnet administrator for the new path,
 * and until the answer packets go to the old place and are lost. Senders query when the machine
 * arrives, which is the earliest possible time. (CLUSTER 2015, section IV.) */
#ifndef WEFT_EXPERIMENT_RUN_SHARED_PORT_H
#define WEFT_EXPERIMENT_RUN_SHARED_PORT_H

#include "experiment/run/machines.h"

/* Replaces the paths of the setup. */
struct shared_port *shared_port_new(struct setup *setup);
void shared_port_free(struct shared_port *shared); /* accepts NULL */

/* Executes an order at once. */
void shared_port_order(struct setup *setup, const struct machine_order *order, uint32_t hypervisor);
void shared_port_update(struct setup *setup);

struct shared_port_counts {
    uint64_t queries, longest_ps; /* longest_ps: from query to answer */
    uint32_t open;                /* queries without an answer */
};
struct shared_port_counts shared_port_counts(const struct shared_port *shared);

#endif
