/* Writes PortInfo that differs from the wanted settings, with one Set for each port.
 *
 * One Set writes the settings and changes the state to Armed. The port becomes Active when the
 * tables of its switch are confirmed and the other end is at least Armed. While traffic runs, links
 * between switches become Active before new tables use them. */
#include "sm/tables/program_ports.h"
#include "sm/discovery/discovery.h"
#include "sm/guard/examine.h"
#include "sm/guard/port_keys.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/tables/distribute.h"
#include "sm/tables/functions.h"
#include "sm/tables/partitions.h"
#include "sm/tables/program.h"
#include "sm/tables/qos.h"
#include "sm/tables/reregister.h"
#include "sm/transactions.h"
#include "subnet/names.h"

#include <string.h>

static request_outcome port_ended, port_accepted, port_set_failed, port_unanswered;
static const struct request_kind set_port = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .writes = true,
    .ended = port_ended,
    .answered = port_accepted,
    .refused = port_set_failed,
    .unanswered = port_unanswered,
    .loses_contact = true,
};

enum { TRIES = 3 }; /* of a Set that may have failed because of a concurrent change */

struct port_settings {
    bool writing;     /* a Set is under way */
    uint64_t tried;   /* hash of the last Set and its answer */
    uint64_t written; /* time of the last Set; 0: none */
    uint8_t refusals; /* Sets in a row that were refused or did not change the state */
};

struct port_writer {
    VEC(struct port_settings) ports; /* by port of the subnet */
};

static void drop_port_writer(struct sm *sm)
{
    for (size_t i = 0; i < sm->port_writer->ports.count; i++)
        sm->port_writer->ports.items[i].writing = false;
}

static struct port_settings *port_settings(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return vec_at(&sm->port_writer->ports, port);
}

bool sm_is_writing_port(const struct sm *sm, uint32_t port)
{
    return port < sm->port_writer->ports.count && sm->port_writer->ports.items[port].writing;
}

bool program_port_was_written(const struct sm *sm, uint32_t port)
{
    const uint64_t recent = 30 * NS_PER_S;
    if (port >= sm->port_writer->ports.count || !sm->port_writer->ports.items[port].written)
        return false;
    return sm->now < sm->port_writer->ports.items[port].written + recent;
}

bool program_port_is_refused(const struct sm *sm, uint32_t port)
{
    return port < sm->port_writer->ports.count &&
           sm->port_writer->ports.items[port].refusals >= TRIES;
}

WIRE_INLINE uint64_t smaller(const uint8_t *a, const uint8_t *b, enum wire_field field)
{
    uint64_t x = wire_get(a, field), y = wire_get(b, field);
    return x < y ? x : y;
}

static void want_end_port(struct sm *sm, uint32_t end_port, uint8_t *info)
{
    const struct subnet_port *port = port_at(sm, end_port);
    assert(port->lid && port->lid <= LID_UNICAST_LAST);
    wire_set(info, PORT_INFO_GID_PREFIX, sm->config.subnet_prefix);
    wire_set(info, PORT_INFO_LID, port->lid);
    wire_set(info, PORT_INFO_LMC, port->lmc);
    wire_set(info, PORT_INFO_MASTER_SM_LID, port_at(sm, sm->subnet.own_port)->lid);
    wire_set(info, PORT_INFO_MASTER_SM_SL, qos_master_sl(sm, port));
    wire_set(info, PORT_INFO_M_KEY, port_keys_of(sm, end_port));
    wire_set(info, PORT_INFO_M_KEY_LEASE_PERIOD, sm->config.m_key_lease_s);
    wire_set(info, PORT_INFO_M_KEY_PROTECT_BITS, sm->config.m_key_protect);
    wire_set(info, PORT_INFO_SUBNET_TIME_OUT, sm->config.subnet_timeout);
}

/* A link between switches that tables may use; vSwitches forward to their own functions only. */
static bool is_trunk(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    if (p->peer == SUBNET_NONE || p->number == 0)
        return false;
    const struct subnet_node *near = node_at(sm, p->node);
    const struct subnet_node *far = node_at(sm, port_at(sm, p->peer)->node);
    return near->kind == SUBNET_SWITCH && far->kind == SUBNET_SWITCH && !near->vswitch &&
           !far->vswitch;
}

static enum link_place place_of_port(struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    if (node_at(sm, p->node)->kind != SUBNET_SWITCH)
        return LINK_ADAPTER;
    return node_at(sm, port_at(sm, p->peer)->node)->kind == SUBNET_SWITCH ? LINK_TRUNK : LINK_LEAF;
}

