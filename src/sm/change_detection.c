/* Change detection: light sweeps and traps (paper 000, section 2.1).
 *
 * A light sweep reads SwitchInfo of every switch, whose PortStateChange covers all its ports. It
 * also reads ports that did not answer and SMInfo of other managers. A trap reports a change
 * sooner. In both cases only the affected switch is read again. A periodic full sweep reads every
 * port, because another master may have cleared PortStateChange.
 *
 * While the link of the manager's own port is down, no request can be answered, and none is sent:
 * the manager reads its own port until the link is back. Nodes, LIDs and tables stay as they were
 * known. Then it discovers the subnet again and writes only what differs. */
#include "sm/discovery.h"
#include "subnet/names.h"

#include <stdio.h>
#include <string.h>

struct swept_node {
    bool asked; /* a request of a sweep is outstanding */
    bool swept; /* a sweep has read SwitchInfo of this switch since it is present */
};

struct sweeps {
    uint64_t next;                 /* time of the next sweep */
    unsigned light;                /* light sweeps since the last full one */
    bool full;                     /* the next one is full */
    uint64_t suspected_at;         /* time of the last full sweep because of an unknown master */
    VEC(struct swept_node) nodes;  /* by node */
    uint64_t check_at, checked_at; /* of all switches, because of a storm of traps */
    bool own_link_down;
    uint64_t read_own_link; /* time of the next read of the own port */
};

static void init_sweeps(struct sm *sm)
{
    sm->sweeps->next = sm->sweeps->read_own_link = sm->sweeps->check_at = TIME_NEVER;
}

static void release_sweeps(struct sm *sm)
{
    vec_release(&sm->sweeps->nodes);
}

uint64_t sweep_deadline(const struct sm *sm)
{
    return sm->sweeps->next;
}

uint64_t storm_deadline(const struct sm *sm)
{
    return sm->sweeps->check_at;
}

void sweep_schedule(struct sm *sm)
{
    uint64_t period = sm->config.sweep_ns;
    sm->sweeps->next = period == TIME_NEVER ? TIME_NEVER : sm->now + period;
}

void sweep_for_unknown_master(struct sm *sm)
{
    struct sweeps *sweeps = sm->sweeps;
    if (sweeps->suspected_at && sm->now < sweeps->suspected_at + NS_PER_S)
        return;
    sweeps->suspected_at = sweeps->next = sm->now;
    sweeps->full = true;
}

void sweep_stop(struct sm *sm)
{
    sm->sweeps->next = TIME_NEVER;
}

static void drop_sweep(struct sm *sm)
{
    sm->sweeps->nodes.count = 0;
}

SM_PART(sweeps, init_sweeps, release_sweeps, drop_sweep);

static request_outcome sweep_answered, sweep_ended;
static const struct request_kind sweep_switch = {
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .group = GROUP_SWEEP,
    .ended = sweep_ended,
    .answered = sweep_answered,
    .loses_contact = true,
};

static request_outcome guid_answered;
static const struct request_kind read_guid = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .group = GROUP_SWEEP,
    .answered = guid_answered,
};

/* A full sweep also reads the GUIDs of nodes: no trap reports that one changed. */
static void check_guid(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    uint32_t own = sm->subnet.own_port;
    if (!sm->config.policy->reads_whole_nodes || node->virtual_function || node->vswitch ||
        (own != SUBNET_NONE && port_at(sm, own)->node == index))
        return;
    for (unsigned n = node->kind != SUBNET_SWITCH; n <= node->port_count; n++) {
        uint32_t port = node->first_port + n;
        if (port_at(sm, port)->via == SUBNET_NONE)
            continue;
        sm_send(sm, &read_guid, (union request_subject){.node = index}, port, 0, NULL);
        return;
    }
}

static void guid_answered(struct sm *sm, const struct request *request)
{
    uint64_t guid = wire_get(request->answer, NODE_INFO_NODE_GUID);
    const struct subnet_node *node = node_at(sm, request->about.node);
    if (node->present && guid != node->guid)
        faults_guid_changed(sm, request->about.node, guid);
}

static void read_switch_in_sweep(struct sm *sm, uint32_t node, enum request_priority priority)
{
    struct swept_node *swept = vec_at(&sm->sweeps->nodes, node);
    if (swept->asked)
        return;
    swept->asked = true;
    sm_submit(sm,
              sm_request(sm, &sweep_switch, (union request_subject){.node = node},
                         node_at(sm, node)->first_port),
              priority);
}

