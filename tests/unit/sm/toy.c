/* The toy subnet and its agents; toy_run.c drives it. */
#include "toy_internal.h"
#include "wire/link_rate.h"

#include <string.h>

enum { CAPABILITY_IS_SM = 1 << 1 };

/* ---- cables ---- */

static void reset_port(struct toy_node *node, unsigned number)
{
    uint8_t *info = node->ports[number].info;
    bool up = node->ports[number].peer || (node->is_switch && number == 0);
    memset(info, 0, sizeof node->ports[number].info);
    wire_set(info, PORT_INFO_LOCAL_PORT_NUM, number);
    wire_set(info, PORT_INFO_LINK_WIDTH_SUPPORTED, 2);
    wire_set(info, PORT_INFO_LINK_WIDTH_ACTIVE, 2);
    wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, 1);
    wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, 1);
    wire_set(info, PORT_INFO_MTU_CAP, 4);
    wire_set(info, PORT_INFO_NEIGHBOR_MTU, 4);
    wire_set(info, PORT_INFO_VL_CAP, 4); /* VL 0 to 7 */
    wire_set(info, PORT_INFO_OPERATIONAL_VLS, 1);
    wire_set(info, PORT_INFO_VL_ARBITRATION_HIGH_CAP, 8);
    wire_set(info, PORT_INFO_VL_ARBITRATION_LOW_CAP, 8);
    wire_set(info, PORT_INFO_PORT_STATE, up ? PORT_STATE_INIT : PORT_STATE_DOWN);
    wire_set(info, PORT_INFO_PORT_PHYSICAL_STATE, up ? PHYSICAL_LINK_UP : PHYSICAL_POLLING);
}

static void reset_node(struct toy_node *node)
{
    for (unsigned number = 0; number <= node->port_count; number++)
        reset_port(node, number);
    memset(node->lft, PORT_NONE, sizeof node->lft);
    memset(node->switch_info, 0, sizeof node->switch_info);
    wire_set(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP, TOY_LFT);
    wire_set(node->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 1); /* as after power-on */
}

void toy_set_manager_bit(struct toy_node *node, unsigned port)
{
    uint8_t *info = node->ports[port].info;
    wire_set(info, PORT_INFO_CAPABILITY_MASK,
             wire_get(info, PORT_INFO_CAPABILITY_MASK) | CAPABILITY_IS_SM);
}

void toy_clear_manager_bit(struct toy_node *node, unsigned port)
{
    uint8_t *info = node->ports[port].info;
    wire_set(info, PORT_INFO_CAPABILITY_MASK,
             wire_get(info, PORT_INFO_CAPABILITY_MASK) & ~(uint64_t)CAPABILITY_IS_SM);
}

static struct toy_node *find_node(struct toy *toy, const char *name, size_t length)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        if (strlen(toy->nodes[i]->name) == length && memcmp(toy->nodes[i]->name, name, length) == 0)
            return toy->nodes[i];
    return NULL;
}

struct toy_node *toy_node(struct toy *toy, const char *name)
{
    struct toy_node *node = find_node(toy, name, strlen(name));
    assert_non_null(node);
    return node;
}

static struct toy_node *find_or_add_node(struct toy *toy, const char *name, size_t length)
{
    struct toy_node *node = find_node(toy, name, length);
    if (node)
        return node;
    assert_true(toy->node_count < sizeof toy->nodes / sizeof toy->nodes[0]);
    node = mem_zalloc(1, sizeof *node);
    memcpy(node->name, name, length);
    node->is_switch = name[0] == 'S';
    node->port_count = node->is_switch ? TOY_PORTS : 0; /* each cable adds a port to an adapter */
    node->guid = UINT64_C(0x1000) * (1 + toy->node_count);
    reset_node(node);
    toy->nodes[toy->node_count++] = node;
    return node;
}

static unsigned free_port(struct toy_node *node)
{
    for (unsigned number = 1; number <= node->port_count; number++)
        if (!node->ports[number].peer)
            return number;
    assert_true(node->port_count < TOY_PORTS);
    return ++node->port_count;
}

