/* Writes SwitchInfo and forwarding tables that differ from the wanted ones; program_ports.c does
 * the same for ports. The top LID of a switch is raised before its blocks are written.
 *
 * A refused Set is not repeated before the next sweep, and the rest of the subnet does not wait for
 * it. It is logged once. */
#include "sm/tables/program.h"
#include "sm/discovery/discovery.h"
#include "sm/discovery/sweeps.h"
#include "sm/internal.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/tables/multicast.h"
#include "sm/tables/program_ports.h"
#include "sm/tables/quiesce.h"
#include "sm/tables/random_table.h"
#include "sm/transactions.h"
#include "subnet/names.h"
#include "vswitch/model/addresses.h"

#include "base/map.h"

#include <stdio.h>
#include <string.h>

static request_outcome switch_ended, switch_written, block_accepted, block_refused;
static const struct request_kind set_switch = {
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .writes = true,
    .group = GROUP_TABLES,
    .ended = switch_ended,
    .answered = switch_written,
    .refused = switch_written,
    .loses_contact = true,
};

enum { TRIES = 3 }; /* of a Set that may have failed because of a concurrent change */

struct refusal {                      /* by a switch; not repeated before the next sweep */
    uint64_t blocks[LFT_BLOCKS / 64]; /* refused blocks of its table */
    uint64_t contents;                /* hash of their wanted contents; 0: none */
    uint64_t info;                    /* hash of the refused SwitchInfo; 0: none */
    uint64_t sweep;                   /* sweep_next() when this was last reviewed */
    bool reported_blocks, reported_info;
    uint8_t changes; /* failed attempts in a row to clear PortStateChange */
};

struct switch_settings {
    uint32_t writing_tables; /* Sets under way */
    bool writing_switch;
    bool keeps_lifetime;      /* does not accept LifeTimeValue */
    bool keeps_multicast_top; /* does not accept MulticastFDBTop */
    bool too_small;           /* its table cannot hold the routes; logged */
    struct refusal refusal;
};

struct program {
    VEC(struct switch_settings) nodes; /* by node of the subnet */
    bool due;                          /* compare everything wanted with actual */
    uint64_t entries_changed;
};

static void drop_program(struct sm *sm)
{
    sm->program->nodes.count = 0;
    sm->program->due = false;
}

static struct switch_settings *switch_settings(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->program->nodes, node);
}

bool program_is_writing_tables(const struct sm *sm, uint32_t node)
{
    return node < sm->program->nodes.count && sm->program->nodes.items[node].writing_tables;
}

uint64_t program_entries_changed(const struct sm *sm)
{
    return sm->program->entries_changed;
}

bool program_tables_are_confirmed(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    struct switch_settings *work = switch_settings(sm, node);
    return n->kind != SUBNET_SWITCH || (plan_current(sm) && work->writing_tables == 0 &&
                                        !work->writing_switch && !reconfigure_is_distributing(sm));
}

void program_block_sent(struct sm *sm, uint32_t node)
{
    switch_settings(sm, node)->writing_tables++;
}

static const struct request_kind set_table_block = {
    .attribute = ATTRIBUTE_LINEAR_FORWARDING_TABLE,
    .writes = true,
    .group = GROUP_TABLES,
    .ended = program_block_ended,
    .answered = block_accepted,
    .refused = block_refused,
    .unanswered = program_block_unanswered,
    .loses_contact = true,
};

static void write_block(struct sm *sm, uint32_t node, unsigned block)
{
    const struct subnet_node *n = node_at(sm, node);
    assert(block < LFT_BLOCKS && sm_state(sm) == SM_MASTER);
    program_block_sent(sm, node);
    bool known = subnet_block_known(n->tables, block);
    for (unsigned i = block * LFT_BLOCK; i < (block + 1) * LFT_BLOCK; i++)
        sm->program->entries_changed +=
            n->tables->wanted[i] != (known ? n->tables->actual[i] : PORT_NONE);
    sm_send(sm, &set_table_block, (union request_subject){.table = {node, block}}, n->first_port,
            block, n->tables->wanted + block * LFT_BLOCK);
}

