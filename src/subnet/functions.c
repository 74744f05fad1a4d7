#include "subnet/functions.h"

#include "subnet/subnet.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

void functions_release(struct virtual_functions *functions)
{
    vec_release(&functions->rows);
    vec_release(&functions->contested);
    map_release(&functions->machines);
}

void functions_add(struct subnet *subnet, uint32_t vswitch)
{
    const struct subnet_node *node = &subnet->nodes.items[vswitch];
    assert(node->vswitch && node->port_count >= VSWITCH_PF);
    for (unsigned number = VSWITCH_PF + 1; number <= node->port_count; number++) {
        subnet_port_at(subnet, vswitch, number)->function = (uint32_t)subnet->functions.rows.count;
        vec_push(
            &subnet->functions.rows,
            ((struct virtual_function){.socket = node->first_port + number, .port = SUBNET_NONE}));
    }
}

struct virtual_function *functions_at(const struct subnet *subnet, uint32_t socket)
{
    if (!subnet_is_socket(subnet, socket))
        return NULL;
    return &subnet->functions.rows.items[subnet->ports.items[socket].function];
}

uint32_t functions_port(const struct subnet *subnet, uint32_t socket)
{
    return socket == SUBNET_NONE ? SUBNET_NONE : functions_at(subnet, socket)->port;
}

struct virtual_function *functions_of_port(const struct subnet *subnet, uint32_t port)
{
    uint32_t socket = subnet_socket_of(subnet, port);
    return socket == SUBNET_NONE ? NULL : functions_at(subnet, socket);
}

uint32_t functions_find_vm(const struct subnet *subnet, uint64_t guid)
{
    uint32_t socket = map_get(&subnet->functions.machines, guid);
    return socket == MAP_NONE ? SUBNET_NONE : socket;
}

static uint32_t vswitch_of(const struct subnet *subnet, uint32_t socket)
{
    return subnet->ports.items[socket].node;
}

static unsigned known_lid(const struct subnet *subnet, uint32_t port)
{
    return (unsigned)wire_get(subnet->ports.items[port].info, PORT_INFO_LID);
}

bool functions_pf_is_ready(const struct subnet *subnet, uint32_t vswitch)
{
    assert(subnet->nodes.items[vswitch].vswitch);
    uint32_t pf = subnet_pf_of(subnet, vswitch);
    if (pf == SUBNET_NONE || !subnet->ports.items[pf].known)
        return false;
    const struct subnet_port *p = &subnet->ports.items[pf];
    return p->lid && known_lid(subnet, pf) == p->lid &&
           wire_get(p->info, PORT_INFO_PORT_STATE) == PORT_STATE_ACTIVE &&
           wire_get(p->info, PORT_INFO_MASTER_SM_LID) == subnet->ports.items[subnet->own_port].lid;
}

bool functions_is_free(const struct subnet *subnet, uint32_t socket)
{
    const struct virtual_function *function = functions_at(subnet, socket);
    return subnet->ports.items[socket].known && subnet_is_present(subnet, socket) &&
           !function->attached && !function->held && !function->writing && !function->evicted &&
           functions_pf_is_ready(subnet, vswitch_of(subnet, socket));
}

bool functions_is_busy(const struct subnet *subnet, uint32_t socket)
{
    const struct virtual_function *function = functions_at(subnet, socket);
    return function->writing ||
           (function->port != SUBNET_NONE &&
            blocks_are_writing(&subnet->blocks, function->port, BLOCK_PARTITIONS));
}

/* ---- nodes and ports of functions ---- */

/* Adds a node for the function and links it to the socket. */
static uint32_t add_function_node(struct subnet *subnet, uint32_t socket, uint64_t node_guid)
{
    uint32_t node = subnet_add_node(subnet, node_guid, SUBNET_ADAPTER, 1);
    if (node == SUBNET_NONE)
        return SUBNET_NONE;
    struct subnet_node *own = &subnet->nodes.items[node];
    const struct subnet_node *host = &subnet->nodes.items[vswitch_of(subnet, socket)];
    uint32_t port = own->first_port + 1;
    own->system_guid = host->system_guid;
    own->vendor = host->vendor;
    own->revision = host->revision;
    own->partition_cap = host->partition_cap;
    subnet_link(subnet, socket, port);
    subnet->ports.items[port].via = socket;
    subnet->ports.items[port].hops = (uint8_t)(subnet->ports.items[host->first_port].hops + 1);
    functions_at(subnet, socket)->port = port;
    own->virtual_function = true;
    return port;
}