static void connect(struct toy_node *a, unsigned port_a, struct toy_node *b, unsigned port_b)
{
    a->ports[port_a].peer = b;
    a->ports[port_a].peer_port = port_b;
    b->ports[port_b].peer = a;
    b->ports[port_b].peer_port = port_a;
}

/* The cable determines the state of a port; other settings stay. */
static void refresh_port(struct toy *toy, struct toy_node *node, unsigned number)
{
    bool up = node->ports[number].peer != NULL;
    wire_set(node->ports[number].info, PORT_INFO_PORT_STATE,
             up ? PORT_STATE_INIT : PORT_STATE_DOWN);
    wire_set(node->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 1);
    if (toy->traps && node->is_switch)
        toy_trap(toy, node->name, 128);
}

static void add_link(struct toy *toy, struct toy_node *a, struct toy_node *b)
{
    unsigned port_a = free_port(a), port_b = free_port(b);
    connect(a, port_a, b, port_b);
    refresh_port(toy, a, port_a);
    refresh_port(toy, b, port_b);
}

void toy_link(struct toy *toy, const char *a, const char *b)
{
    add_link(toy, toy_node(toy, a), toy_node(toy, b));
}

void toy_pull(struct toy *toy, const char *name, unsigned number)
{
    struct toy_node *node = toy_node(toy, name), *peer = node->ports[number].peer;
    assert_non_null(peer);
    unsigned peer_number = node->ports[number].peer_port;
    node->ports[number].peer = peer->ports[peer_number].peer = NULL;
    refresh_port(toy, node, number);
    refresh_port(toy, peer, peer_number);
}

void toy_cut(struct toy *toy, const char *a, const char *b)
{
    const struct toy_node *near = toy_node(toy, a), *far = toy_node(toy, b);
    for (unsigned number = 1; number <= near->port_count; number++)
        if (near->ports[number].peer == far) {
            toy_pull(toy, a, number);
            return;
        }
    fail_msg("there is no cable between %s and %s", a, b);
}

void toy_switch_off(struct toy *toy, const char *name)
{
    struct toy_node *node = toy_node(toy, name);
    node->mute = true;
    for (unsigned number = 1; number <= node->port_count; number++) {
        const struct toy_port *port = &node->ports[number];
        node->was[number] = *port;
        if (port->peer)
            toy_pull(toy, name, number);
    }
    reset_node(node);
}

void toy_switch_on(struct toy *toy, const char *name)
{
    struct toy_node *node = toy_node(toy, name);
    node->mute = false;
    for (unsigned number = 1; number <= node->port_count; number++) {
        struct toy_node *peer = node->was[number].peer;
        if (!peer)
            continue;
        connect(node, number, peer, node->was[number].peer_port);
        refresh_port(toy, peer, node->was[number].peer_port);
    }
    reset_node(node);
}

/* ---- creation and release ---- */

struct toy *toy_open(void **state, const char *links)
{
    struct toy *toy = mem_zalloc(1, sizeof *toy);
    *state = toy;
    while (*links) {
        size_t first = strcspn(links, "-"), both = strcspn(links, " ");
        struct toy_node *a = find_or_add_node(toy, links, first);
        add_link(toy, a, find_or_add_node(toy, links + first + 1, both - first - 1));
        links += both + strspn(links + both, " ");
    }
    for (unsigned i = 0; i < toy->node_count; i++)
        reset_node(toy->nodes[i]);
    toy->traps = true;
    toy->now = TOY_S;
    return toy;
}

int toy_close(void **state)
{
    struct toy *toy = *state;
    for (unsigned i = 0; i < TOY_MANAGERS; i++)
        sm_free(toy->managers[i].sm);
    for (unsigned i = 0; i < toy->node_count; i++)
        mem_free(toy->nodes[i]);
    sm_job_free(toy->job);
    vec_release(&toy->flights);
    vec_release(&toy->sent);
    text_release(&toy->events);
    mem_free(toy);
    return 0;
}

