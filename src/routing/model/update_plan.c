#include "routing/model/update_plan.h"

uint32_t order_drains(const struct order_plan *plan)
{
    uint32_t drains = 0;
    for (size_t i = 0; i < plan->waves.count; i++)
        drains += plan->waves.items[i].drain;
    return drains;
}

void order_release(struct order_plan *plan)
{
    vec_release(&plan->updates);
    vec_release(&plan->waves);
    vec_release(&plan->stuck);
    mem_free(plan->first_levels);
    plan->first_levels = NULL;
}
