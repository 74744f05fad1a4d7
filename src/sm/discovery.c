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
    while (sm->discovery->ports.count <= port)
        vec_push(&sm->discovery->ports, (struct explored_port){0});
    return &sm->discovery->ports.items[port];
}

struct explored_node *explored_node(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    while (sm->discovery->nodes.count <= node)
        vec_push(&sm->discovery->nodes, (struct explored_node){0});
    return &sm->discovery->nodes.items[node];
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

enum { IS_SM = 1 << 1 }; /* in PortInfo.CapabilityMask */

static request_ended question_ended, part_ended, switch_info_ended, port_ended;
static request_answered node_info_read, description_read, switch_info_read, port_info_read,
    function_read, table_block_read, change_cleared;
static request_refused node_info_refused, read_refused, change_not_cleared;
static request_unanswered nobody_behind_port, description_missing, part_missing, port_info_missing;
static request_adjust_effort insist_on_senders;

/* The subject is the switch port through which it asks; SUBNET_NONE: the manager's own node. */
static const struct request_kind get_node_info = {
    .name = "NodeInfo",
    .attribute = ATTRIBUTE_NODE_INFO,
    .counter = offsetof(struct sm_counts, node_info),
    .ended = question_ended,
    .answered = node_info_read,
    .refused = node_info_refused,
    .unanswered = nobody_behind_port,
    .effort = insist_on_senders,
};
static const struct request_kind get_description = {
    .name = "NodeDescription",
    .attribute = ATTRIBUTE_NODE_DESCRIPTION,
    .ended = question_ended,
    .answered = description_read,
    .refused = read_refused,
    .unanswered = description_missing,
};
static const struct request_kind get_switch_info = {
    .name = "SwitchInfo",
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .counter = offsetof(struct sm_counts, switch_info),
    .ended = switch_info_ended,
    .answered = switch_info_read,
    .refused = read_refused,
    .unanswered = part_missing,
    .loses_contact = true,
};
static const struct request_kind get_port_info = {
    .name = "PortInfo",
    .attribute = ATTRIBUTE_PORT_INFO,
    .counter = offsetof(struct sm_counts, port_info_get),
    .ended = port_ended,
    .answered = port_info_read,
    .refused = read_refused,
    .unanswered = port_info_missing,
};
static const struct request_kind get_function = {
    .name = "VirtualFunction",
    .attribute = ATTRIBUTE_VIRTUAL_FUNCTION,
    .counter = offsetof(struct sm_counts, functions),
    .ended = port_ended,
    .answered = function_read,
    .refused = read_refused,
    .unanswered = part_missing,
    .loses_contact = true,
};
static const struct request_kind get_table_block = {
    .name = "LinearForwardingTable",
    .attribute = ATTRIBUTE_LINEAR_FORWARDING_TABLE,
    .counter = offsetof(struct sm_counts, tables),
    .ended = part_ended,
    .answered = table_block_read,
    .refused = read_refused,
    .unanswered = part_missing,
    .loses_contact = true,
};
/* Acknowledges a switch's PortStateChange. */
static const struct request_kind clear_change = {
    .name = "SwitchInfo",
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .writes = true,
    .counter = offsetof(struct sm_counts, switch_info),
    .ended = question_ended,
    .answered = change_cleared,
    .refused = change_not_cleared,
    .loses_contact = true,
};

static void ask_with(struct sm *sm, struct request *request, uint32_t modifier,
                     enum request_priority request_priority)
{
    request->modifier = modifier;
    sm->discovery->outstanding++;
    sm_submit(sm, request, request_priority);
}

/* Nobody waits for what a standby reads. */
static enum request_priority usual_priority(const struct sm *sm)
{
    return sm_state(sm) == SM_STANDBY ? PRIORITY_NONE : PRIORITY_URGENT;
}

static void ask(struct sm *sm, struct request *request, uint32_t modifier)
{
    ask_with(sm, request, modifier, usual_priority(sm));
}

/* Reads a part of the node that is asked. */
static void read_part(struct sm *sm, struct request *request, uint32_t modifier,
                      enum request_priority request_priority)
{
    explored_node(sm, port_at(sm, request->target)->node)->reading++;
    ask_with(sm, request, modifier, request_priority);
}

void discovery_start(struct sm *sm)
{
    ask(sm,
        sm_request(sm, &get_node_info, (union request_subject){.port = SUBNET_NONE}, SUBNET_NONE),
        0);
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

/* Another port of the manager's own adapter: the adapter itself is there. */
static void lose_own_port(struct sm *sm, uint64_t now, uint32_t end)
{
    struct subnet_port *port = port_at(sm, end);
    if (port->peer == SUBNET_NONE && !port->known)
        return; /* that was seen to */
    sm_begin_change(sm, now, "port %u of the manager's own adapter does not answer", port->number);
    if (port->peer != SUBNET_NONE)
        faults_leave_alone(sm, now, end);
    subnet_unlink(&sm->subnet, end);
    port->known = port->manager = port->rival = false;
    port->via = SUBNET_NONE;
    sm->discovery->paths_lost = true;
}

/* A node that does not answer is as good as gone. The ports that led to it are asked again by the
 * next sweep: if it was only the way to it that failed, it is found by another one. */
void discovery_lost_contact(struct sm *sm, uint64_t now, uint32_t end)
{
    uint32_t index = port_at(sm, end)->node;
    const struct subnet_node *node = node_at(sm, index);
    if (!node->present || end == sm->subnet.own_port)
        return;
    if (sm->subnet.own_port != SUBNET_NONE && index == port_at(sm, sm->subnet.own_port)->node) {
        lose_own_port(sm, now, end);
        return;
    }
    sm_begin_change(sm, now, "%s 0x%016llx does not answer",
                    node->kind == SUBNET_SWITCH ? "switch" : "adapter",
                    (unsigned long long)node->guid);
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE)
            explored_port(sm, peer)->avoided = true;
    }
    faults_note_silence(sm, now, index);
    subnet_remove_node(&sm->subnet, index);
    sm->discovery->paths_lost = true;
}

