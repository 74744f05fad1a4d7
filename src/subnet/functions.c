/* Translates between the attribute VirtualFunction and the subnet: a report of a vSwitch becomes a
 * node with a port, whose settings are copied from the PF, and LIDs and requests become the setting
 * that is to be written. */
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
            ((struct virtual_function){.vf_port = node->first_port + number, .port = SUBNET_NONE}));
    }
}

struct virtual_function *functions_at(const struct subnet *subnet, uint32_t vf_port)
{
    if (!subnet_is_vf_port(subnet, vf_port))
        return NULL;
    return &subnet->functions.rows.items[subnet->ports.items[vf_port].function];
}

uint32_t functions_port(const struct subnet *subnet, uint32_t vf_port)
{
    return vf_port == SUBNET_NONE ? SUBNET_NONE : functions_at(subnet, vf_port)->port;
}

struct virtual_function *functions_of_port(const struct subnet *subnet, uint32_t port)
{
    uint32_t vf_port = subnet_vf_port_of(subnet, port);
    return vf_port == SUBNET_NONE ? NULL : functions_at(subnet, vf_port);
}

uint32_t functions_find_vm(const struct subnet *subnet, uint64_t guid)
{
    uint32_t vf_port = map_get(&subnet->functions.machines, guid);
    return vf_port == MAP_NONE ? SUBNET_NONE : vf_port;
}

