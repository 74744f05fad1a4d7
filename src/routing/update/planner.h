/* What the planner of updates knows: which entries are written, what packets can have done since
 * the last drain, and on which lanes.
 *
 * Sources keep to their old service levels while tables change. So a lane carries, at each switch
 * and for each LID, what sources of that old level can have sent there by old and new entries since
 * the last drain; no packet changes lanes, and each lane has a dependency graph of its own. Sources
 * are those of verify.h: everybody sends to terminals, switches with terminals also to switches and
 * to LIDs that nobody has any more.
 *
 * Not counted are packets beyond a link that broke, on lanes that nobody else uses there: they have
 * no successors, and are gone when tables are computed.
 *
 * With one old lane, or old levels that nobody knows, there is one graph for all packets, and every
 * switch with an entry counts as passed. What other lanes then carry is part of it. */
#ifndef WEFT_ROUTING_UPDATE_PLANNER_H
#define WEFT_ROUTING_UPDATE_PLANNER_H

#include "routing/cdg/cdg.h"
#include "routing/update/make_plan.h"

enum phase {
    PHASE_OLD,   /* not yet written */
    PHASE_SENT,  /* in this wave: forwards by old and new */
    PHASE_ACKED, /* in an earlier wave since the last drain: packets that the old entry sent may
                    still be on their way */
    PHASE_NEW,   /* before the last drain */
};

/* Packets to a LID that leave a switch by a channel, on some lanes. */
struct update_flow {
    uint32_t channel; /* or NETWORK_NONE: to no switch */
    uint16_t lanes;
};
/* What was there before an update was tried. */
struct update_raised {
    size_t cell;
    uint16_t lanes;
};

struct planner {
    const struct network *network;
    const struct routes *before, *after;
    struct update_plan *plan;
    struct arena memory;
    struct cdg cdg;      /* a layer for each lane */
    bool looping;        /* an entry leads over a cable from a switch to itself */
    unsigned lanes;      /* layers */
    uint16_t every_lane; /* bits of all lanes that old packets are on */
    uint32_t stride;
    uint8_t *phase;   /* [switch * stride + LID] */
    uint64_t **carry; /* one graph; by LID, for LIDs of switches: bits of the switches that pass on
                         traffic of terminals to it; NULL: all do */
    uint16_t *levels; /* several; [switch * stride + LID]: lanes of packets that can have been there
                         since the last drain */
    VEC(struct update_raised) raised; /* by the update that is being tried */
    VEC(struct update_flow) flows;    /* scratch */
    VEC(uint32_t) stack;              /* scratch: switches */
    VEC(struct table_update) left;
    uint32_t *pending;   /* by switch: updates that are left or not yet acknowledged */
    bool forgetful;      /* nothing was written since the last drain */
    uint32_t drain_hops; /* of the last drain */
};

static inline uint8_t planner_old(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return routes_port(planner->before, at, lid);
}

static inline uint8_t planner_new(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return routes_port(planner->after, at, lid);
}

static inline enum phase planner_phase(const struct planner *planner, uint32_t at, uint32_t lid)
{
    return planner->phase[(size_t)at * planner->stride + lid];
}

/* The lane of packets that a switch's terminals, or it itself, send to the LID. */
static inline unsigned update_level(const struct routes *routes, uint32_t from, uint32_t lid)
{
    bool known = routes->service_levels && lid < routes->stride;
    return known ? routes->service_levels[(size_t)from * routes->stride + lid] % UPDATE_PLAN_VLS
                 : 0;
}

/* For the planner's network, routes and plan. */
void planner_init(struct planner *planner);
void planner_release(struct planner *planner);

/* Lanes that have to be held whatever the order is: packets of old levels on new tables, together
 * with those of new levels, have a cycle there. None with one graph: an order may show it. */
uint16_t planner_doomed_lanes(struct planner *planner);
/* Nothing is written. False if the old tables have a cycle. */
bool planner_begin(struct planner *planner);
/* After a drain only the present tables count. False if they have a cycle. */
bool planner_forget(struct planner *planner);
/* Adds everything that can happen once the update is on the wire; undoes it and returns false if
 * that could go round in a circle. */
bool planner_try(struct planner *planner, const struct table_update *update);
/* Adds what is left, all of it, and then what new tables do with packets of new service levels;
 * returns the lanes that have a cycle then. The graphs are of no use afterwards. */
uint16_t planner_finish(struct planner *planner);

#endif
