#include "experiment/live/managers_view.h"

#include "base/time.h"
#include "host/api/api.h"
#include "host/manager_view/manager_view.h"

enum { CHANGES_SHOWN = 20 };

uint32_t managers_view_find(const struct setup *setup, const char *who)
{
    uint32_t i = 0;
    while (i < setup->instances.count && strcmp(setup->instances.items[i]->name, who) != 0)
        i++;
    return i;
}

size_t managers_view_choose(const struct setup *setup)
{
    size_t chosen = setup->instances.count;
    for (size_t i = setup->instances.count; i-- > 0;) {
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_state(sm) == SM_MASTER)
            return i;
        if (sm)
            chosen = i;
    }
    return chosen;
}

/* A time of the record, where 0 means that there is none. */
static uint64_t time_of(uint64_t ps)
{
    return ps == 0 || ps == TIME_NEVER ? API_NONE : time_ns_floor(ps);
}

/* ---- managers ---- */

static void put_manager(const struct setup *setup, size_t index, struct record *record)
{
    const struct setup_instance *instance = setup->instances.items[index];
    const struct sm *sm = setup_manager(setup, index);
    struct sm_progress progress = sm ? sm_progress(sm) : (struct sm_progress){0};
    struct subnet_node_counts nodes =
        sm ? subnet_count_nodes(sm_subnet(sm)) : (struct subnet_node_counts){0};
    const struct api_manager manager = {
        .id = index,
        .node = setup->topology.ports.items[setup->places.items[index].port].node,
        .name = instance->name,
        .state = sm ? manager_state_names[sm_state(sm)] : "dead",
        .phase = sm_phase_name(progress.phase),
        .wave = progress.wave,
        .waves = progress.waves,
        .draining = progress.draining,
        .priority = instance->config.sm.priority,
        .engine = instance->config.sm.engine->name,
        .settled = sm && sm_is_settled(sm),
        .nodes = nodes.switches + nodes.adapters,
        .change = instance->open ? instance->change : API_NONE,
    };
    api_manager_put(&manager, record);
}

void managers_view_put(const struct setup *setup, struct record *record)
{
    record_begin_list(record, NULL);
    for (size_t i = 0; i < setup->instances.count; i++)
        put_manager(setup, i, record);
    record_end_list(record);
}

/* ---- changes ---- */

/* The costs of a change under way are with its manager. */
static void put_change(const struct setup *setup, size_t index, struct record *record)
{
    const struct run_record_change *change = &setup->record->changes.items[index];
    uint32_t manager = managers_view_find(setup, change->who);
    const struct setup_instance *open = manager < setup->instances.count &&
                                                setup->instances.items[manager]->open &&
                                                setup->instances.items[manager]->change == index
                                            ? setup->instances.items[manager]
                                            : NULL;
    struct sm_change last;
    bool counted = open && sm_change_at(setup_manager(setup, manager), 0, &last);
    const struct api_change shown = {
        .id = index,
        .manager = manager,
        .who = change->who,
        .cause = change->cause,
        .fault = time_of(change->tied ? change->fault : 0),
        .begin = time_ns_floor(change->begin),
        .routing = time_of(change->routing),
        .routed = time_of(change->routed),
        .end = time_of(open ? 0 : change->end),
        .finished = change->finished,
        .gets = counted ? last.requests.gets : change->gets,
        .sets = counted ? last.requests.sets : change->sets,
        .blocks = counted ? last.requests.tables - last.requests.tables_read : change->blocks,
        .draining_ns = time_ns_floor(change->draining),
    };
    api_change_put(&shown, record);
}

void managers_view_put_changes(const struct setup *setup, struct record *record)
{
    size_t count = setup->record->changes.count;
    record_begin_list(record, NULL);
    for (size_t i = count > CHANGES_SHOWN ? count - CHANGES_SHOWN : 0; i < count; i++)
        put_change(setup, i, record);
    record_end_list(record);
}

/* ---- problems ---- */

void managers_view_list_problems(const struct setup *setup, struct problems *problems)
{
    size_t chosen = managers_view_choose(setup);
    for (size_t i = 0; i < setup->instances.count; i++) {
        struct sm *sm = setup_manager(setup, i);
        if (sm && (i == chosen || sm_state(sm) == SM_MASTER))
            sm_problems(sm, sim_now_ns(setup->sim), problems);
    }
    problems_sort(problems);
}
