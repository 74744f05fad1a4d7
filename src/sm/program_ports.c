/* Settings of ports: what differs from what is wanted goes out in one Set for each port.
 *
 * A port's settings and its step to Armed go together; it becomes Active when the tables of its
 * switch are confirmed and the other end is at least Armed. Where traffic is running, links between
 * switches come first: no table leads over one that does not carry anything yet. */
#include "sm/internal.h"

#include <assert.h>
#include <string.h>

static request_ended port_ended;
static request_answered port_taken;
static request_refused port_refused;
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

enum { TRIES = 3 }; /* of what may have been refused because of something that just changed */

struct port_settings {
    bool writing;     /* a Set is under way */
    uint64_t tried;   /* fingerprint of the last settings and of what the port made of them */
    uint8_t refusals; /* Sets in a row that it did not take or that did not move it */
};

struct port_writer {
    VEC(struct port_settings) ports; /* beside the subnet's */
    uint32_t sent;                   /* Sets */
};

struct port_writer *program_ports_new(void)
{
    return mem_zalloc(1, sizeof(struct port_writer));
}

void program_ports_free(struct port_writer *writer)
{
    if (!writer)
        return;
    vec_release(&writer->ports);
    mem_free(writer);
}

uint32_t program_ports_sent(const struct sm *sm)
{
    return sm->port_writer->sent;
}

void program_ports_requests_dropped(struct sm *sm)
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
        return (precedes_tables(sm, port) || (program_tables_are_confirmed(sm, p->node) &&
                                              program_tables_are_confirmed(sm, peer->node))) &&
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
    return hash_bytes(1, both[0], sizeof both);
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
    assert(!port_settings(sm, port)->writing && sm_state(sm) == SM_MASTER);
    port_settings(sm, port)->writing = true;
    sm->port_writer->sent++;
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

void program_node_ports(struct sm *sm, uint32_t node)
{
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        program_port(sm, port);
        if (port_at(sm, port)->peer != SUBNET_NONE)
            program_port(sm, port_at(sm, port)->peer);
    }
}

/* ---- outcomes ---- */

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