/* The wanted MulticastFDBTop; the actual one if the switch does not support it. */
static unsigned multicast_top_of(const struct sm *sm, uint32_t node)
{
    enum { HAS_MULTICAST_TOP = 1 << 30 };
    const struct subnet_node *n = node_at(sm, node);
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_CAP);
    unsigned last = LID_MULTICAST_FIRST + capacity - 1;
    uint64_t abilities = wire_get(port_at(sm, n->first_port)->info, PORT_INFO_CAPABILITY_MASK);
    if (!multicast_top(sm) || !capacity || !(abilities & HAS_MULTICAST_TOP))
        return (unsigned)wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP);
    return multicast_top(sm) < last ? multicast_top(sm) : last;
}

/* Sets the wanted fields of a SwitchInfo. */
static void want_switch_info(const struct sm *sm, uint32_t node, uint8_t *info)
{
    const struct subnet_node *n = node_at(sm, node);
    if (random_table_is_used(n))
        wire_set(info, SWITCH_INFO_DEFAULT_PORT, random_table_default(sm, node));
    else if (n->tables)
        wire_set(info, SWITCH_INFO_LINEAR_FDB_TOP, addresses_table_top(&sm->subnet, n));
    wire_set(info, SWITCH_INFO_MULTICAST_FDB_TOP, multicast_top_of(sm, node));
    wire_set(info, SWITCH_INFO_LIFE_TIME_VALUE, quiesce_life_time(sm));
}

/* ---- outcomes of SwitchInfo, and refusals ---- */

