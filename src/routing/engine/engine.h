/* Routing engines: pure functions from a network to tables.
 *
 * Every engine has the same shape and one file. `compute` either fills the routes with tables that
 * are known to deliver and to be free of deadlock, or gives an error that says why not; nothing
 * falls back in silence (what was chosen on the way stands in routes->note). Hybrids (paper 002
 * section 3.4) name a second engine whose tables are quick to have: `provisional` goes to the
 * switches first, `compute` follows.
 *
 * Every run counts its operations (routes->operations, also when it ends with an error): a link
 * looked at, an entry written, a vector of eight distances compared are one each. They are what
 * this implementation really does, the same for any number of threads, and stand for time where
 * there is no clock. Work that grows with the links alone (directions, memory) is left out. */
#ifndef WEFT_ROUTING_ENGINE_ENGINE_H
#define WEFT_ROUTING_ENGINE_ENGINE_H

#include "routing/engine/hints.h"
#include "routing/engine/user_routes.h"
#include "routing/model/network.h"
#include "routing/model/routes.h"
#include "routing/model/workers.h"

enum root_choice {
    ROOT_DEFAULT, /* the manager's switch for the paper's engines, detected ones for updn */
    ROOT_MANAGER, /* the switch where the manager sits */
    ROOT_CENTRE,  /* the switch with the least largest distance to the others */
    ROOT_DETECT,  /* the top stage of a tree, else the centre */
    ROOT_LIST,    /* the GUIDs given */
};

struct engine_options {
    enum root_choice root;
    const uint64_t *root_guids; /* for ROOT_LIST; those that are not there now are passed over */
    size_t root_count;
    const struct workers *workers;  /* NULL: one thread */
    const struct user_routes *user; /* NULL: none */
    const struct guid_list *first;  /* terminals that are served first; ftree: those that count */
    const struct port_weights *weights; /* not of ftree and dor; NULL: ports are alike */
    uint64_t scatter;  /* equal ways (sssp, dfsssp, nue: destinations) in another order; 0: no */
    bool leave_proof;  /* the caller verifies the tables before it uses them: see engine_judge() */
    bool seed_balance; /* user routes count as load before the engine spreads its own */
    bool allow_cycles; /* minhop: give tables that could deadlock, with a note */
    bool reversible;   /* dfsssp, nue: no tables rather than such as are not routes.reversible */
    unsigned max_vls;  /* data lanes that an engine may use; 0: 8 */
    size_t scratch_bytes; /* trees of minhop, updn, ftree: for what leads where; 0: 64 MiB */
    uint64_t generation;
};

enum { ENGINE_VLS_DEFAULT = 8, ENGINE_VLS_MAX = 15 };
static inline unsigned engine_vls(const struct engine_options *options)
{
    unsigned wanted = options->max_vls ? options->max_vls : ENGINE_VLS_DEFAULT;
    return wanted < ENGINE_VLS_MAX ? wanted : ENGINE_VLS_MAX;
}

struct updown;

struct engine {
    const char *name;
    const char *summary;
    int (*compute)(const struct network *network, const struct engine_options *options,
                   struct routes *routes, struct err *err);
    const struct engine *provisional; /* or NULL */
    bool renames;                     /* wants terminals with more than one LID */
    /* What the published algorithm would do in place of `compute`: see paper_cost.h. */
    uint64_t (*paper_steps)(const struct network *network, const struct updown *updown);
    /* NULL, or: the directions that its tables keep to, or NULL, without the tables. As
     * routes.ranks.
     */
    uint32_t *(*ranks)(const struct network *network, const struct engine_options *options);
};

extern const struct engine engine_fera, engine_pira, engine_dr, engine_minhop, engine_updn,
    engine_ftree, engine_dor, engine_auto, engine_pira_fera, engine_pira_dr, engine_sssp,
    engine_dfsssp, engine_lash, engine_nue;

const struct engine *engine_find(const char *name); /* NULL if there is none */
const struct engine *engine_at(size_t index);       /* all of them, then NULL */

/* For engines: lays the user's routes over the tables, and proves the result where that is not
 * certain by construction (`unproved`, or user routes). On error the routes are released. */
int engine_settle(const struct network *network, const struct engine_options *options,
                  bool unproved, struct routes *routes, struct err *err);
/* What a check's report means for the tables that it is about: -EHOSTUNREACH if they do not
 * deliver, -EDEADLK if they could deadlock and that is not allowed; if it is, the note says so. For
 * callers that set leave_proof. */
struct verify_report;
int engine_judge(const struct verify_report *report, const struct engine_options *options,
                 struct routes *routes, struct err *err);
/* For engines that have no tables to give: releases the routes, but for the operations. */
void engine_refuse(struct routes *routes);
/* For parts of an engine that run side by side. */
static inline void engine_count(struct routes *routes, uint64_t operations)
{
    __atomic_fetch_add(&routes->operations, operations, __ATOMIC_RELAXED);
}

#endif
