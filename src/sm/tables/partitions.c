/* Partitions: the P_Keys of every port and their enforcement by switches (10.9, 14.2.4).
 *
 * Without rules (sm_config.partitions) no table is written. With rules, every end port gets its
 * keys, and so does the switch port behind which it is if enforcement is configured.
 * PartitionEnforcement is set when those keys are confirmed, so that no allowed packet is dropped.
 *
 * Software uses indices of keys, so a key keeps its index: a table is read once before it is first
 * written, and new keys get free indices. A port whose table is too small keeps its keys; one log
 * line covers all such ports.
 *
 * Rules select ports by GUID. A virtual function has the port GUID of its virtual machine, so its
 * keys are planned again when a machine is attached or detached. The keys of a machine are written
 * to a function before the machine is attached (functions_want_keys()).
 *
 * Rules that are removed leave the default partition, with all ports as full members. */
#include "sm/tables/partitions.h"
#include "sm/internal.h"
#include "sm/tables/blocks.h"
#include "sm/tables/functions.h"
#include "sm/tables/program.h"
#include "sm/tables/program_ports.h"
#include "sm/transactions.h"

#include <string.h>

struct end_port {
    enum { NOT_READ, READING, READ } table;
    uint64_t done; /* plan_key_of() when it was planned; 0: not planned, or it failed */
};

static request_outcome keys_read, finish_port, keys_unanswered;
static const struct request_kind get_keys = {
    .attribute = ATTRIBUTE_P_KEY_TABLE,
    .group = GROUP_KEYS,
    .answered = keys_read,
    .refused = finish_port,
    .unanswered = keys_unanswered,
    .loses_contact = true,
};

struct partitioning {
    bool used;                         /* this manager writes partition tables */
    bool rules_changed;                /* since the last plan */
    uint64_t generation;               /* of the subnet at the last plan */
    uint64_t activations, holds_ended; /* of functions at the last plan */
    VEC(struct end_port) ports;        /* by port of the subnet */
    /* Of the port that is planned; scratch. */
    struct partition_keys keys;
    VEC(uint16_t) before, table;
    struct partitions default_rules; /* if rules were removed */
    /* End ports whose table is too small; switch ports that cannot enforce; hash of the last log.
     */
    uint32_t overfull, first_overfull, unenforced, first_unenforced;
    uint64_t reported;
};

static bool is_switch(struct sm *sm, uint32_t port)
{
    return node_at(sm, port_at(sm, port)->node)->kind == SUBNET_SWITCH;
}

static struct end_port *end_port_at(struct sm *sm, uint32_t port)
{
    assert(subnet_is_end_port(&sm->subnet, port));
    return vec_at(&sm->partitioning->ports, port);
}

/* The GUID whose keys the port gets: its own, or that of a virtual machine to be attached. */
static uint64_t key_owner_of(struct sm *sm, uint32_t end)
{
    const struct virtual_function *function = functions_of_port(&sm->subnet, end);
    return function && function->key_owner ? function->key_owner : port_at(sm, end)->guid;
}

/* A hash of all inputs of a port's plan except the rules; never 0. */
static uint64_t plan_key_of(struct sm *sm, uint32_t end)
{
    return hash_mix(key_owner_of(sm, end) ^ hash_mix(port_at(sm, end)->peer)) | 1;
}

static const struct partitions *rules_of(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    if (sm->config.partitions)
        return sm->config.partitions;
    if (!work->default_rules.all.count)
        partitions_make_default(&work->default_rules);
    return &work->default_rules;
}

static unsigned key_capacity_of(struct sm *sm, uint32_t end)
{
    return node_at(sm, port_at(sm, end)->node)->partition_cap;
}

static unsigned blocks_of(unsigned capacity)
{
    return (capacity + PARTITION_BLOCK - 1) / PARTITION_BLOCK;
}

/* ---- tables ---- */

