/* Faults: nodes that do not answer, ports that flap, duplicate GUIDs, degraded links. A fault must
 * not delay the rest of the subnet or flood the log. */
#include "sm/discovery.h"
#include "wire/link_rate.h"

struct port_faults {
    bool degraded;            /* runs below the width or speed of both ends; logged */
    uint64_t suspected_until; /* it is not read again for a suspicion before */
    uint8_t timeouts;         /* of a port of the manager's own adapter */
    uint8_t flaps;            /* since `flaps_since` */
    uint64_t flaps_since, damped_until;
    uint64_t excluded; /* duplicate GUID of the node behind it; logged; 0: none */
    uint32_t claimant; /* another port with the same node behind it; 0: none */
};

struct node_faults {
    uint8_t timeouts;       /* since the last change ended */
    uint64_t ignored_until; /* discovery ignores the node */
};

struct faults {
    VEC(struct port_faults) ports; /* by port of the subnet */
    VEC(struct node_faults) nodes; /* by node */
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

/* ---- time-outs ---- */

/* Another port of the manager's own adapter does not answer; the adapter stays present. */
static void lose_own_port(struct sm *sm, uint32_t end)
{
    enum { MOST_STEPS = 6 };
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* lost before */
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

/* Removes a node that does not answer. The next sweep reads its neighbors' ports again and finds
 * the node by another path if only the path failed. */
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
    /* A node that answers only some requests would appear and vanish for ever. */
    struct node_faults *faults = faults_of(sm, index);
    faults->timeouts += faults->timeouts < TIMEOUTS_ALLOWED + MOST_STEPS;
    if (faults->timeouts > TIMEOUTS_ALLOWED) {
        unsigned steps = faults->timeouts - (unsigned)TIMEOUTS_ALLOWED;
        faults->ignored_until = sm->now + (NS_PER_S << steps);
        sm_log(sm, SM_EVENT_WARNING, "%s 0x%016llx leaves requests unanswered: ignored for %u s",
               kind, (unsigned long long)node->guid, 1u << steps);
    }
    subnet_remove_node(&sm->subnet, index);
    discovery_lost_path(sm);
}

/* Reads the state of a port at once, but not more often than once in a time-out. */
static void suspect_port(struct sm *sm, uint32_t port)
{
    struct port_faults *faults = faults_at(sm, port);
    if (faults->suspected_until > sm->now)
        return;
    faults->suspected_until = sm->now + sm->config.timeout_ns;
    discovery_read_port_now(sm, port);
}

/* A link to this switch is down: the switch may have failed. Reads the ports of its other neighbors
 * at once, because their traps may be lost on paths through the switch. */
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

/* A request timed out: a link on its path may be down. Reads every port on the path at once, so
 * that the nodes behind a broken link do not time out one by one. */
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

/* Damps a port that flaps, twice as long each time. */
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
    sm_log(sm, SM_EVENT_WARNING, "port %u of 0x%016llx flaps: ignored for %u s",
           port_at(sm, port)->number,
           (unsigned long long)node_at(sm, port_at(sm, port)->node)->guid, 1u << steps);
}

/* Logs links that run below the width or speed of both ends, which often means a bad cable: one
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
        bool degraded = link_rate(p->info) < link_best_rate(p->info, port_at(sm, p->peer)->info);
        if (degraded && !faults_at(sm, port)->degraded && found++ == 0)
            example = port;
        faults_at(sm, port)->degraded = degraded;
    }
    if (found)
        sm_log(sm, SM_EVENT_WARNING,
               "%u links run below their width or speed, among them port %u of 0x%016llx", found,
               port_at(sm, example)->number,
               (unsigned long long)node_at(sm, port_at(sm, example)->node)->guid);
}

/* ---- duplicate GUIDs ---- */

static void report_shared_guid(struct sm *sm, uint64_t guid)
{
    sm_log(sm, SM_EVENT_ERROR, "two nodes share the GUID 0x%016llx: the second is ignored",
           (unsigned long long)guid);
}

/* The node behind this port has the GUID of another node. Sweeps probe the port again, since the
 * other node may vanish. Logged once. */
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

/* Returns true if the node behind a port is known at another port. Either there are two nodes with
 * this GUID, or the node was moved and its old port was not read yet: reads the old port. */
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

/* The old port was read, or does not answer. */
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
        return; /* there is no node at the other port any more */
    if (peer != SUBNET_NONE)
        faults_exclude(sm, claimant, node_at(sm, port_at(sm, peer)->node)->guid);
    else
        discovery_probe(sm, claimant);
}

/* A new link was found at a port. If another node was known there, two nodes have the same GUID.
 * The answer to a direct request counts; the other node is excluded. */
void faults_link_found(struct sm *sm, uint32_t through)
{
    uint32_t claimed = port_at(sm, through)->peer;
    faults_at(sm, through)->excluded = 0;
    if (claimed == SUBNET_NONE)
        return;
    discovery_avoid_port(sm, claimed, true);
    report_shared_guid(sm, node_at(sm, port_at(sm, through)->node)->guid);
}
