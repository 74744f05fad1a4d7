/* The input of routing engines: switches, the links between them and the adapter ports at them.
 *
 * The end point of every algorithm is an adapter's *port*, here a terminal; an adapter with two
 * ports is two terminals. A terminal is attached to one switch, so engines work on switches alone
 * and copy their result to the terminals. Several terminals may share a port of their switch, as
 * the functions of a hypervisor's adapter do; each is a separate destination.
 *
 * Everything has a dense index. network_finish() builds the compressed (CSR) graph: the edges of a
 * switch form one row in ascending port order, parallel links are separate edges, a link of a
 * switch to itself is not an edge. Engines keep their scratch outside of this structure. */
#ifndef WEFT_ROUTING_MODEL_NETWORK_H
#define WEFT_ROUTING_MODEL_NETWORK_H

#include "base/err.h"
#include "base/mem.h"
#include "topology/topology.h"

#include <stdbool.h>
#include <stdint.h>

#define NETWORK_NONE UINT32_MAX

/* An end point is a terminal's index, or a switch's index with this bit (its port 0). */
#define NETWORK_SWITCH UINT32_C(0x80000000)

enum {
    NETWORK_TOP_LID = 0xBFFF,
    NETWORK_TOP_LMC = 7,
    NETWORK_TOP_PORT = 254,
    PORT_NONE = 0xFF, /* in forwarding tables: drop */
};

struct network_switch {
    uint64_t guid;
    uint32_t first_port; /* of its row 0 … port_count in `ports` */
    uint16_t lid;        /* 0: none, then no packet can be sent to it */
    uint8_t lmc;
    uint8_t port_count;
};
struct network_terminal {
    uint64_t guid;
    uint64_t node_guid; /* of its adapter; 0: not known */
    uint32_t at;        /* its switch */
    uint32_t sharer;    /* the next one at the same port, or NETWORK_NONE */
    uint16_t lid;
    uint8_t lmc;
    uint8_t port; /* of the switch */
};
struct network_port {
    uint32_t peer; /* the end point at the other end, the first of several; or NETWORK_NONE */
    uint8_t peer_port;
};
struct network_edge {
    uint32_t to;
    uint8_t port, to_port;
};

struct network {
    VEC(struct network_switch) switches;
    VEC(struct network_terminal) terminals;
    VEC(struct network_port) ports; /* of all switches, port 0 included */
    VEC(const char *) switch_names; /* may be shorter than `switches`; NULL: none */
    VEC(const char *) terminal_names;
    struct arena strings;
    uint32_t manager; /* the switch of the manager, or NETWORK_NONE */

    /* Made by network_finish(). */
    uint32_t *first_edge; /* by switch, one more at the end */
    struct network_edge *edges;
    uint32_t *first_terminal; /* by switch, one more at the end: rows of terminals_at */
    uint32_t *terminals_at;
    uint32_t *owner; /* by LID up to top_lid: end point or NETWORK_NONE */
    uint16_t top_lid;
};

void network_init(struct network *network);
void network_release(struct network *network);

uint32_t network_add_switch(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                            unsigned port_count);
/* -EINVAL for a port that does not exist, -EBUSY for one in use; then nothing changes. */
int network_link(struct network *network, uint32_t switch_a, unsigned port_a, uint32_t switch_b,
                 unsigned port_b);
/* NETWORK_NONE if the port does not exist or is in use. In a subnet of two adapters and no switch,
 * `at` is NETWORK_NONE: the terminals are linked to each other. */
uint32_t network_add_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                              uint32_t at, unsigned port);
/* Adds a terminal at the port of `beside`. NETWORK_NONE if there is no such terminal. */
uint32_t network_share_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                                uint32_t beside);
/* Names are for messages; they are copied. "": none. */
void network_name(struct network *network, uint32_t end_point, const char *name);

/* -EEXIST if LIDs overlap or leave the unicast range: the first owner keeps them, the other gets
 * LID 0; the rest is built. May be called again after further additions. */
int network_finish(struct network *network);

/* The fabric of a file. LIDs as in the file; ports without one get the lowest free, in the order of
 * topology/lid_order.h. The manager runs at the first node. Adapter ports without a link to a
 * switch are left out. Overlapping LIDs and LIDs that run out are errors. */
int network_from_topology(struct network *network, const struct topology *topology,
                          struct err *err);
/* network_from_topology() with new LIDs for all, 2^lmc for every adapter port. */
int network_from_topology_lmc(struct network *network, const struct topology *topology, uint8_t lmc,
                              struct err *err);

