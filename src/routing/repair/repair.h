/* Repair: after a change of the fabric only the routes that it broke are computed anew.
 *
 * An engine that computes from scratch after every lost link shifts directions and ties all over
 * the fabric. Entries whose routes were fine change with the rest, and changing them under traffic
 * needs waits that changing the broken ones does not. So a route stays unless it is broken (the
 * idea of SlimUpdate), whichever engine made it. An entry that leads to a link which is gone gets
 * another port that makes its route as long as it was; then all routes that come this way can stay.
 * Only where there is no such port, every switch whose route is broken gets the shortest route to
 * those that arrive: by its old port if that is as short as any, else by the least used one.
 *
 * The dependencies (cdg.h) of all old tables, of all new ones, and of packets that an old entry
 * sent and a new one forwards must have no cycle together. What remains is a new entry that sends
 * to an old one. Where that is dangerous the repair notes which entry must be written first. If no
 * choice is left but for packets that an old entry may have sent, the new entry waits until these
 * are gone: a drain for this entry alone. So no traffic is stopped that was not broken.
 *
 * A link that comes back is used by what is routed from then on; nothing is moved to it before an
 * engine computes again. Entries for addresses that are gone stay as they are, unless `tidy`:
 * nobody sends there, and if the address returns they are right. No repair is possible where no
 * acyclic choice is left; then the tables are as they were, and an engine must compute. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_H
#define WEFT_ROUTING_REPAIR_REPAIR_H

#include "routing/cdg/cdg.h"
#include "routing/model/update_plan.h"

/* What a repair knows of the tables that are in the switches. */
struct repair_state {
    bool known;     /* the tables have passed a check and deliver everywhere */
    bool directed;  /* the order of channels is that of an engine's up*-down* directions */
    struct cdg cdg; /* at least the dependencies of the tables; a layer for each VL */
    uint64_t *load; /* by port, as verify.h counts it, about */
    uint64_t peak;  /* the highest of links between switches when an engine last computed */
};

/* The state of tables that have passed a check: their dependencies are noted one by one, in any
 * order. `ranks` are those of routes.h, or NULL. `load` becomes the state's own. False, and there
 * is no state, if the dependencies have a cycle. */
void repair_state_begin(struct repair_state *state, const struct network *network, unsigned vls,
                        const uint32_t *ranks);
void repair_state_note(void *state, uint32_t at, unsigned in, unsigned out, unsigned vl);
bool repair_state_end(struct repair_state *state, uint64_t *load, uint64_t peak);
void repair_state_release(struct repair_state *state); /* accepts released ones */

/* One entry must be acknowledged before another is sent; `drain`: and what it sent before must be
 * gone. */
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
    struct repair_state state;
    VEC(struct repair_end) ends;
    VEC(uint16_t) lids; /* new or moved ones: all entries for them are looked at */
    uint64_t *live;     /* those of `lids` whose routes carry traffic already; NULL: none */
    uint8_t *is_new;    /* by port: its link is another one than when the tables were checked */
    bool tidy;          /* entries for addresses that are gone are removed */
    bool patient; /* packets in flight do not count: the updates will be ordered with drains */

    /* What was done. */
    VEC(struct table_change) entries; /* by LID */
    VEC(struct repair_wait) waits;
    uint64_t broken;     /* entries that had to be looked at */
    uint64_t operations; /* as engine.h counts */
    bool whole;          /* every address is reached from every switch */
};

/* Finds what differs between the network for which the tables were checked and that of today.
 * `to_new` has the index today of each switch of then (NETWORK_NONE: gone). `held` are the tables
 * of today; where they are not those that were checked, there must be an end already. False if that
 * cannot be repaired. */
bool repair_compare(struct repair *repair, const struct repair_state *state,
                    const struct network *before, const struct routes *routes,
                    const struct network *network, const struct routes *held,
                    const uint32_t *to_new);
void repair_release(struct repair *repair);

/* Changes the tables in place. -EDEADLK if no acyclic choice is left; then they are as they were.
 */
int repair_tables(struct repair *repair, const struct network *network, struct routes *routes,
                  struct err *err);
/* For a repair that leaves packets in flight out of account: `kept` becomes the tables without the
 * entries that do not arrive, which are the ends of this repair then. It shares service levels and
 * offsets with `routes`. The caller finds the state of these tables, and there is no repair_plan()
 * after that. */
void repair_forget(struct repair *repair, const struct network *network,
                   const struct routes *routes, struct routes *kept);
/* Restores the tables. What is known of them is lost. */
void repair_undo(struct repair *repair, struct routes *routes);
/* The order in which to write the entries. False if they would wait for each other. */
bool repair_plan(const struct repair *repair, const struct routes *routes,
                 struct update_plan *plan);
/* The most that a link carries, in percent of what it was when an engine last computed. */
unsigned repair_imbalance(const struct repair *repair);

#endif