void change_sweep(struct sm *sm)
{
    assert(sm_state(sm) == SM_MASTER);
    sweep_schedule(sm);
    /* With many repetitions of a request, a switch that does not answer delays no other. */
    bool waits = !sm->config.policy->fixed_timeouts && transactions_under_way(sm, GROUP_SWEEP);
    if (waits || !discovery_is_complete(sm)) { /* the previous sweep is not complete */
        if (sm->sweeps->full)
            sm->sweeps->next = sm->now + 10 * NS_PER_MS;
        return;
    }
    if (sm->config.policy->sequential && reconfigure_phase(sm) != PHASE_IDLE)
        return;
    mastership_handle(sm, ON_SWEEP_BEGINS);
    faults_retry_disabled(sm);
    bool full = sm->config.full_every && ++sm->sweeps->light >= sm->config.full_every;
    if (audit_begin(sm) || sm->sweeps->full)
        full = true;
    if (full)
        sm->sweeps->light = 0;
    sm->sweeps->full = false;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = node_at(sm, i);
        if (!node->present)
            vec_at(&sm->sweeps->nodes, i)->swept = false;
        if (full && node->present) {
            discovery_read_node(sm, i);
            check_guid(sm, i);
        }
        if (!full && node->present && node->kind == SUBNET_SWITCH)
            read_switch_in_sweep(sm, i, PRIORITY_NONE);
    }
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (!node_at(sm, p->node)->present)
            continue;
        discovery_retry_port(sm, port);
        if (p->manager)
            mastership_query_in_sweep(sm, port);
    }
    faults_verify_links(sm);
    /* No trap and no switch reports a change of the manager's own port. */
    uint32_t own = sm->subnet.own_port;
    if (own == SUBNET_NONE || !node_at(sm, port_at(sm, own)->node)->present)
        discovery_start(sm);
    else
        discovery_read_port(sm, own);
}

/* Explores the ports of a switch, or the whole subnet if so configured. */
static void explore(struct sm *sm, uint32_t node)
{
    discovery_refresh_switch(sm, node);
    if (sm->config.scope_full)
        discovery_explore_all(sm);
}

static void sweep_ended(struct sm *sm, const struct request *request)
{
    vec_at(&sm->sweeps->nodes, request->about.node)->asked = false;
}

static void sweep_answered(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    struct swept_node *source = vec_at(&sm->sweeps->nodes, node);
    bool first = !source->swept && !sm->config.policy->reads_whole_nodes;
    source->swept = true;
    discovery_learn_switch(sm, node, request->answer);
    if (!wire_get(request->answer, SWITCH_INFO_PORT_STATE_CHANGE))
        return;
    /* The bit is set since the switch started: discovery did not read it. Only a port in another
     * state than discovery found begins a change. */
    if (first) {
        discovery_refresh_switch(sm, node);
        return;
    }
    sm_begin_change(sm, "switch %s reports a port change (sweep)",
                    subnet_node_name(&sm->subnet, node).text);
    explore(sm, node);
}

/* ---- traps ---- */

/* While traps are ignored, a trap about a real change may be among them, or be dropped from a full
 * queue. So the manager reads SwitchInfo of all switches in short intervals, which depend on their
 * number. */
static uint64_t storm_interval(const struct sm *sm)
{
    const uint64_t least = 50 * NS_PER_MS, per_node = 50 * NS_PER_US;
    uint64_t interval = sm->subnet.nodes.count * per_node;
    return interval > least ? interval : least;
}

static void suspect_storm(struct sm *sm)
{
    uint64_t at = sm->sweeps->checked_at + storm_interval(sm);
    at = at > sm->now ? at : sm->now;
    sm->sweeps->check_at = at < sm->sweeps->check_at ? at : sm->sweeps->check_at;
}

void storm_expire(struct sm *sm)
{
    struct sweeps *sweeps = sm->sweeps;
    if (sm->now < sweeps->check_at)
        return;
    sweeps->check_at = TIME_NEVER;
    sweeps->checked_at = sm->now;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present && node_at(sm, i)->kind == SUBNET_SWITCH)
            read_switch_in_sweep(sm, i, PRIORITY_URGENT);
}

static const uint8_t *notice_details(const uint8_t *notice)
{
    return wire_bytes_const(notice, NOTICE_DATA);
}

/* The port that traps 129 to 131 name. */
static uint32_t trap_port(const struct sm *sm, const uint8_t *notice, uint32_t node, uint32_t end)
{
    unsigned number = (unsigned)wire_get(notice_details(notice), TRAP_LINK_INTEGRITY_PORT);
    const struct subnet_node *n = node_at(sm, node);
    return n->kind == SUBNET_SWITCH && number <= n->port_count ? n->first_port + number : end;
}

