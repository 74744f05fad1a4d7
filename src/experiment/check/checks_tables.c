/* The LFTs of the switches, checked by routing/check.
 *
 * A pair is delivered if the LID that its source uses leads to the destination: the LID of the
 * master's path, which with destination renaming may differ from the base LID, or the base LID
 * where the master has no path yet. Dependencies are followed for every LID of every port, used or
 * not, on the VL of the SL that the master's paths name.
 *
 * Virtual functions of a hypervisor are terminals at the switch port that its cable leads to. The
 * virtual switch has one uplink and is checked separately. */
#include "experiment/check/checks_tables.h"

#include "base/map.h"
#include "console/names.h"
#include "routing/check/verify.h"
#include "topology/virtual.h"
#include "wire/vswitch.h"

#include <assert.h>
#include <string.h>

static void add_switches(const struct part *part, struct network *network, uint32_t *index)
{
    for (uint32_t i = 0; i < part->topology->nodes.count; i++) {
        const struct topology_node *node = &part->topology->nodes.items[i];
        index[i] = NETWORK_NONE;
        if (node->kind != NODE_SWITCH || !part->has[node->first_port] ||
            topology_is_vswitch(part->topology, i))
            continue;
        index[i] = network_add_switch(
            network, node->guid, (uint16_t)part_field(part, node->first_port, PORT_INFO_LID),
            (uint8_t)part_field(part, node->first_port, PORT_INFO_LMC), node->port_count);
        network_name(network, index[i] | NETWORK_SWITCH, node_label(part->topology, i));
    }
}

/* `beside`: the terminal that shares the port, or NETWORK_NONE. */
static uint32_t add_terminal(const struct part *part, struct network *network, uint32_t port,
                             uint32_t at, unsigned number, uint32_t beside)
{
    bool moves = topology_function(part->topology, port) > 0; /* has the GUID of its machine */
    uint64_t guid = moves ? fabric_port_guid(part->view->fabric, port, 0)
                          : part->topology->ports.items[port].guid;
    uint16_t lid = (uint16_t)part_field(part, port, PORT_INFO_LID);
    uint8_t lmc = (uint8_t)part_field(part, port, PORT_INFO_LMC);
    uint32_t terminal = beside == NETWORK_NONE
                            ? network_add_terminal(network, guid, lid, lmc, at, number)
                            : network_share_terminal(network, guid, lid, lmc, beside);
    network_name(network, terminal, part_node_name(part, port));
    return terminal;
}

/* Adds the functions behind a virtual switch, whose uplink is given. */
static void add_functions(const struct part *part, struct network *network, uint32_t uplink,
                          uint32_t at, unsigned number)
{
    const struct topology_node *node =
        &part->topology->nodes.items[part->topology->ports.items[uplink].node];
    uint32_t first = NETWORK_NONE;
    for (unsigned i = VSWITCH_PF; i <= node->port_count; i++) {
        uint32_t port = part_peer(part, node->first_port + i);
        if (port == TOPOLOGY_NONE)
            continue;
        uint32_t terminal = add_terminal(part, network, port, at, number, first);
        first = first == NETWORK_NONE ? terminal : first;
    }
}

/* Whether each virtual switch forwards the LIDs of its functions to them. */
static bool vswitches_forward(struct part *part)
{
    const struct topology *topology = part->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        if (topology_function(topology, port) < 0 || part_peer(part, port) == TOPOLOGY_NONE)
            continue;
        unsigned top = 0, lid = part_field(part, port, PORT_INFO_LID);
        uint32_t vf_port = topology->ports.items[port].peer;
        const uint8_t *table =
            fabric_linear_table(part->view->fabric, topology->ports.items[vf_port].node, &top);
        if (lid && (!table || table[lid] != topology_port_number(topology, vf_port)))
            return check_fail(part->failure,
                              "the virtual switch of '%s' does not forward LID %u to it",
                              part_node_name(part, port), lid);
    }
    return true;
}

static void add_links(const struct part *part, struct network *network, const uint32_t *index)
{
    const struct topology *topology = part->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        uint32_t peer = part_peer(part, port);
        if (!part_is_switch(part, port) || peer == TOPOLOGY_NONE)
            continue;
        uint32_t at = index[topology->ports.items[port].node];
        if (at == NETWORK_NONE)
            continue; /* of a virtual switch */
        unsigned number = topology_port_number(topology, port);
        if (topology_is_vswitch(topology, topology->ports.items[peer].node)) {
            add_functions(part, network, peer, at, number);
            continue;
        }
        if (part_is_switch(part, peer)) {
            if (port < peer)
                network_link(network, at, number, index[topology->ports.items[peer].node],
                             topology_port_number(topology, peer));
            continue;
        }
        add_terminal(part, network, peer, at, number, NETWORK_NONE);
    }
}

