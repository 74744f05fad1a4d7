/* Chooses a hypervisor and one of its functions.
 *
 * `auto` chooses the hypervisor with the fewest VMs, then the one with the lowest LID. A VM that
 * migrates stays at its leaf switch if another hypervisor there has a free function, because fewer
 * switches change then. */
#include "vswitch/internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static const struct subnet_port *port_of(const struct vswitch *vswitch, uint32_t port)
{
    return &subnet_of(vswitch)->ports.items[port];
}

const char *vswitch_hypervisor_name(const struct vswitch *vswitch, uint32_t node)
{
    const struct subnet *subnet = subnet_of(vswitch);
    assert(node < subnet->nodes.count && subnet->nodes.items[node].vswitch);
    uint32_t pf = subnet_pf_of(subnet, node);
    const struct subnet_node *named =
        &subnet->nodes.items[pf == SUBNET_NONE ? node : port_of(vswitch, pf)->node];
    return named->description;
}

static bool hypervisor_has_guid(const struct vswitch *vswitch, uint32_t node, uint64_t guid)
{
    const struct subnet *subnet = subnet_of(vswitch);
    uint32_t pf = subnet_pf_of(subnet, node);
    return subnet->nodes.items[node].guid == guid ||
           (pf != SUBNET_NONE && (port_of(vswitch, pf)->guid == guid ||
                                  subnet->nodes.items[port_of(vswitch, pf)->node].guid == guid));
}

uint32_t placement_find(const struct vswitch *vswitch, const char *name)
{
    const struct subnet *subnet = subnet_of(vswitch);
    char *end = NULL;
    uint64_t guid = strncmp(name, "0x", 2) == 0 ? strtoull(name, &end, 16) : 0;
    bool by_guid = end && *end == 0 && guid;
    for (uint32_t node = 0; node < subnet->nodes.count; node++) {
        const struct subnet_node *n = &subnet->nodes.items[node];
        if (!n->vswitch || !n->present)
            continue;
        if (by_guid ? hypervisor_has_guid(vswitch, node, guid)
                    : strcmp(vswitch_hypervisor_name(vswitch, node), name) == 0 ||
                          strcmp(n->description, name) == 0)
            return node;
    }
    return SUBNET_NONE;
}

bool placement_is_taken(const struct vswitch *vswitch, uint32_t vf_port)
{
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        const struct operation *operation = vswitch->operations.items[i];
        if (operation->state != OPERATION_WAITING &&
            (operation->move.source == vf_port || operation->move.target == vf_port))
            return true;
    }
    return false;
}

bool placement_is_free(const struct vswitch *vswitch, uint32_t vf_port)
{
    return functions_is_free(subnet_of(vswitch), vf_port) &&
           !sm_is_avoiding_port(vswitch->sm, vf_port) && !placement_is_taken(vswitch, vf_port);
}

uint32_t placement_function(const struct vswitch *vswitch, uint32_t node)
{
    const struct subnet_node *n = &subnet_of(vswitch)->nodes.items[node];
    assert(n->vswitch);
    for (unsigned i = VSWITCH_PF + 1; n->present && i <= n->port_count; i++)
        if (placement_is_free(vswitch, n->first_port + i))
            return n->first_port + i;
    return SUBNET_NONE;
}

/* The number of VMs at a hypervisor, with those that are moving there. */
static unsigned load_of(const struct vswitch *vswitch, uint32_t node)
{
    const struct subnet_node *n = &subnet_of(vswitch)->nodes.items[node];
    unsigned load = 0;
    for (unsigned i = VSWITCH_PF + 1; i <= n->port_count; i++)
        load += functions_at(subnet_of(vswitch), n->first_port + i)->attached;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        const struct operation *operation = vswitch->operations.items[i];
        load += operation->move.target != SUBNET_NONE && operation->state != OPERATION_WAITING &&
                port_of(vswitch, operation->move.target)->node == node &&
                !functions_at(subnet_of(vswitch), operation->move.target)->attached;
    }
    return load;
}

static uint32_t leaf_of(const struct vswitch *vswitch, uint32_t node)
{
    uint32_t peer =
        port_of(vswitch, subnet_of(vswitch)->nodes.items[node].first_port + VSWITCH_UPLINK)->peer;
    return peer == SUBNET_NONE ? SUBNET_NONE : port_of(vswitch, peer)->node;
}

static uint32_t least_loaded_hypervisor(const struct vswitch *vswitch, uint32_t except,
                                        uint32_t leaf)
{
    const struct subnet *subnet = subnet_of(vswitch);
    uint32_t best = SUBNET_NONE;
    uint64_t least = UINT64_MAX;
    for (uint32_t node = 0; node < subnet->nodes.count; node++) {
        const struct subnet_node *n = &subnet->nodes.items[node];
        if (!n->vswitch || !n->present || node == except ||
            (leaf != SUBNET_NONE && leaf_of(vswitch, node) != leaf))
            continue;
        uint64_t load =
            (uint64_t)load_of(vswitch, node) << 16 | port_of(vswitch, n->first_port)->lid;
        if (load < least && placement_function(vswitch, node) != SUBNET_NONE) {
            best = node;
            least = load;
        }
    }
    return best;
}

uint32_t placement_auto(const struct vswitch *vswitch, uint32_t source)
{
    uint32_t node = source == SUBNET_NONE ? SUBNET_NONE : port_of(vswitch, source)->node;
    uint32_t leaf = node == SUBNET_NONE ? SUBNET_NONE : leaf_of(vswitch, node);
    uint32_t best =
        leaf == SUBNET_NONE ? SUBNET_NONE : least_loaded_hypervisor(vswitch, node, leaf);
    if (best == SUBNET_NONE)
        best = least_loaded_hypervisor(vswitch, node, SUBNET_NONE);
    return best == SUBNET_NONE ? SUBNET_NONE : placement_function(vswitch, best);
}
