/* A manager that cannot read its neighbor: the link is up and PortInfo of the manager's port names
 * another master, but the node at the other end of the link does not answer. The manager lacks the
 * M_Key of that node (m_key_per_port and no stored links, guard/port_keys.c), or the agent of the
 * node hangs.
 *
 * Such a manager could only be master of its own adapter, beside the master of the subnet. So it
 * asks the LID that its port names for SMInfo, by LID: packets to a LID pass the agents of
 * switches. If a master answers that is a peer, the manager becomes its standby and polls it by
 * LID, without a copy of the subnet; it gets the registrations, and refuses a handover. Else it
 * does not become master either: it discovers the subnet again and again, until its neighbor
 * answers. So does such a standby when the master has failed: it does not take over. */
#include "sm/mastership/neighbor.h"
#include "base/text.h"
#include "sm/discovery/discovery.h"
#include "sm/guard/port_keys.h"
#include "sm/mastership/mastership_internal.h"

enum {
    RETRY_S = 1,  /* from an attempt without a master to the next one */
    PROBE_S = 30, /* between probes of the neighbor: each may be a violation of its M_Key */
};

struct neighbor {
    uint16_t lid;     /* of the master that the own port names */
    uint64_t guid;    /* of its port, once it has answered */
    uint32_t master;  /* its port in the subnet, while this manager stands by; else SUBNET_NONE */
    bool asking;      /* a request to it is under way */
    uint64_t next_at; /* the next attempt or probe; TIME_NEVER: the neighbor is readable */
    bool logged;
};

static void init_neighbor(struct sm *sm)
{
    sm->neighbor->master = SUBNET_NONE;
    sm->neighbor->next_at = TIME_NEVER;
}

static void drop_neighbor(struct sm *sm)
{
    sm->neighbor->asking = false;
    if (sm_state(sm) != SM_STANDBY)
        sm->neighbor->master = SUBNET_NONE; /* discovery may find a path to it */
}

static request_outcome master_answered, master_unanswered, node_answered, node_unanswered;
static request_outcome neighbor_answered;
static const struct request_kind ask_master = {
    .attribute = ATTRIBUTE_SM_INFO,
    .group = GROUP_DISCOVERY,
    .answered = master_answered,
    .unanswered = master_unanswered,
};
static const struct request_kind read_master_node = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .group = GROUP_DISCOVERY,
    .answered = node_answered,
    .unanswered = node_unanswered,
};
static const struct request_kind probe_neighbor = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .answered = neighbor_answered,
    .effort = request_try_once,
};

static const struct subnet_port *own_port(const struct sm *sm)
{
    return port_at(sm, sm->subnet.own_port);
}

static bool neighbor_is_unreadable(const struct sm *sm)
{
    const struct subnet_port *own = own_port(sm);
    uint64_t master = wire_get(own->info, PORT_INFO_MASTER_SM_LID);
    return node_at(sm, own->node)->kind != SUBNET_SWITCH && own->peer == SUBNET_NONE &&
           wire_get(own->info, PORT_INFO_PORT_STATE) >= PORT_STATE_INIT && master &&
           master != wire_get(own->info, PORT_INFO_LID);
}

bool neighbor_stands_by(const struct sm *sm)
{
    return sm->neighbor->master != SUBNET_NONE && sm_state(sm) == SM_STANDBY;
}

bool neighbor_waits(const struct sm *sm)
{
    return sm_state(sm) == SM_DISCOVERING && sm->neighbor->next_at != TIME_NEVER;
}

/* The program at that LID gets no key: an adapter answers all SMPs but SMInfo in firmware. */
uint16_t neighbor_lid(const struct sm *sm, const struct request *request, uint64_t *m_key)
{
    const struct neighbor *neighbor = sm->neighbor;
    bool polls = request->target == neighbor->master && neighbor_stands_by(sm);
    if (!polls && request->kind != &ask_master && request->kind != &read_master_node)
        return 0;
    *m_key =
        request->kind->attribute == ATTRIBUTE_SM_INFO ? 0 : port_keys_of_guid(sm, neighbor->guid);
    return neighbor->lid;
}

bool neighbor_prevents_mastership(struct sm *sm)
{
    struct neighbor *neighbor = sm->neighbor;
    if (!neighbor_is_unreadable(sm) || sm->config.alone) {
        neighbor->next_at = TIME_NEVER;
        neighbor->logged = false;
        return false;
    }
    if (neighbor->asking || neighbor_waits(sm))
        return true;
    neighbor->lid = (uint16_t)wire_get(own_port(sm)->info, PORT_INFO_MASTER_SM_LID);
    neighbor->asking = true;
    mastership_send_info(sm, &ask_master, SUBNET_NONE, 0, PRIORITY_IMMEDIATE);
    return true;
}

/* ---- outcomes ---- */

static void put_reason(const struct sm *sm, struct text *out)
{
    bool stands_by = neighbor_stands_by(sm);
    text_printf(out,
                "the node at the other end does not answer this manager, and LID %u is the master "
                "of this port: this manager %s",
                sm->neighbor->lid,
                stands_by ? "stands by without a copy of the subnet, and cannot take over"
                          : "waits, and does not become master");
    if (sm->config.m_key_per_port)
        text_puts(out, "; if it lacks the M_Key of that node, it needs the file 'neighbors' from "
                       "the state directory of the master");
}

