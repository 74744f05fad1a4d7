/* Repair: after a change of the fabric, only broken routes are computed again.
 *
 * An engine that computes from scratch after every lost link changes directions and ties all over
 * the fabric. Entries of intact routes change with the rest, and their change under traffic needs
 * waits that a change of broken ones does not. So a route stays unless it is broken (the idea of
 * SlimUpdate), whichever engine made it. An entry that leads to a lost link gets another port that
 * makes its route as long as before; then all routes through it can stay. If there is no such port,
 * every switch whose route is broken gets the shortest route to a switch whose route arrives: by
 * its old port if that is as short as any, else by the least loaded one.
 *
 * The dependencies (cdg.h) of all old tables, of all new ones, and of packets that an old entry
 * sent and a new one forwards must have no cycle together. That leaves packets that a new entry
 * sends and an old one forwards: where these are unsafe, the repair orders the two entries. If only
 * packets of an old entry prevent every choice, the new entry is written after a drain of these
 * packets. So traffic of intact routes never stops.
 *
 * Routes through a failed switch often turn back: packets that an old entry sent arrive at a switch
 * whose new entry leads out of their input port. A switch discards such packets (IBA counts them in
 * PortLoopingErrors), and the old tables lose them, too. They add no dependency and need no drain.
 *
 * A repair with `allow_partial` changes all entries that find an acyclic choice and leaves the
 * others broken, so that these do not delay the rest. It reports a cycle that prevents one of them.
 *
 * A restored link is used by routes that are computed afterwards; other routes move to it when an
 * engine computes again. Entries for unused LIDs stay, unless `drop_unused_lids`: no packet is sent
 * to them, and they are right if the LID returns. If no acyclic choice is left, the repair fails,
 * the tables do not change, and an engine must compute. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_H
#define WEFT_ROUTING_REPAIR_REPAIR_H

#include "routing/cdg/cdg.h"
#include "routing/model/update_plan.h"

/* State of the tables in the switches that a repair needs. */
struct repair_state {
    bool known;     /* the tables have passed a check and deliver everywhere */
    bool directed;  /* the order of channels is that of an engine's up*-down* directions */
    struct cdg cdg; /* at least the dependencies of the tables; a layer for each VL */
    uint64_t *load; /* by port, as verify.h counts it; approximate after a detour or a drain */
    uint64_t peak;  /* the highest load of a link between switches after the last engine run */
};

/* Makes the state of tables that have passed a check. Their dependencies are added one by one, in
 * any order. `ranks` are those of routes.h, or NULL. The state owns `load`. False, and there is no
 * state, if the dependencies have a cycle. */
void repair_state_begin(struct repair_state *state, const struct network *network, unsigned vls,
                        const uint32_t *ranks);
void repair_state_note(void *state, uint32_t at, unsigned in, unsigned out, unsigned vl);
bool repair_state_end(struct repair_state *state, uint64_t *load, uint64_t peak);
void repair_state_release(struct repair_state *state); /* accepts a released one */

/* An entry that does not lead to where it led. */
struct repair_end {
    uint32_t at;
    uint16_t lid;
    uint16_t hops;   /* to the destination's switch, before the change; 0: not known */
    uint32_t beyond; /* the first switch of its old path behind what was lost, or NETWORK_NONE */
};

struct repair {
    /* Input, for the present network. */
    struct repair_state state;
    VEC(struct repair_end) ends;
    VEC(uint16_t) lids; /* new or moved LIDs: all their entries are checked */
    uint64_t *live;     /* bits: those of `lids` whose routes carry traffic already; NULL: none */
    uint8_t *is_new;    /* by port: its link has changed since the tables were checked */
    uint8_t *forwards;  /* by switch: it carries pairs of other switches' terminals; NULL: none */
    bool drop_unused_lids; /* remove entries for unused LIDs */
    bool may_drain;        /* packets in flight do not count: the updates are ordered with drains */
    bool allow_partial; /* entries that find no acyclic choice stay broken, and the repair succeeds
                         */

    /* Result. */
    VEC(struct table_change) entries; /* by LID */
    VEC(struct update_wait) waits;
    uint64_t broken;         /* broken entries */
    uint64_t left;           /* of these, entries that stay broken (if `allow_partial`) */
    struct repair_end stuck; /* an entry that found no choice */
    VEC(uint32_t) cycle;     /* switches of a cycle that a choice would close there; none: 0 */
    uint64_t operations;     /* as engine.h counts */
    bool whole;              /* every LID is reached from every switch */
};

/* Compares the network of the checked tables with the present one. `to_new` has the present index
 * of each old switch (NETWORK_NONE: gone). `held` are the tables in the switches; where they differ
 * from the checked ones, there must be an end already. False if the change cannot be repaired. */
bool repair_compare(struct repair *repair, const struct repair_state *state,
                    const struct network *before, const struct routes *routes,
                    const struct network *network, const struct routes *held,
                    const uint32_t *to_new);
void repair_release(struct repair *repair);

/* Changes the tables in place. -EDEADLK if no acyclic choice is left (and if all entries stay
 * broken); then they do not change. */
int repair_tables(struct repair *repair, const struct network *network, struct routes *routes,
                  struct err *err);
/* For a repair without regard to packets in flight: `kept` becomes the tables without the
 * entries that do not arrive, which become the ends of this repair. It shares service levels and
 * offsets with `routes`. The caller makes the state of these tables, and must not call
 * repair_plan() then. */
void repair_drop_broken(struct repair *repair, const struct network *network,
                        const struct routes *routes, struct routes *kept);
/* Restores the tables. Their state is lost. */
void repair_undo(struct repair *repair, struct routes *routes);
/* The order in which to write the entries. False if they would wait for each other. */
bool repair_plan(const struct repair *repair, const struct routes *routes,
                 struct update_plan *plan);
/* Restores the entries that the plan writes after a drain, and removes them from both. */
void repair_leave_drains(struct repair *repair, struct routes *routes, struct update_plan *plan);
/* The highest load of a link between switches, and the same in percent of the peak after the last
 * engine run. A route that changes also loads links behind it whose entries stay. */
uint64_t repair_highest_load(const struct repair_state *state, const struct network *network);
unsigned repair_imbalance(const struct repair *repair);

#endif