/* Loads the actual blocks, or the wanted ones where the actual ones are unknown. */
static void load_table(struct sm *sm, uint32_t end, unsigned capacity)
{
    struct partitioning *work = sm->partitioning;
    const struct blocks *blocks = &sm->subnet.blocks;
    size_t count = (size_t)blocks_of(capacity) * PARTITION_BLOCK;
    work->before.count = work->table.count = 0;
    (void)vec_at(&work->before, count); /* zeroed */
    (void)vec_at(&work->table, count);
    for (unsigned part = 0; part < blocks_of(capacity); part++) {
        const uint8_t *block = blocks_actual(blocks, end, BLOCK_PARTITIONS, part);
        if (!block)
            block = blocks_wanted(blocks, end, BLOCK_PARTITIONS, part);
        for (unsigned i = 0; block && i < PARTITION_BLOCK; i++)
            work->before.items[part * PARTITION_BLOCK + i] =
                (uint16_t)wire_get_at(block, P_KEY_TABLE_P_KEY, i);
    }
}

/* Blocks that are and stay blank are not wanted. */
static void want_table(struct sm *sm, uint32_t end, unsigned capacity)
{
    static const uint16_t blank[PARTITION_BLOCK];
    for (unsigned part = 0; part < blocks_of(capacity); part++) {
        const uint16_t *keys = &sm->partitioning->table.items[part * PARTITION_BLOCK];
        const uint16_t *before = &sm->partitioning->before.items[part * PARTITION_BLOCK];
        uint8_t block[BLOCK_BYTES];
        if (!memcmp(keys, blank, sizeof blank) && !memcmp(before, blank, sizeof blank) &&
            !blocks_wanted(&sm->subnet.blocks, end, BLOCK_PARTITIONS, part))
            continue;
        for (unsigned i = 0; i < PARTITION_BLOCK; i++)
            wire_set_at(block, P_KEY_TABLE_P_KEY, i, keys[i]);
        blocks_want(&sm->subnet.blocks, end, BLOCK_PARTITIONS, part, block);
    }
}

/* ---- enforcement ---- */

static void unwant_table(struct sm *sm, uint32_t port)
{
    struct blocks *blocks = &sm->subnet.blocks;
    for (uint32_t row = blocks_next_of_port(blocks, port, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, port, row))
        if (blocks->rows.items[row].kind == BLOCK_PARTITIONS)
            blocks_want_nothing(blocks, port, BLOCK_PARTITIONS, blocks->rows.items[row].part);
}

/* The switch port at the other end of an end port's link; SUBNET_NONE: none. */
static uint32_t enforcing_port_of(struct sm *sm, uint32_t end)
{
    uint32_t peer = port_at(sm, end)->peer;
    return peer != SUBNET_NONE && !is_switch(sm, end) && is_switch(sm, peer) ? peer : SUBNET_NONE;
}

static void plan_enforcement(struct sm *sm, uint32_t end)
{
    struct partitioning *work = sm->partitioning;
    uint32_t enforcer = enforcing_port_of(sm, end);
    if (enforcer == SUBNET_NONE)
        return;
    const struct subnet_node *node = node_at(sm, port_at(sm, enforcer)->node);
    unsigned capacity =
        (unsigned)wire_get(node->switch_info, SWITCH_INFO_PARTITION_ENFORCEMENT_CAP);
    bool fits = work->keys.keys.count <= capacity;
    if (sm->config.part_enforce == SM_ENFORCE_NOT || !fits) {
        unwant_table(sm, enforcer);
        if (sm->config.part_enforce != SM_ENFORCE_NOT && capacity && work->unenforced++ == 0)
            work->first_unenforced = enforcer;
        return;
    }
    for (unsigned part = 0; part < blocks_of(capacity); part++) {
        uint8_t block[BLOCK_BYTES] = {0};
        unsigned first = part * PARTITION_BLOCK;
        for (unsigned i = 0; i < PARTITION_BLOCK && first + i < work->keys.keys.count; i++)
            wire_set_at(block, P_KEY_TABLE_P_KEY, i, work->keys.keys.items[first + i]);
        blocks_want(&sm->subnet.blocks, enforcer, BLOCK_PARTITIONS, part, block);
    }
}

void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info)
{
    const struct blocks *blocks = &sm->subnet.blocks;
    if (!sm->partitioning->used || !is_switch(sm, port) || port_at(sm, port)->number == 0)
        return;
    bool enforces =
        !is_switch(sm, port_at(sm, port)->peer) && blocks_wanted(blocks, port, BLOCK_PARTITIONS, 0);
    if (enforces && blocks_find_missing(blocks, port, BLOCK_PARTITIONS))
        return;
    unsigned how = enforces ? sm->config.part_enforce : SM_ENFORCE_NOT;
    wire_set(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, (how & SM_ENFORCE_IN) != 0);
    wire_set(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, (how & SM_ENFORCE_OUT) != 0);
}

