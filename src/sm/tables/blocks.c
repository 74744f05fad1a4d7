/* Writes blocks of partition, SL to VL, arbitration, multicast and GUID tables (subnet/blocks.h).
 *
 * The planners (partitions.c, qos.c, multicast.c, subnet/alias_guids.h) set the wanted contents.
 * This file sends one Set for each block that differs from the last confirmed one. Blocks are not
 * read first: a manager that takes over writes the same contents once more. */
#include "sm/tables/blocks.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/tables/program_ports.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include <string.h>

static request_outcome block_accepted, block_refused, block_unanswered;
#define SET_BLOCK(table, id)                                                                       \
    {                                                                                              \
        .name = (table), .attribute = (id), .writes = true, .group = GROUP_BLOCKS,                 \
        .answered = block_accepted, .refused = block_refused, .unanswered = block_unanswered       \
    }
static const struct request_kind set_block[BLOCK_KINDS] = {
    [BLOCK_PARTITIONS] = SET_BLOCK("P_Key table", ATTRIBUTE_P_KEY_TABLE),
    [BLOCK_SL2VL] = SET_BLOCK("SL-to-VL table", ATTRIBUTE_SL2VL_TABLE),
    [BLOCK_ARBITRATION] = SET_BLOCK("VL arbitration table", ATTRIBUTE_VL_ARBITRATION_TABLE),
    [BLOCK_MULTICAST] = SET_BLOCK("multicast table", ATTRIBUTE_MULTICAST_FORWARDING_TABLE),
    [BLOCK_GUIDS] = SET_BLOCK("GUID table", ATTRIBUTE_GUID_INFO),
};

enum { ALL_INPUTS = 0x20000 }; /* of an SL to VL map: see 14.2.5.8 */

static uint32_t modifier_of(const struct subnet_port *port, bool at_switch,
                            const struct block *block)
{
    unsigned number = at_switch ? port->number : 0;
    switch ((enum block_kind)block->kind) {
    case BLOCK_PARTITIONS: return number << 16 | block->part;
    case BLOCK_SL2VL:
        if (block->part == BLOCK_ALL_INPUTS)
            return ALL_INPUTS | number;
        return at_switch ? (uint32_t)block->part << 8 | number : 0;
    case BLOCK_ARBITRATION: return (uint32_t)block->part << 16 | port->number;
    case BLOCK_GUIDS: return block->part;
    default: return (uint32_t)(block->part >> 9) << 28 | (block->part & 0x1FFu);
    }
}

static void write_block(struct sm *sm, uint32_t row)
{
    assert(row < sm->subnet.blocks.rows.count && sm_state(sm) == SM_MASTER);
    const struct block *block = &sm->subnet.blocks.rows.items[row];
    const struct subnet_port *port = port_at(sm, block->port);
    bool at_switch = node_at(sm, port->node)->kind == SUBNET_SWITCH;
    sm_send(sm, &set_block[block->kind], (union request_subject){.row = row},
            subnet_end_port(&sm->subnet, block->port), modifier_of(port, at_switch, block),
            blocks_content(&sm->subnet.blocks, block->wanted));
}

/* The second port of the manager's own adapter may be unreachable while the node is present. */
static bool is_reachable(struct sm *sm, uint32_t port)
{
    uint32_t end = subnet_end_port(&sm->subnet, port);
    return node_at(sm, port_at(sm, port)->node)->present &&
           (end == sm->subnet.own_port || port_at(sm, end)->via != SUBNET_NONE);
}

/* Blocks of an unreachable port are queued again by blocks_forget() when it is back. */
void blocks_program(struct sm *sm)
{
    if (sm_state(sm) != SM_MASTER || !sm->config.policy->services)
        return;
    for (uint32_t row; (row = blocks_take(&sm->subnet.blocks)) != BLOCKS_NONE;) {
        if (is_reachable(sm, sm->subnet.blocks.rows.items[row].port))
            write_block(sm, row);
        else
            blocks_refuse(&sm->subnet.blocks, row);
    }
}

/* A Set of a block has ended. */
static void block_done(struct sm *sm, uint32_t row)
{
    assert(row < sm->subnet.blocks.rows.count && !sm->subnet.blocks.rows.items[row].writing);
    uint32_t port = sm->subnet.blocks.rows.items[row].port;
    if (blocks_port_is_settled(&sm->subnet.blocks, port))
        program_link(sm, port);
    blocks_program(sm); /* this block may be wanted differently by now */
}

static void block_accepted(struct sm *sm, const struct request *request)
{
    blocks_set_actual(&sm->subnet.blocks, request->about.row, request->data);
    block_done(sm, request->about.row);
}

static void block_refused(struct sm *sm, const struct request *request)
{
    uint32_t row = request->about.row;
    const struct subnet_port *port = port_at(sm, sm->subnet.blocks.rows.items[row].port);
    sm_log_at(sm, SM_EVENT_WARNING, sm->subnet.blocks.rows.items[row].port,
              "port %u of 0x%016llx refuses its %s (status 0x%x)", port->number,
              (unsigned long long)node_at(sm, port->node)->guid, request->kind->name,
              request->status);
    blocks_refuse(&sm->subnet.blocks, row);
    if (request->tries > 1) /* the node may have executed an earlier try */
        blocks_set_actual(&sm->subnet.blocks, row, NULL);
    block_done(sm, row);
}

/* A node that does not answer is removed, and its blocks wait until it is back. The manager's own
 * node is never removed: there it counts as a refusal, so that the Set is not repeated without end.
 */
static void block_unanswered(struct sm *sm, const struct request *request)
{
    uint32_t row = request->about.row;
    const struct subnet_port *port = port_at(sm, sm->subnet.blocks.rows.items[row].port);
    if (request->target != sm->subnet.own_port) {
        blocks_set_actual(&sm->subnet.blocks, row, NULL);
        discovery_lost_contact(sm, request->target);
        return;
    }
    sm_log_at(sm, SM_EVENT_WARNING, sm->subnet.blocks.rows.items[row].port,
              "port %u of 0x%016llx, the manager's own node, does not answer a Set of its %s: not "
              "written",
              port->number, (unsigned long long)node_at(sm, port->node)->guid, request->kind->name);
    blocks_refuse(&sm->subnet.blocks, row);
    block_done(sm, row);
}

static void blocks_list_problems(struct sm *sm, struct problems *problems)
{
    const struct blocks *blocks = &sm->subnet.blocks;
    for (uint32_t row = 0; row < blocks->rows.count; row++) {
        const struct block *block = &blocks->rows.items[row];
        uint32_t last = row ? blocks->rows.items[row - 1].port : SUBNET_NONE;
        if (block->refused && is_reachable(sm, block->port) && port_at(sm, block->port)->known &&
            block->port != last)
            problems_add(problems, PROBLEM_REFUSED_TABLE, subnet_at_port(&sm->subnet, block->port),
                         "the port refuses partition, service level, multicast or GUID tables");
    }
}

bool blocks_are_written(const struct sm *sm)
{
    return !transactions_under_way(sm, GROUP_BLOCKS) &&
           sm->subnet.blocks.queue_taken == sm->subnet.blocks.queue.count;
}

static void blocks_requests_dropped(struct sm *sm)
{
    for (uint32_t row = 0; row < sm->subnet.blocks.rows.count; row++)
        if (sm->subnet.blocks.rows.items[row].writing)
            blocks_set_actual(&sm->subnet.blocks, row, NULL);
}

SM_PART_OF_SUBNET(block_writer, .requests_dropped = blocks_requests_dropped,
                  .problems = blocks_list_problems, .as_master = true);
