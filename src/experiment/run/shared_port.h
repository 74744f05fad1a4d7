/* Machines that share the one port of their hypervisor's adapter, for comparison.
 *
 * That is how adapters are shared today: all machines of a hypervisor have its LID and a GUID of
 * their own beside it. No manager is needed for a move, but the machine has another LID afterwards,
 * and everybody who sends to it must ask the subnet administration for the new path; until the
 * answer is there packets go to the old place, where the machine is not. Peers ask at the moment
 * when it arrives, which is as early as they could possibly know. (Paper 004, section IV.) */
#ifndef WEFT_EXPERIMENT_RUN_SHARED_PORT_H
#define WEFT_EXPERIMENT_RUN_SHARED_PORT_H

#include "experiment/run/machines.h"

/* Takes the place of the stage's paths. */
struct shared_port *shared_port_new(struct setup *setup);
void shared_port_free(struct shared_port *shared); /* accepts NULL */

/* Carries it out at once, and says how it went. */
void shared_port_order(struct setup *setup, const struct machine_order *order, uint32_t hypervisor);
void shared_port_look(struct setup *setup);

struct shared_port_counts {
    uint64_t queries, longest_ps; /* longest_ps: from query to answer */
    uint32_t open;                /* queries without an answer */
};
struct shared_port_counts shared_port_counts(const struct shared_port *shared);

#endif