/* Independent of PortStateChange. */
static uint64_t info_fingerprint(const uint8_t *info)
{
    uint8_t settings[24] = {0};
    memcpy(settings, info, 20);
    wire_set(settings, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    return hash_bytes(1, settings, sizeof settings);
}

static uint64_t refused_contents(struct sm *sm, uint32_t node)
{
    const struct refusal *refusal = &switch_settings(sm, node)->refusal;
    const struct subnet_tables *tables = node_at(sm, node)->tables;
    uint64_t hash = 1;
    assert(tables); /* else there are no blocks */
    for (unsigned block = 0; block < LFT_BLOCKS; block++)
        if (bitset_has(refusal->blocks, block))
            hash = hash_bytes(hash, tables->wanted + block * LFT_BLOCK, LFT_BLOCK);
    return hash;
}

/* Forgets refusals after a sweep, or if the wanted contents changed. */
static void review_refusals(struct sm *sm, uint32_t node)
{
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    bool again = refusal->sweep != sweep_next(sm);
    refusal->sweep = sweep_next(sm);
    if (again)
        refusal->info = 0;
    if (refusal->contents && (again || refused_contents(sm, node) != refusal->contents)) {
        memset(refusal->blocks, 0, sizeof refusal->blocks);
        refusal->contents = 0;
    }
}

void program_report_refused_block(struct sm *sm, const struct request *request,
                                  const char *consequence)
{
    uint32_t node = request->about.table.node;
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    if (!refusal->reported_blocks)
        sm_log_at(sm, SM_EVENT_ERROR, node_at(sm, node)->first_port,
                  "switch %s refuses table block %u (status 0x%x): it lacks routes%s",
                  subnet_node_name(&sm->subnet, node).text, request->about.table.block,
                  request->status, consequence);
    refusal->reported_blocks = true;
}

static void info_refused(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    const struct subnet_node *n = node_at(sm, node);
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    review_refusals(sm, node);
    refusal->info = info_fingerprint(request->data);
    bool random = random_table_is_used(n);
    uint64_t kept =
        wire_get(n->switch_info, random ? SWITCH_INFO_DEFAULT_PORT : SWITCH_INFO_LINEAR_FDB_TOP);
    if (!refusal->reported_info)
        sm_log_at(sm, SM_EVENT_ERROR, n->first_port,
                  "switch %s refuses its settings (status 0x%x): its %s stays %u; sweeps try "
                  "again",
                  subnet_node_name(&sm->subnet, node).text, request->status,
                  random ? "default port" : "top LID", (unsigned)kept);
    refusal->reported_info = true;
}

/* If the Set acknowledged a change, another one may have followed at once. A PortStateChange that
 * is never cleared is not acknowledged again: every sweep reads the ports. */
static void info_accepted(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    struct switch_settings *work = switch_settings(sm, node);
    struct refusal *refusal = &work->refusal;
    memcpy(node_at(sm, node)->switch_info, request->answer, 20);
    work->keeps_multicast_top = wire_get(request->answer, SWITCH_INFO_MULTICAST_FDB_TOP) !=
                                wire_get(request->data, SWITCH_INFO_MULTICAST_FDB_TOP);
    work->keeps_lifetime = wire_get(request->answer, SWITCH_INFO_LIFE_TIME_VALUE) !=
                           wire_get(request->data, SWITCH_INFO_LIFE_TIME_VALUE);
    if (!wire_get(request->data, SWITCH_INFO_PORT_STATE_CHANGE))
        return;
    bool keeps = wire_get(request->answer, SWITCH_INFO_PORT_STATE_CHANGE);
    refusal->changes = keeps ? refusal->changes + (refusal->changes < TRIES) : 0;
    if (refusal->changes == TRIES && discovery_note_stuck_change(sm, node))
        sm_log_at(sm, SM_EVENT_WARNING, node_at(sm, node)->first_port,
                  "switch %s does not clear PortStateChange: every sweep reads its ports",
                  subnet_node_name(&sm->subnet, node).text);
}

/* ---- switches ---- */

/* Writes a SwitchInfo that differs: the top of a linear table or the default port of a random one;
 * the last multicast LID and the lifetime of packets, unless the switch keeps its own; or a
 * PortStateChange that is not acknowledged, as all switches report when they start. */
static void program_switch_info(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    assert(n->present && n->kind == SUBNET_SWITCH && plan_current(sm));
    struct switch_settings *work = switch_settings(sm, node);
    uint8_t wanted[SMP_DATA_BYTES] = {0}, expected[sizeof n->switch_info];
    memcpy(wanted, n->switch_info, sizeof n->switch_info);
    want_switch_info(sm, node, wanted);
    memcpy(expected, wanted, sizeof expected);
    if (work->keeps_lifetime)
        wire_set(expected, SWITCH_INFO_LIFE_TIME_VALUE,
                 wire_get(n->switch_info, SWITCH_INFO_LIFE_TIME_VALUE));
    if (work->keeps_multicast_top)
        wire_set(expected, SWITCH_INFO_MULTICAST_FDB_TOP,
                 wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP));
    bool changed =
        wire_get(n->switch_info, SWITCH_INFO_PORT_STATE_CHANGE) && work->refusal.changes < TRIES;
    if (work->writing_switch || work->refusal.info == info_fingerprint(wanted) ||
        (!changed && memcmp(expected, n->switch_info, sizeof expected) == 0))
        return;
    wire_set(n->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0); /* this Set clears it */
    work->writing_switch = true;
    sm_send(sm, &set_switch, (union request_subject){.node = node}, n->first_port, 0, wanted);
}

bool program_first_lacks_room(struct sm *sm, uint32_t node)
{
    bool first = !switch_settings(sm, node)->too_small;
    switch_settings(sm, node)->too_small = true;
    return first;
}

/* The last block that is wanted and that the table can hold. */
static unsigned last_block(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    assert(n->tables && n->tables->wanted_top < LFT_ENTRIES);
    unsigned top = n->tables->wanted_top;
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    bool fits = !capacity || top < capacity;
    if (!fits && program_first_lacks_room(sm, node))
        sm_log_listed(sm, SM_EVENT_ERROR, n->first_port,
                      "the table of switch %s has %u entries: LIDs %u to %u have no route there",
                      subnet_node_name(&sm->subnet, node).text, capacity, capacity, top);
    if (fits)
        switch_settings(sm, node)->too_small = false;
    return (fits ? top : capacity - 1) / LFT_BLOCK;
}

