/* Requests of discovery; discovery_learn.c handles most of the answers.
 *
 * All belong to GROUP_DISCOVERY: discovery is complete when none is under way. Reads of a node are
 * counted for the node, too: when there are none left, a standby has copied it (standby_copy.c). */
#include "sm/discovery/discovery.h"

#include "base/text.h"
#include "sm/faults/faults.h"
#include "sm/internal.h"
#include "sm/mastership/standby_copy.h"
#include "sm/tables/functions.h"
#include "sm/transactions.h"
#include "wire/link_rate.h"

#include <string.h>

struct node_reads {
    uint32_t parts; /* reads of this node that are under way */
    bool switch_info;
    bool described;      /* its NodeDescription was requested */
    bool refuses_bit_31; /* of PortInfo's modifier, although its CapabilityMask promises it */
};

struct reads {
    VEC(bool) ports; /* by port: a read of it is under way */
    VEC(struct node_reads) nodes;
};

static void drop_reads(struct sm *sm)
{
    sm->reads->ports.count = sm->reads->nodes.count = 0;
}

SM_PART(reads, .vectors = {VECTOR(reads, ports), VECTOR(reads, nodes)},
        .requests_dropped = drop_reads);

static bool *port_reading_at(struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return vec_at(&sm->reads->ports, port);
}

static struct node_reads *node_reads_at(struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return vec_at(&sm->reads->nodes, node);
}

bool discovery_is_reading(struct sm *sm, uint32_t node)
{
    return node_reads_at(sm, node)->parts != 0;
}

static request_outcome part_ended, switch_info_ended, port_ended;
static request_outcome description_read, table_block_read, change_cleared;
static request_outcome node_info_refused, read_refused, port_info_refused, change_clear_refused;
static request_outcome probe_unanswered, description_unanswered, part_unanswered,
    port_info_unanswered;
static request_adjust_effort extend_probe_effort;

/* A probe of the node behind request->through, or of the manager's own node; it has no subject. */
static const struct request_kind get_node_info = {
    .attribute = ATTRIBUTE_NODE_INFO,
    .group = GROUP_DISCOVERY,
    .answered = discovery_learn_node,
    .refused = node_info_refused,
    .unanswered = probe_unanswered,
    .effort = extend_probe_effort,
};

#define READ(what, id, end, take, miss, contact)                                                   \
    {                                                                                              \
        .name = (what), .attribute = (id), .group = GROUP_DISCOVERY, .ended = (end),               \
        .answered = (take), .refused = read_refused, .unanswered = (miss),                         \
        .loses_contact = (contact)                                                                 \
    }
static const struct request_kind get_description =
    READ("NodeDescription", ATTRIBUTE_NODE_DESCRIPTION, NULL, description_read,
         description_unanswered, false);
static const struct request_kind get_switch_info =
    READ("SwitchInfo", ATTRIBUTE_SWITCH_INFO, switch_info_ended, discovery_learn_switch_info,
         part_unanswered, true);
static const struct request_kind get_port_info = {
    .name = "PortInfo",
    .attribute = ATTRIBUTE_PORT_INFO,
    .group = GROUP_DISCOVERY,
    .ended = port_ended,
    .answered = discovery_learn_port,
    .refused = port_info_refused,
    .unanswered = port_info_unanswered,
};
static const struct request_kind get_function =
    READ("VirtualFunction", ATTRIBUTE_VIRTUAL_FUNCTION, port_ended, functions_read, part_unanswered,
         true);
static const struct request_kind get_table_block =
    READ("LinearForwardingTable", ATTRIBUTE_LINEAR_FORWARDING_TABLE, part_ended, table_block_read,
         part_unanswered, true);

/* Before everything is explored again, a path may cross the link that failed: no repetition. */
static void limit_clear_effort(const struct sm *sm, const struct request *request,
                               struct request_effort *effort)
{
    (void)request;
    if (sm->config.policy->fixed_timeouts && discovery_explores_all(sm))
        effort->retries = 0;
}

/* Acknowledges a switch's PortStateChange. */
static const struct request_kind clear_change = {
    .attribute = ATTRIBUTE_SWITCH_INFO,
    .writes = true,
    .group = GROUP_DISCOVERY,
    .answered = change_cleared,
    .refused = change_clear_refused,
    .effort = limit_clear_effort,
    .loses_contact = true,
};

