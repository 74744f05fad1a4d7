/* Nodes that do not answer: late after a time-out, silent when all tries of a request would be
 * over, then lost. The links on the path to them are read at once. */
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/faults/recorded.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"

static void init_faults(struct sm *sm)
{
    sm->faults->restart_at = TIME_NEVER;
}

/* Both make room for the whole subnet: a pointer stays valid until the subnet grows, so that the
 * two ends of a link can be compared. */
struct port_faults *faults_at(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    vec_at(&sm->faults->ports, sm->subnet.ports.count - 1);
    return &sm->faults->ports.items[port];
}

struct node_faults *faults_of(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    vec_at(&sm->faults->nodes, sm->subnet.nodes.count - 1);
    return &sm->faults->nodes.items[node];
}

bool faults_is_ignored(struct sm *sm, uint32_t node)
{
    return sm->now < faults_of(sm, node)->ignored_until;
}

void faults_port_answered(struct sm *sm, uint32_t port)
{
    faults_at(sm, port)->timeouts = 0;
}

/* ---- silence ---- */

/* The port that is known for the node that a request asks: a probe asks the one behind a switch
 * port. SUBNET_NONE: the time-outs of the request say nothing about the node. SMInfo is answered by
 * a program of the host, which may hang while the adapter answers. */
static uint32_t asked_port(const struct sm *sm, const struct request *request)
{
    if (request->kind->attribute == ATTRIBUTE_SM_INFO || !sm->config.policy->chases_losses)
        return SUBNET_NONE;
    return request->through != SUBNET_NONE ? request->through : request->target;
}

static const struct port_faults *asked(const struct sm *sm, const struct request *request)
{
    uint32_t port = asked_port(sm, request);
    return port < sm->faults->ports.count ? &sm->faults->ports.items[port] : NULL;
}

bool faults_is_missing(const struct sm *sm, const struct request *request, uint64_t for_ns)
{
    const struct port_faults *faults = asked(sm, request);
    return faults && faults->missing_since && sm->now - faults->missing_since >= for_ns;
}

bool faults_is_silent(const struct sm *sm, const struct request *request)
{
    uint64_t tries = (UINT64_C(2) << sm->config.retries) - 2; /* all but the first, in time-outs */
    return faults_is_missing(sm, request, sm->config.timeout_ns * tries);
}

/* Another path may be found before the node is lost. */
static void keep_path(struct sm *sm, uint32_t end)
{
    struct node_faults *faults = faults_of(sm, port_at(sm, end)->node);
    uint32_t port = port_at(sm, end)->via;
    for (unsigned i = 0; i < PATH_KEPT; i++)
        faults->path[i] = SUBNET_NONE;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS && port != SUBNET_NONE; hop++) {
        uint32_t before = subnet_end_port(&sm->subnet, port);
        faults->path[hop % PATH_KEPT] = port;
        port = before == sm->subnet.own_port ? SUBNET_NONE : port_at(sm, before)->via;
    }
    faults->silent_since = sm->now;
}

bool faults_note_timeout(struct sm *sm, const struct request *request)
{
    uint32_t port = asked_port(sm, request);
    if (port == SUBNET_NONE)
        return true;
    uint64_t *since = &faults_at(sm, port)->missing_since;
    bool first = !*since;
    if (first)
        *since = sm->now;
    if (first && port == request->target)
        keep_path(sm, port);
    return first;
}

void faults_end_silence(struct sm *sm, const struct request *request)
{
    uint32_t port = asked_port(sm, request);
    if (port < sm->faults->ports.count)
        sm->faults->ports.items[port].missing_since = 0;
}

bool faults_begin_wait(struct sm *sm, const struct request *request)
{
    const struct port_faults *faults = asked(sm, request);
    if (!faults || !faults->missing_since)
        return false;
    faults_at(sm, asked_port(sm, request))->waits++;
    return true;
}

void faults_end_wait(struct sm *sm, const struct request *request)
{
    faults_at(sm, asked_port(sm, request))->waits--;
}

bool faults_is_waited_for(const struct sm *sm, const struct request *request)
{
    const struct port_faults *faults = asked(sm, request);
    return faults && faults->missing_since && faults->waits && !faults_is_silent(sm, request);
}

/* Another port of the manager's own adapter does not answer; the adapter stays present. */
static void lose_own_port(struct sm *sm, uint32_t end)
{
    enum { MOST_STEPS = 6 };
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* lost before */
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_OWN_PORT, end));
    if (port->peer != SUBNET_NONE) {
        uint8_t *timeouts = &faults_at(sm, end)->timeouts;
        *timeouts += *timeouts < MOST_STEPS;
        uint64_t until = sm->now + (NS_PER_S << *timeouts);
        discovery_avoid_port(sm, port->peer, true);
        faults_at(sm, port->peer)->damped_until = until;
    }
    subnet_unlink(&sm->subnet, end);
    discovery_forget_port(sm, end);
    port_at(sm, end)->rival = false;
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
    sm_begin_change(sm,
                    SM_CAUSE(SM_CAUSE_NODE_SILENT, node->first_port, .via = port_at(sm, end)->via));
    uint64_t missing_since = faults_at(sm, end)->missing_since;
    faults_at(sm, end)->missing_since = 0; /* it has answered when it is found again */
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer == SUBNET_NONE)
            continue;
        discovery_avoid_port(sm, peer, true);
        faults_at(sm, peer)->missing_since = missing_since;
    }
    /* A node that answers only some requests would appear and vanish forever. */
    struct node_faults *faults = faults_of(sm, index);
    faults->timeouts += faults->timeouts < TIMEOUTS_ALLOWED + MOST_STEPS;
    if (faults->timeouts > TIMEOUTS_ALLOWED) {
        unsigned steps = faults->timeouts - (unsigned)TIMEOUTS_ALLOWED;
        faults->ignored_until = sm->now + (NS_PER_S << steps);
        sm_log_at(sm, SM_EVENT_WARNING, node->first_port,
                  "%s %s does not answer some requests; it is ignored for %u s",
                  subnet_kind_name(node), subnet_node_name(&sm->subnet, index).text, 1u << steps);
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
 * at once, because their traps may be lost on paths through the switch. A standby only copies; one
 * that takes over must not try the dead switch by one path after the other. */
void discovery_suspect_switch(struct sm *sm, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    if (!sm->config.policy->chases_losses || sm_state(sm) == SM_STANDBY ||
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

SM_PART(faults, .init = init_faults,
        .vectors = {VECTOR(faults, ports), VECTOR(faults, nodes), VECTOR(faults, expected)},
        .deadline = faults_deadline, .problems = faults_list_problems);