/* "host7 (LID 12)", or "LID 12" if no port has it. */
static struct subnet_name lid_name(const struct sm *sm, uint64_t lid)
{
    struct subnet_name name = {""};
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    if (port == SUBNET_NONE)
        snprintf(name.text, sizeof name.text, "LID %u", (unsigned)lid);
    else
        snprintf(name.text, sizeof name.text, "%.300s (LID %u)",
                 subnet_node_name(&sm->subnet, port_at(sm, port)->node).text, (unsigned)lid);
    return name;
}

static const char *attribute_name(unsigned id)
{
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if (wire_attributes[i].class == WIRE_CLASS_SMP && wire_attributes[i].id == id)
            return wire_attributes[i].name;
    return "attribute";
}

/* The M_Key of the SMP is not logged: it may be that of another port. */
static void print_bad_m_key(const struct sm *sm, const uint8_t *notice, uint32_t port,
                            struct text *out)
{
    const uint8_t *details = notice_details(notice);
    unsigned method = (unsigned)wire_get(details, TRAP_BAD_M_KEY_METHOD);
    unsigned attribute = (unsigned)wire_get(details, TRAP_BAD_M_KEY_ATTRIBUTE_ID);
    uint32_t sender = port_keys_offender(sm, port, details);
    text_printf(out, ": %s(%s 0x%x) from %s",
                method == METHOD_SET   ? "Set"
                : method == METHOD_GET ? "Get"
                                       : "another method",
                attribute_name(attribute), attribute,
                sender == SUBNET_NONE ? "an unknown port"
                                      : subnet_link_name(&sm->subnet, sender).text);
}

/* The bits of CapabilityMask that differ from those that were read before. */
static uint32_t changed_capabilities(const struct sm *sm, const uint8_t *details, uint32_t port)
{
    return (uint32_t)(wire_get(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK) ^
                      wire_get(port_at(sm, port)->info, PORT_INFO_CAPABILITY_MASK));
}

static void print_local_changes(const struct sm *sm, const uint8_t *details, uint32_t port,
                                struct text *out)
{
    uint32_t mask = (uint32_t)wire_get(details, TRAP_LOCAL_CHANGES_CAPABILITY_MASK);
    text_printf(
        out, ": CapabilityMask 0x%08x%s%s%s%s", mask,
        !(changed_capabilities(sm, details, port) & CAPABILITY_IS_SM) ? ""
        : mask & CAPABILITY_IS_SM ? ", now runs a subnet manager"
                                  : ", no longer runs a subnet manager",
        wire_get(details, TRAP_LOCAL_CHANGES_NODE_DESCRIPTION) ? ", new node description" : "",
        wire_get(details, TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED) ? ", LinkWidthEnabled" : "",
        wire_get(details, TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED) ? ", LinkSpeedEnabled" : "");
}

/* Some adapters repeat trap 144 although nothing else has changed. */
static bool is_repeated(const struct sm *sm, const uint8_t *notice, uint32_t port)
{
    const uint8_t *details = notice_details(notice);
    return wire_get(notice, NOTICE_TRAP_NUMBER) == 144 &&
           !changed_capabilities(sm, details, port) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_NODE_DESCRIPTION) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_LINK_WIDTH_ENABLED) &&
           !wire_get(details, TRAP_LOCAL_CHANGES_LINK_SPEED_ENABLED);
}

/* Details of the notice besides its number and its sender. */
static void print_details(const struct sm *sm, const uint8_t *notice, unsigned trap, uint32_t node,
                          uint32_t port, struct text *out)
{
    const uint8_t *details = notice_details(notice);
    const struct subnet_node *n = node_at(sm, node);
    unsigned number;
    switch (trap) {
    case 129:
    case 130:
    case 131:
        text_printf(out, " at %s",
                    subnet_link_name(&sm->subnet, trap_port(sm, notice, node, port)).text);
        break;
    case 144: print_local_changes(sm, details, port, out); break;
    case 145:
        text_printf(out, ": SystemImageGUID 0x%016llx",
                    (unsigned long long)wire_get(details, TRAP_SYSTEM_IMAGE_GUID_GUID));
        break;
    case 256: print_bad_m_key(sm, notice, port, out); break;
    case 257:
    case 258:
        text_printf(out, ": key 0x%x, from %s to %s, SL %u",
                    (unsigned)wire_get(details, TRAP_BAD_P_KEY_KEY),
                    lid_name(sm, wire_get(details, TRAP_BAD_P_KEY_LID1)).text,
                    lid_name(sm, wire_get(details, TRAP_BAD_P_KEY_LID2)).text,
                    (unsigned)wire_get(details, TRAP_BAD_P_KEY_SL));
        break;
    case 259:
        number = (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_PORT);
        text_printf(
            out, ": at %s, key 0x%x, from %s to %s, SL %u",
            subnet_link_name(&sm->subnet, number <= n->port_count ? n->first_port + number : port)
                .text,
            (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_P_KEY),
            lid_name(sm, wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID1)).text,
            lid_name(sm, wire_get(details, TRAP_SWITCH_BAD_P_KEY_LID2)).text,
            (unsigned)wire_get(details, TRAP_SWITCH_BAD_P_KEY_SL));
        break;
    default: break;
    }
}

