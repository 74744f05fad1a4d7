/* Virtual functions (VFs) at a shared port, as in section IV-A of "Towards the InfiniBand SR-IOV
 * vSwitch Architecture".
 *
 * The adapter is one node with one LID. Its VFs use the link, the LID and the P_Keys of its port
 * (topology_share_ports() makes such adapters), and each has a GUID of its own, an entry of the
 * port's GUID table. QP0 belongs to the physical function: an SMP that a VF posts is discarded.
 * QP1 of a VF is a proxy: the adapter sends the request from its own QP1 and hands the answer to
 * the VF that sent the request, found by its transaction ID. Unsolicited MADs reach the physical
 * function only. */
#include "fabric/internal.h"

#include <assert.h>

static bool is_virtual(const struct topology_port *port)
{
    return port->shares != TOPOLOGY_NONE && port->function != 0;
}

uint32_t shared_physical_port(const struct fabric *fabric, uint32_t port)
{
    const struct topology_port *described = &fabric->topology->ports.items[port];
    return is_virtual(described) ? described->shares : port;
}

uint32_t shared_send(struct fabric *fabric, uint32_t port, const uint8_t mad[MAD_BYTES])
{
    uint32_t physical = shared_physical_port(fabric, port);
    if (physical == port)
        return port;
    if (mad_is_smp(mad)) {
        fabric->totals.smps_barred++;
        return NONE;
    }
    map_set(&fabric->proxied, wire_get(mad, MAD_TID), port);
    return physical;
}

uint32_t shared_receiver(struct fabric *fabric, uint32_t port, const uint8_t mad[MAD_BYTES])
{
    if (!fabric->proxied.count || mad_is_smp(mad))
        return port;
    uint64_t tid = wire_get(mad, MAD_TID);
    uint32_t function = map_get(&fabric->proxied, tid);
    if (function == MAP_NONE || shared_physical_port(fabric, function) != port)
        return port;
    map_remove(&fabric->proxied, tid);
    return function;
}

static void set_alias(struct fabric *fabric, uint32_t port)
{
    const struct topology_port *described = &fabric->topology->ports.items[port];
    const struct port *physical = &fabric->ports[described->shares];
    sma_set_alias_guid(&fabric->nodes[physical->node].sma, physical->number, described->function,
                       fabric_port_guid(fabric, port, 0));
}

void shared_join(struct fabric *fabric, uint32_t node)
{
    for (uint32_t port = 0; port < fabric->port_count; port++) {
        const struct topology_port *described = &fabric->topology->ports.items[port];
        if (is_virtual(described) &&
            (node == NONE || fabric->topology->ports.items[described->shares].node == node))
            set_alias(fabric, port);
    }
}

void fabric_set_function_guid(struct fabric *fabric, uint32_t port, uint64_t guid)
{
    const struct topology_port *described = &fabric->topology->ports.items[port];
    assert(is_virtual(described));
    sma_set_port_guid(&node_of(fabric, port)->sma, fabric->ports[port].number,
                      guid ? guid : described->guid);
    set_alias(fabric, port);
}
