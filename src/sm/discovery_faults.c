/* What discovery meets besides sound nodes: ports that flap, nodes that leave answers out or share
 * a GUID, links below their best. None of it may keep the others waiting, or fill the log. */
#include "sm/discovery.h"

/* ---- silence ---- */

/* Another port of the manager's own adapter: the adapter itself is there. */
static void lose_own_port(struct sm *sm, uint64_t now, uint32_t end)
{
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* that was seen to */
    sm_begin_change(sm, now, "port %u of the manager's own adapter does not answer", port->number);
    if (port->peer != SUBNET_NONE)
        faults_leave_alone(sm, now, end);
    subnet_unlink(&sm->subnet, end);
    port->known = port->manager = false;
    mastership_forget_rival(sm, end);
    port->via = SUBNET_NONE;
    sm->discovery->paths_lost = true;
}

/* A node that does not answer is as good as gone. The ports that led to it are asked again by the
 * next sweep: if it was only the way to it that failed, it is found by another one. */
void discovery_lost_contact(struct sm *sm, uint64_t now, uint32_t end)
{
    uint32_t index = port_at(sm, end)->node;
    const struct subnet_node *node = node_at(sm, index);
    if (!node->present || end == sm->subnet.own_port)
        return;
    if (sm->subnet.own_port != SUBNET_NONE && index == port_at(sm, sm->subnet.own_port)->node) {
        lose_own_port(sm, now, end);
        return;
    }
    sm_begin_change(sm, now, "%s 0x%016llx does not answer",
                    node->kind == SUBNET_SWITCH ? "switch" : "adapter",
                    (unsigned long long)node->guid);
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            explored_port(sm, peer)->avoided = true;
    }
    faults_note_silence(sm, now, index);
    subnet_remove_node(&sm->subnet, index);
    sm->discovery->paths_lost = true;
}

/* Asks a port for its state before anything else, unless that was done a moment ago. */
static void suspect_port(struct sm *sm, uint64_t now, uint32_t port)
{
    struct explored_port *explored = explored_port(sm, port);
    if (explored->suspected > now)
        return;
    explored->suspected = now + sm->config.timeout_ns;
    discovery_press_port(sm, port);
}

/* A link to this switch is down: is the switch? Its other neighbours know at once, while what they
 * tell by themselves may get lost where the switch was. */
void discovery_suspect_switch(struct sm *sm, uint64_t now, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    if (!sm->config.policy->chases_losses || sm_state(sm) != SM_MASTER ||
        node->kind != SUBNET_SWITCH)
        return;
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE && port_at(sm, peer)->node != index &&
            node_at(sm, port_at(sm, peer)->node)->kind == SUBNET_SWITCH)
            suspect_port(sm, now, peer);
    }
}

/* Somebody keeps silent: perhaps a link on the way is down. Every port on the way is asked at once,
 * before anything else, so that nobody waits for all those behind it one by one. */
void discovery_suspect(struct sm *sm, uint64_t now, uint32_t end, uint32_t through)
{
    uint32_t port = through;
    if (!sm->config.policy->chases_losses || end == SUBNET_NONE)
        return;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS; hop++) {
        if (port != SUBNET_NONE)
            suspect_port(sm, now, port);
        if (end == sm->subnet.own_port || port_at(sm, end)->via == SUBNET_NONE)
            return;
        port = port_at(sm, end)->via;
        end = subnet_end_port(&sm->subnet, port);
    }
}

/* A node that answers some questions and never others would come and go for ever. */
void faults_note_silence(struct sm *sm, uint64_t now, uint32_t node)
{
    enum { SILENCES_ALLOWED = 2, MOST_STEPS = 4 };
    struct explored_node *work = explored_node(sm, node);
    work->silences += work->silences < SILENCES_ALLOWED + MOST_STEPS;
    if (work->silences <= SILENCES_ALLOWED)
        return;
    unsigned steps = work->silences - (unsigned)SILENCES_ALLOWED;
    work->silent_until = now + (NS_PER_S << steps);
    sm_say(sm, SM_EVENT_WARNING, "%s 0x%016llx leaves answers out: left alone for %u s",
           node_at(sm, node)->kind == SUBNET_SWITCH ? "switch" : "adapter",
           (unsigned long long)node_at(sm, node)->guid, 1u << steps);
}

/* The same for one port of a node that is there otherwise. */
void faults_leave_alone(struct sm *sm, uint64_t now, uint32_t end)
{
    enum { MOST_STEPS = 6 };
    struct explored_port *work = explored_port(sm, end);
    work->silences += work->silences < MOST_STEPS;
    uint64_t until = now + (NS_PER_S << work->silences);
    work = explored_port(sm, port_at(sm, end)->peer);
    work->avoided = true;
    work->damped_until = until;
}

/* It does answer, but not with what it was asked for. */
void faults_report_refused_probe(struct sm *sm, uint32_t through, uint16_t status)
{
    if (through == SUBNET_NONE) {
        sm_say(sm, SM_EVENT_WARNING, "the manager's own port refuses NodeInfo (status 0x%x)",
               status);
        return;
    }
    const struct subnet_port *p = port_at(sm, through);
    sm_say(sm, SM_EVENT_WARNING,
           "whoever is behind port %u of 0x%016llx refuses NodeInfo (status 0x%x)", p->number,
           (unsigned long long)node_at(sm, p->node)->guid, status);
}

void faults_report_refused_read(struct sm *sm, const struct request *request, uint16_t status)
{
    const struct subnet_node *node = node_at(sm, port_at(sm, request->target)->node);
    sm_say(sm, SM_EVENT_WARNING, "%s 0x%016llx refuses %s %u (status 0x%x)",
           node->kind == SUBNET_SWITCH ? "switch" : "adapter", (unsigned long long)node->guid,
           request->kind->name, request->modifier, status);
}

