/* Repair: after a change of the fabric only what it broke is routed anew.
 *
 * An engine that computes from scratch after every lost link shifts directions and ties all over
 * the fabric. Entries whose routes were fine change with the rest, and changing them under traffic
 * needs waits that changing the broken ones does not. So a route stays unless it is broken (the
 * idea of SlimUpdate), for whatever engine made it. An entry that leads out of a link which is gone
 * gets another port to somebody who is as near to the destination; then all who came this way can
 * stay. Only where there is none, everybody whose route is broken gets the nearest next hop towards
 * those that arrive: the old port if that is as near as any, else the least used one.
 *
 * The dependencies of all old tables, all new ones, and of packets which an old entry sent and a
 * new one forwards must have no cycle together. What is left is a new entry that sends to an old
 * one; where that is dangerous the repair says which entry must be there first. If no choice is
 * left but for packets that an old entry may have sent here, the new one waits until these are
 * gone: a drain for just this entry. So nothing is stopped that was not broken.
 *
 * A link that comes back is used by what is routed from then on; nothing is moved to it before an
 * engine computes again. Entries for addresses that are gone stay as they are, unless `tidy`:
 * nobody sends there, and if the address returns they are right. No repair is possible where no
 * acyclic choice is left; then the tables are as they were, and an engine must compute. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_H
#define WEFT_ROUTING_REPAIR_REPAIR_H

#include "routing/cdg/standing.h"
#include "routing/model/workers.h"
#include "routing/update/order.h"

struct repair_entry {
    uint32_t at;
    uint16_t lid;
    uint8_t before, after;
};

/* One entry must be acknowledged before another is sent, and what it sent before must be gone. */
struct repair_wait {
    uint32_t entry, first; /* in `entries` */
    bool drain;
};

/* An entry that does not lead where it did. */
struct repair_end {
    uint32_t at;
    uint16_t lid;
    uint16_t hops; /* to the destination's switch, before; 0: not known */
};

struct repair {
    /* What is known, of the network of today. */
    struct standing standing;
    VEC(struct repair_end) ends;  /* by switch */
    VEC(struct repair_end) stale; /* entries that are not those that were checked */
    VEC(uint32_t) switches;       /* that are new */
    VEC(uint16_t) lids;           /* that are new or have moved */
    uint64_t *live; /* those of `lids` whose routes carry traffic already; NULL: none */
    uint8_t *fresh; /* by port: its link is another one than when the tables were checked */
    bool tidy;      /* entries for addresses that are gone go, too */
    bool patient;   /* packets in flight do not count: the updates will be ordered with drains */

    /* What was done. */
    VEC(struct repair_entry) entries; /* by LID */
    VEC(struct repair_wait) waits;
    uint64_t broken;     /* entries that had to be looked at */
    uint64_t operations; /* as engine.h counts */
    bool whole;          /* every address is reached from every switch */
};

/* What differs between the network for which the tables were checked and that of today; `to_new`
 * has what became of each switch (NETWORK_NONE: gone). `held` are the tables of today; where they
 * are not those that were checked, there must be an end already. False if that cannot be repaired.
 */
bool repair_compare(struct repair *repair, const struct standing *standing,
                    const struct network *before, const struct routes *routes,
                    const struct network *network, const struct routes *held,
                    const uint32_t *to_new, const struct workers *workers);
void repair_release(struct repair *repair);

/* Mends the tables in place. -EDEADLK if no acyclic choice is left; then they are as they were.
 * `workers` may be NULL; the tables are the same for any. */
int repair_tables(struct repair *repair, const struct network *network, struct routes *routes,
                  const struct workers *workers, struct err *err);
/* The same with nothing known but the tables: what of them arrives is learnt first, and packets in
 * flight are left out of account. There is no repair_plan() after that. */
int repair_patiently(struct repair *repair, const struct network *network, struct routes *routes,
                     struct err *err);
/* Puts back what was. What is known of the tables is lost. */
void repair_undo(struct repair *repair, struct routes *routes);
/* The order in which to write the entries. False if they would wait for each other. */
bool repair_plan(const struct repair *repair, const struct routes *routes, struct order_plan *plan);
/* The most that a link carries, in percent of what it was when an engine last computed. */
unsigned repair_imbalance(const struct repair *repair);

#endif
