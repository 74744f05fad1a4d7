/* Plans the LFT entries to change when a LID moves, and the order in which to write them.
 *
 * A column is the LFT entry of every switch for one LID. The plan is a pure function of the
 * network, the routes in force and the move. It computes no routes: the LID takes the path of
 * another LID that leads to the same place (CLUSTER 2015, section V-C). In balanced mode, every
 * switch takes the entry that it has for the other LID, which keeps the balance. In minimal mode, a
 * switch whose old entry also leads to the new place keeps it; for a move within one leaf switch,
 * only that switch changes.
 *
 * While entries are written, switches forward by a mixture of old and new ones. If the routes have
 * up*-down* ranks, the order of writes ensures that no packet goes up after it went down. Then no
 * dependency cycle can form, whatever else changes at the same time. A switch whose entry turns
 * from up to down is written before the switches that will send down to it. A switch whose entry
 * turns from down to up is written after the switches that sent down to it, and after a drain.
 * safety.h covers routes without ranks. */
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
    uint16_t lid, like, span; /* `span` LIDs from `lid` take the paths of those from `like` */
    bool swap;
    unsigned waves;
    uint32_t drains;   /* bit i: a drain precedes wave i */
    unsigned hops;     /* upper bound of switches on a path during the update */
    uint32_t switches; /* number of switches that change */
    uint32_t blocks;   /* number of LFT blocks that change: SMPs, if sent alone */
    bool ranked;       /* the ranks prove that the order is safe */
};
/* A plan with more waves is not `ranked`: dropping the LIDs for one drain is faster then. */
enum { COLUMN_WAVES = 32 };

void columns_plan_release(struct column_plan *plan);

/* Plans that `span` LIDs from `lid` take the paths of those from `like`; with `swap`, also the
 * reverse. -EHOSTUNREACH if a switch has a path to the former but none to the latter. */
int columns_plan(struct column_plan *plan, const struct network *network,
                 const struct routes *routes, uint16_t lid, uint16_t like, unsigned span, bool swap,
                 enum vswitch_mode mode);

/* Puts all changes into one wave without a drain. `switches`: of the network. */
void columns_join_waves(struct column_plan *plan, uint32_t switches);

/* Reads the column of a LID, by switch. */
void columns_read(const struct routes *routes, uint32_t lid, uint8_t *column);

#endif
