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
#ifndef WEFT_ROUTING_ORDER_H
#define WEFT_ROUTING_ORDER_H

#include "routing/routes.h"

enum { ORDER_LANES = 16 };

/* Some LIDs of one switch's table: whole blocks where that is safe, else single entries (the block
 * is then written with the old values of the others). */
struct order_update {
    uint32_t at;
    uint16_t first_lid, lid_count;
};
struct order_wave {
    uint32_t first, count; /* in `updates` */
    bool drain;            /* wait for a drain before it … */
    uint32_t drain_hops;   /* … of packets that pass so many switches at the most; 0: not known */
};
struct order_plan {
    VEC(struct order_update) updates;
    VEC(struct order_wave) waves;
    VEC(struct order_update) stuck; /* for these there is no safe order … */
    uint16_t stuck_lanes;           /* … unless these lanes are held (bit = lane), which may be
                                       necessary for new service levels alone, … */
    uint32_t stuck_hops;            /* … and empty: after a drain of so many */
    uint8_t *first_levels;          /* as before->service_levels: by these sources send before the
                                       first wave begins … */
    uint32_t first_hops;            /* … and for a drain of so many; NULL: old ones are fine */
    uint64_t work;                  /* table entries looked at */
    uint64_t operations;            /* all that planning took, as engine.h counts */
};

/* Both tables are of this network; `before` may hold ports that have no link now. A route's lane is
 * its service level (links may have another number for it). `before` has the levels that sources
 * use; without any, all traffic may be on each of its `vls` lanes: one if it is known that there
 * are no others, and as many as there may be if nobody knows. Blocks that are the same in both are
 * left out. Several strategies are tried; the plan with the fewest lanes to hold, the least that is
 * stuck, then the fewest drains, then the fewest waves is taken. */
void order_make(struct order_plan *plan, const struct network *network, const struct routes *before,
                const struct routes *after);
/* Before that, and before the new routes are checked: pairs get their old service levels back where
 * that spares a lane a hold. False, and nothing is changed, if it spares none or if not all pairs
 * would fit. */
bool order_keep_levels(const struct network *network, const struct routes *before,
                       struct routes *after);
/* The same in one: keeps levels, makes a plan, and, if that holds lanes, looks for one that holds
 * fewer, with service levels (`first_levels`) that sources use before any table changes. Changes
 * only service levels of `after`, and those within its lanes. */
void order_ease(struct order_plan *plan, const struct network *network, const struct routes *before,
                struct routes *after);
void order_release(struct order_plan *plan);
uint32_t order_drains(const struct order_plan *plan);

/* As text: one statement a line, "update <switch GUID> [<LID>[-<LID>]]", "wait" between waves and
 * "drain" between waves with one, and "hold <lane> ..." before the updates that are stuck. '#'
 * starts a remark. */
void order_write(const struct order_plan *plan, const struct network *network, struct text *out);
int order_read(struct order_plan *plan, const struct network *network, const char *path,
               struct err *err);
int order_parse(struct order_plan *plan, const struct network *network, const char *name,
                const char *text, struct err *err);

#endif
