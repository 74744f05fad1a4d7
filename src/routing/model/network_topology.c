/* Builds a network from a topology: switches and linked adapter ports, with LIDs.
 *
 * LIDs of the file are kept. All others are assigned in the order in which a manager at the first
 * node discovers the ports: breadth first through switches, each switch's ports in ascending order
 * (adapters do not forward). On paper 002's Fig. 1 this gives the printed LIDs. Parts that the
 * first node cannot reach follow in file order. */
#include "routing/model/network.h"

#include "base/bitset.h"

#include <errno.h>
#include <string.h>

struct import {
    struct network *network;
    const struct topology *topology;
    struct err *err;
    struct arena memory;
    uint32_t *switch_of;   /* by node: switch index or NETWORK_NONE */
    uint32_t *terminal_of; /* by topology port: terminal index or NETWORK_NONE */
    uint64_t used[BITSET_WORDS(NETWORK_TOP_LID + 1)];
    uint32_t next[NETWORK_TOP_LMC + 1]; /* by LMC: where the search for a free range starts */
    uint8_t lmc;                        /* of adapter ports without LIDs */
    bool renumber;
};

static void add_switches(struct import *import)
{
    const struct topology *topology = import->topology;
    for (uint32_t i = 0; i < topology->nodes.count; i++) {
        const struct topology_node *node = &topology->nodes.items[i];
        import->switch_of[i] = NETWORK_NONE;
        if (node->kind != NODE_SWITCH)
            continue;
        const struct topology_port *zero = &topology->ports.items[node->first_port];
        uint32_t index =
            network_add_switch(import->network, node->guid, import->renumber ? 0 : zero->lid,
                               import->renumber ? 0 : zero->lmc, node->port_count);
        import->switch_of[i] = index;
        network_name(import->network, NETWORK_SWITCH | index, node->description);
    }
}

static void add_links(struct import *import)
{
    const struct topology *topology = import->topology;
    for (uint32_t port = 0; port < topology->ports.count; port++) {
        const struct topology_port *from = &topology->ports.items[port];
        import->terminal_of[port] = NETWORK_NONE;
        if (from->peer == TOPOLOGY_NONE)
            continue;
        const struct topology_node *node = &topology->nodes.items[from->node];
        uint32_t a = import->switch_of[from->node];
        uint32_t b = import->switch_of[topology->ports.items[from->peer].node];
        unsigned peer_port = topology_port_number(topology, from->peer);
        if (a != NETWORK_NONE && b != NETWORK_NONE && from->peer > port)
            network_link(import->network, a, topology_port_number(topology, port), b, peer_port);
        if (a != NETWORK_NONE || b == NETWORK_NONE)
            continue;
        bool keep = from->lid != 0 && !import->renumber;
        uint32_t terminal = network_add_terminal(import->network, from->guid, keep ? from->lid : 0,
                                                 keep ? from->lmc : import->lmc, b, peer_port);
        import->terminal_of[port] = terminal;
        import->network->terminals.items[terminal].node_guid = node->guid;
        network_name(import->network, terminal, node->description);
    }
}

static int take_lids(struct import *import, uint32_t end_point)
{
    char label[NETWORK_LABEL_BYTES];
    uint32_t lid = network_lid(import->network, end_point);
    uint8_t lmc = network_lmc(import->network, end_point);
    uint32_t count = UINT32_C(1) << lmc;
    if (lmc > NETWORK_TOP_LMC || lid + count - 1 > NETWORK_TOP_LID || lid % count != 0)
        return err_set(import->err, EINVAL,
                       "%s: LID %u with LMC %u is no unicast LID with that many low bits free",
                       network_label(import->network, end_point, label), lid, lmc);
    for (uint32_t at = lid; at < lid + count; at++) {
        if (bitset_has(import->used, at))
            return err_set(import->err, EEXIST, "%s: LID %u is taken by another port",
                           network_label(import->network, end_point, label), at);
        bitset_add(import->used, at);
    }
    return 0;
}

static int take_given_lids(struct import *import)
{
    struct network *network = import->network;
    int rc = 0;
    bitset_add(import->used, 0);
    for (uint32_t i = 0; i < network->switches.count && !rc; i++)
        if (network->switches.items[i].lid)
            rc = take_lids(import, NETWORK_SWITCH | i);
    for (uint32_t i = 0; i < network->terminals.count && !rc; i++)
        if (network->terminals.items[i].lid)
            rc = take_lids(import, i);
    return rc;
}