void functions_set_down(struct subnet *subnet, uint32_t socket)
{
    assert(subnet_is_socket(subnet, socket));
    uint32_t port = functions_at(subnet, socket)->port;
    wire_set(subnet->ports.items[socket].info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    if (port == SUBNET_NONE)
        return;
    subnet_set_lid(subnet, port, 0, 0);
    if (subnet->ports.items[socket].peer == port)
        subnet_remove_node(subnet, subnet->ports.items[port].node);
}

static void copy_socket_settings(struct subnet *subnet, uint32_t socket)
{
    struct subnet_port *switch_port = &subnet->ports.items[socket];
    memcpy(switch_port->info, subnet_port_at(subnet, vswitch_of(subnet, socket), VSWITCH_PF)->info,
           sizeof switch_port->info);
    wire_set(switch_port->info, PORT_INFO_LOCAL_PORT_NUM, switch_port->number);
    wire_set(switch_port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
}

/* The manager runs at this function and has read its port itself. */
static void adopt_own_function(struct subnet *subnet, uint32_t socket)
{
    uint32_t port = subnet->ports.items[socket].peer;
    functions_at(subnet, socket)->port = port;
    subnet->nodes.items[subnet->ports.items[port].node].virtual_function = true;
    copy_socket_settings(subnet, socket);
}

static void copy_pf_settings(struct subnet *subnet, uint32_t socket)
{
    uint32_t host = vswitch_of(subnet, socket), pf = subnet_pf_of(subnet, host);
    struct subnet_port *switch_port = &subnet->ports.items[socket];
    struct subnet_port *port = &subnet->ports.items[switch_port->peer];
    if (pf == SUBNET_NONE || !subnet->ports.items[pf].known)
        return;
    if (port->known) {
        adopt_own_function(subnet, socket);
        return;
    }
    uint64_t lid = wire_get(port->info, PORT_INFO_LID), lmc = wire_get(port->info, PORT_INFO_LMC);
    memcpy(port->info, subnet->ports.items[pf].info, sizeof port->info);
    wire_set(port->info, PORT_INFO_LID, lid);
    wire_set(port->info, PORT_INFO_LMC, lmc);
    wire_set(port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    port->known = true;
    copy_socket_settings(subnet, socket);
    struct subnet_node *own = &subnet->nodes.items[port->node];
    const struct subnet_node *physical = &subnet->nodes.items[subnet->ports.items[pf].node];
    char name[sizeof own->description];
    memcpy(name, physical->description, sizeof name);
    snprintf(own->description, sizeof own->description, "%.58s-vf%u", name,
             switch_port->number - VSWITCH_PF);
    own->partition_cap = physical->partition_cap;
    own->device = physical->device;
}

/* True if the PortInfo of the function, or of its socket, has not been filled in. */
static bool lacks_pf_settings(const struct subnet *subnet, uint32_t socket)
{
    uint32_t port = subnet->ports.items[socket].peer;
    return !subnet->ports.items[port].known || functions_at(subnet, socket)->port == SUBNET_NONE;
}

void functions_copy_pf_settings(struct subnet *subnet)
{
    for (size_t i = 0; i < subnet->functions.rows.count; i++) {
        uint32_t socket = subnet->functions.rows.items[i].socket;
        uint32_t port = subnet->ports.items[socket].peer;
        if (port != SUBNET_NONE && lacks_pf_settings(subnet, socket) && known_lid(subnet, port))
            copy_pf_settings(subnet, socket);
    }
}

/* ---- virtual machines ---- */

static bool has_machine(const struct subnet *subnet, uint32_t socket, uint64_t guid)
{
    const struct virtual_function *function = functions_at(subnet, socket);
    return function->attached && function->guid == guid;
}

static void update_machine(struct subnet *subnet, uint32_t socket, uint64_t guid, bool attached)
{
    struct virtual_functions *functions = &subnet->functions;
    struct virtual_function *function = functions_at(subnet, socket);
    if (function->attached && (!attached || function->guid != guid) &&
        functions_find_vm(subnet, function->guid) == socket) {
        map_remove(&functions->machines, function->guid);
        for (size_t i = 0; i < functions->contested.count; i++) {
            uint32_t other = functions->contested.items[i];
            if (other != socket && has_machine(subnet, other, function->guid))
                map_set(&functions->machines, function->guid, other);
        }
    }
    function->attached = attached;
    function->guid = guid;
    if (!attached)
        return;
    uint32_t other = functions_find_vm(subnet, guid);
    if (other != SUBNET_NONE && other != socket && has_machine(subnet, other, guid) &&
        !function->held && !functions_at(subnet, other)->held && subnet_is_present(subnet, other))
        vec_push(&functions->contested, socket);
    else
        map_set(&functions->machines, guid, socket);
}

/* A name that another manager or an agent has written may have any bytes. */
static void learn_name(struct virtual_function *function, const uint8_t *name)
{
    memset(function->name, 0, sizeof function->name);
    for (unsigned i = 0; function->attached && i < VSWITCH_NAME_BYTES && name[i]; i++)
        function->name[i] = (char)(name[i] < ' ' || name[i] == 0x7f ? '?' : name[i]);
}

/* ---- known state ---- */

bool functions_update_known(struct subnet *subnet, uint32_t socket, const uint8_t *data)
{
    assert(subnet_is_socket(subnet, socket));
    unsigned lid = (unsigned)wire_get(data, VIRTUAL_FUNCTION_LID);
    uint64_t guid = wire_get(data, VIRTUAL_FUNCTION_PORT_GUID);
    bool dynamic = subnet->functions.dynamic;
    subnet->ports.items[socket].known = true;
    update_machine(subnet, socket, guid, wire_get(data, VIRTUAL_FUNCTION_ATTACHED));
    learn_name(functions_at(subnet, socket), wire_bytes_const(data, VIRTUAL_FUNCTION_NAME));
    if (lid > LID_UNICAST_LAST)
        lid = 0;
    if (lid == 0 && dynamic && !functions_at(subnet, socket)->held) {
        functions_set_down(subnet, socket);
        return true;
    }
    uint32_t port = subnet->ports.items[socket].peer;
    if (port == SUBNET_NONE && (lid || !dynamic)) {
        port = add_function_node(subnet, socket, wire_get(data, VIRTUAL_FUNCTION_NODE_GUID));
        if (port == SUBNET_NONE)
            return false;
    }
    if (port == SUBNET_NONE)
        return true;
    struct subnet_port *p = &subnet->ports.items[port];
    p->guid = guid;
    wire_set(p->info, PORT_INFO_LID, lid);
    wire_set(p->info, PORT_INFO_LMC, wire_get(data, VIRTUAL_FUNCTION_LMC));
    if (lid == 0)
        p->known = false;
    else if (lacks_pf_settings(subnet, socket))
        copy_pf_settings(subnet, socket);
    return true;
}

/* ---- wanted state ---- */

void functions_hold(struct subnet *subnet, uint32_t socket)
{
    functions_at(subnet, socket)->held = true;
}

void functions_evict(struct subnet *subnet, uint32_t socket)
{
    struct virtual_function *function = functions_at(subnet, socket);
    assert(function && function->attached);
    function->evicted = true;
    function->attached = false;
}

void functions_end_order(struct virtual_function *function, enum function_outcome outcome)
{
    function->outcome = outcome;
    if (outcome == FUNCTION_DONE && function->order != ORDER_KEYS)
        function->evicted = false;
}

void functions_want(struct subnet *subnet, uint32_t socket, const struct function_setting *wanted)
{
    struct virtual_function *function = functions_at(subnet, socket);
    assert(!function->writing);
    functions_hold(subnet, socket);
    function->order = ORDER_SETTING;
    function->outcome = FUNCTION_PENDING;
    function->wanted = *wanted;
    function->wanted.lmc = wanted->lid ? subnet->functions.lmc : 0;
}

void functions_want_keys(struct subnet *subnet, uint32_t socket, uint64_t guid)
{
    struct virtual_function *function = functions_at(subnet, socket);
    assert(function->held);
    function->order = ORDER_KEYS;
    function->outcome = FUNCTION_PENDING;
    function->key_owner = guid;
}

enum function_outcome functions_outcome(const struct subnet *subnet, uint32_t socket)
{
    const struct virtual_function *function = functions_at(subnet, socket);
    if (function->order != ORDER_KEYS)
        return function->outcome;
    if (function->port == SUBNET_NONE || !subnet_is_present(subnet, function->port) ||
        !subnet_is_present(subnet, socket))
        return FUNCTION_LOST;
    if (function->outcome != FUNCTION_DONE)
        return function->outcome;
    const struct block *missing = blocks_find_missing(&subnet->blocks, socket, BLOCK_PARTITIONS);
    if (!missing)
        missing = blocks_find_missing(&subnet->blocks, function->port, BLOCK_PARTITIONS);
    return !missing ? FUNCTION_DONE : missing->refused ? FUNCTION_REFUSED : FUNCTION_PENDING;
}

void functions_end_hold(struct subnet *subnet, uint32_t socket)
{
    struct virtual_function *function = functions_at(subnet, socket);
    function->held = false;
    function->order = ORDER_NONE;
    function->key_owner = 0;
    subnet->functions.holds_ended++;
}

bool functions_differ(const struct subnet *subnet, uint32_t socket, struct function_setting *wanted)
{
    const struct virtual_function *function = functions_at(subnet, socket);
    uint32_t port = subnet->ports.items[socket].peer;
    bool dynamic = subnet->functions.dynamic;
    *wanted = function->wanted;
    if (function->held)
        return function->order == ORDER_SETTING && function->outcome == FUNCTION_PENDING;
    *wanted = (struct function_setting){.attached = function->attached,
                                        .guid = function->evicted ? 0 : function->guid};
    if (function->attached)
        memcpy(wanted->name, function->name, sizeof wanted->name);
    /* With dynamic LIDs, a function without a VM has no LID. */
    if (port != SUBNET_NONE && (function->attached || !dynamic)) {
        wanted->lid = subnet->ports.items[port].lid;
        wanted->lmc = subnet->ports.items[port].lmc;
    }
    if (function->evicted || port == SUBNET_NONE)
        return function->evicted;
    return known_lid(subnet, port) != wanted->lid && (wanted->lid || dynamic);
}
