/* User routes: entries that replace those of an engine.
 *
 * A file has one entry a line, "SWITCH LID PORT": the switch by GUID (0x…) or by LID (a decimal
 * number), the destination's LID (decimal or 0x…), the port out of the switch. '#' starts a
 * comment. Paper 003 section 6.4.5 does not check the result; here the tables are verified like any
 * others, and refused if they do not deliver or could deadlock. */
#ifndef WEFT_ROUTING_ENGINE_USER_ROUTES_H
#define WEFT_ROUTING_ENGINE_USER_ROUTES_H

#include "base/line_reader.h"
#include "routing/model/routes.h"

struct user_route {
    uint64_t guid; /* 0: by LID */
    uint16_t switch_lid;
    uint16_t lid;
    uint8_t port;
};
struct user_routes {
    VEC(struct user_route) entries;
};

int user_routes_read(struct user_routes *user, struct line_reader *lines);
void user_routes_release(struct user_routes *user);

/* Checks that every entry names a switch, a port and a LID of the network, then overwrites. An
 * entry whose switch is not in the network is ignored. */
int user_routes_apply(const struct user_routes *user, const struct network *network,
                      struct routes *routes, struct err *err);
/* The switch of an entry, or NETWORK_NONE. */
uint32_t user_route_switch(const struct user_route *entry, const struct network *network);

#endif
