/* Subnets joined by routers, each with a manager and its administration. */
#ifndef WEFT_TESTS_HOST_SIM_ROUTED_WORLD_H
#define WEFT_TESTS_HOST_SIM_ROUTED_WORLD_H

#include "sim_world.h"

#include "host/sim/sim_clients.h"
#include "topology/generators/join.h"

enum { SUBNETS_MOST = 4 };

struct routed {
    struct world world;
    struct sim_clients *clients;
    struct sm_config configs[SUBNETS_MOST];
    unsigned managers[SUBNETS_MOST];
    unsigned subnets;
};

#define PREFIX(subnet) (GID_PREFIX_SITE | ((subnet) + 1))

/* Each subnet is a small irregular network with four hosts, "a.H0" to "a.H3" in the first. */
void routed_open(struct routed *routed, unsigned subnets, enum join_shape shape, unsigned routers,
                 const struct prefix_rules *rules);
void routed_open_with(struct routed *routed, unsigned subnets, enum join_shape shape,
                      unsigned routers, const struct prefix_rules *rules,
                      const char *router_buffer);
void routed_close(struct routed *routed);
uint32_t routed_host(const struct routed *routed, unsigned subnet, unsigned number);
uint64_t routed_field(const struct routed *routed, uint32_t port, enum wire_field field);
/* The PathRecord from one port to another; NULL: there is none. */
const uint8_t *routed_path(struct routed *routed, uint32_t from, uint32_t to);

#endif