static void copy_tables(const struct part *part, struct routes *routes, const uint32_t *index)
{
    for (uint32_t i = 0; i < part->topology->nodes.count; i++)
        for (unsigned lid = 1; index[i] != NETWORK_NONE && lid <= routes->top_lid; lid++)
            routes_row(routes, index[i])[lid] = (uint8_t)fabric_route(part->view->fabric, i, lid);
}

/* By switch: the terminal of the master for the first terminal at the switch, or NETWORK_NONE. */
static uint32_t *match_terminals(const struct network *network, const struct network *known)
{
    uint32_t *match = mem_alloc((network->switches.count + 1) * sizeof *match);
    struct map by_guid = {0};
    for (uint32_t i = 0; i < known->terminals.count; i++)
        map_add(&by_guid, known->terminals.items[i].guid, i);
    for (uint32_t at = 0; at < network->switches.count; at++) {
        match[at] = NETWORK_NONE;
        if (network_terminal_count(network, at)) {
            uint32_t first = network->terminals_at[network->first_terminal[at]];
            match[at] = map_get(&by_guid, network->terminals.items[first].guid);
        }
    }
    map_release(&by_guid);
    return match;
}

/* Stores the offset from the base LID that terminals at one switch use for those at another. False
 * if it gives no LID of the destination. */
static bool store_offset(struct part *part, const struct network *network, struct routes *routes,
                         uint32_t from, uint32_t to, uint16_t dlid)
{
    assert(from < routes->switch_count && to < routes->switch_count);
    uint32_t target = network->terminals_at[network->first_terminal[to]];
    const struct network_terminal *terminal = &network->terminals.items[target];
    unsigned offset = (unsigned)dlid - terminal->lid;
    char labels[2][NETWORK_LABEL_BYTES];
    if (dlid == 0 || terminal->lid == 0)
        return true; /* no path yet, or no LID */
    if (offset >> terminal->lmc)
        return check_fail(part->failure, "at %s LID %u is used for %s, which has others",
                          network_label(network, from | NETWORK_SWITCH, labels[0]), dlid,
                          network_label(network, target, labels[1]));
    routes->offsets[(size_t)to * routes->switch_count + from] = (uint8_t)offset;
    return true;
}

static bool store_offsets(struct part *part, const struct network *network, struct routes *routes)
{
    const struct sm *master = part_master(part);
    struct sm_paths paths = master ? sm_paths(master) : (struct sm_paths){0};
    bool fine = true;
    if (!paths.network)
        return true;
    uint32_t *match = match_terminals(network, paths.network);
    routes->offsets = mem_zalloc((size_t)routes->switch_count * routes->switch_count + 1, 1);
    for (uint32_t to = 0; fine && to < routes->switch_count; to++)
        for (uint32_t from = 0; fine && from < routes->switch_count; from++)
            if (match[to] != NETWORK_NONE && match[from] != NETWORK_NONE)
                fine = store_offset(
                    part, network, routes, from, to,
                    path_lookup(paths.routes, paths.network, match[from], match[to]).dlid);
    mem_free(match);
    return fine;
}

/* Copies the SLs of the master. They are indexed by switch and LID. */
static void copy_service_levels(struct part *part, const struct network *network,
                                struct routes *routes)
{
    const struct sm *master = part_master(part);
    struct sm_paths paths = master ? sm_paths(master) : (struct sm_paths){0};
    struct map by_guid = {0};
    if (!paths.network || !paths.routes->service_levels)
        return;
    const struct routes *own = paths.routes;
    uint32_t stride = own->stride < routes->stride ? own->stride : routes->stride;
    routes->vls = own->vls;
    routes->service_levels = mem_zalloc((size_t)routes->switch_count * routes->stride + 1, 1);
    for (uint32_t i = 0; i < paths.network->switches.count; i++)
        map_add(&by_guid, paths.network->switches.items[i].guid, i);
    for (uint32_t at = 0; at < routes->switch_count; at++) {
        uint32_t known = map_get(&by_guid, network->switches.items[at].guid);
        if (known != NETWORK_NONE)
            memcpy(routes->service_levels + (size_t)at * routes->stride,
                   own->service_levels + (size_t)known * own->stride, stride);
    }
    map_release(&by_guid);
}

/* Verifies the tables for one of the two checks; the failure is the finding of the verifier. */
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
    bool named = !overlap && store_offsets(part, &network, &routes);
    copy_service_levels(part, &network, &routes);
    verify_routes(&network, &routes, &(struct verify_options){0}, &report);
    bool fine = deadlock ? !overlap && report.cycle.count == 0 : named && verify_delivers(&report);
    if (overlap) {
        check_fail(part->failure, "LIDs overlap");
    } else if (!fine && (deadlock || named)) {
        size_t first = !deadlock && report.cycle.count; /* the finding of a cycle comes first */
        check_fail(part->failure, "%s",
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
    return vswitches_forward(part) && verify_part(part, false);
}

bool part_is_deadlock_free(struct part *part)
{
    return verify_part(part, true);
}