static void log_neighbor(struct sm *sm)
{
    struct text reason = {0};
    put_reason(sm, &reason);
    if (!sm->neighbor->logged)
        sm_log_listed(sm, SM_EVENT_WARNING, sm->subnet.own_port, "%s", reason.data);
    sm->neighbor->logged = true;
    text_release(&reason);
}

static void wait_for_neighbor(struct sm *sm)
{
    sm->neighbor->asking = false;
    sm->neighbor->next_at = sm->now + RETRY_S * NS_PER_S;
    log_neighbor(sm);
}

static void master_unanswered(struct sm *sm, const struct request *request)
{
    (void)request;
    wait_for_neighbor(sm);
}

static void master_answered(struct sm *sm, const struct request *request)
{
    struct mastership_peer them = mastership_read_info(request->answer);
    if (them.state != SM_MASTER || them.guid == sm->guid) {
        wait_for_neighbor(sm);
        return;
    }
    sm->neighbor->guid = them.guid;
    sm_submit(sm, sm_request(sm, &read_master_node, (union request_subject){0}, SUBNET_NONE),
              PRIORITY_IMMEDIATE);
}

/* The master gets a row in the subnet, without a path to it. */
static void stand_by(struct sm *sm, uint64_t node_guid, unsigned kind, unsigned ports,
                     unsigned number)
{
    struct neighbor *neighbor = sm->neighbor;
    uint32_t node = subnet_add_node(&sm->subnet, node_guid, kind, ports);
    if (node == SUBNET_NONE) {
        wait_for_neighbor(sm);
        return;
    }
    uint32_t port = subnet_end_port(&sm->subnet, node_at(sm, node)->first_port + number);
    port_at(sm, port)->guid = neighbor->guid;
    wire_set(port_at(sm, port)->info, PORT_INFO_LID, neighbor->lid);
    subnet_set_lid(&sm->subnet, port, neighbor->lid, 0);
    neighbor->asking = false;
    neighbor->master = port;
    neighbor->next_at = sm->now + PROBE_S * NS_PER_S;
    mastership_handle_from(sm, ON_MET_HIGHER_MASTER, &(struct event_details){.port = port});
    log_neighbor(sm);
}

static void node_answered(struct sm *sm, const struct request *request)
{
    const uint8_t *info = request->answer;
    unsigned kind = (unsigned)wire_get(info, NODE_INFO_NODE_TYPE);
    unsigned ports = (unsigned)wire_get(info, NODE_INFO_NUM_PORTS);
    unsigned number = (unsigned)wire_get(info, NODE_INFO_LOCAL_PORT_NUM);
    bool valid = (kind == SUBNET_ADAPTER || kind == SUBNET_SWITCH) && ports && ports <= 254 &&
                 number <= ports && (number || kind == SUBNET_SWITCH);
    if (valid && wire_get(info, NODE_INFO_NODE_GUID) != node_at(sm, own_port(sm)->node)->guid)
        stand_by(sm, wire_get(info, NODE_INFO_NODE_GUID), kind, ports, number);
    else
        wait_for_neighbor(sm);
}

/* Its M_Key is another one than this manager's: the GUID of the port stands for that of the node.
 */
static void node_unanswered(struct sm *sm, const struct request *request)
{
    (void)request;
    stand_by(sm, sm->neighbor->guid, SUBNET_ADAPTER, 1, 1);
}

static void neighbor_answered(struct sm *sm, const struct request *request)
{
    (void)request;
    mastership_handle(sm, ON_NEIGHBOR_ANSWERS);
}

/* ---- time ---- */

static uint64_t neighbor_deadline(const struct sm *sm)
{
    return neighbor_waits(sm) || neighbor_stands_by(sm) ? sm->neighbor->next_at : TIME_NEVER;
}

static void neighbor_expire(struct sm *sm)
{
    if (sm->now < neighbor_deadline(sm))
        return;
    if (neighbor_waits(sm)) {
        sm->neighbor->next_at = TIME_NEVER;
        discovery_restart(sm);
        return;
    }
    sm->neighbor->next_at = sm->now + PROBE_S * NS_PER_S;
    struct request *probe =
        sm_request(sm, &probe_neighbor, (union request_subject){0}, sm->subnet.own_port);
    probe->through = sm->subnet.own_port;
    sm_submit(sm, probe, PRIORITY_IMMEDIATE);
}

static void neighbor_list_problems(struct sm *sm, struct problems *problems)
{
    struct text reason = {0};
    if (!neighbor_waits(sm) && !neighbor_stands_by(sm))
        return;
    put_reason(sm, &reason);
    problems_add(problems, PROBLEM_UNREADABLE_NEIGHBOR,
                 subnet_at_link(&sm->subnet, sm->subnet.own_port), "%s", reason.data);
    text_release(&reason);
}

SM_PART(neighbor, .init = init_neighbor, .requests_dropped = drop_neighbor,
        .expire = neighbor_expire, .deadline = neighbor_deadline,
        .problems = neighbor_list_problems);