static uint32_t vswitch_of(const struct subnet *subnet, uint32_t vf_port)
{
    return subnet->ports.items[vf_port].node;
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

bool functions_is_free(const struct subnet *subnet, uint32_t vf_port)
{
    const struct virtual_function *function = functions_at(subnet, vf_port);
    return subnet->ports.items[vf_port].known && subnet_is_present(subnet, vf_port) &&
           !function->attached && !function->held && !function->writing && !function->evicted &&
           functions_pf_is_ready(subnet, vswitch_of(subnet, vf_port));
}

bool functions_is_busy(const struct subnet *subnet, uint32_t vf_port)
{
    const struct virtual_function *function = functions_at(subnet, vf_port);
    return function->writing ||
           (function->port != SUBNET_NONE &&
            blocks_are_writing(&subnet->blocks, function->port, BLOCK_PARTITIONS));
}

/* ---- nodes and ports of functions ---- */

/* Adds a node for the function and links it to the VF port. */
static uint32_t add_function_node(struct subnet *subnet, uint32_t vf_port, uint64_t node_guid)
{
    uint32_t node = subnet_add_node(subnet, node_guid, SUBNET_ADAPTER, 1);
    if (node == SUBNET_NONE)
        return SUBNET_NONE;
    struct subnet_node *own = &subnet->nodes.items[node];
    const struct subnet_node *host = &subnet->nodes.items[vswitch_of(subnet, vf_port)];
    uint32_t port = own->first_port + 1;
    own->system_guid = host->system_guid;
    own->vendor = host->vendor;
    own->revision = host->revision;
    own->partition_cap = host->partition_cap;
    subnet_link(subnet, vf_port, port);
    subnet->ports.items[port].via = vf_port;
    subnet->ports.items[port].hops = (uint8_t)(subnet->ports.items[host->first_port].hops + 1);
    functions_at(subnet, vf_port)->port = port;
    own->virtual_function = true;
    return port;
}

void functions_set_down(struct subnet *subnet, uint32_t vf_port)
{
    assert(subnet_is_vf_port(subnet, vf_port));
    uint32_t port = functions_at(subnet, vf_port)->port;
    wire_set(subnet->ports.items[vf_port].info, PORT_INFO_PORT_STATE, PORT_STATE_DOWN);
    if (port == SUBNET_NONE)
        return;
    subnet_set_lid(subnet, port, 0, 0);
    if (subnet->ports.items[vf_port].peer == port)
        subnet_remove_node(subnet, subnet->ports.items[port].node);
}

static void copy_vf_port_settings(struct subnet *subnet, uint32_t vf_port)
{
    struct subnet_port *switch_port = &subnet->ports.items[vf_port];
    memcpy(switch_port->info, subnet_port_at(subnet, vswitch_of(subnet, vf_port), VSWITCH_PF)->info,
           sizeof switch_port->info);
    wire_set(switch_port->info, PORT_INFO_LOCAL_PORT_NUM, switch_port->number);
    wire_set(switch_port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
}

/* The manager runs at this function and has read its port itself. */
static void adopt_own_function(struct subnet *subnet, uint32_t vf_port)
{
    uint32_t port = subnet->ports.items[vf_port].peer;
    functions_at(subnet, vf_port)->port = port;
    subnet->nodes.items[subnet->ports.items[port].node].virtual_function = true;
    copy_vf_port_settings(subnet, vf_port);
}

static void copy_pf_settings(struct subnet *subnet, uint32_t vf_port)
{
    uint32_t host = vswitch_of(subnet, vf_port), pf = subnet_pf_of(subnet, host);
    struct subnet_port *switch_port = &subnet->ports.items[vf_port];
    struct subnet_port *port = &subnet->ports.items[switch_port->peer];
    if (pf == SUBNET_NONE || !subnet->ports.items[pf].known)
        return;
    if (port->known) {
        adopt_own_function(subnet, vf_port);
        return;
    }
    uint64_t lid = wire_get(port->info, PORT_INFO_LID), lmc = wire_get(port->info, PORT_INFO_LMC);
    memcpy(port->info, subnet->ports.items[pf].info, sizeof port->info);
    wire_set(port->info, PORT_INFO_LID, lid);
    wire_set(port->info, PORT_INFO_LMC, lmc);
    wire_set(port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    port->known = true;
    copy_vf_port_settings(subnet, vf_port);
    struct subnet_node *own = &subnet->nodes.items[port->node];
    const struct subnet_node *physical = &subnet->nodes.items[subnet->ports.items[pf].node];
    char name[sizeof own->description];
    memcpy(name, physical->description, sizeof name);
    snprintf(own->description, sizeof own->description, "%.58s-vf%u", name,
             switch_port->number - VSWITCH_PF);
    own->partition_cap = physical->partition_cap;
    own->device = physical->device;
}

/* True if the PortInfo of the function, or of its VF port, has not been filled in. */
static bool lacks_pf_settings(const struct subnet *subnet, uint32_t vf_port)
{
    uint32_t port = subnet->ports.items[vf_port].peer;
    return !subnet->ports.items[port].known || functions_at(subnet, vf_port)->port == SUBNET_NONE;
}

void functions_copy_pf_settings(struct subnet *subnet)
{
    for (size_t i = 0; i < subnet->functions.rows.count; i++) {
        uint32_t vf_port = subnet->functions.rows.items[i].vf_port;
        uint32_t port = subnet->ports.items[vf_port].peer;
        if (port != SUBNET_NONE && lacks_pf_settings(subnet, vf_port) && known_lid(subnet, port))
            copy_pf_settings(subnet, vf_port);
    }
}

/* ---- virtual machines ---- */

static bool has_machine(const struct subnet *subnet, uint32_t vf_port, uint64_t guid)
{
    const struct virtual_function *function = functions_at(subnet, vf_port);
    return function->attached && function->guid == guid;
}

static void update_machine(struct subnet *subnet, uint32_t vf_port, uint64_t guid, bool attached)
{
    struct virtual_functions *functions = &subnet->functions;
    struct virtual_function *function = functions_at(subnet, vf_port);
    if (function->attached && (!attached || function->guid != guid) &&
        functions_find_vm(subnet, function->guid) == vf_port) {
        map_remove(&functions->machines, function->guid);
        for (size_t i = 0; i < functions->contested.count; i++) {
            uint32_t other = functions->contested.items[i];
            if (other != vf_port && has_machine(subnet, other, function->guid))
                map_set(&functions->machines, function->guid, other);
        }
    }
    functions->reports += function->attached != attached || function->guid != guid;
    function->attached = attached;
    function->guid = guid;
    if (!attached)
        return;
    uint32_t other = functions_find_vm(subnet, guid);
    if (other != SUBNET_NONE && other != vf_port && has_machine(subnet, other, guid) &&
        !function->held && !functions_at(subnet, other)->held && subnet_is_present(subnet, other))
        vec_push(&functions->contested, vf_port);
    else
        map_set(&functions->machines, guid, vf_port);
}

/* ---- known state ---- */

bool functions_update_known(struct subnet *subnet, uint32_t vf_port, const uint8_t *data)
{
    assert(subnet_is_vf_port(subnet, vf_port));
    unsigned lid = (unsigned)wire_get(data, VIRTUAL_FUNCTION_LID);
    uint64_t guid = wire_get(data, VIRTUAL_FUNCTION_PORT_GUID);
    bool dynamic = subnet->functions.dynamic;
    subnet->functions.reports += !subnet->ports.items[vf_port].known;
    subnet->ports.items[vf_port].known = true;
    update_machine(subnet, vf_port, guid, wire_get(data, VIRTUAL_FUNCTION_ATTACHED));
    /* A name that another manager or an agent has written may have any bytes. */
    struct virtual_function *function = functions_at(subnet, vf_port);
    const uint8_t *name = wire_bytes_const(data, VIRTUAL_FUNCTION_NAME);
    memset(function->name, 0, sizeof function->name);
    for (unsigned i = 0; function->attached && i < VSWITCH_NAME_BYTES && name[i]; i++)
        function->name[i] = (char)(name[i] < ' ' || name[i] == 0x7f ? '?' : name[i]);
    if (lid > LID_UNICAST_LAST)
        lid = 0;
    if (lid == 0 && dynamic && !functions_at(subnet, vf_port)->held) {
        functions_set_down(subnet, vf_port);
        return true;
    }
    uint32_t port = subnet->ports.items[vf_port].peer;
    if (port == SUBNET_NONE && (lid || !dynamic)) {
        port = add_function_node(subnet, vf_port, wire_get(data, VIRTUAL_FUNCTION_NODE_GUID));
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
    else if (lacks_pf_settings(subnet, vf_port))
        copy_pf_settings(subnet, vf_port);
    return true;
}

/* ---- wanted state ---- */

void functions_hold(struct subnet *subnet, uint32_t vf_port)
{
    functions_at(subnet, vf_port)->held = true;
}

void functions_evict(struct subnet *subnet, uint32_t vf_port)
{
    struct virtual_function *function = functions_at(subnet, vf_port);
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

void functions_want(struct subnet *subnet, uint32_t vf_port, const struct function_setting *wanted)
{
    struct virtual_function *function = functions_at(subnet, vf_port);
    assert(!function->writing);
    functions_hold(subnet, vf_port);
    function->order = ORDER_SETTING;
    function->outcome = FUNCTION_PENDING;
    function->wanted = *wanted;
    function->wanted.lmc = wanted->lid ? subnet->functions.lmc : 0;
}

void functions_want_keys(struct subnet *subnet, uint32_t vf_port, uint64_t guid)
{
    struct virtual_function *function = functions_at(subnet, vf_port);
    assert(function->held);
    function->order = ORDER_KEYS;
    function->outcome = FUNCTION_PENDING;
    function->key_owner = guid;
}

enum function_outcome functions_outcome(const struct subnet *subnet, uint32_t vf_port)
{
    const struct virtual_function *function = functions_at(subnet, vf_port);
    if (function->order != ORDER_KEYS)
        return function->outcome;
    if (function->port == SUBNET_NONE || !subnet_is_present(subnet, function->port) ||
        !subnet_is_present(subnet, vf_port))
        return FUNCTION_LOST;
    if (function->outcome != FUNCTION_DONE)
        return function->outcome;
    const struct block *missing = blocks_find_missing(&subnet->blocks, vf_port, BLOCK_PARTITIONS);
    if (!missing)
        missing = blocks_find_missing(&subnet->blocks, function->port, BLOCK_PARTITIONS);
    return !missing ? FUNCTION_DONE : missing->refused ? FUNCTION_REFUSED : FUNCTION_PENDING;
}

void functions_end_hold(struct subnet *subnet, uint32_t vf_port)
{
    struct virtual_function *function = functions_at(subnet, vf_port);
    function->held = false;
    function->order = ORDER_NONE;
    function->key_owner = 0;
    subnet->functions.holds_ended++;
}

bool functions_differ(const struct subnet *subnet, uint32_t vf_port,
                      struct function_setting *wanted)
{
    const struct virtual_function *function = functions_at(subnet, vf_port);
    uint32_t port = subnet->ports.items[vf_port].peer;
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
