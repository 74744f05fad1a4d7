/* In which order to write new tables so that traffic can go on meanwhile.
 *
 * Between old and new tables a fabric runs a mixture of both. The seed (002, section 3.4) says that
 * tables of the same up*-down* graph may mix freely; they may not: a parent that is already updated
 * sends down to a child that is not, the child sends up, and the packet goes round. So updates go
 * in waves. All updates of a wave may be on the wire together; a wave starts when all
 * acknowledgements of the one before have arrived, and, where the plan says so, after a drain: long
 * enough that no packet that was in the fabric before is there still.
 *
 * The rule that the plan keeps: while updates are outstanding their switches forward by the old
 * *and* the new table; and a packet may have been put into a channel by any table since the last
 * drain. All dependencies between channels that arise so, from one drain to the next, together have
 * no cycle. (That is stricter than to take each moment alone, because switches look a packet's way
 * up when it arrives and not when it leaves.) A loop of the mixed tables is such a cycle too.
 *
 * Lanes are kept apart by the service levels of the old routes, by which sources send until
 * everything is written. The whole way:
 *   0. if there are first levels: sources hear of these, and a drain passes when the last has; they
 *      are the old ones from here on;
 *   1. the waves;
 *   2. if there are lanes to hold: no source sends on these any more, while traffic goes on on all
 *      others. After a drain (of `stuck_hops` switches) nothing is left on them, and the stuck
 *      entries are written, all at once;
 *   3. sources hear of the new service levels, and the held lanes are set free. On lanes that were
 *      not held, packets of old levels may travel the new tables for any time; those of held lanes
 *      must all have new levels by now.
 * The rule holds on all lanes at any time of it. A last wave may have no updates: then sources must
 * not hear of new levels before its drain is over. When the next plan begins, packets from before
 * the last drain of this one must be gone. */
#ifndef WEFT_ROUTING_UPDATE_MAKE_PLAN_H
#define WEFT_ROUTING_UPDATE_MAKE_PLAN_H

#include "routing/model/update_plan.h"

/* Both tables are of this network; `before` may hold ports that have no link now. A route's lane is
 * its service level (links may have another number for it). `before` has the levels that sources
 * use; without any, all traffic may be on each of its `vls` lanes: one if it is known that there
 * are no others, and as many as there may be if nobody knows. Blocks that are the same in both are
 * left out. Several strategies are tried; the plan with the fewest lanes to hold, the least that is
 * stuck, then the fewest drains, then the fewest waves is taken. */
void update_plan_make(struct update_plan *plan, const struct network *network,
                      const struct routes *before, const struct routes *after);
/* Before that, and before the new routes are checked: pairs get their old service levels back where
 * that spares a lane a hold. False, and nothing is changed, if it spares none or if not all pairs
 * would fit. */
bool update_plan_keep_levels(const struct network *network, const struct routes *before,
                             struct routes *after);
/* The same in one: keeps levels, makes a plan, and, if that holds lanes, looks for one that holds
 * fewer, with service levels (`first_levels`) that sources use before any table changes. Changes
 * only service levels of `after`, and those within its lanes. */
void update_plan_make_with_levels(struct update_plan *plan, const struct network *network,
                                  const struct routes *before, struct routes *after);

#endif
