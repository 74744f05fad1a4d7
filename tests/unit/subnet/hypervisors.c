#include "hypervisors.h"

#include <stdio.h>

enum { SWITCH_GUID = 0x10, MANAGER_GUID = 0x20, VSWITCH_GUID = 0x1000, PF_GUID = 0x2000 };

static uint32_t add_adapter(struct subnet *subnet, uint64_t guid, uint32_t beside, uint16_t lid)
{
    uint32_t node = subnet_add_node(subnet, guid, SUBNET_ADAPTER, 1);
    struct subnet_port *port = subnet_port_at(subnet, node, 1);
    port->guid = guid;
    port->known = true;
    wire_set(port->info, PORT_INFO_LID, lid);
    wire_set(port->info, PORT_INFO_PORT_STATE, PORT_STATE_ACTIVE);
    wire_set(port->info, PORT_INFO_MASTER_SM_LID, MANAGER_LID);
    subnet_set_lid(subnet, subnet->nodes.items[node].first_port + 1, lid, 0);
    subnet_link(subnet, beside, subnet->nodes.items[node].first_port + 1);
    return node;
}

static void add_hypervisor(struct subnet *subnet, unsigned host)
{
    uint32_t node = subnet_add_node(subnet, VSWITCH_GUID + host, SUBNET_SWITCH, VSWITCH_PF + VFS);
    subnet_mark_vswitch(subnet, node);
    subnet_link(subnet, subnet->nodes.items[0].first_port + host + 1,
                subnet->nodes.items[node].first_port + VSWITCH_UPLINK);
    uint32_t pf =
        add_adapter(subnet, PF_GUID + host, subnet->nodes.items[node].first_port + VSWITCH_PF,
                    (uint16_t)(PF_LID + host));
    snprintf(subnet->nodes.items[pf].description, sizeof subnet->nodes.items[pf].description,
             "host%u", host);
}

void hypervisors_init(struct subnet *subnet, bool dynamic)
{
    subnet_init(subnet);
    subnet->functions.dynamic = dynamic;
    uint32_t node = subnet_add_node(subnet, SWITCH_GUID, SUBNET_SWITCH, MANAGER_AT);
    subnet_set_lid(subnet, subnet->nodes.items[node].first_port, SWITCH_LID, 0);
    uint32_t manager = add_adapter(subnet, MANAGER_GUID,
                                   subnet->nodes.items[node].first_port + MANAGER_AT, MANAGER_LID);
    subnet->own_port = subnet->nodes.items[manager].first_port + 1;
    for (unsigned host = 0; host < HYPERVISORS; host++)
        add_hypervisor(subnet, host);
}

uint32_t hypervisors_switch(const struct subnet *subnet)
{
    return map_get(&subnet->by_guid, SWITCH_GUID);
}

uint32_t hypervisors_node(const struct subnet *subnet, unsigned host)
{
    return map_get(&subnet->by_guid, VSWITCH_GUID + host);
}

uint32_t hypervisors_vf_port(const struct subnet *subnet, unsigned host, unsigned vf)
{
    return subnet->nodes.items[hypervisors_node(subnet, host)].first_port + VSWITCH_PF + vf;
}

uint64_t hypervisors_guid(unsigned host, unsigned vf)
{
    return UINT64_C(0x30000) + host * 16 + vf;
}

bool hypervisors_answer(struct subnet *subnet, unsigned host, unsigned vf, uint16_t lid,
                        uint64_t machine)
{
    uint8_t data[SMP_DATA_BYTES] = {0};
    wire_set(data, VIRTUAL_FUNCTION_LID, lid);
    wire_set(data, VIRTUAL_FUNCTION_ATTACHED, machine != 0);
    wire_set(data, VIRTUAL_FUNCTION_PORT_GUID, machine ? machine : hypervisors_guid(host, vf));
    wire_set(data, VIRTUAL_FUNCTION_NODE_GUID, hypervisors_guid(host, vf));
    return functions_update_known(subnet, hypervisors_vf_port(subnet, host, vf), data);
}

uint16_t hypervisors_lid(unsigned host, unsigned vf)
{
    return (uint16_t)(PF_LID + HYPERVISORS + host * VFS + vf - 1);
}

void hypervisors_populate(struct subnet *subnet)
{
    for (unsigned host = 0; host < HYPERVISORS; host++)
        for (unsigned vf = 1; vf <= VFS; vf++) {
            uint16_t lid = hypervisors_lid(host, vf);
            hypervisors_answer(subnet, host, vf, lid, 0);
            subnet_set_lid(subnet, functions_port(subnet, hypervisors_vf_port(subnet, host, vf)),
                           lid, 0);
        }
}
