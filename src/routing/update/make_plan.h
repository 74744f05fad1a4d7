/* The order in which new tables are written while traffic continues.
 *
 * During an update a fabric runs a mixture of old and new tables. TPDS 2006 (section 3.4) says that
 * tables of the same up*-down* graph may mix freely. They may not: a parent with a new table sends
 * down to a child with an old one, the child sends up, and the packet loops. So updates are sent in
 * waves. All updates of a wave may be outstanding together; a wave starts when all acknowledgements
 * of the wave before have arrived and, where the plan says so, after a drain: a wait until all
 * packets that were in the fabric before are gone.
 *
 * The rule of the plan: while updates are outstanding, their switches forward by the old *and* the
 * new table, and any table since the last drain may have put a packet into a channel. All
 * dependencies between channels that arise so, from one drain to the next, together have no cycle.
 * (That is stricter than each moment alone, because switches look up a packet's output port when it
 * arrives and not when it leaves.) A loop of the mixed tables is such a cycle, too.
 *
 * Packets use the VLs of the old routes' service levels until all entries are written. The steps:
 *   0. if there are first levels: sources begin to use these, and a drain follows; they are the old
 *      levels from here on;
 *   1. the waves;
 *   2. if there are VLs to hold: sources stop sending on these, while traffic continues on all
 *      others. After a drain (of `stuck_hops` switches) they are empty, and the stuck entries are
 *      written, all at once;
 *   3. sources begin to use the new service levels, and the held VLs are released. On VLs that were
 *      not held, packets of old levels may travel the new tables for any time; on held VLs all
 *      packets must have new levels by now.
 * The rule holds on all VLs in all steps. A last wave may have no updates: then sources must not
 * use new levels before its drain is over. When the next plan begins, packets from before the last
 * drain of this one must be gone. */
#ifndef WEFT_ROUTING_UPDATE_MAKE_PLAN_H
#define WEFT_ROUTING_UPDATE_MAKE_PLAN_H

#include "routing/model/update_plan.h"

/* Both tables are of this network; `before` may hold ports that have no link now. A route's VL is
 * its service level (links may have another number for it). `before` has the levels that sources
 * use; without any, all traffic may be on each of its `vls` VLs: one if there are known to be no
 * others, and the maximum if unknown. Equal blocks are left out. Several strategies are tried; the
 * plan with the fewest VLs to hold, the least that is stuck, then the fewest drains, then the
 * fewest waves is taken. */
void update_plan_make(struct update_plan *plan, const struct network *network,
                      const struct routes *before, const struct routes *after);
/* A plan without a search: nothing is written before sources are held on all VLs. */
void update_plan_hold_all(struct update_plan *plan, const struct network *network,
                          const struct routes *before, const struct routes *after);
/* To be called before the new routes are checked: pairs get their old service levels back where
 * that spares a VL a hold. False, and nothing changes, if it spares none or if not all pairs
 * fit. */
bool update_plan_keep_levels(const struct network *network, const struct routes *before,
                             struct routes *after);
/* Keeps levels, makes a plan and, if that holds VLs, searches for one that holds fewer, with
 * service levels (`first_levels`) that sources use before any table changes. Changes only service
 * levels of `after`, and those within its VLs. */
void update_plan_make_with_levels(struct update_plan *plan, const struct network *network,
                                  const struct routes *before, struct routes *after);

#endif
