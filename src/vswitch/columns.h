/* Which entries of which tables change when a LID goes another way, and in which order.
 *
 * Pure: a network, the routes in force, and who goes where. Nothing is computed anew: the new way
 * is that of another LID that leads to the same place (paper 004, section V-C). Two modes:
 *   balanced  every switch gets the entry by which it reaches that other LID, which keeps the
 *             balance of the routes;
 *   minimal   switches that reach the new place by the entries they have keep them. Inside a leaf
 *             switch that is one switch.
 *
 * The order: between old and new entries switches forward by a mixture of both. Where the routes
 * have up*-down* ranks, no packet may be sent up that came down: then no channels wait for each
 * other in a circle, whatever else is on its way at the same time. So a switch that turns from up
 * to down is written before those that will send down to it, and one that turns from down to up
 * after those that sent down to it, and after a drain. Routes without ranks: see safety.h. */
#ifndef WEFT_VSWITCH_COLUMNS_H
#define WEFT_VSWITCH_COLUMNS_H

#include "base/mem.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"

enum vswitch_mode { VSWITCH_BALANCED, VSWITCH_MINIMAL };

struct column_change {
    uint32_t at;
    uint16_t lid;
    uint8_t before, after;
    uint8_t wave;
};

struct column_plan {
    VEC(struct column_change) changes; /* by wave */
    uint16_t lid, like, span;          /* LIDs that it is about: as many from each on */
    bool swap;
    unsigned waves;
    uint32_t drains;   /* bit i: before wave i, of COLUMN_WAVES */
    unsigned hops;     /* the most switches that a packet passes on its way by any mixture */
    uint32_t switches; /* that get anything … */
    uint32_t blocks;   /* … and how many blocks of 64 LIDs: SMPs, if nothing else goes out */
    bool ranked;       /* the order is safe as it is */
};
/* An order that takes more is not `ranked`: to let the LIDs drop for one drain is quicker then. */
enum { COLUMN_WAVES = 32 };

void columns_plan_release(struct column_plan *plan);

/* `span` LIDs from `lid` on are to go the ways of those from `like` on. -EHOSTUNREACH if these do
 * not lead everywhere from where those may be sent to. With `swap` both change places. */
int columns_plan(struct column_plan *plan, const struct network *network,
                 const struct routes *routes, uint16_t lid, uint16_t like, unsigned span, bool swap,
                 enum vswitch_mode mode);

/* Old and new columns of one LID, for whoever checks: [switch]; made by the plan's changes. */
void columns_read(const struct routes *routes, uint32_t lid, uint8_t *column);

#endif
