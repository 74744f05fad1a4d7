/* How long packets that are in the fabric can stay there. */
#ifndef WEFT_SM_TABLES_DRAIN_H
#define WEFT_SM_TABLES_DRAIN_H

#include "sm/sm.h"

/* The longest time of a packet that passes at most `hops` switches from now on. */
uint64_t drain_time(const struct sm *sm, unsigned hops);
/* The LifeTimeValue of every switch while all sources are stopped. */
uint8_t drain_life_time(const struct sm *sm);

#endif
