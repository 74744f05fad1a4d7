/* What is remembered of the tables that are in the switches, so that a small change costs little.
 *
 * To repair tables one must know what the rest of them gives rise to: which channels wait for which
 * (dependency.h), and how much every link carries. The full check of freshly computed tables finds
 * both; they are kept up to date from change to change. The dependencies may be more than there
 * are, never fewer: none is taken out when an entry goes, so that packets which are still under way
 * are accounted for.
 *
 * An order of all channels, in which every dependency leads forwards, shows that there is no cycle.
 * Where the tables come from up*-down* directions it is that of the directions: up before down. An
 * edge that agrees with it costs nothing. For another one, everything that leads to its tail and
 * has no place before its head is searched (half of what Pearce and Kelly's algorithm does); if the
 * head is not among that, all of it goes as far to the front as what leads there allows, so that
 * later edges of the same kind find it in its place. */
#ifndef WEFT_ROUTING_CDG_STANDING_H
#define WEFT_ROUTING_CDG_STANDING_H

#include "routing/check/dependency.h"
#include "routing/model/routes.h"

#include "base/bitset.h"

struct standing_edge {
    uint32_t at; /* a packet that arrives at this switch … */
    uint8_t in, out, lane;
};

/* A node of the graph and the switch where its channel arrives. */
struct standing_node {
    uint32_t at, node;
    uint32_t root;   /* the first after a head that leads here … */
    uint32_t second; /* … and the second, or NETWORK_NONE */
};

/* A way through the graph that closed a circle once: `first` leads to `last`. */
struct standing_witness {
    uint32_t first, last;
    uint32_t second, second_last; /* the next to these on the way; or NETWORK_NONE */
};
enum { STANDING_WITNESSES = 4 };

struct standing {
    bool known;    /* the tables have passed a check, deliver everywhere, and this describes them */
    bool directed; /* the order is that of directions */
    struct dependency_graph graph;
    struct dependency_graph behind; /* the same with inputs and outputs exchanged */
    int64_t *label;                 /* by node of the graph: its place in the order */
    int64_t front;                  /* no label is lower */
    uint32_t moves;                 /* how often labels have changed against others … */
    uint32_t *moved;                /* … and when last, by node, … */
    uint32_t *moved_from;           /* … and by switch, for any channel that begins there */
    bool begun;                     /* see standing_begin() */
    uint64_t *refused;              /* like graph.bits: edges that closed a circle since; or NULL */
    uint64_t *load;   /* by channel, switch.first_port + port: pairs of terminals, about */
    uint64_t peak;    /* the highest of links between switches when an engine last computed */
    uint32_t repairs; /* since then */
    VEC(struct standing_edge) added; /* since the last standing_keep() */
    bool fixed; /* the order and the graph stay as they are; edges that agree are noted in … */
    VEC(struct standing_edge) news;
    bool blocked; /* an edge was refused because of that, though it may close no circle */
    struct standing_witness witnesses[STANDING_WITNESSES];
    unsigned witness_count;               /* since standing_begin() */
    VEC(uint32_t) found;                  /* scratch: what leads to a tail, … */
    VEC(struct standing_node) found_root; /* … by which of those that wait right before it … */
    VEC(struct standing_node) ahead;      /* … and what a head leads to */
    uint64_t *mark, *ahead_mark;          /* the same as sets … */
    uint64_t *left_mark;                  /* … and what was looked at by outputs */
    uint64_t operations;                  /* of keeping the order, as engine.h counts */
};

/* Takes over the dependencies and loads that a check found (its report then has none). False if
 * there is a cycle; then there is nothing. `ranks` is as in routes.h. */
bool standing_take(struct standing *standing, struct dependency_graph *graph,
                   struct verify_report *report, const uint32_t *ranks);
/* The same for the network of today: see dependency_move(). */
void standing_move(struct standing *standing, const struct standing *from,
                   const struct network *network, const uint32_t *to_new, const uint8_t *fresh);
void standing_release(struct standing *standing); /* accepts released ones */

