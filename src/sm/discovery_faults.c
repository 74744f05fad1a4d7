/* What discovery meets besides sound nodes: ports that flap, nodes that leave answers out or share
 * a GUID, links below their best. None of it may keep the others waiting, or fill the log. */
#include "sm/discovery.h"

struct port_faults {
    bool degraded; /* runs below what both ends can do, and that was said */
    uint64_t
        suspected_until; /* until then it is not looked at again because of somebody behind it */
    uint8_t timeouts;    /* of the manager's own adapter: times that it was met in vain */
    uint8_t flaps;       /* times it came back since `flaps_since` */
    uint64_t flaps_since, damped_until;
    uint64_t excluded; /* the GUID behind it that is somewhere else, too, as was said; 0: none */
    uint32_t claimant; /* whoever is behind it was seen behind that port, too; 0: it was not */
};

struct node_faults {
    uint8_t timeouts;       /* how often it was met and left an answer out since all was well … */
    uint64_t ignored_until; /* … and is not met again */
};

struct faults {
    VEC(struct port_faults) ports; /* beside the subnet's */
    VEC(struct node_faults) nodes;
};

static void release_faults(struct sm *sm)
{
    vec_release(&sm->faults->ports);
    vec_release(&sm->faults->nodes);
}

SM_PART(faults, NULL, release_faults, NULL);

static struct port_faults *faults_at(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return vec_at(&sm->faults->ports, port);
}

static struct node_faults *faults_of(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->faults->nodes, node);
}

bool faults_is_ignored(struct sm *sm, uint32_t node)
{
    return sm->now < faults_of(sm, node)->ignored_until;
}

bool faults_is_damped(struct sm *sm, uint32_t port)
{
    return sm->now < faults_at(sm, port)->damped_until;
}

void faults_port_answered(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->timeouts = 0;
}

void faults_forget_claims(struct sm *sm)
{
    for (size_t port = 0; port < sm->faults->ports.count; port++)
        sm->faults->ports.items[port].claimant = 0;
}

/* ---- silence ---- */

/* Another port of the manager's own adapter: the adapter itself is there. */
static void lose_own_port(struct sm *sm, uint32_t end)
{
    enum { MOST_STEPS = 6 };
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* that was seen to */
    sm_begin_change(sm, "port %u of the manager's own adapter does not answer", port->number);
    if (port->peer != SUBNET_NONE) {
        uint8_t *timeouts = &faults_at(sm, end)->timeouts;
        *timeouts += *timeouts < MOST_STEPS;
        uint64_t until = sm->now + (NS_PER_S << *timeouts);
        discovery_avoid_port(sm, port->peer, true);
        faults_at(sm, port->peer)->damped_until = until;
    }
    subnet_unlink(&sm->subnet, end);
    discovery_forget_port(sm, end);
    mastership_forget_rival(sm, end);
    discovery_lost_path(sm);
}

/* A node that does not answer is as good as gone. The ports that led to it are asked again by the
 * next sweep: if it was only the way to it that failed, it is found by another one. */
void discovery_lost_contact(struct sm *sm, uint32_t end)
{
    enum { TIMEOUTS_ALLOWED = 2, MOST_STEPS = 4 };
    uint32_t index = port_at(sm, end)->node;
    const struct subnet_node *node = node_at(sm, index);
    if (!node->present || end == sm->subnet.own_port)
        return;
    if (sm->subnet.own_port != SUBNET_NONE && index == port_at(sm, sm->subnet.own_port)->node) {
        lose_own_port(sm, end);
        return;
    }
    const char *kind = node->kind == SUBNET_SWITCH ? "switch" : "adapter";
    sm_begin_change(sm, "%s 0x%016llx does not answer", kind, (unsigned long long)node->guid);
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            discovery_avoid_port(sm, peer, true);
    }
    /* A node that answers some questions and never others would come and go for ever. */
    struct node_faults *faults = faults_of(sm, index);
    faults->timeouts += faults->timeouts < TIMEOUTS_ALLOWED + MOST_STEPS;
    if (faults->timeouts > TIMEOUTS_ALLOWED) {
        unsigned steps = faults->timeouts - (unsigned)TIMEOUTS_ALLOWED;
        faults->ignored_until = sm->now + (NS_PER_S << steps);
        sm_log(sm, SM_EVENT_WARNING, "%s 0x%016llx leaves answers out: left alone for %u s", kind,
               (unsigned long long)node->guid, 1u << steps);
    }
    subnet_remove_node(&sm->subnet, index);
    discovery_lost_path(sm);
}

/* Asks a port for its state before anything else, unless that was done a moment ago. */
static void suspect_port(struct sm *sm, uint32_t port)
{
    struct port_faults *faults = faults_at(sm, port);
    if (faults->suspected_until > sm->now)
        return;
    faults->suspected_until = sm->now + sm->config.timeout_ns;
    discovery_read_port_now(sm, port);
}

/* A link to this switch is down: is the switch? Its other neighbours know at once, while what they
 * tell by themselves may get lost where the switch was. */
void discovery_suspect_switch(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    if (!sm->config.policy->chases_losses || sm_state(sm) != SM_MASTER ||
        node->kind != SUBNET_SWITCH)
        return;
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE && port_at(sm, peer)->node != index &&
            node_at(sm, port_at(sm, peer)->node)->kind == SUBNET_SWITCH)
            suspect_port(sm, peer);
    }
}

/* Somebody keeps silent: perhaps a link on the way is down. Every port on the way is asked at once,
 * before anything else, so that nobody waits for all those behind it one by one. */
