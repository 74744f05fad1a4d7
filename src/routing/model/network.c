/* Building the network of switches and terminals, and its compressed graph.
 *
 * Functions that add check their arguments (a port has one link); readers do not check indices.
 * Overlapping LIDs are reported, but the network stays usable: a subnet has them during a
 * repair. */
#include "routing/model/network.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void network_init(struct network *network)
{
    *network = (struct network){.manager = NETWORK_NONE};
}

static void release_graph(struct network *network)
{
    mem_free(network->first_edge);
    mem_free(network->edges);
    mem_free(network->first_terminal);
    mem_free(network->terminals_at);
    mem_free(network->owner);
    network->first_edge = network->first_terminal = network->terminals_at = network->owner = NULL;
    network->edges = NULL;
}

void network_release(struct network *network)
{
    if (!network)
        return;
    release_graph(network);
    vec_release(&network->switches);
    vec_release(&network->terminals);
    vec_release(&network->ports);
    vec_release(&network->switch_names);
    vec_release(&network->terminal_names);
    arena_release(&network->strings);
    network_init(network);
}

uint32_t network_add_switch(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                            unsigned port_count)
{
    assert(port_count <= NETWORK_TOP_PORT);
    uint32_t index = (uint32_t)network->switches.count;
    struct network_switch added = {
        .guid = guid,
        .first_port = (uint32_t)network->ports.count,
        .lid = lid,
        .lmc = lmc,
        .port_count = (uint8_t)port_count,
    };
    vec_push(&network->switches, added);
    for (unsigned port = 0; port <= port_count; port++)
        vec_push(&network->ports, ((struct network_port){.peer = NETWORK_NONE}));
    return index;
}

/* NULL if there is no such port. Port 0 is the switch itself and takes no cable. */
static struct network_port *find_port(struct network *network, uint32_t at, unsigned port)
{
    if (at >= network->switches.count || port == 0 || port > network->switches.items[at].port_count)
        return NULL;
    return &network->ports.items[network->switches.items[at].first_port + port];
}

int network_link(struct network *network, uint32_t switch_a, unsigned port_a, uint32_t switch_b,
                 unsigned port_b)
{
    struct network_port *a = find_port(network, switch_a, port_a);
    struct network_port *b = find_port(network, switch_b, port_b);
    if (!a || !b || a == b)
        return -EINVAL;
    if (a->peer != NETWORK_NONE || b->peer != NETWORK_NONE)
        return -EBUSY;
    *a = (struct network_port){NETWORK_SWITCH | switch_b, (uint8_t)port_b};
    *b = (struct network_port){NETWORK_SWITCH | switch_a, (uint8_t)port_a};
    return 0;
}

uint32_t network_add_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                              uint32_t at, unsigned port)
{
    struct network_port *found = at == NETWORK_NONE ? NULL : find_port(network, at, port);
    uint32_t index = (uint32_t)network->terminals.count;
    if (at == NETWORK_NONE ? network->switches.count > 0 : !found || found->peer != NETWORK_NONE)
        return NETWORK_NONE;
    if (found)
        found->peer = index;
    vec_push(&network->terminals, ((struct network_terminal){.guid = guid,
                                                             .at = at,
                                                             .sharer = NETWORK_NONE,
                                                             .lid = lid,
                                                             .lmc = lmc,
                                                             .port = (uint8_t)port}));
    return index;
}

void network_name(struct network *network, uint32_t end_point, const char *name)
{
    assert((end_point & ~NETWORK_SWITCH) <
           (end_point & NETWORK_SWITCH ? network->switches.count : network->terminals.count));
    const char *copy = *name ? arena_strdup(&network->strings, name) : NULL;
    if (end_point & NETWORK_SWITCH)
        *vec_at(&network->switch_names, end_point & ~NETWORK_SWITCH) = copy;
    else
        *vec_at(&network->terminal_names, end_point) = copy;
}

const char *network_name_of(const struct network *network, uint32_t end_point)
{
    uint32_t index = end_point & ~NETWORK_SWITCH;
    if (end_point & NETWORK_SWITCH)
        return index < network->switch_names.count ? network->switch_names.items[index] : NULL;
    return index < network->terminal_names.count ? network->terminal_names.items[index] : NULL;
}

