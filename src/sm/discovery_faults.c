/* What discovery meets besides sound nodes: ports that flap, nodes that leave answers out or share
 * a GUID, links below their best. None of it may keep the others waiting, or fill the log. */
#include "sm/discovery.h"

/* ---- silence ---- */

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
