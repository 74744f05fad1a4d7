/* State of the update planner: the entries written so far, and the dependencies of packets since
 * the last drain, by VL.
 *
 * Sources keep their old service levels while tables change. So a VL carries, at each switch and
 * for each LID, the packets that sources of that old level can have sent there by old and new
 * entries since the last drain; no packet changes its VL, and each VL has its own dependency graph.
 * Sources are those of verify.h: all switches send to terminals, switches with terminals also to
 * switches and to unused LIDs.
 *
 * Packets behind a broken link, on VLs that no other packets use there, do not count: no packets
 * follow them, and they are gone when tables are computed.
 *
 * With one old VL, or unknown old levels, there is one graph for the packets of all VLs, and every
 * switch with an entry counts as passed. */
#ifndef WEFT_ROUTING_UPDATE_PLANNER_H
#define WEFT_ROUTING_UPDATE_PLANNER_H

#include "routing/cdg/cdg.h"
#include "routing/update/make_plan.h"

enum entry_state {
    ENTRY_OLD,   /* not yet written */
    ENTRY_SENT,  /* in this wave: forwards by old and new */
    ENTRY_ACKED, /* in an earlier wave since the last drain: packets that the old entry sent may
                    still be in flight */
    ENTRY_NEW,   /* written before the last drain */
};

/* Packets to a LID that leave a switch by a channel, on some VLs. */
struct update_flow {
    uint32_t channel; /* or NETWORK_NONE: to no switch */
    uint16_t vls;
};
/* A cell of `levels` before the update that is tried. */
struct update_raised {
    size_t cell;
    uint16_t vls;
};

struct planner {
    const struct network *network;
    const struct routes *before, *after;
    struct update_plan *plan;
    struct arena memory;
    struct cdg cdg;   /* a layer for each VL */
    bool looping;     /* an entry leads over a cable from a switch to itself */
    unsigned vls;     /* layers */
    uint16_t all_vls; /* bits of all VLs of old packets */
    uint32_t stride;
    uint8_t *phase;   /* [switch * stride + LID] */
    uint64_t **carry; /* with one graph: by LID, for LIDs of switches: bits of the switches that
                         forward packets of terminals to it; NULL: all do */
    uint16_t *levels; /* with several: [switch * stride + LID]: VLs of packets that can have been
                         there since the last drain */
    VEC(struct update_raised) raised; /* by the update that is being tried */
    VEC(struct update_flow) flows;    /* scratch */
    VEC(uint32_t) stack;              /* scratch: switches */
    VEC(struct table_update) left;
    uint32_t *pending;   /* by switch: updates that are left or not yet acknowledged */
    bool drained_last;   /* nothing was written since the last drain */
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

static inline enum entry_state planner_entry_state(const struct planner *planner, uint32_t at,
                                                   uint32_t lid)
{
    return planner->phase[(size_t)at * planner->stride + lid];
}

/* The VL of packets from a switch and its terminals to the LID. */
static inline unsigned update_level(const struct routes *routes, uint32_t from, uint32_t lid)
{
    return routes_level(routes, from, lid) % UPDATE_PLAN_VLS;
}

/* For the planner's network, routes and plan. */
void planner_init(struct planner *planner);
void planner_release(struct planner *planner);

/* The VLs that must be held with any order: packets of old levels on new tables, together with
 * those of new levels, have a cycle there. None with one graph. */
uint16_t planner_unsafe_vls(struct planner *planner);
/* Begins with old tables. False if they have a cycle. */
bool planner_begin(struct planner *planner);
/* After a drain only the present tables count. False if they have a cycle. */
bool planner_drain(struct planner *planner);
/* Adds all dependencies of an update from its sending on; removes them and returns false if they
 * close a cycle. */
bool planner_try(struct planner *planner, const struct table_update *update);
/* Adds all updates that are left, and then packets of new service levels by the new tables; returns
 * the VLs with a cycle. The graphs are invalid afterwards. */
uint16_t planner_finish(struct planner *planner);

#endif