/* Asks a port for its state before anything else, unless that was done a moment ago. */
static void suspect_port(struct sm *sm, uint64_t now, uint32_t port)
{
    struct explored_port *work = explored_port(sm, port);
    if (work->suspected > now)
        return;
    work->suspected = now + sm->config.timeout_ns;
    work->reading = true;
    struct request *request = sm_request(sm, &get_port_info, (union request_subject){.port = port},
                                         subnet_end_port(&sm->subnet, port));
    read_part(sm, request, port_at(sm, port)->number, PRIORITY_PRESSING);
}

/* A link to this switch is down: is the switch? Its other neighbours know at once, while what they
 * tell by themselves may get lost where the switch was. */
static void suspect_switch(struct sm *sm, uint64_t now, uint32_t index)
{
    const struct subnet_node *node = node_at(sm, index);
    if (!sm->config.policy->chases_losses || sm_state(sm) != SM_MASTER ||
        node->kind != SUBNET_SWITCH)
        return;
    for (unsigned number = 1; number <= node->port_count; number++) {
        uint32_t peer = port_at(sm, node->first_port + number)->peer;
        if (peer != SUBNET_NONE && port_at(sm, peer)->node != index &&
            node_at(sm, port_at(sm, peer)->node)->kind == SUBNET_SWITCH)
            suspect_port(sm, now, peer);
    }
}

/* Somebody keeps silent: perhaps a link on the way is down. Every port on the way is asked at once,
 * before anything else, so that nobody waits for all those behind it one by one. */
void discovery_suspect(struct sm *sm, uint64_t now, uint32_t end, uint32_t through)
{
    uint32_t port = through;
    if (!sm->config.policy->chases_losses || end == SUBNET_NONE)
        return;
    for (unsigned hop = 0; hop <= SMP_MAX_HOPS; hop++) {
        if (port != SUBNET_NONE)
            suspect_port(sm, now, port);
        if (end == sm->subnet.own_port || port_at(sm, end)->via == SUBNET_NONE)
            return;
        port = port_at(sm, end)->via;
        end = subnet_end_port(&sm->subnet, port);
    }
}

