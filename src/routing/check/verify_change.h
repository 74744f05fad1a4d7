/* An independent check of a small change: tables that have passed a check are changed in some
 * entries, because some links or switches went or came.
 *
 * The full check (verify.h) walks from every switch to every LID, which takes 100 times as long as
 * a small change may take. This one walks from those entries only that the change concerns, and it
 * finds out by itself which ones these are: it compares the two networks, and takes changed entries
 * from the plan by which they will be written. It knows nothing of the repair that chose them.
 *
 * Delivery. An entry is concerned if it was changed, if its port leads to another link than before,
 * if its LID belongs to somebody else, or if its switch is new. Any other route goes as it did,
 * and arrives as it did, unless it meets a switch whose entry is concerned; and from there it
 * arrives because that entry is walked to the end.
 *
 * Deadlock. `graph` has all dependencies of the tables that were checked before. To these come the
 * dependencies of new entries, and those of packets that meet old entries at one switch and new
 * ones at another while the plan is carried out. A packet can meet any combination, but for two:
 * - The new entry of a switch and then the old one of the next, if that one was written in an
 *   earlier wave.
 * - The old entry of a switch and then the new one of the next, if a drain lies between the two.
 * Nothing is removed, so that packets which are still under way count, too. The graph had no cycle
 * before; if it has one now, the cycle contains a new dependency. So it is enough to search from
 * the new ones. */
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
    struct dependency_graph graph; /* of all tables since the last full check */
    uint8_t *is_new;               /* by port: its link, or who is at its end, is not what it was */
    VEC(uint32_t) switches;        /* all entries of these are concerned, */
    VEC(uint16_t) lids;            /* all entries for these, */
    VEC(struct verify_entry) entries; /* and these; the caller may add to all three lists */
    uint64_t operations;              /* as engine.h counts */
};

/* Compares the network of the tables that were checked, which have the dependencies `checked`, with
 * that of today. `to_new` has the index today of each switch of then; NETWORK_NONE: it is gone. The
 * caller adds what he knows of entries that are not those that were checked. */
void verify_change_begin(struct verify_change *change, const struct network *before,
                         const struct dependency_graph *checked, const struct network *network,
                         const uint32_t *to_new);
void verify_change_release(struct verify_change *change); /* accepts released ones */

/* `routes` are the tables to be; they differ in `changes` from those that the switches hold.
 * -EHOSTUNREACH if a pair is not connected any more that could be, -EDEADLK if packets may wait for
 * each other in a cycle, -EINVAL if the plan leaves a change out. */
int verify_change(struct verify_change *change, const struct routes *routes,
                  const struct table_change *changes, size_t count, const struct update_plan *plan,
                  struct err *err);

#endif
