/* Networks of hypervisors without a manager. */
#ifndef WEFT_TESTS_VSWITCH_FABRICS_H
#define WEFT_TESTS_VSWITCH_FABRICS_H

#include "routing/engine/engine.h"
#include "routing/model/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every host of a generated fabric gets `vfs` functions that share its port. LIDs: switches, then
 * host by host the PF and its functions. Functions' terminals follow those of the hosts: function v
 * (from 0) of host h is terminal hosts + h * vfs + v. */
void build_virtual(struct network *network, const char *kind, const char *const *words,
                   size_t count, unsigned vfs);
void route(const struct network *network, const char *engine, struct routes *routes);

#endif
