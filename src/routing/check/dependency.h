/* The channel dependency graph of the checks. Engines, repair and planning use routing/cdg, which
 * shares no code with this one.
 *
 * A node is a VL of a channel, named by where the channel arrives: (switch, input port, VL). An
 * edge says that a packet there may wait for an output port and VL of that switch. All edges of a
 * node are bits of one row. */
#ifndef WEFT_ROUTING_CHECK_DEPENDENCY_H
#define WEFT_ROUTING_CHECK_DEPENDENCY_H

#include "routing/check/verify.h"
#include "routing/model/network.h"

struct dependency_graph {
    const struct network *network;
    unsigned vls;
    size_t *first_word; /* by switch, one more at the end */
    uint64_t *bits;
};

/* A node, named by where its channel begins: the switch, and the node's bit in the rows there. */
struct dependency_channel {
    uint32_t from, bit;
};

void dependency_init(struct dependency_graph *graph, const struct network *network, unsigned vls);
void dependency_release(struct dependency_graph *graph);
/* Copies a graph to another network: `to_new` has the new index of each switch (NETWORK_NONE:
 * gone). Channels that arrive at, or leave by, a port marked in `is_new` (by port of the new
 * network) get no edges. */
void dependency_move(struct dependency_graph *graph, const struct dependency_graph *from,
                     const struct network *network, const uint32_t *to_new, const uint8_t *is_new);
void dependency_merge(struct dependency_graph *graph, const struct dependency_graph *other);
uint64_t dependency_count(const struct dependency_graph *graph);

static inline size_t dependency_row_words(const struct dependency_graph *graph, uint32_t at)
{
    return ((graph->network->switches.items[at].port_count + 1u) * graph->vls + 63) / 64;
}
static inline uint64_t *dependency_row(const struct dependency_graph *graph, uint32_t at,
                                       unsigned in, unsigned vl)
{
    return graph->bits + graph->first_word[at] +
           (in * graph->vls + vl) * dependency_row_words(graph, at);
}
static inline void dependency_add(struct dependency_graph *graph, uint32_t at, unsigned in,
                                  unsigned in_vl, unsigned out, unsigned out_vl)
{
    size_t row =
        graph->first_word[at] + (in * graph->vls + in_vl) * dependency_row_words(graph, at);
    size_t bit = out * graph->vls + out_vl;
    graph->bits[row + bit / 64] |= UINT64_C(1) << (bit % 64);
}

/* Visits every edge of a graph in which packets stay on their VL. */
void dependency_each(const struct dependency_graph *graph,
                     void (*visit)(void *context, uint32_t at, unsigned in, unsigned out,
                                   unsigned vl),
                     void *context);

/* Fills `cycle` with a short cycle and returns true if there is one. */
bool dependency_find_cycle(const struct dependency_graph *graph, struct verify_report *report);
/* Fills `cycle` with a cycle that these nodes lead to and returns true if there is one. */
bool dependency_find_cycle_from(const struct dependency_graph *graph,
                                const struct dependency_channel *channels, size_t count,
                                uint64_t *operations, struct verify_report *report);

#endif