const char *network_label(const struct network *network, uint32_t end_point,
                          char buffer[NETWORK_LABEL_BYTES])
{
    bool is_switch = end_point & NETWORK_SWITCH;
    uint32_t index = end_point & ~NETWORK_SWITCH;
    const char *name = network_name_of(network, end_point);
    if (name)
        snprintf(buffer, NETWORK_LABEL_BYTES, "'%s'", name);
    else
        snprintf(buffer, NETWORK_LABEL_BYTES, "%s 0x%016" PRIx64, is_switch ? "switch" : "port",
                 is_switch ? network->switches.items[index].guid
                           : network->terminals.items[index].guid);
    return buffer;
}

/* All end points in one numbering: switches, then terminals. */
static uint32_t end_point_at(const struct network *network, size_t index)
{
    size_t switches = network->switches.count;
    return (uint32_t)(index < switches ? NETWORK_SWITCH | index : index - switches);
}

/* The last LID of an end point, or 0 if its range is not a range of unicast LIDs. */
static uint32_t last_lid(const struct network *network, uint32_t end_point)
{
    uint16_t lid = network_lid(network, end_point);
    uint8_t lmc = network_lmc(network, end_point);
    if (lid == 0 || lmc > NETWORK_TOP_LMC)
        return 0;
    uint32_t last = lid + (UINT32_C(1) << lmc) - 1;
    return last > NETWORK_TOP_LID ? 0 : last;
}

/* An end point whose LIDs are taken loses them. */
static int claim_lids(struct network *network, uint32_t end_point)
{
    uint16_t *lid = end_point & NETWORK_SWITCH
                        ? &network->switches.items[end_point & ~NETWORK_SWITCH].lid
                        : &network->terminals.items[end_point].lid;
    uint32_t last = last_lid(network, end_point);
    bool free = last != 0;
    if (*lid == 0)
        return 0;
    for (uint32_t at = *lid; at <= last; at++)
        free &= network->owner[at] == NETWORK_NONE;
    for (uint32_t at = *lid; free && at <= last; at++)
        network->owner[at] = end_point;
    if (!free)
        *lid = 0;
    return free ? 0 : -EEXIST;
}

int network_finish(struct network *network)
{
    release_graph(network);
    /* The rows of edges and of terminals, each in order of ports. */
    uint32_t edges = 0, terminals = 0, switches = (uint32_t)network->switches.count;
    network->first_edge = mem_zalloc(switches + 1, sizeof *network->first_edge);
    network->edges = mem_zalloc(network->ports.count + 1, sizeof *network->edges);
    network->first_terminal = mem_zalloc(switches + 1, sizeof *network->first_terminal);
    network->terminals_at = mem_zalloc(network->terminals.count + 1, sizeof *network->terminals_at);
    for (uint32_t at = 0; at < switches; at++) {
        const struct network_switch *node = &network->switches.items[at];
        for (unsigned port = 1; port <= node->port_count; port++) {
            const struct network_port *link = &network->ports.items[node->first_port + port];
            if (!(link->peer & NETWORK_SWITCH))
                for (uint32_t i = link->peer; i != NETWORK_NONE;
                     i = network->terminals.items[i].sharer)
                    network->terminals_at[terminals++] = i;
            else if (link->peer != NETWORK_NONE && link->peer != (NETWORK_SWITCH | at))
                network->edges[edges++] = (struct network_edge){link->peer & ~NETWORK_SWITCH,
                                                                (uint8_t)port, link->peer_port};
        }
        network->first_edge[at + 1] = edges;
        network->first_terminal[at + 1] = terminals;
    }
    size_t count = network->switches.count + network->terminals.count;
    int rc = 0;
    network->top_lid = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t last = last_lid(network, end_point_at(network, i));
        network->top_lid = last > network->top_lid ? (uint16_t)last : network->top_lid;
    }
    network->owner = mem_alloc((network->top_lid + 1u) * sizeof *network->owner);
    memset(network->owner, 0xFF, (network->top_lid + 1u) * sizeof *network->owner);
    for (size_t i = 0; i < count; i++)
        if (claim_lids(network, end_point_at(network, i)))
            rc = -EEXIST;
    return rc;
}
