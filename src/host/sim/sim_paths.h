/* Paths for simulated senders: what the managers of a simulation say, as a subnet's administration
 * would. */
#ifndef WEFT_HOST_SIM_SIM_PATHS_H
#define WEFT_HOST_SIM_SIM_PATHS_H

#include "fabric/data.h"
#include "host/sim/sim.h"

struct sim_paths;

/* Tells the fabric to ask here from now on. Simulation and fabric must outlive it. */
struct sim_paths *sim_paths_new(struct sim *sim, struct fabric *fabric);
void sim_paths_free(struct sim_paths *paths);

/* A guest of the fabric (data.h), known to managers by the GUID of its port. Whoever sends to it
 * goes on with the LID that it had last while no manager knows it: LIDs move with their machines.
 */
void sim_paths_add_guest(struct sim_paths *paths, uint32_t guest, uint64_t guid);
/* It has no LID any more: nobody can send to it. */
void sim_paths_forget_guest(struct sim_paths *paths, uint32_t guest);

/* The answer of the master that knows both ports. While there is no such master, as after its
 * death, senders go on with the addresses that ports have. */
struct data_path sim_paths_find(struct sim_paths *paths, uint32_t source, uint32_t destination);

#endif