static void ask_through(struct sm *sm, uint32_t port)
{
    struct request *request = sm_request(sm, &get_node_info, (union request_subject){.port = port},
                                         subnet_end_port(&sm->subnet, port));
    request->through = port;
    ask(sm, request, 0);
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
        ask_through(sm, port);
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
    ask_through(sm, port);
    return true;
}

void discovery_read_port(struct sm *sm, uint32_t port)
{
    struct explored_port *work = explored_port(sm, port);
    if (work->reading)
        return;
    work->reading = true;
    bool socket = subnet_is_socket(&sm->subnet, port);
    struct request *request =
        sm_request(sm, socket ? &get_function : &get_port_info,
                   (union request_subject){.port = port}, subnet_end_port(&sm->subnet, port));
    unsigned number = port_at(sm, port)->number;
    read_part(sm, request, socket ? number - VSWITCH_PF : number, usual_priority(sm));
}

/* By a sweep: whoever refused or kept silent is asked again. */
void discovery_retry_port(struct sm *sm, uint32_t port)
{
    if (!discovery_avoids_port(sm, port))
        return;
    explored_port(sm, port)->avoided = false;
    discovery_read_port(sm, port);
}

void discovery_read_switch(struct sm *sm, uint32_t node)
{
    struct explored_node *work = explored_node(sm, node);
    if (work->reading_switch)
        return;
    work->reading_switch = true;
    struct request *request = sm_request(
        sm, &get_switch_info, (union request_subject){.node = node}, node_at(sm, node)->first_port);
    read_part(sm, request, 0, usual_priority(sm));
}

static void read_ports(struct sm *sm, uint32_t node)
{
    uint32_t first = node_at(sm, node)->first_port;
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++)
        if (!subnet_is_socket(&sm->subnet, first + number) || !port_at(sm, first + number)->known)
            discovery_read_port(sm, first + number); /* functions do not change by themselves */
}

void discovery_read_node(struct sm *sm, uint32_t node)
{
    if (node_at(sm, node)->kind == SUBNET_SWITCH && sm->config.policy->reads_whole_nodes)
        discovery_read_switch(sm, node);
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        bool told = subnet_socket_of(&sm->subnet, port) != SUBNET_NONE; /* by its vSwitch */
        if (node_at(sm, node)->kind == SUBNET_SWITCH || (port_at(sm, port)->known && !told))
            discovery_read_port(sm, port);
    }
}

/* The switch says that ports changed: acknowledge first, so that a change meanwhile shows again,
 * then read. */
