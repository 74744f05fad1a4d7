/* Programming: the difference between what is wanted and what is, written to the fabric.
 *
 * There is one way to write: compare, and send what differs. A port's settings and its step to
 * Armed go in one Set; it becomes Active when its switch's tables are confirmed and the other end
 * is at least Armed. Where traffic is running, links between switches come first: no table leads
 * over one that does not carry anything yet. A switch's top LID is raised before its blocks. What
 * is right already costs nothing.
 *
 * Whoever does not take what it is told is left as it is until the next sweep, which tries again:
 * the rest of the subnet does not wait for it. That is said once. */
#include "sm/internal.h"
#include "vswitch/model/addresses.h"

#include "base/bitset.h"

#include <assert.h>
#include <string.h>

static request_ended port_ended, switch_ended;
static request_answered port_taken, switch_taken, block_taken;
static request_refused port_refused, switch_refused, block_refused;
static request_unanswered port_unanswered;
static const struct request_kind set_port = {
    .name = "PortInfo",
    .attribute = ATTRIBUTE_PORT_INFO,
    .writes = true,
    .counter = offsetof(struct sm_counts, port_info_set),
    .ended = port_ended,
    .answered = port_taken,
    .refused = port_refused,
    .unanswered = port_unanswered,
    .loses_contact = true,
};
static const struct request_kind set_switch = {
    .name = "SwitchInfo",
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .writes = true,
    .counter = offsetof(struct sm_counts, switch_info),
    .ended = switch_ended,
    .answered = switch_taken,
    .refused = switch_refused,
    .loses_contact = true,
};
static const struct request_kind set_table_block = {
    .name = "LinearForwardingTable",
    .attribute = ATTRIBUTE_LINEAR_FORWARDING_TABLE,
    .writes = true,
    .counter = offsetof(struct sm_counts, tables),
    .ended = program_block_ended,
    .answered = block_taken,
    .refused = block_refused,
    .unanswered = program_block_unanswered,
    .loses_contact = true,
};

enum { TRIES = 3 }; /* of what may have been refused because of something that just changed */

struct port_settings {
    bool writing;     /* a Set is under way */
    uint64_t tried;   /* fingerprint of the last settings and of what the port made of them */
    uint8_t refusals; /* Sets in a row that it did not take or that did not move it */
};

struct refusal { /* what a switch did not take; it is not sent again before the next sweep */
    uint64_t blocks[LFT_BLOCKS / 64]; /* of its table … */
    uint64_t contents;                /* … and a fingerprint of what is wanted there; 0: none */
    uint64_t info;                    /* fingerprint of a SwitchInfo; 0: none */
    uint64_t sweep;                   /* when the next one is due */
    bool told_blocks, told_info;
    uint8_t changes; /* times in a row that it did not take back that ports changed */
};

struct switch_settings {
    uint32_t writing_tables; /* requests under way */
    bool writing_switch;
    bool own_life;  /* keeps packets as long as it likes, whatever it is told */
    bool own_top;   /* the same for the last MLID */
    bool too_small; /* its table cannot hold the routes, and that was said */
    struct refusal refusal;
};

struct program {
    VEC(struct port_settings) ports;   /* beside the subnet's */
    VEC(struct switch_settings) nodes; /* the same */
    bool due;                          /* all that is wanted is to be compared with what is */
    uint32_t tables_under_way;         /* Sets of table blocks and tops, in all switches */
    struct program_counts counts;
};

struct program *program_new(void)
{
    return mem_zalloc(1, sizeof(struct program));
}

void program_free(struct program *program)
{
    if (!program)
        return;
    vec_release(&program->ports);
    vec_release(&program->nodes);
    mem_free(program);
}

static struct port_settings *port_settings(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    while (sm->program->ports.count <= port)
        vec_push(&sm->program->ports, (struct port_settings){0});
    return &sm->program->ports.items[port];
}

static struct switch_settings *switch_settings(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    while (sm->program->nodes.count <= node)
        vec_push(&sm->program->nodes, (struct switch_settings){0});
    return &sm->program->nodes.items[node];
}

