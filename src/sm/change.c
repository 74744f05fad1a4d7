/* Change detection: light sweeps and traps (paper 000, section 2.1).
 *
 * A light sweep asks every switch for its SwitchInfo: one SMP tells whether any of its ports
 * changed. Ports that did not answer a probe are asked again, and other managers are asked who is
 * master. A trap says the same sooner. Either way only the switch concerned is read again. Now and
 * then a full sweep reads every port: the change bit tells only the first who clears it, and there
 * may be another master about, or may have been. */
#include "sm/internal.h"

#include <assert.h>
#include <string.h>

static request_answered sweep_answered;
static request_unanswered sweep_unanswered;
static const struct request_kind sweep_switch = {
    .name = "SwitchInfo",
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .method = METHOD_GET,
    .counter = offsetof(struct sm_counts, switch_info),
    .answered = sweep_answered,
    .unanswered = sweep_unanswered,
};

void change_sweep(struct sm *sm, uint64_t now)
{
    sm->next_sweep = sm->config.sweep_ns == TIME_NEVER ? TIME_NEVER : now + sm->config.sweep_ns;
    if (sm->sweeping || sm->discovering)
        return; /* the last one is still on its way */
    if (sm->config.paper && sm->change.open)
        return;               /* the papers do one thing after the other */
    sm->handing_over = false; /* a handover that came to nothing is tried again */
    bool full = (sm->config.full_every && ++sm->sweeps >= sm->config.full_every) || sm->audit.due;
    if (sm->audit.due)
        audit_begin(sm, now);
    if (full)
        sm->sweeps = 0;
    for (uint32_t i = 0; i < sm->subnet.nodes.count; i++) {
        const struct subnet_node *node = &sm->subnet.nodes.items[i];
        if (full && node->present)
            discovery_read_node(sm, i);
        if (full || !node->present || node->kind != SUBNET_SWITCH)
            continue;
        sm->sweeping++;
        struct request *request =
            sm_request(sm, &sweep_switch, (union request_subject){.node = i}, node->first_port);
        sm_submit(sm, request, HASTE_NONE);
    }
    for (uint32_t port = 0; port < sm->subnet.ports.count; port++) {
        const struct subnet_port *p = &sm->subnet.ports.items[port];
        if (!sm->subnet.nodes.items[p->node].present)
            continue;
        if (sm_port_work(sm, port)->failures) {
            sm_port_work(sm, port)->failures = 0;
            discovery_read_port(sm, port);
        }
        if (p->manager)
            mastership_ask_again(sm, port);
    }
    /* Nobody sends a trap for the manager's own adapter. */
    if (sm->subnet.own_port == SUBNET_NONE)
        discovery_start(sm);
    else
        discovery_read_port(sm, sm->subnet.own_port);
}

/* A switch's ports changed: look at it, or at everything if that is what is wanted. */
void change_explore(struct sm *sm, uint64_t now, uint32_t node)
{
    discovery_refresh_switch(sm, node);
    if (sm->explore_all || (!sm->config.scope_full && !sm->config.paper))
        return;
    sm->explore_all = true;
    sm->explore_at = now + sm->config.timeout_ns / 200;
}

static void sweep_answered(struct sm *sm, uint64_t now, const struct request *request,
                           const uint8_t *data)
{
    uint32_t node = request->about.node;
    assert(sm->sweeping);
    sm->sweeping--;
    discovery_learn_switch(sm, node, data);
    if (!wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE))
        return;
    sm_begin_change(sm, now, "switch 0x%016llx reports a port change (sweep)",
                    (unsigned long long)node_at(sm, node)->guid);
    change_explore(sm, now, node);
}

static void sweep_unanswered(struct sm *sm, uint64_t now, const struct request *request)
{
    assert(sm->sweeping);
    sm->sweeping--;
    discovery_lost_contact(sm, now, request->target);
}

static void repress(struct sm *sm, const struct sm_message *trap)
{
    struct sm_message answer = *trap;
    wire_set(answer.mad, MAD_METHOD, METHOD_TRAP_REPRESS);
    wire_set(answer.mad, MAD_STATUS, 0);
    wire_set(answer.mad, SMP_M_KEY, sm->config.m_key);
    sm_reply(sm, &answer);
}

/* An agent that sends more than TRAPS_ALLOWED traps in a window is not listened to for the rest of
 * it; sweeps still see what it has to say. */
enum { TRAPS_ALLOWED = 50, TRAP_WINDOW_S = 10 };

static bool babbles(struct sm *sm, uint64_t now, uint32_t node)
{
    struct node_work *work = sm_node_work(sm, node);
    if (now > work->traps_since + TRAP_WINDOW_S * NS_PER_S) {
        work->traps_since = now;
        work->traps = 0;
        work->babbling = false;
    }
    if (++work->traps <= TRAPS_ALLOWED)
        return false;
    if (!work->babbling)
        sm_say(sm, SM_EVENT_WARNING, "0x%016llx babbles: its traps are ignored for %d s",
               (unsigned long long)sm->subnet.nodes.items[node].guid, TRAP_WINDOW_S);
    work->babbling = true;
    return true;
}

void change_trap(struct sm *sm, uint64_t now, const struct sm_message *message)
{
    const uint8_t *notice = message->mad + SMP_DATA_OFFSET;
    unsigned trap = (unsigned)wire_get(notice, NOTICE_TRAP_NUMBER);
    unsigned lid = (unsigned)wire_get(notice, NOTICE_ISSUER_LID);
    if (sm->state != SM_MASTER)
        return;
    repress(sm, message);
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    if (port == SUBNET_NONE) {
        sm_say(sm, SM_EVENT_WARNING, "trap %u from LID %u, which nobody has", trap, lid);
        return;
    }
    uint32_t node = sm->subnet.ports.items[port].node;
    uint32_t peer = sm->subnet.ports.items[port].peer;
    if (trap == 128 && peer != SUBNET_NONE &&
        sm->subnet.nodes.items[sm->subnet.ports.items[peer].node].vswitch)
        node = sm->subnet.ports.items[peer].node; /* the LID is shared */
    const struct subnet_node *n = &sm->subnet.nodes.items[node];
    if (babbles(sm, now, node))
        return;
    sm_say(sm, SM_EVENT_TRAP, "trap %u from 0x%016llx (LID %u)", trap, (unsigned long long)n->guid,
           lid);
    if (!n->present)
        return;
    if (sm->config.paper && sm->change.open)
        return; /* one thing after the other; what it tells of is being explored */
    if (trap == 128 && n->kind == SUBNET_SWITCH) {
        sm_begin_change(sm, now, "switch 0x%016llx reports a port change (trap 128)",
                        (unsigned long long)n->guid);
        change_explore(sm, now, node);
    } else if (trap == 144) {
        discovery_read_port(sm, port);
    }
}