void discovery_refresh_switch(struct sm *sm, uint32_t node)
{
    struct request *request = sm_request(sm, &clear_change, (union request_subject){.node = node},
                                         node_at(sm, node)->first_port);
    memcpy(request->data, node_at(sm, node)->switch_info, sizeof node_at(sm, node)->switch_info);
    wire_set(request->data, SWITCH_INFO_PORT_STATE_CHANGE, 1);
    wire_set(node_at(sm, node)->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    ask(sm, request, 0);
}

static void read_tables(struct sm *sm, uint32_t node)
{
    unsigned top = (unsigned)wire_get(node_at(sm, node)->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
    if (top == 0 || top >= LFT_ENTRIES || node_at(sm, node)->vswitch)
        return; /* nobody has configured it yet, or it is its own business */
    for (unsigned block = 0; block <= top / LFT_BLOCK; block++) {
        if (subnet_block_known(node_at(sm, node)->tables, block))
            continue;
        struct request *request = sm_request(
            sm, &get_table_block, (union request_subject){.table = {.node = node, .block = block}},
            node_at(sm, node)->first_port);
        read_part(sm, request, block, usual_priority(sm));
    }
}

static void read_description(struct sm *sm, uint32_t node, uint32_t end)
{
    if (explored_node(sm, node)->described || !sm->config.policy->reads_whole_nodes)
        return;
    explored_node(sm, node)->described = true;
    ask(sm, sm_request(sm, &get_description, (union request_subject){.node = node}, end), 0);
}

/* It is gone; if it comes back it may have another one. */
void discovery_forget_description(struct sm *sm, uint32_t node)
{
    explored_node(sm, node)->described = false;
}

/* The node as a whole, whatever is known of it. */
void discovery_read_all(struct sm *sm, uint32_t node)
{
    const bool is_switch = node_at(sm, node)->kind == SUBNET_SWITCH;
    uint32_t first = node_at(sm, node)->first_port;
    if (is_switch) {
        read_description(sm, node, first);
        discovery_read_switch(sm, node);
    }
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = first + number;
        bool reachable = port_at(sm, port)->peer != SUBNET_NONE || port == sm->subnet.own_port;
        if (!is_switch && (!reachable || subnet_socket_of(&sm->subnet, port) != SUBNET_NONE))
            continue;
        if (!is_switch)
            read_description(sm, node, port);
        discovery_read_port(sm, port);
    }
}

static void meet_node(struct sm *sm, uint32_t node, uint32_t arrival)
{
    struct subnet_node *known = node_at(sm, node);
    bool is_switch = known->kind == SUBNET_SWITCH;
    standby_copy_meets(sm, node);
    read_description(sm, node, subnet_end_port(&sm->subnet, arrival));
    if (is_switch && sm->config.policy->reads_whole_nodes)
        discovery_read_switch(sm, node);
    if (is_switch)
        read_ports(sm, node);
    else
        discovery_read_port(sm, arrival);
}

static void node_met(struct sm *sm, uint64_t now, uint32_t through, const uint8_t *data)
{
    unsigned kind = (unsigned)wire_get(data, NODE_INFO_NODE_TYPE);
    unsigned ports = (unsigned)wire_get(data, NODE_INFO_NUM_PORTS);
    unsigned local = (unsigned)wire_get(data, NODE_INFO_LOCAL_PORT_NUM);
    uint64_t guid = wire_get(data, NODE_INFO_NODE_GUID);
    if (through != SUBNET_NONE)
        explored_port(sm, through)->probing = false;
    if (through != SUBNET_NONE && !node_at(sm, port_at(sm, through)->node)->present)
        return; /* the switch that was asked through is gone meanwhile */
    if (kind < SUBNET_ADAPTER || kind > SUBNET_ROUTER || local > ports || ports == 0 ||
        ports > 254 || (kind != SUBNET_SWITCH && local == 0)) {
        sm_say(sm, SM_EVENT_WARNING, "node 0x%016llx gives an impossible NodeInfo: ignored",
               (unsigned long long)guid);
        return;
    }
    uint32_t known = map_get(&sm->subnet.by_guid, guid);
    bool present = known != MAP_NONE && node_at(sm, known)->present;
    if (known != MAP_NONE && !present && now < explored_node(sm, known)->silent_until) {
        if (through != SUBNET_NONE)
            explored_port(sm, through)->avoided = true; /* a later sweep looks again */
        return;
    }
    uint32_t node = subnet_add_node(&sm->subnet, guid, kind, ports);
    if (node == SUBNET_NONE) {
        faults_fence_off(sm, through, guid);
        return;
    }
    uint32_t arrival = node_at(sm, node)->first_port + local;
    if (through == SUBNET_NONE)
        sm->subnet.own_port = subnet_end_port(&sm->subnet, arrival);
    else if (local && faults_contest(sm, through, arrival))
        return;
    bool new_link = local && through != SUBNET_NONE && port_at(sm, arrival)->peer != through;
    if (new_link) {
        faults_contradict(sm, through);
        explored_port(sm, through)->fenced = 0;
        subnet_link(&sm->subnet, through, arrival);
    }
    node_at(sm, node)->system_guid = wire_get(data, NODE_INFO_SYSTEM_IMAGE_GUID);
    node_at(sm, node)->vendor = (uint32_t)wire_get(data, NODE_INFO_VENDOR_ID);
    node_at(sm, node)->device = (uint16_t)wire_get(data, NODE_INFO_DEVICE_ID);
    node_at(sm, node)->revision = (uint32_t)wire_get(data, NODE_INFO_REVISION);
    node_at(sm, node)->partition_cap = (uint16_t)wire_get(data, NODE_INFO_PARTITION_CAP);
    if (kind == SUBNET_SWITCH && node_at(sm, node)->device == VSWITCH_DEVICE_ID)
        subnet_mark_vswitch(&sm->subnet, node);
    uint32_t end = subnet_end_port(&sm->subnet, arrival);
    bool new_port = !port_at(sm, end)->known;
    port_at(sm, end)->guid = wire_get(data, NODE_INFO_PORT_GUID);
    if (port_at(sm, end)->via == SUBNET_NONE && end != sm->subnet.own_port) {
        blocks_forget(&sm->subnet.blocks, end); /* written in vain, if at all, while it was away */
        port_at(sm, end)->via = through;
        port_at(sm, end)->hops =
            (uint8_t)(port_at(sm, subnet_end_port(&sm->subnet, through))->hops + 1);
    }
    if (!present && known != MAP_NONE)
        sm_begin_change(sm, now, "node 0x%016llx is back", (unsigned long long)guid);
    /* What it has to report is what this exploration is about to see; nobody reads it. */
    if (!present && known != MAP_NONE && !sm->config.policy->reads_whole_nodes &&
        kind == SUBNET_SWITCH &&
        wire_get(node_at(sm, node)->switch_info, SWITCH_INFO_LINEAR_FDB_CAP))
        discovery_refresh_switch(sm, node);
    if (!present || new_port)
        meet_node(sm, node, arrival);
    else if (new_link && sm_state(sm) == SM_MASTER)
        discovery_read_node(sm, node); /* it may have been off meanwhile, and blank */
    if (new_link && present && kind == SUBNET_SWITCH && !sm->config.policy->probes_every_port)
        discovery_probe(sm, arrival); /* does it say the same when it is asked itself? */
}

/* Whether to ask through a port now that its state is known. */
static bool leads_on(struct sm *sm, uint64_t now, uint32_t port)
{
    if (now < explored_port(sm, port)->damped_until) {
        explored_port(sm, port)->avoided = true; /* a later sweep looks again */
        return false;
    }
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    bool is_switch = node->kind == SUBNET_SWITCH;
    if (wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT)
        return false;
    if (is_switch ? p->number == 0 : port != sm->subnet.own_port)
        return false;
    bool led_here = port_at(sm, node->first_port)->via == p->peer;
    return p->peer == SUBNET_NONE || (sm->config.policy->probes_every_port && !led_here);
}

void discovery_forget_tables(struct sm *sm, uint32_t index)
{
    struct subnet_node *node = node_at(sm, index);
    if (!node->tables)
        return;
    memset(node->tables->known, 0, sizeof node->tables->known);
    standby_copy_spoil(sm);
}

/* It was reset, or told otherwise by somebody else: nothing that it was told counts any more. */
static void was_reset(struct sm *sm, uint32_t node)
{
    discovery_forget_tables(sm, node);
    subnet_forget_blocks(&sm->subnet, node);
    program_schedule(sm);
}

/* Down, or down and up again meanwhile: whoever is there now must be asked for. */
static void link_lost(struct sm *sm, uint64_t now, uint32_t port, bool down)
{
    const struct subnet_port *p = port_at(sm, port);
    sm_begin_change(sm, now, "link at port %u of 0x%016llx %s", p->number,
                    (unsigned long long)node_at(sm, p->node)->guid, down ? "is down" : "was down");
    uint32_t far = port_at(sm, p->peer)->node;
    subnet_unlink(&sm->subnet, port);
    sm->discovery->paths_lost = true;
    faults_note_flap(sm, now, port);
    suspect_switch(sm, now, far);
}

static void port_read(struct sm *sm, uint64_t now, uint32_t port, const uint8_t *data)
{
    struct subnet_port *p = port_at(sm, port);
    unsigned state = (unsigned)wire_get(data, PORT_INFO_PORT_STATE);
    unsigned before = p->known ? (unsigned)wire_get(p->info, PORT_INFO_PORT_STATE) : 0;
    bool end = subnet_is_end_port(&sm->subnet, port);
    if (end && p->known && wire_get(p->info, PORT_INFO_LID) != wire_get(data, PORT_INFO_LID))
        was_reset(sm, p->node);
    memcpy(p->info, data, sizeof p->info);
    p->known = true;
    explored_port(sm, port)->avoided = false;
    explored_port(sm, port)->silences = 0;
    program_schedule(sm);
    bool is_switch = node_at(sm, p->node)->kind == SUBNET_SWITCH;
    bool linked =
        (is_switch ? p->number != 0 : port == sm->subnet.own_port) && p->peer != SUBNET_NONE;
    if (linked &&
        (state == PORT_STATE_DOWN || (state == PORT_STATE_INIT && before > PORT_STATE_INIT)))
        link_lost(sm, now, port, state == PORT_STATE_DOWN);
    faults_decide(sm, port);
    bool manager =
        end && (wire_get(data, PORT_INFO_CAPABILITY_MASK) & IS_SM) && port != sm->subnet.own_port;
    if (manager && !p->manager)
        mastership_ask(sm, port);
    p->manager = manager;
    if (!manager && p->rival)
        mastership_rival_gone(sm, now, port);
    if (end && sm->config.policy->ports_once) {
        lids_assign_port(sm, port);
        program_end_port_once(sm, port);
    }
    if (leads_on(sm, now, port)) {
        if (before == PORT_STATE_DOWN && sm_state(sm) == SM_MASTER)
            sm_begin_change(sm, now, "port %u of 0x%016llx is up", p->number,
                            (unsigned long long)node_at(sm, p->node)->guid);
        discovery_probe(sm, port);
    }
}

void discovery_learn_switch(struct sm *sm, uint32_t node, const uint8_t *data)
{
    struct subnet_node *known = node_at(sm, node);
    /* Another top than it was told. */
    if (wire_get(known->switch_info, SWITCH_INFO_LINEAR_FDB_TOP) !=
        wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP))
        was_reset(sm, node);
    memcpy(known->switch_info, data, sizeof known->switch_info);
}