bool sm_is_writing_port(const struct sm *sm, uint32_t port)
{
    return port < sm->program->ports.count && sm->program->ports.items[port].writing;
}

bool program_is_writing_tables(const struct sm *sm, uint32_t node)
{
    return node < sm->program->nodes.count && sm->program->nodes.items[node].writing_tables;
}

struct program_counts program_counts(const struct sm *sm)
{
    return sm->program->counts;
}

uint32_t program_tables_under_way(const struct sm *sm)
{
    return sm->program->tables_under_way;
}

static uint64_t fold(uint64_t hash, const uint8_t *bytes, size_t count)
{
    uint64_t word;
    for (size_t i = 0; i < count; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        hash = hash_mix(hash ^ word) + i;
    }
    return hash;
}

static uint64_t smaller(const uint8_t *a, const uint8_t *b, enum wire_field field)
{
    uint64_t x = wire_get(a, field), y = wire_get(b, field);
    return x < y ? x : y;
}

/* Settings of an end port: address, keys, and where the manager is. */
static void want_end_port(struct sm *sm, const struct subnet_port *port, uint8_t *info)
{
    wire_set(info, PORT_INFO_GID_PREFIX, sm->config.subnet_prefix);
    wire_set(info, PORT_INFO_LID, port->lid);
    wire_set(info, PORT_INFO_LMC, port->lmc);
    wire_set(info, PORT_INFO_MASTER_SM_LID, port_at(sm, sm->subnet.own_port)->lid);
    wire_set(info, PORT_INFO_MASTER_SM_SL, qos_master_sl(sm, port));
    wire_set(info, PORT_INFO_M_KEY, sm->config.m_key);
    wire_set(info, PORT_INFO_M_KEY_LEASE_PERIOD, sm->config.m_key_lease_s);
    wire_set(info, PORT_INFO_M_KEY_PROTECT_BITS, sm->config.m_key_protect);
    wire_set(info, PORT_INFO_SUBNET_TIME_OUT, sm->config.subnet_timeout);
}

/* Settings of a link: what both ends can do. */
static void want_link(const struct subnet_port *port, const struct subnet_port *peer, uint8_t *info)
{
    wire_set(info, PORT_INFO_NEIGHBOR_MTU, smaller(port->info, peer->info, PORT_INFO_MTU_CAP));
    wire_set(info, PORT_INFO_OPERATIONAL_VLS, smaller(port->info, peer->info, PORT_INFO_VL_CAP));
}

static bool tables_confirmed(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    struct switch_settings *work = switch_settings(sm, node);
    return n->kind != SUBNET_SWITCH || (plan_current(sm) && work->writing_tables == 0 &&
                                        !work->writing_switch && !reconfigure_is_distributing(sm));
}

/* Between switches, as tables know them: behind a vSwitch nobody is reached but its own. */
static bool is_trunk(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = &sm->subnet.ports.items[port];
    if (p->peer == SUBNET_NONE || p->number == 0)
        return false;
    const struct subnet_node *near = &sm->subnet.nodes.items[p->node];
    const struct subnet_node *far = &sm->subnet.nodes.items[sm->subnet.ports.items[p->peer].node];
    return near->kind == SUBNET_SWITCH && far->kind == SUBNET_SWITCH && !near->vswitch &&
           !far->vswitch;
}

/* New tables may lead over it, and none is written before it is Active. */
static bool precedes_tables(const struct sm *sm, uint32_t port)
{
    return reconfigure_phase(sm) == PHASE_WAVES && is_trunk(sm, port);
}

