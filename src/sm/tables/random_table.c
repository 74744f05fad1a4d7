/* Random forwarding tables, for switches without linear ones (14.2.5.12).
 *
 * Such a switch holds (LID, port) pairs and a default port for all other LIDs. The wanted table is
 * linear as for other switches; a LID needs an entry unless its port is the default port. PIRa
 * computes default ports, which makes tables small (TPDS 2006); with other engines every LID needs
 * an entry. An entry keeps its index, so that a change affects few blocks. */
#include "sm/tables/random_table.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/job.h"
#include "sm/plan.h"
#include "sm/tables/program.h"
#include "sm/transactions.h"

#include <string.h>

enum { BLOCK_ENTRIES = 16 };

static request_outcome random_block_accepted, random_block_refused;
static const struct request_kind set_random_block = {
    .attribute = ATTRIBUTE_RANDOM_FORWARDING_TABLE,
    .writes = true,
    .group = GROUP_TABLES,
    .ended = program_block_ended,
    .answered = random_block_accepted,
    .refused = random_block_refused,
    .unanswered = program_block_unanswered,
    .loses_contact = true,
};

bool random_table_is_used(const struct subnet_node *node)
{
    return node->kind == SUBNET_SWITCH &&
           wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP) == 0 &&
           wire_get(node->switch_info, SWITCH_INFO_RANDOM_FDB_CAP) != 0;
}

/* Routes without default ports, such as the final ones of a hybrid engine, keep those of the
 * switches: entries that equal the default port need not be written then. */
unsigned random_table_default(const struct sm *sm, uint32_t node)
{
    const struct sm_job *job = plan_current(sm);
    for (uint32_t at = 0; job->routes.default_ports && at < job->nodes.count; at++)
        if (job->nodes.items[at] == node)
            return job->routes.default_ports[at];
    return (unsigned)wire_get(sm->subnet.nodes.items[node].switch_info, SWITCH_INFO_DEFAULT_PORT);
}

static bool needs_entry(const struct subnet_tables *tables, unsigned lid, unsigned default_port)
{
    return lid && lid <= tables->wanted_top && tables->wanted[lid] != PORT_NONE &&
           tables->wanted[lid] != default_port;
}

static void set_entry(uint8_t *blocks, unsigned slot, unsigned lid, unsigned port)
{
    uint8_t *block = blocks + slot / BLOCK_ENTRIES * SMP_DATA_BYTES;
    unsigned at = slot % BLOCK_ENTRIES;
    wire_set_at(block, RANDOM_FORWARDING_TABLE_LID, at, lid);
    wire_set_at(block, RANDOM_FORWARDING_TABLE_VALID, at, lid != 0);
    wire_set_at(block, RANDOM_FORWARDING_TABLE_LMC, at, 0);
    wire_set_at(block, RANDOM_FORWARDING_TABLE_PORT, at, port);
}

static unsigned entry_lid(const uint8_t *blocks, unsigned slot)
{
    const uint8_t *block = blocks + slot / BLOCK_ENTRIES * SMP_DATA_BYTES;
    unsigned at = slot % BLOCK_ENTRIES;
    if (!wire_get_at(block, RANDOM_FORWARDING_TABLE_VALID, at))
        return 0;
    return (unsigned)wire_get_at(block, RANDOM_FORWARDING_TABLE_LID, at);
}

/* Turns the actual blocks into the wanted ones; false: they do not fit. */
static bool build_blocks(const struct subnet_tables *tables, unsigned capacity,
                         unsigned default_port, uint8_t *blocks)
{
    uint64_t placed[LFT_ENTRIES / 64] = {0};
    for (unsigned slot = 0; slot < capacity; slot++) {
        unsigned lid = entry_lid(blocks, slot);
        bool stays = lid < LFT_ENTRIES && needs_entry(tables, lid, default_port) &&
                     !(placed[lid / 64] >> (lid % 64) & 1);
        set_entry(blocks, slot, stays ? lid : 0, stays ? tables->wanted[lid] : 0);
        if (stays)
            placed[lid / 64] |= UINT64_C(1) << (lid % 64);
    }
    unsigned slot = 0;
    for (unsigned lid = 1; lid <= tables->wanted_top; lid++) {
        if (!needs_entry(tables, lid, default_port) || (placed[lid / 64] >> (lid % 64) & 1))
            continue;
        while (slot < capacity && entry_lid(blocks, slot))
            slot++;
        if (slot == capacity)
            return false;
        set_entry(blocks, slot, lid, tables->wanted[lid]);
    }
    return true;
}

/* random_table_program() has updated the linear table. */
static void random_block_accepted(struct sm *sm, const struct request *request)
{
    program_block_done(sm, request->about.table.node);
}

/* The linear table has the refused entries: the block is not sent again before others are wanted.
 */
static void random_block_refused(struct sm *sm, const struct request *request)
{
    program_report_refused_block(sm, request, "");
    program_block_done(sm, request->about.table.node);
}

/* Writes the blocks that differ and updates the linear table, which other files compare. */
void random_table_program(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    assert(random_table_is_used(n) && n->tables);
    struct subnet_tables *tables = n->tables;
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_RANDOM_FDB_CAP) /
                        BLOCK_ENTRIES * BLOCK_ENTRIES;
    size_t bytes = (size_t)capacity / BLOCK_ENTRIES * SMP_DATA_BYTES;
    bool known = subnet_block_known(tables, 0);
    if (known && memcmp(tables->wanted, tables->actual, tables->wanted_top + 1u) == 0)
        return;
    if (!tables->random)
        tables->random = mem_zalloc(1, bytes);
    uint8_t *wanted = mem_alloc(bytes);
    memcpy(wanted, tables->random, bytes);
    if (!build_blocks(tables, capacity, random_table_default(sm, node), wanted)) {
        if (program_first_lacks_room(sm, node))
            sm_log_listed(sm, SM_EVENT_ERROR, n->first_port,
                          "the table of switch 0x%016llx holds only %u routes: none are written",
                          (unsigned long long)n->guid, capacity);
    } else {
        for (uint32_t block = 0; block < capacity / BLOCK_ENTRIES; block++) {
            const uint8_t *data = wanted + block * SMP_DATA_BYTES;
            if (known && !memcmp(data, tables->random + block * SMP_DATA_BYTES, SMP_DATA_BYTES))
                continue;
            program_block_sent(sm, node);
            sm_send(sm, &set_random_block, (union request_subject){.table = {node, block}},
                    n->first_port, block, data);
        }
        memcpy(tables->random, wanted, bytes);
        discovery_store_random_table(sm, node);
    }
    mem_free(wanted);
}
