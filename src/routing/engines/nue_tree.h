/* Routes to one LID on one VL: the step that nue repeats. */
#ifndef WEFT_ROUTING_ENGINES_NUE_TREE_H
#define WEFT_ROUTING_ENGINES_NUE_TREE_H

#include "routing/cdg/cdg.h"
#include "routing/engines/column.h"
#include "routing/model/routes.h"

enum nue_result {
    NUE_SHORTEST, /* all switches with terminals have shortest routes */
    NUE_DETOURS,  /* all have routes */
    NUE_STUCK,    /* some have none, or the detours reach the limit */
};

/* A source that uses another VL than the LID's. */
struct nue_move {
    uint32_t lid, from;
    uint8_t vl;
};

struct nue_tree {
    const struct network *network;
    struct cdg *cdg;
    struct arena memory;
    const uint32_t *weight; /* by channel: routes that cross it so far */
    uint32_t *turns;    /* by channel, or NULL: load of this tree so far, for sources that follow */
    const uint32_t *up; /* by switch: the channel to its parent in the escape tree; or NULL */

    /* Input. */
    unsigned vl;
    uint32_t target;
    const struct routes *routes;
    uint64_t limit;          /* of detours: NUE_STUCK from there on */
    uint32_t first_lid, lid; /* avoid the paths of the LIDs from first_lid to lid - 1 */

    /* Result. */
    uint32_t *choice; /* by switch: its channel, or NETWORK_NONE */
    uint32_t *order;  /* switches with a route, each after its next hop */
    uint32_t reached; /* how many, the target included */
    uint64_t detour;  /* hops above the shortest, of all switches together */
    uint64_t operations;

    uint32_t *hops, *distance;
    uint32_t reachable; /* switches that cables connect with the target, itself included */
    uint64_t *cost, *offer;
    uint8_t *mark; /* by switch: bits of nue_tree.c */
    uint32_t *front, *next, *down;
    VEC(uint32_t) locked;
    VEC(struct nue_move) moved; /* by all trees so far */
};

void nue_tree_init(struct nue_tree *tree, const struct network *network, struct cdg *cdg);
void nue_tree_release(struct nue_tree *tree);
/* Shortest distances to the target, for all following trees to it. */
void nue_tree_aim(struct nue_tree *tree, uint32_t target);
/* Finds routes. Unless it is stuck, nue_tree_keep() must follow, or cdg_end() without their
 * dependencies. */
enum nue_result nue_tree_grow(struct nue_tree *tree);
void nue_tree_keep(struct nue_tree *tree);

/* For routes that are in the tables: adds the dependencies of switches without terminals, or finds
 * other routes for these, or (without an escape tree) other VLs, which it stores in `moved`. False
 * if that is impossible; then the layers must be cleared. */
void nue_tree_load(struct nue_tree *tree, const struct column *column);
bool nue_tree_settle(struct nue_tree *tree);

/* ---- nue_vls.c ---- */

/* Chooses a VL for every switch: neighbours share one, and all VLs have about the same number of
 * terminals. */
void nue_divide(const struct network *network, unsigned vls, uint8_t *preferred);
/* Finds a spanning tree of each part for every VL, near to the switches that prefer it, and adds
 * all dependencies of the routes along it to the VL. `up` [vl * switches + switch] is the
 * channel to the parent, or NETWORK_NONE. Returns the operations that it took. */
uint64_t nue_add_escape_trees(struct cdg *cdg, const uint8_t *preferred, uint32_t *up);

#endif