static void log_trap(struct sm *sm, const uint8_t *notice, uint32_t node, uint32_t port)
{
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    const char *meaning = "unknown";
    struct text details = {0};
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if (wire_attributes[i].class == WIRE_CLASS_NOTICE && wire_attributes[i].id == trap)
            meaning = wire_attributes[i].name;
    print_details(sm, notice, trap, node, port, &details);
    sm_log_at(sm, SM_EVENT_TRAP, port == SUBNET_NONE ? node_at(sm, node)->first_port : port,
              "trap %u from %s %s (LID %u): %s%s", trap, subnet_kind_name(node_at(sm, node)),
              subnet_node_name(&sm->subnet, node).text,
              (unsigned)wire_get(notice, NOTICE_ISSUER_LID), meaning,
              details.length ? details.data : "");
    text_release(&details);
}

static void repress_trap(struct sm *sm, const struct sm_message *message)
{
    struct sm_message repress = *message;
    wire_set(repress.mad, MAD_METHOD, METHOD_TRAP_REPRESS);
    wire_set(repress.mad, MAD_STATUS, 0);
    /* A key is sent only to its own port: any host can send a trap that names another port. */
    unsigned lid = (unsigned)wire_get(message->mad + SMP_DATA_OFFSET, NOTICE_ISSUER_LID);
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    bool own = port != SUBNET_NONE && message->lid < LFT_ENTRIES &&
               sm->subnet.by_lid[message->lid] == port;
    wire_set(repress.mad, SMP_M_KEY, own ? port_keys_of(sm, port) : 0);
    sm_reply(sm, &repress);
}

/* Whether the trap is within the budget of the port that sent it. `claimed` is the port that the
 * notice names. Only the agent of a switch may have sent a notice before its LID changed. */
static bool admit_trap(struct sm *sm, const struct sm_message *message, unsigned trap,
                       uint32_t sender, uint32_t claimed)
{
    enum { FIRST_VIOLATION = 256 };
    bool forged = sender != SUBNET_NONE && sender != claimed &&
                  node_at(sm, port_at(sm, sender)->node)->kind != SUBNET_SWITCH;
    enum admission_kind kind = forged                    ? ADMIT_FORGED
                               : trap >= FIRST_VIOLATION ? ADMIT_VIOLATION
                                                         : ADMIT_TRAP;
    bool admitted = admission_take(sm, sender, kind) && !forged;
    if (admitted)
        repress_trap(sm, message);
    return admitted;
}

static void handle_trap(struct sm *sm, const uint8_t *notice, unsigned trap, uint32_t node,
                        uint32_t port)
{
    const struct subnet_node *n = node_at(sm, node);
    if (!is_repeated(sm, notice, port))
        log_trap(sm, notice, node, port);
    if (!n->present)
        return;
    if (sm->config.policy->sequential && reconfigure_phase(sm) != PHASE_IDLE)
        return; /* the present change explores everything */
    if (trap == 128 && n->kind == SUBNET_SWITCH) {
        sm_begin_change(sm, "switch %s reports a port change (trap 128)",
                        subnet_node_name(&sm->subnet, node).text);
        explore(sm, node);
    } else if (trap >= 129 && trap <= 131) {
        faults_note_errors(sm, trap_port(sm, notice, node, port), trap);
    } else if (trap == 144) {
        discovery_read_port(sm, port);
        if (wire_get(notice_details(notice), TRAP_LOCAL_CHANGES_NODE_DESCRIPTION)) {
            discovery_forget_description(sm, node);
            discovery_read_description(sm, node, port);
        }
    } else if (trap == 256) {
        port_keys_violated(sm, port, notice_details(notice));
    }
}

