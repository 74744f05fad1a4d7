/* The lane tables in simulated agents, past any manager. */
#ifndef WEFT_TESTS_HOST_AGENTS_H
#define WEFT_TESTS_HOST_AGENTS_H

#include "fabric/fabric.h"

/* Every service level on lane 0, everywhere. */
void agents_use_lane_0(struct fabric *fabric);
/* The lane that a switch gives a service level. */
unsigned agent_lane(const struct fabric *fabric, uint32_t node, unsigned input, unsigned output,
                    unsigned sl);

#endif
