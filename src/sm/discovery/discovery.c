/* Discovery of nodes and links (ICPP 2003, section 2.2).
 *
 * Each answer causes the next requests. NodeInfo, sent through a switch port (a probe), identifies
 * the node at the other end. The manager reads NodeDescription, SwitchInfo and every PortInfo of a
 * new node, and sends a probe through each port that is not Down. Propagation order sends probes at
 * once; breadth-first and depth-first order send them one by one.
 *
 * After a change only the affected switch is read again, and only new nodes behind it are explored.
 * A policy (policy.h) may read less, and probe links from both ends. */
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/guard/recheck.h"
#include "sm/internal.h"
#include "sm/mastership/neighbor.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"

#include <string.h>

struct discovery {
    VEC(uint32_t) frontier; /* ports to be probed, in breadth- and depth-first order */
    bool paths_lost;        /* a link or node was lost since directed routes were computed */
    uint64_t explore_at;    /* latest time of a restart; TIME_NEVER: none is scheduled */
    uint64_t retry_at;      /* no restart before; see discovery_knows_itself() */
    bool unknown_logged;    /* the own port does not answer; logged */
    VEC(bool) probing;      /* by port: a probe is queued or under way */
    VEC(bool) avoided;      /* by port: see sm_is_avoiding_port() */
    VEC(bool) stuck_change; /* by node: it does not clear PortStateChange; logged */
};

static void init_discovery(struct sm *sm)
{
    sm->discovery->explore_at = TIME_NEVER;
}

static void drop_discovery(struct sm *sm)
{
    struct discovery *discovery = sm->discovery;
    discovery->frontier.count = discovery->probing.count = discovery->stuck_change.count = 0;
}

bool discovery_is_complete(const struct sm *sm)
{
    return transactions_under_way(sm, GROUP_DISCOVERY) == 0;
}

void discovery_avoid_port(struct sm *sm, uint32_t port, bool avoid)
{
    assert(port < sm->subnet.ports.count);
    *vec_at(&sm->discovery->avoided, port) = avoid;
    if (avoid)
        recheck_schedule(sm);
}

bool sm_is_avoiding_port(const struct sm *sm, uint32_t port)
{
    return port < sm->discovery->avoided.count && sm->discovery->avoided.items[port];
}

bool discovery_note_stuck_change(struct sm *sm, uint32_t node)
{
    bool *keeps = vec_at(&sm->discovery->stuck_change, node);
    bool first = !*keeps;
    *keeps = true;
    return first;
}

void discovery_lost_path(struct sm *sm)
{
    sm->discovery->paths_lost = true;
}

/* A policy that reads no tables knows those that it has written itself. Static distribution writes
 * all blocks anyway; the other modes start from the tables in the switches. */
static void remove_node(struct sm *sm, uint32_t index)
{
    struct subnet_tables *tables = node_at(sm, index)->tables;
    bool keeps = tables && node_at(sm, index)->present && sm_state(sm) == SM_MASTER &&
                 !sm->config.policy->reads_whole_nodes && sm->config.mode != SM_STATIC;
    uint64_t known[LFT_BLOCKS / 64];
    if (keeps)
        memcpy(known, tables->known, sizeof known);
    subnet_remove_node(&sm->subnet, index);
    if (keeps)
        memcpy(tables->known, known, sizeof known);
}

void discovery_restart(struct sm *sm)
{
    sm_debug(sm, PART_DISCOVERY, "restart: all nodes are discovered again");
    sm_drop_requests(sm);
    assert(discovery_is_complete(sm) && transactions_idle(sm));
    faults_discovery_restarts(sm);
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        remove_node(sm, node);
    sm->discovery->avoided.count = 0;
    faults_forget_claims(sm);
    sm->discovery->paths_lost = false;
    sm->discovery->explore_at = TIME_NEVER;
    discovery_start(sm);
}

