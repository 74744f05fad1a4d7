/* What virtual machines that start, end and move do to routes in force.
 *
 * No routes are computed for them. Their addresses change places, in the subnet's rows and in the
 * network that the routes in force were computed for, so that paths, checks and the next plan start
 * from the truth; and entries of tables change, through the same wanted and actual side as all
 * else. What is decided here is nothing: the vswitch library says which.
 *
 * A LID beyond the top of the tables needs SwitchInfo to be written before the block is of any use.
 * So that this does not happen with every machine, tables are made longer in steps. */
#include "sm/internal.h"

#include "base/bitset.h"

enum { TOP_STEP = 1024 };

/* ---- places ---- */

static void remember(struct sm *sm, uint64_t guid, unsigned lid, unsigned lmc)
{
    map_set(&sm->remembered, guid, lid << 3 | lmc);
    vec_push(&sm->facts, ((struct sm_fact){guid, (uint16_t)lid, (uint8_t)lmc}));
}

static uint32_t terminal_of(const struct network *network, unsigned lid)
{
    uint32_t owner = lid && lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    return owner == NETWORK_NONE || owner & NETWORK_SWITCH ? NETWORK_NONE : owner;
}

/* The terminal of this LID hangs where the function's PF does. */
static void place_terminal(struct sm *sm, struct network *network, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    uint32_t vswitch = port_at(sm, p->peer)->node;
    uint32_t pf = subnet_pf_of(&sm->subnet, vswitch);
    uint32_t beside = pf == SUBNET_NONE ? NETWORK_NONE : terminal_of(network, port_at(sm, pf)->lid);
    uint32_t terminal = terminal_of(network, p->lid);
    if (beside == NETWORK_NONE)
        return;
    if (terminal == NETWORK_NONE)
        terminal = network_join_terminal(network, p->guid, p->lid, p->lmc, beside);
    else if (network->terminals.items[terminal].at != network->terminals.items[beside].at ||
             network->terminals.items[terminal].port != network->terminals.items[beside].port)
        network_move_terminal(network, terminal, beside);
    if (terminal == NETWORK_NONE)
        return;
    network->terminals.items[terminal].guid = p->guid;
    network_name(network, terminal, node_at(sm, p->node)->description);
}

static void drop_terminal(struct sm *sm, struct network *network, unsigned lid)
{
    uint32_t terminal = terminal_of(network, lid);
    if (terminal != NETWORK_NONE && sm->subnet.by_lid[lid] == SUBNET_NONE)
        network_drop_terminal(network, terminal);
}

void sm_show_function(struct sm *sm, uint32_t socket)
{
    uint32_t port = sm_function_port(sm, socket);
    if (port == SUBNET_NONE || port_at(sm, socket)->peer != port)
        return;
    place_terminal(sm, &sm->serving->network, port);
    sm->paths_generation++;
}

void sm_place_functions(struct sm *sm, uint64_t now, const struct sm_placement *placements,
                        size_t count)
{
    (void)now;
    bool quiet = sm_is_quiet(sm);
    uint16_t *before = mem_alloc(count * sizeof *before + 1);
    for (size_t i = 0; i < count; i++) {
        uint32_t port = sm_function_port(sm, placements[i].socket);
        before[i] = port == SUBNET_NONE ? 0 : port_at(sm, port)->lid;
        if (port != SUBNET_NONE && before[i] != placements[i].lid)
            subnet_set_lid(&sm->subnet, port, 0, 0);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t socket = placements[i].socket, port = sm_function_port(sm, socket);
        sm_port_work(sm, socket)->held = false;
        partitions_let_go(sm, socket);
        if (port == SUBNET_NONE)
            continue;
        if (!placements[i].lid) {
            functions_pull_out(sm, socket);
            continue;
        }
        subnet_set_lid(&sm->subnet, port, placements[i].lid, sm->config.lmc);
        remember(sm, port_at(sm, port)->guid, placements[i].lid, sm->config.lmc);
        if (quiet && terminal_of(&sm->serving->network, placements[i].lid) != NETWORK_NONE)
            sm_show_function(sm, socket);
    }
    for (size_t i = 0; quiet && i < count; i++)
        drop_terminal(sm, &sm->serving->network, before[i]);
    mem_free(before);
    sm->subnet.generation++; /* port GUIDs may be others */
    if (!quiet)
        return; /* the subnet's generation tells that routes are to be planned anew */
    sm->planned_generation = sm->subnet.generation;
    sm->paths_generation++;
    partitions_plan(sm); /* functions that were left have nobody's keys any more */
    blocks_program(sm);
}

