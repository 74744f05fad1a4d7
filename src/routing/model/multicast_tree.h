/* The tree of a multicast group, as port masks by switch, and the members that it serves. */
#ifndef WEFT_ROUTING_MODEL_MULTICAST_TREE_H
#define WEFT_ROUTING_MODEL_MULTICAST_TREE_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

enum { MULTICAST_POSITION_PORTS = 16, MULTICAST_POSITIONS = 16 };

/* Some ports of a switch that are in a tree: bit i is port 16 * position + i. */
struct multicast_arm {
    uint32_t at;
    uint16_t position, mask;
};
struct multicast_tree {
    VEC(struct multicast_arm) arms; /* by switch, then position; no empty masks */
    VEC(uint32_t) missed;           /* members that it cannot reach, in the order given */
    uint32_t root;                  /* NETWORK_NONE: there is no tree */
    uint32_t depth;                 /* links from the root to the switch that is farthest away */
};
struct multicast_member {
    uint32_t end_point; /* a switch's port 0 with NETWORK_SWITCH */
    bool receives;      /* else it only sends: its switch is in the tree, its port is not */
};

static inline void multicast_tree_release(struct multicast_tree *tree)
{
    vec_release(&tree->arms);
    vec_release(&tree->missed);
}

#endif
