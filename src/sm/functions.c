/* Virtual functions: hypervisors' adapters in vSwitch mode (wire/vswitch.h, paper 004).
 *
 * A vSwitch is asked for each of its functions with one Get(VirtualFunction), and given what is
 * wanted of one with one Set. The rows of a function that has a LID, or is to get one, are made
 * from such an answer: it has the settings of its physical function (PF), so nothing else has to be
 * asked for or written. To routes a vSwitch is no switch: its functions are terminals that share
 * the port of the leaf switch.
 *
 * LIDs: `prepopulated` every function gets one at bring-up, whether or not a virtual machine has
 * it; `dynamic` none has one until a machine is attached, and that is the business of the vswitch
 * library, which also moves machines. It asks for Sets and is told how they ended; in between, and
 * until it says where the addresses are now, the functions concerned are held: nobody else writes
 * them.
 *
 * Which machine is where is read from the hypervisors: a function with a machine shows its port
 * GUID and LID. A manager that takes over may find a machine at two places, if the last one died
 * between the two Sets of a move. Then the place to which the tables lead counts, and the other is
 * taken back; a place that was known before counts more than one that turns up later. */
#include "sm/internal.h"

#include <assert.h>

#include <stdio.h>
#include <string.h>

static uint32_t vswitch_of(struct sm *sm, uint32_t socket)
{
    return port_at(sm, socket)->node;
}

static unsigned actual_lid(const struct subnet_port *port)
{
    return (unsigned)wire_get(port->info, PORT_INFO_LID);
}

/* ---- rows ---- */

/* The function gets a row of its own, plugged into the socket. */
static uint32_t plug_in(struct sm *sm, uint32_t socket, uint64_t node_guid)
{
    uint32_t node = subnet_add_node(&sm->subnet, node_guid, SUBNET_ADAPTER, 1);
    if (node == SUBNET_NONE) {
        sm_say(sm, SM_EVENT_ERROR, "two nodes share the GUID 0x%016llx: the second is left out",
               (unsigned long long)node_guid);
        return SUBNET_NONE;
    }
    uint32_t port = node_at(sm, node)->first_port + 1;
    struct subnet_node *own = node_at(sm, node), *host = node_at(sm, vswitch_of(sm, socket));
    own->system_guid = host->system_guid;
    own->vendor = host->vendor;
    own->revision = host->revision;
    own->partition_cap = host->partition_cap;
    subnet_link(&sm->subnet, socket, port);
    port_at(sm, port)->via = socket;
    port_at(sm, port)->hops = (uint8_t)(port_at(sm, host->first_port)->hops + 1);
    sm_node_work(sm, node)->described = true;
    sm_port_work(sm, socket)->function = port;
    return port;
}