/* The reads of a standby have no priority. */
static void submit_read(struct sm *sm, struct request *request)
{
    sm_submit(sm, request, sm_state(sm) == SM_STANDBY ? PRIORITY_NONE : PRIORITY_URGENT);
}

/* Reads a part of the target node. */
static void read_part(struct sm *sm, const struct request_kind *kind, union request_subject about,
                      uint32_t target, uint32_t modifier)
{
    node_reads_at(sm, port_at(sm, target)->node)->parts++;
    struct request *request = sm_request(sm, kind, about, target);
    request->modifier = modifier;
    submit_read(sm, request);
}

void discovery_start(struct sm *sm)
{
    submit_read(sm, sm_request(sm, &get_node_info, (union request_subject){0}, SUBNET_NONE));
}

void discovery_send_probe(struct sm *sm, uint32_t port)
{
    struct request *request = sm_request(sm, &get_node_info, (union request_subject){0},
                                         subnet_end_port(&sm->subnet, port));
    request->through = port;
    submit_read(sm, request);
}

uint32_t sm_port_info_modifier(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_port *end = port_at(sm, subnet_end_port(&sm->subnet, port));
    const struct reads *reads = sm->reads;
    bool refuses = p->node < reads->nodes.count && reads->nodes.items[p->node].refuses_bit_31;
    bool extended =
        !refuses && (wire_get(end->info, PORT_INFO_CAPABILITY_MASK) & CAPABILITY_EXTENDED_SPEEDS);
    return p->number | (extended ? PORT_INFO_WITH_EXTENDED_SPEEDS : 0);
}

/* Whether the agent probably left the extended speeds out of its last answer. Speeds of a port that
 * is Down do not matter yet. */
static bool hides_speeds(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_port *end = port_at(sm, subnet_end_port(&sm->subnet, port));
    bool has_link = node_at(sm, p->node)->kind != SUBNET_SWITCH || p->number;
    if (!p->known || !has_link || wire_get(p->info, PORT_INFO_PORT_STATE) < PORT_STATE_INIT ||
        !(sm_port_info_modifier(sm, port) & PORT_INFO_WITH_EXTENDED_SPEEDS))
        return false;
    return !wire_get(p->info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED) ||
           ((wire_get(end->info, PORT_INFO_CAPABILITY_MASK2) & CAPABILITY2_EXTENDED_SPEEDS2) &&
            !wire_get(p->info, PORT_INFO_LINK_SPEED_EXT2_SUPPORTED));
}

/* The first answer of an end port shows whether its node understands bit 31. Ports that were read
 * without the bit until then are read again. */
void discovery_read_hidden_speeds(struct sm *sm, uint32_t port, uint32_t modifier)
{
    const struct subnet_node *node = node_at(sm, port_at(sm, port)->node);
    uint32_t last = port;
    if (modifier & PORT_INFO_WITH_EXTENDED_SPEEDS)
        return;
    if (node->kind == SUBNET_SWITCH && port == node->first_port)
        last = port + node->port_count;
    for (; port <= last; port++)
        if (hides_speeds(sm, port))
            discovery_read_port(sm, port);
}

void discovery_read_port_now(struct sm *sm, uint32_t port)
{
    uint32_t target = subnet_end_port(&sm->subnet, port);
    *port_reading_at(sm, port) = true;
    node_reads_at(sm, port_at(sm, port)->node)->parts++;
    struct request *request =
        sm_request(sm, &get_port_info, (union request_subject){.port = port}, target);
    request->modifier = sm_port_info_modifier(sm, port);
    sm_submit(sm, request, PRIORITY_IMMEDIATE);
}

void discovery_read_port(struct sm *sm, uint32_t port)
{
    if (*port_reading_at(sm, port))
        return;
    *port_reading_at(sm, port) = true;
    bool vf_port = subnet_is_vf_port(&sm->subnet, port);
    uint32_t modifier = vf_port ? port_at(sm, port)->number - (uint32_t)VSWITCH_PF
                                : sm_port_info_modifier(sm, port);
    read_part(sm, vf_port ? &get_function : &get_port_info, (union request_subject){.port = port},
              subnet_end_port(&sm->subnet, port), modifier);
}

/* Whether a port of a node that is present was never read: the request or its answer was dropped.
 * An adapter has ports in other subnets, too; those have no link here. */
