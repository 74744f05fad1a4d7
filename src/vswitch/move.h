/* A machine that starts, ends or moves: which functions are told what, in which order, and where
 * its address is afterwards (paper 004, algorithm 1; docs/decisions/015-vswitch.md has the
 * reasons).
 *
 * Pure: a move is planned once, before anything is written; each step makes something wanted of one
 * function, and the next step waits for the outcome. */
#ifndef WEFT_VSWITCH_MOVE_H
#define WEFT_VSWITCH_MOVE_H

#include "routing/model/network.h"
#include "subnet/subnet.h"

struct move {
    uint64_t guid;           /* of the machine */
    uint32_t source, target; /* sockets; SUBNET_NONE: it starts, it ends */
    uint16_t lid;            /* of the machine */
    uint16_t before;         /* of the new place until then; 0: none */
    uint16_t left;           /* of the old place from then on; 0: none */
    uint16_t open;           /* of the new place while it gets its keys; 0: it has one */
    bool keys;               /* there are partitions: keys go before machines */
};

/* In this order, as far as they apply. */
enum move_step {
    MOVE_PLANNED,
    MOVE_OPEN,   /* the new place gets a LID, so that keys can be written there */
    MOVE_KEYS,   /* the machine's partition keys are written to the new place */
    MOVE_ATTACH, /* the new place gets the machine */
    MOVE_DETACH, /* the old place lets the machine go */
    MOVE_DONE,
    MOVE_UNDO, /* after a failure: the new place gets back what it had */
};
enum move_step move_next(const struct move *move, const struct subnet *subnet, enum move_step step);
/* Makes the step's wish wanted of its function, whose socket it returns. */
uint32_t move_begin(const struct move *move, struct subnet *subnet, enum move_step step);

/* Addresses are where the move leads, in the subnet and, unless it is NULL, in a network. But a LID
 * that nobody had is no terminal there before terminals_place(): entries of tables for it may be
 * left from whoever had it last. */
void move_addresses(const struct move *move, struct subnet *subnet, struct network *network);

#endif
