/* The border of a subnet: the ports of routers in it, and what its administration says about the
 * prefixes of other subnets. Everything is named by GUID: the tables of several subnets are read
 * from files and meet only in a check (routing/check/across.h). */
#ifndef WEFT_ROUTING_MODEL_BORDER_H
#define WEFT_ROUTING_MODEL_BORDER_H

#include "base/mem.h"

#include <stdint.h>

struct border_port {
    uint64_t node, guid; /* of the router, and of its port in this subnet */
    uint8_t number;      /* of the port */
};

/* One of the equal choices for packets to a prefix. */
struct border_choice {
    uint64_t prefix;
    uint64_t from;  /* the router's port that sends them, 0: end ports of this subnet */
    uint64_t to;    /* the port of the next router */
    uint8_t weight; /* in the next-hop table of `from`; 0 for end ports */
};

struct border {
    uint64_t prefix; /* of this subnet */
    VEC(struct border_port) ports;
    VEC(struct border_choice) choices;
};

static inline void border_release(struct border *border)
{
    vec_release(&border->ports);
    vec_release(&border->choices);
}

#endif
