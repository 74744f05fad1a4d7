/* Is the network a tree in stages, and which switches are at which level?
 *
 * Every link must join neighbouring levels; links and switches may be missing, and hosts may hang
 * at any level. Level 0 is the lowest. Parts of the network without terminals are no reason to
 * refuse: they are levelled from their first switch. */
#ifndef WEFT_ROUTING_SEARCH_TREE_H
#define WEFT_ROUTING_SEARCH_TREE_H

#include "routing/engine/engine.h"
#include "routing/search/updown.h"

struct tree {
    uint32_t *level; /* by switch */
    uint32_t levels; /* how many there are */
    uint32_t tops;   /* switches with terminals below or at them, and nothing above */
    uint64_t operations;
};

/* With a list of roots in the options these are the top; else it is found out. -EMEDIUMTYPE, with
 * the reason, if the network is no tree; -ENOENT if none of the roots is there. */
int tree_recognise(struct tree *tree, const struct network *network,
                   const struct engine_options *options, struct err *err);
void tree_release(struct tree *tree);

/* Directions along the levels. */
void tree_directions(const struct tree *tree, const struct network *network, struct updown *updown);

/* All terminals in the order of the tree: subtree by subtree, each beginning with the lowest LID in
 * it, and the terminals of a switch in order of ports. If LIDs were given out switch by switch, as
 * a manager gives them that walks the fabric breadth first, it is the order of LIDs. The caller
 * frees the list. */
uint32_t *tree_terminals(const struct tree *tree, const struct network *network);

/* By switch its plane: what hangs together with it at its level and above, named by the lowest LID
 * of a switch in it. Switches of different subtrees that play the same part are in one plane. The
 * caller frees them. */
uint32_t *tree_planes(const struct tree *tree, const struct network *network);

/* The terminals of a tree in the order of its leaves, as shift permutations number them; NULL if
 * the network is no tree. The caller frees it. */
uint32_t *tree_shift_order(const struct network *network);

#endif