/* ---- agents ---- */

static bool is_settable(enum wire_field field)
{
    static const enum wire_field fields[] = {
        PORT_INFO_M_KEY,         PORT_INFO_GID_PREFIX,         PORT_INFO_LID,
        PORT_INFO_MASTER_SM_LID, PORT_INFO_M_KEY_LEASE_PERIOD, PORT_INFO_M_KEY_PROTECT_BITS,
        PORT_INFO_LMC,           PORT_INFO_NEIGHBOR_MTU,       PORT_INFO_MASTER_SM_SL,
        PORT_INFO_VL_HIGH_LIMIT, PORT_INFO_OPERATIONAL_VLS,    PORT_INFO_SUBNET_TIME_OUT,
        PORT_INFO_HOQ_LIFE,      PORT_INFO_VL_STALL_COUNT};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (fields[i] == field)
            return true;
    return false;
}

/* One step up at a time, unless the node is lenient; a port that is Down stays Down. */
static bool set_port_state(uint8_t *info, uint64_t wanted, bool lenient)
{
    uint64_t before = wire_get(info, PORT_INFO_PORT_STATE);
    if (wanted == PORT_STATE_NO_CHANGE || wanted == before)
        return true;
    if (before == PORT_STATE_DOWN || wanted == PORT_STATE_DOWN ||
        (wanted != before + 1 && !lenient))
        return false;
    wire_set(info, PORT_INFO_PORT_STATE, wanted);
    return true;
}

/* A port that is disabled takes its link down; one that polls again brings it up. */
static void set_physical_state(struct toy_node *node, unsigned number, uint64_t wanted)
{
    struct toy_port *port = &node->ports[number];
    bool disabled = wire_get(port->info, PORT_INFO_PORT_PHYSICAL_STATE) == PHYSICAL_DISABLED;
    bool up = wanted == PHYSICAL_POLLING && port->peer;
    if (wanted == PHYSICAL_NO_CHANGE || disabled == (wanted == PHYSICAL_DISABLED))
        return;
    struct toy_port *ends[] = {port, port->peer ? &port->peer->ports[port->peer_port] : NULL};
    for (unsigned i = 0; i < 2 && ends[i]; i++) {
        wire_set(ends[i]->info, PORT_INFO_PORT_STATE, up ? PORT_STATE_INIT : PORT_STATE_DOWN);
        wire_set(ends[i]->info, PORT_INFO_PORT_PHYSICAL_STATE,
                 up ? PHYSICAL_LINK_UP : PHYSICAL_POLLING);
    }
    if (!up)
        wire_set(port->info, PORT_INFO_PORT_PHYSICAL_STATE, wanted);
    wire_set(node->switch_info, SWITCH_INFO_PORT_STATE_CHANGE, 1);
}

static unsigned port_info(struct toy_node *node, unsigned arrival, uint32_t modifier, bool set,
                          uint8_t *data)
{
    unsigned number = modifier & 0xFF;
    if ((modifier & PORT_INFO_WITH_EXTENDED_SPEEDS) && node->refuses_bit_31)
        return STATUS_BAD_VALUE;
    number = node->is_switch || number ? number : arrival;
    if (number > node->port_count)
        return STATUS_BAD_VALUE;
    uint8_t *info = node->ports[number].info;
    if (set && !set_port_state(info, wire_get(data, PORT_INFO_PORT_STATE), node->lenient))
        return STATUS_BAD_VALUE;
    for (enum wire_field field = PORT_INFO_M_KEY; set && field <= PORT_INFO_LINK_SPEED_EXT_ENABLED;
         field++)
        if (is_settable(field))
            wire_set(info, field, wire_get(data, field));
    if (set)
        set_physical_state(node, number, wire_get(data, PORT_INFO_PORT_PHYSICAL_STATE));
    memcpy(data, info, 64);
    if (node->strict_speeds && !(modifier & PORT_INFO_WITH_EXTENDED_SPEEDS)) {
        wire_set(data, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 0);
        wire_set(data, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, 0);
    }
    return STATUS_OK;
}

