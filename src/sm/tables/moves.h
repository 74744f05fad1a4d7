/* Addresses of virtual machines that move: LIDs, routes in force and table entries. */
#ifndef WEFT_SM_TABLES_MOVES_H
#define WEFT_SM_TABLES_MOVES_H

#include "routing/model/update_plan.h"
#include "sm/sm.h"
#include "sm/tables/distribute.h"

/* One machine's address that moves: wanted by the owner, planned here, written by distribute.c. */
struct address_move {
    uint64_t number;
    struct move move;
    bool minimal;
    uint64_t job;            /* of the routes in force when the addresses changed */
    uint64_t drained_before; /* time of all drains of routes until then */
    bool planned;
    struct sm_move_result result;
    struct update_plan plan;
    struct table_writer writer;
};

static inline bool moves_is_written(const struct address_move *move)
{
    return move->planned && move->result.state == SM_MOVE_PENDING;
}

size_t moves_count(const struct sm *sm, bool over); /* those that are over, or the others */
/* Number `i` of those that are known; NULL after the last one. */
struct address_move *moves_at(const struct sm *sm, size_t i);
/* Plans the moves that are not planned yet. True if one made progress. */
bool moves_plan(struct sm *sm);
void moves_end(struct sm *sm, struct address_move *move); /* all its entries are acknowledged */
bool moves_take_reroute(struct sm *sm);                   /* new routes are needed, once */
void moves_drop(struct sm *sm);                           /* this manager is no longer master */

#endif