/* ---- ports ---- */

/* A port that comes and goes all the time is left alone for a while, longer each time. */
void faults_note_flap(struct sm *sm, uint64_t now, uint32_t port)
{
    enum { FLAPS_ALLOWED = 5, FLAP_WINDOW_S = 10 };
    struct explored_port *work = explored_port(sm, port);
    if (now > work->flaps_since + FLAP_WINDOW_S * NS_PER_S) {
        work->flaps = 0;
        work->flaps_since = now;
    }
    work->flaps += work->flaps < UINT8_MAX;
    if (work->flaps <= FLAPS_ALLOWED)
        return;
    unsigned beyond = work->flaps - (unsigned)FLAPS_ALLOWED;
    unsigned steps = beyond < 6 ? beyond : 6;
    work->damped_until = now + (NS_PER_S << steps);
    work->flaps_since = now;
    sm_say(sm, SM_EVENT_WARNING, "port %u of 0x%016llx flaps: left alone for %u s",
           port_at(sm, port)->number,
           (unsigned long long)node_at(sm, port_at(sm, port)->node)->guid, 1u << steps);
}

static bool is_throttled(const uint8_t *near, const uint8_t *far)
{
    uint64_t widths = wire_get(near, PORT_INFO_LINK_WIDTH_SUPPORTED) &
                      wire_get(far, PORT_INFO_LINK_WIDTH_SUPPORTED);
    uint64_t speeds = wire_get(near, PORT_INFO_LINK_SPEED_SUPPORTED) &
                      wire_get(far, PORT_INFO_LINK_SPEED_SUPPORTED);
    return widths >= 2 * wire_get(near, PORT_INFO_LINK_WIDTH_ACTIVE) ||
           speeds >= 2 * wire_get(near, PORT_INFO_LINK_SPEED_ACTIVE);
}

/* Links that came up below what both of their ends can do: bad cables, most likely. One line for
 * all that are new. */
static void report_throttled(struct sm *sm)
{
    unsigned found = 0;
    uint32_t example = 0;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->peer == SUBNET_NONE || p->peer < port || !p->known || !port_at(sm, p->peer)->known)
            continue;
        bool throttled = is_throttled(p->info, port_at(sm, p->peer)->info);
        if (throttled && !explored_port(sm, port)->throttled && found++ == 0)
            example = port;
        explored_port(sm, port)->throttled = throttled;
    }
    if (found)
        sm_say(sm, SM_EVENT_WARNING,
               "%u links run below their best, among them port %u of 0x%016llx", found,
               port_at(sm, example)->number,
               (unsigned long long)node_at(sm, port_at(sm, example)->node)->guid);
}

void faults_all_is_well(struct sm *sm)
{
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->present)
            explored_node(sm, node)->silences = 0;
    report_throttled(sm);
}

/* ---- two nodes with one GUID ---- */

static void say_shared(struct sm *sm, uint64_t guid)
{
    sm_say(sm, SM_EVENT_ERROR, "two nodes share the GUID 0x%016llx: the second is left out",
           (unsigned long long)guid);
}

/* Whoever is behind this port has a GUID that is somewhere else, too. Sweeps look again: the other
 * one may go. It is said once. */
void faults_fence_off(struct sm *sm, uint32_t through, uint64_t guid)
{
    if (through != SUBNET_NONE) {
        struct explored_port *work = explored_port(sm, through);
        work->avoided = true;
        if (work->fenced == guid)
            return;
        work->fenced = guid;
    }
    say_shared(sm, guid);
}

static bool is_elsewhere(struct sm *sm, uint32_t through, uint32_t far)
{
    uint32_t known = port_at(sm, far)->peer;
    return known != SUBNET_NONE && through != SUBNET_NONE && known != through &&
           !explored_port(sm, known)->avoided &&
           wire_get(port_at(sm, known)->info, PORT_INFO_PORT_STATE) != PORT_STATE_DOWN &&
           port_at(sm, known)->known;
}

/* A GUID that is seen at two places at once: true. Either there are two, or it has moved and the
 * port that it left was not heard of yet; so that one is asked. */
bool faults_contest(struct sm *sm, uint32_t through, uint32_t far)
{
    if (!is_elsewhere(sm, through, far))
        return false;
    uint32_t known = port_at(sm, far)->peer;
    explored_port(sm, known)->contender = through;
    discovery_read_port(sm, known);
    return true;
}

/* The port that was asked has answered, or does not. */
void faults_decide(struct sm *sm, uint32_t port)
{
    uint32_t contender = explored_port(sm, port)->contender;
    if (!contender)
        return;
    explored_port(sm, port)->contender = 0;
    const struct subnet_port *p = port_at(sm, contender);
    uint32_t peer = port_at(sm, port)->peer;
    if (!node_at(sm, p->node)->present || p->peer != SUBNET_NONE ||
        wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        return; /* nobody is there any more */
    if (peer != SUBNET_NONE)
        faults_fence_off(sm, contender, node_at(sm, port_at(sm, peer)->node)->guid);
    else
        discovery_probe(sm, contender);
}

/* Somebody said to be at the other end of this port, but asked through it, another one answers: two
 * nodes have the same GUID. What is asked for directly counts; the other is fenced off. */
void faults_contradict(struct sm *sm, uint32_t through)
{
    uint32_t claimed = port_at(sm, through)->peer;
    if (claimed == SUBNET_NONE)
        return;
    explored_port(sm, claimed)->avoided = true;
    say_shared(sm, node_at(sm, port_at(sm, through)->node)->guid);
}
