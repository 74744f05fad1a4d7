/* Maps vSwitches to terminals when a network is built, and moves or drops single terminals when a
 * VM starts, stops or migrates, so that the network need not be built again. */
#include "vswitch/model/terminals.h"

#include <assert.h>

bool terminals_add(struct network *network, const struct subnet *subnet, uint32_t at,
                   unsigned number, uint32_t uplink)
{
    const struct subnet_node *node = &subnet->nodes.items[subnet->ports.items[uplink].node];
    uint32_t beside = NETWORK_NONE;
    if (!node->vswitch)
        return false;
    for (unsigned i = VSWITCH_PF; i <= node->port_count; i++) {
        uint32_t port = subnet->ports.items[node->first_port + i].peer;
        if (port == SUBNET_NONE || (!subnet->ports.items[port].lid && i != VSWITCH_PF))
            continue;
        const struct subnet_port *p = &subnet->ports.items[port];
        uint32_t terminal = beside == NETWORK_NONE
                                ? network_add_terminal(network, p->guid, p->lid, p->lmc, at, number)
                                : network_share_terminal(network, p->guid, p->lid, p->lmc, beside);
        if (terminal == NETWORK_NONE)
            continue;
        beside = terminal;
        network_name(network, terminal, subnet->nodes.items[p->node].description);
        if (port == subnet->own_port)
            network->manager = at;
    }
    return true;
}

static uint32_t terminal_of(const struct network *network, unsigned lid)
{
    uint32_t owner = lid && lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
    return owner == NETWORK_NONE || owner & NETWORK_SWITCH ? NETWORK_NONE : owner;
}

void terminals_place(struct network *network, const struct subnet *subnet, uint32_t port,
                     enum terminals_missing missing)
{
    const struct subnet_port *p = &subnet->ports.items[port];
    assert(p->peer != SUBNET_NONE);
    uint32_t pf = subnet_pf_of(subnet, subnet->ports.items[p->peer].node);
    uint32_t beside =
        pf == SUBNET_NONE ? NETWORK_NONE : terminal_of(network, subnet->ports.items[pf].lid);
    uint32_t terminal = terminal_of(network, p->lid);
    if (beside == NETWORK_NONE || (terminal == NETWORK_NONE && missing == TERMINALS_LEAVE))
        return;
    if (terminal == NETWORK_NONE)
        terminal = network_join_terminal(network, p->guid, p->lid, p->lmc, beside);
    else if (network->terminals.items[terminal].at != network->terminals.items[beside].at ||
             network->terminals.items[terminal].port != network->terminals.items[beside].port)
        network_move_terminal(network, terminal, beside);
    if (terminal == NETWORK_NONE)
        return;
    network->terminals.items[terminal].guid = p->guid;
    network_name(network, terminal, subnet->nodes.items[p->node].description);
}

void terminals_drop(struct network *network, unsigned lid)
{
    uint32_t terminal = terminal_of(network, lid);
    if (terminal != NETWORK_NONE)
        network_drop_terminal(network, terminal);
}
