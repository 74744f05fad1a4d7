#include "routing/model/update_plan.h"

uint32_t update_plan_drains(const struct update_plan *plan)
{
    uint32_t drains = 0;
    for (size_t i = 0; i < plan->waves.count; i++)
        drains += plan->waves.items[i].drain;
    return drains;
}

void update_plan_release(struct update_plan *plan)
{
    vec_release(&plan->updates);
    vec_release(&plan->waves);
    vec_release(&plan->stuck);
    mem_free(plan->first_levels);
    plan->first_levels = NULL;
}