bool change_trap(struct sm *sm, const struct sm_message *message)
{
    const uint8_t *notice = message->mad + SMP_DATA_OFFSET;
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    unsigned lid = (unsigned)wire_get(notice, NOTICE_ISSUER_LID);
    if (sm_state(sm) != SM_MASTER)
        return false;
    uint32_t claimed = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    uint32_t port = admission_origin(sm, message);
    bool admitted = admit_trap(sm, message, trap, port, claimed);
    if (!admitted)
        suspect_storm(sm);
    if (port == SUBNET_NONE) {
        if (admitted)
            sm_log(sm, SM_EVENT_WARNING, "trap %u from unknown LID %u", trap, message->lid);
        return false;
    }
    uint32_t node = port_at(sm, port)->node;
    uint32_t peer = port_at(sm, port)->peer;
    if (trap == 128 && peer != SUBNET_NONE && node_at(sm, port_at(sm, peer)->node)->vswitch)
        node = port_at(sm, peer)->node; /* a vSwitch shares the LID of its PF */
    if (admitted)
        handle_trap(sm, notice, trap, node, port);
    return admitted;
}

/* ---- the link of the manager's own port ---- */

static request_outcome own_link_read;
static const struct request_kind read_own_link = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .answered = own_link_read,
    .effort = request_try_once,
};

bool sm_own_link_is_down(const struct sm *sm)
{
    return sm->sweeps->own_link_down;
}

uint64_t own_link_deadline(const struct sm *sm)
{
    return sm_state(sm) == SM_NOT_ACTIVE ? TIME_NEVER : sm->sweeps->read_own_link;
}

/* A manager without `link_poll_ns` reads its own port in sweeps, and more often while it waits. */
void own_link_schedule(struct sm *sm)
{
    uint64_t period = sm->config.link_poll_ns;
    if (period == TIME_NEVER && sm->sweeps->own_link_down)
        period = sm->config.timeout_ns;
    sm->sweeps->read_own_link = period == TIME_NEVER ? TIME_NEVER : sm->now + period;
}

void own_link_expire(struct sm *sm)
{
    if (sm->now < own_link_deadline(sm))
        return;
    own_link_schedule(sm);
    uint32_t own = sm->subnet.own_port;
    if (own == SUBNET_NONE)
        return;
    struct request *request = sm_request(sm, &read_own_link, (union request_subject){0}, own);
    request->modifier = sm_port_info_modifier(sm, own);
    sm_submit(sm, request, PRIORITY_IMMEDIATE);
}

static void lose_own_link(struct sm *sm)
{
    unsigned switches = 0, adapters = 0;
    sm_drop_requests(sm);
    sm->sweeps->own_link_down = true;
    own_link_schedule(sm);
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
        if (node_at(sm, i)->present)
            (*(node_at(sm, i)->kind == SUBNET_SWITCH ? &switches : &adapters))++;
    if (sm_state(sm) == SM_DISCOVERING)
        sm_log(sm, SM_EVENT_WARNING,
               "the link of the manager's own port is down: the manager waits for it");
    else
        sm_log(sm, SM_EVENT_WARNING,
               "the link of the manager's own port is down: the manager waits for it and keeps %u "
               "switches and %u adapters",
               switches, adapters);
}

void own_link_was_down(struct sm *sm)
{
    sm->sweeps->own_link_down = false;
    own_link_schedule(sm);
    sm_log(sm, SM_EVENT_STATE, "the link of the manager's own port is up");
    if (sm_state(sm) == SM_MASTER) {
        sm_begin_change(sm, "the link of the manager's own port was down");
        reconfigure_request(sm, REASON_TOPOLOGY);
    }
    if (sm_state(sm) == SM_STANDBY) {
        standby_copy_watch(sm, 0); /* other nodes may answer by the old paths */
        mastership_handle(sm, ON_LINK_RESTORED);
    } else if (sm_state(sm) != SM_NOT_ACTIVE) {
        discovery_restart(sm);
    }
}

bool own_link_changes(struct sm *sm, unsigned state)
{
    struct subnet_port *own = port_at(sm, sm->subnet.own_port);
    unsigned before = own->known ? (unsigned)wire_get(own->info, PORT_INFO_PORT_STATE) : 0;
    bool down = sm->sweeps->own_link_down;
    if (node_at(sm, own->node)->kind == SUBNET_SWITCH || sm_state(sm) == SM_NOT_ACTIVE)
        return false; /* port 0 of a switch has no link */
    if (state == PORT_STATE_DOWN) {
        if (!down)
            lose_own_link(sm);
        return true;
    }
    if (!down && (state != PORT_STATE_INIT || before <= PORT_STATE_INIT))
        return false;
    wire_set(own->info, PORT_INFO_PORT_STATE, state);
    own_link_was_down(sm);
    return true;
}

static void own_link_read(struct sm *sm, const struct request *request)
{
    if (request->target == sm->subnet.own_port)
        own_link_changes(sm, (unsigned)wire_get(request->answer, PORT_INFO_PORT_STATE));
}
