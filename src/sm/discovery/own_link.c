/* The link of the manager's own port.
 *
 * While it is down, no request can be answered, and none is sent: the manager reads its own port
 * until the link is back. Nodes, LIDs and tables stay as they were known. Then it discovers the
 * subnet again and writes only what differs. */
#include "sm/discovery/own_link.h"
#include "sm/discovery/discovery.h"
#include "sm/internal.h"
#include "sm/mastership/mastership.h"
#include "sm/mastership/mastership_table.h"
#include "sm/mastership/standby_copy.h"
#include "sm/reconfigure.h"
#include "sm/transactions.h"

struct own_link {
    bool down;
    uint64_t read_at; /* time of the next read of the own port */
};

static void init_own_link(struct sm *sm)
{
    sm->own_link->read_at = TIME_NEVER;
}

static request_outcome own_link_read;
static const struct request_kind read_own_link = {
    .attribute = ATTRIBUTE_PORT_INFO,
    .answered = own_link_read,
    .effort = request_try_once,
};

bool sm_own_link_is_down(const struct sm *sm)
{
    return sm->own_link->down;
}

static uint64_t own_link_deadline(const struct sm *sm)
{
    return sm_state(sm) == SM_NOT_ACTIVE ? TIME_NEVER : sm->own_link->read_at;
}

/* A manager without `link_poll_ns` reads its own port in sweeps, and more often while it waits. */
void own_link_schedule(struct sm *sm)
{
    uint64_t period = sm->config.link_poll_ns;
    if (period == TIME_NEVER && sm->own_link->down)
        period = sm->config.timeout_ns;
    sm->own_link->read_at = period == TIME_NEVER ? TIME_NEVER : sm->now + period;
}

static void own_link_expire(struct sm *sm)
{
    if (sm->now < own_link_deadline(sm))
        return;
    own_link_schedule(sm);
    uint32_t own = sm->subnet.own_port;
    if (own == SUBNET_NONE)
        return;
    struct request *request = sm_request(sm, &read_own_link, (union request_subject){0}, own);
    request->modifier = sm_port_info_modifier(sm, own);
    sm_submit(sm, request, PRIORITY_IMMEDIATE);
}

static void lose_own_link(struct sm *sm)
{
    const struct subnet_node_counts nodes = subnet_count_nodes(&sm->subnet);
    sm_drop_requests(sm);
    sm->own_link->down = true;
    own_link_schedule(sm);
    if (sm_state(sm) == SM_DISCOVERING)
        sm_log_at(sm, SM_EVENT_WARNING, sm->subnet.own_port,
                  "the link of the manager's own port is down: the manager waits for it");
    else
        sm_log_at(
            sm, SM_EVENT_WARNING, sm->subnet.own_port,
            "the link of the manager's own port is down: the manager waits for it and keeps %u "
            "switches and %u adapters",
            nodes.switches, nodes.adapters);
}

void own_link_was_down(struct sm *sm)
{
    sm->own_link->down = false;
    own_link_schedule(sm);
    sm_log_at(sm, SM_EVENT_STATE, sm->subnet.own_port, "the link of the manager's own port is up");
    if (sm_state(sm) == SM_MASTER) {
        sm_begin_change(sm, SM_CAUSE(SM_CAUSE_OWN_LINK, sm->subnet.own_port));
        reconfigure_request(sm, REASON_TOPOLOGY);
    }
    if (sm_state(sm) == SM_STANDBY) {
        standby_copy_watch(sm, 0); /* other nodes may answer by the old paths */
        mastership_handle(sm, ON_LINK_RESTORED);
    } else if (sm_state(sm) != SM_NOT_ACTIVE) {
        discovery_restart(sm);
    }
}

bool own_link_changes(struct sm *sm, unsigned state)
{
    struct subnet_port *own = port_at(sm, sm->subnet.own_port);
    unsigned before = own->known ? (unsigned)wire_get(own->info, PORT_INFO_PORT_STATE) : 0;
    bool down = sm->own_link->down;
    if (node_at(sm, own->node)->kind == SUBNET_SWITCH || sm_state(sm) == SM_NOT_ACTIVE)
        return false; /* port 0 of a switch has no link */
    if (state == PORT_STATE_DOWN) {
        if (!down)
            lose_own_link(sm);
        return true;
    }
    if (!down && (state != PORT_STATE_INIT || before <= PORT_STATE_INIT))
        return false;
    wire_set(own->info, PORT_INFO_PORT_STATE, state);
    own_link_was_down(sm);
    return true;
}

static void own_link_read(struct sm *sm, const struct request *request)
{
    if (request->target == sm->subnet.own_port)
        own_link_changes(sm, (unsigned)wire_get(request->answer, PORT_INFO_PORT_STATE));
}

SM_PART(own_link, .init = init_own_link, .expire = own_link_expire, .deadline = own_link_deadline,
        .while_down = true);
