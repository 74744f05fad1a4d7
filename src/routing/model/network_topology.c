/* Builds a network from a topology: switches and linked adapter ports, with LIDs.
 *
 * LIDs of the file are kept. All others are assigned in the order of topology/lid_order.h, as the
 * manager does. On Fig. 1 of TPDS 2006 this gives the printed LIDs. A vSwitch has the LID
 * of its physical function, thus none of its own.
 *
 * Engines break ties by the order of switches and terminals. It is that of the manager's networks
 * (sm/plan.c), which have the same tables then: switches by LID, terminals by switch and port. */
#include "routing/model/network.h"

#include "topology/lid_order.h"
#include "topology/virtual.h"

#include <errno.h>

struct import {
    struct network *network;
    const struct topology *topology;
    struct err *err;
    struct arena memory;
    uint32_t count;   /* of end ports: port 0 of switches, and adapter ports at a switch */
    uint32_t *ports;  /* by end port: index in the topology */
    uint32_t *end_of; /* by port of the topology: its end port, or NETWORK_NONE */
    uint16_t *lid;    /* by end port */
    uint8_t *lmc;
    uint32_t *order;                     /* of end ports: lid_order() */
    uint32_t owner[NETWORK_TOP_LID + 1]; /* by LID: its end port, or NETWORK_NONE */
    uint32_t next[NETWORK_TOP_LMC + 1];  /* by LMC: where the search for a free range starts */
    uint32_t *switch_of;                 /* by node: switch index or NETWORK_NONE */
};

static const struct topology_port *port_of(const struct import *import, uint32_t end)
{
    return &import->topology->ports.items[import->ports[end]];
}

static bool is_switch(const struct import *import, uint32_t node)
{
    return import->topology->nodes.items[node].kind == NODE_SWITCH;
}

/* ---- LIDs ---- */

static const char *label_of(const struct import *import, uint32_t end)
{
    return topology_label(import->topology, port_of(import, end)->node);
}

static int take_lids(struct import *import, uint32_t end)
{
    uint32_t lid = import->lid[end], lmc = import->lmc[end], count = UINT32_C(1) << lmc;
    if (lmc > NETWORK_TOP_LMC || lid + count - 1 > NETWORK_TOP_LID || lid % count != 0)
        return err_set(import->err, EINVAL,
                       "'%s': LID %u with LMC %u is not a unicast LID with that many low bits free",
                       label_of(import, end), lid, lmc);
    for (uint32_t at = lid; at < lid + count; at++) {
        if (import->owner[at] != NETWORK_NONE)
            return err_set(import->err, EEXIST, "'%s': LID %u is taken by another port",
                           label_of(import, end), at);
        import->owner[at] = end;
    }
    return 0;
}

/* Assigns the lowest free range to an end port without LIDs. */
static int give_lids(struct import *import, uint32_t end)
{
    if (import->lid[end] || topology_is_vswitch(import->topology, port_of(import, end)->node))
        return 0;
    uint8_t lmc = import->lmc[end];
    uint32_t count = UINT32_C(1) << lmc, at = import->next[lmc], free = 0;
    while (at + count - 1 <= NETWORK_TOP_LID && free < count)
        if (import->owner[at + free] == NETWORK_NONE) {
            free++;
        } else {
            at += count;
            free = 0;
        }
    import->next[lmc] = at;
    if (at + count - 1 > NETWORK_TOP_LID)
        return err_set(import->err, ENOSPC,
                       "'%s' and what comes after it: no LIDs left (%d unicast LIDs, LMC %u)",
                       label_of(import, end), NETWORK_TOP_LID, lmc);
    import->lid[end] = (uint16_t)at;
    return take_lids(import, end);
}

static int number_end_ports(struct import *import)
{
    for (unsigned lmc = 0; lmc <= NETWORK_TOP_LMC; lmc++)
        import->next[lmc] = UINT32_C(1) << lmc;
    int rc = 0;
    for (uint32_t lid = 0; lid <= NETWORK_TOP_LID; lid++)
        import->owner[lid] = NETWORK_NONE;
    for (uint32_t end = 0; end < import->count && !rc; end++)
        if (import->lid[end])
            rc = take_lids(import, end);
    const struct topology *topology = import->topology;
    struct lid_order_end *ends = arena_alloc(&import->memory, import->count * sizeof *ends);
    uint32_t *links = arena_alloc(&import->memory, topology->ports.count * sizeof *links);
    uint32_t used = 0;
    for (uint32_t i = 0; i < import->count; i++) {
        uint32_t node = port_of(import, i)->node, port = import->ports[i];
        uint32_t last =
            is_switch(import, node) ? port + topology->nodes.items[node].port_count : port;
        bool starts = is_switch(import, node) && !topology_is_vswitch(topology, node);
        ends[i] = (struct lid_order_end){.first_link = used, .starts = starts};
        ends[i].guid = starts ? topology->nodes.items[node].guid : port_of(import, i)->guid;
        for (; port <= last; port++) {
            uint32_t peer = topology->ports.items[port].peer;
            if (peer == TOPOLOGY_NONE)
                continue;
            uint32_t far = topology->ports.items[peer].node;
            links[used++] =
                import
                    ->end_of[is_switch(import, far) ? topology->nodes.items[far].first_port : peer];
        }
        ends[i].link_count = used - ends[i].first_link;
    }
    lid_order(ends, import->count, links, import->order);
    for (uint32_t i = 0; i < import->count && !rc; i++)
        rc = give_lids(import, import->order[i]);
    return rc;
}

