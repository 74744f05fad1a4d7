/* Settings that others changed. */
#ifndef WEFT_SM_GUARD_WATCH_H
#define WEFT_SM_GUARD_WATCH_H

#include "sm/sm.h"

uint64_t watch_deadline(const struct sm *sm);
void watch_expire(struct sm *sm);

#endif
