/* Is the network a tree in stages, and which switches are at which level?
 *
 * Every link must join neighbouring levels; links and switches may be missing, and hosts may be at
 * any level. Level 0 is the lowest. Levels of parts without terminals count from their first
 * switch. */
#ifndef WEFT_ROUTING_SEARCH_TREE_H
#define WEFT_ROUTING_SEARCH_TREE_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

struct tree {
    uint32_t *level; /* by switch */
    uint32_t levels; /* how many there are */
    uint32_t tops;   /* switches with terminals below or at them, and no switch above */
    uint64_t operations;
};

/* Listed roots of the options are the top; else it is detected. -EMEDIUMTYPE, with the reason, if
 * the network is not a tree; -ENOENT if no listed root exists. */
int tree_recognise(struct tree *tree, const struct network *network,
                   const struct engine_options *options, struct err *err);
void tree_release(struct tree *tree);

/* Whether a switch has no neighbour above it. */
bool tree_is_top(const struct tree *tree, const struct network *network, uint32_t at);

/* Directions along the levels. */
void tree_directions(const struct tree *tree, const struct network *network, struct updown *updown);

/* All terminals in the order of the tree: subtree by subtree, each beginning with the lowest LID in
 * it, and the terminals of a switch in order of ports. If LIDs were assigned switch by switch,
 * breadth first, that is the order of LIDs. The caller frees the list. */
uint32_t *tree_terminals(const struct tree *tree, const struct network *network);

/* By switch its plane: its connected component at its level and above, named by the lowest LID of a
 * switch in it. Corresponding switches of different subtrees are in one plane. The caller frees
 * them. */
uint32_t *tree_planes(const struct tree *tree, const struct network *network);

/* The terminals of a tree in the order of its leaves, as shift permutations number them; NULL if
 * the network is not a tree. The caller frees it. */
uint32_t *tree_shift_order(const struct network *network);

#endif
