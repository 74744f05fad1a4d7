/* Paths of simulated senders, from the routes of the managers. */
#ifndef WEFT_HOST_SIM_SIM_PATHS_H
#define WEFT_HOST_SIM_SIM_PATHS_H

#include "fabric/data.h"
#include "host/sim/sim.h"
#include "routing/check/overlap.h"

struct sim_paths;

/* The paths of a connection in both directions: paths[i] leads from ports[i] to ports[!i]. Each end
 * sends from the LID to which the other one sends. */
struct sim_path_pair {
    uint32_t ports[2];
    struct data_path paths[2];
};
/* Where a path may begin and end: two ports (UINT32_MAX: none) of either adapter, and the LIDs it
 * must have; 0: any. */
struct sim_path_ends {
    uint32_t ports[2][2];
    uint16_t lids[2];
};

/* Becomes the path lookup of the fabric. Simulation and fabric must outlive it. */
struct sim_paths *sim_paths_new(struct sim *sim, struct fabric *fabric);
void sim_paths_free(struct sim_paths *paths);

/* Adds a virtual machine of the fabric (data.h), which managers identify by the GUID of its port.
 * While no manager has it in its network, senders use its last LID, which moves with it. */
void sim_paths_add_vm(struct sim_paths *paths, uint32_t vm, uint64_t guid);
/* Removes its last LID: packets to it are not sent. */
/* Adds a multicast group for traffic and returns its end point, from DATA_GROUP on. `groups` is the
 * table that the managers have; packets to a group without members have no path. */
uint32_t sim_paths_add_group(struct sim_paths *paths, const struct groups *groups,
                             const uint8_t mgid[16]);
void sim_paths_forget_vm(struct sim_paths *paths, uint32_t vm);

/* The path from the manager whose network has both ports. While there is none, as after the end of
 * the master, senders use the present LIDs of ports. */
struct data_path sim_paths_find(struct sim_paths *paths, uint32_t source, uint32_t destination);
/* The same for a reader: it does not change what later packets use. */
struct data_path sim_paths_show(struct sim_paths *paths, uint32_t source, uint32_t destination);

/* Of the paths between these ends, the one that shares least with another pair of paths, by the
 * routes of the manager that has the ports of that pair: links first, then switches. `may_change`:
 * the primary pair gets other LIDs of its ports if less is shared then. False: there is no second
 * path. */
bool sim_paths_find_alternate(struct sim_paths *paths, struct sim_path_pair *primary,
                              bool may_change, const struct sim_path_ends *ends,
                              struct sim_path_pair *best, struct route_overlap *overlap);

#endif
