/* How far the routes to the LIDs of one end port are independent of each other.
 *
 * An end port with LMC n has 2^n LIDs, and connections keep one of them as an alternate path. That
 * helps if no single failure ends both paths. For every ordered pair of terminals at different
 * switches, the routes to the LIDs of the destination are followed as packets do. Two of them are
 * link-disjoint if they share no cable between switches, and switch-disjoint if they also share no
 * switch between that of the source and that of the destination.
 *
 * The bound is that of Menger's theorem: the most paths between the two switches without a common
 * cable, or switch, that the cables permit: a maximum flow. Tables may be unable to reach it: they
 * have one next hop for each LID, and up*-down* directions forbid some paths.
 *
 * A cable or switch on all routes of a pair is shared: its failure ends all of them. Not counted:
 * cables of terminals, the switches that these are at, and routes that are not delivered. */
#ifndef WEFT_ROUTING_CHECK_DISJOINT_H
#define WEFT_ROUTING_CHECK_DISJOINT_H

#include "base/workers.h"
#include "routing/model/routes.h"

enum disjoint_kind { DISJOINT_LINKS, DISJOINT_SWITCHES, DISJOINT_KINDS };

struct disjoint_sums {
    uint64_t routes;   /* sum over the pairs: most routes that are mutually disjoint */
    uint64_t bound;    /* sum over the pairs: maximum flow, at most the LIDs of the destination */
    uint64_t below;    /* pairs that do not reach their bound */
    uint64_t exposed;  /* pairs of which all routes share something */
    uint64_t needless; /* of these, the ones with a bound of two and more */
    uint64_t shared;   /* sum over the pairs: what all routes share */
};

/* All terminals at one switch, and one destination. */
struct disjoint_pair {
    uint32_t from, to; /* switch, terminal */
    uint32_t pairs;
    uint8_t lids, routes[DISJOINT_KINDS], bound[DISJOINT_KINDS];
    uint32_t shared[DISJOINT_KINDS]; /* how many */
    uint32_t first_shared;           /* in `shared` of the report: cables, then switches */
};

struct disjoint_report {
    uint64_t pairs;       /* at different switches, with more than one LID at the destination */
    uint64_t local;       /* at one switch */
    uint64_t single;      /* the destination has one LID */
    uint64_t undelivered; /* pairs with a route that does not deliver; not in `pairs` */
    struct disjoint_sums sums[DISJOINT_KINDS];
    VEC(struct disjoint_pair) worst; /* the first is the worst; only pairs below their bound */
    VEC(uint32_t) shared;            /* cables: switch.first_port + port of one end; switches */
};

/* `worst`: how many to keep. */
void disjoint_measure(const struct network *network, const struct routes *routes,
                      const struct workers *workers, unsigned worst,
                      struct disjoint_report *report);
void disjoint_report_release(struct disjoint_report *report);

#endif