/* ---- planning ---- */

/* The switch port is written first. */
static enum function_outcome plan_port(struct sm *sm, uint32_t end)
{
    struct partitioning *work = sm->partitioning;
    const struct partitions *rules = rules_of(sm);
    unsigned capacity = key_capacity_of(sm, end);
    struct partition_port port = {.guid = key_owner_of(sm, end),
                                  .kind = node_at(sm, port_at(sm, end)->node)->kind,
                                  .self = end == sm->subnet.own_port};
    load_table(sm, end, capacity);
    partitions_find_keys(rules, &port, &work->keys);
    if (!partitions_place(rules, &work->keys, work->before.items, capacity, work->table.items)) {
        if (work->overfull++ == 0)
            work->first_overfull = end;
        return FUNCTION_REFUSED;
    }
    uint32_t unenforced = work->unenforced;
    plan_enforcement(sm, end);
    want_table(sm, end, capacity);
    if (work->unenforced == unenforced)
        end_port_at(sm, end)->done = plan_key_of(sm, end);
    return FUNCTION_DONE;
}

/* Logs a set of ports once. */
static void report_problems(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    uint64_t problems = hash_mix(hash_mix(work->overfull ^ (uint64_t)work->first_overfull << 32) ^
                                 (work->unenforced | (uint64_t)work->first_unenforced << 32));
    if (problems == work->reported)
        return;
    work->reported = problems;
    if (work->overfull) {
        const struct subnet_port *port = port_at(sm, work->first_overfull);
        sm_log_at(sm, SM_EVENT_ERROR, work->first_overfull,
                  "%u ports are in more partitions than their tables can hold and keep their keys; "
                  "the first: port %u of 0x%016llx, with %u entries",
                  work->overfull, port->number, (unsigned long long)node_at(sm, port->node)->guid,
                  key_capacity_of(sm, work->first_overfull));
    }
    if (work->unenforced) {
        const struct subnet_port *port = port_at(sm, work->first_unenforced);
        sm_log_at(sm, SM_EVENT_ERROR, work->first_unenforced,
                  "%u switch ports cannot hold the keys of the port behind them and do not enforce "
                  "them; the first: port %u of 0x%016llx",
                  work->unenforced, port->number,
                  (unsigned long long)node_at(sm, port->node)->guid);
    }
}

/* ---- reading ---- */

static void read_block(struct sm *sm, uint32_t end, unsigned block)
{
    assert(block < blocks_of(key_capacity_of(sm, end)));
    end_port_at(sm, end)->table = READING;
    sm_send(sm, &get_keys, (union request_subject){.keys = {end, block}}, end, block, NULL);
}

/* The table is read, or the port refuses. */
static void finish_port(struct sm *sm, const struct request *request)
{
    uint32_t end = request->about.keys.port;
    end_port_at(sm, end)->table = READ;
    functions_end_keys(sm, end, plan_port(sm, end));
    if (!transactions_under_way(sm, GROUP_KEYS))
        report_problems(sm);
    blocks_program(sm);
    program_port(sm, end);
    if (enforcing_port_of(sm, end) != SUBNET_NONE)
        program_port(sm, enforcing_port_of(sm, end));
}

/* A blank block is the end of the table: keys have the lowest indices. */
static void keys_read(struct sm *sm, const struct request *request)
{
    static const uint8_t blank[BLOCK_BYTES];
    uint32_t end = request->about.keys.port, block = request->about.keys.block;
    blocks_set_known(&sm->subnet.blocks, end, BLOCK_PARTITIONS, block, request->answer);
    if (memcmp(request->answer, blank, sizeof blank) != 0 &&
        block + 1 < blocks_of(key_capacity_of(sm, end)))
        read_block(sm, end, block + 1);
    else
        finish_port(sm, request);
}

static void keys_unanswered(struct sm *sm, const struct request *request)
{
    uint32_t end = request->about.keys.port;
    sm->partitioning->rules_changed = true;
    end_port_at(sm, end)->table = READ;
    functions_end_keys(sm, end, FUNCTION_LOST);
}

static void drop_partitioning(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    for (uint32_t port = 0; port < work->ports.count; port++)
        if (work->ports.items[port].table == READING) {
            work->ports.items[port].table = NOT_READ;
            functions_end_keys(sm, port, FUNCTION_LOST);
        }
    work->rules_changed = true;
}

