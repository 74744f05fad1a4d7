/* Quality of service: levels of service on the lanes of each link. */
#include "sm/internal.h"

void qos_plan(struct sm *sm)
{
    (void)sm;
}