static unsigned next_state(struct sm *sm, uint32_t port, const struct subnet_port *peer)
{
    struct subnet_port *p = port_at(sm, port);
    enum sm_phase phase = reconfigure_phase(sm);
    if (phase == SM_PHASE_STOP || phase == SM_PHASE_WRITE || phase == SM_PHASE_START)
        return PORT_STATE_NO_CHANGE; /* static distribution stops the ports */
    uint64_t state = wire_get(p->info, PORT_INFO_PORT_STATE);
    if (state == PORT_STATE_INIT)
        return PORT_STATE_ARMED;
    if (state != PORT_STATE_ARMED || !blocks_port_is_settled(&sm->subnet.blocks, port) ||
        !partitions_are_settled(sm, port) ||
        wire_get(peer->info, PORT_INFO_PORT_STATE) < PORT_STATE_ARMED)
        return PORT_STATE_NO_CHANGE;
    /* Links between switches become Active before the first wave. */
    bool ready =
        (phase == SM_PHASE_WAVES && is_trunk(sm, port)) ||
        (program_tables_are_confirmed(sm, p->node) && program_tables_are_confirmed(sm, peer->node));
    return ready ? PORT_STATE_ACTIVE : PORT_STATE_NO_CHANGE;
}

/* An agent may accept a setting and ignore it: the same Set is not repeated while PortInfo stays
 * the same. Port states are excluded. */
static uint64_t fingerprint(const uint8_t *settings, const uint8_t *outcome)
{
    uint8_t both[2][64];
    memcpy(both[0], settings, sizeof both[0]);
    memcpy(both[1], outcome, sizeof both[1]);
    for (unsigned i = 0; i < 2; i++) {
        wire_set(both[i], PORT_INFO_PORT_STATE, 0);
        wire_set(both[i], PORT_INFO_PORT_PHYSICAL_STATE, 0);
    }
    return hash_bytes(1, both[0], sizeof both);
}

/* Sets the states that a Set(PortInfo) requests; 0 in the other fields means no change. */
static void request_states(uint8_t *wanted, unsigned state, unsigned physical)
{
    wire_set(wanted, PORT_INFO_PORT_STATE, state);
    wire_set(wanted, PORT_INFO_PORT_PHYSICAL_STATE, physical);
    wire_set(wanted, PORT_INFO_LINK_WIDTH_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_SPEED_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_SPEED_EXT_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_SPEED_EXT2_ENABLED, 0);
    wire_set(wanted, PORT_INFO_LINK_DOWN_DEFAULT_STATE, 0);
}

static void send_settings(struct sm *sm, uint32_t port, uint8_t *wanted, unsigned state)
{
    const struct subnet_port *p = port_at(sm, port);
    request_states(wanted, state, PHYSICAL_NO_CHANGE);
    if (p->peer != SUBNET_NONE && !program_writes_ports_once(sm) &&
        link_settings_are_forced(&sm->config.links))
        link_settings_force(&sm->config.links, place_of_port(sm, port), p->info, wanted);
    if (state == PORT_STATE_NO_CHANGE && !program_writes_ports_once(sm) &&
        port_settings(sm, port)->tried == fingerprint(wanted, p->info))
        return; /* the agent ignores them */
    assert(!port_settings(sm, port)->writing && sm_state(sm) == SM_MASTER);
    port_settings(sm, port)->writing = true;
    sm_send(sm, &set_port, (union request_subject){.port = port},
            subnet_end_port(&sm->subnet, port), sm_port_info_modifier(sm, port), wanted);
}

static request_outcome physical_changed, physical_refused;
static const struct request_kind set_physical = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .writes = true,
    .answered = physical_changed,
    .refused = physical_refused,
    .loses_contact = true,
};

/* The mark of an isolated port: HOQLife 20 to 29, which all mean "infinite" and have no effect at a
 * disabled port, with VLStallCount 1 to 4. Both together encode the values before: HOQLife up to
 * 19, and a VLStallCount of 7 (OpenSM's) or less. Every later master recognizes the mark; a port
 * that was disabled by hand has none. */
enum { MARK_LIFE = 20, MARK_LIVES = 10, MARK_STALLS = 4, STALL_COUNT = 7, UNLIMITED_LIFE = 31 };

bool program_port_is_marked(const uint8_t *info)
{
    uint64_t life = wire_get(info, PORT_INFO_HOQ_LIFE);
    uint64_t stall = wire_get(info, PORT_INFO_VL_STALL_COUNT);
    return life >= MARK_LIFE && life < MARK_LIFE + MARK_LIVES && stall && stall <= MARK_STALLS;
}

static void mark_port(uint8_t *info)
{
    uint64_t life = wire_get(info, PORT_INFO_HOQ_LIFE);
    uint64_t stall = wire_get(info, PORT_INFO_VL_STALL_COUNT);
    life = life < MARK_LIFE ? life : MARK_LIFE - 1;
    wire_set(info, PORT_INFO_HOQ_LIFE, MARK_LIFE + life % MARK_LIVES);
    wire_set(info, PORT_INFO_VL_STALL_COUNT, 1 + life / MARK_LIVES + (stall ? 2 : 0));
}

