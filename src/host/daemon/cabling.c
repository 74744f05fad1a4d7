#include "host/daemon/cabling.h"

#include "subnet/names.h"
#include "topology/analysis/diff.h"
#include "topology/virtual.h"
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

void cabling_set_rate(struct topology_port *port, const struct subnet_port *from)
{
    port->width_assumed = port->speed_assumed = !from->known || !link_rate(from->info);
    port->width = width_of(link_lanes(from->info));
    port->speed = speed_of(link_lane_rate(from->info));
}

/* The subnet as a topology, without virtual switches and functions. */
static void describe_subnet(struct topology *result, const struct subnet *subnet)
{
    struct topology whole;
    struct virtual_counts counts;
    uint32_t *place = mem_alloc((subnet->nodes.count + 1) * sizeof *place);
    topology_init(&whole);
    for (uint32_t i = 0; i < subnet->nodes.count; i++) {
        const struct subnet_node *node = &subnet->nodes.items[i];
        place[i] = TOPOLOGY_NONE;
        if (!node->present || topology_add_bare_node(&whole, (enum node_kind)node->kind, NULL,
                                                     node->port_count, node->guid, &place[i], NULL))
            continue;
        whole.nodes.items[place[i]].device_id = node->device;
        topology_set_description(&whole, place[i], node->description,
                                 strnlen(node->description, TOPOLOGY_DESCRIPTION_BYTES));
    }
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        const struct subnet_port *port = &subnet->ports.items[i];
        if (port->peer == SUBNET_NONE || port->peer < i || place[port->node] == TOPOLOGY_NONE)
            continue;
        const struct subnet_port *peer = &subnet->ports.items[port->peer];
        if (place[peer->node] == TOPOLOGY_NONE)
            continue;
        uint32_t a = topology_port_index(&whole, place[port->node], port->number);
        uint32_t b = topology_port_index(&whole, place[peer->node], peer->number);
        if (topology_link(&whole, a, b, NULL) == 0) {
            cabling_set_rate(&whole.ports.items[a], port);
            cabling_set_rate(&whole.ports.items[b], port);
        }
    }
    topology_init(result);
    topology_without_functions(result, &whole, &counts);
    topology_release(&whole);
    mem_free(place);
}

/* The port of the subnet that corresponds to a port of a topology, also of a node that is gone; by
 * description, else by GUID. SUBNET_NONE: there is none. */
static uint32_t port_in_subnet(const struct subnet *subnet, const struct topology *topology,
                               uint32_t port)
{
    const struct topology_node *node = &topology->nodes.items[topology->ports.items[port].node];
    unsigned number = topology_port_number(topology, port);
    uint32_t found = node->description ? subnet_find_node(subnet, node->description) : SUBNET_NONE;
    if (found == SUBNET_NONE)
        found = map_get(&subnet->by_guid, node->guid);
    return found < subnet->nodes.count && number <= subnet->nodes.items[found].port_count
               ? subnet->nodes.items[found].first_port + number
               : SUBNET_NONE;
}

/* Whether a listed problem explains a missing node or cable, or a wrong rate. */
static bool is_explained(const struct topology_diff *diff,
                         const struct topology_difference *difference, const struct subnet *subnet,
                         const struct problems *problems)
{
    const struct topology *plan = diff->plan;
    uint32_t port = difference->planned[0];
    const struct topology_node *node = NULL;
    switch (difference->kind) {
    case DIFFERENCE_NODE_MISSING:
        node = &plan->nodes.items[plan->ports.items[port].node];
        for (unsigned number = 1; number <= node->port_count; number++)
            if (problems_is_explained(problems,
                                      port_in_subnet(subnet, plan, node->first_port + number)))
                return true;
        return false;
    case DIFFERENCE_CABLE_MISSING:
        return problems_is_explained(problems, port_in_subnet(subnet, plan, port)) ||
               problems_is_explained(problems,
                                     port_in_subnet(subnet, plan, plan->ports.items[port].peer));
    case DIFFERENCE_RATE:
        return problems_is_explained(problems,
                                     port_in_subnet(subnet, diff->actual, difference->actual[0]));
    default: return false;
    }
}

void cabling_list_problems(const struct topology *plan, const struct subnet *subnet,
                           struct problems *problems)
{
    struct topology actual;
    struct topology_diff diff;
    describe_subnet(&actual, subnet);
    topology_diff(&diff, plan, &actual);
    for (size_t i = 0; i < diff.items.count; i++) {
        struct text text = {0};
        if (is_explained(&diff, &diff.items.items[i], subnet, problems))
            continue;
        topology_diff_print(&diff, &diff.items.items[i], &text);
        problems_add_object(problems, PROBLEM_WRONG_CABLE,
                            difference_kind_name(diff.items.items[i].kind), "%s", text.data);
        text_release(&text);
    }
    topology_diff_release(&diff);
    topology_release(&actual);
}
