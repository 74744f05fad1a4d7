/* A fabric whose parts are lost and restored, as a manager sees it: it has only the switches that
 * its own switch reaches, with new indices each time. */
#ifndef WEFT_TESTS_ROUTING_REPAIR_WORLD_H
#define WEFT_TESTS_ROUTING_REPAIR_WORLD_H

#include "networks.h"

#include "routing/check/verify.h"
#include "routing/check/verify_change.h"
#include "routing/repair/repair.h"

struct world {
    struct draft draft;
    const struct engine *engine;
    uint8_t lmc;
    struct rng rng;
    struct network *network; /* as it is now */
    uint32_t *index;         /* by switch of the draft: that of the network, or NETWORK_NONE */
    struct routes routes;
    struct repair_state state;          /* state of the repair, */
    struct dependency_graph checked;    /* and what its check does */
    VEC(struct table_change) unwritten; /* entries of `routes` that switches do not have yet */
};

/* A random fabric of up to `largest` switches. */
void world_init(struct world *world, const char *engine, uint64_t seed, uint32_t largest);
/* A generated fabric (topology/generators/generate.h). */
void world_init_kind(struct world *world, const char *engine, const char *kind,
                     const char *const *words, size_t count, uint64_t seed);
/* A tree of three levels with switches of 2k ports. */
void world_init_tree(struct world *world, const char *engine, const char *k, uint64_t seed);
void world_release(struct world *world);
/* Something is lost or restored; true if something was restored. */
bool world_change(struct world *world);

/* The network after a change, and what became of each switch. */
struct step {
    struct network *network;
    uint32_t *index, *to_new;
    struct routes held;   /* what the switches have */
    struct routes before; /* the same without what leads out of links that changed */
    struct routes after;
    struct repair repair;
    struct verify_change change;
    struct update_plan plan;
    bool known; /* there is something to be repaired */
};
/* The tables of today in the network after the change, ready to be repaired. */
void step_begin(struct step *step, struct world *world);
/* Repairs the tables in `after` and plans the updates; false if there is no repair. */
bool step_repair(struct step *step);
/* The result of the check for the repair as it is: 0 or an error, with the message in `err`. */
int step_check(struct step *step, struct err *err);
/* The world takes over the correct tables; those of an engine (not `repaired`) get a new state. */
void step_end(struct step *step, struct world *world, bool repaired);
void step_release(struct step *step);

/* Entries whose path does not arrive, found without the repair. */
uint64_t count_broken(const struct network *network, const struct routes *routes);
/* The full check. `covered`: all dependencies that it finds must be there; or NULL. */
bool tables_hold(const struct network *network, const struct routes *routes,
                 const struct dependency_graph *covered);

/* False if the engine refuses. */
bool compute(const struct network *network, const struct engine *engine, struct routes *routes);

#endif