void partitions_forget(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        unwant_table(sm, port);
    work->ports.count = 0;
    work->rules_changed = true;
}

bool partitions_are_settled(struct sm *sm, uint32_t port)
{
    uint32_t peer = port_at(sm, port)->peer;
    if (!sm_uses_partitions(sm))
        return true;
    if (!subnet_is_end_port(&sm->subnet, port))
        port = peer == SUBNET_NONE || is_switch(sm, peer) ? SUBNET_NONE : peer;
    return port == SUBNET_NONE || end_port_at(sm, port)->table == READ;
}

/* ---- updates ---- */

/* A port that comes back keeps its plan. */
static void update_port(struct sm *sm, uint32_t end)
{
    if (!subnet_is_end_port(&sm->subnet, end) || !port_at(sm, end)->known || !port_at(sm, end)->lid)
        return;
    struct end_port *port = end_port_at(sm, end);
    if (!key_capacity_of(sm, end))
        port->table = READ;
    else if (port->table == NOT_READ)
        read_block(sm, end, 0);
    else if (port->table == READ && port->done != plan_key_of(sm, end))
        plan_port(sm, end);
}

void partitions_plan(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    if (!sm->config.partitions && !work->used)
        return;
    uint64_t activations = functions_activations(&sm->subnet.functions, work->activations);
    if (!work->rules_changed && work->used && work->generation == sm->subnet.generation &&
        work->activations == activations && work->holds_ended == sm->subnet.functions.holds_ended)
        return;
    for (size_t i = 0; work->rules_changed && i < work->ports.count; i++)
        work->ports.items[i].done = 0; /* absent ports included */
    work->used = true;
    work->rules_changed = false;
    work->generation = sm->subnet.generation;
    work->activations = activations;
    work->holds_ended = sm->subnet.functions.holds_ended;
    work->overfull = work->unenforced = work->first_overfull = work->first_unenforced = 0;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        if (!node->present)
            continue;
        for (unsigned number = 0; number <= node->port_count; number++)
            update_port(sm, node->first_port + number);
    }
    if (!transactions_under_way(sm, GROUP_KEYS))
        report_problems(sm);
    program_schedule(sm); /* PartitionEnforcement is in PortInfo */
}

/* ---- virtual machines ---- */

bool sm_uses_partitions(const struct sm *sm)
{
    return (sm->config.partitions || sm->partitioning->used) && sm->config.policy->services;
}

static void forget_table(struct sm *sm, uint32_t port)
{
    struct blocks *blocks = &sm->subnet.blocks;
    unwant_table(sm, port);
    for (uint32_t row = blocks_next_of_port(blocks, port, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, port, row))
        if (blocks->rows.items[row].kind == BLOCK_PARTITIONS && !blocks->rows.items[row].writing)
            blocks_set_actual(blocks, row, NULL);
}

void partitions_came_up(struct sm *sm, uint32_t vf_port)
{
    uint32_t end = functions_at(&sm->subnet, vf_port)->port;
    if (end == SUBNET_NONE || end >= sm->partitioning->ports.count)
        return;
    struct end_port *port = end_port_at(sm, end);
    forget_table(sm, vf_port);
    forget_table(sm, end);
    port->done = 0;
    if (port->table == READ)
        port->table = NOT_READ;
}

void partitions_prepare(struct sm *sm, uint32_t vf_port)
{
    uint32_t end = port_at(sm, vf_port)->peer;
    if (end == SUBNET_NONE)
        return;
    if (!key_capacity_of(sm, end))
        functions_end_keys(sm, end, FUNCTION_DONE);
    else if (end_port_at(sm, end)->table == NOT_READ)
        read_block(sm, end, 0);
    else if (end_port_at(sm, end)->table == READ)
        functions_end_keys(sm, end, plan_port(sm, end));
    blocks_program(sm);
}

void partitions_rules_changed(struct sm *sm)
{
    sm->partitioning->rules_changed = true;
}

static void release_partitioning(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    vec_release(&work->ports);
    vec_release(&work->before);
    vec_release(&work->table);
    partition_keys_release(&work->keys);
    partitions_release(&work->default_rules);
}

SM_PART(partitioning, .release = release_partitioning, .requests_dropped = drop_partitioning);
