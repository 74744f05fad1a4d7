/* A dependency graph of channels that stays acyclic, for the planner of updates.
 *
 * Edges are added one at a time; an edge that would close a cycle is refused. A topological order
 * is kept up to date (Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
 * graphs", 2006): an edge that agrees with it costs nothing, another one reorders only what lies
 * between its ends.
 *
 * A node is a channel, numbered like the input port where it arrives: switch.first_port + port. */
#ifndef WEFT_ROUTING_CDG_ORDER_GRAPH_H
#define WEFT_ROUTING_CDG_ORDER_GRAPH_H

#include "routing/model/network.h"

struct order_edge {
    uint32_t at; /* switch */
    uint8_t in, out;
};

struct order_graph {
    const struct network *network;
    size_t *first_word; /* by switch: rows of output ports, one for each input port */
    uint64_t *bits;
    uint32_t *place;                    /* by node: its place in the topological order */
    uint32_t *switch_of;                /* by node */
    VEC(struct order_edge) added;       /* since the last order_graph_keep() */
    VEC(uint32_t) ahead, behind, stack; /* scratch */
    uint8_t *mark;
    uint64_t operations; /* of keeping the order, so far, as engine.h counts */
};

void order_graph_init(struct order_graph *graph, const struct network *network);
void order_graph_release(struct order_graph *graph);

/* To start with a known graph: clear, put every edge without a check, sort. False from sort if
 * there is a cycle. */
void order_graph_clear(struct order_graph *graph);
void order_graph_put(struct order_graph *graph, uint32_t at, uint8_t in, uint8_t out);
bool order_graph_sort(struct order_graph *graph);

/* A packet that arrives at port `in` of a switch may leave by `out`, which leads to a switch.
 * False, and nothing is added, if that closes a cycle. */
bool order_graph_add(struct order_graph *graph, uint32_t at, uint8_t in, uint8_t out);
/* Takes back, or makes final, what was added since the last of these calls. */
void order_graph_undo(struct order_graph *graph);
void order_graph_keep(struct order_graph *graph);

#endif