static unsigned next_state(struct sm *sm, uint32_t port, const struct subnet_port *peer)
{
    struct subnet_port *p = port_at(sm, port);
    enum phase phase = reconfigure_phase(sm);
    if (phase == PHASE_STOP || phase == PHASE_WRITE || phase == PHASE_START)
        return PORT_STATE_NO_CHANGE; /* stopped on purpose */
    switch (wire_get(p->info, PORT_INFO_PORT_STATE)) {
    case PORT_STATE_INIT: return PORT_STATE_ARMED;
    case PORT_STATE_ARMED:
        return (precedes_tables(sm, port) ||
                (tables_confirmed(sm, p->node) && tables_confirmed(sm, peer->node))) &&
                       blocks_port_is_settled(&sm->subnet.blocks, port) &&
                       partitions_are_settled(sm, port) &&
                       wire_get(peer->info, PORT_INFO_PORT_STATE) >= PORT_STATE_ARMED
                   ? PORT_STATE_ACTIVE
                   : PORT_STATE_NO_CHANGE;
    default: return PORT_STATE_NO_CHANGE;
    }
}

/* An agent may accept a setting and not heed it: the same is not asked of it again as long as it
 * stays as it is. Port states do not count: they are steps, not settings. */
static uint64_t fingerprint(const uint8_t *settings, const uint8_t *outcome)
{
    uint8_t both[2][64];
    memcpy(both[0], settings, sizeof both[0]);
    memcpy(both[1], outcome, sizeof both[1]);
    for (unsigned i = 0; i < 2; i++) {
        wire_set(both[i], PORT_INFO_PORT_STATE, 0);
        wire_set(both[i], PORT_INFO_PORT_PHYSICAL_STATE, 0);
    }
    return fold(1, both[0], sizeof both);
}

static void send_settings(struct sm *sm, uint32_t port, uint8_t *wanted, unsigned state)
{
    wire_set(wanted, PORT_INFO_PORT_STATE, state);
    wire_set(wanted, PORT_INFO_PORT_PHYSICAL_STATE, PHYSICAL_NO_CHANGE);
    wire_set(wanted, PORT_INFO_LINK_WIDTH_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_SPEED_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_SPEED_EXT_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_DOWN_DEFAULT_STATE, 0);
    if (state == PORT_STATE_NO_CHANGE &&
        port_settings(sm, port)->tried == fingerprint(wanted, port_at(sm, port)->info))
        return; /* it does not heed them */
    port_settings(sm, port)->writing = true;
    sm->program->counts.ports++;
    struct request *request = sm_request(sm, &set_port, (union request_subject){.port = port},
                                         subnet_end_port(&sm->subnet, port));
    request->modifier = port_at(sm, port)->number;
    memcpy(request->data, wanted, SMP_DATA_BYTES);
    sm_submit(sm, request, PRIORITY_NONE);
}

/* An adapter's port is active from then on. Switch ports are activated when tables have been
 * distributed (distribute.c). */
void program_end_port_once(struct sm *sm, uint32_t port)
{
    struct subnet_port *p = port_at(sm, port);
    uint8_t wanted[64];
    if (!p->lid || port_settings(sm, port)->writing)
        return;
    memcpy(wanted, p->info, sizeof wanted);
    want_end_port(sm, p, wanted);
    send_settings(sm, port, wanted, p->number ? PORT_STATE_ACTIVE : PORT_STATE_NO_CHANGE);
}

void program_port(struct sm *sm, uint32_t port)
{
    struct subnet_port *p = port_at(sm, port);
    struct port_settings *work = port_settings(sm, port);
    struct subnet_node *node = node_at(sm, p->node);
    bool end = subnet_is_end_port(&sm->subnet, port);
    bool management = node->kind == SUBNET_SWITCH && p->number == 0;
    if (subnet_is_socket(&sm->subnet, port)) {
        functions_program(sm, port);
        return; /* all else is as at the PF's */
    }
    if (!node->present || (!management && p->peer == SUBNET_NONE))
        work->refusals = 0; /* whoever is there next has refused nothing yet */
    if (sm_state(sm) != SM_MASTER || !node->present || !p->known || work->writing ||
        discovery_avoids_port(sm, port) || sm->config.policy->ports_once ||
        functions_is_held(sm, port))
        return;
    if ((end && !p->lid) || (!management && p->peer == SUBNET_NONE))
        return;
    uint8_t wanted[64];
    memcpy(wanted, p->info, sizeof wanted);
    if (end) {
        reregister_set_port(sm, port, wanted);
        want_end_port(sm, p, wanted);
    }
    unsigned state = PORT_STATE_NO_CHANGE;
    if (!management) {
        const struct subnet_port *peer = port_at(sm, p->peer);
        if (!peer->known)
            return;
        want_link(p, peer, wanted);
        qos_set_port(sm, port, wanted);
        partitions_enforce(sm, port, wanted);
        state = next_state(sm, port, peer);
    }
    if (memcmp(wanted, p->info, sizeof wanted) == 0 && state == PORT_STATE_NO_CHANGE)
        return;
    send_settings(sm, port, wanted, state);
}

