/* Differences between a planned fabric and the actual one.
 *
 * A node of the plan and an actual node are the same if they have the same kind and the same
 * description, and no other node of either fabric has it; else if they have the same GUID. The
 * GUIDs of a plan need not be real where descriptions are unique. A cable is the same if it joins
 * the same two ports. */
#ifndef WEFT_TOPOLOGY_DIFF_H
#define WEFT_TOPOLOGY_DIFF_H

#include "topology/topology.h"

enum difference_kind {
    DIFFERENCE_NODE_MISSING,  /* a node with several cables in the plan, of which none exists */
    DIFFERENCE_NODE_EXTRA,    /* a node that the plan does not have, with several cables */
    DIFFERENCE_CABLE_SWAPPED, /* two cables have exchanged ends */
    DIFFERENCE_CABLE_MOVED,   /* one end of a cable is at another port */
    DIFFERENCE_CABLE_MISSING,
    DIFFERENCE_CABLE_EXTRA,
    DIFFERENCE_RATE, /* a cable runs at another width or speed */
};

/* A cable is given by one of its ports. TOPOLOGY_NONE: none. Of a node, the first port. */
struct topology_difference {
    enum difference_kind kind;
    uint32_t planned[2], actual[2]; /* ports of the plan, and of the actual fabric */
};

struct topology_diff {
    const struct topology *plan, *actual; /* the caller's */
    VEC(struct topology_difference) items;
    struct name_map plan_names, actual_names; /* descriptions; AMBIGUOUS: several nodes have it */
};

/* Compares two fabrics, which must exist until the result is released. Virtual switches and
 * functions are compared like other nodes: see topology_without_functions(). Width and speed are
 * compared where the plan's file states them. */
void topology_diff(struct topology_diff *diff, const struct topology *plan,
                   const struct topology *actual);
void topology_diff_release(struct topology_diff *diff);

const char *difference_kind_name(enum difference_kind kind); /* "missing cable" */
/* Appends the cables, with names: "leaf1 port 3 <-> spine2 port 5; the plan has …". */
void topology_diff_print(const struct topology_diff *diff,
                         const struct topology_difference *difference, struct text *out);

#endif