/* From now on an edge that was refused once is refused without looking. */
void standing_begin(struct standing *standing);
void standing_end(struct standing *standing);

/* False, and nothing is added, if that closes a circle. */
bool standing_add(struct standing *standing, struct standing_edge edge);
/* Takes back, or makes final, what was added since the last of these calls. */
void standing_undo(struct standing *standing);
void standing_keep(struct standing *standing);

/* The switch that a port of a switch leads to, with the port of arrival; NETWORK_NONE: none. */
static inline uint32_t standing_next(const struct network *network, uint32_t at, uint8_t port,
                                     uint8_t *in)
{
    const struct network_switch *node = &network->switches.items[at];
    if (port == 0 || port > node->port_count)
        return NETWORK_NONE;
    const struct network_port *link = &network->ports.items[node->first_port + port];
    if (link->peer == NETWORK_NONE || !(link->peer & NETWORK_SWITCH))
        return NETWORK_NONE;
    *in = link->peer_port;
    return link->peer & ~NETWORK_SWITCH;
}

static inline bool standing_has(const struct standing *standing, struct standing_edge edge)
{
    return bitset_has(dependency_row(&standing->graph, edge.at, edge.in, edge.lane),
                      edge.out * standing->graph.vls + edge.lane);
}
/* Edges of a channel that have closed a circle since standing_begin(), like a row of the graph; or
 * NULL. */
static inline const uint64_t *standing_refused_row(const struct standing *standing, uint32_t at,
                                                   uint8_t in, uint8_t lane)
{
    const uint64_t *row = dependency_row(&standing->graph, at, in, lane);
    return standing->refused ? standing->refused + (row - standing->graph.bits) : NULL;
}
static inline bool standing_refused(const struct standing *standing, struct standing_edge edge)
{
    const uint64_t *row = standing_refused_row(standing, edge.at, edge.in, edge.lane);
    return row && bitset_has(row, edge.out * standing->graph.vls + edge.lane);
}
/* standing_add(), quick where the edge is there already. */
static inline bool standing_put(struct standing *standing, struct standing_edge edge)
{
    return standing_has(standing, edge) || standing_add(standing, edge);
}
static inline uint32_t standing_tail(const struct standing *standing, struct standing_edge edge)
{
    return standing->graph.first_node[edge.at] + edge.in * standing->graph.vls + edge.lane;
}
static inline uint32_t standing_head(const struct standing *standing, struct standing_edge edge)
{
    const struct network *network = standing->graph.network;
    const struct network_port *link =
        &network->ports.items[network->switches.items[edge.at].first_port + edge.out];
    return standing->graph.first_node[link->peer & ~NETWORK_SWITCH] +
           link->peer_port * standing->graph.vls + edge.lane;
}
/* The switch that a channel comes from, or NETWORK_NONE; `out` is the node's row there. */
static inline uint32_t standing_behind(const struct standing *standing, uint32_t node,
                                       uint32_t *out)
{
    unsigned vls = standing->graph.vls;
    const struct network_port *link = &standing->graph.network->ports.items[node / vls];
    if (link->peer == NETWORK_NONE || !(link->peer & NETWORK_SWITCH))
        return NETWORK_NONE;
    *out = link->peer_port * vls + node % vls;
    return link->peer & ~NETWORK_SWITCH;
}
/* Whether the edge is there or agrees with the order as it is. */
static inline bool standing_fits(const struct standing *standing, struct standing_edge edge)
{
    return standing->label[standing_tail(standing, edge)] <
               standing->label[standing_head(standing, edge)] ||
           standing_has(standing, edge);
}

/* standing_search.c: whether a way is known by which an edge would close a circle. */
bool standing_is_witnessed(const struct standing *standing, uint32_t tail,
                           struct standing_node head);
/* Fills `found` with all that leads to `tail` and has no place before `head`;
 * `last` is the last place of others that lead there. True if `head` is among that. */
bool standing_find_behind(struct standing *standing, uint32_t tail, struct standing_node head,
                          int64_t *last);

#endif