void toy_make_ndr(struct toy *toy)
{
    for (unsigned i = 0; i < toy->node_count; i++)
        for (unsigned number = 0; number <= toy->nodes[i]->port_count; number++) {
            uint8_t *info = toy->nodes[i]->ports[number].info;
            wire_set(info, PORT_INFO_CAPABILITY_MASK, CAPABILITY_EXTENDED_SPEEDS);
            wire_set(info, PORT_INFO_LINK_SPEED_SUPPORTED, 7);
            wire_set(info, PORT_INFO_LINK_SPEED_ACTIVE, 4);
            wire_set(info, PORT_INFO_LINK_SPEED_EXT_SUPPORTED, 15);
            wire_set(info, PORT_INFO_LINK_SPEED_EXT_ACTIVE, 8);
        }
}

static unsigned switch_info(struct toy_node *node, bool set, uint8_t *data)
{
    uint8_t *info = node->switch_info;
    if (set) {
        wire_set(info, SWITCH_INFO_LINEAR_FDB_TOP, wire_get(data, SWITCH_INFO_LINEAR_FDB_TOP));
        wire_set(info, SWITCH_INFO_LIFE_TIME_VALUE, wire_get(data, SWITCH_INFO_LIFE_TIME_VALUE));
        if (wire_get(data, SWITCH_INFO_PORT_STATE_CHANGE))
            wire_set(info, SWITCH_INFO_PORT_STATE_CHANGE, 0);
    }
    memcpy(data, info, sizeof node->switch_info);
    return node->is_switch ? STATUS_OK : STATUS_BAD_ATTRIBUTE;
}

static unsigned table(uint8_t *memory, size_t bytes, unsigned block, bool set, uint8_t *data)
{
    if ((block + 1) * (size_t)LFT_BLOCK > bytes)
        return STATUS_BAD_VALUE;
    if (set)
        memcpy(memory + block * LFT_BLOCK, data, LFT_BLOCK);
    memcpy(data, memory + block * LFT_BLOCK, LFT_BLOCK);
    return STATUS_OK;
}

static void node_info(const struct toy_node *node, unsigned arrival, uint8_t *data)
{
    wire_set(data, NODE_INFO_BASE_VERSION, 1);
    wire_set(data, NODE_INFO_CLASS_VERSION, 1);
    wire_set(data, NODE_INFO_NODE_TYPE, node->is_switch ? SUBNET_SWITCH : SUBNET_ADAPTER);
    wire_set(data, NODE_INFO_NUM_PORTS, node->port_count);
    wire_set(data, NODE_INFO_NODE_GUID, node->guid);
    wire_set(data, NODE_INFO_SYSTEM_IMAGE_GUID, node->guid);
    wire_set(data, NODE_INFO_PORT_GUID, node->guid + (node->is_switch ? 0 : arrival));
    wire_set(data, NODE_INFO_PARTITION_CAP, 8);
    wire_set(data, NODE_INFO_LOCAL_PORT_NUM, arrival);
}