static void switch_read(struct sm *sm, uint32_t node, const uint8_t *data)
{
    discovery_learn_switch(sm, node, data);
    program_schedule(sm);
    read_tables(sm, node);
    if (wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE) && sm_state(sm) == SM_MASTER)
        discovery_refresh_switch(sm, node); /* else the master acknowledges it when it writes */
}

/* ---- outcomes ---- */

static void question_ended(struct sm *sm, const struct request *request)
{
    (void)request;
    discovery_heard(sm);
}

static void part_ended(struct sm *sm, const struct request *request)
{
    struct explored_node *work = explored_node(sm, port_at(sm, request->target)->node);
    assert(work->reading);
    work->reading--;
    discovery_heard(sm);
}

static void switch_info_ended(struct sm *sm, const struct request *request)
{
    part_ended(sm, request);
    explored_node(sm, request->about.node)->reading_switch = false;
}

static void port_ended(struct sm *sm, const struct request *request)
{
    part_ended(sm, request);
    explored_port(sm, request->about.port)->reading = false;
}

static void note_whole_node(struct sm *sm, uint32_t node)
{
    if (explored_node(sm, node)->reading == 0)
        standby_copy_node_read(sm, node);
}

static void node_info_read(struct sm *sm, uint64_t now, const struct request *request,
                           const uint8_t *data)
{
    node_met(sm, now, request->about.port, data);
}

