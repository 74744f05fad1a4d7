/* An independent check of tables of which some entries changed, in time that grows with these.
 *
 * The tables were right before the change of the network, and the check remembers all dependencies
 * that they gave rise to. What must hold now: every entry that changed arrives, and so does
 * everything that leads out of a port whose link changed, at switches that are new and for
 * addresses that are new; and the dependencies of before together with those of the changed
 * entries, packets in flight included, have no cycle. Routes that meet none of this are as they
 * were.
 *
 * Nothing of the repair is used but what it says it did: the changed entries, of which one must
 * wait until the packets of another are gone, and an order of all channels that shows that there is
 * no cycle. It is compared with every dependency. */
#ifndef WEFT_ROUTING_REPAIR_VERIFY_CHANGE_H
#define WEFT_ROUTING_REPAIR_VERIFY_CHANGE_H

#include "routing/check/dependency.h"
#include "routing/model/workers.h"
#include "routing/repair/repair.h"

/* `graph` has the dependencies of the tables before, moved to the network of today by
 * dependency_move() with the repair's `fresh` ports; those of the change are added. `workers` may
 * be NULL. 0, or -errno with the reason. *operations counts as engine.h does. */
int verify_change(const struct network *network, const struct routes *routes,
                  const struct repair *repair, const struct workers *workers,
                  struct dependency_graph *graph, uint64_t *operations, struct err *err);

#endif
