/* Subnets of a fabric: what is still connected when routers are taken away. */
#ifndef WEFT_TOPOLOGY_SUBNETS_H
#define WEFT_TOPOLOGY_SUBNETS_H

#include "topology/graph.h"

/* The subnet of each port, by index; TOPOLOGY_NONE for ports without a link. Adapters and routers
 * forward nothing within a subnet, so their ports may be in several. Subnets are numbered in the
 * order of their first switches, those without a switch (two cabled end ports) after them. Returns
 * their number. */
uint32_t topology_subnets(const struct topology *topology, const struct graph *graph,
                          uint32_t *subnet_of);

#endif
