/* A subnet as a topology: of the page, and for the comparison with a plan. */
#include "host/manager_view/manager_page.h"
#include "subnet/names.h"
#include "wire/link_rate.h"

#include <string.h>

static uint8_t width_of(unsigned lanes)
{
    static const uint8_t widths[] = {WIDTH_1X, WIDTH_2X, WIDTH_4X, WIDTH_8X, WIDTH_12X};
    for (size_t i = 0; i < sizeof widths; i++)
        if (link_width_multiple(widths[i]) == lanes)
            return widths[i];
    return WIDTH_4X;
}

static uint8_t speed_of(uint32_t lane_rate)
{
    const char *name = link_lane_rate_name(lane_rate);
    for (unsigned speed = SPEED_SDR; speed <= SPEED_XDR; speed++)
        if (strcmp(link_speed_name(speed), name) == 0)
            return (uint8_t)speed;
    return SPEED_SDR;
}

static void set_rate(struct topology_port *port, const struct subnet_port *from)
{
    port->width_assumed = port->speed_assumed = !from->known || !link_rate(from->info);
    port->width = width_of(link_lanes(from->info));
    port->speed = speed_of(link_lane_rate(from->info));
}

void subnet_describe(const struct subnet *subnet, bool past, struct topology *topology)
{
    uint32_t *place = mem_alloc((subnet->nodes.count + 1) * sizeof *place);
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        const char *label = past ? subnet_node_label(subnet, node) : node->description;
        place[i] = TOPOLOGY_NONE;
        if (map_get(&subnet->by_guid, node->guid) != i || (!past && !node->present) ||
            topology_add_bare_node(topology, (enum node_kind)node->kind, NULL, node->port_count,
                                   node->guid, &place[i], NULL))
            continue; /* an older row of the same node, or it is gone */
        topology->nodes.items[place[i]].device_id = node->device;
        topology_set_description(topology, place[i], label,
                                 strnlen(label, TOPOLOGY_DESCRIPTION_BYTES));
    }
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        uint32_t other = past ? subnet_last_neighbor(subnet, i) : port->peer;
        if (other == SUBNET_NONE || other < i || place[port->node] == TOPOLOGY_NONE ||
            place[subnet->ports.items[other].node] == TOPOLOGY_NONE)
            continue;
        const struct subnet_port *peer = &subnet->ports.items[other];
        uint32_t a = topology_port_index(topology, place[port->node], port->number);
        uint32_t b = topology_port_index(topology, place[peer->node], peer->number);
        if (topology_link(topology, a, b, NULL) == 0) {
            set_rate(&topology->ports.items[a], port);
            set_rate(&topology->ports.items[b], port);
        }
    }
    mem_free(place);
}
