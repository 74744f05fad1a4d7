/* The plan of an update in which a LID moves to another place: no routes are computed.
 *
 * A column is the LFT entry of every switch for one LID. The LID takes the path of another LID that
 * leads to the new place (CLUSTER 2015, section V-C). In balanced mode, every
 * switch takes the entry that it has for the other LID, which keeps the balance. In minimal mode, a
 * switch whose old entry also leads to the new place keeps it; for a move within one leaf switch,
 * only that switch changes.
 *
 * While entries are written, switches forward by a mixture of old and new ones. If the routes have
 * up*-down* ranks, the order of writes ensures that no packet goes up after it went down. Then no
 * dependency cycle can form, whatever else changes at the same time. A switch whose entry turns
 * from up to down is written before the switches that will send down to it. A switch whose entry
 * turns from down to up is written after the switches that sent down to it, and after a drain.
 *
 * Routes without ranks need the dependencies of all routes in force, which struct column_check
 * keeps from move to move, in one graph per VL (routing/cdg/cdg.h). A plan adds those of old and
 * new entries in any mixture on trial. If they close no cycle, all entries are written at once. If
 * the mixture could deadlock but the new path could not, the entries are stuck: they drop packets,
 * a drain follows, and then they are written. Dependencies of paths that are no longer used stay in
 * the graph until the routes change or a trial fails; then the graph is built again, and the trial
 * is repeated. */
#ifndef WEFT_ROUTING_UPDATE_COLUMNS_H
#define WEFT_ROUTING_UPDATE_COLUMNS_H

#include "routing/model/update_plan.h"

struct column_move {
    uint16_t lid, like, span; /* `span` LIDs from `lid` take the paths of those from `like` */
    bool swap;                /* and the reverse */
    bool minimal;
};

/* The waves are of single entries, with their `ports`. -EHOSTUNREACH if a switch has a path to a
 * LID but none to the one that it follows. `ranked`: the ranks prove that the waves are safe; else
 * there is one wave. `naive`: one wave in any case. */
int columns_plan(struct update_plan *plan, const struct network *network,
                 const struct routes *routes, const struct column_move *move, bool naive,
                 bool *ranked);

/* The number of switches that change, and of the Sets that write the plan. */
uint32_t columns_switches(const struct update_plan *plan);
uint32_t columns_blocks(const struct update_plan *plan);

struct column_check;
struct column_check *column_check_new(void);
void column_check_free(struct column_check *check); /* accepts NULL */

struct column_rules {
    uint64_t routes_job; /* differs whenever the routes do */
    bool naive;          /* write all entries at once, whatever happens */
    bool unranked;       /* some routes do not follow the ranks */
    bool alone;          /* no other change is being written */
};
enum columns_verdict {
    COLUMNS_READY,
    COLUMNS_LATER, /* not while other changes are being written */
    COLUMNS_NEVER, /* there is no new path, or it could deadlock: routes must be computed */
};
/* Makes a plan, in balanced mode if the minimal one could deadlock. Dependencies of a plan that is
 * ready become part of the graph. The plan is the caller's unless there is none. */
enum columns_verdict column_check_plan(struct column_check *check, struct update_plan *plan,
                                       const struct network *network, const struct routes *routes,
                                       const struct column_move *move,
                                       const struct column_rules *rules);

#endif
