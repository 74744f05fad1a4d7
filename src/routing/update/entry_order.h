/* The order of single entries, of which some must wait for others: those of a repair, and those of
 * addresses that move.
 *
 * The strategy that chose the entries has found what each of them waits for; no dependency graph is
 * searched here. Entries wait only for entries of their own LID. An entry that needs no drain never
 * waits for one: a drain takes far longer than one more write. */
#ifndef WEFT_ROUTING_UPDATE_ENTRY_ORDER_H
#define WEFT_ROUTING_UPDATE_ENTRY_ORDER_H

#include "routing/model/update_plan.h"

struct entry_order {
    const struct table_change *entries;
    size_t count;
    const struct update_wait *waits; /* numbers are those of `entries` */
    size_t wait_count;
    const struct routes *joined; /* tables in which entries of one block are written together where
                                    that is possible; NULL: each entry as early as it may be */
    uint32_t drain_hops;
};
/* Within a wave, entries keep their order. False if entries wait for each other in a cycle, or in a
 * chain that is too long: the plan is empty then. */
bool entry_order_plan(const struct entry_order *order, struct update_plan *plan);

#endif
