/* What the manager's owner may ask of it while it runs: other settings, a fresh look, the end. */
#include "sm/internal.h"

#include <string.h>

void sm_look_again(struct sm *sm, uint64_t now)
{
    if (sm->state != SM_MASTER)
        return;
    sm_begin_change(sm, now, "asked to look again");
    sm->planned_generation = 0;
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
    sm->config.qos = NULL; /* was copied */
    sm->partitioning.stale = true;
    if (sm->state != SM_MASTER)
        return;
    if (other_sweep)
        sm->next_sweep = config->sweep_ns == TIME_NEVER ? TIME_NEVER : now + config->sweep_ns;
    if (other_routes)
        sm_reroute(sm, now);
    plan_services(sm);
    program_all(sm); /* time-outs and keys told to ports */
}

/* Asks every other manager; the best that stands by is handed over to (mastership.c). */
static bool ask_for_successor(struct sm *sm)
{
    bool asked = false;
    for (uint32_t port = 0; port < sm->subnet.ports.count && sm->state == SM_MASTER; port++) {
        const struct subnet_port *p = &sm->subnet.ports.items[port];
        if (!p->manager || !sm->subnet.nodes.items[p->node].present)
            continue;
        mastership_ask(sm, port);
        asked = true;
    }
    return asked;
}

bool sm_hand_over(struct sm *sm, uint64_t now)
{
    (void)now;
    sm->yielding = ask_for_successor(sm);
    sm->gave_way |= sm->yielding; /* or it would be handed back at once */
    return sm->yielding;
}

/* A standby is asked for and handed over to; without one it is over at once. */
void sm_stop(struct sm *sm, uint64_t now)
{
    sm->stopped = true;
    if (!ask_for_successor(sm))
        mastership_become(sm, now, SM_NOT_ACTIVE, "asked to end");
}
