/* Changes entries of the tables in force when virtual machines start, end or move.
 *
 * vswitch decides which. Terminals and entries change in the network and the routes in force, so
 * that paths, checks and the next plan use them, and in the wanted tables, which program.c
 * writes. */
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/lids.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/blocks.h"
#include "sm/tables/distribute.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program.h"
#include "sm/transactions.h"

bool sm_is_quiet(const struct sm *sm)
{
    return reconfigure_is_at_rest(sm) && discovery_is_complete(sm) && !sm_own_link_is_down(sm);
}

struct subnet *sm_edit_subnet(struct sm *sm)
{
    return &sm->subnet;
}

struct sm_in_force sm_edit_paths(struct sm *sm)
{
    if (!sm_is_quiet(sm))
        return (struct sm_in_force){0};
    plan_paths_changed(sm);
    return (struct sm_in_force){&plan_serving(sm)->network, &plan_serving(sm)->routes};
}

void sm_addresses_moved(struct sm *sm, uint32_t socket, uint32_t other, bool followed)
{
    lids_remember(sm, functions_port(&sm->subnet, socket));
    lids_remember(sm, functions_port(&sm->subnet, other));
    if (!followed)
        return; /* the subnet's generation has changed: new routes are planned */
    reconfigure_accept_topology(sm);
    partitions_plan(sm); /* unused functions lose their keys */
    blocks_program(sm);
}

uint32_t sm_change_entries(struct sm *sm, const struct sm_entry *entries, size_t count)
{
    const struct sm_job *job = plan_serving(sm);
    struct map blocks = {0};
    uint32_t block_count = 0;
    assert(sm_is_quiet(sm) && sm_tables_are_written(sm));
    plan_edit_entries(sm, entries, count);
    for (size_t i = 0; i < count; i++)
        distribute_want_entry(sm, job->nodes.items[entries[i].at], &entries[i]);
    /* One Set for all entries of a block. */
    for (size_t i = 0; i < count; i++) {
        uint32_t block = entries[i].lid / LFT_BLOCK;
        if (map_add(&blocks, (uint64_t)entries[i].at << 10 | block, (uint32_t)i) != i)
            continue;
        program_block(sm, job->nodes.items[entries[i].at], block);
        block_count++;
    }
    map_release(&blocks);
    return block_count;
}

bool sm_tables_are_written(const struct sm *sm)
{
    return !transactions_under_way(sm, GROUP_TABLES);
}