void discovery_suspect(struct sm *sm, uint32_t end, uint32_t through)
{
    uint32_t port = through;
    if (!sm->config.policy->chases_losses || end == SUBNET_NONE)
        return;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS; hop++) {
        if (port != SUBNET_NONE)
            suspect_port(sm, port);
        if (end == sm->subnet.own_port || port_at(sm, end)->via == SUBNET_NONE)
            return;
        port = port_at(sm, end)->via;
        end = subnet_end_port(&sm->subnet, port);
    }
}

/* ---- ports ---- */

/* A port that comes and goes all the time is left alone for a while, longer each time. */
void faults_note_flap(struct sm *sm, uint32_t port)
{
    enum { FLAPS_ALLOWED = 5, FLAP_WINDOW_S = 10 };
    struct port_faults *work = faults_at(sm, port);
    if (sm->now > work->flaps_since + FLAP_WINDOW_S * NS_PER_S) {
        work->flaps = 0;
        work->flaps_since = sm->now;
    }
    work->flaps += work->flaps < UINT8_MAX;
    if (work->flaps <= FLAPS_ALLOWED)
        return;
    unsigned beyond = work->flaps - (unsigned)FLAPS_ALLOWED;
    unsigned steps = beyond < 6 ? beyond : 6;
    work->damped_until = sm->now + (NS_PER_S << steps);
    work->flaps_since = sm->now;
    sm_log(sm, SM_EVENT_WARNING, "port %u of 0x%016llx flaps: left alone for %u s",
           port_at(sm, port)->number,
           (unsigned long long)node_at(sm, port_at(sm, port)->node)->guid, 1u << steps);
}

static bool is_degraded(const uint8_t *near, const uint8_t *far)
{
    uint64_t widths = wire_get(near, PORT_INFO_LINK_WIDTH_SUPPORTED) &
                      wire_get(far, PORT_INFO_LINK_WIDTH_SUPPORTED);
    uint64_t speeds = wire_get(near, PORT_INFO_LINK_SPEED_SUPPORTED) &
                      wire_get(far, PORT_INFO_LINK_SPEED_SUPPORTED);
    return widths >= 2 * wire_get(near, PORT_INFO_LINK_WIDTH_ACTIVE) ||
           speeds >= 2 * wire_get(near, PORT_INFO_LINK_SPEED_ACTIVE);
}

/* Reports links that came up below what both of their ends can do (bad cables, most likely): one
 * line for all new ones. */
void faults_change_ended(struct sm *sm)
{
    unsigned found = 0;
    uint32_t example = 0;
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        if (node_at(sm, node)->present)
            faults_of(sm, node)->timeouts = 0;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        if (p->peer == SUBNET_NONE || p->peer < port || !p->known || !port_at(sm, p->peer)->known)
            continue;
        bool degraded = is_degraded(p->info, port_at(sm, p->peer)->info);
        if (degraded && !faults_at(sm, port)->degraded && found++ == 0)
            example = port;
        faults_at(sm, port)->degraded = degraded;
    }
    if (found)
        sm_log(sm, SM_EVENT_WARNING,
               "%u links run below their best, among them port %u of 0x%016llx", found,
               port_at(sm, example)->number,
               (unsigned long long)node_at(sm, port_at(sm, example)->node)->guid);
}

/* ---- two nodes with one GUID ---- */

static void report_shared_guid(struct sm *sm, uint64_t guid)
{
    sm_log(sm, SM_EVENT_ERROR, "two nodes share the GUID 0x%016llx: the second is left out",
           (unsigned long long)guid);
}

/* Whoever is behind this port has a GUID that is somewhere else, too. Sweeps look again: the other
 * one may go. It is said once. */
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid)
{
    if (through != SUBNET_NONE) {
        struct port_faults *work = faults_at(sm, through);
        discovery_avoid_port(sm, through, true);
        if (work->excluded == guid)
            return;
        work->excluded = guid;
    }
    report_shared_guid(sm, guid);
}

/* A GUID that is seen at two places at once: true. Either there are two, or it has moved and the
 * port that it left was not heard of yet; so that one is asked. */
bool faults_check_claim(struct sm *sm, uint32_t through, uint32_t far)
{
    uint32_t known = port_at(sm, far)->peer;
    if (known == SUBNET_NONE || known == through || sm_is_avoiding_port(sm, known) ||
        wire_get(port_at(sm, known)->info, PORT_INFO_PORT_STATE) == PORT_STATE_DOWN ||
        !port_at(sm, known)->known)
        return false;
    faults_at(sm, known)->claimant = through;
    discovery_read_port(sm, known);
    return true;
}

/* The port that was asked has answered, or does not. */
void faults_resolve_claim(struct sm *sm, uint32_t port)
{
    uint32_t claimant = faults_at(sm, port)->claimant;
    if (!claimant)
        return;
    faults_at(sm, port)->claimant = 0;
    const struct subnet_port *p = port_at(sm, claimant);
    uint32_t peer = port_at(sm, port)->peer;
    if (!node_at(sm, p->node)->present || p->peer != SUBNET_NONE ||
        wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        return; /* nobody is there any more */
    if (peer != SUBNET_NONE)
        faults_exclude(sm, claimant, node_at(sm, port_at(sm, peer)->node)->guid);
    else
        discovery_probe(sm, claimant);
}

/* A new link was found at a port. If another node was known there, two nodes have the same GUID.
 * The answer to a direct request counts; the other node is excluded off. */
void faults_link_found(struct sm *sm, uint32_t through)
{
    uint32_t claimed = port_at(sm, through)->peer;
    faults_at(sm, through)->excluded = 0;
    if (claimed == SUBNET_NONE)
        return;
    discovery_avoid_port(sm, claimed, true);
    report_shared_guid(sm, node_at(sm, port_at(sm, through)->node)->guid);
}
