/* Multicast: a tree for each group, and its way into the switches. */
#include "sm/internal.h"

void multicast_plan(struct sm *sm)
{
    (void)sm;
}