static bool is_to_be_written(struct sm *sm, uint32_t node, unsigned block)
{
    const struct subnet_tables *tables = node_at(sm, node)->tables;
    size_t at = (size_t)block * LFT_BLOCK;
    return (!subnet_block_known(tables, block) ||
            memcmp(tables->wanted + at, tables->actual + at, LFT_BLOCK) != 0) &&
           !bitset_has(switch_settings(sm, node)->refusal.blocks, block);
}

void program_switch(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    enum sm_phase phase = reconfigure_phase(sm);
    if (!n->present)
        switch_settings(sm, node)->refusal = (struct refusal){0}; /* it may come back changed */
    if (sm_state(sm) != SM_MASTER || !n->present || !plan_current(sm) || n->kind != SUBNET_SWITCH ||
        phase == SM_PHASE_STOP || phase == SM_PHASE_COMPUTE)
        return; /* traffic is not stopped yet, or the wanted tables are about to change */
    review_refusals(sm, node);
    bool whole = sm->config.policy->whole_tables;
    if (!whole || random_table_is_used(n))
        program_switch_info(sm, node);
    if (switch_settings(sm, node)->writing_tables || !n->tables)
        return; /* program_block_done() continues; a vSwitch has no table to write */
    if (random_table_is_used(n)) {
        random_table_program(sm, node);
        return;
    }
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    unsigned last = whole && capacity ? (capacity - 1) / LFT_BLOCK : last_block(sm, node);
    subnet_extend_tables(n->tables, (last + 1) * LFT_BLOCK);
    for (unsigned block = 0; block <= last; block++)
        if (is_to_be_written(sm, node, block))
            write_block(sm, node, block);
}

void program_block(struct sm *sm, uint32_t node, unsigned block)
{
    if (random_table_is_used(node_at(sm, node))) {
        program_switch(sm, node);
        return;
    }
    review_refusals(sm, node);
    if (block <= last_block(sm, node) && is_to_be_written(sm, node, block))
        write_block(sm, node, block);
}

void program_all(struct sm *sm)
{
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        program_switch(sm, node);
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++)
        program_port(sm, port);
}

void program_schedule(struct sm *sm)
{
    sm->program->due = true;
}

bool program_is_due(const struct sm *sm)
{
    return sm->program->due;
}

void program_if_due(struct sm *sm)
{
    if (!sm->program->due)
        return;
    sm->program->due = false;
    program_all(sm);
}

/* ---- outcomes ---- */

void program_block_ended(struct sm *sm, const struct request *request)
{
    struct switch_settings *work = switch_settings(sm, request->about.table.node);
    assert(work->writing_tables);
    work->writing_tables--;
}

void program_block_done(struct sm *sm, uint32_t node)
{
    if (switch_settings(sm, node)->writing_tables == 0) {
        program_switch(sm, node);
        program_node_ports(sm, node);
    }
}

/* The Set may or may not have been executed. */
void program_block_unanswered(struct sm *sm, const struct request *request)
{
    discovery_store_block(sm, request->about.table.node, request->about.table.block, NULL);
}

static void block_accepted(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.table.node;
    discovery_store_block(sm, node, request->about.table.block, request->data);
    program_block_done(sm, node);
}

static void block_refused(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.table.node, block = request->about.table.block;
    const uint8_t *wanted = node_at(sm, node)->tables->wanted + block * LFT_BLOCK;
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    program_report_refused_block(sm, request, "; sweeps try again");
    if (request->tries > 1)
        program_block_unanswered(sm, request); /* the switch may have executed an earlier try */
    if (memcmp(wanted, request->data, LFT_BLOCK) == 0) { /* still wanted */
        review_refusals(sm, node);
        bitset_add(refusal->blocks, block);
        refusal->contents = refused_contents(sm, node);
    }
    program_block_done(sm, node);
}

