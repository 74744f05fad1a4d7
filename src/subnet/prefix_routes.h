/* Routes to other subnets: which router of this subnet leads to which prefix.
 *
 * Rules are configured (the prefix routes file of OpenSM); routes are learnt from the routers. The
 * first rules for a prefix that lead to a router decide; without any, the routes that cross the
 * fewest subnets. Equal routers share flows. */
#ifndef WEFT_SUBNET_PREFIX_ROUTES_H
#define WEFT_SUBNET_PREFIX_ROUTES_H

#include "base/line_reader.h"
#include "base/mem.h"
#include "wire/mad.h"

struct subnet;

struct prefix_rule {
    uint64_t prefix, guid; /* of a router's port; 0: any */
};
struct prefix_rules {
    VEC(struct prefix_rule) items;
};
/* Lines "PREFIX GUID" in hexadecimal digits, '*' for any. */
int prefix_rules_read(struct prefix_rules *rules, struct line_reader *lines);
void prefix_rules_release(struct prefix_rules *rules);

struct prefix_route {
    uint64_t prefix;
    uint32_t port;  /* of the router, in this subnet */
    uint8_t weight; /* subnets that a packet enters on the way, the last one included */
};
struct prefix_routes {
    uint64_t own; /* the prefix of this subnet */
    const struct prefix_rules *rules;
    VEC(struct prefix_route) learnt; /* by prefix, then by port */
};
void prefix_routes_release(struct prefix_routes *routes);

/* Replaces what is learnt from the router's port. True if that changes anything. */
bool prefix_routes_learn(struct prefix_routes *routes, uint32_t port,
                         const struct prefix_route *found, size_t count);

/* The routers' ports for a prefix. Returns how many there are, at most PREFIX_CHOICES. `not_at`: a
 * node whose ports are left out, or SUBNET_NONE. `weight` may be NULL. */
enum { PREFIX_CHOICES = 64 };
unsigned prefix_routes_find(const struct subnet *subnet, uint64_t prefix, uint32_t not_at,
                            uint32_t ports[PREFIX_CHOICES], uint8_t *weight);
/* The router's port for a flow (router_flow()), or SUBNET_NONE. */
uint32_t prefix_routes_choose(const struct subnet *subnet, uint64_t prefix, uint64_t flow);

/* The next-hop table of a router's port: prefixes that other routers of this subnet lead to.
 * Returns the number of entries. */
unsigned prefix_routes_want(const struct subnet *subnet, uint32_t port,
                            struct prefix_route wanted[ROUTER_NEXT_HOPS]);

#endif
