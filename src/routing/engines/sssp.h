/* Shortest routes balanced over links: the base of sssp, dfsssp, lash and nue. */
#ifndef WEFT_ROUTING_ENGINES_SSSP_H
#define WEFT_ROUTING_ENGINES_SSSP_H

#include "routing/cdg/cdg.h"
#include "routing/engine/engine.h"

/* A link of a switch that leads one hop closer to the target. */
struct sssp_hop {
    uint32_t edge, to;
};

struct sssp {
    const struct network *network;
    struct arena memory;
    uint32_t *weight; /* by edge: the routes that cross it so far */
    uint16_t *factor; /* by edge: weight of a route; NULL: 1 */
    uint64_t operations;
    struct cdg *cdg; /* or NULL */
    bool lowest;     /* ports instead of weights decide */

    /* All shortest paths to the target, made by sssp_aim(). */
    uint32_t target;
    uint32_t reached;   /* switches that have one, the target included */
    uint32_t *order;    /* switches by distance; the target comes first */
    uint32_t *distance; /* by switch, or NETWORK_NONE */
    struct sssp_hop *next_hops;
    uint32_t *first_hop; /* by place in `order`, one more at the end */

    /* One route for each switch, made by sssp_choose(). */
    uint32_t *choice; /* by switch: its edge, or NETWORK_NONE */
    uint64_t *cost;
    uint32_t *flow;
};

void sssp_init(struct sssp *sssp, const struct network *network,
               const struct engine_options *options);
void sssp_release(struct sssp *sssp);
/* Adds weight to the links of the user's routes, if the options say so. */
void sssp_weigh_user_routes(const struct network *network, const struct engine_options *options,
                            uint32_t *weight);

void sssp_aim(struct sssp *sssp, uint32_t target);
/* Chooses the shortest path with the least weight, then the lowest port. */
void sssp_choose(struct sssp *sssp);
/* Chooses the shortest path by the lowest port; only links to the same switch share the load. If
 * the cables of a mesh are in order, that is dimension order, which needs few VLs. */
void sssp_choose_lowest(struct sssp *sssp);
/* Adds this much load from every terminal to the target along the chosen routes. */
void sssp_load(struct sssp *sssp, int32_t amount);
/* The weight above which a link counts as heavy; 0 if all have about the same. */
uint64_t sssp_heavy(const uint32_t *weight, uint64_t edges);

/* All terminals with a LID, in the order in which they get routes: the first GUIDs of the options,
 * then switch by switch, these in a random order if there is a seed. */
uint32_t *sssp_destinations(const struct network *network, const struct engine_options *options,
                            uint32_t *count);
/* The first LID of a terminal at a switch, or 0. The switch's own LIDs copy its column. */
uint32_t sssp_first_lid(const struct network *network, uint32_t at);
void sssp_copy_column(struct routes *routes, const struct network *network, uint32_t at,
                      uint32_t lid);

/* The tables of engine sssp, or those of the lowest ports. Adds the dependencies of all traffic to
 * the first layer, which must be empty. */
void sssp_tables(const struct network *network, const struct engine_options *options, bool lowest,
                 struct cdg *cdg, struct routes *routes);

#endif