static void switch_ended(struct sm *sm, const struct request *request)
{
    switch_settings(sm, request->about.node)->writing_switch = false;
}

/* A Set that cleared PortStateChange may hide a change: reads the ports, except those that become
 * Active later, which shows their state. */
static void switch_written(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    uint8_t wanted[sizeof node_at(sm, node)->switch_info]; /* when the answer arrives */
    memcpy(wanted, request->data, sizeof wanted);
    want_switch_info(sm, node, wanted);
    if (request->status)
        info_refused(sm, request);
    else
        info_accepted(sm, request);
    for (unsigned number = 1; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        const struct subnet_port *p = port_at(sm, port);
        uint64_t state = wire_get(p->info, PORT_INFO_PORT_STATE);
        bool rises = p->peer != SUBNET_NONE && state > PORT_STATE_DOWN && state < PORT_STATE_ACTIVE;
        if (wire_get(request->data, SWITCH_INFO_PORT_STATE_CHANGE) && p->known && !rises &&
            !subnet_is_vf_port(&sm->subnet, port))
            discovery_read_port(sm, port);
    }
    if (memcmp(wanted, request->data, sizeof wanted) != 0)
        program_switch(sm, node);
    program_node_ports(sm, node);
}

/* Blocks that a switch has refused and that still differ from the wanted ones. */
static unsigned count_refused_blocks(struct sm *sm, uint32_t node)
{
    const struct subnet_tables *tables = node_at(sm, node)->tables;
    unsigned count = 0;
    for (unsigned block = 0; block <= tables->wanted_top / LFT_BLOCK; block++) {
        size_t at = (size_t)block * LFT_BLOCK;
        count += !subnet_block_known(tables, block) ||
                 memcmp(tables->wanted + at, tables->actual + at, LFT_BLOCK) != 0;
    }
    return count;
}

static void list_small_table(struct sm *sm, uint32_t node, struct problems *problems)
{
    const struct subnet_node *n = node_at(sm, node);
    unsigned entries = (unsigned)wire_get(n->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    char lmc[32] = "";
    if (sm->config.lmc)
        snprintf(lmc, sizeof lmc, " (lmc is %u)", sm->config.lmc);
    if (entries)
        problems_add(problems, PROBLEM_SMALL_TABLE, subnet_at_node(&sm->subnet, node),
                     "its forwarding table has %u entries; LIDs %u to %u have no route there%s",
                     entries, entries, n->tables->wanted_top, lmc);
    else
        problems_add(problems, PROBLEM_SMALL_TABLE, subnet_at_node(&sm->subnet, node),
                     "its random forwarding table has %u entries, too few: no route is written%s",
                     (unsigned)wire_get(n->switch_info, SWITCH_INFO_RANDOM_FDB_CAP), lmc);
}

static void program_list_problems(struct sm *sm, struct problems *problems)
{
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        const struct switch_settings *work = switch_settings(sm, i);
        if (!node->present || node->kind != SUBNET_SWITCH || !node->tables)
            continue;
        unsigned blocks = work->refusal.reported_blocks ? count_refused_blocks(sm, i) : 0;
        bool info = work->refusal.reported_info && work->refusal.info;
        if (!blocks && !info && !work->too_small)
            continue;
        if (blocks)
            problems_add(problems, PROBLEM_REFUSED_TABLE, subnet_at_node(&sm->subnet, i),
                         "the switch refuses %u block%s of its forwarding table: it lacks routes",
                         blocks, blocks == 1 ? "" : "s");
        if (info)
            problems_add(problems, PROBLEM_REFUSED_TABLE, subnet_at_node(&sm->subnet, i),
                         "the switch refuses its SwitchInfo: its top LID stays %u",
                         (unsigned)wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_TOP));
        if (work->too_small)
            list_small_table(sm, i, problems);
    }
}

SM_PART(program, .vectors = {VECTOR(program, nodes)}, .requests_dropped = drop_program,
        .problems = program_list_problems, .as_master = true);
