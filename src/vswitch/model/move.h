/* The steps to start, stop or migrate a virtual machine (VM), and the LIDs afterwards (CLUSTER
 * 2015, algorithm 1; docs/decisions/015-vswitch.md has the reasons).
 *
 * A move is planned once, before anything is written. Each step sets the wanted state of one
 * virtual function; the next step waits for the outcome. */
#ifndef WEFT_VSWITCH_MODEL_MOVE_H
#define WEFT_VSWITCH_MODEL_MOVE_H

#include "routing/model/network.h"
#include "subnet/subnet.h"

struct move {
    uint64_t guid;           /* of the VM's port */
    const char *name;        /* of the VM; the owner's */
    uint32_t source, target; /* VF ports; SUBNET_NONE: the VM starts or stops */
    uint16_t lid;            /* of the VM */
    uint16_t before;         /* LID of the target before the move; 0: none */
    uint16_t left;           /* LID of the source after the move; 0: none */
    uint16_t open;           /* LID of the target while its P_Keys are written; 0: it has one */
    bool keys; /* partitions are in use: P_Keys are written before the VM is attached */
};

/* In this order; steps that do not apply are skipped. */
enum move_step {
    MOVE_PLANNED,
    MOVE_OPEN,   /* the target gets a LID, so that P_Keys can be written to it */
    MOVE_KEYS,   /* the VM's P_Keys are written to the target */
    MOVE_ATTACH, /* the VM is attached to the target */
    MOVE_DETACH, /* the VM is detached from the source */
    MOVE_DONE,
    MOVE_UNDO, /* after a failure: the target gets its former setting */
};
enum move_step move_next(const struct move *move, const struct subnet *subnet, enum move_step step);
/* Sets the wanted state of the step's function and returns its VF port. */
uint32_t move_begin(const struct move *move, struct subnet *subnet, enum move_step step);

/* Assigns the LIDs of the finished move in the subnet and, unless it is NULL, in the network. A LID
 * that was unused gets its terminal only by terminals_place(): LFTs may still hold entries of its
 * previous owner. */
void move_addresses(const struct move *move, struct subnet *subnet, struct network *network);

#endif
