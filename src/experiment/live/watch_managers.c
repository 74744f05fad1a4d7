/* The managers' side of a tick: state of each manager, costs of the last changes, present problems.
 * It also keeps the tables of finished changes, so that a client can look at tables of the past. */
#include "experiment/live/watch.h"

#include "base/time.h"

enum { CHANGES_SHOWN = 20 };

size_t watch_choose_manager(const struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
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

struct manager_page watch_page(const struct live_watch *watch, size_t manager)
{
    const struct setup *setup = live_session_setup(watch->session);
    bool exists = manager < setup->instances.count;
    return (struct manager_page){exists ? setup_manager(setup, manager) : NULL, &setup->topology,
                                 &watch->view.links};
}

uint32_t watch_manager_node(const struct setup *setup, size_t manager)
{
    return setup->topology.ports.items[setup->places.items[manager].port].node;
}

/* The manager of this name, or the number of managers. */
static uint32_t find_manager(const struct setup *setup, const char *who)
{
    uint32_t i = 0;
    while (i < setup->instances.count && strcmp(setup->instances.items[i]->name, who) != 0)
        i++;
    return i;
}

/* ---- managers ---- */

void watch_put_managers(const struct live_watch *watch, struct record *record)
{
    const struct setup *setup = live_session_setup(watch->session);
    record_begin_list(record, NULL);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct setup_instance *instance = setup->instances.items[i];
        const struct sm *sm = setup_manager(setup, i);
        struct api_manager manager = {.state = "dead",
                                      .phase = sm_phase_name(SM_PHASE_IDLE),
                                      .priority = instance->config.sm.priority,
                                      .prefix = instance->config.sm.subnet_prefix,
                                      .engine = instance->config.sm.engine->name};
        if (sm)
            manager = manager_page_own(sm, &instance->config.sm);
        manager.id = i;
        manager.node = watch_manager_node(setup, i);
        manager.name = instance->name;
        manager.change = instance->open ? instance->change : API_NONE;
        api_manager_put(&manager, record);
    }
    record_end_list(record);
}

/* ---- changes ---- */

/* A time of the record, where 0 means that there is none. */
static uint64_t time_of(uint64_t ps)
{
    return ps == 0 || ps == TIME_NEVER ? API_NONE : time_ns_floor(ps);
}

/* The costs of a change under way are with its manager. */
static void put_change(const struct setup *setup, size_t index, struct record *record)
{
    const struct run_record_change *change = &setup->record->changes.items[index];
    uint32_t manager = find_manager(setup, change->who);
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

void watch_put_changes(const struct live_watch *watch, struct record *record)
{
    const struct setup *setup = live_session_setup(watch->session);
    size_t count = setup->record->changes.count;
    record_begin_list(record, NULL);
    for (size_t i = count > CHANGES_SHOWN ? count - CHANGES_SHOWN : 0; i < count; i++)
        put_change(setup, i, record);
    record_end_list(record);
}

/* ---- problems ---- */

/* The managers of one subnet have the same prefix. */
static uint64_t prefix_at(const struct setup *setup, size_t manager)
{
    return setup->instances.items[manager]->config.sm.subnet_prefix;
}

static bool has_master(const struct setup *setup, uint64_t prefix)
{
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (sm && sm_state(sm) == SM_MASTER && prefix_at(setup, i) == prefix)
            return true;
    }
    return false;
}

static void add_no_master(const struct setup *setup, size_t first, struct problems *problems)
{
    const struct topology_node *node =
        &setup->topology.nodes.items[watch_manager_node(setup, first)];
    struct text text = {0};
    for (size_t i = first; i < setup->instances.count; i++) {
        const struct sm *sm = setup_manager(setup, i);
        if (prefix_at(setup, i) == prefix_at(setup, first))
            text_printf(&text, "%s%s is %s", i > first ? ", " : "", setup->instances.items[i]->name,
                        sm ? sm_state_names[sm_state(sm)] : "dead");
    }
    problems_add(problems, PROBLEM_NO_MASTER,
                 (struct subnet_place){.kind = SUBNET_AT_NODE, .guid = node->guid},
                 "no manager is master: %s", text.data);
    text_release(&text);
}

/* A manager that ended, or a standby whose polls were not answered yet, says nothing itself. One
 * problem for each subnet without a master. */
static void list_no_master(const struct setup *setup, struct problems *problems)
{
    for (size_t i = 0; i < problems->items.count; i++)
        if (problems->items.items[i].kind == PROBLEM_NO_MASTER)
            return;
    for (size_t i = 0; i < setup->instances.count; i++) {
        bool first = true;
        for (size_t j = 0; j < i; j++)
            first &= prefix_at(setup, j) != prefix_at(setup, i);
        if (first && !has_master(setup, prefix_at(setup, i)))
            add_no_master(setup, i, problems);
    }
}

void watch_list_problems(const struct live_watch *watch, struct problems *problems)
{
    const struct setup *setup = live_session_setup(watch->session);
    size_t chosen = watch_choose_manager(watch);
    for (size_t i = 0; i < setup->instances.count; i++) {
        struct sm *sm = setup_manager(setup, i);
        if (sm && (i == chosen || sm_state(sm) == SM_MASTER))
            sm_problems(sm, sim_now_ns(setup->sim), problems);
    }
    list_no_master(setup, problems);
    problems_sort(problems);
    problems_set_times(problems, &watch->problems, watch->publisher->tick.t_ns);
}

/* ---- the tick ---- */

void watch_read_managers(struct live_watch *watch)
{
    struct api_tick *tick = &watch->publisher->tick;
    struct record managers = record_to(api_tick_section(tick, API_MANAGERS), true, false);
    struct record changes = record_to(api_tick_section(tick, API_CHANGES), true, false);
    const struct manager_page page = watch_page(watch, watch_choose_manager(watch));
    struct problems problems = {0};
    watch_put_managers(watch, &managers);
    watch_put_changes(watch, &changes);
    watch_list_problems(watch, &problems);
    problems_release(&watch->problems);
    watch->problems = problems;
    manager_page_put_problems(&page, &problems, 0, api_tick_section(tick, API_PROBLEMS));
}

/* ---- tables of the past ---- */

void watch_keep_tables(struct live_watch *watch)
{
    const struct setup *setup = live_session_setup(watch->session);
    for (size_t i = 0; i < setup->instances.count; i++) {
        const struct manager_page page = watch_page(watch, i);
        struct sm_change change = {.outcome = SM_UNDER_WAY};
        if (!page.sm)
            continue;
        for (unsigned back = 0; change.outcome != SM_FINISHED; back++)
            if (!sm_change_at(page.sm, back, &change))
                break;
        if (change.outcome == SM_FINISHED && change.end > watch->changes_seen) {
            const struct api_version about = {
                .t_ns = change.end, .manager = i, .cause = change.text};
            watch->changes_seen = change.end;
            manager_page_keep_tables(&page, &watch->versions, about, false);
        }
        manager_page_keep_moved(&page, &watch->versions,
                                sim_machines(setup->sim, setup->places.items[i].manager), i, 0,
                                &watch->machines_seen);
    }
}
