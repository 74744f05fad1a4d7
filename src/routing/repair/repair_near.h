/* How near every switch can be to the goals of a repair. Internal to repair.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_NEAR_H
#define WEFT_ROUTING_REPAIR_REPAIR_NEAR_H

#include "routing/model/network.h"

enum { NEAR_FAR = 0xFE, NEAR_NONE = 0xFF }; /* at least as many hops; not connected */

struct repair_near {
    const struct network *network;
    uint32_t *place;      /* by switch: its number among the goals, or NETWORK_NONE */
    VEC(uint32_t) goals;  /* in the order in which they are needed */
    VEC(uint8_t *) tiles; /* 64 goals each, or NULL as long as nobody asked: a row a goal */
    struct repair_ring {
        uint64_t *goals;        /* by switch: those that are just so far away … */
        VEC(uint32_t) switches; /* … from any of these */
    } ring, wider;
    uint64_t *seen; /* by switch: the goals that are not further away */
    size_t unseen;  /* pairs of a switch and a goal that are */
    uint64_t operations;
};

void repair_near_init(struct repair_near *near, const struct network *network);
void repair_near_release(struct repair_near *near);
/* All goals are named before the first question. */
void repair_near_want(struct repair_near *near, uint32_t goal);
/* Measures all that are wanted, before somebody has to ask. */
void repair_near_measure(struct repair_near *near);
/* By switch: hops to the goal; NULL if it is none. */
const uint8_t *repair_near_to(struct repair_near *near, uint32_t goal);

#endif
