/* Checks whether a change of LFT entries can close a dependency cycle, for routes without up*-down*
 * ranks.
 *
 * The channel dependencies of the routes in force are kept in one graph per VL (routing/cdg/cdg.h).
 * A check tries to add the dependencies of a change. Dependencies of paths that are no longer used
 * stay in the graph until the routes change or a check fails; then the graph is built again, and
 * the check is repeated. */
#ifndef WEFT_VSWITCH_SAFETY_H
#define WEFT_VSWITCH_SAFETY_H

#include "vswitch/columns.h"

struct safety;
struct safety *safety_new(void);
void safety_free(struct safety *safety); /* accepts NULL */
/* Sets the routes in force; `routes_job` differs whenever they do. */
void safety_use(struct safety *safety, const struct network *network, const struct routes *routes,
                uint64_t routes_job);

enum safety_verdict {
    SAFETY_FREE,        /* all entries may be written at once */
    SAFETY_AFTER_DRAIN, /* the changed entries must drop the LIDs, and a drain must pass,
                           before they are written */
    SAFETY_LATER,       /* not while other changes are being written */
    SAFETY_NEVER,       /* the new paths could deadlock */
};
/* Dependencies of a safe change become part of the graph. `alone`: no other change is being
 * written. */
enum safety_verdict safety_check(struct safety *safety, const struct column_plan *plan, bool alone);

#endif
