/* Nodes with the GUID of another node. The second one is left out; while GUIDs are in doubt, all
 * links are verified, and if nodes were confused, discovery starts from scratch. */
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/faults/recorded.h"
#include "sm/guard/recheck.h"
#include "sm/internal.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"

void faults_forget_claims(struct sm *sm)
{
    for (size_t port = 0; port < sm->faults->ports.count; port++)
        sm->faults->ports.items[port].claimant = 0;
    if (sm_state(sm) != SM_MASTER)
        sm->faults->doubtful_sweeps = 0; /* everything is read again */
}

bool faults_doubt_links(const struct sm *sm)
{
    return sm->faults->doubtful_sweeps != 0;
}

struct subnet_name faults_place_of_guid(const struct sm *sm, uint64_t guid)
{
    uint32_t index = map_get(&sm->subnet.by_guid, guid);
    struct subnet_name name = {"this manager's subnet"};
    if (index == MAP_NONE)
        return name;
    const struct subnet_node *node = node_at(sm, index);
    for (unsigned number = 1; number <= node->port_count; number++)
        if (port_at(sm, node->first_port + number)->peer != SUBNET_NONE)
            return subnet_link_name(&sm->subnet, node->first_port + number);
    return subnet_node_name(&sm->subnet, index);
}

/* The manager may confuse nodes with the same GUID: it may have taken an answer of one for an
 * answer of the other, even if the GUID was corrected meanwhile. Until this is ruled out, every
 * sweep probes all links and compares the node at the other end with the known one. */
static void doubt_links(struct sm *sm)
{
    enum { SWEEPS = 8 };
    sm->faults->doubtful_sweeps = SWEEPS;
    recheck_schedule(sm);
}

static request_outcome link_verified;
static const struct request_kind verify_link = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .answered = link_verified,
    .effort = request_try_once,
};

bool faults_probe_links(struct sm *sm)
{
    if (!sm->faults->doubtful_sweeps || !sm->config.policy->reads_whole_nodes)
        return false;
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = port_at(sm, port);
        const struct subnet_node *node = node_at(sm, p->node);
        bool leads = node->kind == SUBNET_SWITCH ? p->number != 0 && !node->vswitch
                                                 : port == sm->subnet.own_port;
        if (!node->present || p->peer == SUBNET_NONE || !leads || sm_is_avoiding_port(sm, port))
            continue;
        struct request *request =
            sm_request(sm, &verify_link, (union request_subject){.port = port},
                       subnet_end_port(&sm->subnet, port));
        request->through = port;
        sm_submit(sm, request, PRIORITY_NONE);
    }
    return true;
}

void faults_verify_links(struct sm *sm)
{
    if (sm->faults->restart_at == TIME_NEVER)
        sm->faults->shared = 0; /* counted per sweep: confused nodes change links often */
    for (uint32_t port = 0; port < sm->faults->ports.count; port++)
        if (sm->faults->ports.items[port].excluded)
            doubt_links(sm);
    if (!faults_probe_links(sm))
        return;
    sm->faults->doubtful_sweeps--;
    if (sm->faults->doubtful_sweeps == 0)
        sm->faults->restarts = 0;
}

bool faults_has_excluded(struct sm *sm, uint32_t port, uint64_t guid)
{
    return faults_at(sm, port)->excluded == guid;
}

/* When discovery starts again, the node that was left out may be found before the one that had the
 * GUID. It waits until everything else was found, and is taken if the other one is gone. */
bool faults_prefer_other(struct sm *sm, uint32_t through, uint64_t guid)
{
    return sm->faults->restarted && faults_has_excluded(sm, through, guid);
}

bool faults_probe_deferred(struct sm *sm)
{
    bool probed = false;
    if (!sm->faults->restarted)
        return false;
    sm->faults->restarted = false;
    for (uint32_t port = 0; port < sm->faults->ports.count; port++) {
        uint64_t guid = sm->faults->ports.items[port].excluded;
        uint32_t known = map_get(&sm->subnet.by_guid, guid);
        if (!guid || !node_at(sm, port_at(sm, port)->node)->present || !port_at(sm, port)->known ||
            (known != MAP_NONE && node_at(sm, known)->present))
            continue;
        discovery_avoid_port(sm, port, false);
        discovery_probe(sm, port);
        probed = true;
    }
    return probed;
}