/* ---- the network ---- */

static void add_switch(struct import *import, uint32_t end)
{
    uint32_t index = port_of(import, end)->node;
    const struct topology_node *node = &import->topology->nodes.items[index];
    if (node->kind != NODE_SWITCH || import->switch_of[index] != NETWORK_NONE)
        return;
    uint32_t added = network_add_switch(import->network, node->guid, import->lid[end],
                                        import->lmc[end], node->port_count);
    import->switch_of[index] = added;
    network_name(import->network, NETWORK_SWITCH | added, node->description);
}

static void add_terminal(struct import *import, uint32_t end, uint32_t at, unsigned port)
{
    const struct topology_port *own = port_of(import, end);
    const struct topology_node *node = &import->topology->nodes.items[own->node];
    uint32_t terminal = network_add_terminal(import->network, own->guid, import->lid[end],
                                             import->lmc[end], at, port);
    import->network->terminals.items[terminal].node_guid = node->guid;
    network_name(import->network, terminal, node->description);
    if (own->node == 0 && import->network->manager == NETWORK_NONE)
        import->network->manager = at;
}

static void add_links(struct import *import, uint32_t node)
{
    const struct topology *topology = import->topology;
    uint32_t first = topology->nodes.items[node].first_port, at = import->switch_of[node];
    for (unsigned number = 1; number <= topology->nodes.items[node].port_count; number++) {
        uint32_t peer = topology->ports.items[first + number].peer;
        if (peer == TOPOLOGY_NONE)
            continue;
        uint32_t to = import->switch_of[topology->ports.items[peer].node];
        if (to == NETWORK_NONE)
            add_terminal(import, import->end_of[peer], at, number);
        else if (peer > first + number)
            network_link(import->network, at, number, to, topology_port_number(topology, peer));
    }
}

static void build_network(struct import *import)
{
    const struct topology *topology = import->topology;
    uint32_t *nodes = arena_alloc(&import->memory, topology->nodes.count * sizeof *nodes);
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        import->switch_of[node] = NETWORK_NONE;
    for (uint32_t lid = 1; lid <= NETWORK_TOP_LID; lid++)
        if (import->owner[lid] != NETWORK_NONE)
            add_switch(import, import->owner[lid]);
    for (uint32_t i = 0; i < import->count; i++) /* vSwitches */
        add_switch(import, import->order[i]);
    for (uint32_t node = 0; node < topology->nodes.count; node++)
        if (import->switch_of[node] != NETWORK_NONE)
            nodes[import->switch_of[node]] = node;
    if (topology->nodes.count && is_switch(import, 0))
        import->network->manager = import->switch_of[0];
    for (uint32_t i = 0; i < import->network->switches.count; i++)
        add_links(import, nodes[i]);
}

static int import_topology(struct network *network, const struct topology *topology, uint8_t lmc,
                           bool renumber, struct err *err)
{
    struct import *import = mem_zalloc(1, sizeof *import);
    size_t ports = topology->ports.count;
    network_init(network);
    import->network = network;
    import->topology = topology;
    import->err = err;
    import->switch_of =
        arena_alloc(&import->memory, topology->nodes.count * sizeof *import->switch_of);
    import->ports = arena_alloc(&import->memory, ports * sizeof *import->ports);
    import->end_of = arena_alloc(&import->memory, ports * sizeof *import->end_of);
    import->order = arena_alloc(&import->memory, ports * sizeof *import->order);
    import->lid = arena_alloc(&import->memory, ports * sizeof *import->lid);
    import->lmc = arena_alloc(&import->memory, ports * sizeof *import->lmc);
    for (uint32_t port = 0; port < import->topology->ports.count; port++) {
        const struct topology_port *at = &import->topology->ports.items[port];
        import->end_of[port] = NETWORK_NONE;
        bool is_end = is_switch(import, at->node)
                          ? topology_port_number(import->topology, port) == 0
                          : at->peer != TOPOLOGY_NONE &&
                                is_switch(import, import->topology->ports.items[at->peer].node);
        if (!is_end)
            continue;
        uint32_t end = import->count++;
        bool keep = at->lid && !renumber && !topology_is_vswitch(import->topology, at->node);
        import->end_of[port] = end;
        import->ports[end] = port;
        import->lid[end] = keep ? at->lid : 0;
        import->lmc[end] = keep ? at->lmc : is_switch(import, at->node) ? 0 : lmc;
    }
    int rc = number_end_ports(import);
    if (!rc)
        build_network(import);
    if (!rc && network_finish(network))
        rc = err_set(err, EEXIST, "two ports have the same LID");
    if (rc)
        network_release(network);
    arena_release(&import->memory);
    mem_free(import);
    return rc;
}

int network_from_topology(struct network *network, const struct topology *topology, struct err *err)
{
    return import_topology(network, topology, 0, false, err);
}

int network_from_topology_lmc(struct network *network, const struct topology *topology, uint8_t lmc,
                              struct err *err)
{
    return import_topology(network, topology, lmc, true, err);
}