const char *network_name_of(const struct network *network, uint32_t end_point); /* NULL: none */
/* "'name'" or "switch 0x…"; returns buffer. */
enum { NETWORK_LABEL_BYTES = 128 };
const char *network_label(const struct network *network, uint32_t end_point,
                          char buffer[NETWORK_LABEL_BYTES]);

/* Breadth-first search over the links between switches (network_search.c). `distance` is by switch,
 * NETWORK_NONE if it cannot be reached; `queue` has room for all switches. Returns the number of
 * switches found: they are in `queue`, nearest first. */
uint32_t network_distances(const struct network *network, uint32_t from, uint32_t *distance,
                           uint32_t *queue);
/* Only over links that `may` be used from one switch to another. */
uint32_t network_distances_if(const struct network *network, uint32_t from, uint32_t *distance,
                              uint32_t *queue,
                              bool (*may)(const void *context, uint32_t at, uint32_t to),
                              const void *context);
/* Distances to the nearest switch with terminals. */
uint32_t network_stages(const struct network *network, uint32_t *stage, uint32_t *queue);
/* From the first `count` switches of the queue, whose distances are set; all others must be
 * NETWORK_NONE. */
uint32_t network_spread(const struct network *network, uint32_t *distance, uint32_t *queue,
                        uint32_t count);
/* Numbers the connected parts, in `part` by switch. Returns their number. */
uint32_t network_parts(const struct network *network, uint32_t *part);
/* The number of edges of these switches together. */
uint64_t network_count_edges(const struct network *network, const uint32_t *switches,
                             uint32_t count);

/* The switch that an end point is, or is at. */
static inline uint32_t network_switch_of(const struct network *network, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH ? end_point & ~NETWORK_SWITCH
                                      : network->terminals.items[end_point].at;
}

/* The base LID of an end point; 0: none. */
static inline uint16_t network_lid(const struct network *network, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH ? network->switches.items[end_point & ~NETWORK_SWITCH].lid
                                      : network->terminals.items[end_point].lid;
}
static inline uint8_t network_lmc(const struct network *network, uint32_t end_point)
{
    return end_point & NETWORK_SWITCH ? network->switches.items[end_point & ~NETWORK_SWITCH].lmc
                                      : network->terminals.items[end_point].lmc;
}
/* The end point that has a LID, or NETWORK_NONE. */
static inline uint32_t network_owner(const struct network *network, uint32_t lid)
{
    return lid <= network->top_lid ? network->owner[lid] : NETWORK_NONE;
}

/* A port of a switch that leads to a switch (perhaps to itself), else NULL. */
static inline const struct network_port *network_link_at(const struct network *network, uint32_t at,
                                                         unsigned port)
{
    const struct network_switch *node = &network->switches.items[at];
    if (port == 0 || port > node->port_count)
        return NULL;
    const struct network_port *link = &network->ports.items[node->first_port + port];
    return (link->peer ^ NETWORK_SWITCH) < network->switches.count ? link : NULL;
}

/* The switch that a port of a switch leads to (perhaps itself), or NETWORK_NONE. */
static inline uint32_t network_next(const struct network *network, uint32_t at, unsigned port)
{
    const struct network_port *link = network_link_at(network, at, port);
    return link ? link->peer & ~NETWORK_SWITCH : NETWORK_NONE;
}

/* Whether packets that leave switch `at` by this port (0: the switch itself) arrive at the end
 * point. */
static inline bool network_leads_to(const struct network *network, uint32_t at, unsigned port,
                                    uint32_t end_point)
{
    if (end_point & NETWORK_SWITCH)
        return port == 0
                   ? end_point == (NETWORK_SWITCH | at)
                   : network->ports.items[network->switches.items[at].first_port + port].peer ==
                         end_point;
    return port && network->terminals.items[end_point].at == at &&
           network->terminals.items[end_point].port == port;
}

/* Changes of terminals in a finished network, which stays finished (network_share.c). The order of
 * the terminals of a switch is not defined afterwards. */
/* Adds one beside another, with LIDs that are free; else NETWORK_NONE. */
uint32_t network_join_terminal(struct network *network, uint64_t guid, uint16_t lid, uint8_t lmc,
                               uint32_t beside);
/* Removes one; the last terminal gets its index. Its port becomes empty if no other terminal shares
 * it. */
void network_drop_terminal(struct network *network, uint32_t terminal);
void network_move_terminal(struct network *network, uint32_t terminal, uint32_t beside);

static inline uint32_t network_terminal_count(const struct network *network, uint32_t at)
{
    return network->first_terminal[at + 1] - network->first_terminal[at];
}
/* By place in the rows of terminals. */
static inline const struct network_terminal *network_terminal_at(const struct network *network,
                                                                 uint32_t place)
{
    return &network->terminals.items[network->terminals_at[place]];
}

#endif
