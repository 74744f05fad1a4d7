/* One SMP that a program on a simulated host sends from QP0 of a port, and its answer. */
#ifndef WEFT_HOST_SIM_SIM_SMP_H
#define WEFT_HOST_SIM_SIM_SMP_H

#include "host/sim/sim.h"

enum sim_smp_state { SIM_SMP_OPEN, SIM_SMP_ANSWERED, SIM_SMP_UNANSWERED };

struct sim_smp;
/* Sends Get(NodeInfo) by directed route to the node at the other end of the port's link. The
 * simulation must have an administration (sim_add_administrations()). */
struct sim_smp *sim_smp_send(struct sim *sim, const struct fabric *fabric, uint32_t port);
void sim_smp_free(struct sim_smp *smp); /* accepts NULL */

/* An SMP without an answer is unanswered after 100 ms; it is not repeated. */
enum sim_smp_state sim_smp_state(struct sim_smp *smp);

#endif
