/* A check of several subnets that routers join, beyond the check of each (verify.h).
 *
 * It follows packets from every subnet to the prefix of every other one as the routers' tables and
 * the administrations direct them, by all of the equal choices, and reports prefixes that cannot be
 * reached and loops of routers.
 *
 * Routers that hold a packet until their next link has room make a packet in one subnet wait for
 * one in another. The channel dependency graph of the whole fabric then has a dependency from a
 * link into a router to each link out of it that packets take, beside those within the subnets; a
 * cycle may pass several subnets although none of them has one (docs/decisions/021-routers.md). The
 * dependencies within a subnet are those of all traffic between its ports.
 *
 * All packets that cross use VL 0. */
#ifndef WEFT_ROUTING_ACROSS_H
#define WEFT_ROUTING_ACROSS_H

#include "routing/check/dependency.h"
#include "routing/model/border.h"
#include "routing/model/routes.h"

struct across_subnet {
    const struct network *network;
    const struct routes *routes;
    const struct border *border;
    const struct dependency_graph *dependencies; /* verify_options.keep */
};

struct across_report {
    uint64_t pairs;         /* ordered pairs of subnets */
    uint64_t undelivered;   /* of these: not by all choices */
    uint64_t loops;         /* routers at which a packet arrives a second time */
    unsigned crossings_max; /* routers on the way */
    uint64_t dependencies;  /* through routers */
    VEC(const char *) findings;
    bool cycle;
    const char *cycle_text; /* names and ports */
    struct arena strings;
};

/* -EINVAL with the reason if the subnets do not fit together: equal prefixes, a port of a router
 * that its subnet's links lack. `discards`: routers take every packet and discard it if they have
 * no room, so no packet waits behind a router. */
int across_check(const struct across_subnet *subnets, size_t count, bool discards,
                 struct across_report *report, struct err *err);
void across_release(struct across_report *report);

#endif
