/* What the manager's owner may ask of it while it runs: other settings, a fresh look. */
#include "sm/internal.h"

#include <string.h>

void sm_look_again(struct sm *sm, uint64_t now)
{
    if (sm_state(sm) != SM_MASTER)
        return;
    sm_begin_change(sm, now, "asked to look again");
    reconfigure_request(sm, REASON_TOPOLOGY);
    discovery_restart(sm);
}

static bool same_routes(const struct sm_config *a, const struct sm_config *b)
{
    /* User routes, roots, and who comes first or weighs more, are lists in the owner's memory:
     * other lists may hold the same, but that is not worth a comparison. */
    return a->engine == b->engine && engine_list_same(&a->others, &b->others) &&
           a->engine_options.root == b->engine_options.root &&
           a->engine_options.root_count == b->engine_options.root_count &&
           !a->engine_options.root_count && !a->engine_options.user && !b->engine_options.user &&
           !a->engine_options.first && !b->engine_options.first && !a->engine_options.weights &&
           !b->engine_options.weights && a->engine_options.scatter == b->engine_options.scatter &&
           a->engine_options.max_vls == b->engine_options.max_vls &&
           a->engine_options.seed_balance == b->engine_options.seed_balance &&
           a->engine_options.allow_cycles == b->engine_options.allow_cycles &&
           a->engine_options.reversible == b->engine_options.reversible;
}

void sm_configure(struct sm *sm, uint64_t now, const struct sm_config *config)
{
    bool other_levels = qos_configure(sm, config->qos);
    bool other_routes = !same_routes(&sm->config, config) || other_levels;
    bool other_sweep = sm->config.sweep_ns != config->sweep_ns;
    sm->config = *config;
    if (config->policy->limit)
        config->policy->limit(&sm->config);
    sm->config.qos = NULL; /* was copied */
    partitions_rules_changed(sm);
    if (sm_state(sm) != SM_MASTER)
        return;
    if (other_sweep)
        sweep_schedule(sm, now);
    if (other_routes)
        sm_reroute_for(sm, now, REASON_POLICY);
    plan_services(sm);
    program_all(sm); /* time-outs and keys told to ports */
}
