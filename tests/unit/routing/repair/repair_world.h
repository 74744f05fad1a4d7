/* A random fabric of which parts go and come, as a manager sees it: only what can be reached from
 * its own switch is there, with indices of its own each time. */
#ifndef WEFT_TESTS_ROUTING_REPAIR_WORLD_H
#define WEFT_TESTS_ROUTING_REPAIR_WORLD_H

#include "networks.h"

#include "routing/check/dependency.h"
#include "routing/repair/repair.h"

struct world {
    struct draft draft;
    const struct engine *engine;
    uint8_t lmc;
    struct rng rng;
    struct network *network; /* as it is now */
    uint32_t *index;         /* by switch of the draft: that of the network, or NETWORK_NONE */
    struct routes routes;
    struct standing standing;
    struct dependency_graph graph;      /* the checker's own */
    VEC(struct repair_entry) unwritten; /* entries of `routes` that switches do not have yet */
};

void world_init(struct world *world, const char *engine, uint64_t seed, uint32_t largest);
void world_release(struct world *world);
/* Something goes or comes back; true if something came. */
bool world_change(struct world *world);

/* The network after a change, and what became of each switch. */
struct step {
    struct network *network;
    uint32_t *index, *to_new;
    struct routes held;   /* what the switches have */
    struct routes before; /* the same without what leads out of links that changed */
    struct routes after;
    struct repair repair;
    struct dependency_graph graph;
    bool known; /* there is something to be repaired */
};
/* The tables of today in the network after the change, ready to be repaired. */
void world_begin_step(struct world *world, struct step *step);
/* Takes the step's tables, which are right; those of an engine are learnt. */
void world_end_step(struct world *world, struct step *step, bool repaired);
void step_release(struct step *step);

/* Entries whose walk does not arrive, found without the repair's help. */
uint64_t count_broken(const struct network *network, const struct routes *routes);

struct routes compute_routes(const struct network *network, const struct engine *engine);

#endif