static void unmark_port(uint8_t *info)
{
    uint64_t life = wire_get(info, PORT_INFO_HOQ_LIFE) - MARK_LIFE;
    uint64_t code = wire_get(info, PORT_INFO_VL_STALL_COUNT) - 1;
    wire_set(info, PORT_INFO_HOQ_LIFE, life + code % 2 * MARK_LIVES);
    wire_set(info, PORT_INFO_VL_STALL_COUNT, code / 2 ? STALL_COUNT : 0);
}

void program_switch_port(struct sm *sm, uint32_t port, enum port_command command)
{
    static const uint8_t states[] = {[PORT_ENABLE] = PHYSICAL_POLLING,
                                     [PORT_DISABLE] = PHYSICAL_DISABLED,
                                     [PORT_ISOLATE] = PHYSICAL_DISABLED,
                                     [PORT_UNMARK] = PHYSICAL_NO_CHANGE};
    uint8_t wanted[SMP_DATA_BYTES] = {0};
    memcpy(wanted, port_at(sm, port)->info, sizeof port_at(sm, port)->info);
    if (program_port_is_marked(wanted))
        unmark_port(wanted);
    if (command == PORT_ISOLATE)
        mark_port(wanted);
    request_states(wanted, PORT_STATE_NO_CHANGE, states[command]);
    sm_send(sm, &set_physical, (union request_subject){.port = port},
            subnet_end_port(&sm->subnet, port), sm_port_info_modifier(sm, port), wanted);
}

static void physical_changed(struct sm *sm, const struct request *request)
{
    discovery_read_port(sm, request->about.port);
}

static void physical_refused(struct sm *sm, const struct request *request)
{
    sm_log_at(sm, SM_EVENT_WARNING, request->about.port,
              "%s refuses to be disabled or enabled (status 0x%x)",
              subnet_port_name(&sm->subnet, request->about.port).text, request->status);
}

/* The other modes close no ports: program_port() makes them Active, as it does by default. */
bool program_writes_ports_once(const struct sm *sm)
{
    return sm->config.policy->ports_once && sm->config.mode == SM_STATIC;
}

/* distribute.c makes switch ports Active. */
void program_end_port_once(struct sm *sm, uint32_t port)
{
    assert(subnet_is_end_port(&sm->subnet, port) && program_writes_ports_once(sm));
    struct subnet_port *p = port_at(sm, port);
    uint8_t wanted[64];
    if (sm_state(sm) != SM_MASTER || !p->lid || port_settings(sm, port)->writing)
        return;
    memcpy(wanted, p->info, sizeof wanted);
    want_end_port(sm, port, wanted);
    send_settings(sm, port, wanted, p->number ? PORT_STATE_ACTIVE : PORT_STATE_NO_CHANGE);
}

void program_port(struct sm *sm, uint32_t port)
{
    struct subnet_port *p = port_at(sm, port);
    struct port_settings *work = port_settings(sm, port);
    struct subnet_node *node = node_at(sm, p->node);
    bool end = subnet_is_end_port(&sm->subnet, port);
    bool management = node->kind == SUBNET_SWITCH && p->number == 0;
    if (subnet_is_vf_port(&sm->subnet, port)) {
        functions_program(sm, port);
        return; /* all other settings are those of the PF's VF port */
    }
    if (!node->present || (!management && p->peer == SUBNET_NONE))
        work->refusals = 0; /* the next node there has not refused anything */
    if (sm_state(sm) != SM_MASTER || !node->present || !p->known || work->writing ||
        sm_is_avoiding_port(sm, port) || program_writes_ports_once(sm) ||
        functions_is_held(sm, port))
        return;
    if ((end && !p->lid) || (!management && p->peer == SUBNET_NONE))
        return;
    uint8_t wanted[64];
    memcpy(wanted, p->info, sizeof wanted);
    if (end) {
        reregister_set_port(sm, port, wanted);
        want_end_port(sm, port, wanted);
    }
    unsigned state = PORT_STATE_NO_CHANGE;
    bool forced = false;
    if (!management) {
        const struct subnet_port *peer = port_at(sm, p->peer);
        if (!peer->known)
            return;
        wire_set(wanted, PORT_INFO_NEIGHBOR_MTU, smaller(p->info, peer->info, PORT_INFO_MTU_CAP));
        wire_set(wanted, PORT_INFO_OPERATIONAL_VLS, smaller(p->info, peer->info, PORT_INFO_VL_CAP));
        enum link_place place = place_of_port(sm, port);
        if (!program_port_is_marked(p->info))
            link_settings_apply(&sm->config.links, place, wanted);
        if (program_port_is_marked(wanted) && !program_port_is_marked(p->info))
            wire_set(wanted, PORT_INFO_HOQ_LIFE, UNLIMITED_LIFE);
        forced = link_settings_are_forced(&sm->config.links) &&
                 link_settings_force(&sm->config.links, place, p->info, NULL);
        qos_set_port(sm, port, wanted);
        partitions_enforce(sm, port, wanted);
        state = next_state(sm, port, peer);
    }
    if (memcmp(wanted, p->info, sizeof wanted) == 0 && state == PORT_STATE_NO_CHANGE && !forced)
        return;
    send_settings(sm, port, wanted, state);
}

