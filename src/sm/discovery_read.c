/* The questions of discovery: what is asked of whom, and who takes the answer.
 *
 * Every question counts until its outcome is known: discovery is complete when none is left. Those
 * that read a part of a node count for the node, too, so that a standby's copy (standby_copy.c)
 * knows when it has all of it. What the answers mean is in discovery_learn.c. */
#include "sm/discovery.h"

#include <assert.h>
#include <string.h>

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

void discovery_ask_through(struct sm *sm, uint32_t port)
{
    struct request *request = sm_request(sm, &get_node_info, (union request_subject){.port = port},
                                         subnet_end_port(&sm->subnet, port));
    request->through = port;
    ask(sm, request, 0);
}

/* The state of a port before anything else. */
void discovery_press_port(struct sm *sm, uint32_t port)
{
    explored_port(sm, port)->reading = true;
    struct request *request = sm_request(sm, &get_port_info, (union request_subject){.port = port},
                                         subnet_end_port(&sm->subnet, port));
    read_part(sm, request, port_at(sm, port)->number, PRIORITY_PRESSING);
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

void discovery_read_ports(struct sm *sm, uint32_t node)
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

void discovery_read_tables(struct sm *sm, uint32_t node)
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

void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end)
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
        discovery_read_description(sm, node, first);
        discovery_read_switch(sm, node);
    }
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = first + number;
        bool reachable = port_at(sm, port)->peer != SUBNET_NONE || port == sm->subnet.own_port;
        if (!is_switch && (!reachable || subnet_socket_of(&sm->subnet, port) != SUBNET_NONE))
            continue;
        if (!is_switch)
            discovery_read_description(sm, node, port);
        discovery_read_port(sm, port);
    }
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
    discovery_learn_node(sm, now, request->about.port, data);
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
    discovery_learn_switch_info(sm, request->about.node, data);
    note_whole_node(sm, request->about.node);
}

static void port_info_read(struct sm *sm, uint64_t now, const struct request *request,
                           const uint8_t *data)
{
    discovery_learn_port(sm, now, request->about.port, data);
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
        discovery_read_ports(sm, request->about.node);
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
        discovery_read_ports(sm, node);
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
