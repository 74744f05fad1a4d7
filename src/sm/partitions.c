/* Partitions: which keys each port has, and which of them switches enforce (10.9, 14.2.4).
 *
 * Without rules (sm_config.partitions) the tables are left as they are. With them every end port
 * gets the keys that follow, and, where enforcement is wanted, so does the switch port that it is
 * plugged into; PartitionEnforcement is turned on there when those keys have been confirmed, not
 * before, so that nothing is cut off that may pass.
 *
 * Software holds indices of keys, so a key keeps its place: a port's table is read once before it
 * is first written, whoever wrote it last, and new keys go where there is room. A port whose table
 * is too small keeps the one it has; one error tells of all such ports.
 *
 * Keys are those of the port GUID. A virtual function has that of its machine, so it is planned
 * again when a machine comes or goes, and the other way round for one that is about to come: its
 * keys are written to the function first (functions_want_keys()), and only then is the machine
 * attached.
 *
 * Rules that are taken away again leave the default partition, of which everybody is a full member.
 */
#include "sm/internal.h"

#include <string.h>

struct end_port {
    enum { NOT_READ, READING, READ } table;
    uint64_t done; /* what it was planned for; 0: nothing yet, or in vain */
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
    bool used;                         /* tables are ours to write */
    bool rules_changed;                /* since they were planned with */
    uint64_t generation;               /* of the subnet that was planned for */
    uint64_t activations, holds_ended; /* … of which so many functions had come up, been let go */
    VEC(struct end_port) ports;        /* beside the subnet's */
    /* Scratch: of the port that is planned. */
    struct partition_keys keys;
    VEC(uint16_t) before, table;
    struct partitions default_rules; /* what holds when there are no rules any more */
    /* End ports with too small a table, switch ports that cannot enforce, and what was said. */
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

/* Whose keys this port should have: its own GUID's, or those of a machine that is about to come. */
static uint64_t key_owner_of(struct sm *sm, uint32_t end)
{
    const struct virtual_function *function = functions_of_port(&sm->subnet, end);
    return function && function->key_owner ? function->key_owner : port_at(sm, end)->guid;
}

/* What keys depend on beside the rules; never 0. */
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

static unsigned blocks_of(unsigned room)
{
    return (room + PARTITION_BLOCK - 1) / PARTITION_BLOCK;
}

/* ---- tables ---- */

/* As far as it is known; else what was wanted of it. */
static void load_table(struct sm *sm, uint32_t end, unsigned room)
{
    struct partitioning *work = sm->partitioning;
    const struct blocks *blocks = &sm->subnet.blocks;
    size_t count = (size_t)blocks_of(room) * PARTITION_BLOCK;
    work->before.count = work->table.count = 0;
    (void)vec_at(&work->before, count); /* zeroed */
    (void)vec_at(&work->table, count);
    for (unsigned part = 0; part < blocks_of(room); part++) {
        const uint8_t *block = blocks_actual(blocks, end, BLOCK_PARTITIONS, part);
        if (!block)
            block = blocks_wanted(blocks, end, BLOCK_PARTITIONS, part);
        for (unsigned i = 0; block && i < PARTITION_BLOCK; i++)
            work->before.items[part * PARTITION_BLOCK + i] =
                (uint16_t)wire_get_at(block, P_KEY_TABLE_P_KEY, i);
    }
}

/* Blocks that are blank and stay so are nobody's business. */
static void want_table(struct sm *sm, uint32_t end, unsigned room)
{
    static const uint16_t blank[PARTITION_BLOCK];
    for (unsigned part = 0; part < blocks_of(room); part++) {
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

/* The switch port that this end port is plugged into; SUBNET_NONE: there is none. */
static uint32_t enforcing_port_of(struct sm *sm, uint32_t end)
{
    uint32_t peer = port_at(sm, end)->peer;
    return peer != SUBNET_NONE && !is_switch(sm, end) && is_switch(sm, peer) ? peer : SUBNET_NONE;
}

static void plan_enforcement(struct sm *sm, uint32_t end)
{
    struct partitioning *work = sm->partitioning;
    uint32_t guard = enforcing_port_of(sm, end);
    if (guard == SUBNET_NONE)
        return;
    const struct subnet_node *node = node_at(sm, port_at(sm, guard)->node);
    unsigned room = (unsigned)wire_get(node->switch_info, SWITCH_INFO_PARTITION_ENFORCEMENT_CAP);
    bool fits = work->keys.keys.count <= room;
    if (sm->config.part_enforce == SM_ENFORCE_NOT || !fits) {
        unwant_table(sm, guard);
        if (sm->config.part_enforce != SM_ENFORCE_NOT && room && work->unenforced++ == 0)
            work->first_unenforced = guard;
        return;
    }
    for (unsigned part = 0; part < blocks_of(room); part++) {
        uint8_t block[BLOCK_BYTES] = {0};
        unsigned first = part * PARTITION_BLOCK;
        for (unsigned i = 0; i < PARTITION_BLOCK && first + i < work->keys.keys.count; i++)
            wire_set_at(block, P_KEY_TABLE_P_KEY, i, work->keys.keys.items[first + i]);
        blocks_want(&sm->subnet.blocks, guard, BLOCK_PARTITIONS, part, block);
    }
}

void partitions_enforce(struct sm *sm, uint32_t port, uint8_t *info)
{
    const struct blocks *blocks = &sm->subnet.blocks;
    if (!sm->partitioning->used || !is_switch(sm, port) || port_at(sm, port)->number == 0)
        return;
    bool guards =
        !is_switch(sm, port_at(sm, port)->peer) && blocks_wanted(blocks, port, BLOCK_PARTITIONS, 0);
    if (guards && blocks_find_missing(blocks, port, BLOCK_PARTITIONS))
        return;
    unsigned how = guards ? sm->config.part_enforce : SM_ENFORCE_NOT;
    wire_set(info, PORT_INFO_PARTITION_ENFORCEMENT_INBOUND, (how & SM_ENFORCE_IN) != 0);
    wire_set(info, PORT_INFO_PARTITION_ENFORCEMENT_OUTBOUND, (how & SM_ENFORCE_OUT) != 0);
}

/* ---- planning ---- */

/* The switch first: it lets nothing new pass before the adapter knows of it. */
static enum function_outcome plan_port(struct sm *sm, uint32_t end)
{
    struct partitioning *work = sm->partitioning;
    const struct partitions *rules = rules_of(sm);
    unsigned room = key_capacity_of(sm, end);
    struct partition_port port = {.guid = key_owner_of(sm, end),
                                  .kind = node_at(sm, port_at(sm, end)->node)->kind,
                                  .self = end == sm->subnet.own_port};
    load_table(sm, end, room);
    partitions_find_keys(rules, &port, &work->keys);
    if (!partitions_place(rules, &work->keys, work->before.items, room, work->table.items)) {
        if (work->overfull++ == 0)
            work->first_overfull = end;
        return FUNCTION_REFUSED;
    }
    uint32_t unenforced = work->unenforced;
    plan_enforcement(sm, end);
    want_table(sm, end, room);
    if (work->unenforced == unenforced)
        end_port_at(sm, end)->done = plan_key_of(sm, end);
    return FUNCTION_DONE;
}

/* Once for the same ports. */
static void report_problems(struct sm *sm)
{
    struct partitioning *work = sm->partitioning;
    uint64_t trouble = hash_mix(hash_mix(work->overfull ^ (uint64_t)work->first_overfull << 32) ^
                                (work->unenforced | (uint64_t)work->first_unenforced << 32));
    if (trouble == work->reported)
        return;
    work->reported = trouble;
    if (work->overfull) {
        const struct subnet_port *port = port_at(sm, work->first_overfull);
        sm_log(sm, SM_EVENT_ERROR,
               "%u ports are in more partitions than they have room for and keep the keys they "
               "have; the first: port %u of 0x%016llx, with %u",
               work->overfull, port->number, (unsigned long long)node_at(sm, port->node)->guid,
               key_capacity_of(sm, work->first_overfull));
    }
    if (work->unenforced) {
        const struct subnet_port *port = port_at(sm, work->first_unenforced);
        sm_log(sm, SM_EVENT_ERROR,
               "%u switch ports have no room for the keys of the port behind them and enforce "
               "nothing; the first: port %u of 0x%016llx",
               work->unenforced, port->number, (unsigned long long)node_at(sm, port->node)->guid);
    }
}

/* ---- reading ---- */

static void read_block(struct sm *sm, uint32_t end, unsigned block)
{
    end_port_at(sm, end)->table = READING;
    sm_send(sm, &get_keys, (union request_subject){.keys = {end, block}}, end, block, NULL);
}

/* The table is read, as far as the port tells it. */
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

/* Keys fill a table from the front: behind a blank block there are none. */
static void keys_read(struct sm *sm, const struct request *request)
{
    static const uint8_t blank[BLOCK_BYTES];
    uint32_t end = request->about.keys.port, block = request->about.keys.block;
    blocks_learn(&sm->subnet.blocks, end, BLOCK_PARTITIONS, block, request->answer);
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

/* ---- when ---- */

/* A port that comes back gets what was wanted of it without being planned again. */
static void update_port(struct sm *sm, uint32_t end)
{
    struct end_port *port = end_port_at(sm, end);
    if (!port_at(sm, end)->known || !port_at(sm, end)->lid)
        return;
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
        work->ports.items[i].done = 0; /* also of those that are away */
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
            if (subnet_is_end_port(&sm->subnet, node->first_port + number))
                update_port(sm, node->first_port + number);
    }
    if (!transactions_under_way(sm, GROUP_KEYS))
        report_problems(sm);
    program_schedule(sm); /* what switches enforce is a setting of their ports */
}

/* ---- machines ---- */

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
            blocks_confirm(blocks, row, NULL);
}

void partitions_came_up(struct sm *sm, uint32_t socket)
{
    uint32_t end = functions_at(&sm->subnet, socket)->port;
    if (end == SUBNET_NONE || end >= sm->partitioning->ports.count)
        return;
    struct end_port *port = end_port_at(sm, end);
    forget_table(sm, socket);
    forget_table(sm, end);
    port->done = 0;
    if (port->table == READ)
        port->table = NOT_READ;
}

void partitions_prepare(struct sm *sm, uint32_t socket)
{
    uint32_t end = port_at(sm, socket)->peer;
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

SM_PART(partitioning, NULL, release_partitioning, drop_partitioning);
