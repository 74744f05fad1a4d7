/* Dragonfly (Kim, Dally, Scott and Abts): groups of `a` switches, fully meshed inside, each switch
 * with p hosts and h links to other groups.
 *
 * The a·h outward links of a group, numbered by switch, lead to the other groups in turn, starting
 * with its successor; the largest network has a·h + 1 groups and one link between any two. Fewer
 * groups have several links between any two, all the same number; the remaining ports stay free.
 * Ports: hosts, then the group, then outward. */
#include "topology/generators/plan.h"

#include <errno.h>

struct dragonfly {
    uint64_t hosts, switches, outward, groups;
};

int generate_dragonfly(struct fabric_plan *plan)
{
    struct dragonfly fly = {
        .hosts = plan_number(plan, 0),
        .switches = plan_number(plan, 1),
        .outward = plan_number(plan, 2),
    };
    uint64_t most = fly.switches * fly.outward + 1;
    fly.groups = plan->arguments[3].given ? plan_number(plan, 3) : most;
    if (fly.groups > most)
        return err_set(plan->err, EINVAL, "with a=%llu and h=%llu there are at most %llu groups",
                       (unsigned long long)fly.switches, (unsigned long long)fly.outward,
                       (unsigned long long)most);
    uint64_t switches = plan_times(fly.groups, fly.switches);
    int error = plan_check_size(plan, switches, plan_times(switches, fly.hosts),
                                fly.hosts + fly.switches - 1 + fly.outward);
    if (error)
        return error;
    for (uint64_t group = 0; group < fly.groups; group++)
        for (uint64_t i = 0; i < fly.switches; i++)
            plan_add_switch(plan, (unsigned)(fly.hosts + fly.switches - 1 + fly.outward),
                            "G%llu_%llu", (unsigned long long)group, (unsigned long long)i);
    for (uint64_t group = 0; group < fly.groups; group++) {
        uint32_t first = (uint32_t)(group * fly.switches);
        for (uint32_t i = 0; i < fly.switches; i++)
            for (uint32_t j = i + 1; j < fly.switches; j++)
                plan_link(plan, first + i, (unsigned)fly.hosts + j, first + j,
                          (unsigned)fly.hosts + i + 1);
        uint64_t others = fly.groups - 1, base = fly.hosts + fly.switches - 1;
        uint64_t rounds = others ? fly.switches * fly.outward / others : 0;
        for (uint64_t channel = 0; channel < rounds * others; channel++) {
            uint64_t round = channel / others, step = channel % others + 1;
            uint64_t target = (group + step) % fly.groups;
            uint64_t back = round * others + (fly.groups - step) - 1;
            if (target < group)
                continue; /* added by that group */
            plan_link(plan, (uint32_t)(group * fly.switches + channel / fly.outward),
                      (unsigned)(base + channel % fly.outward) + 1,
                      (uint32_t)(target * fly.switches + back / fly.outward),
                      (unsigned)(base + back % fly.outward) + 1);
        }
    }
    for (uint64_t i = 0; i < switches; i++)
        for (uint64_t host = 0; host < fly.hosts; host++)
            plan_attach_host(plan, (uint32_t)i, (unsigned)host + 1, i * fly.hosts + host);
    return 0;
}
