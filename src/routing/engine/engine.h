/* Routing engines: pure functions from a network to tables.
 *
 * Every engine has the same shape and one file. `compute` either fills the routes with tables that
 * deliver and are free of deadlock, or returns an error with the reason; no engine falls back
 * silently (routes->note has its choices). Hybrids (TPDS 2006, section 3.4) have a second, faster
 * engine: the tables of `provisional` are written first, those of `compute` follow.
 *
 * Every run counts its operations (routes->operations, also when it ends with an error): a link
 * visited, an entry written and a vector of eight distances compared are one each. They count the
 * work of this implementation (of FERa: that of the one with which their price was measured), are
 * the same for any number of threads, and serve as a measure of time in simulations. Work that
 * grows with the links alone (directions, memory) does not count. */
#ifndef WEFT_ROUTING_ENGINE_ENGINE_H
#define WEFT_ROUTING_ENGINE_ENGINE_H

#include "base/workers.h"
#include "routing/engine/hints.h"
#include "routing/engine/user_routes.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"

enum root_choice {
    ROOT_DEFAULT, /* the manager's switch for the paper's engines, detection for updn */
    ROOT_MANAGER, /* the switch of the manager */
    ROOT_CENTRE,  /* the switch with the smallest eccentricity */
    ROOT_DETECT,  /* the top stage of a tree, else the centre */
    ROOT_LIST,    /* the GUIDs given */
};

/* Directed graphs of up*-down* routing: the order of switches from the roots (updown.h). */
enum updown_tree { TREE_BFS, TREE_DFS, TREE_POST, TREE_MDST, TREE_COUNT };
extern const char *const updown_tree_names[TREE_COUNT + 1]; /* "bfs" ..., then NULL */

struct engine_options {
    enum root_choice root;
    enum updown_tree tree;      /* of the papers' engines and updn */
    uint64_t father_seed;       /* pira: of the random choice of fathers; 0: the highest LID */
    const uint64_t *root_guids; /* for ROOT_LIST; GUIDs without a switch are ignored */
    size_t root_count;
    const struct workers *workers;      /* NULL: one thread */
    const struct user_routes *user;     /* NULL: none */
    const struct guid_list *first;      /* terminals that get routes (ftree: numbers) first */
    const struct port_weights *weights; /* not for ftree and dor; NULL: all ports are equal */
    uint64_t scatter;     /* seed: reorder equal paths (sssp, dfsssp, nue: destinations); 0: no */
    bool disjoint;        /* the LIDs of a port get disjoint routes: engines/disjoint.h */
    bool port_shift;      /* begin with another port at each switch (minhop, updn, ftree) */
    bool caller_verifies; /* the caller verifies the tables before it uses them: see engine_judge()
                           */
    bool seed_balance;    /* user routes count as load before the engine balances its own */
    bool allow_cycles;    /* minhop: give tables that could deadlock, with a note */
    bool reversible;      /* dfsssp, nue: refuse tables that are not routes.reversible */
    unsigned max_vls;     /* data VLs that an engine may use; 0: 8 */
    size_t scratch_bytes; /* minhop, updn, ftree on trees: memory for next hops; 0: 64 MiB */
    uint64_t generation;
};

enum { ENGINE_VLS_DEFAULT = 8, ENGINE_VLS_MAX = 15 };
static inline unsigned engine_vls(const struct engine_options *options)
{
    unsigned wanted = options->max_vls ? options->max_vls : ENGINE_VLS_DEFAULT;
    return wanted < ENGINE_VLS_MAX ? wanted : ENGINE_VLS_MAX;
}

struct published;

struct engine {
    const char *name;
    const char *summary;
    int (*compute)(const struct network *network, const struct engine_options *options,
                   struct routes *routes, struct err *err);
    const struct engine *provisional; /* or NULL */
    bool renames;                     /* wants terminals with more than one LID */
    /* The algorithm that the papers describe, see published.h; NULL: FERa. */
    void (*published)(struct published *published);
    /* NULL, or returns the up*-down* directions of its tables without the tables, as routes.ranks;
     * NULL: none. */
    uint32_t *(*ranks)(const struct network *network, const struct engine_options *options);
};

extern const struct engine engine_fera, engine_pira, engine_dr, engine_minhop, engine_updn,
    engine_ftree, engine_dor, engine_auto, engine_pira_fera, engine_pira_dr, engine_sssp,
    engine_dfsssp, engine_lash, engine_nue;

const struct engine *engine_find(const char *name); /* NULL if there is none */
const struct engine *engine_at(size_t index);       /* all of them, then NULL */

/* For engines: applies the user's routes, and proves the tables where that is necessary
 * (`unproved`, or user routes). On error the routes are released. */
int engine_settle(const struct network *network, const struct engine_options *options,
                  bool unproved, struct routes *routes, struct err *err);
/* Translates a check's report on tables: -EHOSTUNREACH if they do not deliver, -EDEADLK if they
 * could deadlock and options do not allow that; if they do, adds it to the note. For callers that
 * set caller_verifies. */
struct verify_report;
int engine_judge(const struct verify_report *report, const struct engine_options *options,
                 struct routes *routes, struct err *err);
/* For engines that refuse: releases the routes except for the operations. */
void engine_refuse(struct routes *routes);
/* Thread-safe. */
static inline void engine_count(struct routes *routes, uint64_t operations)
{
    __atomic_fetch_add(&routes->operations, operations, __ATOMIC_RELAXED);
}

/* Engines that are tried in this order (engine_fallback.h). */
enum { ENGINE_LIST_TOP = 16 };

struct engine_list {
    size_t count;
    const struct engine *items[ENGINE_LIST_TOP];
};

#endif
