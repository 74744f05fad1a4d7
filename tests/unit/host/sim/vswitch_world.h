/* Fabrics of hypervisors, and invariants that hold when the manager is settled. */
#ifndef WEFT_TESTS_HOST_VSWITCH_WORLD_H
#define WEFT_TESTS_HOST_VSWITCH_WORLD_H

#include "sim_world.h"

#include "vswitch/vswitch.h"

unsigned world_hosts(const struct world *world);    /* hypervisors */
unsigned world_switches(const struct world *world); /* without vSwitches */

/* Submits a request and waits for it; hypervisor NULL or "auto": any. */
struct vswitch_result ask(struct world *world, unsigned manager, enum vswitch_verb verb,
                          const char *name, const char *place, enum vswitch_mode mode);
struct vswitch_result must(struct world *world, unsigned manager, enum vswitch_verb verb,
                           const char *name, const char *place, enum vswitch_mode mode);
/* Whether the fabric has this machine at this place only, with this LID. */
bool is_at(struct world *world, unsigned manager, const char *name, const char *place,
           unsigned lid);
/* The number of places of a machine. */
unsigned places_of(const struct world *world, uint64_t guid);

/* NULL, or the violated invariant: LIDs are unique; all switches have a path to all end ports; the
 * manager's state equals the fabric; routes cannot deadlock. */
const char *world_fault(struct world *world, unsigned manager);
void check_world(struct world *world, unsigned manager);

#endif
