/* Decides which of two functions keeps a VM, by following the confirmed LFTs from the manager, and
 * gives out LIDs: shared ones for vSwitches, free ranges for VMs. */
#include "vswitch/model/addresses.h"

#include <assert.h>

enum { TOP_STEP = 1024 };

/* ---- VMs at two functions ---- */

/* Follows the LFTs from the manager to a LID. Returns the port behind the last switch, or
 * SUBNET_NONE. */
static uint32_t follow_tables(const struct subnet *subnet, unsigned lid)
{
    uint32_t port = subnet->ports.items[subnet->own_port].peer;
    if (lid >= LFT_ENTRIES)
        return SUBNET_NONE;
    for (unsigned hops = 0; port != SUBNET_NONE && hops < SMP_MAX_HOPS; hops++) {
        const struct subnet_port *p = &subnet->ports.items[port];
        const struct subnet_node *node = &subnet->nodes.items[p->node];
        if (node->vswitch && p->number != VSWITCH_UPLINK && hops == 0) {
            port = subnet->ports.items[node->first_port + VSWITCH_UPLINK].peer; /* of the manager */
            continue;
        }
        if (!node->tables)
            return port;
        unsigned out = subnet_actual_port(node->tables, lid);
        if (!subnet_block_known(node->tables, lid / LFT_BLOCK) || out == 0 ||
            out > node->port_count)
            return SUBNET_NONE;
        port = subnet->ports.items[node->first_port + out].peer;
    }
    return SUBNET_NONE;
}

static void evict(struct subnet *subnet, uint32_t vf_port)
{
    uint32_t port = subnet->ports.items[vf_port].peer;
    functions_evict(subnet, vf_port);
    if (subnet->functions.dynamic) {
        functions_set_down(subnet, vf_port);
        return;
    }
    if (port == SUBNET_NONE)
        return;
    /* The other function has the LID of the VM. */
    subnet_set_lid(subnet, port, 0, 0);
    wire_set(subnet->ports.items[port].info, PORT_INFO_LID, 0);
    subnet->ports.items[port].guid = 0;
    subnet->ports.items[port].known = false;
}

/* True if the LFTs lead to the second function of a VM, and the first has no wanted LID yet. */
static bool is_second_in_use(const struct subnet *subnet, uint32_t first, uint32_t second)
{
    uint32_t settled = subnet->ports.items[first].peer, other = subnet->ports.items[second].peer;
    if (other == SUBNET_NONE || (settled != SUBNET_NONE && subnet->ports.items[settled].lid))
        return false;
    unsigned lid = (unsigned)wire_get(subnet->ports.items[other].info, PORT_INFO_LID);
    uint32_t end = follow_tables(subnet, lid);
    return end != SUBNET_NONE && subnet->ports.items[end].node == subnet->ports.items[second].node;
}

/* Returns the VF port that is evicted, or SUBNET_NONE. */
static uint32_t evict_one(struct subnet *subnet, uint32_t second)
{
    const struct virtual_function *function = functions_at(subnet, second);
    uint32_t first = functions_find_vm(subnet, function->guid);
    if (!function->attached || first == SUBNET_NONE || first == second)
        return SUBNET_NONE; /* it is resolved already */
    if (!subnet_is_present(subnet, first)) {
        map_set(&subnet->functions.machines, function->guid, second);
        return SUBNET_NONE;
    }
    if (!subnet_is_present(subnet, second))
        return SUBNET_NONE;
    bool second_wins = is_second_in_use(subnet, first, second);
    map_set(&subnet->functions.machines, function->guid, second_wins ? second : first);
    evict(subnet, second_wins ? first : second);
    return second_wins ? first : second;
}

uint32_t addresses_evict_next(struct subnet *subnet)
{
    struct virtual_functions *functions = &subnet->functions;
    uint32_t evicted = SUBNET_NONE;
    while (functions->contested.count && evicted == SUBNET_NONE)
        evicted = evict_one(subnet, functions->contested.items[--functions->contested.count]);
    return evicted;
}

/* ---- LIDs ---- */

/* While its physical function is gone, a vSwitch keeps the LID that it has, unless a port got it:
 * it sends traps from this LID, to the manager that was last written there. */
static uint16_t kept_lid(const struct subnet *subnet, const struct subnet_port *own)
{
    unsigned lid = (unsigned)wire_get(own->info, PORT_INFO_LID);
    uint32_t port = lid && lid <= LID_UNICAST_LAST ? subnet->by_lid[lid] : SUBNET_NONE;
    bool taken = port != SUBNET_NONE && subnet->nodes.items[subnet->ports.items[port].node].present;
    return lid > LID_UNICAST_LAST || taken ? 0 : (uint16_t)lid;
}

void addresses_share(struct subnet *subnet)
{
    for (uint32_t node = 0; node < subnet->nodes.count; node++) {
        if (!subnet->nodes.items[node].vswitch || !subnet->nodes.items[node].present)
            continue;
        uint32_t pf = subnet_pf_of(subnet, node);
        struct subnet_port *own = subnet_port_at(subnet, node, 0);
        own->lid = pf == SUBNET_NONE ? kept_lid(subnet, own) : subnet->ports.items[pf].lid;
        own->lmc = 0;
    }
}

uint16_t addresses_table_top(const struct subnet *subnet, const struct subnet_node *node)
{
    unsigned used = node->tables->wanted_top, top = used;
    unsigned capacity = (unsigned)wire_get(node->switch_info, SWITCH_INFO_LINEAR_FDB_CAP);
    if (subnet->functions.dynamic && subnet->functions.rows.count)
        top = (used / TOP_STEP + 2) * TOP_STEP - 1;
    if (top > LID_UNICAST_LAST)
        top = LID_UNICAST_LAST;
    if (capacity && top >= capacity)
        top = capacity - 1; /* a switch rejects a higher value */
    return (uint16_t)top;
}

static uint16_t next_free(const struct subnet *subnet, uint16_t *next, bool reserved_too)
{
    unsigned lmc = subnet->functions.lmc, span = 1u << lmc;
    assert(lmc <= 7);
    for (unsigned tries = LID_UNICAST_LAST / span; tries; tries--) {
        unsigned lid = *next && *next + span - 1 <= LID_UNICAST_LAST ? *next : span;
        *next = (uint16_t)(lid + span);
        if (subnet_lid_range_free(subnet, SUBNET_NONE, lid, lmc) &&
            (reserved_too || !subnet_lid_range_reserved(subnet, lid, lmc)))
            return (uint16_t)lid;
    }
    return 0;
}

uint16_t addresses_next_free(const struct subnet *subnet, uint16_t *next)
{
    uint16_t lid = next_free(subnet, next, false);
    return lid ? lid : next_free(subnet, next, true);
}

void addresses_remove_vm(struct subnet *subnet, uint64_t guid)
{
    uint32_t vf_port = functions_find_vm(subnet, guid);
    if (vf_port == SUBNET_NONE)
        return;
    map_remove(&subnet->functions.machines, guid);
    functions_at(subnet, vf_port)->attached = false;
    if (subnet->functions.dynamic)
        functions_set_down(subnet, vf_port);
}
