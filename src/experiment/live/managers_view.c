#include "experiment/live/managers_view.h"

#include "base/time.h"
#include "host/manager_view/manager_view.h"

enum { CHANGES_SHOWN = 20 };

uint32_t managers_view_find(const struct setup *setup, const char *who)
{
    uint32_t i = 0;
    while (i < setup->instances.count && strcmp(setup->instances.items[i]->name, who) != 0)
        i++;
    return i;
}

static uint32_t count_nodes(const struct subnet *subnet)
{
    uint32_t count = 0;
    for (size_t i = 0; i < subnet->nodes.count; i++)
        count += subnet->nodes.items[i].present;
    return count;
}

/* JSON has null for a value that is not there; text has nothing. */
static void put_null(struct record *record, const char *key)
{
    if (record->as_json)
        json_null(&record->json, key);
}

/* ---- managers ---- */

static void put_manager(const struct setup *setup, size_t index, struct record *record)
{
    const struct setup_instance *instance = setup->instances.items[index];
    const struct sm *sm = setup_manager(setup, index);
    struct sm_progress progress = sm ? sm_progress(sm) : (struct sm_progress){.phase = "idle"};
    record_begin(record, NULL);
    record_number(record, "id", NULL, index);
    record_number(record, "node", NULL,
                  setup->topology.ports.items[setup->places.items[index].port].node);
    record_string(record, "name", "%-20s", instance->name);
    record_string(record, "state", " %-11s", sm ? manager_state_names[sm_state(sm)] : "dead");
    record_string(record, "phase", " %-8s", progress.phase);
    record_number(record, "wave", NULL, progress.wave);
    record_number(record, "waves", NULL, progress.waves);
    record_flag(record, "draining", NULL, progress.draining);
    record_number(record, "priority", " priority %2llu", instance->config.sm.priority);
    record_string(record, "engine", "  %-8s", instance->config.sm.engine->name);
    record_flag(record, "settled", NULL, sm && sm_is_settled(sm));
    record_number(record, "nodes", " %5llu nodes\n", sm ? count_nodes(sm_subnet(sm)) : 0);
    if (instance->open)
        record_number(record, "change", NULL, instance->change);
    else
        put_null(record, "change");
    record_end(record);
}

void managers_view_put(const struct setup *setup, struct record *record)
{
    record_begin_list(record, NULL);
    for (size_t i = 0; i < setup->instances.count; i++)
        put_manager(setup, i, record);
    record_end_list(record);
}

/* ---- changes ---- */

/* A time of the record, where 0 means that there is none. */
static void put_time(struct record *record, const char *key, uint64_t ps)
{
    if (ps == 0 || ps == TIME_NEVER)
        put_null(record, key);
    else
        record_number(record, key, NULL, time_ns_floor(ps));
}

/* Counts of a change under way are with its manager. */
static void put_change(const struct setup *setup, size_t index, struct record *record)
{
    const struct run_record_change *change = &setup->record->changes.items[index];
    uint32_t manager = managers_view_find(setup, change->who);
    const struct setup_instance *open = manager < setup->instances.count &&
                                                setup->instances.items[manager]->open &&
                                                setup->instances.items[manager]->change == index
                                            ? setup->instances.items[manager]
                                            : NULL;
    record_begin(record, NULL);
    record_number(record, "id", NULL, index);
    record_number(record, "manager", NULL, manager);
    record_text(record, "%14.6f ms  %s: ", (double)change->begin / TIME_MS, change->who);
    record_string(record, "cause", "%s\n                 ", change->cause);
    put_time(record, "fault", change->tied ? change->fault : 0);
    record_number(record, "begin", NULL, time_ns_floor(change->begin));
    put_time(record, "routing", change->routing);
    put_time(record, "routed", change->routed);
    put_time(record, "end", open ? 0 : change->end);
    if (open)
        record_text(record, "under way");
    else
        record_text(record, "%s %.6f ms", change->finished ? "took" : "given up after",
                    (double)(change->end - change->begin) / TIME_MS);
    record_flag(record, "finished", NULL, change->finished);
    record_number(record, "gets", ", %llu Gets", open ? open->smps.gets : change->gets);
    record_number(record, "sets", ", %llu Sets", open ? open->smps.sets : change->sets);
    record_number(record, "blocks", ", %llu LFT blocks\n",
                  open ? open->smps.blocks : change->blocks);
    record_number(record, "draining", NULL, time_ns_floor(change->draining));
    record_end(record);
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

void managers_view_list_problems(const struct setup *setup, struct sm *sm,
                                 struct problems *problems)
{
    bool has_master = false;
    for (size_t i = 0; i < setup->instances.count; i++) {
        struct sm *one = setup_manager(setup, i);
        if (!one || sm_state(one) != SM_MASTER)
            continue;
        has_master = true;
        sm_problems(one, sim_now_ns(setup->sim), problems);
    }
    if (!has_master && sm)
        sm_problems(sm, sim_now_ns(setup->sim), problems);
    problems_sort(problems);
}
