/* Whether a change of entries can make packets wait for each other in a circle, where no up*-down*
 * ranks say so at a glance.
 *
 * The dependencies between channels that the routes in force have, vl by vl, are kept as
 * routing/cdg/cdg.h keeps them; what a change adds is tried on top. Dependencies of ways that
 * are not used any more stay until the routes are others, or until something is refused: then they
 * are collected anew, and it is tried once more. */
#ifndef WEFT_VSWITCH_SAFETY_H
#define WEFT_VSWITCH_SAFETY_H

#include "vswitch/columns.h"

struct safety;
struct safety *safety_new(void);
void safety_free(struct safety *safety); /* accepts NULL */
/* The routes in force; another `edition` means others. */
void safety_use(struct safety *safety, const struct network *network, const struct routes *routes,
                uint64_t routes_job);

enum safety_verdict {
    SAFETY_FREE,        /* all entries may be written at once */
    SAFETY_AFTER_DRAIN, /* the LIDs must drop, everywhere that changes, and a drain must pass,
                           before */
    SAFETY_LATER,       /* not while other changes are under way */
    SAFETY_NEVER,       /* the ways could deadlock in the end */
};
/* What is found to be safe counts as in force from then on. `alone`: no other change is on its way
 * to the switches. */
enum safety_verdict safety_check(struct safety *safety, const struct column_plan *plan, bool alone);

#endif
