/* Requests of simulated hosts to the subnet administration. */
#ifndef WEFT_TESTS_HOST_CLIENT_REQUESTS_H
#define WEFT_TESTS_HOST_CLIENT_REQUESTS_H

#include "host/sim/sim_clients.h"
#include "sim_world.h"

/* Each is sent from a port of the fabric and returns the number of the request. */
uint32_t client_join(const struct world *world, struct sim_clients *clients, uint32_t port,
                     const uint8_t mgid[16]);
uint32_t client_leave(const struct world *world, struct sim_clients *clients, uint32_t port,
                      const uint8_t mgid[16]);
uint32_t client_subscribe(struct sim_clients *clients, uint32_t port, unsigned trap);

#endif
