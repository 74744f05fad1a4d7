/* IP addresses of the ports of adapters, by which librdmacm names hosts. */
#ifndef WEFT_HOST_VERBS_ADDRESSES_H
#define WEFT_HOST_VERBS_ADDRESSES_H

#include "base/map.h"
#include "base/mem.h"

struct addresses {
    VEC(uint32_t) by_port; /* by index in the topology, in host order; 0: none */
    struct map by_address;
};

/* False if a port has the address already, or the port has another one. */
bool addresses_add(struct addresses *addresses, uint32_t port, uint32_t address);
/* The port with an address; MAP_NONE: there is none. */
uint32_t addresses_find(const struct addresses *addresses, uint32_t address);
uint32_t addresses_of_port(const struct addresses *addresses, uint32_t port); /* 0: none */
void addresses_release(struct addresses *addresses);

#endif