/* Ignores links whose ports refuse to become Active. */
bool program_links_rise(struct sm *sm)
{
    if (distribute_has_written_waves(sm))
        return false; /* later links belong to the next plan */
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        uint64_t state = wire_get(p->info, PORT_INFO_PORT_STATE);
        if (p->known && node_at(sm, p->node)->present && is_trunk(sm, port) &&
            state > PORT_STATE_DOWN && state < PORT_STATE_ACTIVE && port_at(sm, p->peer)->known &&
            !sm_is_avoiding_port(sm, port) && !sm_is_avoiding_port(sm, p->peer))
            return true;
    }
    return false;
}

void program_link(struct sm *sm, uint32_t port)
{
    program_port(sm, port);
    if (port_at(sm, port)->peer != SUBNET_NONE)
        program_port(sm, port_at(sm, port)->peer);
}

void program_node_ports(struct sm *sm, uint32_t node)
{
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++)
        program_link(sm, node_at(sm, node)->first_port + number);
}

/* ---- outcomes ---- */

/* A port refused a Set, or did not change its state. Its state has probably changed since it was
 * read: reads it before the next try. */
static void port_set_failed(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port;
    const struct subnet_port *p = port_at(sm, port);
    struct port_settings *work = port_settings(sm, port);
    unsigned long long guid = node_at(sm, p->node)->guid;
    discovery_avoid_port(sm, port, true);
    work->refusals += work->refusals <= TRIES;
    if (work->refusals < TRIES)
        discovery_read_port(sm, port);
    else if (work->refusals == TRIES && request->status)
        sm_log_at(sm, SM_EVENT_WARNING, port,
                  "port %u of 0x%016llx refuses its settings (status 0x%x): sweeps try again",
                  p->number, guid, request->status);
    else if (work->refusals == TRIES)
        sm_log_at(sm, SM_EVENT_WARNING, port,
                  "port %u of 0x%016llx does not become %s: sweeps try again", p->number, guid,
                  wire_get(request->data, PORT_INFO_PORT_STATE) == PORT_STATE_ARMED ? "Armed"
                                                                                    : "Active");
}

static void port_ended(struct sm *sm, const struct request *request)
{
    port_settings(sm, request->about.port)->writing = false;
}

static void port_accepted(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port;
    struct subnet_port *p = port_at(sm, port);
    struct port_settings *work = port_settings(sm, port);
    uint64_t state = wire_get(request->data, PORT_INFO_PORT_STATE);
    discovery_store_port(sm, port, request->answer);
    work->written = sm->now;
    if (wire_get(request->data, PORT_INFO_CLIENT_REREGISTER))
        reregister_sent(sm, port);
    work->tried = fingerprint(request->data, request->answer);
    if (state > wire_get(request->answer, PORT_INFO_PORT_STATE) && !program_writes_ports_once(sm))
        port_set_failed(sm, request);
    else
        work->refusals = 0;
    program_port(sm, port);
    if (p->peer != SUBNET_NONE && node_at(sm, port_at(sm, p->peer)->node)->vswitch)
        functions_program_all(sm, port_at(sm, p->peer)->node);
    if (p->peer != SUBNET_NONE)
        program_port(sm, p->peer);
    discovery_note_manager(sm, port); /* the port may run a manager since it was read */
}

static void port_unanswered(struct sm *sm, const struct request *request)
{
    discovery_avoid_port(sm, request->about.port, true);
}

/* Ports that were not read, or do not accept their settings. */
static void program_ports_list_problems(struct sm *sm, struct problems *problems)
{
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (!node_at(sm, p->node)->present)
            continue;
        if (discovery_has_unread_port(sm, port) && !examine_explains(sm, port))
            problems_add(problems, PROBLEM_DEAD_AGENT, subnet_at_port(&sm->subnet, port),
                         "the port was not read; sweeps try again");
        else if (p->known && port_settings(sm, port)->refusals >= TRIES)
            problems_add(problems, PROBLEM_REFUSED_TABLE, subnet_at_port(&sm->subnet, port),
                         "the port does not accept its settings; sweeps try again");
    }
}

SM_PART(port_writer, .vectors = {VECTOR(port_writer, ports)}, .requests_dropped = drop_port_writer,
        .problems = program_ports_list_problems, .as_master = true);
