/* Directions for up*-down* routing (TPDS 2006, section 2.2).
 *
 * The level of a switch is its distance from the nearest root; its key is (level, LID), and its
 * rank the place of the key among all switches. A link leads up towards the lower rank: every link
 * has one up end, links inside a level and between roots included, so the directed graph has no
 * cycle. A part of the network without a root gets one, its first switch. With one root in each
 * part, that root is the only sink there and every pair has a legal route; with several it need not
 * be so. */
#ifndef WEFT_ROUTING_SEARCH_UPDOWN_H
#define WEFT_ROUTING_SEARCH_UPDOWN_H

#include "routing/model/network.h"

struct updown {
    uint32_t *level;
    uint32_t *rank;  /* by switch */
    uint32_t *order; /* by rank */
    uint32_t *part;  /* by switch: its connected part */
    uint32_t part_count;
};

void updown_init(struct updown *updown, const struct network *network, const uint32_t *roots,
                 size_t root_count);
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
