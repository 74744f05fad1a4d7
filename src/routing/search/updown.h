/* Directions for up*-down* routing (TPDS 2006, section 2.2).
 *
 * The rank of a switch is its place in an order that begins at the roots and in which every other
 * switch follows one of its neighbours. A link leads up towards the lower rank: every link has one
 * up end, so the directed graph has no cycle, and every pair below one root has a legal route. The
 * orders, which the paper cites as methods to build the graph:
 *
 * - TREE_BFS: by the distance from the nearest root, then by LID; the paper's Fig. 4.
 * - TREE_MDST: the same distance, then by GUID (Schroeder et al., "Autonet", 1991).
 * - TREE_POST: the order in which a message from the roots arrives that each switch sends on
 * through its ports in ascending order, all links and switches being equally fast (Rodeheffer and
 *   Schroeder, "Automatic reconfiguration in Autonet", 1991).
 * - TREE_DFS: depth-first from the roots. The next switch is the one with the most links to
 * switches visited before, then the one with the largest distances to all, then that of the lowest
 * LID (Sancho, Robles and Duato, "A new methodology to compute deadlock-free routing tables for
 *   irregular networks", 2000).
 *
 * A part of the network without a root gets one, its first switch. With one root in each part, that
 * root is the only sink there and every pair has a legal route; with several it need not be so. */
#ifndef WEFT_ROUTING_SEARCH_UPDOWN_H
#define WEFT_ROUTING_SEARCH_UPDOWN_H

#include "routing/engine/engine.h"

struct updown {
    uint32_t *level; /* TREE_BFS: the distance from the nearest root; others: the rank */
    uint32_t *rank;  /* by switch */
    uint32_t *order; /* by rank */
    uint32_t *part;  /* by switch: its connected part */
    uint32_t part_count;
};

void updown_init(struct updown *updown, const struct network *network, const uint32_t *roots,
                 size_t root_count, enum updown_tree tree);
/* Directions by given levels, 0 at the top; takes ownership of `level`. */
void updown_init_levels(struct updown *updown, const struct network *network, uint32_t *level);
void updown_release(struct updown *updown);

/* The rank that a terminal would have: how many switches have a lower key than its own, which is
 * (level of its switch + 1, LID). */
uint32_t updown_terminal_rank(const struct updown *updown, const struct network *network,
                              uint32_t terminal);

/* True if switch `to` lies up from `from`. */
static inline bool updown_is_up(const struct updown *updown, uint32_t from, uint32_t to)
{
    return updown->rank[to] < updown->rank[from];
}

/* Pairs that have no legal route. */
struct updown_gaps {
    uint64_t terminal_pairs; /* of terminals */
    uint64_t other_pairs;    /* of a terminal and a switch without terminals */
    uint32_t from, to;       /* switches: the first of the terminal pairs */
};
/* Counts the pairs of end points at these two switches. */
void updown_count_gap(struct updown_gaps *gaps, const struct network *network, uint32_t from,
                      uint32_t to);
void updown_add_gaps(struct updown_gaps *sum, const struct updown_gaps *gaps);
/* -ENETUNREACH with a message. */
int updown_refuse(const struct network *network, const struct updown_gaps *gaps, struct err *err);

#endif