/* Its address is free from now on. */
void functions_pull_out(struct sm *sm, uint32_t socket)
{
    uint32_t port = sm_function_port(sm, socket);
    wire_set(port_at(sm, socket)->info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    if (port == SUBNET_NONE)
        return;
    subnet_set_lid(&sm->subnet, port, 0, 0);
    if (port_at(sm, socket)->peer == port)
        subnet_remove_node(&sm->subnet, port_at(sm, port)->node);
}

/* Also if its hypervisor is not there at the moment; SUBNET_NONE: it has no row. */
uint32_t sm_function_port(const struct sm *sm, uint32_t socket)
{
    uint32_t port = sm->subnet.ports.items[socket].peer;
    if (port != SUBNET_NONE)
        return port;
    port = socket < sm->port_work.count ? sm->port_work.items[socket].function : 0;
    return port ? port : SUBNET_NONE;
}

/* A function that is up has the settings of the PF, and its socket those of the PF's. */
static void fill_in(struct sm *sm, uint32_t socket)
{
    uint32_t host = vswitch_of(sm, socket), pf = subnet_pf_of(&sm->subnet, host);
    struct subnet_port *port = port_at(sm, port_at(sm, socket)->peer);
    unsigned lid = actual_lid(port), lmc = (unsigned)wire_get(port->info, PORT_INFO_LMC);
    if (pf == SUBNET_NONE || !port_at(sm, pf)->known)
        return;
    memcpy(port->info, port_at(sm, pf)->info, sizeof port->info);
    wire_set(port->info, PORT_INFO_LID, lid);
    wire_set(port->info, PORT_INFO_LMC, lmc);
    wire_set(port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    port->known = true;
    struct subnet_port *there = port_at(sm, socket);
    memcpy(there->info, port_at(sm, node_at(sm, host)->first_port + VSWITCH_PF)->info,
           sizeof there->info);
    wire_set(there->info, PORT_INFO_LOCAL_PORT_NUM, there->number);
    wire_set(there->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    struct subnet_node *own = node_at(sm, port->node);
    char host_name[sizeof own->description];
    memcpy(host_name, node_at(sm, port_at(sm, pf)->node)->description, sizeof host_name);
    snprintf(own->description, sizeof own->description, "%.58s-vf%u", host_name,
             there->number - VSWITCH_PF);
    own->partition_cap = node_at(sm, port_at(sm, pf)->node)->partition_cap;
    own->device = node_at(sm, port_at(sm, pf)->node)->device;
}

static bool is_being_written(const struct blocks *blocks, uint32_t port)
{
    bool writing = false;
    for (uint32_t row = BLOCKS_NONE; (row = blocks_next_of_port(blocks, port, row)) != BLOCKS_NONE;)
        writing |= blocks->rows.items[row].writing;
    return writing;
}

static void learn_tables(struct sm *sm, uint32_t from, uint32_t to)
{
    struct blocks *blocks = &sm->subnet.blocks;
    if (is_being_written(blocks, to))
        return;
    for (uint32_t row = blocks_next_of_port(blocks, from, BLOCKS_NONE); row != BLOCKS_NONE;
         row = blocks_next_of_port(blocks, from, row)) {
        const struct block *block = &blocks->rows.items[row];
        const uint8_t *actual = blocks_content(blocks, block->actual);
        if (actual && (block->kind == BLOCK_LANES || block->kind == BLOCK_ARBITRATION))
            blocks_learn(blocks, to, block->kind, block->part, actual);
    }
}

/* So has it the maps and arbitration tables of the PF, and its socket those of the PF's: they are
 * known without being written. (Keys are read before they are written, whoever's they are.) */
static void inherit_tables(struct sm *sm, uint32_t socket)
{
    uint32_t host = vswitch_of(sm, socket), pf = subnet_pf_of(&sm->subnet, host);
    uint32_t own = node_at(sm, host)->first_port + VSWITCH_PF, port = port_at(sm, socket)->peer;
    blocks_forget(&sm->subnet.blocks, port);
    blocks_forget(&sm->subnet.blocks, socket);
    bool held = hold_is_on(sm) || sm_port_work(sm, socket)->holds != sm->service.holds;
    if (pf == SUBNET_NONE || held || !blocks_port_is_settled(&sm->subnet.blocks, pf) ||
        !blocks_port_is_settled(&sm->subnet.blocks, own))
        return;
    learn_tables(sm, pf, port);
    learn_tables(sm, own, socket);
}

/* Levels and keys of functions that came up are planned for all of them at once. */
static void plan_for_the_risen(struct sm *sm)
{
    if (!sm->functions_risen || sm->functions_under_way)
        return;
    sm->functions_risen = false;
    sm->service.planned_generation = sm->partitioning.generation = UINT64_MAX; /* of no subnet */
}

/* ---- machines ---- */

/* It is not here any more; if it was seen at another place meanwhile, it is there. */
static void miss_machine(struct sm *sm, uint32_t socket, uint64_t guid)
{
    map_remove(&sm->machines, guid);
    for (size_t i = 0; i < sm->doubles.count; i++) {
        uint32_t other = sm->doubles.items[i].second;
        if (other != socket && port_at(sm, other)->attached && port_at(sm, other)->guid == guid)
            map_set(&sm->machines, guid, other);
    }
}

static void note_machine(struct sm *sm, uint32_t socket, uint64_t guid, bool attached)
{
    struct subnet_port *there = port_at(sm, socket);
    if (there->attached && (!attached || there->guid != guid) &&
        map_get(&sm->machines, there->guid) == socket)
        miss_machine(sm, socket, there->guid);
    there->attached = attached;
    there->guid = guid;
    if (!attached)
        return;
    uint32_t other = map_get(&sm->machines, guid);
    if (other != MAP_NONE && other != socket && port_at(sm, other)->attached &&
        port_at(sm, other)->guid == guid && !sm_port_work(sm, socket)->held &&
        !sm_port_work(sm, other)->held && node_at(sm, vswitch_of(sm, other))->present) {
        vec_push(&sm->doubles, ((struct doubled){.first = other, .second = socket}));
        return;
    }
    map_set(&sm->machines, guid, socket);
}

/* What the vSwitch says of a function: an answer to Get or Set. */
static void take(struct sm *sm, uint32_t socket, const uint8_t *data)
{
    struct subnet_port *there = port_at(sm, socket);
    unsigned lid = (unsigned)wire_get(data, VIRTUAL_FUNCTION_LID);
    unsigned lmc = (unsigned)wire_get(data, VIRTUAL_FUNCTION_LMC);
    uint64_t guid = wire_get(data, VIRTUAL_FUNCTION_PORT_GUID);
    there->known = true;
    note_machine(sm, socket, guid, wire_get(data, VIRTUAL_FUNCTION_ATTACHED));
    if (lid > LID_UNICAST_LAST)
        lid = 0;
    if (lid == 0 && sm->config.dynamic_lids && !sm_port_work(sm, socket)->held) {
        functions_pull_out(sm, socket);
        return;
    }
    uint32_t port = there->peer;
    if (port == SUBNET_NONE && (lid || !sm->config.dynamic_lids))
        port = plug_in(sm, socket, wire_get(data, VIRTUAL_FUNCTION_NODE_GUID));
    if (port == SUBNET_NONE)
        return;
    struct subnet_port *p = port_at(sm, port);
    p->guid = guid;
    wire_set(p->info, PORT_INFO_LID, lid);
    wire_set(p->info, PORT_INFO_LMC, lmc);
    if (lid == 0)
        p->known = false;
    else if (!p->known)
        fill_in(sm, socket);
}

void functions_read(struct sm *sm, uint64_t now, uint32_t socket, const uint8_t *data)
{
    (void)now;
    if (sm_port_work(sm, socket)->held)
        return; /* older than what is being written */
    take(sm, socket, data);
    sm->stale = true;
}

/* ---- the same machine twice ---- */

/* Where the tables lead from the manager: the port by which the LID's packets leave the last
 * switch. */
static uint32_t follow_tables(struct sm *sm, unsigned lid)
{
    uint32_t port = port_at(sm, sm->subnet.own_port)->peer;
    if (lid >= LFT_ENTRIES)
        return SUBNET_NONE;
    for (unsigned hops = 0; port != SUBNET_NONE && hops < SMP_MAX_HOPS; hops++) {
        const struct subnet_node *node = node_at(sm, port_at(sm, port)->node);
        if (node->vswitch && port_at(sm, port)->number != VSWITCH_UPLINK && hops == 0) {
            port = port_at(sm, node->first_port + VSWITCH_UPLINK)->peer; /* the manager's own */
            continue;
        }
        if (!node->tables)
            return port;
        unsigned out = node->tables->actual[lid];
        if (!subnet_block_known(node->tables, lid / LFT_BLOCK) || out == 0 ||
            out > node->port_count)
            return SUBNET_NONE;
        port = port_at(sm, node->first_port + out)->peer;
    }
    return SUBNET_NONE;
}

static void evict(struct sm *sm, uint32_t socket)
{
    uint32_t port = port_at(sm, socket)->peer;
    sm_say(sm, SM_EVENT_WARNING,
           "the machine 0x%016llx is at two places: function %u of 0x%016llx is taken back",
           (unsigned long long)port_at(sm, socket)->guid, port_at(sm, socket)->number - VSWITCH_PF,
           (unsigned long long)node_at(sm, vswitch_of(sm, socket))->guid);
    sm_port_work(sm, socket)->evict = true;
    port_at(sm, socket)->attached = false;
    if (sm->config.dynamic_lids)
        functions_pull_out(sm, socket);
    if (port == SUBNET_NONE || sm->config.dynamic_lids)
        return;
    /* Its address is the other's. */
    subnet_set_lid(&sm->subnet, port, 0, 0);
    wire_set(port_at(sm, port)->info, PORT_INFO_LID, 0);
    port_at(sm, port)->guid = 0;
    port_at(sm, port)->known = false;
}

static void resolve(struct sm *sm, const struct doubled *doubled)
{
    uint32_t first = doubled->first, second = doubled->second;
    const struct subnet_port *a = port_at(sm, first), *b = port_at(sm, second);
    if (!a->attached || !b->attached || a->guid != b->guid || first == second)
        return; /* not any more */
    if (!node_at(sm, a->node)->present) {
        map_set(&sm->machines, b->guid, second);
        return;
    }
    if (!node_at(sm, b->node)->present)
        return;
    bool settled = a->peer != SUBNET_NONE && port_at(sm, a->peer)->lid; /* known for long */
    uint32_t end = b->peer == SUBNET_NONE || settled
                       ? SUBNET_NONE
                       : follow_tables(sm, actual_lid(port_at(sm, b->peer)));
    bool newer = end != SUBNET_NONE && port_at(sm, end)->node == b->node;
    map_set(&sm->machines, a->guid, newer ? second : first);
    evict(sm, newer ? first : second);
}

/* ---- planning ---- */

/* A vSwitch shares the LID of its PF, who is the one that others find. */
static void share_lid(struct sm *sm, uint32_t vswitch)
{
    uint32_t pf = subnet_pf_of(&sm->subnet, vswitch);
    struct subnet_port *own = port_at(sm, node_at(sm, vswitch)->first_port);
    own->lid = pf == SUBNET_NONE ? 0 : port_at(sm, pf)->lid;
    own->lmc = 0;
}

void functions_prepare(struct sm *sm)
{
    for (size_t i = 0; i < sm->doubles.count; i++)
        resolve(sm, &sm->doubles.items[i]);
    sm->doubles.count = 0;
    for (uint32_t socket = 0; socket < sm->subnet.ports.count; socket++) {
        uint32_t port = port_at(sm, socket)->peer;
        if (port != SUBNET_NONE && subnet_is_socket(&sm->subnet, socket) &&
            !port_at(sm, port)->known && actual_lid(port_at(sm, port)))
            fill_in(sm, socket);
    }
}

void functions_share_lids(struct sm *sm)
{
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->vswitch && node_at(sm, node)->present)
            share_lid(sm, node);
}

static void add_terminal(struct sm *sm, struct sm_job *job, uint32_t port, uint32_t *beside,
                         uint32_t at, unsigned number)
{
    const struct subnet_port *p = port_at(sm, port);
    uint32_t terminal =
        *beside == NETWORK_NONE
            ? network_add_terminal(&job->network, p->guid, p->lid, p->lmc, at, number)
            : network_share_terminal(&job->network, p->guid, p->lid, p->lmc, *beside);
    if (terminal == NETWORK_NONE)
        return;
    *beside = terminal;
    network_name(&job->network, terminal, node_at(sm, p->node)->description);
    if (port == sm->subnet.own_port)
        job->network.manager = at;
}

bool functions_add_terminals(struct sm *sm, struct sm_job *job, uint32_t at, unsigned number,
                             uint32_t uplink)
{
    const struct subnet_node *node = node_at(sm, port_at(sm, uplink)->node);
    uint32_t beside = NETWORK_NONE;
    if (!node->vswitch)
        return false;
    for (unsigned i = VSWITCH_PF; i <= node->port_count; i++) {
        uint32_t port = port_at(sm, node->first_port + i)->peer;
        if (port != SUBNET_NONE && (port_at(sm, port)->lid || i == VSWITCH_PF))
            add_terminal(sm, job, port, &beside, at, number);
    }
    return true;
}

/* ---- writing ---- */

static bool pf_is_ready(struct sm *sm, uint32_t vswitch)
{
    uint32_t pf = subnet_pf_of(&sm->subnet, vswitch);
    if (pf == SUBNET_NONE || !port_at(sm, pf)->known)
        return false;
    const struct subnet_port *p = port_at(sm, pf);
    return actual_lid(p) == p->lid && p->lid &&
           wire_get(p->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE &&
           wire_get(p->info, PORT_INFO_MASTER_SM_LID) == port_at(sm, sm->subnet.own_port)->lid;
}

static request_answered function_set;
static request_refused function_refused;
static request_unanswered function_unanswered;
static const struct request_kind set_function = {
    .name = "VirtualFunction",
    .attribute = ATTRIBUTE_VIRTUAL_FUNCTION,
    .method = METHOD_SET,
    .counter = offsetof(struct sm_counts, functions),
    .answered = function_set,
    .refused = function_refused,
    .unanswered = function_unanswered,
};

static void write_function(struct sm *sm, uint32_t socket, const struct sm_function *wanted)
{
    struct request *request = sm_request(sm, &set_function, (union request_subject){.port = socket},
                                         node_at(sm, vswitch_of(sm, socket))->first_port);
    request->modifier = port_at(sm, socket)->number - VSWITCH_PF;
    wire_set(request->data, VIRTUAL_FUNCTION_LID, wanted->lid);
    wire_set(request->data, VIRTUAL_FUNCTION_LMC, wanted->lmc);
    wire_set(request->data, VIRTUAL_FUNCTION_ATTACHED, wanted->attached);
    wire_set(request->data, VIRTUAL_FUNCTION_PORT_GUID, wanted->guid);
    sm_port_work(sm, socket)->writing = true;
    sm_port_work(sm, socket)->holds = sm->service.holds;
    sm->functions_under_way++;
    sm_submit(sm, request, HASTE_NONE);
}

/* What a function has is not what is wanted of it: it has no LID yet, or another's, or a machine
 * that is somewhere else. */
void functions_program(struct sm *sm, uint32_t socket)
{
    const struct subnet_port *there = port_at(sm, socket);
    struct port_work *work = sm_port_work(sm, socket);
    if (sm->state != SM_MASTER || !there->known || work->writing || work->held || work->failures ||
        !node_at(sm, there->node)->present || !pf_is_ready(sm, there->node))
        return;
    struct sm_function wanted = {.attached = there->attached, .guid = there->guid};
    if (there->peer != SUBNET_NONE) {
        bool empty = sm->config.dynamic_lids && !there->attached; /* opened, and then left so */
        wanted.lid = empty ? 0 : port_at(sm, there->peer)->lid;
        wanted.lmc = empty ? 0 : port_at(sm, there->peer)->lmc;
        if (actual_lid(port_at(sm, there->peer)) == wanted.lid && !work->evict)
            return;
    } else if (!work->evict) {
        return;
    }
    if (work->evict)
        wanted.guid = 0;
    if (wanted.lid || sm->config.dynamic_lids || work->evict)
        write_function(sm, socket, &wanted);
}

void functions_program_all(struct sm *sm, uint32_t vswitch)
{
    for (unsigned i = VSWITCH_PF + 1; i <= node_at(sm, vswitch)->port_count; i++)
        functions_program(sm, node_at(sm, vswitch)->first_port + i);
}

static struct port_work *end_set(struct sm *sm, uint32_t socket, enum sm_function_outcome outcome)
{
    struct port_work *work = sm_port_work(sm, socket);
    assert(sm->functions_under_way);
    sm->functions_under_way--;
    work->writing = false;
    work->outcome = (uint8_t)outcome;
    return work;
}

static void function_refused(struct sm *sm, uint64_t now, const struct request *request,
                             uint16_t status)
{
    uint32_t socket = request->about.port;
    struct port_work *work = end_set(sm, socket, SM_FUNCTION_REFUSED);
    (void)now;
    work->failures += !work->held;
    sm_say(sm, SM_EVENT_WARNING, "function %u of 0x%016llx refuses its address (status 0x%x)",
           port_at(sm, socket)->number - VSWITCH_PF,
           (unsigned long long)node_at(sm, vswitch_of(sm, socket))->guid, status);
}

static void function_set(struct sm *sm, uint64_t now, const struct request *request,
                         const uint8_t *data)
{
    uint32_t socket = request->about.port;
    (void)now;
    end_set(sm, socket, SM_FUNCTION_DONE)->evict = false;
    uint32_t port = port_at(sm, socket)->peer;
    bool was_down = port == SUBNET_NONE || actual_lid(port_at(sm, port)) == 0;
    bool planned = sm->planned_generation == sm->subnet.generation;
    take(sm, socket, data);
    /* Whoever asked for it will say what it means for routes. */
    if (sm_port_work(sm, socket)->held && planned)
        sm->planned_generation = sm->subnet.generation;
    port = port_at(sm, socket)->peer;
    if (port != SUBNET_NONE && was_down && actual_lid(port_at(sm, port))) {
        fill_in(sm, socket);
        inherit_tables(sm, socket);
        partitions_came_up(sm, socket);
        sm->functions_risen = true;
    }
    plan_for_the_risen(sm);
}

static void function_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    end_set(sm, request->about.port, SM_FUNCTION_LOST);
    plan_for_the_risen(sm);
    discovery_lost_contact(sm, now, request->target);
}

/* Requests under way were forgotten. */
void functions_flush(struct sm *sm)
{
    sm->functions_under_way = 0;
    for (size_t i = 0; i < sm->port_work.count; i++)
        if (sm->port_work.items[i].held && sm->port_work.items[i].outcome == SM_FUNCTION_PENDING)
            sm->port_work.items[i].outcome = SM_FUNCTION_LOST;
}

/* Whether this is the port of a function whose address is about to be another one. */
bool functions_is_held(struct sm *sm, uint32_t port)
{
    uint32_t socket = subnet_socket_of(&sm->subnet, port);
    return socket != SUBNET_NONE && sm_port_work(sm, socket)->held;
}

/* ---- for the vswitch library ---- */

void sm_set_function(struct sm *sm, uint32_t socket, const struct sm_function *wanted)
{
    struct port_work *work = sm_port_work(sm, socket);
    work->held = true;
    work->outcome = SM_FUNCTION_PENDING;
    write_function(sm, socket, wanted);
}

void sm_hold_function(struct sm *sm, uint32_t socket)
{
    sm_port_work(sm, socket)->held = true;
}

bool sm_function_is_busy(struct sm *sm, uint32_t socket)
{
    uint32_t port = sm_function_port(sm, socket);
    return sm_port_work(sm, socket)->writing ||
           (port != SUBNET_NONE &&
            (sm_port_work(sm, port)->writing || partitions_are_under_way(sm, port)));
}

enum sm_function_outcome sm_function_outcome(const struct sm *sm, uint32_t socket)
{
    return socket < sm->port_work.count ? sm->port_work.items[socket].outcome : SM_FUNCTION_LOST;
}

void sm_release_function(struct sm *sm, uint32_t socket)
{
    if (socket >= sm->subnet.ports.count)
        return;
    sm_port_work(sm, socket)->held = false;
    partitions_let_go(sm, socket);
    if (node_at(sm, vswitch_of(sm, socket))->present)
        discovery_read_port(sm, socket); /* whatever it is now */
}

bool sm_function_is_free(struct sm *sm, uint32_t socket)
{
    const struct port_work *work = sm_port_work(sm, socket);
    const struct subnet_port *there = port_at(sm, socket);
    return there->known && !there->attached && !work->held && !work->writing && !work->evict &&
           !work->failures && node_at(sm, there->node)->present && pf_is_ready(sm, there->node);
}

uint32_t sm_find_machine(const struct sm *sm, uint64_t guid)
{
    uint32_t socket = map_get(&sm->machines, guid);
    return socket == MAP_NONE ? SUBNET_NONE : socket;
}

/* The address of a machine that is not to be found any more goes, too. */
void sm_forget_machine(struct sm *sm, uint64_t guid)
{
    uint32_t socket = sm_find_machine(sm, guid);
    if (socket == SUBNET_NONE)
        return;
    map_remove(&sm->machines, guid);
    port_at(sm, socket)->attached = false;
    if (sm->config.dynamic_lids)
        functions_pull_out(sm, socket);
}

bool sm_has_dynamic_lids(const struct sm *sm)
{
    return sm->config.dynamic_lids;
}

uint8_t sm_lmc(const struct sm *sm)
{
    return sm->config.lmc;
}

bool sm_is_quiet(const struct sm *sm)
{
    return sm->state == SM_MASTER && !sm->computing && sm->current && sm->current == sm->serving &&
           !sm->abandoned && sm->distribution.stage == STAGE_IDLE && !sm->discovering &&
           !sm->change.open && sm->subnet.generation == sm->planned_generation;
}