bool discovery_has_unread_port(const struct sm *sm, uint32_t port)
{
    const struct subnet_port *p = port_at(sm, port);
    const struct subnet_node *node = node_at(sm, p->node);
    bool reachable =
        node->kind == SUBNET_SWITCH || p->peer != SUBNET_NONE || port == sm->subnet.own_port;
    return node->present && !p->known && reachable &&
           subnet_vf_port_of(&sm->subnet, port) == SUBNET_NONE &&
           (p->number != 0 || node->kind == SUBNET_SWITCH);
}

void discovery_retry_port(struct sm *sm, uint32_t port)
{
    if (!sm_is_avoiding_port(sm, port) && !discovery_has_unread_port(sm, port))
        return;
    discovery_avoid_port(sm, port, false);
    discovery_read_port(sm, port);
}

void discovery_read_switch(struct sm *sm, uint32_t node)
{
    assert(node_at(sm, node)->kind == SUBNET_SWITCH);
    if (node_reads_at(sm, node)->switch_info)
        return;
    node_reads_at(sm, node)->switch_info = true;
    read_part(sm, &get_switch_info, (union request_subject){.node = node},
              node_at(sm, node)->first_port, 0);
}

void discovery_read_ports(struct sm *sm, uint32_t node)
{
    uint32_t first = node_at(sm, node)->first_port;
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++)
        if (!subnet_is_vf_port(&sm->subnet, first + number) || !port_at(sm, first + number)->known)
            discovery_read_port(sm, first + number); /* only the manager changes functions */
}

void discovery_read_node(struct sm *sm, uint32_t node)
{
    if (node_at(sm, node)->kind == SUBNET_SWITCH && sm->config.policy->reads_whole_nodes)
        discovery_read_switch(sm, node);
    for (unsigned number = 0; number <= node_at(sm, node)->port_count; number++) {
        uint32_t port = node_at(sm, node)->first_port + number;
        bool function =
            subnet_vf_port_of(&sm->subnet, port) != SUBNET_NONE; /* read at its vSwitch */
        if (node_at(sm, node)->kind == SUBNET_SWITCH || (port_at(sm, port)->known && !function))
            discovery_read_port(sm, port);
    }
}

/* Clears PortStateChange before the ports are read, so that a later change sets it again. */
void discovery_refresh_switch(struct sm *sm, uint32_t node)
{
    assert(node_at(sm, node)->kind == SUBNET_SWITCH);
    struct request *request = sm_request(sm, &clear_change, (union request_subject){.node = node},
                                         node_at(sm, node)->first_port);
    memcpy(request->data, node_at(sm, node)->switch_info, sizeof node_at(sm, node)->switch_info);
    wire_set(request->data, SWITCH_INFO_PORT_STATE_CHANGE, 1);
    wire_set(node_at(sm, node)->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    submit_read(sm, request);
}

void discovery_read_tables(struct sm *sm, uint32_t node)
{
    unsigned top = (unsigned)wire_get(node_at(sm, node)->switch_info, SWITCH_INFO_LINEAR_FDB_TOP);
    if (top == 0 || top >= LFT_ENTRIES || node_at(sm, node)->vswitch)
        return; /* not configured yet, or a vSwitch, whose table is internal */
    for (unsigned block = 0; block <= top / LFT_BLOCK; block++)
        if (!subnet_block_known(node_at(sm, node)->tables, block))
            read_part(sm, &get_table_block, (union request_subject){.table = {node, block}},
                      node_at(sm, node)->first_port, block);
}

void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end)
{
    if (node_reads_at(sm, node)->described || !sm->config.policy->reads_whole_nodes)
        return;
    node_reads_at(sm, node)->described = true;
    submit_read(sm, sm_request(sm, &get_description, (union request_subject){.node = node}, end));
}

/* A node that comes back may have another description. */
void discovery_forget_description(struct sm *sm, uint32_t node)
{
    node_reads_at(sm, node)->described = false;
}

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
        if (!is_switch && (!reachable || subnet_vf_port_of(&sm->subnet, port) != SUBNET_NONE))
            continue;
        if (!is_switch)
            discovery_read_description(sm, node, port);
        discovery_read_port(sm, port);
    }
}

/* ---- outcomes ---- */

static void part_ended(struct sm *sm, const struct request *request)
{
    struct node_reads *node = node_reads_at(sm, port_at(sm, request->target)->node);
    assert(node->parts);
    node->parts--;
}

