/* Sweeps.
 *
 * A light sweep reads SwitchInfo of every switch, whose PortStateChange covers all its ports. It
 * also reads ports that did not answer and SMInfo of other managers. Only a switch that reports a
 * change is read again. A periodic full sweep reads every port, because another master may have
 * cleared PortStateChange (ICPP 2003, section 2.1). */
#include "sm/discovery/sweeps.h"
#include "sm/discovery/discovery.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/mastership/mastership.h"
#include "sm/mastership/mastership_table.h"
#include "sm/mastership/standby_copy.h"
#include "sm/plan.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"

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
};

static void init_sweeps(struct sm *sm)
{
    sm->sweeps->next = sm->sweeps->check_at = TIME_NEVER;
}

uint64_t sweep_next(const struct sm *sm)
{
    return sm->sweeps->next;
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

static void change_sweep(struct sm *sm)
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
    if (sm->config.policy->sequential && reconfigure_phase(sm) != SM_PHASE_IDLE)
        return;
    mastership_handle(sm, ON_SWEEP_BEGINS);
    faults_retry_disabled(sm);
    bool full = sm->config.full_every && ++sm->sweeps->light >= sm->config.full_every;
    if (audit_begin(sm) || sm->sweeps->full)
        full = true;
    if (full)
        sm->sweeps->light = 0;
    sm->sweeps->full = false;
    sm_debug(sm, PART_DISCOVERY,
             full ? "full sweep: all ports are read"
                  : "light sweep: SwitchInfo of all switches is read");
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

void sweep_explore(struct sm *sm, uint32_t node)
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
    sm_begin_change(sm, SM_CAUSE(SM_CAUSE_SWEEP, node_at(sm, node)->first_port));
    sweep_explore(sm, node);
}

/* While traps are ignored, a trap about a real change may be among them, or be dropped from a full
 * queue. So the manager reads SwitchInfo of all switches in short intervals, which depend on their
 * number. */
void storm_suspect(struct sm *sm)
{
    const uint64_t least = 50 * NS_PER_MS, per_node = 50 * NS_PER_US;
    uint64_t interval = sm->subnet.nodes.count * per_node;
    uint64_t at = sm->sweeps->checked_at + (interval > least ? interval : least);
    at = at > sm->now ? at : sm->now;
    sm->sweeps->check_at = at < sm->sweeps->check_at ? at : sm->sweeps->check_at;
}

static void sweep_expire(struct sm *sm)
{
    if (sm->now >= sm->sweeps->check_at) {
        sm->sweeps->check_at = TIME_NEVER;
        sm->sweeps->checked_at = sm->now;
        for (uint32_t i = 0; i < sm->subnet.nodes.count; i++)
            if (node_at(sm, i)->present && node_at(sm, i)->kind == SUBNET_SWITCH)
                read_switch_in_sweep(sm, i, PRIORITY_URGENT);
    }
    if (sm->now < sm->sweeps->next)
        return;
    plan_rebalance(sm);
    change_sweep(sm);
}

static uint64_t sweep_or_storm_deadline(const struct sm *sm)
{
    return time_first(sm->sweeps->next, sm->sweeps->check_at);
}

SM_PART(sweeps, .init = init_sweeps, .vectors = {VECTOR(sweeps, nodes)},
        .requests_dropped = drop_sweep, .expire = sweep_expire, .deadline = sweep_or_storm_deadline,
        .as_master = true);
