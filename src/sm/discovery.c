/* Discovery: who is there, and how it is connected (paper 000, section 2.2).
 *
 * A chain reaction: each answer asks the next questions. NodeInfo, asked through a switch's port,
 * tells who is at the other end; a new node is asked for its description, its SwitchInfo and every
 * port's PortInfo; a port that is not down is asked through in turn. Propagation order falls out of
 * this by itself; breadth- and depth-first order the questions by where they lead.
 *
 * The same questions serve after a change: only the switch whose ports changed is read again, and
 * only what is new behind it is explored. A policy (policy.h) may have less read, and links
 * asked through from both of their ends. */
#include "sm/discovery.h"

#include <assert.h>
#include <string.h>

struct discovery *discovery_new(void)
{
    struct discovery *discovery = mem_zalloc(1, sizeof *discovery);
    discovery->explore_at = TIME_NEVER;
    return discovery;
}

void discovery_free(struct discovery *discovery)
{
    if (!discovery)
        return;
    vec_release(&discovery->frontier);
    vec_release(&discovery->ports);
    vec_release(&discovery->nodes);
    mem_free(discovery);
}

struct explored_port *explored_port(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return vec_at(&sm->discovery->ports, port);
}

struct explored_node *explored_node(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->discovery->nodes, node);
}

void discovery_asked(struct sm *sm)
{
    sm->discovery->outstanding++;
}

void discovery_heard(struct sm *sm)
{
    assert(sm->discovery->outstanding);
    sm->discovery->outstanding--;
}

bool discovery_is_complete(const struct sm *sm)
{
    return sm->discovery->outstanding == 0;
}

bool discovery_is_reading(struct sm *sm, uint32_t node)
{
    return explored_node(sm, node)->reading != 0;
}

void discovery_avoid_port(struct sm *sm, uint32_t port)
{
    explored_port(sm, port)->avoided = true;
}

bool discovery_avoids_port(const struct sm *sm, uint32_t port)
{
    return port < sm->discovery->ports.count && sm->discovery->ports.items[port].avoided;
}

bool sm_is_avoiding_port(const struct sm *sm, uint32_t port)
{
    return discovery_avoids_port(sm, port);
}

bool discovery_first_keeps_change(struct sm *sm, uint32_t node)
{
    struct explored_node *explored = explored_node(sm, node);
    bool first = !explored->keeps_change;
    explored->keeps_change = true;
    return first;
}

void discovery_requests_dropped(struct sm *sm)
{
    struct discovery *discovery = sm->discovery;
    discovery->outstanding = 0;
    discovery->frontier.count = 0;
    for (size_t i = 0; i < discovery->ports.count; i++)
        discovery->ports.items[i].reading = discovery->ports.items[i].probing = false;
    for (size_t i = 0; i < discovery->nodes.count; i++) {
        struct explored_node *node = &discovery->nodes.items[i];
        *node =
            (struct explored_node){.silences = node->silences, .silent_until = node->silent_until};
    }
}

void discovery_restart(struct sm *sm)
{
    sm_drop_requests(sm);
    for (uint32_t node = 0; node < sm->subnet.nodes.count; node++)
        subnet_remove_node(&sm->subnet, node);
    for (size_t port = 0; port < sm->discovery->ports.count; port++) {
        sm->discovery->ports.items[port].avoided = false;
        sm->discovery->ports.items[port].contender = 0;
    }
    program_cancel(sm);
    sm->discovery->paths_lost = false;
    sm->discovery->explore_at = TIME_NEVER;
    discovery_start(sm);
}

/* Asks who is behind a port: at once, so that questions spread as answers come, or when its turn
 * has come. */
void discovery_probe(struct sm *sm, uint32_t port)
{
    struct explored_port *work = explored_port(sm, port);
    if (work->probing)
        return;
    work->probing = true;
    if (sm->config.order == SM_ORDER_PROPAGATION)
        discovery_ask_through(sm, port);
    else
        vec_push(&sm->discovery->frontier, port);
}

/* What lies behind a link that went is gone, or is reached another way. */
void discovery_update_paths(struct sm *sm, uint64_t now)
{
    if (!sm->discovery->paths_lost || !sm->config.policy->chases_losses)
        return;
    sm->discovery->paths_lost = false;
    if (subnet_find_paths(&sm->subnet))
        transactions_cut(sm, now);
}

/* After a change everything is discovered anew, not just the region. */
void discovery_explore_all(struct sm *sm, uint64_t now)
{
    if (sm->discovery->explore_at == TIME_NEVER)
        sm->discovery->explore_at = now + sm->config.timeout_ns / 200;
}

uint64_t discovery_deadline(const struct sm *sm)
{
    bool waits = discovery_is_complete(sm) && sm_state(sm) == SM_MASTER;
    return waits ? sm->discovery->explore_at : TIME_NEVER;
}

/* Not before every switch that can has said what it has to say, or the time for that is over. */
static bool continue_with_all(struct sm *sm, uint64_t now)
{
    if (sm->discovery->explore_at == TIME_NEVER || sm_state(sm) != SM_MASTER)
        return false;
    if (sweep_is_under_way(sm) && now < sm->discovery->explore_at)
        return true;
    reconfigure_request(sm, REASON_TOPOLOGY);
    discovery_restart(sm);
    return true;
}

bool discovery_continue(struct sm *sm, uint64_t now)
{
    if (!sm->discovery->frontier.count)
        return continue_with_all(sm, now);
    uint32_t port =
        sm->discovery->frontier
            .items[sm->config.order == SM_ORDER_DEPTH ? sm->discovery->frontier.count - 1 : 0];
    if (sm->config.order != SM_ORDER_DEPTH)
        memmove(sm->discovery->frontier.items, sm->discovery->frontier.items + 1,
                (sm->discovery->frontier.count - 1) * sizeof *sm->discovery->frontier.items);
    sm->discovery->frontier.count--;
    discovery_ask_through(sm, port);
    return true;
}
