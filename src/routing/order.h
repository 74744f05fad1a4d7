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
 * up when it arrives and not when it leaves.) A loop of the mixed tables is such a cycle too. */
#ifndef WEFT_ROUTING_ORDER_H
#define WEFT_ROUTING_ORDER_H

#include "routing/routes.h"

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
    VEC(struct order_update) stuck; /* for these there is no safe order: traffic must stop, … */
    uint16_t stuck_lanes;           /* … on these lanes (bits), … */
    uint32_t stuck_hops;            /* … for a drain of so many */
    uint64_t work;                  /* table entries looked at */
    uint64_t operations;            /* all that planning took, as engine.h counts */
};

/* Both tables are of this network; `before` may hold ports that have no link now. Blocks that are
 * the same in both are left out. Several strategies are tried; the plan with the least that is
 * stuck, then the fewest drains, then the fewest waves is taken. */
void order_make(struct order_plan *plan, const struct network *network, const struct routes *before,
                const struct routes *after);
void order_release(struct order_plan *plan);
uint32_t order_drains(const struct order_plan *plan);

/* As text: one statement a line, "update <switch GUID> [<LID>[-<LID>]]", "wait" between waves and
 * "drain" between waves with one. '#' starts a remark. */
void order_write(const struct order_plan *plan, const struct network *network, struct text *out);
int order_read(struct order_plan *plan, const struct network *network, const char *path,
               struct err *err);
int order_parse(struct order_plan *plan, const struct network *network, const char *name,
                const char *text, struct err *err);

#endif