static void switch_info_ended(struct sm *sm, const struct request *request)
{
    part_ended(sm, request);
    node_reads_at(sm, request->about.node)->switch_info = false;
}

static void port_ended(struct sm *sm, const struct request *request)
{
    part_ended(sm, request);
    *port_reading_at(sm, request->about.port) = false;
}

/* A host chooses its description, which gets into logs, dumps and terminals. */
static void description_read(struct sm *sm, const struct request *request)
{
    char *description = node_at(sm, request->about.node)->description;
    memcpy(description, request->answer, 64);
    text_make_shown(description);
}

static void table_block_read(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.table.node;
    discovery_store_block(sm, node, request->about.table.block, request->answer);
    standby_copy_node_read(sm, node);
}

static void change_cleared(struct sm *sm, const struct request *request)
{
    memcpy(node_at(sm, request->about.node)->switch_info, request->answer, 20);
    if (!discovery_explores_all(sm))
        discovery_read_ports(sm, request->about.node);
}

/* A refusal has the same consequences as no answer. */
static void read_refused(struct sm *sm, const struct request *request)
{
    const struct subnet_node *node = node_at(sm, port_at(sm, request->target)->node);
    sm_log_at(sm, SM_EVENT_WARNING, request->target, "%s 0x%016llx refuses %s %u (status 0x%x)",
              node->kind == SUBNET_SWITCH ? "switch" : "adapter", (unsigned long long)node->guid,
              request->kind->name, request->modifier & ~PORT_INFO_WITH_EXTENDED_SPEEDS,
              request->status);
    transactions_fail(sm, request);
}

static void port_info_refused(struct sm *sm, const struct request *request)
{
    if (!(request->modifier & PORT_INFO_WITH_EXTENDED_SPEEDS)) {
        read_refused(sm, request);
        return;
    }
    node_reads_at(sm, port_at(sm, request->target)->node)->refuses_bit_31 = true;
    discovery_read_port(sm, request->about.port);
}

static void node_info_refused(struct sm *sm, const struct request *request)
{
    if (request->through == SUBNET_NONE) {
        sm_log(sm, SM_EVENT_WARNING, "the manager's own port refuses NodeInfo (status 0x%x)",
               request->status);
    } else {
        const struct subnet_port *p = port_at(sm, request->through);
        sm_log_at(sm, SM_EVENT_WARNING, request->through,
                  "the node behind port %u of 0x%016llx refuses NodeInfo (status 0x%x)", p->number,
                  (unsigned long long)node_at(sm, p->node)->guid, request->status);
    }
    probe_unanswered(sm, request);
}

static void change_clear_refused(struct sm *sm, const struct request *request)
{
    uint32_t node = request->about.node;
    if (discovery_note_stuck_change(sm, node))
        sm_log_at(
            sm, SM_EVENT_WARNING, node_at(sm, node)->first_port,
            "switch 0x%016llx refuses to clear PortStateChange (status 0x%x): every sweep reads "
            "its ports",
            (unsigned long long)node_at(sm, node)->guid, request->status);
    if (!discovery_explores_all(sm))
        discovery_read_ports(sm, node);
}

static void probe_unanswered(struct sm *sm, const struct request *request)
{
    if (request->through == SUBNET_NONE)
        return;
    discovery_probe_ended(sm, request->through);
    discovery_avoid_port(sm, request->through, true);
}

static void description_unanswered(struct sm *sm, const struct request *request)
{
    node_reads_at(sm, request->about.node)->described = false;
}

static void part_unanswered(struct sm *sm, const struct request *request)
{
    standby_copy_node_unread(sm, port_at(sm, request->target)->node);
}

static void port_info_unanswered(struct sm *sm, const struct request *request)
{
    part_unanswered(sm, request);
    discovery_lost_contact(sm, request->target);
    faults_resolve_claim(sm, request->about.port);
}

/* A node behind an Active port may carry traffic: it gets more tries before it counts as gone. */
static void extend_probe_effort(const struct sm *sm, const struct request *request,
                                struct request_effort *effort)
{
    if (request->through == SUBNET_NONE || !sm->config.policy->chases_losses ||
        wire_get(port_at(sm, request->through)->info, PORT_INFO_PORT_STATE) != PORT_STATE_ACTIVE)
        return;
    if (request->tries > effort->retries)
        effort->timeout_ns = sm->config.timeout_ns;
    effort->retries *= 2;
}
