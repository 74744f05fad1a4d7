/* Direct access to the SL-to-VL tables of simulated agents. */
#ifndef WEFT_TESTS_HOST_AGENTS_H
#define WEFT_TESTS_HOST_AGENTS_H

#include "fabric/fabric.h"

/* Maps all SLs to VL 0 in all agents. */
void agents_map_all_sls_to_vl_0(struct fabric *fabric);
/* The VL of an SL in a switch. */
unsigned agent_vl(const struct fabric *fabric, uint32_t node, unsigned input, unsigned output,
                  unsigned sl);

#endif