/* Executes a request that arrived at this port and turns it into the answer. */
void toy_agent_answer(struct toy_node *node, unsigned arrival, uint8_t *mad)
{
    uint8_t *data = mad + SMP_DATA_OFFSET;
    bool set = wire_get(mad, MAD_METHOD) == METHOD_SET;
    unsigned modifier = (unsigned)wire_get(mad, MAD_ATTRIBUTE_MODIFIER), status = STATUS_OK;
    switch (wire_get(mad, MAD_ATTRIBUTE_ID)) {
    case ATTRIBUTE_NODE_DESCRIPTION:
        if (node->description[0])
            memcpy(data, node->description, 64);
        else
            memcpy(data, node->name, sizeof node->name);
        break;
    case ATTRIBUTE_NODE_INFO: node_info(node, arrival, data); break;
    case ATTRIBUTE_SWITCH_INFO: status = switch_info(node, set, data); break;
    case ATTRIBUTE_PORT_INFO: status = port_info(node, arrival, modifier, set, data); break;
    case ATTRIBUTE_LINEAR_FORWARDING_TABLE:
        status = table(node->lft, sizeof node->lft, modifier, set, data);
        break;
    case ATTRIBUTE_VL_ARBITRATION_TABLE:
        if (modifier >> 16 == 1 && (modifier & 0xFF) <= node->port_count)
            status = table(node->ports[modifier & 0xFF].arbitration, 64, 0, set, data);
        break;
    case ATTRIBUTE_SM_INFO:
        if (set)
            node->last_control = modifier;
        memcpy(node->received_info, data, sizeof node->received_info);
        node->received_m_key = wire_get(mad, SMP_M_KEY);
        memcpy(data, node->manager, sizeof node->manager);
        break;
    default: break; /* accepted and not stored */
    }
    toy_make_answer(mad, status);
}

void toy_make_answer(uint8_t *mad, unsigned status)
{
    wire_set(mad, MAD_METHOD, METHOD_GET_RESP);
    wire_set(mad, MAD_STATUS, status);
    wire_set(mad, SMP_DIRECTION, 1);
}

void toy_claim_manager(struct toy *toy, const char *name, unsigned priority, enum sm_state claimed)
{
    struct toy_node *node = toy_node(toy, name);
    node->claims_manager = true;
    toy_set_manager_bit(node, 1);
    wire_set(node->manager, SM_INFO_GUID, node->guid + 1);
    wire_set(node->manager, SM_INFO_PRIORITY, priority);
    wire_set(node->manager, SM_INFO_STATE, claimed);
}

/* ---- paths ---- */

struct toy_end toy_hop(struct toy_end from, unsigned port)
{
    struct toy_end nowhere = {NULL, 0};
    if (!from.node || port == 0 || port > from.node->port_count || from.node->mute)
        return nowhere;
    if (!from.node->is_switch && port != from.port)
        return nowhere;
    return (struct toy_end){from.node->ports[port].peer, from.node->ports[port].peer_port};
}

/* Adapters send, but forward nothing. */
struct toy_end toy_walk(struct toy_end from, const uint8_t *path, unsigned hops, uint8_t *back)
{
    struct toy_end at = from;
    for (unsigned hop = 1; hop <= hops && at.node; hop++) {
        if (hop > 1 && !at.node->is_switch)
            return (struct toy_end){NULL, 0};
        at = toy_hop(at, path[hop]);
        back[hop] = (uint8_t)at.port;
    }
    return at;
}

/* Follows the tables from an end port: returns the end where a packet to this LID arrives. */
struct toy_end toy_forward(struct toy_end from, unsigned lid)
{
    struct toy_end at = from.node->is_switch ? from : toy_hop(from, from.port);
    for (unsigned hop = 0; hop < 16 && at.node && at.node->is_switch; hop++) {
        unsigned out = lid < TOY_LFT ? at.node->lft[lid] : PORT_NONE;
        if (out == 0)
            return (struct toy_end){at.node, 0};
        if (out == at.port)
            return (struct toy_end){0}; /* a switch discards what it would send back */
        at = toy_hop(at, out);
    }
    return at;
}

const char *toy_problem(struct toy *toy, enum problem_kind kind)
{
    static char text[1300];
    struct problems problems = {0};
    text[0] = 0;
    sm_problems(toy->sm, toy->now, &problems);
    for (size_t i = 0; i < problems.items.count; i++)
        if (problems.items.items[i].kind == kind)
            snprintf(text, sizeof text, "%s: %s",
                     subnet_place_name(sm_subnet(toy->sm), &problems.items.items[i].place).text,
                     problems.items.items[i].text);
    problems_release(&problems);
    return text;
}

size_t toy_count_problems(struct toy *toy)
{
    struct problems problems = {0};
    sm_problems(toy->sm, toy->now, &problems);
    size_t count = problems.items.count;
    problems_release(&problems);
    return count;
}