/* Whether a link between switches is on its way to Active; one that a port refuses is not. */
bool program_links_rise(struct sm *sm)
{
    if (distribute_has_written_waves(sm))
        return false; /* what appears from now on is for the next plan */
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        uint64_t state = wire_get(p->info, PORT_INFO_PORT_STATE);
        if (p->known && node_at(sm, p->node)->present && is_trunk(sm, port) &&
            state > PORT_STATE_DOWN && state < PORT_STATE_ACTIVE && port_at(sm, p->peer)->known &&
            !discovery_avoids_port(sm, port) && !discovery_avoids_port(sm, p->peer))
            return true;
    }
    return false;
}

static void program_node_ports(struct sm *sm, uint32_t node)
{
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        program_port(sm, port);
        if (port_at(sm, port)->peer != SUBNET_NONE)
            program_port(sm, port_at(sm, port)->peer);
    }
}

static bool block_differs(const struct subnet_tables *tables, unsigned block)
{
    size_t at = (size_t)block * LFT_BLOCK;
    return !subnet_block_known(tables, block) ||
           memcmp(tables->wanted + at, tables->actual + at, LFT_BLOCK) != 0;
}

void program_block_sent(struct sm *sm, uint32_t node)
{
    sm->program->counts.blocks++;
    switch_settings(sm, node)->writing_tables++;
    sm->program->tables_under_way++;
}

static void write_block(struct sm *sm, uint32_t node, unsigned block)
{
    const struct subnet_tables *tables = node_at(sm, node)->tables;
    const uint8_t *wanted = tables->wanted + block * LFT_BLOCK;
    struct request *request = sm_request(
        sm, &set_table_block, (union request_subject){.table = {.node = node, .block = block}},
        node_at(sm, node)->first_port);
    request->modifier = block;
    memcpy(request->data, wanted, LFT_BLOCK);
    program_block_sent(sm, node);
    sm_submit(sm, request, PRIORITY_NONE);
}

/* The last multicast LID that a switch looks up; what it says itself where it cannot be told. */
static unsigned multicast_top_of(const struct sm *sm, uint32_t node)
{
    enum { HAS_MULTICAST_TOP = 1 << 30 };
    const struct subnet_node *n = &sm->subnet.nodes.items[node];
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_CAP);
    unsigned last = LID_MULTICAST_FIRST + capacity - 1;
    uint64_t abilities =
        wire_get(sm->subnet.ports.items[n->first_port].info, PORT_INFO_CAPABILITY_MASK);
    if (!multicast_top(sm) || !capacity || !(abilities & HAS_MULTICAST_TOP))
        return (unsigned)wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP);
    return multicast_top(sm) < last ? multicast_top(sm) : last;
}

/* What a switch is to be told; the rest as in what it says itself. */
static void want_switch_info(const struct sm *sm, uint32_t node, uint8_t *info)
{
    const struct subnet_node *n = &sm->subnet.nodes.items[node];
    if (random_table_is_used(n))
        wire_set(info, SWITCH_INFO_DEFAULT_PORT, random_table_default(sm, node));
    else if (n->tables)
        wire_set(info, SWITCH_INFO_LINEAR_FDB_TOP, addresses_table_top(&sm->subnet, n));
    wire_set(info, SWITCH_INFO_MULTICAST_FDB_TOP, multicast_top_of(sm, node));
    wire_set(info, SWITCH_INFO_LIFE_TIME_VALUE, sm->config.life_time);
}

