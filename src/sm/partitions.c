/* Partitions: which keys each port has, and which of them switches enforce. */
#include "sm/internal.h"

void partitions_plan(struct sm *sm)
{
    (void)sm;
}