uint16_t sm_next_free_lid(struct sm *sm)
{
    unsigned span = 1u << sm->config.lmc;
    unsigned first = (sm->next_machine_lid + span - 1) / span * span;
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned lid = turn || !first ? span : first; lid + span - 1 <= LID_UNICAST_LAST;
             lid += span)
            if (subnet_lid_range_free(&sm->subnet, SUBNET_NONE, lid, sm->config.lmc)) {
                sm->next_machine_lid = (uint16_t)(lid + span);
                return (uint16_t)lid;
            }
    }
    return 0;
}

/* ---- entries ---- */

/* The top that switches are told, a step ahead of what is used, where LIDs come one by one. */
uint16_t moves_spare_top(const struct sm *sm, const struct subnet_node *node)
{
    unsigned used = node->tables->wanted_top;
    unsigned capacity = (unsigned)wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    unsigned top = (used / TOP_STEP + 2) * TOP_STEP - 1;
    if (!sm->config.dynamic_lids || !sm->hypervisors)
        top = used;
    if (top > LID_UNICAST_LAST)
        top = LID_UNICAST_LAST;
    if (capacity && top >= capacity)
        top = capacity - 1; /* though more be used: a switch would refuse more */
    return (uint16_t)top;
}

void sm_change_entries(struct sm *sm, uint64_t now, const struct sm_entry *entries, size_t count)
{
    (void)now;
    struct routes *routes = &sm->serving->routes;
    struct map blocks = {0};
    bool idle = sm->tables_under_way == 0;
    uint16_t top = routes->top_lid;
    for (size_t i = 0; i < count; i++)
        top = entries[i].lid > top ? entries[i].lid : top;
    if (top > routes->top_lid)
        routes_grow(routes, top);
    if (!sm->serving->edited)
        sm->serving->edited = mem_zalloc(BITSET_WORDS(LFT_ENTRIES), sizeof(uint64_t));
    sm->serving->unseen = true;
    for (size_t i = 0; i < count; i++) {
        const struct sm_entry *entry = &entries[i];
        struct subnet_tables *tables = node_at(sm, sm->serving->nodes.items[entry->at])->tables;
        routes_set(routes, entry->at, entry->lid, entry->port);
        bitset_add(sm->serving->edited, entry->lid);
        tables->wanted[entry->lid] = entry->port;
        if (tables->wanted_top < entry->lid)
            tables->wanted_top = entry->lid;
    }
    /* Only now, so that entries of one block go out together. */
    for (size_t i = 0; idle && i < count; i++) {
        uint32_t block = entries[i].lid / LFT_BLOCK;
        if (map_add(&blocks, (uint64_t)entries[i].at << 10 | block, (uint32_t)i) == i)
            program_block(sm, sm->serving->nodes.items[entries[i].at], block);
    }
    map_release(&blocks);
    sm->stale |= !idle; /* compared when what is under way has come through */
    sm->paths_generation++;
}

void sm_copy_levels(struct sm *sm, uint16_t lid, uint16_t like)
{
    struct routes *routes = &sm->serving->routes;
    if (lid > routes->top_lid)
        routes_grow(routes, lid);
    routes_copy_levels(routes, lid, like);
}

/* Before routes are planned: what is remembered of the tables in force, for mending them (mend.c),
 * is found anew once for all the entries that machines have changed. It has only grown since, and
 * what is there no more may close circles. Where the check refuses, all is computed anew. */
void moves_take_stock(struct sm *sm)
{
    struct sm_job *job = sm->serving;
    struct err err;
    if (job && job == sm->current && job->unseen && job->repair_state.known &&
        plan_check(job, &job->routes, &err) == 0)
        job->unseen = false;
}

bool sm_tables_are_written(const struct sm *sm)
{
    return sm->tables_under_way == 0;
}

uint64_t sm_drain_time(const struct sm *sm, unsigned hops)
{
    if (sm->config.drain_ns)
        return sm->config.drain_ns;
    return distribute_packet_life(sm) * (hops + 1u);
}
