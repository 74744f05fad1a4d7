/* Which IP addresses the hosts of a fabric have: the value of `weft fabric --ip`. */
#ifndef WEFT_HOST_SERVER_READ_ADDRESSES_H
#define WEFT_HOST_SERVER_READ_ADDRESSES_H

#include "host/verbs/addresses.h"
#include "topology/topology.h"

#define ADDRESSES_STANDARD "10.0.0.0/8"

/* `text` is a network ("10.0.0.0/8"), whose addresses the ports of adapters get in the order of the
 * topology, or else the name of a file with lines `NODE[:PORT] ADDRESS`. */
int addresses_read(struct addresses *addresses, const struct topology *topology, const char *text,
                   struct err *err);

#endif
