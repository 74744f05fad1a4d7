/* The table of IP addresses. */
#include "host/verbs/addresses.h"

bool addresses_add(struct addresses *addresses, uint32_t port, uint32_t address)
{
    if (addresses_find(addresses, address) != MAP_NONE || addresses_of_port(addresses, port))
        return false;
    *vec_at(&addresses->by_port, port) = address;
    map_set(&addresses->by_address, address, port);
    return true;
}

uint32_t addresses_find(const struct addresses *addresses, uint32_t address)
{
    return map_get(&addresses->by_address, address);
}

uint32_t addresses_of_port(const struct addresses *addresses, uint32_t port)
{
    return port < addresses->by_port.count ? addresses->by_port.items[port] : 0;
}

void addresses_release(struct addresses *addresses)
{
    vec_release(&addresses->by_port);
    map_release(&addresses->by_address);
}