/* Nodes were confused: data of one node, including its tables, may have been stored for another. So
 * discovery starts from scratch, after a delay that doubles each time. */
static void schedule_restart(struct sm *sm)
{
    enum { MOST_STEPS = 6, FIRST_MS = 100 };
    struct faults *faults = sm->faults;
    unsigned steps = faults->restarts < MOST_STEPS ? faults->restarts : MOST_STEPS;
    doubt_links(sm);
    if (faults->restart_at == TIME_NEVER)
        faults->restart_at = sm->now + (FIRST_MS * NS_PER_MS << steps);
}

/* Nodes with the same GUID may be found at each other's links alternately. */
enum { SHARED_ALLOWED = 20 };

static void count_shared_guid(struct sm *sm)
{
    struct faults *faults = sm->faults;
    doubt_links(sm);
    if (++faults->shared == SHARED_ALLOWED)
        schedule_restart(sm);
}

static void link_verified(struct sm *sm, const struct request *request)
{
    uint32_t port = request->about.port, peer = port_at(sm, port)->peer;
    if (!node_at(sm, port_at(sm, port)->node)->present || peer == SUBNET_NONE)
        return; /* lost meanwhile */
    uint64_t guid = wire_get(request->answer, NODE_INFO_NODE_GUID);
    unsigned number = (unsigned)wire_get(request->answer, NODE_INFO_LOCAL_PORT_NUM);
    if (node_at(sm, port_at(sm, peer)->node)->guid == guid && port_at(sm, peer)->number == number)
        return;
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_OTHER_NEIGHBOUR, port, .guid = guid, .number = number));
    schedule_restart(sm);
}

uint64_t faults_deadline(const struct sm *sm)
{
    return sm_state(sm) == SM_NOT_ACTIVE ? TIME_NEVER : sm->faults->restart_at;
}

bool faults_take_restart(struct sm *sm)
{
    struct faults *faults = sm->faults;
    if (sm->now < faults->restart_at)
        return false;
    faults->restart_at = TIME_NEVER;
    faults->shared = 0;
    faults->restarts++;
    faults->restarted = true;                                   /* until discovery is complete */
    for (size_t port = 0; port < faults->ports.count; port++) { /* these links did not flap */
        faults->ports.items[port].damped_until = 0;
        faults->ports.items[port].flaps = (struct rate_window){0};
    }
    return true;
}

/* `second`: the port that leads to the second node, or SUBNET_NONE. */
static void report_shared_guid(struct sm *sm, uint64_t guid, uint32_t second)
{
    count_shared_guid(sm);
    if (sm->faults->shared > SHARED_ALLOWED)
        return;
    sm_log_listed(sm, SM_EVENT_ERROR, second,
                  "two nodes share the GUID 0x%016llx: one is at %s, the second at %s; the second "
                  "is ignored",
                  (unsigned long long)guid, faults_place_of_guid(sm, guid).text,
                  second == SUBNET_NONE ? "this manager's port"
                                        : subnet_port_name(&sm->subnet, second).text);
}

/* A node has another GUID than when it was read. It is removed and found again as a new node. */
void faults_guid_changed(struct sm *sm, uint32_t index, uint64_t guid)
{
    const struct subnet_node *node = node_at(sm, index);
    VEC(uint32_t) neighbors = {0};
    schedule_restart(sm);
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_GUID_CHANGED, node->first_port, .guid = guid));
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            vec_push(&neighbors, peer);
    }
    subnet_remove_node(&sm->subnet, index);
    discovery_lost_path(sm);
    for (size_t i = 0; i < neighbors.count; i++)
        discovery_read_port(sm, neighbors.items[i]);
    vec_release(&neighbors);
}

/* The node behind this port has the GUID of another node. Sweeps probe the port again, since the
 * other node may vanish. Logged once. */
void faults_exclude(struct sm *sm, uint32_t through, uint64_t guid)
{
    doubt_links(sm);
    if (through != SUBNET_NONE) {
        struct port_faults *work = faults_at(sm, through);
        discovery_avoid_port(sm, through, true);
        if (work->excluded == guid) {
            count_shared_guid(sm);
            return;
        }
        work->excluded = guid;
    }
    report_shared_guid(sm, guid, through);
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
    report_shared_guid(sm, node_at(sm, port_at(sm, through)->node)->guid, claimed);
}
