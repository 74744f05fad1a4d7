/* Joins networks into one fabric of several subnets, by routers. */
#ifndef WEFT_TOPOLOGY_JOIN_H
#define WEFT_TOPOLOGY_JOIN_H

#include "topology/topology.h"

enum { JOIN_PARTS = 26, JOIN_ROUTERS = 4096 };

enum join_shape {
    JOIN_STAR,  /* each router has a port in every subnet */
    JOIN_CHAIN, /* each router is between neighbouring subnets */
    JOIN_RING,  /* and between the last and the first one */
};
bool join_shape_parse(const char *text, enum join_shape *shape);

/* Replaces the contents of `topology`; an error changes nothing. `routers`: how many join the same
 * subnets. Nodes keep their GUIDs unless an earlier part has them; LIDs are left out. Descriptions
 * get a letter for their part in front: "a.H0", "b.H0". Each router is attached to a switch with a
 * free port, the routers spread over the switches with hosts if these have free ports. */
int topology_join(struct topology *topology, const struct topology *parts, size_t count,
                  enum join_shape shape, unsigned routers, struct err *err);

#endif
