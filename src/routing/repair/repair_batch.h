/* Mending the entries of up to 64 terminals' LIDs together. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_BATCH_H
#define WEFT_ROUTING_REPAIR_REPAIR_BATCH_H

#include "routing/repair/repair_column.h"

enum { BATCH_LIDS = ROUTES_BLOCK, BATCH_DETOUR = 4, BATCH_LEVELS = NEAR_FAR };

/* LIDs for which a switch is to be settled at one distance. */
struct repair_task {
    uint32_t at;
    uint64_t lids;
};

struct repair_batch {
    struct repair_column *column;
    struct repair_block *block;
    uint64_t hard;         /* LIDs that are left to be mended one by one */
    uint64_t blocked;      /* of these, those for which the order would have to change */
    uint8_t turn;          /* ports come later by that where links are used alike */
    uint64_t *settled;     /* by switch: LIDs for which it was broken, and arrives now */
    uint8_t *hops;         /* [switch * BATCH_LIDS + LID]: one more than its hops; 0: not known */
    uint32_t *slot;        /* by switch of block->met: its place there, and its row in … */
    VEC(uint32_t) changed; /* [slot * BATCH_LIDS + LID]: in repair->entries, or NETWORK_NONE … */
    VEC(uint32_t) row;     /* … and, if the order stays as it is, in … */
    VEC(uint64_t) load;    /* … the load of its links; that of the repair is not changed then */
    unsigned goal_count;
    struct repair_goal {
        uint32_t at;
        uint64_t lids;
        const uint8_t *near;
    } goals[BATCH_LIDS];
    struct repair_nearness {
        uint32_t number;     /* the block for which it is known */
        uint8_t least, most; /* hops to the goals, at least */
    } * nearness;            /* by switch */
    VEC(struct repair_task) levels[BATCH_LEVELS];
    unsigned level, top_level;
};

void repair_batch_init(struct repair_batch *batch, struct repair_column *column);
void repair_batch_release(struct repair_batch *batch);
/* The column's block has all that is broken. Returns the LIDs that are mended; for the others
 * everything is as it was. */
uint64_t repair_batch_mend(struct repair_batch *batch);

#endif