void discovery_probe(struct sm *sm, uint32_t port)
{
    bool *probing = vec_at(&sm->discovery->probing, port);
    if (*probing)
        return;
    *probing = true;
    if (sm->config.order == SM_ORDER_PROPAGATION)
        discovery_send_probe(sm, port);
    else
        vec_push(&sm->discovery->frontier, port);
}

void discovery_probe_ended(struct sm *sm, uint32_t port)
{
    *vec_at(&sm->discovery->probing, port) = false;
}

/* Nodes behind a lost link are unreachable, or reached by another path. */
void discovery_update_paths(struct sm *sm)
{
    if (!sm->discovery->paths_lost || !sm->config.policy->chases_losses)
        return;
    sm->discovery->paths_lost = false;
    subnet_find_paths(&sm->subnet);
    transactions_follow_paths(sm);
}

bool discovery_knows_itself(struct sm *sm)
{
    struct discovery *discovery = sm->discovery;
    uint32_t own = sm->subnet.own_port;
    if (own != SUBNET_NONE && port_at(sm, own)->known) {
        discovery->unknown_logged = false;
        return true;
    }
    if (sm->now < discovery->retry_at)
        return false;
    discovery->retry_at = sm->now + sm->config.timeout_ns;
    if (!discovery->unknown_logged)
        sm_log(sm, SM_EVENT_WARNING,
               "the manager's own port does not answer; the query is repeated");
    discovery->unknown_logged = true;
    discovery_restart(sm);
    return false;
}

bool sm_own_port_is_silent(const struct sm *sm)
{
    return sm_state(sm) == SM_DISCOVERING && sm->discovery->unknown_logged;
}

void discovery_explore_all(struct sm *sm)
{
    if (!discovery_explores_all(sm))
        sm->discovery->explore_at = sm->now + sm->config.timeout_ns / 200;
}

bool discovery_explores_all(const struct sm *sm)
{
    return sm->discovery->explore_at != TIME_NEVER;
}

static uint64_t discovery_deadline(const struct sm *sm)
{
    if (!discovery_is_complete(sm))
        return TIME_NEVER;
    if (sm_state(sm) == SM_DISCOVERING) /* else it would be master or standby */
        return neighbor_waits(sm) ? TIME_NEVER : sm->discovery->retry_at;
    return sm_state(sm) == SM_MASTER ? sm->discovery->explore_at : TIME_NEVER;
}

/* The place in the frontier of the port to be probed next; depth first, it is the first port of the
 * node that was found last. */
static size_t next_in_frontier(const struct sm *sm)
{
    const struct discovery *discovery = sm->discovery;
    if (sm->config.order != SM_ORDER_DEPTH)
        return 0;
    size_t next = discovery->frontier.count - 1;
    uint32_t node = port_at(sm, discovery->frontier.items[next])->node;
    while (next > 0 && port_at(sm, discovery->frontier.items[next - 1])->node == node)
        next--;
    return next;
}

bool discovery_continue(struct sm *sm)
{
    struct discovery *discovery = sm->discovery;
    if (discovery->frontier.count) {
        size_t next = next_in_frontier(sm);
        uint32_t port = discovery->frontier.items[next];
        vec_remove(&discovery->frontier, next);
        discovery_send_probe(sm, port);
        return true;
    }
    if (faults_probe_deferred(sm))
        return true;
    if (!discovery_explores_all(sm) || sm_state(sm) != SM_MASTER)
        return false;
    if (transactions_under_way(sm, GROUP_SWEEP) && sm->now < discovery->explore_at)
        return true; /* a switch may still report a change */
    reconfigure_request(sm, REASON_TOPOLOGY);
    discovery_restart(sm);
    return true;
}

SM_PART(discovery, .init = init_discovery,
        .vectors = {VECTOR(discovery, frontier), VECTOR(discovery, probing),
                    VECTOR(discovery, avoided), VECTOR(discovery, stuck_change)},
        .requests_dropped = drop_discovery, .deadline = discovery_deadline);
