/* An independent check of a small change: tables that have passed a check are changed in some
 * entries, because links or switches were lost or added.
 *
 * The full check (verify.h) walks from every switch to every LID, which takes 100 times as long as
 * a small change may take. This one starts only at entries that the change concerns. It finds these
 * itself: it compares the two networks, and reads changed entries from the plan. It is independent
 * of the repair that chose them.
 *
 * Delivery. An entry is concerned if it was changed, if its port leads to another link than before,
 * if its LID has another owner, or if its switch is new. Any other route is unchanged up to the
 * first switch whose entry is concerned; from there it arrives because that entry is followed to
 * the end.
 *
 * Deadlock. `graph` has all dependencies of the tables that were checked before. The check adds the
 * dependencies of new entries, and those of packets that meet old entries at one switch and new
 * ones at another during the update. A packet can meet any combination except two:
 * - The new entry of a switch and then the old one of the next, if that one was written in an
 *   earlier wave.
 * - The old entry of a switch and then the new one of the next, if a drain lies between the two.
 * A switch discards packets that it would send back by their input port (IBA counts them in
 * PortLoopingErrors). They wait for no channel, so they add no dependency if the old tables lost
 * them, too; packets that the old tables delivered must not be sent back.
 *
 * No dependency is removed, so that packets in flight count, too. The graph had no cycle before; if
 * it has one now, the cycle contains a new dependency. So it is enough to search from the new ones.
 */
#ifndef WEFT_ROUTING_CHECK_VERIFY_CHANGE_H
#define WEFT_ROUTING_CHECK_VERIFY_CHANGE_H

#include "routing/check/dependency.h"
#include "routing/model/update_plan.h"

struct verify_entry {
    uint32_t at;
    uint16_t lid;
};

struct verify_change {
    const struct network *network;
    struct dependency_graph graph;    /* of all tables since the last full check */
    bool allow_partial;               /* pairs that the old tables do not deliver may stay so */
    uint8_t *is_new;                  /* by port: its link, or its peer, has changed */
    VEC(uint32_t) switches;           /* switches: the change concerns all their entries */
    VEC(uint16_t) lids;               /* LIDs: the change concerns all entries for them */
    VEC(struct verify_entry) entries; /* further entries; the caller may add to all three lists */
    uint64_t operations;              /* as engine.h counts */
};

/* Compares `before`, the network of the checked tables with the dependencies `checked`, with the
 * present one. `to_new` has the present index of each old switch; NETWORK_NONE: it is gone. The
 * caller adds entries that are not as checked. */
void verify_change_begin(struct verify_change *change, const struct network *before,
                         const struct dependency_graph *checked, const struct network *network,
                         const uint32_t *to_new);
void verify_change_release(struct verify_change *change); /* accepts a released one */

/* `routes` are the new tables; they differ in `changes` from those in the switches. -EHOSTUNREACH
 * if a pair that cables connect has no path, -EDEADLK if packets may wait for each other in a
 * cycle, -EINVAL if the plan leaves a change out. */
int verify_change(struct verify_change *change, const struct routes *routes,
                  const struct table_change *changes, size_t count, const struct update_plan *plan,
                  struct err *err);

#endif
