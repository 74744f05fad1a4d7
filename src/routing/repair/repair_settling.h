/* A switch that is to be settled for some LIDs of a batch, and the hops that it may take. Internal
 * to repair_batch.c. */
#ifndef WEFT_ROUTING_REPAIR_REPAIR_SETTLING_H
#define WEFT_ROUTING_REPAIR_REPAIR_SETTLING_H

#include "routing/repair/repair_batch.h"

/* A hop, and the LIDs for which … */
struct repair_candidate {
    uint64_t use;  /* of the link; lower ports come first where that is the same */
    uint64_t good; /* … it may be chosen and agrees with the order in every way, … */
    uint64_t open; /* … it may be chosen, … */
    uint64_t goes; /* … what follows agrees with the order, … */
    uint64_t late; /* … what comes to the switch does not; all of that as far as is known */
    const struct network_edge *hop;
    bool rated; /* it is known */
};

/* What comes to a switch by one of its inputs. */
struct repair_inflow {
    uint8_t in;
    uint64_t lids;
};

struct repair_settling {
    uint32_t at, hops;
    uint64_t lids;
    uint64_t *load;
    uint8_t turn;
    int64_t last_inflow; /* the last place of what comes in, in the order */
    unsigned inflow_count, candidate_count;
    struct repair_inflow inflows[NETWORK_TOP_PORT + 1];
    struct repair_candidate candidates[NETWORK_TOP_PORT + 1];
    uint8_t place[256]; /* by port: which of them it is, if it is any */
    uint64_t refused;   /* LIDs for which some hop was near enough */
};

/* What comes to the switch, and neighbours that may be near enough. */
void settling_find_inflows(struct repair_batch *batch, struct repair_settling *settling);
void settling_find_candidates(struct repair_batch *batch, struct repair_settling *settling);

/* Finds out whether it leads to somebody who arrives now, and what agrees with the order. */
void settling_rate(struct repair_batch *batch, struct repair_settling *settling,
                   struct repair_candidate *candidate);
/* The order has changed. */
void settling_forget_ratings(struct repair_settling *settling);
/* How much the link is used; lower ports come first where that is the same. */
uint64_t settling_use(const struct repair_settling *settling, const struct network_edge *hop);

/* Of those that are good for a LID: the old port, or the one with the least use; NULL: none. */
struct repair_candidate *settling_best(struct repair_settling *settling, uint64_t bit, uint8_t old);
/* Of the others, which are all rated. Hops that agree with the order in what follows come first, or
 * are the only ones where an engine gave directions. */
struct repair_candidate *settling_next_best(const struct repair_batch *batch,
                                            struct repair_settling *settling, uint64_t bit,
                                            uint8_t old);

#endif
