/* Subnets are the connected components of the switches, each with the end ports at its switches. */
#include "topology/analysis/subnets.h"

uint32_t topology_subnets(const struct topology *topology, const struct graph *graph,
                          uint32_t *subnet_of)
{
    uint32_t *part = mem_alloc((graph->switch_count + 1) * sizeof *part);
    uint32_t count = graph_components(graph, NULL, 0, part);
    for (uint32_t i = 0; i < topology->ports.count; i++) {
        const struct topology_port *port = &topology->ports.items[i];
        uint32_t at = graph->switch_of[port->node];
        if (at == TOPOLOGY_NONE && port->peer != TOPOLOGY_NONE)
            at = graph->switch_of[topology->ports.items[port->peer].node];
        subnet_of[i] = at == TOPOLOGY_NONE ? TOPOLOGY_NONE : part[at];
        if (at == TOPOLOGY_NONE && port->peer != TOPOLOGY_NONE)
            subnet_of[i] = port->peer > i ? count++ : subnet_of[port->peer];
    }
    mem_free(part);
    return count;
}