static void description_read(struct sm *sm, uint64_t now, const struct request *request,
                             const uint8_t *data)
{
    (void)now;
    memcpy(node_at(sm, request->about.node)->description, data, 64);
}

static void switch_info_read(struct sm *sm, uint64_t now, const struct request *request,
                             const uint8_t *data)
{
    (void)now;
    switch_read(sm, request->about.node, data);
    note_whole_node(sm, request->about.node);
}

static void port_info_read(struct sm *sm, uint64_t now, const struct request *request,
                           const uint8_t *data)
{
    port_read(sm, now, request->about.port, data);
    note_whole_node(sm, port_at(sm, request->about.port)->node);
}

static void function_read(struct sm *sm, uint64_t now, const struct request *request,
                          const uint8_t *data)
{
    (void)now;
    functions_read(sm, request->about.port, data);
    note_whole_node(sm, port_at(sm, request->about.port)->node);
}

static void table_block_read(struct sm *sm, uint64_t now, const struct request *request,
                             const uint8_t *data)
{
    (void)now;
    uint32_t node = request->about.table.node, block = request->about.table.block;
    struct subnet_tables *tables = node_at(sm, node)->tables;
    memcpy(tables->actual + block * LFT_BLOCK, data, LFT_BLOCK);
    tables->known[block / 64] |= UINT64_C(1) << (block % 64);
    note_whole_node(sm, node);
}

