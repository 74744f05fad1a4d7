/* Fabrics of hypervisors, and what must hold of them whenever the manager is at rest. */
#ifndef WEFT_TESTS_HOST_VSWITCH_WORLD_H
#define WEFT_TESTS_HOST_VSWITCH_WORLD_H

#include "sim_world.h"

#include "vswitch/vswitch.h"

unsigned world_hosts(const struct world *world);    /* hypervisors */
unsigned world_switches(const struct world *world); /* but vSwitches */

/* Asks and waits; NULL or "auto": wherever it suits. */
struct vswitch_result ask(struct world *world, unsigned manager, enum vswitch_verb verb,
                          const char *name, const char *place, enum vswitch_mode mode);
struct vswitch_result must(struct world *world, unsigned manager, enum vswitch_verb verb,
                           const char *name, const char *place, enum vswitch_mode mode);
/* Whether the fabric itself shows this machine there, with this LID, and nowhere else. */
bool is_at(struct world *world, unsigned manager, const char *name, const char *place,
           unsigned lid);
/* At how many places it is. */
unsigned places_of(const struct world *world, uint64_t guid);

/* NULL, or what is wrong: LIDs that two have; an end port that some switch does not lead to; books
 * of the manager that differ from the fabric; routes that could deadlock. */
const char *world_fault(struct world *world, unsigned manager);
void check_world(struct world *world, unsigned manager);

#endif
