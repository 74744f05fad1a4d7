/* The tables that are really in the switches, given to the independent check of src/routing.
 *
 * Traffic is taken to go to the base LID of each port, which every engine serves for all sources;
 * the further LIDs that destination renaming gives to some pairs are checked for holes by the same
 * walk, but which pair uses which is the manager's secret. */
#include "experiment/checks_tables.h"

#include "routing/verify.h"

static void add_switches(const struct part *part, struct network *network, uint32_t *index)
{
    for (uint32_t i = 0; i < part->topology->nodes.count; i++) {
        const struct topology_node *node = &part->topology->nodes.items[i];
        index[i] = NETWORK_NONE;
        if (node->kind != NODE_SWITCH || !part->has[node->first_port])
            continue;
        index[i] = network_add_switch(
            network, node->guid, (uint16_t)part_field(part, node->first_port, PORT_INFO_LID),
            (uint8_t)part_field(part, node->first_port, PORT_INFO_LMC), node->port_count);
        network_name(network, index[i] | NETWORK_SWITCH, node_label(part->topology, i));
    }
}

static void add_links(const struct part *part, struct network *network, const uint32_t *index)
{
    const struct topology *topology = part->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = part_peer(part, port);
        if (!part_is_switch(part, port) || peer == TOPOLOGY_NONE)
            continue;
        uint32_t at = index[topology->ports.items[port].node];
        unsigned number = topology_port_number(topology, port);
        if (part_is_switch(part, peer)) {
            if (port < peer)
                network_link(network, at, number, index[topology->ports.items[peer].node],
                             topology_port_number(topology, peer));
            continue;
        }
        uint32_t terminal =
            network_add_terminal(network, topology->ports.items[peer].guid,
                                 (uint16_t)part_field(part, peer, PORT_INFO_LID),
                                 (uint8_t)part_field(part, peer, PORT_INFO_LMC), at, number);
        network_name(network, terminal, part_node_name(part, peer));
    }
}

static void copy_tables(const struct part *part, struct routes *routes, const uint32_t *index)
{
    for (uint32_t i = 0; i < part->topology->nodes.count; i++) {
        unsigned top = 0;
        if (index[i] == NETWORK_NONE)
            continue;
        const uint8_t *table = fabric_linear_table(part->view->fabric, i, &top);
        for (unsigned lid = 1; table && lid <= top && lid < routes->stride; lid++)
            routes_row(routes, index[i])[lid] = table[lid];
    }
}

/* Looks at the tables and at one of the two questions; the finding is the verifier's own. */
static bool verify_part(struct part *part, bool deadlock)
{
    struct network network;
    struct routes routes;
    struct verify_report report;
    uint32_t *index = mem_alloc((part->topology->nodes.count + 1) * sizeof *index);
    network_init(&network);
    add_switches(part, &network, index);
    add_links(part, &network, index);
    bool overlap = network_finish(&network) != 0;
    routes_init(&routes, &network, "live");
    copy_tables(part, &routes, index);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    bool fine = !overlap && (deadlock ? report.cycle.count == 0 : verify_delivers(&report));
    if (overlap) {
        part_complain(part, "LIDs overlap");
    } else if (!fine) {
        size_t first = !deadlock && report.cycle.count; /* a cycle comes before all else */
        part_complain(part, "%s",
                      first < report.findings.count ? report.findings.items[first] : "");
    }
    verify_report_release(&report);
    routes_release(&routes);
    network_release(&network);
    mem_free(index);
    return fine;
}

bool part_is_reachable(struct part *part)
{
    return verify_part(part, false);
}

bool part_is_deadlock_free(struct part *part)
{
    return verify_part(part, true);
}