static void change_cleared(struct sm *sm, uint64_t now, const struct request *request,
                           const uint8_t *data)
{
    (void)now;
    memcpy(node_at(sm, request->about.node)->switch_info, data, 20);
    if (sm->discovery->explore_at == TIME_NEVER)
        read_ports(sm, request->about.node);
}

/* An answer that tells nothing but why is as good as none. */
static void read_refused(struct sm *sm, uint64_t now, const struct request *request,
                         uint16_t status)
{
    faults_report_refused_read(sm, request, status);
    transactions_lose(sm, now, request);
}

static void node_info_refused(struct sm *sm, uint64_t now, const struct request *request,
                              uint16_t status)
{
    faults_report_refused_probe(sm, request->about.port, status);
    nobody_behind_port(sm, now, request);
}

/* Whoever does not let a change be acknowledged tells the rest all the same. */
static void change_not_cleared(struct sm *sm, uint64_t now, const struct request *request,
                               uint16_t status)
{
    (void)now;
    uint32_t node = request->about.node;
    if (discovery_first_keeps_change(sm, node))
        sm_say(sm, SM_EVENT_WARNING,
               "switch 0x%016llx does not let its port change be acknowledged (status 0x%x): it is "
               "read again at every sweep",
               (unsigned long long)node_at(sm, node)->guid, status);
    if (sm->discovery->explore_at == TIME_NEVER)
        read_ports(sm, node);
}

/* Nobody there, or nobody who talks. */
static void nobody_behind_port(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)now;
    if (request->about.port == SUBNET_NONE)
        return;
    explored_port(sm, request->about.port)->probing = false;
    explored_port(sm, request->about.port)->avoided = true;
}

static void description_missing(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)now;
    explored_node(sm, request->about.node)->described = false;
}

static void part_missing(struct sm *sm, uint64_t now, const struct request *request)
{
    (void)now;
    standby_copy_node_unread(sm, port_at(sm, request->target)->node);
}

static void port_info_missing(struct sm *sm, uint64_t now, const struct request *request)
{
    part_missing(sm, now, request);
    discovery_lost_contact(sm, now, request->target);
    faults_decide(sm, request->about.port);
}

/* Whoever is behind a port that is Active may be sending: before it is taken for gone it is asked
 * for some time more. */
static void insist_on_senders(const struct sm *sm, const struct request *request,
                              struct request_effort *effort)
{
    if (request->through == SUBNET_NONE || !sm->config.policy->chases_losses ||
        wire_get(sm->subnet.ports.items[request->through].info, PORT_INFO_PORT_STATE) !=
            PORT_STATE_ACTIVE)
        return;
    if (request->tries > effort->retries)
        effort->timeout_ns = sm->config.timeout_ns;
    effort->retries *= 2;
}
