/* User routes: entries that replace those of an engine.
 *
 * A file has one entry a line, "SWITCH DESTINATION PORT": the switch by GUID (0x…), LID (a decimal
 * number) or name, the destination by LID (decimal, or 0x… up to 0xbfff), GUID (0x10000 and above)
 * or name, the port out of the switch. A name is a node description that only one node has. A
 * destination by GUID or name stands for all LIDs of its port, so that a file does not depend on
 * the LIDs that a manager assigns. '#' starts a comment. Villar 2004, section 6.4.5 does not check
 * the result; here the tables are verified like any others, and refused if they do not deliver or
 * could deadlock. */
#ifndef WEFT_ROUTING_ENGINE_USER_ROUTES_H
#define WEFT_ROUTING_ENGINE_USER_ROUTES_H

#include "base/line_reader.h"
#include "routing/model/routes.h"

/* A switch or a destination; exactly one member is given. */
struct user_place {
    uint64_t guid;
    const char *name;
    uint16_t lid;
};
struct user_route {
    struct user_place at, to;
    uint8_t port;
    unsigned line; /* of the file */
};
struct user_routes {
    VEC(struct user_route) entries;
    struct arena memory; /* names */
};

int user_routes_read(struct user_routes *user, struct line_reader *lines);
void user_routes_release(struct user_routes *user);

/* An error if an entry names a switch, a destination or a port that the network does not have. */
int user_routes_check(const struct user_routes *user, const struct network *network,
                      const char *file, struct err *err);
/* Overwrites entries of the tables. An entry whose switch, port or destination is not in the
 * network is ignored: nodes come and go. */
void user_routes_apply(const struct user_routes *user, const struct network *network,
                       struct routes *routes);
/* The switch of an entry, or NETWORK_NONE. */
uint32_t user_route_switch(const struct user_route *entry, const struct network *network);
/* The number of LIDs of the destination, from `first` on; 0: it is not in the network. */
unsigned user_route_lids(const struct user_route *entry, const struct network *network,
                         unsigned *first);

#endif