/* Assigns the next free range to an end point without LIDs. */
static int give_lids(struct import *import, uint32_t end_point)
{
    struct network *network = import->network;
    if (network_lid(network, end_point))
        return 0;
    uint8_t lmc = network_lmc(network, end_point);
    uint32_t count = UINT32_C(1) << lmc, at = import->next[lmc], free = 0;
    while (at + count - 1 <= NETWORK_TOP_LID && free < count)
        if (!bitset_has(import->used, at + free)) {
            free++;
        } else {
            at += count;
            free = 0;
        }
    import->next[lmc] = at;
    char label[NETWORK_LABEL_BYTES];
    if (at + count - 1 > NETWORK_TOP_LID)
        return err_set(import->err, ENOSPC,
                       "%s and what comes after it: no LIDs left (%d unicast LIDs, LMC %u)",
                       network_label(network, end_point, label), NETWORK_TOP_LID, import->lmc);
    if (end_point & NETWORK_SWITCH)
        network->switches.items[end_point & ~NETWORK_SWITCH].lid = (uint16_t)at;
    else
        network->terminals.items[end_point].lid = (uint16_t)at;
    return take_lids(import, end_point);
}

/* One part: breadth first from switch `start`. */
static int number_part(struct import *import, uint32_t *queue, bool *seen, uint32_t start)
{
    const struct network *network = import->network;
    uint32_t head = 0, tail = 0;
    if (seen[start])
        return 0;
    seen[start] = true;
    int rc = give_lids(import, NETWORK_SWITCH | start);
    queue[tail++] = start;
    while (head < tail && !rc) {
        const struct network_switch *node = &network->switches.items[queue[head++]];
        for (unsigned port = 1; port <= node->port_count && !rc; port++) {
            uint32_t peer = network->ports.items[node->first_port + port].peer;
            if (peer == NETWORK_NONE)
                continue;
            if ((peer & NETWORK_SWITCH) && !seen[peer & ~NETWORK_SWITCH]) {
                seen[peer & ~NETWORK_SWITCH] = true;
                queue[tail++] = peer & ~NETWORK_SWITCH;
            }
            rc = give_lids(import, peer);
        }
    }
    return rc;
}

/* The manager runs at the first node, if it is a switch, else at its first port at a switch. */
static int number_manager(struct import *import)
{
    const struct topology *topology = import->topology;
    if (topology->nodes.count == 0)
        return 0;
    const struct topology_node *first = &topology->nodes.items[0];
    if (first->kind == NODE_SWITCH) {
        import->network->manager = import->switch_of[0];
        return 0;
    }
    for (unsigned port = 1; port <= first->port_count; port++) {
        uint32_t terminal = import->terminal_of[first->first_port + port];
        if (terminal == NETWORK_NONE)
            continue;
        import->network->manager = import->network->terminals.items[terminal].at;
        return give_lids(import, terminal);
    }
    return 0;
}

static int number_all(struct import *import)
{
    struct network *network = import->network;
    uint32_t switches = (uint32_t)network->switches.count;
    uint32_t *queue = arena_alloc(&import->memory, switches * sizeof *queue);
    bool *seen = arena_alloc(&import->memory, switches * sizeof *seen);
    for (unsigned lmc = 0; lmc <= NETWORK_TOP_LMC; lmc++)
        import->next[lmc] = UINT32_C(1) << lmc;
    int rc = take_given_lids(import);
    if (!rc)
        rc = number_manager(import);
    if (!rc && network->manager != NETWORK_NONE)
        rc = number_part(import, queue, seen, network->manager);
    for (uint32_t at = 0; at < switches && !rc; at++)
        rc = number_part(import, queue, seen, at);
    return rc;
}

static int import_topology(struct network *network, const struct topology *topology, uint8_t lmc,
                           bool renumber, struct err *err)
{
    struct import *import = mem_zalloc(1, sizeof *import);
    network_init(network);
    import->network = network;
    import->topology = topology;
    import->err = err;
    import->lmc = lmc;
    import->renumber = renumber;
    import->switch_of =
        arena_alloc(&import->memory, topology->nodes.count * sizeof *import->switch_of);
    import->terminal_of =
        arena_alloc(&import->memory, topology->ports.count * sizeof *import->terminal_of);
    add_switches(import);
    add_links(import);
    int rc = number_all(import);
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