static void write_switch_info(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    struct request *request =
        sm_request(sm, &set_switch, (union request_subject){.node = node}, n->first_port);
    memcpy(request->data, n->switch_info, sizeof n->switch_info);
    want_switch_info(sm, node, request->data);
    wire_set(n->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0); /* acknowledged by this, if set */
    switch_settings(sm, node)->writing_switch = true;
    sm->program->tables_under_way++;
    sm_submit(sm, request, PRIORITY_NONE);
}

/* ---- what a switch took and what not ---- */

/* A SwitchInfo, whether it acknowledges a change or not. */
static uint64_t info_fingerprint(const uint8_t *info)
{
    uint8_t settings[24] = {0};
    memcpy(settings, info, 20);
    wire_set(settings, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    return fold(1, settings, sizeof settings);
}

static bool is_info_refused(struct sm *sm, uint32_t node)
{
    uint8_t wanted[sizeof node_at(sm, node)->switch_info];
    memcpy(wanted, node_at(sm, node)->switch_info, sizeof wanted);
    want_switch_info(sm, node, wanted);
    return switch_settings(sm, node)->refusal.info == info_fingerprint(wanted);
}

static uint64_t refused_contents(struct sm *sm, uint32_t node)
{
    const struct refusal *refusal = &switch_settings(sm, node)->refusal;
    const struct subnet_tables *tables = node_at(sm, node)->tables;
    uint64_t hash = 1;
    assert(tables); /* or there were no blocks to be refused */
    for (unsigned block = 0; block < LFT_BLOCKS; block++)
        if (bitset_has(refusal->blocks, block))
            hash = fold(hash, tables->wanted + block * LFT_BLOCK, LFT_BLOCK);
    return hash;
}

/* What is wanted may be something else now; or it is time to try again. */
static void review_refusals(struct sm *sm, uint32_t node)
{
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    bool again = refusal->sweep != sweep_deadline(sm);
    refusal->sweep = sweep_deadline(sm);
    if (again)
        refusal->info = 0;
    if (refusal->contents && (again || refused_contents(sm, node) != refusal->contents)) {
        memset(refusal->blocks, 0, sizeof refusal->blocks);
        refusal->contents = 0;
    }
}

void program_report_refused_block(struct sm *sm, const struct request *request, uint16_t status,
                                  const char *consequence)
{
    uint32_t node = request->about.table.node;
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    if (!refusal->told_blocks)
        sm_say(sm, SM_EVENT_ERROR,
               "switch 0x%016llx refuses table block %u (status 0x%x): it lacks routes%s",
               (unsigned long long)node_at(sm, node)->guid, request->about.table.block, status,
               consequence);
    refusal->told_blocks = true;
}

static void note_refused_block(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.table.node, block = request->about.table.block;
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    if (memcmp(node_at(sm, node)->tables->wanted + block * LFT_BLOCK, request->data, LFT_BLOCK))
        return; /* something else is wanted since it was sent */
    review_refusals(sm, node);
    bitset_add(refusal->blocks, block);
    refusal->contents = refused_contents(sm, node);
}

static void info_refused(struct sm *sm, const struct request *request, uint16_t status)
{
    uint32_t node = request->about.node;
    const struct subnet_node *n = node_at(sm, node);
    struct refusal *refusal = &switch_settings(sm, node)->refusal;
    review_refusals(sm, node);
    refusal->info = info_fingerprint(request->data);
    bool random = random_table_is_used(n);
    uint64_t kept =
        wire_get(n->switch_info, random ? SWITCH_INFO_DEFAULT_PORT : SWITCH_INFO_LINEAR_FDB_TOP);
    if (!refusal->told_info)
        sm_say(sm, SM_EVENT_ERROR,
               "switch 0x%016llx refuses its settings (status 0x%x): its %s stays %u; sweeps ask "
               "again",
               (unsigned long long)n->guid, status, random ? "default port" : "top LID",
               (unsigned)kept);
    refusal->told_info = true;
}

/* After a Set that acknowledged a change. There may have been another one right then; one that
 * stays for good is not acknowledged again, but by sweeps, which look at the ports each time. */
static void change_acknowledged(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    struct switch_settings *work = switch_settings(sm, node);
    struct refusal *refusal = &work->refusal;
    if (!wire_get(n->switch_info, SWITCH_INFO_PORT_STATE_CHANGE)) {
        refusal->changes = 0;
        return;
    }
    refusal->changes += refusal->changes < TRIES;
    if (refusal->changes < TRIES)
        return;
    if (discovery_first_keeps_change(sm, node))
        sm_say(sm, SM_EVENT_WARNING,
               "switch 0x%016llx does not take back that its ports changed: every sweep reads them",
               (unsigned long long)n->guid);
}

static void info_taken(struct sm *sm, const struct request *request, const uint8_t *data)
{
    uint32_t node = request->about.node;
    struct switch_settings *work = switch_settings(sm, node);
    memcpy(node_at(sm, node)->switch_info, data, 20);
    work->own_top = wire_get(data, SWITCH_INFO_MULTICAST_FDB_TOP) !=
                    wire_get(request->data, SWITCH_INFO_MULTICAST_FDB_TOP);
    work->own_life = wire_get(data, SWITCH_INFO_LIFE_TIME_VALUE) != sm->config.life_time;
    if (wire_get(request->data, SWITCH_INFO_PORT_STATE_CHANGE))
        change_acknowledged(sm, node);
}

/* ---- switches ---- */

/* The top of a linear table, or the default port of a random one; the last multicast LID and the
 * life of a packet, unless the switch has one of its own; and a change of ports that nobody has
 * acknowledged, as all switches report when they start. */
static bool switch_info_differs(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    if (wire_get(n->switch_info, SWITCH_INFO_PORT_STATE_CHANGE) &&
        switch_settings(sm, node)->refusal.changes < TRIES)
        return true;
    if (wire_get(n->switch_info, SWITCH_INFO_LIFE_TIME_VALUE) != sm->config.life_time &&
        !switch_settings(sm, node)->own_life)
        return true;
    if (wire_get(n->switch_info, SWITCH_INFO_MULTICAST_FDB_TOP) != multicast_top_of(sm, node) &&
        !switch_settings(sm, node)->own_top)
        return true;
    if (random_table_is_used(n))
        return wire_get(n->switch_info, SWITCH_INFO_DEFAULT_PORT) != random_table_default(sm, node);
    return n->tables && wire_get(n->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) !=
                            addresses_table_top(&sm->subnet, n);
}

bool program_first_lacks_room(struct sm *sm, uint32_t node)
{
    bool first = !switch_settings(sm, node)->too_small;
    switch_settings(sm, node)->too_small = true;
    return first;
}

/* The last block that is wanted and that a switch has room for. */
static unsigned last_block(struct sm *sm, uint32_t node)
{
    const struct subnet_node *n = node_at(sm, node);
    unsigned top = n->tables->wanted_top;
    unsigned capacity = (unsigned)wire_get(n->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    bool fits = !capacity || top < capacity;
    if (!fits && program_first_lacks_room(sm, node))
        sm_say(sm, SM_EVENT_ERROR,
               "switch 0x%016llx has room for LIDs up to %u only: those up to %u have no route "
               "there",
               (unsigned long long)n->guid, capacity - 1, top);
    if (fits)
        switch_settings(sm, node)->too_small = false;
    return (fits ? top : capacity - 1) / LFT_BLOCK;
}

static bool is_to_be_written(struct sm *sm, uint32_t node, unsigned block)
{
    return block_differs(node_at(sm, node)->tables, block) &&
           !bitset_has(switch_settings(sm, node)->refusal.blocks, block);
}

void program_switch(struct sm *sm, uint32_t node)
{
    struct subnet_node *n = node_at(sm, node);
    enum phase phase = reconfigure_phase(sm);
    if (!n->present)
        switch_settings(sm, node)->refusal = (struct refusal){0}; /* it may be another when back */
    if (sm_state(sm) != SM_MASTER || !n->present || !plan_current(sm) || n->kind != SUBNET_SWITCH ||
        phase == PHASE_STOP || phase == PHASE_COMPUTE)
        return; /* traffic is still running, or what is wanted is about to change */
    review_refusals(sm, node);
    if (switch_info_differs(sm, node) && !switch_settings(sm, node)->writing_switch &&
        !sm->config.policy->fixed_blocks && !is_info_refused(sm, node))
        write_switch_info(sm, node);
    if (switch_settings(sm, node)->writing_tables || !n->tables)
        return; /* looked at again when they are through; or nobody's business */
    if (random_table_is_used(n)) {
        random_table_program(sm, node);
        return;
    }
    unsigned fixed = sm->config.policy->fixed_blocks;
    unsigned last = fixed ? fixed - 1 : last_block(sm, node);
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

void program_forget_tables(struct sm *sm)
{
    for (size_t i = 0; i < sm->subnet.nodes.count; i++)
        if (sm->subnet.nodes.items[i].tables)
            memset(sm->subnet.nodes.items[i].tables->known, 0,
                   sizeof sm->subnet.nodes.items[i].tables->known);
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

void program_cancel(struct sm *sm)
{
    sm->program->due = false;
}

bool program_is_due(const struct sm *sm)
{
    return sm->program->due;
}

void program_what_is_due(struct sm *sm)
{
    if (!sm->program->due)
        return;
    sm->program->due = false;
    program_all(sm);
}

void program_requests_dropped(struct sm *sm)
{
    struct program *program = sm->program;
    program->tables_under_way = 0;
    for (size_t i = 0; i < program->ports.count; i++)
        program->ports.items[i].writing = false;
    for (size_t i = 0; i < program->nodes.count; i++)
        program->nodes.items[i] = (struct switch_settings){0};
}

/* ---- outcomes ---- */

void program_block_ended(struct sm *sm, const struct request *request)
{
    struct switch_settings *work = switch_settings(sm, request->about.table.node);
    assert(work->writing_tables && sm->program->tables_under_way);
    work->writing_tables--;
    sm->program->tables_under_way--;
}

void program_block_done(struct sm *sm, uint32_t node)
{
    if (switch_settings(sm, node)->writing_tables == 0) {
        program_switch(sm, node);
        program_node_ports(sm, node);
    }
}

/* Whoever does not answer a Set may or may not have carried it out: the block is not known. */
void program_block_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    struct subnet_tables *tables = node_at(sm, request->about.table.node)->tables;
    uint32_t block = request->about.table.block;
    (void)now;
    tables->known[block / 64] &= ~(UINT64_C(1) << (block % 64));
}

static void block_taken(struct sm *sm, uint64_t now, const struct request *request,
                        const uint8_t *data)
{
    uint32_t node = request->about.table.node, block = request->about.table.block;
    struct subnet_tables *tables = node_at(sm, node)->tables;
    (void)now, (void)data;
    memcpy(tables->actual + block * LFT_BLOCK, request->data, LFT_BLOCK);
    tables->known[block / 64] |= UINT64_C(1) << (block % 64);
    program_block_done(sm, node);
}

static void block_refused(struct sm *sm, uint64_t now, const struct request *request,
                          uint16_t status)
{
    (void)now;
    program_report_refused_block(sm, request, status, "; sweeps ask again");
    note_refused_block(sm, request);
    program_block_done(sm, request->about.table.node);
}

/* It refused a Set, or took one and did not move. Its state changed under our feet, most likely:
 * look again before trying again. */
static void port_resists(struct sm *sm, uint32_t port, unsigned state, uint16_t status)
{
    const struct subnet_port *p = port_at(sm, port);
    struct port_settings *work = port_settings(sm, port);
    unsigned long long guid = node_at(sm, p->node)->guid;
    discovery_avoid_port(sm, port);
    work->refusals += work->refusals <= TRIES;
    if (work->refusals < TRIES)
        discovery_read_port(sm, port);
    else if (work->refusals == TRIES && status)
        sm_say(sm, SM_EVENT_WARNING,
               "port %u of 0x%016llx refuses its settings (status 0x%x): sweeps ask again",
               p->number, guid, status);
    else if (work->refusals == TRIES)
        sm_say(sm, SM_EVENT_WARNING,
               "port %u of 0x%016llx does not become %s when it is told to: sweeps ask again",
               p->number, guid, state == PORT_STATE_ARMED ? "Armed" : "Active");
}

static void port_ended(struct sm *sm, const struct request *request)
{
    port_settings(sm, request->about.port)->writing = false;
}

static void port_taken(struct sm *sm, uint64_t now, const struct request *request,
                       const uint8_t *data)
{
    uint32_t port = request->about.port;
    struct subnet_port *p = port_at(sm, port);
    unsigned state = (unsigned)wire_get(request->data, PORT_INFO_PORT_STATE);
    (void)now;
    memcpy(p->info, data, sizeof p->info);
    wire_set(p->info, PORT_INFO_CLIENT_REREGISTER, 0); /* a question, not a setting */
    if (wire_get(request->data, PORT_INFO_CLIENT_REREGISTER))
        reregister_asked(sm, port);
    port_settings(sm, port)->tried = fingerprint(request->data, data);
    if (state > wire_get(data, PORT_INFO_PORT_STATE) && !sm->config.policy->ports_once)
        port_resists(sm, port, state, STATUS_OK);
    else
        port_settings(sm, port)->refusals = 0;
    program_port(sm, port);
    if (p->peer != SUBNET_NONE && node_at(sm, port_at(sm, p->peer)->node)->vswitch)
        functions_program_all(sm, port_at(sm, p->peer)->node);
    if (p->peer != SUBNET_NONE)
        program_port(sm, p->peer);
}

static void port_refused(struct sm *sm, uint64_t now, const struct request *request,
                         uint16_t status)
{
    (void)now;
    port_resists(sm, request->about.port, (unsigned)wire_get(request->data, PORT_INFO_PORT_STATE),
                 status);
}

static void port_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)now;
    discovery_avoid_port(sm, request->about.port);
}

static void switch_ended(struct sm *sm, const struct request *request)
{
    assert(sm->program->tables_under_way);
    switch_settings(sm, request->about.node)->writing_switch = false;
    sm->program->tables_under_way--;
}

/* False if something else is wanted since a SwitchInfo was sent. */
static bool is_still_wanted(struct sm *sm, const struct request *request)
{
    uint8_t wanted[sizeof node_at(sm, request->about.node)->switch_info];
    memcpy(wanted, request->data, sizeof wanted);
    want_switch_info(sm, request->about.node, wanted);
    return memcmp(wanted, request->data, sizeof wanted) == 0;
}

/* What changed before the change was acknowledged may have been missed: ports are looked at again,
 * but for those that show their state when they are made Active, which comes later. */
static void switch_written(struct sm *sm, const struct request *request, bool still_wanted)
{
    uint32_t node = request->about.node;
    for (unsigned number = 1; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        const struct subnet_port *p = port_at(sm, port);
        uint64_t state = wire_get(p->info, PORT_INFO_PORT_STATE);
        bool rises = p->peer != SUBNET_NONE && state > PORT_STATE_DOWN && state < PORT_STATE_ACTIVE;
        if (wire_get(request->data, SWITCH_INFO_PORT_STATE_CHANGE) && p->known && !rises &&
            !subnet_is_socket(&sm->subnet, port))
            discovery_read_port(sm, port);
    }
    if (!still_wanted)
        program_switch(sm, node);
    program_node_ports(sm, node);
}

static void switch_taken(struct sm *sm, uint64_t now, const struct request *request,
                         const uint8_t *data)
{
    bool still_wanted = is_still_wanted(sm, request);
    (void)now;
    info_taken(sm, request, data);
    switch_written(sm, request, still_wanted);
}

static void switch_refused(struct sm *sm, uint64_t now, const struct request *request,
                           uint16_t status)
{
    bool still_wanted = is_still_wanted(sm, request);
    (void)now;
    info_refused(sm, request, status);
    switch_written(sm, request, still_wanted);
}
