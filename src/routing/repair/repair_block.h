/* What is broken in the tables' entries for 64 LIDs, and where the others lead. Internal to
 * repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_BLOCK_H
#define WEFT_ROUTING_REPAIR_REPAIR_BLOCK_H

#include "routing/cdg/standing.h"
#include "routing/model/routes.h"

enum { BLOCK_NOWHERE = UINT16_MAX };

struct repair_block {
    const struct network *network;
    const struct routes *routes;
    const struct standing *standing;
    const uint8_t *fresh; /* by port: its link is another one, of which the graph knows nothing */
    uint16_t lid[ROUTES_BLOCK]; /* what the bits stand for … */
    uint8_t *bit;               /* … and, by LID, the bit; of these only */
    uint64_t lids;              /* all of them */
    uint8_t *rows;              /* a copy of their entries, close together: [switch * 64 + LID] */
    uint16_t *next;             /* by port: the switch that it leads to, or BLOCK_NOWHERE */
    bool counted;               /* what all switches send to them is in the graph */
    uint64_t *broken;           /* by switch: the LIDs for which it does not arrive … */
    uint64_t *fed;              /* … and of these, those for which somebody sends here */
    VEC(uint32_t) met;          /* the switches where there are any */
    uint64_t *open;             /* by switch: what is broken and was not asked for yet */
    VEC(uint32_t) queue;        /* where there is any */
    uint64_t *told;   /* by switch: broken ends; whoever sent to them is not in the graph */
    uint64_t *ends;   /* by switch: the LIDs whose destination it is */
    uint64_t *coming; /* by port of a switch that is broken: the LIDs that come in by it */

    /* By channel: see repair_block_fitting(). */
    struct repair_fitting {
        uint64_t asked;  /* LIDs of which it is known … */
        uint64_t lids;   /* … and those that fit */
        uint64_t before; /* outputs of the next switch that have their place before it … */
        uint32_t number; /* … and the block that the LIDs are of */
    } * fitting;
    uint32_t *fitting_order; /* by channel: one more than the moves of labels that it knows of */
    uint32_t number;
    /* By switch: the first and the last place of all its outputs. */
    struct repair_span {
        int64_t first, last;
        uint32_t order;
    } * span;
    uint64_t operations;
};

void repair_block_init(struct repair_block *block, const struct network *network,
                       const struct routes *routes, const struct standing *standing,
                       const uint8_t *fresh);
void repair_block_release(struct repair_block *block);

/* Begins with these LIDs, up to 64, all of which somebody has; then broken ends are told, and
 * whatever leads to them is found. */
void repair_block_begin(struct repair_block *block, const uint16_t *lids, size_t count);
void repair_block_tell(struct repair_block *block, uint32_t lid, uint32_t at);
void repair_block_spread(struct repair_block *block);

/* Which of these LIDs may leave a switch by this hop, and go on from there by the entries as they
 * were, in agreement with the order of channels. There must be one lane. */
uint64_t repair_block_fitting(struct repair_block *block, uint32_t channel,
                              const struct network_edge *hop, uint64_t lids);
/* The entry of a switch for the LID of a bit, as it is now. */
static inline uint8_t *repair_block_entry(const struct repair_block *block, uint32_t at,
                                          unsigned bit)
{
    return block->rows + (size_t)at * ROUTES_BLOCK + bit;
}
/* The switch that it leads to, or BLOCK_NOWHERE. */
static inline uint32_t repair_block_next(const struct repair_block *block, uint32_t at,
                                         uint8_t port)
{
    const struct network_switch *node = &block->network->switches.items[at];
    return port <= node->port_count ? block->next[node->first_port + port] : BLOCK_NOWHERE;
}
#endif
